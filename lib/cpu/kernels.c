/* kernels.c - the table of CPU kernels: one entry for each instruction set that is compiled in.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "kernels/cpu.h"

#include "cpu.h"

/* The kernels of instruction set x and the matrix engine's, under the name of isa. */
#define KERNELS(isa, x, planes_fp32, planes_tf32)                                                  \
    {                                                                                              \
#isa, &tilemm__sgemm_cpu_##x, planes_fp32, planes_tf32, &tilemm__transpose_cpu_##x,        \
            &tilemm__reduce_cpu_##x                                                                \
    }

static const tilemm__cpu_kernels_t table[TILEMM__ISA_COUNT] = {
    [TILEMM__ISA_GENERIC] = KERNELS(generic, generic, NULL, NULL),
#ifdef TILEMM_HAVE_NEON
    [TILEMM__ISA_NEON] = KERNELS(neon, neon, NULL, NULL),
#endif
#ifdef TILEMM_HAVE_AVX2
    [TILEMM__ISA_AVX2] = KERNELS(avx2, avx2, NULL, NULL),
#endif
#ifdef TILEMM_HAVE_AVX512
    [TILEMM__ISA_AVX512] = KERNELS(avx512, avx512, NULL, NULL),
#ifdef TILEMM_HAVE_AMX
    [TILEMM__ISA_AMX] =
        KERNELS(amx, avx512, &tilemm__sgemm_planes_amx_fp32, &tilemm__sgemm_planes_amx_tf32),
#endif
#endif
};

const tilemm__cpu_kernels_t *tilemm__cpu_kernels_for(tilemm__isa_t isa)
{
    return table[isa].isa ? &table[isa] : NULL;
}
