/* planes.h - SGEMM on tensor cores from planes that a pass makes (split precision): what its
 * kernels share, and the structs that they take. Needs no CUDA header.
 *
 * Each operand becomes two planes of FP16: x = 2^e (hi + lo / 2^11), each of 11 bits. e is common
 * to the elements of one line (a row of op(A), a column of op(B)) over TILEMM__SGEMM_PLANES_BLOCK
 * of k, and brings the largest of them to [2^14, 2^15). The product is hi hi + (hi lo + lo hi) /
 * 2^11.
 *
 * The kernels follow each other. They make the planes, with a note on each line's block; judge the
 * lines by the notes; and multiply. What planes cannot carry is computed last: hard tiles from BF16
 * planes or by FP32 multiply-adds, and exact lines, where possible by one kernel (rest.h). route.h
 * says which tile goes where.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_PLANES_H
#define TILEMM_KERNELS_SGEMM_CUDA_PLANES_H

#include <stddef.h>

#include "kernels/args.h"
#include "kernels/sgemm/cuda/route.h"
#include "kernels/sgemm/layout.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TILEMM__SGEMM_PLANES_BLOCK = 512,    /* of k, with one exponent */
    TILEMM__SGEMM_PLANES_ALIGN_MN = 128, /* planes are filled up with zeros to multiples of these */
    TILEMM__SGEMM_PLANES_ALIGN_K = 64,
    TILEMM__SGEMM_PLANES_LINES = 16,      /* in a tile of the pass that makes the planes */
    TILEMM__SGEMM_PLANES_ZERO = INT32_MIN /* the exponent of a block that is all zeros */
};

/* The note on a line's block is one word: from the low end, how many of its elements are near the
 * largest; the exponent + BIAS, 0 of a block of zeros or one that is not finite; flags; and the
 * exponent of the least number that is not 0, of it or of lines beside it, as a float has it, but
 * for the last LEAST_UNIT_LOG2 bits. */
enum {
    TILEMM__SGEMM_NOTE_BITS = 10, /* of each number */
    TILEMM__SGEMM_NOTE_BIAS = 512,
    TILEMM__SGEMM_NOTE_MASK = (1 << TILEMM__SGEMM_NOTE_BITS) - 1,
    TILEMM__SGEMM_NOTE_SPARSE = 1 << 20,  /* it has few large elements */
    TILEMM__SGEMM_NOTE_LOSSY = 1 << 21,   /* elements too small to keep all their bits */
    TILEMM__SGEMM_NOTE_EXACT = 1 << 22,   /* Inf, NaN; or sparse and lossy */
    TILEMM__SGEMM_NOTE_SPECIAL = 1 << 23, /* Inf, NaN */
    TILEMM__SGEMM_NOTE_UNEVEN = 1 << 24,  /* numbers beyond 2^-34 .. 2^11, or 0 */
    TILEMM__SGEMM_NOTE_FLAGS = 31 << 20,
    TILEMM__SGEMM_NOTE_LEAST = 26, /* the first bit */
    TILEMM__SGEMM_NOTE_LEAST_UNIT_LOG2 = 2,
    TILEMM__SGEMM_NOTE_LEAST_MOST = 63 /* there is none */
};

/* What the judgement says of a line is one word: from the low end, a bit for each case in which it
 * is exact; and the largest exponent of its notes, as they have it. */
enum {
    TILEMM__SGEMM_JUDGED_LOG2 = TILEMM__SGEMM_ROUTE_CASES, /* the first bit */
    TILEMM__SGEMM_PLANES_TOP_LOG2 = 14 /* of a block's largest element in planes */
};

/* The planes of one operand, for every matrix of a batch. A plane has `mn` rows along k, rounded up
 * to ALIGN_MN, however the operand lies in memory. The matrices' planes follow each other; so do
 * their notes, [block of k][notes_pitch], judged lines, [mn rounded up], and groups,
 * [mn / TILEMM__SGEMM_ROUTE_LINES, rounded up]. Planes and notes may be part of more lines'. */
typedef struct {
    int64_t mn;
    int64_t pitch;           /* k rounded up */
    int64_t notes_pitch;     /* lines whose notes on a block follow each other */
    unsigned short *hi, *lo; /* FP16; 1024-byte aligned; lo is NULL where there is one plane */
    unsigned *notes;
    unsigned *exact; /* what the judgement says of a line */
    tilemm__sgemm_group_t *groups;
    tilemm__sgemm_density_t *density;
} tilemm__sgemm_planes_operand_t;

/* ---- zeros ---------------------------------------------------------------------------------- */

/* Make zeros of `count` times 16 bytes, 16-byte aligned. */
typedef struct {
    void *begin;
    int64_t count;
    int variant;
    unsigned blocks; /* of the grid */
} tilemm__sgemm_zero_t;

/* ---- making planes -------------------------------------------------------------------------- */

/* An operand in memory, and how far its planes go beyond it. */
typedef struct {
    const float *from;
    const float *const *array;
    int64_t mn, k, ld, stride;
    int64_t mn_planes, k_planes; /* mn and k rounded up */
    int k_major;                 /* memory runs along k */
    int wide;                    /* aligned for reads of 16 bytes */
    tilemm__sgemm_planes_operand_t to;
} tilemm__sgemm_make_operand_t;

/* The first blocks_a blocks make A's planes, the others B's. A block has LINES lines by BLOCK of k.
 * Makes zeros of the groups and of `zeros` words as well. */
typedef struct {
    tilemm__sgemm_make_operand_t a, b;
    unsigned *zero;
    unsigned zeros;
    unsigned blocks_a;
    unsigned blocks; /* of the grid */
    int variant;
} tilemm__sgemm_make_planes_t;

/* ---- judging lines -------------------------------------------------------------------------- */

/* An operand's lines, `tiles` tiles of a matrix. */
typedef struct {
    tilemm__sgemm_planes_operand_t of;
    int64_t k;
    unsigned tiles;
} tilemm__sgemm_judge_operand_t;

/* The first blocks_a blocks judge A's lines, the others B's. A block's threads have 1 / slices as
 * many lines, each in `slices` ranges of k. */
typedef struct {
    tilemm__sgemm_judge_operand_t a, b;
    unsigned few;    /* sums of fewer large products are more exact in FP32 than from planes */
    unsigned slices; /* 1, 2, 4 or 8 */
    unsigned one_in; /* more than one exact line in so many make a group hard; 0: none do */
    unsigned blocks_a;
    unsigned blocks; /* of the grid */
    int variant;
    int concurrent; /* may start before the kernel before has ended: compute capability 9.0 */
} tilemm__sgemm_judge_lines_t;

/* ---- the product ---------------------------------------------------------------------------- */

/* How the clusters of sm90 walk their tiles; a cluster's tile is the tiles of its blocks.
 * Clusters take the first `whole` tiles in turn. The steps of the `shared` last tiles are divided
 * (stream-K): each of `layers` layers has `layer` steps of every tile, and a cluster for each; the
 * `tail` steps that remain of each tile are divided in equal ranges among tail_clusters clusters.
 * The clusters of a layer read the same k at a time, from the L2 cache. */
typedef struct {
    unsigned rows, cols, per_matrix; /* of clusters' tiles in a matrix */
    unsigned steps;                  /* of a tile */
    unsigned whole, shared;          /* tiles */
    unsigned layers, layer, tail;
    unsigned tail_clusters;
} tilemm__sgemm_stream_k_t;

/* Where pieces of tiles are added up. */
typedef struct {
    float *partial;     /* their sums */
    unsigned *counters; /* zeros before */
} tilemm__sgemm_stream_k_sums_t;

enum {
    TILEMM__SGEMM_STREAM_K_PAIR = 2,     /* blocks of a cluster of products of planes */
    TILEMM__SGEMM_STREAM_K_COUNTERS = 8, /* words for each block's tile whose k is shared out */
    TILEMM__SGEMM_STREAM_K_TAILS = 2     /* a tail is cut in this many pieces at most */
};

/* Blocks of sm80, each a tile: block b has tile first + b. */
typedef struct {
    uint64_t first, tiles_m, tiles_n;
} tilemm__sgemm_planes_tiles_t;

/* C = alpha op(A) op(B) + beta C from planes, except the exact lines. 0 < k, that of the planes. */
typedef struct {
    int64_t m, n, k, batch_count;
    tilemm__sgemm_planes_operand_t a, b;
    int variant;
    int products;                  /* of the planes that are added: the variant's */
    tilemm__sgemm_routes_t routes; /* *left is zero before */
    uint64_t blocks; /* of the grid; of sm80 the launcher makes several grids if there are many */
    unsigned shared; /* of sm90: as in walk.stream_k */
    tilemm__sgemm_stream_k_sums_t sums; /* of sm90 */
    float alpha, beta;
    float *c;
    float *const *c_array;
    int64_t ldc, stride_c;
    union {
        tilemm__sgemm_planes_tiles_t tiles;
        tilemm__sgemm_stream_k_t stream_k;
    } walk;
} tilemm__sgemm_planes_product_t;

/* Bytes of shared memory of a block of sm80: `stages` of k steps of both operands' planes, two
 * words a line, and 24 bytes for the tile's place. */
static inline size_t tilemm__sgemm_planes_sm80_shared(int products, int m, int n, int k, int stages)
{
    return (size_t)(stages * (m + n) * k * 2 * (products > 1 ? 2 : 1) + (m + n) * 8 + 24);
}

/* ---- exact lines ---------------------------------------------------------------------------- */

/* Element (line, p) of an operand is from[line * line_step + p * k_step]: one of the steps is 1. If
 * compact_pitch is not 0, `compact` has room for half of the lines, as many numbers apart: these
 * are the planes, which nobody needs any more. */
typedef struct {
    const float *from;
    const float *const *array;
    int64_t stride, count, line_step, k_step;
    const unsigned *exact;
    int64_t exact_stride; /* lines rounded up */
    tilemm__sgemm_group_t *groups;
    int64_t groups_stride;
    float *compact;
    int64_t compact_pitch;
    const tilemm__sgemm_density_t *density; /* of this operand */
} tilemm__sgemm_exact_operand_t;

typedef struct {
    tilemm__sgemm_exact_operand_t lines, others;
    int64_t k, batch_count;
    int skip_others; /* elements whose other line is exact too are not for this pass */
    int teams;       /* of blocks; a team takes TILEMM__SGEMM_EXACT_GROUP lines at a time */
    float alpha, beta;
    float *c;
    float *const *c_array;
    int64_t stride_c, line_step_c, other_step_c;
} tilemm__sgemm_exact_pass_t;

/* Exact rows, then exact columns, of tiles that are not hard. Does nothing if *left says that there
 * are none. Where a team has few tiles its blocks divide these along k, if `sums` has memory: for
 * each block, in each pass, EXACT_PIECES counters and as many times EXACT_TILE numbers. */
typedef struct {
    tilemm__sgemm_exact_pass_t pass[2];
    tilemm__sgemm_stream_k_sums_t sums;
    const unsigned *left;
    unsigned blocks; /* of the grid */
    int variant;
    int concurrent; /* as in tilemm__sgemm_judge_lines_t */
} tilemm__sgemm_exact_lines_t;

enum {
    TILEMM__SGEMM_EXACT_GROUP = 8192,
    TILEMM__SGEMM_EXACT_BLOCKS = 1, /* a multiprocessor */
    TILEMM__SGEMM_EXACT_TILE = 32 * 32,
    TILEMM__SGEMM_EXACT_PIECES = 2
};

#ifdef __CUDACC__
/* The exponent of a block, or TILEMM__SGEMM_PLANES_ZERO. */
static __device__ __forceinline__ int tilemm__sgemm_note_exponent(unsigned note)
{
    const int biased = (int)(note >> TILEMM__SGEMM_NOTE_BITS & TILEMM__SGEMM_NOTE_MASK);
    return biased ? biased - TILEMM__SGEMM_NOTE_BIAS : (int)TILEMM__SGEMM_PLANES_ZERO;
}

/* log2 of a judged line's largest element, rounded down, or TILEMM__SGEMM_PLANES_ZERO. */
static __device__ __forceinline__ int tilemm__sgemm_judged_log2(unsigned judged)
{
    const int biased = (int)(judged >> TILEMM__SGEMM_JUDGED_LOG2);
    return biased ? biased - TILEMM__SGEMM_NOTE_BIAS + TILEMM__SGEMM_PLANES_TOP_LOG2
                  : (int)TILEMM__SGEMM_PLANES_ZERO;
}
#endif

/* ---- launchers ------------------------------------------------------------------------------ */

/* They look the variant up, queue on `stream` (a cudaStream_t) and return a cudaError_t. */
int tilemm__sgemm_zero_launch(const tilemm__sgemm_zero_t *problem, void *stream);
int tilemm__sgemm_make_planes_launch(const tilemm__sgemm_make_planes_t *problem, void *stream);
int tilemm__sgemm_judge_lines_launch(const tilemm__sgemm_judge_lines_t *problem, void *stream);
int tilemm__sgemm_planes_sm80_launch(const tilemm__sgemm_planes_product_t *problem, void *stream);
int tilemm__sgemm_planes_sm90_launch(const tilemm__sgemm_planes_product_t *problem, void *stream);
int tilemm__sgemm_exact_lines_launch(const tilemm__sgemm_exact_lines_t *problem, void *stream);

/* Whether this build has the sm90 kernels' code for the current device: sm_90a, not sm_90. */
int tilemm__sgemm_planes_sm90_is_built(void);

#ifdef __cplusplus
}
#endif

#endif
