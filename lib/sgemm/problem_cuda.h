/* problem_cuda.h - what plans and estimates of SGEMM on a GPU ask of a problem: its size, and how
 * its operands are aligned.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_PROBLEM_CUDA_H
#define TILEMM_LIB_SGEMM_PROBLEM_CUDA_H

#include "kernels/args.h"
#include "lib/size.h"
#include "rows_cuda.h"

/* Elements of C in the batch, and its tiles: they may be more than an int64_t holds. */
static inline double tilemm__sgemm_elements_of_c(const tilemm__sgemm_args_t *args)
{
    return (double)args->m * (double)args->n * (double)args->batch_count;
}

static inline double tilemm__sgemm_tiles_of_c(const tilemm__sgemm_row_t *row,
                                              const tilemm__sgemm_args_t *args)
{
    return (double)tilemm__div_up(args->m, row->m) * (double)tilemm__div_up(args->n, row->n) *
           (double)args->batch_count;
}

/* The tiles of C of a library that, where they are fewer than multiprocessors, divides k so that
 * each of these has one. */
static inline double tilemm__sgemm_library_tiles(const tilemm__sgemm_args_t *p)
{
    enum { SIDE = 128 };
    return (double)tilemm__div_up(p->m, SIDE) * (double)tilemm__div_up(p->n, SIDE) *
           (double)p->batch_count;
}

/* Whether an operand can be moved 16 bytes at a time: its address, its leading dimension and, in a
 * batch, its stride are multiples of 16 bytes. Nothing is known of the addresses in an array. */
static inline int tilemm__is_aligned(const void *pointer, const void *array, int64_t ld,
                                     int64_t stride, int64_t batch)
{
    const uint64_t strides = (uint64_t)ld | (batch > 1 ? (uint64_t)stride : 0);
    return !array && ((uintptr_t)pointer | strides * sizeof(float)) % 16 == 0;
}

static inline int tilemm__sgemm_is_aligned_a(const tilemm__sgemm_args_t *p)
{
    return tilemm__is_aligned(p->a, p->a_array, p->lda, p->stride_a, p->batch_count);
}

static inline int tilemm__sgemm_is_aligned_b(const tilemm__sgemm_args_t *p)
{
    return tilemm__is_aligned(p->b, p->b_array, p->ldb, p->stride_b, p->batch_count);
}

/* Whether op(A)'s rows run along k in memory. A vector's elements lie side by side however it is
 * called. */
static inline int tilemm__sgemm_a_is_along_k(const tilemm__sgemm_args_t *p)
{
    return !p->trans_a || (p->m == 1 && p->lda == 1);
}

static inline int tilemm__sgemm_is_aligned_c(const tilemm__sgemm_args_t *p)
{
    return tilemm__is_aligned(p->c, p->c_array, p->ldc, p->stride_c, p->batch_count);
}

/* Whether the copy engine can find a batch's matrices: the next one is at no lower address. */
static inline int tilemm__is_forward(int64_t stride, int64_t batch)
{
    return batch == 1 || stride >= 0;
}

/* The copy engine's coordinates, with a tile beyond. */
enum { TILEMM__SGEMM_MOST_COORDINATE = INT32_MAX - 65536 };

/* Whether the matrices of a batch do not lie multiples of 16 bytes apart. */
static inline unsigned char tilemm__is_uneven(int64_t stride, int64_t batch)
{
    return batch > 1 && stride % (int64_t)(16 / sizeof(float)) != 0;
}

/* Whether the copy engine can bring matrices that are not aligned by phases of rows (fused.h),
 * which run along k or not. */
static inline int tilemm__has_phases(int64_t lines, int64_t ld, int64_t stride, int64_t batch,
                                     int along_k, int other_along_k)
{
    if (!tilemm__is_uneven(stride, batch))
        return tilemm__is_forward(stride, batch);
    return along_k ? stride == lines * ld && lines <= TILEMM__SGEMM_MOST_COORDINATE / batch
                   : stride > 0 && other_along_k;
}

/* The same of both operands. */
static inline int tilemm__sgemm_has_phases(const tilemm__sgemm_args_t *p)
{
    const int a_k = !p->trans_a, b_k = p->trans_b;
    return !p->a_array && tilemm__has_phases(p->m, p->lda, p->stride_a, p->batch_count, a_k, b_k) &&
           tilemm__has_phases(p->n, p->ldb, p->stride_b, p->batch_count, b_k, a_k);
}

enum { TILEMM__SGEMM_LINE = 128, TILEMM__SGEMM_SECTOR = 32 /* bytes, of the L2 cache */ };

/* The leading dimension of a copy for the copy engine, of rows of `cols` numbers: it reads whole
 * lines faster, which does not pay in short rows. */
static inline int64_t tilemm__sgemm_ld_of_copy(int64_t cols)
{
    return tilemm__round_up(cols, cols < 256 ? 4 : TILEMM__SGEMM_LINE / (int)sizeof(float));
}

/* Whether the copy engine can read A, or B: it is aligned, and a batch of it goes forward. */
static inline int tilemm__sgemm_is_readable_a(const tilemm__sgemm_args_t *p)
{
    return tilemm__sgemm_is_aligned_a(p) && tilemm__is_forward(p->stride_a, p->batch_count);
}

static inline int tilemm__sgemm_is_readable_b(const tilemm__sgemm_args_t *p)
{
    return tilemm__sgemm_is_aligned_b(p) && tilemm__is_forward(p->stride_b, p->batch_count);
}

/* Whether the copy engine can store C: it cannot add to it, and writes whole pieces of 16 bytes,
 * past the end of a row that is none. */
static inline int tilemm__sgemm_is_stored_in_bulk(const tilemm__sgemm_args_t *p)
{
    return p->beta == 0.0f && p->n % 4 == 0 && tilemm__sgemm_is_aligned_c(p) &&
           tilemm__is_forward(p->stride_c, p->batch_count);
}

#endif
