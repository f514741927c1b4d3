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
#include "kernels/sgemm/cuda/outer.h"
#include "kernels/sgemm/cuda/packed.h"
#include "kernels/sgemm/cuda/warp.h"
#include "kernels/sgemm/variants.h"
#include "lib/traits.h"
#include "problem_cuda.h"
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

/* Of a kernel for a sum of few outer products: the blocks that a multiprocessor holds, and the
 * cycles that it takes. */
int tilemm__sgemm_outer_room(const tilemm__sgemm_outer_t *plan,
                             const tilemm__cuda_traits_t *traits);
double tilemm__sgemm_outer_estimate(const tilemm__sgemm_outer_t *plan,
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

/* The cycles that a kernel for batches without gaps takes. */
double tilemm__sgemm_packed_estimate(const tilemm__sgemm_packed_t *plan,
                                     const tilemm__cuda_traits_t *traits);

/* The cycles that a resident kernel takes, of which a multiprocessor holds `here` blocks. */
double tilemm__sgemm_resident_estimate(const tilemm__sgemm_warp_t *plan, int here,
                                       const tilemm__cuda_traits_t *traits);

/* The cycles that a kernel for tiles of a warp, or of a team of warps, takes. */
double tilemm__sgemm_warp_estimate(const tilemm__sgemm_warp_t *plan,
                                   const tilemm__cuda_traits_t *traits);
double tilemm__sgemm_team_estimate(const tilemm__sgemm_warp_t *plan,
                                   const tilemm__cuda_traits_t *traits);

/* Whether each of so few blocks, in clusters of `cluster`, is to have a multiprocessor to itself:
 * where there is room for two, the device often puts two on one and leaves others empty. */
int tilemm__sgemm_is_spread(int64_t blocks, int cluster, const tilemm__cuda_traits_t *traits);

/* Cycles of a product of planes on sm90, of `tiles` tiles of `clusters` clusters, of `steps` steps
 * each, with the last `shared` ones' k shared out: 0, or tiles modulo clusters. */
double tilemm__sgemm_stream_k_estimate(int variant, int64_t tiles, int64_t clusters, int64_t steps,
                                       int64_t shared);

/* By how much k must promise to be faster shared out than not, since blocks share power too. */
#define TILEMM__SGEMM_STREAM_K_WORTH 1.02

/* How the k of `tiles` tiles of `steps` steps is shared out among `clusters` clusters, which are
 * more: `layers` layers of `layer` steps, see tilemm__sgemm_stream_k_t. */
void tilemm__sgemm_stream_k(int64_t tiles, int64_t clusters, int64_t steps, int64_t *layers,
                            int64_t *layer);

#endif
