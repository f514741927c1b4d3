/* cost_parts_cuda.h - parts that the estimates of several families of kernels have in common. For
 * cost_cuda.c and cost_small_cuda.c.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_SGEMM_COST_PARTS_CUDA_H
#define TILEMM_LIB_SGEMM_COST_PARTS_CUDA_H

#include "lib/traits.h"
#include "problem_cuda.h"

/* Multiprocessors of a group in which clusters lie; multiply-adds in FP32 of a multiprocessor in a
 * cycle, for which the table's steps are given; the k from which on multiply-adds of other blocks
 * hide stores. */
enum { CLUSTER_SMS = 16, FFMA_RATE = 128, HIDES_STORE = 256 };

static inline double whole(double x)
{
    return (double)(int64_t)x;
}

/* Elements of C, a multiprocessor's part; fewer, the more other blocks' multiply-adds hide their
 * stores. */
static inline double exposed_store(const tilemm__sgemm_args_t *args,
                                   const tilemm__cuda_traits_t *traits)
{
    const double exposed = 1 - (double)args->k / HIDES_STORE;
    return exposed < 0 ? 0 : exposed * tilemm__sgemm_elements_of_c(args) / traits->sm_count;
}

/* Whether elements of C are stored 16 bytes at a time. */
static inline int is_stored_wide(const tilemm__sgemm_args_t *args)
{
    return args->n % 4 == 0 && tilemm__sgemm_is_aligned_c(args);
}

/* The exposed stores, if they are not. */
static inline double stored_alone(const tilemm__sgemm_args_t *args,
                                  const tilemm__cuda_traits_t *traits)
{
    return is_stored_wide(args) ? 0 : exposed_store(args, traits);
}

static inline double elements_of_a_and_b(const tilemm__sgemm_args_t *args)
{
    return ((double)args->m + (double)args->n) * (double)args->k * (double)args->batch_count;
}

/* Bytes of the operands and of C, each once. */
static inline double bytes_of_all(const tilemm__sgemm_args_t *args)
{
    return sizeof(float) * (elements_of_a_and_b(args) + tilemm__sgemm_elements_of_c(args));
}

/* Blocks of a multiprocessor in a wave, of which `most` fit. A cluster lies in one of several
 * groups of multiprocessors, where some places for blocks stay empty: measured on three H200s,
 * whose groups differ, with clusters of 3 to 8 blocks and 1 to 10 blocks on a multiprocessor. */
static inline double resident_of_clusters(int most, int cluster)
{
    const int is_power = (cluster & (cluster - 1)) == 0;
    const int is_even = cluster <= 2 || (cluster <= 4 && most % 2 == 0);
    const double empty = !is_power ? 0.6 * cluster : is_even ? 0 : 1.4; /* of a group */
    return most - empty / CLUSTER_SMS;
}

/* Multiply-adds in a cycle: data-centre Ampere and Turing; others. */
static inline double ffma_rate(int cc)
{
    return cc <= 80 ? 64 : 128;
}

#endif
