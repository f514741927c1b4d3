/* transfer.c - rows between the host and the device on a stream of its own: pinned memory by the
 * copy engine, pageable memory through pinned chunks that several threads fill or empty.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/size.h"
#include "transfer.h"

enum { CHUNK = 4 << 20, MOST_THREADS = TILEMM__TRANSFER_THREADS };

tilemm__rectangle_t tilemm__rectangle_of(const tilemm__matrices_t *x, char *host, char *device)
{
    const int64_t size = x->elem_size;
    tilemm__rectangle_t at = {.host = host,
                              .device = device,
                              .host_pitch = x->ld * size,
                              .device_pitch = x->device_ld * size,
                              .width = x->cols * size,
                              .rows = x->rows};
    if (x->count == 1)
        return at;
    if (x->stride == x->rows * x->ld) { /* one rhythm throughout */
        at.rows = x->rows * x->count;
    } else if (x->ld == x->cols && x->device_ld == x->cols &&
               x->stride > x->rows * x->cols) { /* each is a row */
        at.width *= x->rows;
        at.rows = x->count;
        at.host_pitch = x->stride * size;
        at.device_pitch = at.width;
    } else {
        at.more = x->count - 1;
        at.host_step = x->stride * size;
        at.device_step = x->rows * x->device_ld * size;
    }
    return at;
}

/* A transfer of a rectangle, cut into pieces of at most a chunk that threads take in turn. */
typedef struct {
    const tilemm__transfer_t *of;
    tilemm__rectangle_t at;
    int64_t piece_rows, piece_width, pieces_across, pieces_each, pieces;
    atomic_llong next;
    atomic_int thread, error;
} job_t;

typedef struct {
    char *host, *device;
    int64_t rows, width;
} piece_t;

static int take_piece(job_t *job, piece_t *piece)
{
    const int64_t number = atomic_fetch_add(&job->next, 1);
    if (number >= job->pieces || atomic_load(&job->error))
        return 0;
    const tilemm__rectangle_t *at = &job->at;
    const int64_t which = number / job->pieces_each, i = number % job->pieces_each;
    const int64_t row = i / job->pieces_across * job->piece_rows;
    const int64_t column = i % job->pieces_across * job->piece_width;
    *piece = (piece_t){at->host + which * at->host_step + row * at->host_pitch + column,
                       at->device + which * at->device_step + row * at->device_pitch + column,
                       tilemm__min(at->rows - row, job->piece_rows),
                       tilemm__min(at->width - column, job->piece_width)};
    return 1;
}

/* Between the host's numbers of four bytes, `pitch` bytes apart, and a chunk. */
static void pack_words(char *host, int64_t pitch, char *chunk, int64_t count, int out)
{
    for (int64_t i = 0; i < count; i++) {
        if (out)
            memcpy(host + i * pitch, chunk + 4 * i, 4);
        else
            memcpy(chunk + 4 * i, host + i * pitch, 4);
    }
}

/* Between the host's rows and a chunk. */
static void pack(const job_t *job, const piece_t *piece, char *chunk)
{
    if (piece->width == 4) {
        pack_words(piece->host, job->at.host_pitch, chunk, piece->rows, job->of->out);
        return;
    }
    for (int64_t r = 0; r < piece->rows; r++) {
        char *const dense = chunk + r * piece->width, *const row =
                                                          piece->host + r * job->at.host_pitch;
        if (job->of->out)
            memcpy(row, dense, (size_t)piece->width);
        else
            memcpy(dense, row, (size_t)piece->width);
    }
}

static cudaError_t queue(const job_t *job, const piece_t *piece, char *chunk, cudaEvent_t event)
{
    const int out = job->of->out;
    const cudaError_t error = tilemm__cuda_copy_rows(
        out ? chunk : piece->device, out ? piece->width : job->at.device_pitch,
        out ? piece->device : chunk, out ? job->at.device_pitch : piece->width, piece->width,
        piece->rows, job->of->stream);
    return error == cudaSuccess ? cudaEventRecord(event, job->of->stream) : error;
}

/* Asked for now and then: an interrupt at each chunk's end takes time of the copies behind it. */
static cudaError_t await(cudaEvent_t event)
{
    const struct timespec nap = {.tv_nsec = 20000};
    cudaError_t error;
    while ((error = cudaEventQuery(event)) == cudaErrorNotReady)
        nanosleep(&nap, NULL);
    (void)cudaGetLastError();
    return error;
}

/* Two chunks to a thread: one is copied while the other is filled or emptied. */
static void *work(void *argument)
{
    job_t *const job = argument;
    const int thread = atomic_fetch_add(&job->thread, 1);
    const tilemm__transfer_t *of = job->of;
    cudaError_t error = cudaSetDevice(of->device);
    piece_t piece[2];
    int under_way[2] = {0, 0};
    for (int turn = 0; error == cudaSuccess; turn = !turn) {
        char *const chunk = of->chunks + (size_t)(2 * thread + turn) * CHUNK;
        const cudaEvent_t event = of->events[2 * thread + turn];
        /* Up, the chunk may be on its way since the transfer before. */
        if (under_way[turn] || !of->out) {
            error = await(event);
            if (error == cudaSuccess && of->out)
                pack(job, &piece[turn], chunk);
        }
        under_way[turn] = error == cudaSuccess && take_piece(job, &piece[turn]);
        if (!under_way[turn]) {
            if (!under_way[!turn])
                break;
            continue;
        }
        if (!of->out)
            pack(job, &piece[turn], chunk);
        error = queue(job, &piece[turn], chunk, event);
    }
    if (error != cudaSuccess)
        atomic_store(&job->error, (int)error);
    return NULL;
}

int tilemm__start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* The job by several threads, the caller's among them; by fewer where the system gives no more. */
static cudaError_t work_together(job_t *job)
{
    pthread_t threads[MOST_THREADS];
    int others = 0;
    const int wanted = (int)tilemm__min(job->pieces, job->of->threads);
    while (others + 1 < wanted && tilemm__start_thread(&threads[others], work, job) == 0)
        others++;
    work(job);
    for (int i = 0; i < others; i++)
        pthread_join(threads[i], NULL);
    return (cudaError_t)atomic_load(&job->error);
}

/* Queue the rectangles one after the other. */
static cudaError_t queue_all(const tilemm__transfer_t *of, const tilemm__rectangle_t *at)
{
    cudaError_t error = cudaSuccess;
    for (int64_t i = 0; i <= at->more && error == cudaSuccess; i++) {
        char *const host = at->host + i * at->host_step;
        char *const device = at->device + i * at->device_step;
        error = of->out ? tilemm__cuda_copy_rows(host, at->host_pitch, device, at->device_pitch,
                                                 at->width, at->rows, of->stream)
                        : tilemm__cuda_copy_rows(device, at->device_pitch, host, at->host_pitch,
                                                 at->width, at->rows, of->stream);
    }
    return error;
}

/* Whether the host's first byte and the last one can be read. */
static int is_readable(const tilemm__rectangle_t *at)
{
    return tilemm__cuda_is_readable(at->host) &&
           tilemm__cuda_is_readable(at->host + at->more * at->host_step +
                                    (at->rows - 1) * at->host_pitch + at->width - 1);
}

static cudaError_t transfer(const tilemm__transfer_t *of, const tilemm__rectangle_t *at)
{
    if (!at->on_gpu && !is_readable(at))
        return TILEMM__UNREADABLE;
    if (!of->chunks || at->on_gpu)
        return queue_all(of, at);
    job_t job = {.of = of, .at = *at};
    job.piece_width = tilemm__min(at->width, CHUNK);
    job.piece_rows = CHUNK / job.piece_width;
    job.pieces_across = tilemm__div_up(at->width, job.piece_width);
    job.pieces_each = tilemm__div_up(at->rows, job.piece_rows) * job.pieces_across;
    job.pieces = job.pieces_each * (at->more + 1);
    return work_together(&job);
}

cudaError_t tilemm__transfer(const tilemm__transfer_t *of, const tilemm__rectangle_t *at)
{
    const double bytes = (double)at->width * (double)at->rows * (double)(at->more + 1);
    if (!of->timeline)
        return transfer(of, at);
    tilemm__timeline_begin(of->timeline, of->lane, of->stream);
    const cudaError_t error = transfer(of, at);
    tilemm__timeline_end(of->timeline, of->lane, of->stream, bytes);
    return error;
}

cudaError_t tilemm__transfer_open(tilemm_t ctx, int out, int pageable, tilemm__transfer_t *of)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *of = (tilemm__transfer_t){.device = state->device, .out = out, .threads = MOST_THREADS};
    if (processors > 0 && processors / 2 < of->threads)
        of->threads = processors < 2 ? 1 : (int)(processors / 2);
    cudaError_t error = cudaStreamCreateWithFlags(&of->stream, cudaStreamNonBlocking);
    if (error != cudaSuccess || !pageable)
        return error;
    /* They stay: to pin memory takes as long as to fill it many times. */
    if (!state->chunks[out])
        error = cudaHostAlloc(&state->chunks[out], 2 * (size_t)of->threads * CHUNK,
                              cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) { /* the driver has some of its own */
        (void)cudaGetLastError();
        return cudaSuccess;
    }
    for (int i = 0; i < 2 * of->threads && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&of->events[i], cudaEventDisableTiming);
    of->chunks = state->chunks[out];
    return error;
}

void tilemm__transfer_close(tilemm__transfer_t *of)
{
    for (int i = 0; i < 2 * MOST_THREADS; i++)
        if (of->events[i])
            cudaEventDestroy(of->events[i]);
    if (of->stream)
        cudaStreamDestroy(of->stream);
}
