/* vector.h - SGEMM of a matrix and a few vectors by FP32 multiply-adds, where the matrix is
 * mostly not large: the struct that the kernels take, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_VECTOR_H
#define TILEMM_KERNELS_SGEMM_CUDA_VECTOR_H

#include <stdint.h>

#include "kernels/division.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps that a thread reads at a time, of `width` numbers of X; rows run along k, or along m. */
#define TILEMM__SGEMM_VECTOR_AHEAD_K(width) ((width) == 4 ? 4 : 8)
#define TILEMM__SGEMM_VECTOR_AHEAD_M(width) ((width) == 4 ? 8 : 16)

/* C (m x n) = alpha X Z + beta C, 0 < k, n up to the variant's columns. A product of few rows is
 * the same with A and B exchanged; one of few rows and a vector too, in kernels _k of one row and
 * several columns: X is the vector. Element (i, p) of X is x[i * ldx + p * x_k] for kernels _k,
 * x[p * ldx + i] for kernels _m; element (p, j) of Z is z[p * z_k + j * z_n], element (i, j) of C
 * is c[i * c_m + j * c_n]. Kernels _aligned read X 16 bytes at a time, _k Z too: addresses, ldx,
 * z_n and strides are multiples of 16 bytes then, and for _k z_k is 1. x_k is 1 but in kernels _k,
 * not aligned, whose blocks have one row. m, k and the number of blocks are at most 2^30. */
typedef struct {
    int64_t m, k;
    int n;
    float alpha, beta;
    const float *x, *z;
    float *c;
    const float *const *x_array, *const *z_array;
    float *const *c_array;
    int64_t ldx, z_k, z_n, c_m, c_n;
    int x_k;
    int64_t stride_x, stride_z, stride_c;
    int variant;
    /* Steps of k of a block, of which `splits` divide k: as a cluster, which adds up; or split s
     * stores its sums at c + s * c_split. Kernels _k with several rows to a block do not divide k.
     */
    int64_t k_split, c_split;
    unsigned splits, cluster; /* blocks; 1: none */
    unsigned per_matrix;      /* tiles of rows; each has `splits` blocks */
    tilemm__division_t by_per_matrix, by_splits;
    unsigned blocks;
    int concurrent; /* may start before the kernel before has ended */
} tilemm__sgemm_vector_t;

int tilemm__sgemm_vector_launch(const tilemm__sgemm_vector_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
