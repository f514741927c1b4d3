/* align.h - copies of SGEMM's operands whose rows begin at multiples of 16 bytes, as the copy
 * engine needs them: the struct that the kernel takes, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_ALIGN_H
#define TILEMM_KERNELS_SGEMM_CUDA_ALIGN_H

#include <stdint.h>

#include "kernels/division.h"

/* Numbers of the copies that a block writes at a time: block i takes part i, i + blocks ... */
enum { TILEMM__SGEMM_ALIGN_THREADS = 256, TILEMM__SGEMM_ALIGN_BLOCK = 1024 };

/* A batch of row-major matrices, as stored. The copies lie one after the other; numbers between a
 * row's end and the next row become zeros. */
typedef struct {
    const float *from;
    const float *const *array; /* NULL: matrix i begins at from + i * stride */
    float *to;
    int64_t rows, cols, ld, stride, ld_to; /* ld_to is a multiple of 4 */
    int64_t count;                         /* numbers of the copies */
    tilemm__division_t by_ld_to, by_rows;  /* which are below 2^31 */
    unsigned blocks;                       /* 0: no copy */
} tilemm__sgemm_align_operand_t;

typedef struct {
    tilemm__sgemm_align_operand_t operand[2];
    int variant;
    unsigned blocks; /* of the grid, those of both operands; 0: not launched */
} tilemm__sgemm_align_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Looks the variant up and queues on `stream` (a cudaStream_t); returns a cudaError_t. */
int tilemm__sgemm_align_launch(const tilemm__sgemm_align_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
