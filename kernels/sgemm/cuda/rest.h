/* rest.h - what a product of FP16 planes (planes.h) leaves over, in one launch: the struct that the
 * kernels take, and the launcher. Needs no CUDA header.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_REST_H
#define TILEMM_KERNELS_SGEMM_CUDA_REST_H

#include "ffma.h"
#include "fused.h"
#include "planes.h"

/* Hard tiles from BF16 planes, other hard tiles by FP32 multiply-adds, and exact lines. The
 * members' grids are not used: blocks take every blocks-th item of each. */
typedef struct {
    tilemm__sgemm_fused_t bf16; /* one split */
    tilemm__sgemm_ffma_t fp32;  /* one split, tiles of 128 x 128 */
    tilemm__sgemm_exact_lines_t exact;
    int variant;
    unsigned blocks; /* of the grid, no more than run at a time; 0: not launched */
} tilemm__sgemm_rest_t;

#ifdef __cplusplus
extern "C" {
#endif

/* For compute capability 9.0 (sm_90a): looks the variant up, makes the tensor maps, queues. */
int tilemm__sgemm_rest_launch(const tilemm__sgemm_rest_t *problem, void *stream);

#ifdef __cplusplus
}
#endif

#endif
