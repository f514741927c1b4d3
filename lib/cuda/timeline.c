/* timeline.c - when each step of a pipeline began and ended, appended to a file as CSV.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "timeline.h"

typedef struct tilemm__lane_step {
    cudaEvent_t begin, end;
    double work;
} step_t;

static const char *const lane_names[TILEMM__LANES] = {[TILEMM__LANE_UP] = "up",
                                                      [TILEMM__LANE_UP_C] = "up C",
                                                      [TILEMM__LANE_COMPUTE] = "compute",
                                                      [TILEMM__LANE_DOWN] = "down"};

void tilemm__timeline_open(tilemm__timeline_t *of, tilemm_t ctx, cudaStream_t stream)
{
    struct timespec now;
    *of = (tilemm__timeline_t){.device = tilemm__cuda(ctx)->device};
    if (!*ctx->timeline || cudaEventCreateWithFlags(&of->start, cudaEventDefault) != cudaSuccess)
        return;
    if (cudaEventRecord(of->start, stream) == cudaSuccess &&
        cudaEventSynchronize(of->start) == cudaSuccess && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        of->path = ctx->timeline;
    of->start_seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int has_room(tilemm__lane_steps_t *lane)
{
    const size_t room = lane->room ? 2 * lane->room : 64;
    if (lane->count < lane->room)
        return 1;
    step_t *const steps = realloc(lane->steps, room * sizeof *steps);
    if (!steps)
        return 0;
    lane->steps = steps;
    lane->room = room;
    return 1;
}

void tilemm__timeline_begin(tilemm__timeline_t *of, tilemm__lane_t which, cudaStream_t stream)
{
    tilemm__lane_steps_t *const lane = &of->lanes[which];
    if (!of->path || lane->failed)
        return;
    lane->failed = !has_room(lane);
    if (lane->failed)
        return;
    step_t *const step = &lane->steps[lane->count++];
    *step = (step_t){0};
    lane->failed = cudaEventCreateWithFlags(&step->begin, cudaEventDefault) != cudaSuccess ||
                   cudaEventCreateWithFlags(&step->end, cudaEventDefault) != cudaSuccess ||
                   cudaEventRecord(step->begin, stream) != cudaSuccess;
}

void tilemm__timeline_end(tilemm__timeline_t *of, tilemm__lane_t which, cudaStream_t stream,
                          double work)
{
    tilemm__lane_steps_t *const lane = &of->lanes[which];
    if (!of->path || lane->failed)
        return;
    step_t *const step = &lane->steps[lane->count - 1];
    step->work = work;
    lane->failed = cudaEventRecord(step->end, stream) != cudaSuccess;
}

/* Seconds from the start; -1 where it is not known. */
static double seconds_of(const tilemm__timeline_t *of, cudaEvent_t event)
{
    float milliseconds;
    return cudaEventElapsedTime(&milliseconds, of->start, event) == cudaSuccess
               ? 1e-3 * (double)milliseconds
               : -1;
}

/* Other contexts and processes may write to the file too. */
static void append_steps(const tilemm__timeline_t *of)
{
    struct stat info;
    FILE *const file = fopen(of->path, "a");
    if (!file)
        return;
    if (flock(fileno(file), LOCK_EX) == 0 && fstat(fileno(file), &info) == 0) {
        if (info.st_size == 0)
            fputs("device,stream,begin_s,end_s,work\n", file);
        for (int lane = 0; lane < TILEMM__LANES; lane++)
            for (size_t i = 0; i < of->lanes[lane].count; i++) {
                const step_t *const step = &of->lanes[lane].steps[i];
                const double begin = seconds_of(of, step->begin), end = seconds_of(of, step->end);
                if (begin >= 0 && end >= begin)
                    fprintf(file, "%d,%s,%.7f,%.7f,%.0f\n", of->device, lane_names[lane],
                            of->start_seconds + begin, of->start_seconds + end, step->work);
            }
    }
    fclose(file);
}

void tilemm__timeline_close(tilemm__timeline_t *of, int succeeded)
{
    for (int lane = 0; lane < TILEMM__LANES; lane++)
        succeeded = succeeded && !of->lanes[lane].failed;
    if (of->path && succeeded)
        append_steps(of);
    for (int lane = 0; lane < TILEMM__LANES; lane++) {
        for (size_t i = 0; i < of->lanes[lane].count; i++) {
            const step_t *const step = &of->lanes[lane].steps[i];
            if (step->begin)
                cudaEventDestroy(step->begin);
            if (step->end)
                cudaEventDestroy(step->end);
        }
        free(of->lanes[lane].steps);
    }
    if (of->start)
        cudaEventDestroy(of->start);
    *of = (tilemm__timeline_t){0};
}
