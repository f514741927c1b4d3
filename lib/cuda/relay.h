/* relay.h - strips of an operand on the host that several devices need: each device sends a share
 * of every strip up, and copies the other shares from the devices that have sent them. A strip's
 * bytes go up once in all, over all links at once.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CUDA_RELAY_H
#define TILEMM_LIB_CUDA_RELAY_H

#include <cuda_runtime_api.h>
#include <pthread.h>

#include "lib/plan_multi.h"
#include "lib/sgemm/plan_pipeline.h"

/* Every member has a thread of its own; all take the strips in the same order. */
typedef struct tilemm__relay {
    int side;                        /* whose strips: op(A)'s rows or op(B)'s columns */
    int members;                     /* 0: nobody shares, each sends all of it up */
    int index[TILEMM__MOST_DEVICES]; /* of a context's member, among the members that share */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int votes, against;    /* of the meeting that is under way, */
    int meetings, verdict; /* how many there were, and what the last one said */
    int failed;
    struct {
        char *slots;       /* where its strips lie, */
        int64_t strip, ld; /* lines of a strip, and their distance */
        int64_t announced;
        cudaEvent_t is_up[TILEMM__PIPELINE_STRIPS];
    } member[TILEMM__MOST_DEVICES];
} tilemm__relay_t;

/* NULL if there is no memory. */
tilemm__relay_t *tilemm__relay_create(int side);
void tilemm__relay_destroy(tilemm__relay_t *relay);

/* All members meet here: returns whether all of them say yes. */
int tilemm__relay_meet(tilemm__relay_t *relay, int yes);
/* Member `me` has queued its share of the next `count` strips, and recorded their events. */
void tilemm__relay_announce(tilemm__relay_t *relay, int me, int64_t count);
/* Wait until another member has announced this strip; 0 if a member has failed. */
int tilemm__relay_wait(tilemm__relay_t *relay, int other, int64_t strip);
/* This member has failed: nobody waits for it. */
void tilemm__relay_fail(tilemm__relay_t *relay);

#endif
