/* fused.h - SGEMM on tensor cores in one launch, planes made as operands are read: the
 * struct that the kernels take, and the launcher. Needs no CUDA header.
 *
 * Each element, times a power of two, becomes three BF16 numbers, x = h + m + l, of 8 bits each:
 * all of a float's 24. BF16 has a float's exponents; the power keeps l from becoming subnormal, and
 * products from overflowing (fused_sm90.cuh, windows). Six products of the nine are added, m m + h
 * l + l h + h m + m h + h h; those left out are below 2^-24 |a b|, and hardly ever above 2^-26. In
 * sparse tiles what an addition to a sum loses is added later. The kernels of TF32 mode
 * (tf32_sm90.cu) multiply numbers rounded to TF32, of 11 bits, at any exponent too.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_H
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_H

#include <stddef.h>

#include "kernels/args.h"
#include "kernels/sgemm/cuda/carry.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

enum {
    TILEMM__SGEMM_FUSED_K = 32,           /* a k-step */
    TILEMM__SGEMM_FUSED_MOST_CLUSTER = 8, /* blocks that share a tile's k */
    TILEMM__SGEMM_FUSED_BULK_MOST_K = 64  /* up to which the largest tile has memory to store from:
                                             beyond, the room is better used for operands */
};

/* Blocks of a cluster whose tiles lie side by side, and so share op(A): all of them if a tile
 * (m x n) has more rows than columns; else 1, as all lie below each other and share op(B). */
TILEMM__LAYOUT int tilemm__fused_cluster_n(int m, int n, int cluster)
{
    return m > n ? cluster : 1;
}

/* How a tile of C is stored: by its threads, as these have it; through shared memory, whole rows of
 * the tile by a warp; from there by the copy engine (beta = 0, C aligned, no array). The last two
 * with one split, by variants that have memory for it. */
typedef enum {
    TILEMM__SGEMM_STORE_THREADS,
    TILEMM__SGEMM_STORE_ROWS,
    TILEMM__SGEMM_STORE_BULK
} tilemm__sgemm_fused_store_t;

/* ---- the problem ---------------------------------------------------------------------------- */

/* One product, as the kernel sees it: of a transposed variant `args` is that of C' = op(B)' op(A)',
 * that is m and n, A and B have changed places, and trans_a is what trans_b was not. C is still
 * row-major. Split s takes k from s * k_split on, a multiple of TILEMM__SGEMM_FUSED_K. With
 * splits > 1 either the splits of a tile are a cluster and add up what they have; or the split's
 * part of the product, alpha and beta left out, goes to partial + s * batch_count * m * n, dense
 * and row-major like C. */
typedef struct {
    tilemm__sgemm_args_t args; /* but for unaligned variants: no arrays of A or B; A and B aligned,
                                  or copies (align.h) */
    int variant;
    unsigned cluster; /* blocks; 1: none */
    uint64_t blocks;  /* of the grid: each takes every blocks-th item */
    int64_t splits, k_split;
    int64_t k_part; /* of invariant_sm90.cu: k of a sum of its own, at most k_split */
    int64_t k_half; /* the same of half_sm90.cu */
    float *partial; /* NULL: a cluster, or one split */
    size_t partial_bytes;
    /* Items: a tile of a matrix and one split of its k. */
    unsigned rows, cols;         /* of tiles in a matrix */
    unsigned count;              /* of items */
    tilemm__sgemm_carry_t carry; /* of half_sm90.cu, which fills it in; of invariant_sm90.cu, which
                                    computes what planes do not carry, if not NULL */
    int goes_on; /* half_sm90.cu computes that itself: one split, or a cluster whose parts are those
                    of k_part too */
    unsigned char store;  /* tilemm__sgemm_fused_store_t */
    unsigned char phased; /* the copy engine brings an unaligned variant's operands, by phases of
                             rows (layout.h); else threads copy them */
    unsigned char spread; /* one block to a multiprocessor, even if there is room for more */
    /* Whether matrices do not lie multiples of 16 bytes apart. Phased, those of an operand that
     * runs along k follow each other without a gap, and phases are those of the rows of all; else
     * every fourth matrix has maps of its own, and the other operand runs along k. */
    unsigned char uneven_a, uneven_b;
} tilemm__sgemm_fused_t;

/* ---- launcher ------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* For compute capability 9.0 (sm_90a): look the variant up, make the tensor maps, queue. */
int tilemm__sgemm_fused_launch(const tilemm__sgemm_fused_t *problem, void *stream);
int tilemm__sgemm_unaligned_launch(const tilemm__sgemm_fused_t *problem, void *stream);
int tilemm__sgemm_tf32_launch(const tilemm__sgemm_fused_t *problem, void *stream);
int tilemm__sgemm_half_launch(const tilemm__sgemm_fused_t *problem, void *stream);
int tilemm__sgemm_invariant_launch(const tilemm__sgemm_fused_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
