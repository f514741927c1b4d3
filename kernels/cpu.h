/* cpu.h - the kernels of one CPU instruction set, of all operations.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_CPU_H
#define TILEMM_KERNELS_CPU_H

#include "kernels/reduce/cpu/kernels.h"
#include "kernels/sgemm/cpu/kernels.h"
#include "kernels/sgemm/cpu/planes.h"
#include "kernels/transpose/cpu/kernels.h"

typedef struct tilemm__cpu_kernels {
    const char *isa; /* "avx2", as TILEMM_ARCH and kernel names have it */
    const tilemm__sgemm_cpu_t *sgemm;
    /* The matrix engine's, for TILEMM_MATH_FP32 and _TF32; NULL where there is none. */
    const tilemm__sgemm_planes_t *planes_fp32, *planes_tf32;
    const tilemm__transpose_cpu_t *transpose;
    const tilemm__reduce_cpu_t *reduce;
} tilemm__cpu_kernels_t;

#endif
