/* bench_host.c - what operands on the host cannot beat: the link, and the work on the device.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "gpu.h"

enum { UP, DOWN, WAYS, REPS = 3, PIECE = 64 << 20 };

typedef struct {
    int number; /* of the device */
    void *host[WAYS], *device[WAYS], *stream[WAYS];
    double bytes[WAYS];
} link_t;

/* Queue a way's bytes, piece by piece from and to the same memory. */
static int queue_copies(const link_t *link, int way)
{
    int status = 0;
    for (double left = link->bytes[way]; !status && left > 0; left -= PIECE) {
        const size_t bytes = left < PIECE ? (size_t)left : PIECE;
        status = way == UP ? gpu_to_device_async(link->device[UP], link->host[UP], bytes,
                                                 link->stream[UP])
                           : gpu_to_host_async(link->host[DOWN], link->device[DOWN], bytes,
                                               link->stream[DOWN]);
    }
    return status;
}

/* The least time of several, both ways at once; or -1. */
static double time_links(const link_t *links, int count)
{
    double best = HUGE_VAL;
    for (int i = 0; i <= REPS; i++) { /* the first warms up */
        const double begin = seconds_now();
        int status = 0;
        for (int way = 0; way < count * WAYS; way++) {
            status = status ? status : gpu_open(links[way / WAYS].number);
            status = status ? status : queue_copies(&links[way / WAYS], way % WAYS);
        }
        for (int way = 0; way < count * WAYS; way++) {
            status = status ? status : gpu_open(links[way / WAYS].number);
            status = status ? status : gpu_stream_synchronize(links[way / WAYS].stream[way % WAYS]);
        }
        if (check_peer("a copy of pinned memory", status) != 0)
            return -1;
        best = i ? fmin(best, seconds_now() - begin) : best;
    }
    return best;
}

/* Returns 0 if all is there; to be closed in any case. */
static int open_link(link_t *link)
{
    int opened = gpu_open(link->number) == 0;
    for (int way = UP; way < WAYS && opened; way++) {
        link->host[way] = gpu_malloc_host(PIECE);
        link->device[way] = gpu_malloc(PIECE);
        link->stream[way] = gpu_stream_create();
        opened = link->host[way] && link->device[way] && link->stream[way];
        if (link->host[way])
            memset(link->host[way], 0, PIECE);
    }
    return opened ? 0 : -1;
}

static void close_link(link_t *link)
{
    if (gpu_open(link->number) != 0)
        return;
    for (int way = UP; way < WAYS; way++) {
        gpu_stream_destroy(link->stream[way]);
        gpu_free(link->device[way]);
        gpu_free_host(link->host[way]);
    }
}

/* Each device moves its share of the bytes, all at once. */
static double measure_links(const bench_bound_t *bound, const int *devices, int count)
{
    link_t links[MAX_DEVICES] = {{0}};
    double seconds = -1;
    int failed = 0;
    for (int i = 0; i < count; i++) {
        links[i] =
            (link_t){.number = devices[i], .bytes = {bound->up / count, bound->down / count}};
        failed = failed || open_link(&links[i]) != 0;
    }
    if (failed)
        command_error("no pinned memory to measure the link with (%d bytes)", count * WAYS * PIECE);
    else
        seconds = time_links(links, count);
    for (int i = 0; i < count; i++)
        close_link(&links[i]);
    gpu_open(devices[0]);
    return seconds;
}

int bench_add_bound(const machine_t *machine, bench_problem_t *p, const bench_bound_t *bound)
{
    int devices[MAX_DEVICES];
    const int count = bench_devices(p->options, devices);
    const double seconds = measure_links(bound, devices, count);
    const double resident = bound->resident / count; /* on equal devices, perfectly divided */
    (void)machine;
    if (seconds < 0)
        return -1;
    contender_t *const added =
        add_contender(p, resident > seconds ? "bound: resident" : "bound: link", NULL);
    added->bound = fmax(fmax(seconds, resident), 1e-9);
    added->error = (double)NAN;
    added->goal = p->options->bytes_goal;
    append(added->kernel, sizeof added->kernel, "%.2f GB up, %.2f GB down: %.1f GB/s",
           bound->up / 1e9, bound->down / 1e9,
           seconds > 0 ? (bound->up + bound->down) / seconds / 1e9 : 0);
    return 0;
}
