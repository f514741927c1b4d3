/* lane.h - a stream beside a CUDA context's, on which panels travel while the context computes, and
 * the events that order the two.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_MPI_LANE_H
#define TILEMM_MPI_LANE_H

#include "driver.h"

/* Panels that may be waited for apart: of two sides. */
enum { TILEMM__LANE_EVENTS = 8 };

typedef struct {
    tilemm_t ctx;
    tilemm__driver_t driver;
    void *stream, *ready, *events[TILEMM__LANE_EVENTS];
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*stream_wait)(void *stream, void *event, unsigned flags);
} tilemm__lane_t;

/* Zeros before it is opened. Returns 0, or not; tilemm__lane_close releases what there is. */
int tilemm__lane_open(tilemm__lane_t *lane, tilemm_t ctx);
void tilemm__lane_close(tilemm__lane_t *lane);

/* What is queued on the lane comes after what is queued on the context's stream by now. */
int tilemm__lane_begin(const tilemm__lane_t *lane);
/* `event` tells of the end of what is queued on the lane. */
int tilemm__lane_end(const tilemm__lane_t *lane, int event);
/* What is queued on the context's stream from now on comes after the event. */
int tilemm__lane_wait(const tilemm__lane_t *lane, int event);
/* Wait until the lane is empty. */
int tilemm__lane_synchronize(const tilemm__lane_t *lane);

#endif
