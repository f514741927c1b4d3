/* half_planes.h - invariant products from two FP16 planes that a pass makes, for many rows and
 * columns: the structs that its kernels take, and their launchers. Needs no CUDA header.
 *
 * The planes, classes and sums are those of half_sm90.cu, whose rule is in doc/numerics.md: the
 * bits of an element are the same by either. The parts of k follow each other in a plane, each
 * filled up with zeros to a multiple of TILEMM__SGEMM_HALF_ALIGN_K, which change no sum.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_HALF_PLANES_H
#define TILEMM_KERNELS_SGEMM_CUDA_HALF_PLANES_H

#include "kernels/args.h"
#include "kernels/sgemm/cuda/carry.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

enum {
    TILEMM__SGEMM_HALF_ALIGN_MN = 128, /* lines of planes are filled up with zeros to multiples */
    TILEMM__SGEMM_HALF_ALIGN_K = 64,
    TILEMM__SGEMM_HALF_LINES = 16, /* of a block of the pass */
    TILEMM__SGEMM_HALF_CHUNK = 512 /* of k that it has at a time */
};

/* The planes of an operand: [matrix][line][k of all parts], and words of its lines
 * (half_lines.cuh): [part][matrix][line]. */
typedef struct {
    unsigned short *high, *low; /* FP16, 256-byte aligned */
    unsigned short *words;
    unsigned char *most; /* the greatest class of HALF_LINES lines: [part][matrix][lines / that] */
    int64_t lines;       /* of a matrix, with those of zeros */
} tilemm__sgemm_half_planes_t;

/* An operand in memory. */
typedef struct {
    const float *from;
    const float *const *array;
    int64_t mn, ld, stride;
    int k_major; /* memory runs along k */
    int wide;    /* aligned for reads of 16 bytes */
    tilemm__sgemm_half_planes_t to;
} tilemm__sgemm_half_operand_t;

/* The first blocks_a blocks make A's planes, the others B's: each LINES lines of a part of k. */
typedef struct {
    tilemm__sgemm_half_operand_t a, b;
    int64_t k, k_part; /* of numbers */
    int64_t k_pitch;   /* of planes, of a part */
    int64_t parts, batch_count;
    unsigned blocks_a, blocks;
} tilemm__sgemm_make_half_t;

/* C = alpha op(A) op(B) + beta C, of all elements that planes carry; of others in their tile too
 * where beta is 0.
 * Clusters of two blocks have tiles side by side, and share op(A). */
typedef struct {
    int64_t m, n, batch_count;
    tilemm__sgemm_half_planes_t a, b;
    int64_t k_pitch, parts;
    int variant;
    int exchanged; /* the operands have changed places */
    float alpha, beta;
    float *c;
    float *const *c_array;
    int64_t ldc, stride_c;
    unsigned rows, cols; /* of tiles in a matrix */
    unsigned pairs;      /* of tiles, in all matrices */
    unsigned blocks;     /* of the grid */
    tilemm__sgemm_carry_t carry;
} tilemm__sgemm_half_product_t;

#ifdef __cplusplus
extern "C" {
#endif

/* They queue on `stream` (a cudaStream_t) and return a cudaError_t. */
int tilemm__sgemm_make_half_launch(const tilemm__sgemm_make_half_t *problem, void *stream);
int tilemm__sgemm_half_planes_launch(const tilemm__sgemm_half_product_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
