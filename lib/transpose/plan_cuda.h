/* plan_cuda.h - which kernels transpose a matrix on a GPU, and with which tiles: pure functions of
 * the problem and the limits (lib/plan.h). Execution adds pointers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_PLAN_CUDA_H
#define TILEMM_LIB_TRANSPOSE_PLAN_CUDA_H

#include "kernels/args.h"
#include "kernels/transpose/cuda/transpose.h"
#include "lib/plan.h"

/* ---- rows of kernels/transpose/variants.h --------------------------------------------------- */

/* Named as the kernels. */
typedef enum {
    TILEMM__TRANSPOSE_BY_copy, /* no transpose: scale, copy, or fill with zeros */
    TILEMM__TRANSPOSE_BY_tile,
    TILEMM__TRANSPOSE_BY_shifted,
    TILEMM__TRANSPOSE_BY_narrow,
    TILEMM__TRANSPOSE_BY_gather,
    TILEMM__TRANSPOSE_BY_elements,
    TILEMM__TRANSPOSE_BY_repeated,
    TILEMM__TRANSPOSE_BY_packed,
    TILEMM__TRANSPOSE_BY_columns,
    TILEMM__TRANSPOSE_BY_few,
    TILEMM__TRANSPOSE_BY_zip,
    TILEMM__TRANSPOSE_BY_skewed,
    TILEMM__TRANSPOSE_BY_words,
    TILEMM__TRANSPOSE_BY_direct,
    TILEMM__TRANSPOSE_BY_swap, /* from here on in place */
    TILEMM__TRANSPOSE_BY_swap_elements,
    TILEMM__TRANSPOSE_BY_whole,
    TILEMM__TRANSPOSE_BY_slabs,
    TILEMM__TRANSPOSE_BY_save,
    TILEMM__TRANSPOSE_BY_chains,
    TILEMM__TRANSPOSE_BY_cycles,
    TILEMM__TRANSPOSE_BY_move_out,
    TILEMM__TRANSPOSE_BY_move_in
} tilemm__transpose_by_t;

typedef struct {
    const char *name;
    tilemm__transpose_by_t method;
    int bytes, rows, cols, chunk, access, threads, facet;
} tilemm__transpose_row_t;

extern const tilemm__transpose_row_t tilemm__transpose_rows[TILEMM__TRANSPOSE_VARIANTS];

/* The row of a method with these bytes and this facet: of those whose access is at most
 * `alignment`, the first with the widest. TILEMM__TRANSPOSE_VARIANTS if there is none. */
tilemm__transpose_variant_t tilemm__transpose_row(tilemm__transpose_by_t method, int bytes,
                                                  int alignment, int facet);

/* Whether limits->variant allows a kernel of that name. */
int tilemm__transpose_is_allowed(const tilemm__limits_t *limits, const char *name);

/* ---- out of place --------------------------------------------------------------------------- */

typedef struct {
    tilemm__transpose_launch_t launch; /* with the row */
    tilemm__transpose_by_t method;     /* the row's: says which arm */
    char name[64];                     /* the kernel's; +fill if it fills with zeros */
    union {
        tilemm__transpose_copy_t copy;
        tilemm__transpose_tiles_t
            tiles; /* tile, shifted, narrow, few, zip, words, direct; and the head of those below */
        tilemm__transpose_gather_t gather;
        tilemm__transpose_repeated_t repeated;
        tilemm__transpose_packed_t packed;
        tilemm__transpose_columns_t columns;
        tilemm__transpose_skewed_t skewed;
    } arm;
} tilemm__transpose_cuda_plan_t;

/* Returns TILEMM_SUCCESS. */
int tilemm__plan_transpose_cuda(const tilemm__transpose_args_t *args,
                                const tilemm__limits_t *limits,
                                tilemm__transpose_cuda_plan_t *plan);

/* A copy by a row of copy.cu; `zero`: filled with zeros. */
void tilemm__plan_transpose_copy(const tilemm__transpose_args_t *args, int zero,
                                 const tilemm__transpose_row_t *row,
                                 tilemm__transpose_copy_t *copy);

/* The rest of skewed tiles whose head is filled in, for `bytes` bytes in all. */
void tilemm__plan_transpose_skewed(const tilemm__transpose_args_t *args, int64_t bytes,
                                   const tilemm__cuda_traits_t *traits, int is_flat,
                                   tilemm__transpose_skewed_t *skewed);

/* ---- in place ------------------------------------------------------------------------------- */

typedef enum {
    TILEMM__INPLACE_NONE,   /* no permutation: move, scale or fill at most */
    TILEMM__INPLACE_SWAP,   /* square: tiles change places */
    TILEMM__INPLACE_WHOLE,  /* through shared memory all at once */
    TILEMM__INPLACE_STAGED, /* out of place to the workspace, and copied back */
    TILEMM__INPLACE_SLABS   /* slabs of rows are transposed, then runs change places */
} tilemm__inplace_method_t;

/* Two passes; see kernels/transpose/cuda/slabs.cu for the terms. Backward the second comes first.
 */
typedef struct {
    /* The first: by one kernel; or, if `through`, slab by slab through the workspace, `count` slabs
     * of slab_bytes bytes in the matrix; the two steps in their order. */
    int through;
    tilemm__transpose_launch_t launch;
    tilemm__transpose_slabs_t slabs;
    tilemm__transpose_cuda_plan_t steps[2];
    int64_t count, slab_bytes;
    /* The second. */
    tilemm__transpose_launch_t save, chain, cycle;
    tilemm__transpose_chains_t chains;
    size_t counts_at, marks_at, saved_at; /* in the workspace */
    size_t counts_bytes, marks_bytes;
    /* The fringe, which waits in the workspace's first fringe_bytes: the first step takes it there,
     * the last step back; where it lies in the matrix before and after, in bytes. */
    int64_t fringe_bytes, fringe_from, fringe_to;
    tilemm__transpose_cuda_plan_t fringe[2];
} tilemm__transpose_slabs_plan_t;

typedef struct {
    tilemm__inplace_method_t method;
    char name[64];
    size_t workspace; /* bytes that it uses; where there is no plan, bytes that there is one with */
    int forward;      /* the permutation, or the first pass, comes before the move: see inplace.h */
    /* The move, if interval is not 0: that many slots at a time. */
    int64_t interval;
    tilemm__transpose_launch_t move_out, move_in; /* of a whole interval */
    tilemm__transpose_move_t move;
    size_t move_at; /* in the workspace */
    /* Whether a last pass scales, or fills with zeros. */
    int scale;
    tilemm__transpose_cuda_plan_t scaling;
    union {
        struct {
            tilemm__transpose_launch_t launch;
            tilemm__transpose_swap_t swap;
        } swap;
        struct {
            tilemm__transpose_launch_t launch;
            tilemm__transpose_whole_t whole;
        } whole;
        tilemm__transpose_cuda_plan_t staged[2]; /* there, and back */
        tilemm__transpose_slabs_plan_t slabs;
    } arm;
} tilemm__transpose_inplace_cuda_plan_t;

/* The bytes of workspace that serve the problem best. */
size_t tilemm__transpose_inplace_cuda_want(const tilemm__transpose_args_t *args,
                                           const tilemm__cuda_traits_t *traits);

/* Returns TILEMM_SUCCESS, or TILEMM_OUT_OF_MEMORY if the workspace is too small: it is large enough
 * if it holds the matrix; or 64 KiB, 128 bytes for each element of the shorter side, and 1/64 of
 * the matrix. */
int tilemm__plan_transpose_inplace_cuda(const tilemm__transpose_args_t *args,
                                        const tilemm__limits_t *limits,
                                        tilemm__transpose_inplace_cuda_plan_t *plan);

#endif
