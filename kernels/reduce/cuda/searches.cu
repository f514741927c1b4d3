/* searches.cu - the largest or smallest elements of vectors, contiguous or with any stride.
 *
 * Assumes: compute capability 7.5 or later; floats are aligned to 4 bytes; sizes and strides within
 * 64 bits; partial results as reduce.h lays them out.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "search.cuh"

/* Blocks of SEARCH_TILES that should fit on a multiprocessor together: a bound on registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { RESIDENT = 2 };
#else
enum { RESIDENT = 4 };
#endif

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
    if (vector < args.count && tile == whole) { /* the fringe past the last whole tile */
        for (int64_t i = whole * TILE + lane; i < args.n; i += LANES, x += row) {
            const int32_t key = tilemm__key_of(order, __float_as_uint(__ldg(x)));
            if (key > best) {
                best = key;
                place = i;
            }
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

/* A key and its place in the tile as one number, which is larger for the larger key and, of equal
 * keys, for the lower place. */
DEVICE int64_t rank_of(int32_t key, int place)
{
    return (int64_t)key * ((int64_t)1 << 32) + (TILE - place);
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
        for (int j = 0; j < V; j++) {
            float *mine = v + j * ROWS;
#pragma unroll
            for (int r = 1; r < ROWS; r++) /* what lies past the end must not win */
                mine[r] = r * LANES + lane < length ? mine[r] : mine[0];
            const float most = args.nan_ignore ? largest<1, ROWS>(mine) : largest<0, ROWS>(mine);
            const int32_t key = lane < length ? key_of_mapped(order, most) : TILEMM__KEY_NONE;
            rank[j] = rank_of(key, first_of<ROWS>(mine, most) * LANES + lane);
        }
        rank[0] = fold<V, LARGEST>(rank, lane);
        if (lane % (LANES / V) == 0 && vector < args.count)
            put_key(&args, &to, vector, vector, (int32_t)(rank[0] >> 32),
                    first_index + TILE - (int32_t)rank[0]);
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
    __shared__ block_room_t room;
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
