/* machines.h - devices and CPUs for which the tests of plans plan.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_MACHINES_H
#define TILEMM_TESTS_UNIT_MACHINES_H

#include "lib/traits.h"

enum { GPUS = 4, CPUS = 6 };

static const tilemm__cuda_traits_t gpus[GPUS] = {
    {"T4", 75, 40, 1024, 64 << 10, 64 << 10, 4 << 20, (size_t)15 << 30},
    {"A100", 80, 108, 2048, 163 << 10, 164 << 10, 40 << 20, (size_t)40 << 30},
    {"RTX 4090", 89, 128, 1536, 99 << 10, 100 << 10, 72 << 20, (size_t)24 << 30},
    {"H200", 90, 132, 2048, 227 << 10, 228 << 10, 60 << 20, (size_t)141 << 30},
};

/* The choices of choices.gz are those of the first GPUS. */
static const tilemm__cpu_traits_t cpus[CPUS] = {
    {"generic, no L3", TILEMM__ISA_GENERIC, 1, 16 << 10, 256 << 10, 256 << 10},
    {"desktop, AVX2", TILEMM__ISA_AVX2, 8, 32 << 10, 512 << 10, 16 << 20},
    {"server, AVX-512", TILEMM__ISA_AVX512, 16, 48 << 10, 1 << 20, 32 << 20},
    {"server, AMX", TILEMM__ISA_AMX, 112, 48 << 10, 2 << 20, 105 << 20},
    {"Cortex-A53", TILEMM__ISA_NEON, 4, 32 << 10, 512 << 10, 512 << 10},
    {"a small machine", TILEMM__ISA_GENERIC, 2, 8 << 10, 64 << 10, 64 << 10},
};

#endif
