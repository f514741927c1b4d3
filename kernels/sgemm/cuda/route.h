/* route.h - which kernels compute a tile of a product of planes (planes.h).
 *
 * The pass that makes planes judges every line (a row of op(A), a column of op(B)), and groups of
 * TILEMM__SGEMM_ROUTE_LINES of them. An exact line is one that FP16 planes cannot carry. A group
 * with few of these leaves them to FP32 multiply-adds, a line at a time. A group with many is hard:
 * none of its tiles is computed from FP16 planes. Their elements go to three BF16 planes, or, where
 * these cannot carry them either, to FP32 multiply-adds on whole tiles.
 *
 * Nothing of this is known to the host, which launches all of these kernels: each does its part.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_ROUTE_H
#define TILEMM_KERNELS_SGEMM_CUDA_ROUTE_H

#include <stdint.h>

enum {
    TILEMM__SGEMM_ROUTE_LINES = 512, /* of a group; the last one of a matrix may have fewer */
    /* A group is hard if more than one line in so many is exact, and more than so few: at 4096 x
     * 4096 x 4096 these take as long by themselves as all of the product in BF16. */
    TILEMM__SGEMM_ROUTE_ONE_IN = 24,
    TILEMM__SGEMM_ROUTE_LEAST = 4,
    /* What a judgement depends on in the other operand: its thinnest line's density (from 1 down
     * in powers of two), and whether a block of it is sparse. */
    TILEMM__SGEMM_ROUTE_DENSITIES = 8,
    TILEMM__SGEMM_ROUTE_CASES = 2 * TILEMM__SGEMM_ROUTE_DENSITIES,
    TILEMM__SGEMM_ROUTE_WIDE = 1 << TILEMM__SGEMM_ROUTE_CASES,
    /* What BF16 planes carry, as the bits of a magnitude: from 2^-100, below which the last bits
     * of planes and of products would be lost, to what BF16 rounds to Inf. */
    TILEMM__SGEMM_BF16_LEAST = (127 - 100) << 23,
    TILEMM__SGEMM_BF16_INF = 0x7f7f8000
};

/* A group of lines, all zeros to begin with. */
typedef struct {
    unsigned done; /* blocks of the pass that have finished with it */
    unsigned hard; /* a bit for each case; ROUTE_WIDE: BF16 planes cannot carry some line */
} tilemm__sgemm_group_t;

/* An operand of all matrices of a batch, zeros to begin with. */
typedef struct {
    unsigned sparse; /* not 0 if some block of a line has few large elements */
    unsigned thin;   /* log2 of 1 / density of the thinnest line that is not exact */
} tilemm__sgemm_density_t;

/* Where kernels find the judgement. Of every matrix there are `rows` groups of op(A) and `cols` of
 * op(B). */
typedef struct {
    const tilemm__sgemm_group_t *a, *b;     /* NULL: no judgement, all tiles are the kernel's own */
    const tilemm__sgemm_density_t *density; /* A's, B's */
    unsigned *left; /* bits of the routes other than PLANES that some tile or line takes */
    unsigned rows, cols;
    int no_bf16; /* operands that the BF16 kernel cannot read */
} tilemm__sgemm_routes_t;

typedef enum {
    TILEMM__SGEMM_BY_PLANES = 0,
    TILEMM__SGEMM_BY_LINES = 1, /* exact lines of tiles that are computed from planes */
    TILEMM__SGEMM_BY_BF16 = 2,
    TILEMM__SGEMM_BY_FP32 = 4
} tilemm__sgemm_route_t;

#ifdef __CUDACC__
/* Which bit of a judgement holds for an operand whose other one is `other`. */
static __device__ __forceinline__ unsigned
tilemm__sgemm_route_case(const tilemm__sgemm_density_t &other)
{
    return (other.sparse ? (unsigned)TILEMM__SGEMM_ROUTE_DENSITIES : 0u) + other.thin;
}

/* The route of the tile whose first element is (m, n). */
static __device__ __forceinline__ tilemm__sgemm_route_t
tilemm__sgemm_route(const tilemm__sgemm_routes_t &routes, uint64_t matrix, int64_t m, int64_t n)
{
    const unsigned a =
        routes.a[matrix * routes.rows + (unsigned)(m / TILEMM__SGEMM_ROUTE_LINES)].hard;
    const unsigned b =
        routes.b[matrix * routes.cols + (unsigned)(n / TILEMM__SGEMM_ROUTE_LINES)].hard;
    const unsigned hard = a >> tilemm__sgemm_route_case(routes.density[1]) |
                          b >> tilemm__sgemm_route_case(routes.density[0]);
    if (!(hard & 1))
        return TILEMM__SGEMM_BY_PLANES;
    return (a | b) & TILEMM__SGEMM_ROUTE_WIDE || routes.no_bf16 ? TILEMM__SGEMM_BY_FP32
                                                                : TILEMM__SGEMM_BY_BF16;
}
#endif

#endif
