/* searches.cu - the largest or smallest elements of vectors, contiguous or with any stride.
 *
 * Assumes: compute capability 7.5 or later; floats are aligned to 4 bytes; sizes and strides within
 * 64 bits; partial results as reduce.h lays them out.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/launch.cuh"
#include "search.cuh"

/* Blocks of SEARCH_TILES that should fit on a multiprocessor together: a bound on registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { RESIDENT = 2 };
#else
enum { RESIDENT = ROOM_FOR(4) };
#endif

/* A key and its place, below PLACES, as one number, which is larger for the larger key and, of
 * equal keys, for the lower place. */
enum { CLUSTER = TILEMM__REDUCE_CLUSTER, PLACES = CLUSTER * WARPS * TILE };

DEVICE int64_t rank_of(int32_t key, int place)
{
    return (int64_t)key * ((int64_t)1 << 32) + (PLACES - place);
}

DEVICE int32_t key_of_rank(int64_t rank)
{
    return (int32_t)(rank >> 32);
}

DEVICE int place_of_rank(int64_t rank)
{
    return PLACES - (int32_t)rank;
}

/* The rank of the best of a lane's ROWS mapped floats, of rows of `length` elements whose first has
 * place `first`. */
template <int ROWS>
DEVICE int64_t rank_of_rows(const args_t &args, order_t order, float *v, int first, int length,
                            int lane)
{
#pragma unroll
    for (int r = 1; r < ROWS; r++) /* what lies past the end must not win */
        v[r] = r * LANES + lane < length ? v[r] : v[0];
    const float most = args.nan_ignore ? largest<1, ROWS>(v) : largest<0, ROWS>(v);
    const int32_t key = lane < length ? key_of_mapped(order, most) : TILEMM__KEY_NONE;
    return rank_of(key, first + first_of<ROWS>(v, most) * LANES + lane);
}

/* The best of a tile of `length` elements whose first has place `first`, all loads in flight
 * together. Every lane gets its rank. */
DEVICE int64_t search_at_once(const args_t &args, const float *x, int first, int length, int lane)
{
    enum { ROWS = TILEMM__TILE_ROWS };
    const order_t order = tilemm__order_of(args.op, args.nan_ignore);
    float v[ROWS];
    load_rows<1, ROWS, false>(x, args.istride, 0, length, 1, 0.0f, lane, v);
    map_to_largest<ROWS>(order, v);
    int64_t rank = rank_of_rows<ROWS>(args, order, v, first, length, lane);
    return fold<1, LARGEST>(&rank, lane);
}

/* `items * warps` warps take a vector's tiles in turns: the order does not matter to a search. Each
 * lane keeps its best key and its place. While a tile is searched, eight rows at a time, the next
 * rows are loaded. An item's warps leave one result. Assumes a grid that is large enough. */
template <int IGNORE>
DEVICE void search_tiles(args_t args, int warps, int64_t items, int64_t first_index, partials_t to)
{
    enum { HELD = 16, STEP = 8 };
    __shared__ int32_t keys[WARPS];
    __shared__ int64_t places[WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, member = warp % warps;
    const int64_t item = (int64_t)blockIdx.x * (WARPS / warps) + warp / warps;
    const int64_t vector = vector_of(&args, item, items), row = LANES * args.istride;
    const int64_t whole = vector < args.count ? args.n / TILE : 0, hop = items * warps;
    const order_t order = tilemm__order_of(args.op, args.nan_ignore);
    int64_t tile = (item - vector * items) * warps + member, place = 0;
    const float *x =
        args.x + vector * args.vstride + tile * TILE * args.istride + lane * args.istride;
    int32_t best = TILEMM__KEY_NONE;
    float v[HELD];
    let_next_start();
    wait_for_previous();
    if (tile < whole) {
#pragma unroll
        for (int r = 0; r < HELD; r++)
            v[r] = __ldg(x + r * row);
    }
#pragma unroll 1
    for (; tile < whole; tile += hop) {
#pragma unroll
        for (int r = 0; r < TILEMM__TILE_ROWS; r += STEP) {
            float *mine = v + r % HELD;
            map_to_largest<STEP>(order, mine);
            const float most = largest<IGNORE, STEP>(mine);
            const int32_t key = key_of_mapped(order, most);
            if (key > best) {
                best = key;
                if (args.index_out)
                    place = tile * TILE + (r + first_of<STEP>(mine, most)) * LANES + lane;
            }
            if (r + HELD == TILEMM__TILE_ROWS)
                x += hop * TILE * args.istride;
            if (r + HELD < TILEMM__TILE_ROWS || tile + hop < whole) {
                const int ahead = (r + HELD) % TILEMM__TILE_ROWS;
#pragma unroll
                for (int k = 0; k < STEP; k++)
                    mine[k] = __ldg(x + (ahead + k) * row);
            }
        }
    }
    if (vector < args.count && tile == whole && whole * TILE < args.n) { /* the fringe */
        const int64_t rank =
            search_at_once(args, x - lane * args.istride, 0, (int)(args.n - whole * TILE), lane);
        if (key_of_rank(rank) > best) {
            best = key_of_rank(rank);
            place = whole * TILE + place_of_rank(rank);
        }
    }
    fold_best(&best, &place);
    if (warps > 1) {
        if (lane == 0) {
            keys[warp] = best;
            places[warp] = place;
        }
        __syncthreads();
        if (member != 0)
            return;
        best = lane < warps ? keys[warp + lane] : TILEMM__KEY_NONE;
        place = lane < warps ? places[warp + lane] : 0;
        fold_best(&best, &place);
    }
    if (lane == 0 && vector < args.count)
        put_key(&args, &to, item, vector, best, first_index + place);
}

#define KERNEL_SEARCH_TILES(name, ignore)                                                          \
    KERNEL_OF(name, (THREADS, RESIDENT),                                                           \
              (args_t args, int warps, int64_t items, int64_t first_index, partials_t to),         \
              search_tiles<ignore>(args, warps, items, first_index, to))

/* A warp takes a tile; a block leaves one result. Assumes a grid of the exact size. */
#define KERNEL_SEARCH_HELD(...) /* there is one only: */
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    reduce_search_held_sm75_32x32(args_t args, int64_t items, partials_t to)
{
    __shared__ int64_t ranks[WARPS];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int64_t item = blockIdx.x, vector = vector_of(&args, item, items);
    const int64_t first = (item - vector * items) * WARPS * TILE, start = first + warp * TILE;
    const int length = start < args.n ? clip(args.n - start, TILE) : 0;
    let_next_start();
    wait_for_previous();
    int64_t rank = search_at_once(args, args.x + vector * args.vstride + start * args.istride,
                                  warp * TILE, length, lane);
    if (lane == 0)
        ranks[warp] = rank;
    __syncthreads();
    if (warp == 0) {
        rank = ranks[lane % WARPS];
        rank = fold<1, LARGEST, WARPS / 2>(&rank, lane);
        if (lane == 0)
            put_key(&args, &to, item, vector, key_of_rank(rank), first + place_of_rank(rank));
    }
}

/* A cluster takes a vector of up to 64 tiles, a warp a tile. Each warp sends what it finds to the
 * first block, whose first warp takes the best. */
#define KERNEL_SEARCH_CLUSTER(...) /* there is one only: */
static __global__ void __launch_bounds__(THREADS) reduce_search_cluster_sm90_32x32(args_t args)
{
    static_assert(CLUSTER * WARPS == 2 * LANES, "two rows");
    __shared__ int64_t ranks[CLUSTER * WARPS];
    __shared__ uint64_t mail;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, member = blockIdx.x % CLUSTER;
    const int64_t vector = blockIdx.x / CLUSTER;
    const int tiles = (int)tilemm__tile_count(args.n), tile = warp * CLUSTER + member;
    const int start = tile * TILE, length = tile < tiles ? clip(args.n - start, TILE) : 0;
    if (member == 0 && threadIdx.x == 0)
        mail_expect(&mail, tiles * (int)sizeof *ranks);
    cluster_arrive();
    let_next_start();
    wait_for_previous();
    int64_t rank = search_at_once(args, args.x + vector * args.vstride + start * args.istride,
                                  start, length, lane);
    cluster_wait(); /* the first block is there and has its mail box */
    if (lane == 0 && tile < tiles)
        mail_push(&mail, &ranks[tile], rank);
    if (member == 0 && warp == 0) {
        mail_wait(&mail);
        rank = max(ranks[min(lane, tiles - 1)], ranks[min(lane + LANES, tiles - 1)]);
        rank = fold<1, LARGEST>(&rank, lane);
        if (lane == 0)
            store_key(&args, vector, key_of_rank(rank), place_of_rank(rank));
    }
}

/* A warp takes V vectors of up to 1024 / V elements. */
template <int V>
DEVICE void search_short(args_t args, int64_t first_index, partials_t to)
{
    enum { ROWS = TILE / LANES / V };
    const int lane = threadIdx.x % LANES;
    const order_t order = tilemm__order_of(args.op, args.nan_ignore);
    for (int64_t first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / LANES) * V;
         first < args.count; first += (int64_t)gridDim.x * WARPS * V) {
        const int64_t vector = first + lane / (LANES / V);
        const int vectors = clip(args.count - first, V), length = (int)args.n;
        float v[V * ROWS];
        int64_t rank[V];
        load_rows<V, ROWS, false>(args.x + first * args.vstride, args.istride, args.vstride, length,
                                  vectors, 0.0f, lane, v);
        map_to_largest<V * ROWS>(order, v);
#pragma unroll
        for (int j = 0; j < V; j++)
            rank[j] = rank_of_rows<ROWS>(args, order, v + j * ROWS, 0, length, lane);
        rank[0] = fold<V, LARGEST>(rank, lane);
        if (lane % (LANES / V) == 0 && vector < args.count)
            put_key(&args, &to, vector, vector, key_of_rank(rank[0]),
                    first_index + place_of_rank(rank[0]));
    }
}

#define KERNEL_SEARCH_SHORT(name, vectors)                                                         \
    KERNEL_OF(name, (THREADS), (args_t args, int64_t first_index, partials_t to),                  \
              search_short<vectors>(args, first_index, to))

/* A block takes a vector. */
#define KERNEL_SEARCH_BLOCK(...) /* there is one only: */
static __global__ void __launch_bounds__(BLOCK_WARPS *LANES)
    reduce_search_block_sm75_8x32(args_t args)
{
    __shared__ search_room_t room;
    const order_t order = tilemm__order_of(args.op, args.nan_ignore);
    for (int64_t vector = blockIdx.x; vector < args.count; vector += gridDim.x) {
        int64_t place;
        const int32_t key = block_search(order, args.x + vector * args.vstride, args.istride,
                                         args.n, args.index_out != NULL, &room, &place);
        if (threadIdx.x == 0)
            store_key(&args, vector, key, place);
    }
}

DEFINE_KERNELS(TILEMM__REDUCE_SEARCHES, tilemm__reduce_search_kernel)
