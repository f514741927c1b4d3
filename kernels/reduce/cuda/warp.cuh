/* warp.cuh - the canonical tile in a warp: a lane of the tile is a lane of the warp, and each row
 * is one coalesced load.
 *
 * Assumes: whole warps call, all lanes together; compute capability 7.5 or later; no fast math.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CUDA_WARP_CUH
#define TILEMM_KERNELS_REDUCE_CUDA_WARP_CUH

#include "kernels/cuda/launch.cuh"
#include "kernels/reduce/ops.h"
#include "reduce.h"

typedef tilemm__reduce_args_t args_t;
typedef tilemm__partials_t partials_t;
typedef tilemm__sum_t sum_t;
typedef tilemm__order_t order_t;
typedef tilemm__segments_args_t segments_t;
typedef tilemm__segment_lists_t lists_t;

#define DEVICE static __device__ __forceinline__
#define FULL_WARP 0xffffffffu

/* Define the kernels of these rows, by KERNEL_<kernel>(name, template arguments), and
 * find(variant): the kernel of a row, or NULL. */
#define DEFINE_KERNELS(rows, find)                                                                 \
    rows(KERNEL);                                                                                  \
    extern "C" const void *find(int variant)                                                       \
    {                                                                                              \
        rows(RETURN_KERNEL);                                                                       \
        return NULL;                                                                               \
    }
#define KERNEL(name, kernel, cc, concurrent, ...) KERNEL_##kernel(name, __VA_ARGS__)
#define RETURN_KERNEL(name, ...)                                                                   \
    if (variant == TILEMM__##name)                                                                 \
        return (const void *)name;

enum {
    LANES = TILEMM__TILE_LANES,
    TILE = TILEMM__TILE_ELEMS,
    WARPS = TILEMM__REDUCE_WARPS,
    THREADS = WARPS * LANES,
    BLOCK_WARPS = TILEMM__REDUCE_BLOCK_WARPS,
    SPAN_TILES = TILEMM__SPAN_TILES,
    SPAN = TILE * SPAN_TILES
};

/* The smaller of `left` and `room`. */
DEVICE int clip(int64_t left, int room)
{
    return left < room ? (int)left : room;
}

/* ---- folding lanes by halves ------------------------------------------------------------ */

DEVICE sum_t no_sum(void)
{
    return {0.0, 0.0};
}

DEVICE sum_t join(sum_t a, sum_t b)
{
    return tilemm__sum_join(a, b);
}

DEVICE int64_t join(int64_t a, int64_t b)
{
    return a + b;
}

/* Of sums that no addition has rounded. */
DEVICE double join(double a, double b)
{
    return a + b;
}

DEVICE sum_t from_lane(sum_t value, int distance)
{
    return {__shfl_xor_sync(FULL_WARP, value.sum, distance),
            __shfl_xor_sync(FULL_WARP, value.lost, distance)};
}

template <typename T>
DEVICE T from_lane(T value, int distance)
{
    return __shfl_xor_sync(FULL_WARP, value, distance);
}

/* What a fold leaves of two values. */
enum { ADD, LARGEST };

template <int WHAT, typename T>
DEVICE T combine(T a, T b)
{
    if constexpr (WHAT == LARGEST)
        return max(a, b);
    else
        return join(a, b);
}

/* Each lane has a value of each of V vectors, and gets the sum, or the largest, of vector
 * lane / (32 / V). In each step lanes that are `half` apart keep half of the vectors each and give
 * the other half away, until each has one vector; from then on both combine what they have with
 * what the other has. With one vector this is the usual fold by shuffles. Both lanes of a pair get
 * the same bits: combine() is commutative. */
template <int V, int WHAT = ADD, int FROM = LANES / 2, typename T>
DEVICE T fold(T *value, int lane)
{
#pragma unroll
    for (int half = FROM; half > 0; half /= 2) {
        const int held = V * half / LANES;
        if (held > 0) {
#pragma unroll
            for (int i = 0; i < V / 2; i++) {
                if (i < held) {
                    const T keep = lane & half ? value[i + held] : value[i];
                    const T give = lane & half ? value[i] : value[i + held];
                    value[i] = combine<WHAT>(keep, from_lane(give, half));
                }
            }
        } else {
            value[0] = combine<WHAT>(value[0], from_lane(value[0], half));
        }
    }
    return value[0];
}

/* Fold N sums of one thread by halves. */
template <int N>
DEVICE sum_t fold_halves(sum_t *sum)
{
#pragma unroll
    for (int half = N / 2; half > 0; half /= 2) {
#pragma unroll
        for (int i = 0; i < half; i++)
            sum[i] = join(sum[i], sum[i + half]);
    }
    return sum[0];
}

DEVICE sum_t fold_sum(sum_t sum, int lane)
{
    return fold<1>(&sum, lane);
}

DEVICE sum_t load(const sum_t *p)
{
    const double2 v = __ldg((const double2 *)p);
    return {v.x, v.y};
}

template <typename T>
DEVICE T load(const T *p)
{
    return __ldg(p);
}

/* The sum of an item that SPLITS blocks have folded to one number each, `items` apart: the last
 * steps of the fold. */
template <int SPLITS>
DEVICE sum_t load_splits(const sum_t *p, int64_t items)
{
    sum_t split[SPLITS];
#pragma unroll
    for (int i = 0; i < SPLITS; i++)
        split[i] = load(p + i * items);
    return fold_halves<SPLITS>(split);
}

/* ---- rows of elements in registers ------------------------------------------------------ */

/* Load ROWS rows of V vectors: element e of vector j is v[j * ROWS + e / 32] of lane e % 32. Past
 * `length` elements or `vectors` vectors it is `fill`. All loads are issued before the first is
 * used. HELD: the address stays in a register; otherwise each row's is computed again, which takes
 * longer and fewer registers. */
template <int V, int ROWS, bool HELD, typename S, typename T>
DEVICE void load_rows(const S *__restrict__ p, int64_t stride, int64_t vector_stride, int length,
                      int vectors, T fill, int lane, T *v)
{
    p += lane * stride;
    if (HELD)
        asm volatile("" : "+l"(p));
    if (length >= ROWS * LANES && vectors == V) {
#pragma unroll
        for (int j = 0; j < V; j++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                v[j * ROWS + r] = load(p + j * vector_stride + r * LANES * stride);
        }
    } else {
#pragma unroll
        for (int j = 0; j < V; j++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                v[j * ROWS + r] = r * LANES + lane < length && j < vectors
                                      ? load(p + j * vector_stride + r * LANES * stride)
                                      : fill;
        }
    }
}

/* The sum of any number of counts. */
DEVICE int64_t sum_counts(const int64_t *counts, int64_t length, int lane)
{
    int64_t sum = 0;
    for (int64_t i = lane; i < length; i += LANES)
        sum += counts[i];
    return fold<1>(&sum, lane);
}

/* The vector of an item; item = vector * items + its number. */
DEVICE int64_t vector_of(const args_t *args, int64_t item, int64_t items)
{
    if (items == 1)
        return item;
    if (args->count == 1 && item < items) /* a division would hold the loads up */
        return 0;
    if ((uint64_t)(item | items) >> 32 == 0) /* a far cheaper division */
        return (uint32_t)item / (uint32_t)items;
    return item / items;
}

/* Shared memory of a block of up to 32 warps that adds: up to 1024 sums of tiles or rows, and of
 * each warp what they fold to and a count. */
typedef struct {
    sum_t sums[SPAN_TILES];
    sum_t folded[BLOCK_WARPS];
    int64_t counts[BLOCK_WARPS];
} block_room_t;

#endif
