/* graph.h - captured CUDA graphs and the names of their kernels, through the driver.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_GRAPH_H
#define TILEMM_TESTS_SUPPORT_GRAPH_H

#include <stddef.h>

enum { KERNEL_NAME = 128 };

/* After gpu_open. Returns 0, or -1 if the driver is too old: it must know CUDA 12.3. */
int graph_open(void);

/* End the capture that gpu_capture_begin has begun. Returns 0 and the graph, or the driver's error
 * code and NULL if the capture was broken. */
int graph_capture_end(void *stream, void **graph);
void graph_free(void *graph);

/* The names of the graph's kernels, in an array to free. Returns 0 or the driver's error code. */
int graph_kernels(void *graph, char (**names)[KERNEL_NAME], size_t *count);

#endif
