/* kernels.h - the CPU's transposing kernels: one table for each instruction set.
 *
 * Assumptions: pointers are aligned to the element, those of 16-byte elements to 8; leading
 * dimensions count elements; source and destination do not overlap unless a function says
 * otherwise. The caller cuts matrices into blocks that stay in a near cache.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TRANSPOSE_CPU_KERNELS_H
#define TILEMM_KERNELS_TRANSPOSE_CPU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/transpose/inplace.h"

/* Entries of a table: elements of 1, 2, 4, 8 and 16 bytes, and floats multiplied by alpha. */
enum { TILEMM__TRANSPOSE_SCALED = 5, TILEMM__TRANSPOSE_KINDS = 6 };

/* Adjacent columns that are skewed together: rows of up to 128 bytes, two cache lines. */
enum { TILEMM__SKEW_BYTES = 128, TILEMM__SKEW_COLS = 64 };

static inline int64_t tilemm__skew_cols(size_t elem_size)
{
    return elem_size > 1 ? (int64_t)(TILEMM__SKEW_BYTES / elem_size) : TILEMM__SKEW_COLS;
}

/* dst (cols x rows) = alpha times the transpose of src (rows x cols). Only the scaled kind reads
 * alpha. near: the source is in a near cache already. */
typedef void tilemm__transpose_block_t(int64_t rows, int64_t cols, const void *src, int64_t ld_src,
                                       void *dst, int64_t ld_dst, float alpha, int near);

/* Bytes before each row that tilemm__transpose_cpu_t.stream copies. */
enum { TILEMM__STREAM_LEAD = 64 };

typedef struct {
    int vector_bytes; /* a tile is vector_bytes / elem_size rows of 16 / elem_size columns */

    tilemm__transpose_block_t *block[TILEMM__TRANSPOSE_KINDS];

    /* Copy rows of `bytes` bytes; whole cache lines of dst are written around the caches. If
     * `goes_on`, then of at least a line, and what begins the last line of a row waits before that
     * row of src, in its lead, for a call with `began` that continues the row at the next dst. */
    void (*stream)(int64_t rows, int64_t bytes, char *src, int64_t src_step, char *dst,
                   int64_t dst_step, int began, int goes_on);

    /* dst = alpha * src, n floats; dst may be src. */
    void (*scale)(int64_t n, const float *src, float *dst, float alpha);

    /* Step 2 of inplace.h on one row of the view, row number i, in place, forward or backward;
     * temp has room for the row and its alignment. The scaled kind multiplies by alpha. */
    void (*shuffle[TILEMM__TRANSPOSE_KINDS])(const tilemm__inplace_t *view, int64_t i, void *row,
                                             void *temp, int backward, float alpha);

    /* Rotate each of the cols <= tilemm__skew_cols() columns of a matrix of m rows up by a little:
     * new(i, x) = old((i + shift[x]) mod m, x). shift does not fall from one column to the next,
     * and is at most cols - 1 and less than m. From the last row with a negative ld it rotates
     * down. */
    void (*skew[TILEMM__TRANSPOSE_KINDS - 1])(int64_t m, int64_t cols, void *matrix, int64_t ld,
                                              const int *shift);
} tilemm__transpose_cpu_t;

extern const tilemm__transpose_cpu_t tilemm__transpose_cpu_generic;
extern const tilemm__transpose_cpu_t tilemm__transpose_cpu_neon;
extern const tilemm__transpose_cpu_t tilemm__transpose_cpu_avx2;
extern const tilemm__transpose_cpu_t tilemm__transpose_cpu_avx512;

#endif
