/* buffers.h - plain memory on the host and the device.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_BUFFERS_H
#define TILEMM_TESTS_SUPPORT_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "tilemm.h"

/* Device memory (free it with gpu_free), and an array on the host. Both give up if there is no
 * memory. */
void *device_array(size_t bytes);
float *host_array(int64_t count);

/* Zeroed memory for operands of more than 2^31 elements; on the host, pages that are not written
 * take no room. NULL where there is no memory. */
void *sparse_alloc(tilemm_backend_t backend, size_t bytes);
void sparse_free(tilemm_backend_t backend, void *memory, size_t bytes);
void sparse_write(tilemm_backend_t backend, void *to, const void *from, size_t bytes);
void sparse_read(tilemm_backend_t backend, void *to, const void *from, size_t bytes);

#endif
