/* generic.c - transposing kernels in plain C with 16-byte vectors, for any CPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef __SSE2__
#include <emmintrin.h>
#define TILE_STREAM(p, v) _mm_stream_si128((__m128i *)(void *)(p), (__m128i)(v))
#define TILE_FENCE() _mm_sfence()
#endif

#define TILE_TABLE tilemm__transpose_cpu_generic
#define TILE_BYTES 16
#include "tile.h"
