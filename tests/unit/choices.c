/* choices.c - prints what the plans choose for 10,000 random problems on four machines. choices.sh
 * compares it with choices.gz, so that a change of a plan or of a cost model shows as a diff.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "choices.h"

#include <stdio.h>

#include "tests/support/random.h"

const choices_machine_t choices_machines[CHOICES_MACHINES] = {
    {{"T4", 75, 40, 1024, 64 << 10, 64 << 10, 4 << 20, (size_t)15 << 30},
     {"generic, no L3", TILEMM__ISA_GENERIC, 1, 16 << 10, 256 << 10, 256 << 10}},
    {{"A100", 80, 108, 2048, 163 << 10, 164 << 10, 40 << 20, (size_t)40 << 30},
     {"desktop, AVX2", TILEMM__ISA_AVX2, 8, 32 << 10, 512 << 10, 16 << 20}},
    {{"RTX 4090", 89, 128, 1536, 99 << 10, 100 << 10, 72 << 20, (size_t)24 << 30},
     {"server, AVX-512", TILEMM__ISA_AVX512, 16, 48 << 10, 1 << 20, 32 << 20}},
    {{"H200", 90, 132, 2048, 227 << 10, 228 << 10, 60 << 20, (size_t)141 << 30},
     {"server, AMX", TILEMM__ISA_AMX, 112, 48 << 10, 2 << 20, 105 << 20}},
};

uint64_t choices_random(uint64_t below)
{
    static rng_t rng = {1};
    return rng_bits(&rng) % below;
}

int64_t choices_size(int64_t most)
{
    int bits = 0;
    int64_t size;
    while (most >> (bits + 1))
        bits++;
    size = INT64_C(1) << choices_random((uint64_t)bits + 1);
    size += (int64_t)choices_random((uint64_t)size);
    if (choices_random(2))
        size = size > 64 ? size / 64 * 64 : size > 16 ? size / 16 * 16 : size;
    if (choices_random(8) == 0)
        size++;
    return size < most ? size : most;
}

void *choices_address(void)
{
    static const uintptr_t offsets[] = {0, 0, 0, 0, 0, 4, 8, 16};
    return (void *)((uintptr_t)1 << 30 | offsets[choices_random(8)]);
}

size_t choices_workspace(void)
{
    return choices_random(4) ? SIZE_MAX : (size_t)1 << choices_random(32);
}

int main(void)
{
    choices_sgemm(4000);
    choices_transpose(3500);
    choices_reduce(2500);
    return 0;
}
