/* plan_cuda.h - which kernels reduce vectors and segments on a GPU, one after the other.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_PLAN_CUDA_H
#define TILEMM_LIB_REDUCE_PLAN_CUDA_H

#include "kernels/reduce/cuda/reduce.h"
#include "lib/plan.h"

/* No plan changes a result: sums are added in the canonical order of kernels/reduce/layout.h, and
 * searches do not depend on an order. For any workspace there is a plan. */

typedef struct {
    const char *name;
    tilemm__reduce_kernel_t kernel;
    int cc;
    int facets[5]; /* `concurrent`, then the template arguments */
} tilemm__reduce_row_t;

/* The rows of kernels/reduce/variants.h. */
extern const tilemm__reduce_row_t tilemm__reduce_rows[TILEMM__REDUCE_ROW_COUNT];

/* One launch. It reads the elements, or the partial results of the step before, and leaves `items`
 * partial results of each vector, each in `splits` splits. A single one is the result. */
typedef struct {
    tilemm__reduce_launch_t launch;
    int64_t length; /* elements or partial results of a vector that it reads */
    int64_t items;
    int splits;    /* 1, 2 or 4 */
    int64_t place; /* of its partial results in the workspace, counted in partial results */
} tilemm__reduce_step_t;

/* Each step divides the length by 32 or more, but for the first by 1024: seven suffice for any
 * length of 64 bits. */
enum { TILEMM__REDUCE_MAX_STEPS = 7 };

/* The vectors are taken `vectors` at a time: first step 0, then the others. If `range` is less than
 * the items of step 0, steps 0 and 1 are repeated for each `range` items. */
typedef struct {
    const char *name; /* of the kernel that reads the elements */
    size_t workspace; /* bytes */
    int64_t vectors;
    int64_t range;
    int64_t range_elements; /* of a vector, for `range` items */
    int64_t room;           /* partial results in the workspace: first the values of all of them,
                               then, if has_extras, a count or an index of 8 bytes each */
    size_t value_bytes;
    int has_extras;
    int steps;
    tilemm__reduce_step_t step[TILEMM__REDUCE_MAX_STEPS];
} tilemm__reduce_cuda_plan_t;

/* Segments: see kernels/reduce/cuda/segments.cu. */
typedef struct {
    const char *name;
    size_t workspace;
    int launches;
    tilemm__reduce_launch_t launch[3];
} tilemm__segments_cuda_plan_t;

int tilemm__plan_reduce_cuda(const tilemm__reduce_args_t *args, const tilemm__limits_t *limits,
                             tilemm__reduce_cuda_plan_t *plan);
int tilemm__plan_segments_cuda(const tilemm__segments_args_t *args, const tilemm__limits_t *limits,
                               tilemm__segments_cuda_plan_t *plan);

/* The launch that leaves partial results of a part of each vector, one for each `unit` elements:
 * 1024, or 2^15 if the vectors' elements are not columns of a matrix. They are transposed. The part
 * begins at a multiple of unit: first_index. */
void tilemm__plan_reduce_part_cuda(const tilemm__reduce_args_t *args, int64_t unit,
                                   int64_t first_index, const tilemm__limits_t *limits,
                                   tilemm__reduce_launch_t *launch);

/* Size a launch for `vectors` vectors, of each of which it reads `length` elements or partial
 * results: all that the plan says, or less for the last vectors and the last range. */
void tilemm__size_reduce_launch(tilemm__reduce_launch_t *launch, int64_t vectors, int64_t length);

#endif
