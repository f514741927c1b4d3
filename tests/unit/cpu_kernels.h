/* cpu_kernels.h - what plans read of the CPU kernels' table, for machines that are not here.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_CPU_KERNELS_H
#define TILEMM_TESTS_UNIT_CPU_KERNELS_H

#include "kernels/cpu.h"
#include "lib/traits.h"

static inline tilemm__cpu_kernels_t cpu_kernels_of(tilemm__isa_t isa)
{
    static const tilemm__sgemm_cpu_t tiles[] = {
        [TILEMM__ISA_GENERIC] = {.name = "sgemm_mul_generic_4x8", .mr = 4, .nr = 8},
        [TILEMM__ISA_NEON] = {.name = "sgemm_fma_neon_8x12", .mr = 8, .nr = 12},
        [TILEMM__ISA_AVX2] = {.name = "sgemm_fma_avx2_6x16", .mr = 6, .nr = 16},
        [TILEMM__ISA_AVX512] = {.name = "sgemm_fma_avx512_14x32", .mr = 14, .nr = 32},
        [TILEMM__ISA_AMX] = {.name = "sgemm_fma_avx512_14x32", .mr = 14, .nr = 32},
    };
    static const tilemm__sgemm_planes_t fp32 = {.planes = 3, .products = 6, .depth = 512};
    static const tilemm__sgemm_planes_t tf32 = {.planes = 2, .products = 3, .depth = 768};
    static const tilemm__transpose_cpu_t transposes[] = {
        [TILEMM__ISA_GENERIC] = {.vector_bytes = 16}, [TILEMM__ISA_NEON] = {.vector_bytes = 16},
        [TILEMM__ISA_AVX2] = {.vector_bytes = 32},    [TILEMM__ISA_AVX512] = {.vector_bytes = 64},
        [TILEMM__ISA_AMX] = {.vector_bytes = 64},
    };
    return (tilemm__cpu_kernels_t){
        .sgemm = &tiles[isa],
        .planes_fp32 = isa == TILEMM__ISA_AMX ? &fp32 : NULL,
        .planes_tf32 = isa == TILEMM__ISA_AMX ? &tf32 : NULL,
        .transpose = &transposes[isa],
    };
}

#endif
