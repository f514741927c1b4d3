/* neon.c - transposing kernels for aarch64, where 16-byte vectors become NEON's.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define TILE_TABLE tilemm__transpose_cpu_neon
#define TILE_BYTES 16
#include "tile.h"
