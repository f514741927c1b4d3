/* plan_types_cuda.h - what a plan of SGEMM on a GPU holds: the structs that its kernels take.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_TYPES_CUDA_H
#define TILEMM_LIB_SGEMM_PLAN_TYPES_CUDA_H

#include "cost_cuda.h"
#include "kernels/args.h"
#include "kernels/sgemm/cuda/align.h"
#include "kernels/sgemm/cuda/ffma.h"
#include "kernels/sgemm/cuda/fitted.h"
#include "kernels/sgemm/cuda/fused.h"
#include "kernels/sgemm/cuda/half_parts.h"
#include "kernels/sgemm/cuda/half_planes.h"
#include "kernels/sgemm/cuda/outer.h"
#include "kernels/sgemm/cuda/packed.h"
#include "kernels/sgemm/cuda/planes.h"
#include "kernels/sgemm/cuda/rest.h"
#include "kernels/sgemm/cuda/short.h"
#include "kernels/sgemm/cuda/skinny.h"
#include "kernels/sgemm/cuda/slicek.h"
#include "kernels/sgemm/cuda/vector.h"
#include "kernels/sgemm/cuda/warp.h"
#include "lib/plan.h"

typedef enum {
    TILEMM__SGEMM_NOTHING,     /* k = 0, beta = 1: C is the result */
    TILEMM__SGEMM_SCALE,       /* k = 0: C = beta C */
    TILEMM__SGEMM_FFMA,        /* FP32 multiply-adds on shared tiles */
    TILEMM__SGEMM_SKINNY,      /* the same for few rows or columns */
    TILEMM__SGEMM_VECTOR,      /* the same for up to four rows or columns, without shared memory */
    TILEMM__SGEMM_SLICEK,      /* the same in small tiles whose k is shared out among warps */
    TILEMM__SGEMM_SMALL_BATCH, /* the same for many small matrices */
    TILEMM__SGEMM_OUTER,       /* the same where C is a sum of few outer products */
    TILEMM__SGEMM_FITTED,      /* the same in tiles that fit the matrices */
    TILEMM__SGEMM_PACKED,      /* the same for batches of small matrices without gaps */
    TILEMM__SGEMM_SHORT,       /* the same for a short k, or memory that is not aligned */
    TILEMM__SGEMM_FUSED,       /* tensor cores, BF16 planes or TF32 made in the kernel */
    TILEMM__SGEMM_PLANES,      /* tensor cores, FP16 planes made by a pass */
    TILEMM__SGEMM_HALF_PLANES, /* the same of an invariant product */
    TILEMM__SGEMM_WARP         /* one of these, planes of either kind in a warp's registers */
} tilemm__sgemm_method_t;

/* Skinny: in the workspace the partial products, then the counters, which are zeroed before. */
typedef struct {
    tilemm__sgemm_skinny_t product;
    tilemm__sgemm_zero_t zero; /* if blocks is not 0 */
} tilemm__sgemm_skinny_plan_t;

/* A matrix and a few vectors. The workspace has the sums of parts of k. */
typedef struct {
    tilemm__sgemm_vector_t product;
    tilemm__sgemm_splitk_t splitk; /* if blocks is not 0 */
} tilemm__sgemm_vector_plan_t;

/* Tiles. If the fringe has blocks, its few rows or columns at the end of C are not among those of
 * the tiles: they are computed by a concurrent kernel. Neither needs workspace then. */
typedef struct {
    tilemm__sgemm_ffma_t tiles;
    tilemm__sgemm_splitk_t splitk; /* if blocks is not 0 */
    tilemm__sgemm_skinny_t fringe; /* likewise */
} tilemm__sgemm_ffma_plan_t;

/* Copies of the operands that the copy engine cannot read. `at`: bytes from the workspace's begin.
 */
typedef struct {
    tilemm__sgemm_align_t pass; /* if blocks is not 0 */
    size_t at[2];
} tilemm__sgemm_copies_t;

/* Where what carry.h says lies: bytes from the workspace's begin. */
typedef struct {
    size_t a, b, left;
} tilemm__sgemm_carry_places_t;

/* The workspace has the partial products, then the copies, then what FP16 planes carry. */
typedef struct {
    tilemm__sgemm_copies_t copies;
    tilemm__sgemm_fused_t product;
    tilemm__sgemm_splitk_t splitk;    /* if blocks is not 0 */
    tilemm__sgemm_half_parts_t parts; /* likewise: of FP16 planes, in its place */
    tilemm__sgemm_fused_t rest;       /* likewise: what FP16 planes do not carry */
    tilemm__sgemm_carry_places_t carry;
    size_t parts_a, parts_b; /* classes of parts of k: bytes from the workspace's begin */
} tilemm__sgemm_fused_plan_t;

/* Invariant products from FP16 planes that a pass makes: high, low, words and most of both operands
 * lie at these bytes from the workspace's begin. */
typedef struct {
    tilemm__sgemm_make_half_t make;
    tilemm__sgemm_half_product_t product;
    tilemm__sgemm_fused_t rest; /* what planes do not carry */
    tilemm__sgemm_carry_places_t carry;
    size_t high[2], low[2], words[2], most[2];
} tilemm__sgemm_half_plan_t;

/* Invariant products in tiles of a warp. The workspace has the sums of parts of k. */
typedef struct {
    tilemm__sgemm_warp_t product;
    tilemm__sgemm_splitk_t splitk; /* if blocks is not 0 */
} tilemm__sgemm_warp_plan_t;

/* The kernels of a part of k of a group of matrices, one after the other. */
typedef struct {
    tilemm__sgemm_make_planes_t make;
    tilemm__sgemm_judge_lines_t judge;
    tilemm__sgemm_planes_product_t product;
    tilemm__sgemm_rest_t rest; /* if blocks is 0, `fp32` and `exact` are launches of their own */
} tilemm__sgemm_planes_part_t;

/* Where an operand's planes lie: bytes from the workspace's begin. lo: with more than one product.
 * bf16: if hard tiles have BF16 planes. */
typedef struct {
    size_t hi, lo, bf16, notes, exact, groups;
} tilemm__sgemm_planes_places_t;

/* k is taken in parts of k_part (a multiple of TILEMM__SGEMM_PLANES_BLOCK, or all of k), and the
 * batch in groups of batch_group matrices. part[i][j]: i is 1 for the last group, j for the last
 * part of k, if they are smaller than the others. */
typedef struct {
    int64_t k_part, batch_group;
    tilemm__sgemm_planes_places_t a, b;
    /* Likewise. `density` has A's, B's, the word that tells what is left, and the chunks of BF16
     * planes; counters follow, and the pass that makes planes makes zeros of all; or, where planes
     * stay, a kernel before it, and of both operands' groups. exact_partial: 0 if exact lines are
     * not divided along k. */
    size_t density, counters, hard_counters, exact_counters, partial, exact_partial;
    unsigned zeros;            /* words, from `density` on, if `zero` is not launched */
    tilemm__sgemm_zero_t zero; /* if blocks is not 0: from a.groups on */
    tilemm__sgemm_planes_part_t part[2][2];
} tilemm__sgemm_planes_cuda_plan_t;

typedef struct {
    tilemm__sgemm_method_t method;
    int variant;      /* of the main kernel; -1 for NOTHING */
    size_t workspace; /* bytes */
    int keeps;        /* planes stay, as limits->kept says */
    char name[64];    /* "sgemm_ffma_sm80_64x64x16_nt+splitk4"; "" for NOTHING */
    union {
        tilemm__sgemm_scale_t scale;
        tilemm__sgemm_ffma_plan_t ffma;
        tilemm__sgemm_skinny_plan_t skinny;
        tilemm__sgemm_small_batch_t small_batch;
        tilemm__sgemm_vector_plan_t vector;
        tilemm__sgemm_slicek_t slicek;
        tilemm__sgemm_outer_t outer;
        tilemm__sgemm_fitted_t fitted;
        tilemm__sgemm_short_t short_k;
        tilemm__sgemm_fused_plan_t fused;
        tilemm__sgemm_planes_cuda_plan_t planes;
        tilemm__sgemm_half_plan_t half;
        tilemm__sgemm_warp_plan_t warp;
        tilemm__sgemm_packed_t packed;
    } as;
} tilemm__sgemm_cuda_plan_t;

#endif
