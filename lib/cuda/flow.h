/* flow.h - operands that go through a GPU's memory in pieces: a feed copies pieces up into slots, a
 * drain copies results down out of slots, and the context's stream computes in between.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CUDA_FLOW_H
#define TILEMM_LIB_CUDA_FLOW_H

#include <pthread.h>

#include "transfer.h"

enum { TILEMM__FEED_SLOTS = 128, TILEMM__DRAIN_SLOTS = 4 };

/* The device memory that operands on the host may take: tilemm_set_device_memory, or three quarters
 * of what is free or kept for them already, of which each context that shares the device has its
 * part; 0 where nobody knows. */
size_t tilemm__cuda_memory_limit(tilemm_t ctx);

/* Whether operands on the host, `bytes` in all, go through in pieces: more than the context may
 * take at once, or enough to pay for the streams. */
int tilemm__cuda_is_large(tilemm_t ctx, double bytes);

/* Both are zeros before they are opened, and closed after a failure too. A timeline may be NULL;
 * what is opened first opens it. */

typedef struct {
    tilemm__transfer_t up;
    cudaEvent_t is_up, used[TILEMM__FEED_SLOTS];
} tilemm__feed_t;

/* What goes up comes after the work that the context's stream has now: it may make the operands. */
cudaError_t tilemm__feed_open(tilemm_t ctx, int pageable, tilemm__timeline_t *timeline,
                              tilemm__feed_t *feed);
/* Copy up into a slot, once its last use has ended. */
cudaError_t tilemm__feed(tilemm__feed_t *feed, int slot, const tilemm__rectangle_t *at);
/* Have the stream wait for all that goes up by now. */
cudaError_t tilemm__feed_await(tilemm__feed_t *feed, cudaStream_t stream);
/* What the stream has now is the slot's last use. */
cudaError_t tilemm__feed_release(tilemm__feed_t *feed, int slot, cudaStream_t stream);
/* Once all is done, or other streams wait for it. */
void tilemm__feed_close(tilemm__feed_t *feed);

typedef struct {
    tilemm__rectangle_t at; /* set before it is sent */
    cudaEvent_t ready, down;
    int under_way; /* the thread that empties has not done so yet */
} tilemm__drain_slot_t;

/* Slots are sent in turn: 0, 1, ... slots - 1, 0, ... To pageable memory a thread empties them. */
typedef struct {
    tilemm__transfer_t down;
    tilemm__drain_slot_t slot[TILEMM__DRAIN_SLOTS];
    int slots, is_open, has_thread, ends;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    cudaError_t error;
} tilemm__drain_t;

cudaError_t tilemm__drain_open(tilemm_t ctx, int slots, int pageable, tilemm__timeline_t *timeline,
                               tilemm__drain_t *drain);
/* Have the stream wait until the slot is empty; the calling thread may wait too. */
cudaError_t tilemm__drain_await(tilemm__drain_t *drain, int slot, cudaStream_t stream);
/* Copy down slot->at, once the stream has done what it has now. */
cudaError_t tilemm__drain(tilemm__drain_t *drain, int slot, cudaStream_t stream);
/* The last slot has been sent: end the thread. Returns its first error. */
cudaError_t tilemm__drain_end(tilemm__drain_t *drain);
void tilemm__drain_close(tilemm__drain_t *drain);

/* Wait until all has gone up, been computed and gone down. Returns the first error. */
cudaError_t tilemm__flow_wait(tilemm_t ctx, const tilemm__feed_t *feed, tilemm__drain_t *drain);
/* Have the context's stream wait for that. */
cudaError_t tilemm__flow_follow(tilemm_t ctx, const tilemm__feed_t *feed, tilemm__drain_t *drain);
/* The status of a call whose pieces went through. After a failure the message says that what the
 * call writes is undefined. */
tilemm_status_t tilemm__flow_status(tilemm_t ctx, tilemm_status_t status);

#endif
