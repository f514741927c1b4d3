/* packed.h - SGEMM by FP32 multiply-adds for batches of small matrices that lie one after the other
 * without gaps: the struct that the kernels take, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_PACKED_H
#define TILEMM_KERNELS_SGEMM_CUDA_PACKED_H

#include "kernels/args.h"
#include "kernels/division.h"
#include "kernels/sgemm/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TILEMM__SGEMM_PACKED_STAGES = 2 /* groups under way */ };

/* `together` matrices are a group: its numbers of each operand, and of C, are a multiple of four,
 * and all three begin at multiples of 16 bytes. A matrix has lanes_m x lanes_n threads, each with
 * a square of C of the variant's side. Blocks take turns at the whole groups; the next one has what
 * is left of the batch. beta is 0. */
typedef struct {
    tilemm__sgemm_args_t args;
    int variant;
    int lanes_m, lanes_n, together;
    tilemm__division_t by_lanes, by_lanes_n; /* by_lanes: of a matrix */
    unsigned groups, blocks, threads;
    size_t shared; /* bytes of a block */
} tilemm__sgemm_packed_t;

/* Queues on `stream` (a cudaStream_t) and returns a cudaError_t. */
int tilemm__sgemm_packed_launch(const tilemm__sgemm_packed_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
