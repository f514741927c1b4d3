/* fused_store_sm90.cuh - the epilogue of the fused SGEMM kernels: a finished tile to C, to the
 * partial products, or to shared memory, where the blocks of a cluster add up. Where an invariant
 * product has elements that FP16 planes do not carry (carry.h), a kernel stores its own ones.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FUSED_STORE_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FUSED_STORE_SM90_CUH

#include "fused_sm90.cuh"
#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/epilogue.cuh"

/* ---- which elements ------------------------------------------------------------------------- */

/* Whether element (i, j) of a tile is stored: all are; */
struct all_t {
    static const bool ALL = true;
    __device__ __forceinline__ bool operator()(int, int) const
    {
        return true;
    }
};

/* those whose lines have classes that add up to `least`; */
struct carried_t {
    static const bool ALL = false;
    const unsigned char *rows, *columns;
    unsigned least;
    __device__ __forceinline__ bool operator()(int i, int j) const
    {
        return (unsigned)rows[i] + columns[j] >= least;
    }
};

/* or the others, which planes do not carry. */
struct left_t {
    static const bool ALL = false;
    const fused_t &problem;
    const place_t &place;
    __device__ __forceinline__ bool operator()(int i, int j) const
    {
        const tilemm__sgemm_carry_t &carry = problem.carry;
        const tilemm__sgemm_args_t &args = problem.args;
        return carry.a[place.matrix * args.m + place.m + i] +
                   carry.b[place.matrix * args.n + place.n + j] <
               TILEMM__SGEMM_CARRY_LEAST;
    }
};

/* ---- a tile --------------------------------------------------------------------------------- */

/* Row i of a thread's ROWS in the tile, and its first column col: it has col + 8 i and the next. */
template <typename S>
static __device__ __forceinline__ unsigned row_of(int i)
{
    return S::DIRECT
               ? tilemm__tf32_line(threadIdx.x, i, S::A_K)
               : threadIdx.x / 32 * 16 + tilemm__fused_line(threadIdx.x % 32, i, ROWS, S::A_APART);
}

[[maybe_unused]] static __device__ __forceinline__ unsigned col_of(void)
{
    return threadIdx.x % 4 * 2;
}

/* Leave `WIDTH` columns of the tile, from `first` on, in shared memory. */
template <typename S, int WIDTH = S::BN>
static __device__ __forceinline__ void to_shared(const float (&total)[S::ACCUMULATORS], float alpha,
                                                 float *tile, int first = 0)
{
#pragma unroll
    for (int i = 0; i < WIDTH / 2; i += 2) {
        const int at = first / 2 + i;
        *(float2 *)(tile + tilemm__fused_tile(row_of<S>(i / 2 % 2), col_of() + i / 4 * 8, WIDTH)) =
            make_float2(alpha * total[at], alpha * total[at + 1]);
    }
}

/* Store in C by the copy engine, each warp its 16 rows. */
template <typename S>
static __device__ __forceinline__ void store_bulk(const float (&total)[S::ACCUMULATORS],
                                                  float alpha, const CUtensorMap *c,
                                                  const place_t &place, float *tile)
{
    const int row = threadIdx.x / 32 * 16, WIDTH = S::BULK_BN;
#pragma unroll
    for (int first = 0; first < S::BN; first += WIDTH) {
        if (threadIdx.x % 32 == 0)
            tensor_wait_read();
        __syncwarp(); /* what was there before has gone */
        to_shared<S, WIDTH>(total, alpha, tile, first);
        fence_for_async();
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            for (int col = 0; col < WIDTH; col += 32)
                tensor_store(c, place.n + first + col, place.m + row, (int)place.matrix,
                             tile + tilemm__fused_tile(row, col, WIDTH));
    }
}

/* Store in C, each warp its 16 rows, one after the other: lanes are neighbours in memory, however C
 * is aligned. */
template <typename S>
static __device__ __forceinline__ void store_rows(const float (&total)[S::ACCUMULATORS],
                                                  const tilemm__sgemm_args_t &args,
                                                  const place_t &place, float *tile)
{
    const int row0 = threadIdx.x / 32 * 16, lane = threadIdx.x % 32;
    const int rows = (int)min((int64_t)16, args.m - place.m - row0);
    const int cols = (int)min((int64_t)S::BN, args.n - place.n) - lane;
    float *to =
        (args.c_array ? args.c_array[place.matrix] : args.c + place.matrix * args.stride_c) +
        (place.m + row0) * args.ldc + place.n + lane;
    __syncwarp(); /* the tile before is stored */
    to_shared<S>(total, args.alpha, tile);
    __syncwarp();
#pragma unroll 4
    for (int row = 0; row < rows; row++, to += args.ldc)
#pragma unroll
        for (int col = 0; col < S::BN; col += 32) {
            const float v = tile[tilemm__fused_tile(row0 + row, col + lane, S::BN)];
            if (col < cols)
                to[col] = args.beta != 0.0f ? fmaf(args.beta, to[col], v) : v;
        }
}

/* Store `cols` columns of C', which lie along memory, from a thread's first two on: its rows are
 * neighbours, and `to` is aligned for pairs of them. */
template <typename S>
static __device__ __forceinline__ void store_columns(const float (&total)[S::ACCUMULATORS],
                                                     float alpha, float beta, float *to, int64_t ld,
                                                     int64_t cols)
{
#pragma unroll
    for (int i = 0; i < S::ACCUMULATORS; i += 4)
#pragma unroll
        for (int j = 0; j < 2; j++)
            if (i * 2 + j < cols)
                epilogue_store_pair(to + (i * 2 + j) * ld, total[i + j], total[i + 2 + j], alpha,
                                    beta);
}

/* Store in C, or in the partial products. */
template <typename S, typename CHOICE>
static __device__ __forceinline__ void store(const float (&total)[S::ACCUMULATORS],
                                             const fused_t &problem, const place_t &place,
                                             const CHOICE &is_stored)
{
    const tilemm__sgemm_args_t &args = problem.args;
    float *const whole =
        problem.partial
            ? problem.partial + (place.split * args.batch_count + place.matrix) * args.m * args.n
        : args.c_array ? args.c_array[place.matrix]
                       : args.c + place.matrix * args.stride_c;
    const int64_t ld = !problem.partial ? args.ldc : S::TRANSPOSED ? args.m : args.n;
    const float alpha = problem.partial ? 1.0f : args.alpha;
    const float beta = problem.partial ? 0.0f : args.beta;
    const int64_t cols = args.n - place.n - col_of();
    if (CHOICE::ALL && S::TRANSPOSED && !S::A_K) {
        const int64_t row = (int64_t)place.m + row_of<S>(0);
        float *const to = whole + (place.n + col_of()) * ld + row;
        if (row + ROWS <= args.m && ((uint64_t)to & 7) == 0 && ld % 2 == 0)
            return store_columns<S>(total, alpha, beta, to, ld, cols);
    }
#pragma unroll
    for (int h = 0; h < ROWS; h++) {
        const int64_t row = (int64_t)place.m + row_of<S>(h), col = (int64_t)place.n + col_of();
        const int64_t next = S::TRANSPOSED ? ld : 1; /* column */
        float *const to = whole + (S::TRANSPOSED ? col * ld + row : row * ld + col);
        if constexpr (CHOICE::ALL && !S::TRANSPOSED) {
            epilogue_store_row(total, h, alpha, beta, to - col_of(),
                               row < args.m ? cols + col_of() : 0);
        } else if (row < args.m) {
#pragma unroll
            for (int i = 0; i < S::ACCUMULATORS; i += 4)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    if (i * 2 + j < cols && is_stored(row_of<S>(h), col_of() + i * 2 + j))
                        epilogue_store(to + (i * 2 + j) * next, total[i + h * 2 + j], alpha, beta);
        }
    }
}

/* ---- a cluster ------------------------------------------------------------------------------ */

/* Add up rows `first` to `last` of C', which are columns in memory. Reading other blocks is fast
 * along rows, storing along columns: a warp adds up 8 rows by 32 columns at a time, leaves the sums
 * in its own tile, where no other block reads these rows, and stores them from there. */
template <typename S, typename CHOICE>
static __device__ __forceinline__ void
add_up_columns(float *tile, float *c, int first, int last, int cols, int blocks,
               const tilemm__sgemm_args_t &args, const CHOICE &is_stored)
{
    enum { DOWN = 8, ACROSS = 32, BESIDE = (S::BN + ACROSS - 1) / ACROSS };
    const int lane = threadIdx.x % 32, rounds = (last - first + DOWN - 1) / DOWN * BESIDE;
    for (int round = threadIdx.x / 32; round < rounds; round += S::LASTING / 32) {
        const int row = first + round / BESIDE * DOWN, col = round % BESIDE * ACROSS;
        float sums[DOWN] = {};
        if (col + lane < cols)
            for (int block = 0; block < blocks; block++)
#pragma unroll
                for (int i = 0; i < DOWN; i++)
                    if (row + i < last)
                        sums[i] += cluster_read(
                            tile + tilemm__fused_tile(row + i, col + lane, S::BN), block);
#pragma unroll
        for (int i = 0; i < DOWN; i++)
            if (row + i < last && col + lane < cols)
                tile[tilemm__fused_tile(row + i, col + lane, S::BN)] = args.alpha * sums[i];
        __syncwarp();
        const int i = row + lane % DOWN;
        for (int j = col + lane / DOWN; j < min(col + ACROSS, cols); j += 32 / DOWN)
            if (i < last && is_stored(i, j))
                epilogue_store(c + j * args.ldc + i, tile[tilemm__fused_tile(i, j, S::BN)], 1.0f,
                               args.beta);
    }
}

/* The rows from `first` to `last` of a cluster's tile that this block adds up. */
typedef struct {
    int first, last;
} share_t;

template <typename S>
static __device__ __forceinline__ share_t share_of(const fused_t &problem, const place_t &place)
{
    const int blocks = (int)problem.splits;
    const int rows = (int)min((int64_t)S::BM, problem.args.m - place.m);
    const int share = (rows + blocks - 1) / blocks, first = (int)place.split * share;
    return {first, min(rows, first + share)};
}

/* The blocks of a cluster, which have met, have one tile, each a split of its k: add up, each some
 * rows. */
template <typename S, typename CHOICE>
static __device__ __forceinline__ void add_up(shared_t<S> &shared, const fused_t &problem,
                                              const place_t &place, const CHOICE &is_stored)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const int blocks = (int)problem.splits;
    const int cols = (int)min((int64_t)S::BN, args.n - place.n);
    const share_t share = share_of<S>(problem, place);
    const int first = share.first, last = share.last;
    float *const tile = tile_of(shared);
    float *const c =
        (args.c_array ? args.c_array[place.matrix] : args.c + place.matrix * args.stride_c) +
        (S::TRANSPOSED ? place.n * args.ldc + place.m : place.m * args.ldc + place.n);
    if (S::TRANSPOSED)
        add_up_columns<S>(tile, c, first, last, cols, blocks, args, is_stored);
    else /* neighbouring threads store neighbours in memory */
        for (int at = first * S::BN + (int)threadIdx.x; at < last * S::BN; at += S::LASTING) {
            const int i = at / S::BN, j = at % S::BN;
            float sum = 0.0f;
            if (j >= cols || !is_stored(i, j))
                continue;
#pragma unroll 4
            for (int block = 0; block < blocks; block++)
                sum += cluster_read(tile + tilemm__fused_tile(i, j, S::BN), block);
            epilogue_store(c + i * args.ldc + j, sum, args.alpha, args.beta);
        }
    cluster_sync(); /* nobody leaves while another may still read from it */
}

#endif
