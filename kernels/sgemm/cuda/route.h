/* route.h - which kernels compute a tile of a product of planes (planes.h).
 *
 * Every line (a row of op(A), a column of op(B)) is judged, and groups of TILEMM__SGEMM_ROUTE_LINES
 * of them. An exact line is one that FP16 planes cannot carry. A group with few of these leaves
 * them to FP32 multiply-adds, a line at a time. A group with many is hard: none of its tiles is
 * computed from FP16 planes. Their elements go to three BF16 planes (hard_planes.cuh), or, where
 * these cannot carry them either, to FP32 multiply-adds on whole tiles: Inf and NaN, and lines of
 * numbers that are so far apart that BF16 planes, scaled by the largest, lose bits of others. What
 * is lost is nothing beside the largest number, if its products all count: where the other operand
 * is even, all numbers of its tile are in 2^-34 .. 2^11.
 *
 * Nothing of this is known to the host, which launches all of these kernels: each does its part.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_ROUTE_H
#define TILEMM_KERNELS_SGEMM_CUDA_ROUTE_H

#include <stdint.h>

enum {
    TILEMM__SGEMM_ROUTE_LINES = 512, /* of a group; the last one of a matrix may have fewer */
    TILEMM__SGEMM_ROUTE_LEAST = 4,   /* exact lines that do not make a group hard */
    /* Whether a line is exact depends on the other operand: on its thinnest line's density, and on
     * whether a block of it is sparse. */
    TILEMM__SGEMM_ROUTE_DENSITIES = 4,
    TILEMM__SGEMM_ROUTE_CASES = 2 * TILEMM__SGEMM_ROUTE_DENSITIES,
    /* BF16 planes are made of a line times a power of two, which brings its largest number to this
     * one, and below four times this one: so products of 2^31 steps of k do not overflow. */
    TILEMM__SGEMM_HARD_TOP_LOG2 = 46,
    /* And have all bits of its other numbers, if they are no further below the largest: BF16 goes
     * down to 2^-133, 23 bits below the first one of such a number. */
    TILEMM__SGEMM_HARD_SPREAD_LOG2 = TILEMM__SGEMM_HARD_TOP_LOG2 + 133 - 23
};

/* What a group has lines of. */
enum {
    TILEMM__SGEMM_HAS_SPECIAL = 1, /* Inf, NaN */
    TILEMM__SGEMM_HAS_SPREAD = 2,  /* numbers of which BF16 planes lose bits */
    TILEMM__SGEMM_HAS_UNEVEN = 4   /* numbers beyond 2^-34 .. 2^11, or 0 */
};

/* A group of lines, zeros before it is judged. */
typedef struct {
    unsigned exact[TILEMM__SGEMM_ROUTE_CASES / 2]; /* lines, in two cases a word: low half, high */
    unsigned most;                                 /* exact lines that do not make it hard */
    unsigned has;                                  /* SPECIAL, SPREAD, UNEVEN */
    unsigned taken, done;                          /* chunks of exact lines (exact_lines.cuh) */
} tilemm__sgemm_group_t;

/* An operand of all matrices of a batch, zeros before it is judged. */
typedef struct {
    unsigned sparse; /* some block of a line has few large elements */
    unsigned thin;   /* of the thinnest line that is not exact: TILEMM__SGEMM_ROUTE_DENSITIES */
    unsigned exact;  /* some line is exact in some case */
} tilemm__sgemm_density_t;

/* Where kernels find the judgement. Of every matrix there are `rows` groups of op(A) and `cols` of
 * op(B). */
typedef struct {
    const tilemm__sgemm_group_t *a, *b;     /* NULL: no judgement, all tiles are the kernel's own */
    const tilemm__sgemm_density_t *density; /* A's, B's */
    unsigned *left; /* bits of the routes other than PLANES that some tile or line takes */
    unsigned rows, cols;
    int no_bf16; /* there is no BF16 kernel */
} tilemm__sgemm_routes_t;

typedef enum {
    TILEMM__SGEMM_BY_PLANES = 0,
    TILEMM__SGEMM_BY_LINES = 1, /* exact lines of tiles that are computed from planes */
    TILEMM__SGEMM_BY_BF16 = 2,
    TILEMM__SGEMM_BY_FP32 = 4
} tilemm__sgemm_route_t;

#ifdef __CUDACC__
/* The case of an operand whose other one is `other`. */
static __device__ __forceinline__ unsigned
tilemm__sgemm_route_case(const tilemm__sgemm_density_t &other)
{
    return (other.sparse ? (unsigned)TILEMM__SGEMM_ROUTE_DENSITIES : 0u) + other.thin;
}

/* Whether a group is hard in a case. Reads all of it, so that reads need not wait for the case. */
static __device__ __forceinline__ bool tilemm__sgemm_is_hard(const tilemm__sgemm_group_t &group,
                                                             unsigned number)
{
    static_assert(TILEMM__SGEMM_ROUTE_CASES == 8, "a word for two");
    const uint4 exact = *(const uint4 *)group.exact;
    const unsigned most = group.most;
    const unsigned word =
        number < 4 ? (number < 2 ? exact.x : exact.y) : (number < 6 ? exact.z : exact.w);
    return (number & 1 ? word >> 16 : word & 0xffff) > most;
}

/* Note that some tile or line takes a route other than PLANES. */
static __device__ __forceinline__ void tilemm__sgemm_tell(const tilemm__sgemm_routes_t &routes,
                                                          unsigned route)
{
    if (!(*(volatile unsigned *)routes.left & route))
        atomicOr(routes.left, route);
}

/* Whether planes carry all lines: every tile's route is BY_PLANES then. */
static __device__ __forceinline__ bool tilemm__sgemm_is_plain(const tilemm__sgemm_routes_t &routes)
{
    return !(routes.density[0].exact | routes.density[1].exact);
}

/* The route of the tile whose first element is (m, n). */
static __device__ __forceinline__ tilemm__sgemm_route_t
tilemm__sgemm_route(const tilemm__sgemm_routes_t &routes, uint64_t matrix, int64_t m, int64_t n)
{
    const tilemm__sgemm_group_t &a =
        routes.a[matrix * routes.rows + (unsigned)(m / TILEMM__SGEMM_ROUTE_LINES)];
    const tilemm__sgemm_group_t &b =
        routes.b[matrix * routes.cols + (unsigned)(n / TILEMM__SGEMM_ROUTE_LINES)];
    const bool hard_a = tilemm__sgemm_is_hard(a, tilemm__sgemm_route_case(routes.density[1]));
    const bool hard_b = tilemm__sgemm_is_hard(b, tilemm__sgemm_route_case(routes.density[0]));
    if (!hard_a && !hard_b)
        return TILEMM__SGEMM_BY_PLANES;
    const bool beyond =
        ((a.has | b.has) & TILEMM__SGEMM_HAS_SPECIAL) ||
        ((a.has & TILEMM__SGEMM_HAS_SPREAD) && (b.has & TILEMM__SGEMM_HAS_UNEVEN)) ||
        ((b.has & TILEMM__SGEMM_HAS_SPREAD) && (a.has & TILEMM__SGEMM_HAS_UNEVEN));
    return beyond || routes.no_bf16 ? TILEMM__SGEMM_BY_FP32 : TILEMM__SGEMM_BY_BF16;
}
#endif

#endif
