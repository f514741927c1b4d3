/* lane.c - see lane.h. The prototypes are those of CUDA's driver.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lane.h"

#include <stddef.h>

enum { STREAM_NON_BLOCKING = 1, EVENT_DISABLE_TIMING = 2 };

int tilemm__lane_open(tilemm__lane_t *x, tilemm_t ctx)
{
    int (*stream_create)(void **stream, unsigned flags);
    int (*event_create)(void **event, unsigned flags);
    x->ctx = ctx;
    if (tilemm__driver_open(&x->driver, ctx))
        return -1;
    void *const cuda = x->driver.library;
    if (!tilemm__find_function(cuda, "cuStreamCreate", &stream_create) ||
        !tilemm__find_function(cuda, "cuStreamDestroy_v2", &x->stream_destroy) ||
        !tilemm__find_function(cuda, "cuStreamSynchronize", &x->stream_synchronize) ||
        !tilemm__find_function(cuda, "cuEventCreate", &event_create) ||
        !tilemm__find_function(cuda, "cuEventDestroy_v2", &x->event_destroy) ||
        !tilemm__find_function(cuda, "cuEventRecord", &x->event_record) ||
        !tilemm__find_function(cuda, "cuStreamWaitEvent", &x->stream_wait))
        return -1;
    int error = tilemm__driver_enter(&x->driver);
    if (error)
        return error;
    error = stream_create(&x->stream, STREAM_NON_BLOCKING);
    if (!error)
        error = event_create(&x->ready, EVENT_DISABLE_TIMING);
    for (int i = 0; i < TILEMM__LANE_EVENTS && !error; i++)
        error = event_create(&x->events[i], EVENT_DISABLE_TIMING);
    return tilemm__driver_leave(&x->driver, error);
}

void tilemm__lane_close(tilemm__lane_t *x)
{
    if (x->driver.retained && !tilemm__driver_enter(&x->driver)) {
        for (int i = 0; i < TILEMM__LANE_EVENTS; i++)
            if (x->events[i])
                (void)x->event_destroy(x->events[i]);
        if (x->ready)
            (void)x->event_destroy(x->ready);
        if (x->stream)
            (void)x->stream_destroy(x->stream);
        (void)tilemm__driver_leave(&x->driver, 0);
    }
    tilemm__driver_close(&x->driver);
}

static void *stream_of(const tilemm__lane_t *x)
{
    void *stream = NULL;
    (void)tilemm_get_stream(x->ctx, &stream);
    return stream;
}

int tilemm__lane_begin(const tilemm__lane_t *x)
{
    int error = tilemm__driver_enter(&x->driver);
    if (error)
        return error;
    error = x->event_record(x->ready, stream_of(x));
    if (!error)
        error = x->stream_wait(x->stream, x->ready, 0);
    return tilemm__driver_leave(&x->driver, error);
}

int tilemm__lane_end(const tilemm__lane_t *x, int event)
{
    const int error = tilemm__driver_enter(&x->driver);
    return error ? error
                 : tilemm__driver_leave(&x->driver, x->event_record(x->events[event], x->stream));
}

int tilemm__lane_wait(const tilemm__lane_t *x, int event)
{
    const int error = tilemm__driver_enter(&x->driver);
    return error ? error
                 : tilemm__driver_leave(&x->driver,
                                        x->stream_wait(stream_of(x), x->events[event], 0));
}

int tilemm__lane_synchronize(const tilemm__lane_t *x)
{
    const int error = tilemm__driver_enter(&x->driver);
    return error ? error : tilemm__driver_leave(&x->driver, x->stream_synchronize(x->stream));
}
