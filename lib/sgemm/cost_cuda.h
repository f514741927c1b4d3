/* cost_cuda.h - how long SGEMM's kernels take on a GPU: an estimate in clock cycles of a
 * multiprocessor, the same currency for all of them, from a table of constants for a device. Pure
 * functions.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_COST_CUDA_H
#define TILEMM_LIB_SGEMM_COST_CUDA_H

#include "kernels/args.h"
#include "kernels/sgemm/cuda/fitted.h"
#include "kernels/sgemm/cuda/short.h"
#include "kernels/sgemm/cuda/skinny.h"
#include "kernels/sgemm/cuda/slicek.h"
#include "kernels/sgemm/cuda/vector.h"
#include "kernels/sgemm/variants.h"
#include "lib/size.h"
#include "lib/traits.h"
#include "rows_cuda.h"

/* How a kernel would do a problem: what the estimate needs beside the problem itself. */
typedef struct {
    int variant;
    int cluster; /* the splits of a tile are a cluster; else they add up through the workspace */
    int64_t splits, k_split; /* of k; or of planes: parts of k, one after the other */
    int64_t batch_group;     /* of planes: matrices at a time */
    int64_t shared;          /* of planes on sm90: tiles of clusters whose k is shared out */
    double cycles;           /* the estimate */
} tilemm__sgemm_trial_t;

/* The cycles that a kernel takes, with the launches that belong to it. */
double tilemm__sgemm_cuda_estimate(const tilemm__sgemm_trial_t *trial,
                                   const tilemm__sgemm_args_t *args,
                                   const tilemm__cuda_traits_t *traits);

/* Of a fitted kernel: the blocks that a multiprocessor holds, and the cycles that it takes. */
int64_t tilemm__sgemm_fitted_room(const tilemm__sgemm_fitted_t *plan,
                                  const tilemm__cuda_traits_t *traits);
double tilemm__sgemm_fitted_estimate(const tilemm__sgemm_fitted_t *plan,
                                     const tilemm__cuda_traits_t *traits);

/* The cycles that a kernel whose k is shared out among warps takes. */
double tilemm__sgemm_slicek_estimate(const tilemm__sgemm_slicek_t *plan,
                                     const tilemm__cuda_traits_t *traits);

/* The cycles that a kernel for a short k takes. */
double tilemm__sgemm_short_estimate(const tilemm__sgemm_short_t *plan,
                                    const tilemm__cuda_traits_t *traits);

/* The cycles that a kernel for small matrices of a batch takes. */
double tilemm__sgemm_small_batch_estimate(const tilemm__sgemm_small_batch_t *plan,
                                          const tilemm__cuda_traits_t *traits);

/* The cycles that a kernel for a matrix and a vector takes. */
double tilemm__sgemm_vector_estimate(const tilemm__sgemm_vector_t *plan,
                                     const tilemm__cuda_traits_t *traits);

/* Cycles of the product of planes on sm90 for `pairs` tiles of clusters of `steps` steps each, with
 * the last `shared` ones' k shared out: 0, or pairs modulo the clusters of the device. */
double tilemm__sgemm_stream_k_estimate(int variant, int64_t pairs, int64_t steps, int64_t shared,
                                       const tilemm__cuda_traits_t *traits);

/* By how much k must promise to be faster shared out than not, since blocks share power too. */
#define TILEMM__SGEMM_STREAM_K_WORTH 1.02

/* How the k of `tiles` tiles of `steps` steps is shared out among `clusters` clusters, which are
 * more: `layers` layers of `layer` steps, see tilemm__sgemm_stream_k_t. */
void tilemm__sgemm_stream_k(int64_t tiles, int64_t clusters, int64_t steps, int64_t *layers,
                            int64_t *layer);

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

static inline int tilemm__sgemm_is_aligned_c(const tilemm__sgemm_args_t *p)
{
    return tilemm__is_aligned(p->c, p->c_array, p->ldc, p->stride_c, p->batch_count);
}

/* Whether the copy engine can find a batch's matrices: the next one is at no lower address. */
static inline int tilemm__is_forward(int64_t stride, int64_t batch)
{
    return batch == 1 || stride >= 0;
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
