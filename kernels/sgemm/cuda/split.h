/* split.h - SGEMM on tensor cores from operands split in halves of 11 bits: what its kernels
 * share, and what the host side asks of them. Needs no CUDA header.
 *
 * Each operand becomes two planes of FP16: x = 2^e (hi + lo / 2^11). e is common to the elements of
 * one row of op(A) (one column of op(B)) over TILEMM__SPLIT_BLOCK of k, and brings the largest of
 * them to [2^14, 2^15). The product is hi hi + (hi lo + lo hi) / 2^11.
 *
 * What that cannot carry is found as the planes are made: each line (row of op(A), column of op(B))
 * has a state that says whether it must be multiplied in another way. The product's kernels leave
 * the elements of such lines alone; sgemm_left computes them after.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_SPLIT_H
#define TILEMM_KERNELS_SGEMM_CUDA_SPLIT_H

#include "kernels/args.h"
#include "kernels/sgemm/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TILEMM__SPLIT_BLOCK = 512,    /* of k, with one exponent */
    TILEMM__SPLIT_ALIGN_MN = 128, /* planes are filled up with zeros to multiples of these */
    TILEMM__SPLIT_ALIGN_K = 64,
    TILEMM__SPLIT_LINES = 16,      /* in a tile of the pass that makes the planes */
    TILEMM__SPLIT_ZERO = INT32_MIN /* the exponent of a block that is all zeros */
};

/* The state of a line, all zeros to begin with. */
typedef struct {
    unsigned flags;  /* TILEMM__SPLIT_... */
    unsigned top;    /* of the block with the largest exponent: (exponent + 256) << 16 | how many of
                        its elements (at most 65535) are near its largest; 0 where all is zero */
    unsigned bottom; /* 512 - (the smallest exponent of a block that is not zero + 256) */
} tilemm__split_state_t;

enum {
    TILEMM__SPLIT_SPECIAL = 1, /* holds Inf, NaN, or small elements in a block of few large ones */
    TILEMM__SPLIT_LOSSY = 2    /* holds elements too small to keep all their bits */
};

/* One operand, for every matrix of a batch. A plane has `mn` rows along k, rounded up, whatever the
 * order of the operand's memory. A matrix's plane follows the one before it; likewise its exponents
 * [block of k][mn rounded up] and its states [mn rounded up]. */
typedef struct {
    int64_t mn;
    int64_t pitch;           /* k rounded up */
    unsigned short *hi, *lo; /* FP16; 1024-byte aligned; lo is NULL where there is one plane */
    int *exponents;
    tilemm__split_state_t *states;
    unsigned *sparse; /* one word for all: not 0 if some block has few large elements */
} tilemm__split_operand_t;

/* The tiles of the sm90 kernel, and the pairs in which it walks them: one beside the other (along
 * n), or one below the other (along m). 128X256 is for one product, 128X64 and _DOWN for three. */
enum {
    TILEMM__SPLIT_128X128 = 0,
    TILEMM__SPLIT_128X128_DOWN,
    TILEMM__SPLIT_128X64,
    TILEMM__SPLIT_128X256
};

enum { TILEMM__SPLIT_PAIR = 2, TILEMM__SPLIT_COUNTERS = 8 };

/* How the k-steps of so many tiles are shared out among more clusters: in layers, each of so many
 * steps and with a cluster for each tile, and the rest of every tile, if any, by the clusters that
 * are left, which cut it in TILEMM__SPLIT_TAILS pieces at most. A piece costs those of the rest,
 * which have several, as much as TILEMM__SPLIT_PIECE steps beside its own. */
enum { TILEMM__SPLIT_TAILS = 2, TILEMM__SPLIT_PIECE = 3 };

static inline void tilemm__split_share(int64_t tiles, int64_t clusters, int64_t steps,
                                       int64_t *layers, int64_t *layer)
{
    *layers = clusters / tiles;
    *layer = (tiles * (steps + TILEMM__SPLIT_PIECE) + clusters - 1) / clusters;
    if (*layers * *layer >= steps) { /* no rest */
        *layer = (steps + *layers - 1) / *layers;
        *layers = (steps + *layer - 1) / *layer;
    }
}

/* One product of planes. k is that of the planes, 0 < k. `products` of the planes are added: 1
 * (hi hi), 3, or 4 (lo lo too, for short k). */
typedef struct {
    int64_t m, n, k, batch_count;
    tilemm__split_operand_t a, b;
    int products;
    unsigned *left; /* zero before; not zero after if lines were left alone */
    /* Of the sm90 kernel: its tile; and the pairs of tiles, the last
     * ones, whose k all clusters share out. For these TILEMM__SPLIT_COUNTERS words for each tile,
     * zeros before, and partial sums: as many tiles as there are pieces. */
    int tile;
    int64_t shared;
    unsigned *counters;
    float *partial;
    float alpha, beta;
    float *c;
    float *const *c_array;
    int64_t ldc, stride_c;
} tilemm__split_product_t;

#ifdef __CUDACC__
/* Whether a line's products must be left alone; other_sparse is the other operand's word. A sum of
 * few products is the one case where the planes' last bit would show, and where both operands have
 * few large elements still fewer meet; with one plane it is meant to. */
enum { TILEMM__SPLIT_FEW = 16 };

static __device__ __forceinline__ bool tilemm__split_is_left(const tilemm__split_state_t &line,
                                                             unsigned other_sparse,
                                                             bool one_plane = false)
{
    const int top = (int)(line.top >> 16), bottom = 512 - (int)line.bottom;
    const unsigned near = line.top & 0xffff;
    const bool few = near < (other_sparse ? 2u : 1u) * TILEMM__SPLIT_FEW && !one_plane;

    return (line.flags & TILEMM__SPLIT_SPECIAL) ||
           ((line.flags & TILEMM__SPLIT_LOSSY) && other_sparse) ||
           (line.top != 0 && (few || top - bottom > 36));
}
#endif

/* The launchers queue on `stream` (a cudaStream_t) and return a cudaError_t. */

/* Make so many bytes zeros, a multiple of 1024 at an address that is one. */
int tilemm__sgemm_split_zero_launch(void *begin, size_t bytes, void *stream);

/* Make the planes, exponents and states of both operands from args. The states and both words
 * `sparse` hold zeros before; the launch before this one may be that which makes them so. */
int tilemm__sgemm_split_launch(const tilemm__sgemm_args_t *args, const tilemm__split_operand_t *a,
                               const tilemm__split_operand_t *b, void *stream);

/* C = alpha op(A) op(B) + beta C but for lines that are left alone. */
/* Whether this build has the sm90 kernel's code for the current device: sm_90a, not sm_90. */
int tilemm__sgemm_split_sm90_is_built(void);
int tilemm__sgemm_split_sm90_launch(const tilemm__split_product_t *product, void *stream);
int tilemm__sgemm_split_sm80_launch(const tilemm__split_product_t *product, void *stream);

/* The same for the lines that those left alone (one_plane: in a product of one plane), from the
 * operands themselves. Does nothing if *left is zero. */
int tilemm__sgemm_left_launch(const tilemm__sgemm_args_t *args, const tilemm__split_operand_t *a,
                              const tilemm__split_operand_t *b, int one_plane, const unsigned *left,
                              void *stream);

#ifdef __cplusplus
}
#endif

#endif
