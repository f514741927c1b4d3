/* gpu.h - device memory, streams, events and graphs for the command and the tests, through the
 * driver that is loaded at run time: neither needs the CUDA Toolkit or a GPU to be there.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_GPU_H
#define TILEMM_TOOLS_GPU_H

#include <stddef.h>

/* Load the driver and take the primary context of a device (which libtilemm works in too) for
 * this process. Returns 0, or -1 where there is no driver or no such device. May be called again,
 * and by every thread that uses the functions below. */
int gpu_open(int device);

const char *gpu_error(void); /* why gpu_open failed */
int gpu_count(void);         /* of CUDA devices; 0 where there is no driver (gpu_error says why) */

/* After gpu_count: major * 1000 + minor * 10 of the newest CUDA that the driver knows, or 0. */
int gpu_driver_version(void);

typedef struct {
    char name[128];
    int cc_major, cc_minor;
    int sm_count, max_threads_per_sm, clock_khz;
    int shared_per_block, shared_per_sm, l2_bytes; /* bytes */
    size_t memory_bytes;
} gpu_traits_t;

/* After gpu_count: what the driver says of a device. Needs no gpu_open. Returns 0 or an error. */
int gpu_describe(int device, gpu_traits_t *traits);

/* The functions below return 0, or the driver's error code; pointers NULL on failure. */
void *gpu_malloc(size_t bytes);
void *gpu_malloc_managed(size_t bytes);
void *gpu_malloc_host(size_t bytes); /* pinned */
int gpu_free(void *device);
int gpu_free_host(void *host);
int gpu_memory(size_t *free_bytes, size_t *total_bytes);
int gpu_to_device(void *device, const void *host, size_t bytes);
int gpu_to_host(void *host, const void *device, size_t bytes);
int gpu_to_device_async(void *device, const void *host, size_t bytes, void *stream);
int gpu_to_host_async(void *host, const void *device, size_t bytes, void *stream);
int gpu_copy_async(void *to, const void *from, size_t bytes, void *stream); /* device to device */
int gpu_fill_async(void *device, unsigned char byte, size_t bytes, void *stream);
int gpu_synchronize(void);

void *gpu_stream_create(void); /* non-blocking; a cudaStream_t for all purposes */
int gpu_stream_destroy(void *stream);
int gpu_stream_synchronize(void *stream);

void *gpu_event_create(void);
int gpu_event_destroy(void *event);
int gpu_event_record(void *event, void *stream);
int gpu_event_synchronize(void *event);
int gpu_event_elapsed(float *milliseconds, void *start, void *end);

/* Capture what is queued on the stream (strict, "global" mode), and turn it into a graph that can
 * be launched. gpu_capture_end returns NULL when the capture was broken. */
int gpu_capture_begin(void *stream);
void *gpu_capture_end(void *stream);
int gpu_graph_launch(void *graph, void *stream);
int gpu_graph_destroy(void *graph);

#endif
