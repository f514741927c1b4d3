/* timeline.h - when each step of a pipeline began and ended on its stream: TILEMM_TIMELINE.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CUDA_TIMELINE_H
#define TILEMM_LIB_CUDA_TIMELINE_H

#include "cuda.h"

typedef enum {
    TILEMM__LANE_UP,
    TILEMM__LANE_UP_C, /* C, on a stream of its own */
    TILEMM__LANE_COMPUTE,
    TILEMM__LANE_DOWN,
    TILEMM__LANES
} tilemm__lane_t;

/* Steps of a lane, in their order on its stream. */
typedef struct {
    struct tilemm__lane_step *steps;
    size_t count, room;
    int failed; /* no memory or no event: there is no timeline */
} tilemm__lane_steps_t;

typedef struct {
    const char *path; /* NULL: nothing is recorded, and the functions below do nothing */
    int device;
    cudaEvent_t start;
    double start_seconds; /* by CLOCK_MONOTONIC, which is the same for all devices */
    tilemm__lane_steps_t lanes[TILEMM__LANES];
} tilemm__timeline_t;

/* Begin the timeline of a call, if the context writes one. `stream` has no work that would wait. */
void tilemm__timeline_open(tilemm__timeline_t *of, tilemm_t ctx, cudaStream_t stream);

/* Around a step: what is queued on the stream between both calls. `work`: bytes that are copied, or
 * floating-point operations. A lane belongs to one thread at a time. */
void tilemm__timeline_begin(tilemm__timeline_t *of, tilemm__lane_t lane, cudaStream_t stream);
void tilemm__timeline_end(tilemm__timeline_t *of, tilemm__lane_t lane, cudaStream_t stream,
                          double work);

/* Release all; before that append the steps to the file, if the call has succeeded and all could be
 * recorded. All streams have been waited for. */
void tilemm__timeline_close(tilemm__timeline_t *of, int succeeded);

#endif
