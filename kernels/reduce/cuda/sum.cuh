/* sum.cuh - sums of a tile by a warp, of a span of tiles by a block, and of the levels above.
 *
 * Assumes what warp.cuh does. To add +0 changes no sum: sums begin at +0 and so never are -0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CUDA_SUM_CUH
#define TILEMM_KERNELS_REDUCE_CUDA_SUM_CUH

#include "warp.cuh"

/* ---- exact sums ------------------------------------------------------------------------- */

/* How far apart the magnitudes of floats are. If their exponents differ by at most SPAN, they are
 * multiples of one number, and FP64 holds any sum of up to 2^(53 - 24 - SPAN) of them exactly: one
 * addition does where otherwise seven are needed. NaN and Inf may give any result here, because the
 * rounding error of a sum that is not finite is not used. */
typedef struct {
    float most;
    unsigned least; /* the largest of 0 - 2 * bits; a zero gives 0 and does not count */
} reach_t;

template <int N>
DEVICE void reach_further(const float *v, reach_t *reach)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        reach->most = fmaxf(reach->most, fabsf(v[i]));
        reach->least = max(reach->least, 0u - 2 * __float_as_uint(v[i]));
    }
}

template <int SPAN>
DEVICE bool is_within(reach_t reach)
{
    return (int)(__float_as_uint(reach.most) >> 23) - (int)(~reach.least >> 24) <= SPAN;
}

/* That of all lanes. */
DEVICE reach_t reach_of_lanes(reach_t reach, int lane)
{
#if __CUDA_ARCH__ >= 800
    return {__uint_as_float(__reduce_max_sync(FULL_WARP, __float_as_uint(reach.most))),
            __reduce_max_sync(FULL_WARP, reach.least)};
#else
    return {fold<1, LARGEST>(&reach.most, lane), fold<1, LARGEST>(&reach.least, lane)};
#endif
}

/* Add N floats: number i to sum[i / EACH % SUMS]. BEGIN: the first of each sum starts it, with one
 * addition of +0 that makes +0 of -0. */
template <int N, int EACH, int SUMS, int BEGIN, int SQUARES>
DEVICE void add_terms(const float *v, sum_t *sum)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        const double term = SQUARES ? (double)v[i] * v[i] : (double)v[i];
        if (BEGIN && i % EACH == 0 && i / EACH < SUMS)
            sum[i / EACH] = {term + 0.0, 0.0};
        else
            sum[i / EACH % SUMS] = tilemm__sum_add(sum[i / EACH % SUMS], term);
    }
}

DEVICE int is_squares(int op)
{
    return op == TILEMM__SUMSQ || op == TILEMM__NRM2;
}

/* The floats as the operation adds them, except that squares are not yet taken. */
template <int N>
DEVICE void ready_floats(int op, int nan_ignore, float *v)
{
    if (nan_ignore) {
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = v[i] == v[i] ? v[i] : 0.0f;
    }
    if (op == TILEMM__ASUM) {
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = fabsf(v[i]);
    }
}

template <int N, int EACH, int SUMS, int BEGIN>
DEVICE void add_floats(int op, int nan_ignore, float *v, sum_t *sum)
{
    ready_floats<N>(op, nan_ignore, v);
    if (is_squares(op))
        add_terms<N, EACH, SUMS, BEGIN, 1>(v, sum);
    else
        add_terms<N, EACH, SUMS, BEGIN, 0>(v, sum);
}

/* Keep the compiler from holding values that one branch derived from v for the other branch: the
 * registers do not suffice. */
template <int N>
DEVICE void forget(float *v)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(v[i]));
}

/* The sum of V vectors of ROWS rows if no addition rounds: each lane gets the sum of vector
 * lane / (32 / V). Otherwise returns false. */
template <int V, int ROWS>
DEVICE bool sum_exactly(float *v, int lane, sum_t *sum)
{
    enum { SPAN = 53 - 24 - 10 }; /* of up to 2^10 elements */
    static_assert(ROWS * LANES <= 1 << 10, "elements");
    reach_t reach = {};
    double exact[V];
    reach_further<V * ROWS>(v, &reach);
    if (!is_within<SPAN>(reach_of_lanes(reach, lane))) {
        forget<V * ROWS>(v);
        return false;
    }
#pragma unroll
    for (int i = 0; i < V * ROWS; i++)
        exact[i / ROWS] = (i % ROWS == 0 ? 0.0 : exact[i / ROWS]) + v[i];
    *sum = {fold<V>(exact, lane), 0.0};
    return true;
}

/* 32 vectors of a row each, vector j in v[j]: lane j gets the sum of vector j. The first step
 * exchanges floats, which take a quarter of the registers. */
template <int SQUARES>
DEVICE sum_t fold_rows(const float *v, int lane)
{
    enum { HALF = LANES / 2 };
    sum_t sum[HALF];
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        const double keep = lane & HALF ? v[i + HALF] : v[i];
        const double other = __shfl_xor_sync(FULL_WARP, lane & HALF ? v[i] : v[i + HALF], HALF);
        sum[i] = join({(SQUARES ? keep * keep : keep) + 0.0, 0.0},
                      {(SQUARES ? other * other : other) + 0.0, 0.0});
    }
    return fold<LANES, ADD, HALF / 2>(sum, lane);
}

DEVICE sum_t sum_rows(int op, int nan_ignore, float *v, int lane)
{
    ready_floats<LANES>(op, nan_ignore, v);
    return is_squares(op) ? fold_rows<1>(v, lane) : fold_rows<0>(v, lane);
}

/* The NaN among ROWS rows of V vectors; each lane gets the number of vector lane / (32 / V). */
template <int V, int ROWS>
DEVICE int count_nans(const float *v, int lane)
{
    int mine = 0;
#pragma unroll
    for (int j = 0; j < V; j++) {
        int found = 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            found += __popc(__ballot_sync(FULL_WARP, v[j * ROWS + r] != v[j * ROWS + r]));
        mine = lane / (LANES / V) == j ? found : mine;
    }
    return mine;
}

/* ---- a tile by a warp: every lane gets the sum ------------------------------------------ */

/* The sum of `length` floats, ROWS rows at a time. *nans grows by the number of NaN, if they are
 * counted. */
template <int DOT, int ROWS>
DEVICE sum_t sum_tile(int op, int nan_ignore, const float *x, int64_t istride, const float *y,
                      int64_t y_istride, int length, int lane, int *nans)
{
    sum_t sum = no_sum();
#pragma unroll 1
    for (int first = 0; first < length; first += ROWS * LANES) {
        float v[ROWS];
        load_rows<1, ROWS, true>(x + first * istride, istride, 0, length - first, 1, 0.0f, lane, v);
        if (DOT) {
            float w[ROWS];
            load_rows<1, ROWS, true>(y + first * y_istride, y_istride, 0, length - first, 1, 0.0f,
                                     lane, w);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                sum = tilemm__sum_add(sum, tilemm__sum_term(TILEMM__DOT, nan_ignore, v[r], w[r]));
        } else {
            if (tilemm__sum_is_counted(op, nan_ignore))
                *nans += count_nans<1, ROWS>(v, lane);
            if (ROWS == TILEMM__TILE_ROWS && !is_squares(op)) {
                ready_floats<ROWS>(op, nan_ignore, v);
                if (sum_exactly<1, ROWS>(v, lane, &sum))
                    return sum;
            }
            add_floats<ROWS, 1, 1, 0>(op, nan_ignore, v, &sum);
        }
    }
    return fold_sum(sum, lane);
}

/* The sum of up to 1024 partial sums: rows of 32 are folded, ROWS at a time, then the rows' sums.
 */
template <int ROWS>
DEVICE sum_t sum_of_sums(const sum_t *sums, int length, int lane)
{
    sum_t row = no_sum(); /* lane r: that of row r */
#pragma unroll 1
    for (int first = 0; first < length; first += ROWS * LANES) {
        sum_t v[ROWS];
        load_rows<1, ROWS, true>(sums + first, 1, 0, length - first, 1, no_sum(), lane, v);
        const sum_t mine = fold<ROWS>(v, lane); /* row r in lane r * (32 / ROWS) */
        const sum_t here = {__shfl_sync(FULL_WARP, mine.sum, lane % ROWS * (LANES / ROWS)),
                            __shfl_sync(FULL_WARP, mine.lost, lane % ROWS * (LANES / ROWS))};
        row = lane / ROWS == first / (ROWS * LANES) ? here : row;
    }
    return fold_sum(row, lane);
}

/* ---- levels above tiles ----------------------------------------------------------------- */

/* Where one warp gets the sums of tiles, or of spans, one after the other. A level holds up to 32
 * of them in the warp's lanes; when it is full they are folded and their sum goes one level up. */
enum { LEVELS = 11 }; /* for 32^11 values */

typedef struct {
    sum_t lane[LEVELS];
} levels_t;

DEVICE void levels_begin(levels_t *levels)
{
#pragma unroll 1
    for (int k = 0; k < LEVELS; k++)
        levels->lane[k] = no_sum();
}

/* Add value number `place`, counted from 0, of level k. */
DEVICE void levels_add(levels_t *levels, int k, int64_t place, sum_t value, int lane)
{
#pragma unroll 1
    for (; k < LEVELS; k++) {
        if (lane == (int)(place % LANES))
            levels->lane[k] = value;
        if (place % LANES != LANES - 1)
            break;
        value = fold_sum(levels->lane[k], lane);
        levels->lane[k] = no_sum();
        place /= LANES;
    }
}

/* The sum of all `number` > 0 values of level 0. */
DEVICE sum_t levels_end(levels_t *levels, int64_t number, int lane)
{
    int k = 0;
#pragma unroll 1
    for (; number > LANES; k++) { /* an incomplete level goes up */
        if (number % LANES != 0)
            levels_add(levels, k + 1, number / LANES, fold_sum(levels->lane[k], lane), lane);
        number = tilemm__fold_count(number);
    }
    return fold_sum(levels->lane[number == LANES ? k + 1 : k], lane); /* 32 went up at once */
}

/* ---- a span of tiles by a block --------------------------------------------------------- */

/* Fold the `number` sums in room->sums and, if `counted`, add up the warps' counts; thread 0 gets
 * the results. */
DEVICE sum_t block_fold_sum(block_room_t *room, int number, int counted, int64_t *count, int lane,
                            int warp)
{
    const int groups = (number - 1) / LANES + 1, warps = blockDim.x / LANES;
    sum_t sum = no_sum();
    if (counted && lane == 0)
        room->counts[warp] = *count;
    __syncthreads();
    for (int group = warp; group < groups; group += warps) {
        const int i = group * LANES + lane;
        sum = fold_sum(i < number ? room->sums[i] : no_sum(), lane);
        if (lane == 0)
            room->folded[group] = sum;
    }
    if (groups > 1) {
        __syncthreads();
        if (warp == 0)
            sum = fold_sum(lane < groups ? room->folded[lane] : no_sum(), lane);
    }
    if (counted && warp == 0) {
        *count = lane < warps ? room->counts[lane] : 0;
        *count = fold<1>(count, lane);
    }
    return sum;
}

/* The sum of `length` <= 2^20 floats and, if they are counted, the number that are not NaN, for
 * thread 0. */
template <int DOT>
DEVICE sum_t block_sum(int op, int nan_ignore, const float *x, int64_t istride, const float *y,
                       int64_t y_istride, int length, block_room_t *room, int64_t *count)
{
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    *count = 0;
    __syncthreads(); /* the room may be in use */
#pragma unroll 1
    for (int tile = warp; tile * TILE < length; tile += warps) {
        const int start = tile * TILE, here = clip(length - start, TILE);
        int nans = 0;
        const sum_t sum = sum_tile<DOT, 8>(op, nan_ignore, x + start * istride, istride,
                                           y + start * y_istride, y_istride, here, lane, &nans);
        if (lane == 0)
            room->sums[tile] = sum;
        *count += here - nans;
    }
    return block_fold_sum(room, (length - 1) / TILE + 1, tilemm__sum_is_counted(op, nan_ignore),
                          count, lane, warp);
}

/* ---- results: one thread calls ---------------------------------------------------------- */

/* Store partial result number `slot`, or the result of vector `vector` if `to` is none. */
DEVICE void put_sum(const args_t *args, const partials_t *to, int64_t slot, int64_t vector,
                    sum_t sum, int64_t count)
{
    const int counted = tilemm__sum_is_counted(args->op, args->nan_ignore);
    if (to->sums) {
        to->sums[slot] = sum;
        if (counted)
            to->counts[slot] = count;
    } else {
        args->out[vector * args->out_stride] =
            tilemm__sum_result(args->op, sum, counted ? count : args->n);
    }
}

DEVICE void store_sum(const args_t *args, int64_t vector, sum_t sum, int64_t count)
{
    const partials_t none = {};
    put_sum(args, &none, 0, vector, sum, count);
}

#endif
