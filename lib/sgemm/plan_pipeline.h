/* plan_pipeline.h - how a product with operands on the host goes through a GPU's memory: strips of
 * op(A)'s rows and op(B)'s columns go up, rectangles of C are multiplied and come down.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PLAN_PIPELINE_H
#define TILEMM_LIB_SGEMM_PLAN_PIPELINE_H

#include "kernels/args.h"
#include "lib/plan.h"

enum { TILEMM__PIPELINE_STRIPS = 64, TILEMM__PIPELINE_C_SLOTS = 3 };

/* What a plan is given beside the problem. */
typedef struct {
    size_t memory;  /* bytes of the device, at most, for what lies on the host */
    int sm_count;   /* the device's multiprocessors */
    int on_host[3]; /* A, B, C: on the host, or on another device */
    double link;    /* how many times as fast as PCIe 5 what is not on the device comes and goes */
    /* Devices that send A or B up together and hand its strips on, or 0. A side is then cut alike
     * whatever the other one is. */
    int sharers[2];
} tilemm__pipeline_places_t;

typedef enum {
    TILEMM__PIPELINE_WHOLE,  /* A and B stay once they are up; C grows by slices of its columns */
    TILEMM__PIPELINE_HELD,   /* a group of one side's strips stays while the other side passes */
    TILEMM__PIPELINE_K_PARTS /* k is divided: its parts go up, and are added to C in their order */
} tilemm__pipeline_way_t;

/* A side: op(A)'s rows or op(B)'s columns. Strip s lies in slot s % slots. */
typedef struct {
    int64_t lines, strip; /* lines in all, and of a strip; the last strip may have fewer */
    int64_t strips, slots;
    int64_t kept;        /* strips whose planes stay in the workspace, s in place s % kept; or 0 */
    int64_t host_ld, ld; /* of the user's matrix, and of the slots on the device, elements */
    int rows;            /* lines are rows there; else columns */
    int moves;           /* it lies on the host */
} tilemm__pipeline_side_t;

typedef struct {
    tilemm__pipeline_way_t way;
    int held;      /* the side that stays */
    int64_t first; /* of WHOLE: strips of op(B)'s first slice; the others are of one strip */
    tilemm__pipeline_side_t side[2];
    int64_t k_part, parts;
    int64_t c_elements; /* of a slot of C; 0 where C lies on the device */
    size_t bytes;       /* of device memory */
    size_t up, down;    /* bytes moved */
    double time;        /* of WHOLE, as estimated: bytes that the link moves in it */
} tilemm__pipeline_plan_t;

/* A product: strips [begin, end) of both sides, part `part` of k; before it the strips from
 * up[side] on go up, ups[side] of them. are_there: the
 * side's planes have been made, and stay. */
typedef struct {
    int64_t begin[2], end[2], part;
    int64_t up[2], ups[2];
    int are_there[2];
} tilemm__pipeline_step_t;

/* Where the walk is, and what is in the slots and in the places of planes; zeros at the start but
 * for these. */
typedef struct {
    int64_t at[3];
    int64_t inside[2][TILEMM__PIPELINE_STRIPS], prepared[2][TILEMM__PIPELINE_STRIPS];
} tilemm__pipeline_walk_t;

/* The leading dimension on the device of rows that are `width` of `host_ld` elements: the same
 * where that leaves no gaps and kernels can read it, so that a copy goes as one. */
int64_t tilemm__pipeline_ld(int64_t width, int64_t host_ld);

/* args is one product; k is not 0. TILEMM_OUT_OF_MEMORY if places->memory is too little for the
 * smallest tiles. */
int tilemm__plan_pipeline(const tilemm__sgemm_args_t *args, const tilemm__pipeline_places_t *places,
                          tilemm__pipeline_plan_t *plan);

/* Which strips' planes stay between steps. MANY: of the side that is multiplied again, all that
 * stay on the device, and a strip, or a slice, of the other side, which they multiply; ONE: that
 * alone, for which there is room where a step has room for what it multiplies. A side whose strips
 * do not begin where planes may begin keeps none. */
typedef enum {
    TILEMM__PIPELINE_KEEP_NONE,
    TILEMM__PIPELINE_KEEP_ONE,
    TILEMM__PIPELINE_KEEP_MANY
} tilemm__pipeline_keep_t;
/* Returns whether any stay. */
int tilemm__pipeline_keep(tilemm__pipeline_plan_t *plan, tilemm__pipeline_keep_t keep);

/* The planes of a side that stay, as the kernels of a step see them. */
tilemm__sgemm_kept_t tilemm__pipeline_kept(const tilemm__pipeline_side_t *side,
                                           const tilemm__pipeline_step_t *step, int s);

void tilemm__pipeline_begin(tilemm__pipeline_walk_t *walk);
/* The next product; 0 after the last. */
int tilemm__pipeline_next(const tilemm__pipeline_plan_t *plan, tilemm__pipeline_walk_t *walk,
                          tilemm__pipeline_step_t *step);

/* The lines of strips [begin, end). */
static inline int64_t tilemm__pipeline_lines(const tilemm__pipeline_side_t *side, int64_t begin,
                                             int64_t end)
{
    const int64_t to = end * side->strip < side->lines ? end * side->strip : side->lines;
    return to - begin * side->strip;
}

static inline int64_t tilemm__pipeline_depth(const tilemm__pipeline_plan_t *plan, int64_t k,
                                             int64_t part)
{
    return part + 1 < plan->parts ? plan->k_part : k - part * plan->k_part;
}

#endif
