/* choices.c - prints what the plans choose for 10,000 random problems on four machines. choices.sh
 * compares it with choices.gz, so that a change of a plan or of a cost model shows as a diff.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "choices.h"

#include "cpu_kernels.h"
#include "lib/tuning.h"

int64_t choices_size(int64_t most)
{
    int bits = 1;
    while (most >> bits)
        bits++;
    int64_t size = pick_size(bits);
    if (pick(2))
        size = size > 64 ? size / 64 * 64 : size > 16 ? size / 16 * 16 : size;
    if (pick(8) == 0)
        size++;
    return size < most ? size : most;
}

void *choices_address(void)
{
    static const uintptr_t offsets[] = {0, 0, 0, 0, 0, 4, 8, 16};
    return (void *)((uintptr_t)1 << 30 | offsets[pick(8)]);
}

tilemm__limits_t choices_cpu_limits(int machine, size_t workspace)
{
    static tilemm__cpu_kernels_t kernels;
    static tilemm__cpu_tuning_t tuning;
    tuning = tilemm__default_tuning(&cpus[machine]);
    kernels = cpu_kernels_of(cpus[machine].isa);
    return (tilemm__limits_t){.cpu = &cpus[machine],
                              .tuning = &tuning,
                              .kernels = &kernels,
                              .threads = cpus[machine].threads,
                              .team = cpus[machine].threads,
                              .workspace = workspace,
                              .variant = ""};
}

int main(void)
{
    choices_sgemm(4000);
    choices_transpose(3500);
    choices_reduce(2500);
    return 0;
}
