/* no_sm90.c - in place of the files of SGEMM for compute capability 9.0 where nothing is built for
 * 90a: plans are then given a compute capability of 8.0 at most, and choose none of their kernels.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime_api.h>

#include "align.h"
#include "fused.h"
#include "half_parts.h"
#include "half_planes.h"
#include "packed.h"
#include "planes.h"
#include "rest.h"
#include "warp.h"

int tilemm__sgemm_planes_sm90_is_built(void)
{
    return 0;
}

int tilemm__sgemm_align_launch(const tilemm__sgemm_align_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_planes_sm90_launch(const tilemm__sgemm_planes_product_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_fused_launch(const tilemm__sgemm_fused_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_unaligned_launch(const tilemm__sgemm_fused_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_rest_launch(const tilemm__sgemm_rest_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_tf32_launch(const tilemm__sgemm_fused_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_half_launch(const tilemm__sgemm_fused_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_half_parts_launch(const tilemm__sgemm_half_parts_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_make_half_launch(const tilemm__sgemm_make_half_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_half_planes_launch(const tilemm__sgemm_half_product_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_warp_launch(const tilemm__sgemm_warp_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_packed_launch(const tilemm__sgemm_packed_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_team_launch(const tilemm__sgemm_warp_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_resident_launch(const tilemm__sgemm_warp_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}

int tilemm__sgemm_invariant_launch(const tilemm__sgemm_fused_t *problem, void *stream)
{
    (void)problem, (void)stream;
    return cudaErrorNotSupported;
}
