/* transfer.h - rows between the host and the device on a stream of their own.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CUDA_TRANSFER_H
#define TILEMM_LIB_CUDA_TRANSFER_H

#include <pthread.h>

#include "cuda.h"
#include "timeline.h"

enum { TILEMM__TRANSFER_THREADS = 8 };

/* One direction. With chunks the host's memory is pageable, and a transfer returns once all is
 * queued (or, out, done); without, at once. */
typedef struct {
    cudaStream_t stream;
    int device, out, threads;
    char *chunks;
    cudaEvent_t events[2 * TILEMM__TRANSFER_THREADS];
    tilemm__timeline_t *timeline; /* NULL: nobody records */
    tilemm__lane_t lane;
} tilemm__transfer_t;

/* Rows of `width` bytes here and there, and `more` rectangles like it, each a step behind the one
 * before. Pitches are bytes; the host's may be negative. With on_gpu `host` lies on another
 * GPU: no thread touches it. */
typedef struct {
    char *host, *device;
    int64_t host_pitch, device_pitch, width, rows;
    int64_t more, host_step, device_step;
    int on_gpu;
} tilemm__rectangle_t;

/* Matrices of rows x cols elements: on the host ld and stride elements apart; on the device each
 * begins at the end of the one before. */
typedef struct {
    int64_t rows, cols, count, elem_size;
    int64_t ld, stride, device_ld;
} tilemm__matrices_t;

tilemm__rectangle_t tilemm__rectangle_of(const tilemm__matrices_t *matrices, char *host,
                                         char *device);

/* Rows narrower than this had better go through chunks, as from pageable memory: the copy engine
 * takes them one by one. */
enum { TILEMM__NARROW_BYTES = 64 };

/* To be closed after a failure too. */
cudaError_t tilemm__transfer_open(tilemm_t ctx, int out, int pageable, tilemm__transfer_t *of);
void tilemm__transfer_close(tilemm__transfer_t *of);
cudaError_t tilemm__transfer(const tilemm__transfer_t *of, const tilemm__rectangle_t *at);

/* pthread_create, but for the program's signals, which are for its own threads. */
int tilemm__start_thread(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
