/* columns.cu - reductions down the rows of a matrix: vectors whose first elements are contiguous.
 *
 * Assumes: vstride is 1; compute capability 7.5 or later; floats are aligned to 4 bytes.
 *
 * Mostly a block takes a tile of each of 32 columns. A thread has one column, so that each load of
 * a warp is a row of 32 contiguous elements, and some of the tile's 32 lanes. Warp 0 folds what the
 * warps leave in shared memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "search.cuh"
#include "sum.cuh"

enum { COLS = TILEMM__DOWN_COLS };

/* The tile and the columns of a block; consecutive blocks take consecutive columns. */
typedef struct {
    int64_t vector; /* of this thread */
    int64_t tile;
    int length; /* of the tile */
    int own;    /* of it, from this thread's first lane on; 0 or less if there is none */
    const float *x;
} place_t;

DEVICE place_t place_of(const args_t *args, int64_t block, int64_t columns, int lane)
{
    const int64_t tile = block / columns, start = tile * TILE;
    const int64_t vector = (block - tile * columns) * COLS + threadIdx.x % COLS;
    const int length = clip(args->n - start, TILE);
    return {vector, tile, length, vector < args->count ? length - lane : 0,
            args->x + vector + (start + lane) * args->istride};
}

/* The slot of a partial result: see tilemm__partials_t. If they are transposed, a warp writes whole
 * lines. */
DEVICE int64_t slot_of(int64_t vector, int64_t tile, int64_t tiles, int64_t vectors, int transposed)
{
    return transposed ? tile * vectors + vector : vector * tiles + tile;
}

/* Load ROWS rows of the tile: row r of lane `from` + APART * k, counted from the thread's first
 * lane, is v[r * AT_ONCE + k]. Past the end it is 0. */
template <int APART, int AT_ONCE, int ROWS>
DEVICE void load_columns(const place_t *at, int64_t istride, int from, float *v)
{
    const float *p = at->x + from * istride;
    const int left = at->own - from;
    if (left > (ROWS - 1) * LANES + (AT_ONCE - 1) * APART) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                v[r * AT_ONCE + k] = __ldg(p + (r * LANES + k * APART) * istride);
        }
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                v[r * AT_ONCE + k] = r * LANES + k * APART < left
                                         ? __ldg(p + (r * LANES + k * APART) * istride)
                                         : 0.0f;
        }
    }
}

/* Fold EACH of a column's sums, `apart` lanes from one to the next, by halves. */
template <int EACH>
DEVICE sum_t fold_column(const sum_t *sums, int warp, int col, int apart)
{
    sum_t v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++)
        v[k] = sums[tilemm__down_index(warp + k * apart, col)];
    return fold_halves<EACH>(v);
}

template <int N>
DEVICE int nans_of(const float *v)
{
    int found = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        found += v[i] != v[i];
    return found;
}

/* The fold by halves of lanes K, K + APART, K + 2 * APART and so on of LANES_HELD, of ROWS rows
 * each: the last step joins the even lanes' sum and the odd lanes'. v is load_columns()'s. */
template <int LANES_HELD, int ROWS, int SQUARES, int APART = 1, int K = 0>
DEVICE sum_t fold_held(const float *v)
{
    if constexpr (APART < LANES_HELD) {
        const sum_t even = fold_held<LANES_HELD, ROWS, SQUARES, 2 * APART, K>(v);
        return join(even, fold_held<LANES_HELD, ROWS, SQUARES, 2 * APART, K + APART>(v));
    } else {
        sum_t sum;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const double x = v[r * LANES_HELD + K], term = SQUARES ? x * x : x;
            sum = r == 0 ? sum_t{term + 0.0, 0.0} : tilemm__sum_add(sum, term);
        }
        return sum;
    }
}

/* The same if no addition rounds: in any order. */
template <int N>
DEVICE sum_t add_exactly(const float *v)
{
    double sum = 0.0;
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += v[i];
    return {sum, 0.0};
}

/* The sum of a thread's numbers, AT_ONCE lanes of ROWS rows as load_columns() has them. */
template <int AT_ONCE, int ROWS>
DEVICE sum_t sum_held(const args_t &args, float *v)
{
    enum { N = AT_ONCE * ROWS, SPAN = 53 - 24 - 5 }; /* of 2^5 elements at most */
    static_assert(N <= 1 << 5, "no sum of them rounds");
    reach_t reach = {};
    ready_floats<N>(args.op, args.nan_ignore, v);
    reach_further<N>(v, &reach);
    if (!is_squares(args.op) && __all_sync(FULL_WARP, is_within<SPAN>(reach)))
        return add_exactly<N>(v);
    forget<N>(v);
    return is_squares(args.op) ? fold_held<AT_ONCE, ROWS, 1>(v) : fold_held<AT_ONCE, ROWS, 0>(v);
}

/* Of a column's 32 sums, fold every fourth from number `part` on, in place. */
DEVICE void fold_eight(sum_t *sums, int part, int col)
{
    sums[tilemm__down_index(part, col)] = fold_column<8>(sums, part, col, 4);
}

/* The sum of a column's WARPS sums, at tilemm__down_index(warp, col), for warp 0. */
template <int WARPS>
DEVICE sum_t fold_block(sum_t *sums, int warp, int col)
{
    __syncthreads();
    if (WARPS == 32) {
        if (warp < 4)
            fold_eight(sums, warp, col);
        __syncthreads();
    }
    return warp == 0 ? fold_column < WARPS == 32 ? 4 : WARPS > (sums, 0, col, 1) : no_sum();
}

/* What each warp of a block has of a tile. */
template <int WARPS>
struct shares_t {
    sum_t sums[WARPS * COLS];
    int nans[WARPS * COLS];
};

/* Leave the sums of a thread's lanes of a tile, which are APART, and its NaN if they are counted.
 * ROWS rows at a time, in the order of memory. */
template <int WARPS, int ROWS, int APART>
DEVICE void sum_lanes(const args_t &args, const place_t &at, int warp, int col,
                      shares_t<WARPS> &shares)
{
    enum { EACH = LANES / APART, HELD = ROWS * EACH };
    enum { SPAN = 53 - 24 - (EACH == 1 ? 5 : 7) }; /* of 2^5 elements for each lane */
    static_assert(EACH == 1 || EACH == 4, "lanes of a thread");
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    reach_t reach = {};
    sum_t sum[EACH];
    int found = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        sum[k] = no_sum();
#pragma unroll 1
    for (int first = 0; first * LANES < at.length; first += ROWS) {
        float v[HELD];
        load_columns<APART, EACH, ROWS>(&at, args.istride, first * LANES, v);
        if (counted)
            found += nans_of<HELD>(v);
        ready_floats<HELD>(args.op, args.nan_ignore, v);
        reach_further<HELD>(v, &reach);
        if (!is_squares(args.op) && __all_sync(FULL_WARP, is_within<SPAN>(reach))) {
#pragma unroll
            for (int i = 0; i < HELD; i++)
                sum[i % EACH].sum += v[i];
        } else {
            forget<HELD>(v);
            add_floats<HELD, 1, EACH, 0>(args.op, args.nan_ignore, v, sum);
        }
    }
    shares.sums[tilemm__down_index(warp, col)] = fold_halves<EACH>(sum);
    shares.nans[tilemm__down_index(warp, col)] = found;
}

/* The NaN of a column. */
template <int WARPS>
DEVICE int nans_of_column(const shares_t<WARPS> &shares, int col)
{
    int found = 0;
    for (int w = 0; w < WARPS; w++)
        found += shares.nans[tilemm__down_index(w, col)];
    return found;
}

/* With SPLITS > 1 a block has every SPLITS-th lane of the tile and leaves one split. Assumes a grid
 * of the exact size. */
template <int WARPS, int ROWS, int SPLITS>
DEVICE void sum_columns(args_t args, int64_t tiles, int64_t columns, int transposed, partials_t to)
{
    __shared__ shares_t<WARPS> shares;
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS, split = blockIdx.x % SPLITS;
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    const place_t at = place_of(&args, blockIdx.x / SPLITS, columns, warp * SPLITS + split);
    let_next_start();
    wait_for_previous();
    sum_lanes<WARPS, ROWS, WARPS * SPLITS>(args, at, warp, col, shares);
    const sum_t sum = fold_block<WARPS>(shares.sums, warp, col);
    if (warp == 0 && at.vector < args.count) {
        /* Computed again: no register is free to keep it. */
        const int tile = blockIdx.x / SPLITS / (unsigned)columns;
        /* The split has every SPLITS-th element of the tile. */
        put_sum(&args, &to,
                SPLITS == 1 ? slot_of(at.vector, tile, tiles, args.count, transposed)
                            : (at.vector * SPLITS + split) * tiles + tile,
                at.vector, sum,
                (at.length - split + SPLITS - 1) / SPLITS -
                    (counted ? nans_of_column(shares, col) : 0));
    }
}

#define KERNEL_SUM_COLUMNS(name, warps, rows, resident, splits)                                    \
    KERNEL_OF(name, (warps * LANES, ROOM_FOR(resident)),                                           \
              (args_t args, int64_t tiles, int64_t columns, int transposed, partials_t to),        \
              sum_columns<warps, rows, splits>(args, tiles, columns, transposed, to))

/* Columns of two tiles: a block takes both, which saves a launch. */
template <int WARPS, int ROWS>
DEVICE void sum_two_tiles(args_t args, int64_t columns)
{
    static_assert(WARPS == 32, "four warps fold eight sums each of a tile");
    __shared__ shares_t<WARPS> shares[2];
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS;
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    place_t at = place_of(&args, blockIdx.x, columns, warp);
    let_next_start();
    wait_for_previous();
    sum_lanes<WARPS, ROWS, WARPS>(args, at, warp, col, shares[0]);
    at.length = (int)args.n - TILE;
    at.own += at.length - TILE;
    at.x += TILE * args.istride;
    sum_lanes<WARPS, ROWS, WARPS>(args, at, warp, col, shares[1]);
    __syncthreads();
    if (warp < 2 * 4)
        fold_eight(shares[warp / 4].sums, warp % 4, col);
    __syncthreads();
    if (warp == 0 && at.vector < args.count) {
        const int found =
            counted ? nans_of_column(shares[0], col) + nans_of_column(shares[1], col) : 0;
        store_sum(&args, at.vector,
                  join(fold_column<4>(shares[0].sums, 0, col, 1),
                       fold_column<4>(shares[1].sums, 0, col, 1)),
                  args.n - found);
    }
}

#define KERNEL_SUM_TWO_TILES(name, warps, rows)                                                    \
    KERNEL_OF(name, (warps * LANES), (args_t args, int64_t columns),                               \
              sum_two_tiles<warps, rows>(args, columns))

/* A block takes a tile of each of up to TILEMM__REDUCE_NARROW_COLS columns, and a thread AT_ONCE of
 * the lanes of one of them: a warp's loads are contiguous where rows are, however few columns there
 * are. Lanes are folded through shared memory, by as many threads as have loaded them. Assumes a
 * grid of the exact size. */
template <int AT_ONCE, int ROWS>
DEVICE void sum_narrow(args_t args, int64_t tiles, partials_t to)
{
    enum { WIDE = LANES / AT_ONCE, HELD = ROWS * AT_ONCE };
    enum { SPAN = 53 - 24 - 5 }; /* of 2^5 elements */
    extern __shared__ __align__(16) unsigned char storage[];
    const int cols = (int)args.count, pitch = cols | 1; /* odd: no bank conflicts */
    sum_t *sums = (sum_t *)storage;
    int *nans = (int *)(sums + WIDE * pitch);
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    const int lane = threadIdx.x / cols, col = threadIdx.x - lane * cols;
    const int64_t start = (int64_t)blockIdx.x * TILE;
    const int length = clip(args.n - start, TILE);
    const place_t at = {col, blockIdx.x, length, lane < WIDE ? length - lane : 0,
                        args.x + col + (start + lane) * args.istride};
    reach_t reach = {};
    int found = 0;
    sum_t sum[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        sum[k] = no_sum();
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int row = 0; row * LANES < length; row += ROWS) {
        float v[HELD];
        load_columns<WIDE, AT_ONCE, ROWS>(&at, args.istride, row * LANES, v);
        if (counted)
            found += nans_of<HELD>(v);
        ready_floats<HELD>(args.op, args.nan_ignore, v);
        reach_further<HELD>(v, &reach);
        if (!is_squares(args.op) && __all_sync(FULL_WARP, is_within<SPAN>(reach))) {
#pragma unroll
            for (int i = 0; i < HELD; i++)
                sum[i % AT_ONCE].sum += v[i];
        } else {
            forget<HELD>(v);
            add_floats<HELD, 1, AT_ONCE, 0>(args.op, args.nan_ignore, v, sum);
        }
    }
    /* Computed again: no register is free to keep it. */
    int thread = threadIdx.x;
    asm volatile("" : "+r"(thread));
    const int line = thread / cols, vector = thread / WIDE;
    if (line < WIDE) {
        sums[line * pitch + thread - line * cols] = fold_halves<AT_ONCE>(sum);
        nans[line * pitch + thread - line * cols] = found;
    }
    __syncthreads();
    sum[0] = vector < cols ? sums[thread % WIDE * pitch + vector] : no_sum();
#pragma unroll
    for (int half = WIDE / 2; half > 0; half /= 2)
        sum[0] = join(sum[0], from_lane(sum[0], half));
    if (thread % WIDE == 0 && vector < cols) {
        int count = clip(args.n - (int64_t)blockIdx.x * TILE, TILE);
        for (int i = 0; counted && i < WIDE; i++)
            count -= nans[i * pitch + vector];
        put_sum(&args, &to, vector * tiles + blockIdx.x, vector, sum[0], count);
    }
}

#define KERNEL_SUM_NARROW(name, at_once, rows)                                                     \
    KERNEL_OF(name, (TILEMM__REDUCE_NARROW_THREADS, 2),                                            \
              (args_t args, int64_t tiles, partials_t to),                                         \
              sum_narrow<at_once, rows>(args, tiles, to))

/* Columns of one tile of up to ROWS rows: a thread loads HELD elements at a time, of HELD / ROWS
 * lanes; it seldom waits, holds few sums and needs one barrier. Assumes a grid of the exact size.
 */
template <int WARPS, int ROWS>
DEVICE void sum_low_columns(args_t args, int64_t columns)
{
    enum { HELD = 32, AT_ONCE = HELD / ROWS, TURNS = LANES / WARPS / AT_ONCE };
    static_assert(TURNS * AT_ONCE * WARPS == LANES && TURNS <= 2, "lanes");
    __shared__ shares_t<WARPS> shares;
    __shared__ sum_t before[TURNS > 1 ? WARPS * COLS : 1]; /* each thread its own */
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS;
    const int mine = tilemm__down_index(warp, col);
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    const place_t at = place_of(&args, blockIdx.x, columns, warp);
    sum_t sum = no_sum();
    int found = 0;
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        float v[HELD]; /* of AT_ONCE lanes, TURNS * WARPS apart */
        load_columns<TURNS * WARPS, AT_ONCE, ROWS>(&at, args.istride, turn * WARPS, v);
        if (counted)
            found += nans_of<HELD>(v);
        sum = sum_held<AT_ONCE, ROWS>(args, v);
        if (turn > 0)
            sum = join(before[mine], sum);
        else if (TURNS > 1)
            before[mine] = sum;
    }
    shares.sums[mine] = sum;
    shares.nans[mine] = found;
    sum = fold_block<WARPS>(shares.sums, warp, col);
    if (warp == 0 && at.vector < args.count)
        store_sum(&args, at.vector, sum, at.length - (counted ? nans_of_column(shares, col) : 0));
}

#define KERNEL_SUM_LOW_COLUMNS(name, warps, rows, resident)                                        \
    KERNEL_OF(name, (warps * LANES, resident), (args_t args, int64_t columns),                     \
              sum_low_columns<warps, rows>(args, columns))

/* Call take(vector, v) with the elements v of each vector of up to ROWS elements, a thread with all
 * of one. What does not exist is 0. Few warps keep memory busy, and each takes time to begin: so
 * warps loop. */
template <int ROWS, typename TAKE>
DEVICE void for_few_rows(const args_t &args, TAKE take)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t step = (int64_t)gridDim.x * blockDim.x, lane = threadIdx.x % LANES;
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int64_t vector = thread; vector - lane < args.count; vector += step) {
        const int rows = vector < args.count ? (int)args.n : 0;
        const float *from = args.x + vector;
        float v[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            v[r] = r < rows ? __ldg(from) : 0.0f;
            from += args.istride;
        }
        take(vector, v);
    }
}

template <int ROWS>
DEVICE void sum_few_rows(args_t args)
{
    const int counted = tilemm__sum_is_counted(args.op, args.nan_ignore);
    for_few_rows<ROWS>(args, [&](int64_t vector, float *v) {
        const int found = counted ? nans_of<ROWS>(v) : 0;
        const sum_t sum = sum_held<ROWS, 1>(args, v);
        if (vector < args.count)
            store_sum(&args, vector, sum, args.n - found);
    });
}

#define KERNEL_SUM_FEW_ROWS(name, rows)                                                            \
    KERNEL_OF(name, (TILEMM__REDUCE_FEW_THREADS), (args_t args), sum_few_rows<rows>(args))

template <int ROWS, int IGNORE>
DEVICE void search_few_rows(args_t args)
{
    const order_t order = tilemm__order_of(args.op, args.nan_ignore);
    for_few_rows<ROWS>(args, [&](int64_t vector, float *v) {
#pragma unroll
        for (int r = 1; r < ROWS; r++)
            v[r] = r < args.n ? v[r] : v[0]; /* what does not exist must not win */
        map_to_largest<ROWS>(order, v);
        const float most = largest<IGNORE, ROWS>(v);
        if (vector < args.count)
            store_key(&args, vector, key_of_mapped(order, most), first_of<ROWS>(v, most));
    });
}

#define KERNEL_SEARCH_FEW_ROWS(name, rows, ignore)                                                 \
    KERNEL_OF(name, (TILEMM__REDUCE_FEW_THREADS), (args_t args),                                   \
              search_few_rows<rows, ignore>(args))

template <int WARPS, int ROWS, int IGNORE>
DEVICE void search_columns(args_t args, int64_t tiles, int64_t columns, int transposed,
                           int64_t first_index, partials_t to)
{
    enum { PER_THREAD = LANES / WARPS, NUMBER = ROWS * PER_THREAD };
    __shared__ int32_t keys[WARPS * COLS];
    __shared__ int places[WARPS * COLS];
    const int warp = threadIdx.x / LANES, col = threadIdx.x % COLS;
    const order_t order = tilemm__order_of(args.op, args.nan_ignore);
    const place_t at = place_of(&args, blockIdx.x, columns, warp);
    int32_t best = TILEMM__KEY_NONE;
    int place = 0;
    let_next_start();
    wait_for_previous();
#pragma unroll 1
    for (int first = 0; first * LANES < at.own; first += ROWS) {
        /* A row is a number of this loop; what lies past the end must not win. */
        const int rows = (at.own - first * LANES + WARPS - 1) / WARPS;
        float v[NUMBER];
        load_columns<WARPS, PER_THREAD, ROWS>(&at, args.istride, first * LANES, v);
        if (rows < NUMBER) {
#pragma unroll
            for (int i = 1; i < NUMBER; i++)
                v[i] = i < rows ? v[i] : v[0];
        }
        map_to_largest<NUMBER>(order, v);
        const float most = largest<IGNORE, NUMBER>(v);
        const int32_t key = key_of_mapped(order, most);
        if (key > best) {
            best = key;
            place = first * LANES + warp + first_of<NUMBER>(v, most) * WARPS;
        }
    }
    keys[tilemm__down_index(warp, col)] = best;
    places[tilemm__down_index(warp, col)] = place;
    __syncthreads();
    if (warp != 0)
        return;
#pragma unroll
    for (int w = 1; w < WARPS; w++) {
        const int other = tilemm__down_index(w, col);
        if (tilemm__key_wins(keys[other], places[other], best, place)) {
            best = keys[other];
            place = places[other];
        }
    }
    if (at.vector < args.count)
        put_key(&args, &to, slot_of(at.vector, at.tile, tiles, args.count, transposed), at.vector,
                best, first_index + at.tile * TILE + place);
}

#define KERNEL_SEARCH_COLUMNS(name, warps, rows, ignore, resident)                                 \
    KERNEL_OF(                                                                                     \
        name, (warps * LANES, ROOM_FOR(resident)),                                                 \
        (args_t args, int64_t tiles, int64_t columns, int transposed, int64_t first_index,         \
         partials_t to),                                                                           \
        search_columns<warps, rows, ignore>(args, tiles, columns, transposed, first_index, to))

DEFINE_KERNELS(TILEMM__REDUCE_COLUMNS, tilemm__reduce_column_kernel)
