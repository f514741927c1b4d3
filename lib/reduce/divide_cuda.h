/* divide_cuda.h - a contiguous vector on the host, in units that several GPUs reduce: results of
 * units join to the bits that the whole vector has.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_REDUCE_DIVIDE_CUDA_H
#define TILEMM_LIB_REDUCE_DIVIDE_CUDA_H

#include "kernels/reduce/cuda/reduce.h"
#include "lib/cuda/cuda.h"

/* Elements of a unit: 32 x 32 canonical tiles, whose sum is a number of the canonical order. */
enum { TILEMM__REDUCE_UNIT = 1 << 20 };

/* Of a unit: its sum and the number of elements in it, or its key and where that is. */
typedef struct {
    tilemm__sum_t sum;
    int64_t count;
    int32_t key;
    int64_t index;
} tilemm__piece_t;

/* The result of all units, in their order; *index only if args has an index_out.
 * Overwrites the pieces. */
void tilemm__join_pieces(const tilemm__reduce_args_t *args, int64_t units, tilemm__piece_t *pieces,
                         float *value, int64_t *index);

/* Units [first, end) of args' vector, through buffers on the context's device. Waits. */
tilemm_status_t tilemm__cuda_reduce_units(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                          int64_t first, int64_t end, tilemm__piece_t *pieces);

/* run_cuda.c: the sums of vectors on the device, before they are finished. */
tilemm_status_t tilemm__cuda_partial_sums(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                          const tilemm__partials_t *sums);

#endif
