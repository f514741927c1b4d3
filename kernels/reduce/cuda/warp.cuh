/* warp.cuh - the canonical tile in a warp: a lane of the tile is a lane of the warp, and
 * each row is one coalesced load.
 *
 * Assumes: whole warps call, all lanes together; compute capability 7.5 or later; no fast math.
 * Adding +0 to a sum changes nothing, for sums begin at +0 and so never are -0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_REDUCE_CUDA_WARP_CUH
#define TILEMM_KERNELS_REDUCE_CUDA_WARP_CUH

#include "kernels/reduce/ops.h"
#include "reduce.h"

#define FULL_WARP 0xffffffffu

enum {
    LANES = TILEMM__TILE_LANES,
    TILE = TILEMM__TILE_ELEMS,
    BLOCK_WARPS = 32, /* of a block that takes up to a span of tiles */
    SPAN_TILES = 1024,
    SPAN = TILE * SPAN_TILES
};

/* How many of `left` elements fit `room`. */
static __device__ __forceinline__ int clip(int64_t left, int room)
{
    return left < room ? (int)left : room;
}

/* ---- folding lanes by halves -------------------------------------------------------------- */

static __device__ __forceinline__ tilemm__sum_t no_sum(void)
{
    return {0.0, 0.0};
}

static __device__ __forceinline__ tilemm__sum_t join(tilemm__sum_t a, tilemm__sum_t b)
{
    return tilemm__sum_join(a, b);
}

static __device__ __forceinline__ int64_t join(int64_t a, int64_t b)
{
    return a + b;
}

static __device__ __forceinline__ double join(double a, double b) /* where nothing is lost */
{
    return a + b;
}

static __device__ __forceinline__ tilemm__sum_t from_lane(tilemm__sum_t value, int distance)
{
    return {__shfl_xor_sync(FULL_WARP, value.sum, distance),
            __shfl_xor_sync(FULL_WARP, value.lost, distance)};
}

template <typename T>
static __device__ __forceinline__ T from_lane(T value, int distance)
{
    return __shfl_xor_sync(FULL_WARP, value, distance);
}

/* V values for each lane, of V vectors; each lane gets the sum of vector lane / (32 / V). In a step
 * lanes that are `half` apart keep one half of the vectors each and give the other away, until
 * each has one: with one vector this is the fold of all lanes that a shuffle for each step does.
 * Both partners of a pair get the same bits, for join() does not mind the order of its two. */
template <int V, typename T, int FROM = LANES / 2>
static __device__ __forceinline__ T fold_sums(T *sum, int lane)
{
#pragma unroll
    for (int half = FROM; half > 0; half /= 2) {
        const int held = V * half / LANES;
        if (held > 0) {
#pragma unroll
            for (int i = 0; i < V / 2; i++) {
                if (i < held) {
                    const T keep = lane & half ? sum[i + held] : sum[i];
                    const T give = lane & half ? sum[i] : sum[i + held];
                    sum[i] = join(keep, from_lane(give, half));
                }
            }
        } else {
            sum[0] = join(sum[0], from_lane(sum[0], half));
        }
    }
    return sum[0];
}

/* The same for the largest. */
template <int V, typename T>
static __device__ __forceinline__ T fold_largest(T *value, int lane)
{
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2) {
        const int held = V * half / LANES;
        if (held > 0) {
#pragma unroll
            for (int i = 0; i < V / 2; i++) {
                if (i < held) {
                    const T keep = lane & half ? value[i + held] : value[i];
                    const T give = lane & half ? value[i] : value[i + held];
                    value[i] = max(keep, __shfl_xor_sync(FULL_WARP, give, half));
                }
            }
        } else {
            value[0] = max(value[0], __shfl_xor_sync(FULL_WARP, value[0], half));
        }
    }
    return value[0];
}

static __device__ __forceinline__ tilemm__sum_t fold_sum(tilemm__sum_t sum, int lane)
{
    return fold_sums<1>(&sum, lane);
}

static __device__ __forceinline__ tilemm__sum_t load(const tilemm__sum_t *p)
{
    const double2 v = __ldg((const double2 *)p);
    return {v.x, v.y};
}

template <typename T>
static __device__ __forceinline__ T load(const T *p)
{
    return __ldg(p);
}

/* What PARTS blocks have left of 32 numbers each that are folded: the last steps are to be done.
 * Part i of all items comes before part i + 1, `items` away. */
template <int PARTS>
static __device__ __forceinline__ tilemm__sum_t load_parts(const tilemm__sum_t *p, int64_t items)
{
    tilemm__sum_t part[PARTS];
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        part[i] = load(p + i * items);
    }
#pragma unroll
    for (int half = PARTS / 2; half > 0; half /= 2) {
#pragma unroll
        for (int i = 0; i < half; i++) {
            part[i] = join(part[i], part[i + half]);
        }
    }
    return part[0];
}

/* ---- rows of elements in registers ---------------------------------------------------------- */

/* ROWS rows of V vectors: element e of vector j is v[j * ROWS + e / 32] of lane e % 32. Past
 * `length` elements and `vectors` vectors it is `fill`. All loads are under way at once. If not
 * HELD the compiler finds each row's address anew: later, but in fewer registers. */
template <int V, int ROWS, bool HELD, typename S, typename T>
static __device__ __forceinline__ void load_rows(const S *__restrict__ p, int64_t stride,
                                                 int64_t vector_stride, int length, int vectors,
                                                 T fill, int lane, T *v)
{
    p += lane * stride;
    if (HELD) {
        asm volatile("" : "+l"(p));
    }
    if (length >= ROWS * LANES && vectors == V) {
#pragma unroll
        for (int j = 0; j < V; j++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                v[j * ROWS + r] = load(p + j * vector_stride + r * LANES * stride);
            }
        }
    } else {
#pragma unroll
        for (int j = 0; j < V; j++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                v[j * ROWS + r] = r * LANES + lane < length && j < vectors
                                      ? load(p + j * vector_stride + r * LANES * stride)
                                      : fill;
            }
        }
    }
}

/* How far apart the magnitudes of floats are. Where their exponents differ by SPAN or less they are
 * multiples of one number, and any sum of 2^(53 - 24 - SPAN) of them is a multiple that FP64 holds:
 * nothing is lost, and one addition does for seven. NaN and Inf may count as they like, for of sums
 * that are not finite nobody asks what is lost. */
typedef struct {
    float most;
    unsigned least; /* the largest of -2 times the bits: 0 counts for nothing */
} reach_t;

static __device__ __forceinline__ reach_t reach_of_none(void)
{
    return {0.0f, 0};
}

template <int N>
static __device__ __forceinline__ void reach_further(const float *v, reach_t *reach)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        reach->most = fmaxf(reach->most, fabsf(v[i]));
        reach->least = max(reach->least, 0u - 2 * __float_as_uint(v[i]));
    }
}

template <int SPAN>
static __device__ __forceinline__ bool is_within(reach_t reach)
{
    return (int)(__float_as_uint(reach.most) >> 23) - (int)(~reach.least >> 24) <= SPAN;
}

/* That of all lanes. */
static __device__ __forceinline__ reach_t reach_of_lanes(reach_t reach, int lane)
{
#if __CUDA_ARCH__ >= 800
    return {__uint_as_float(__reduce_max_sync(FULL_WARP, __float_as_uint(reach.most))),
            __reduce_max_sync(FULL_WARP, reach.least)};
#else
    return {fold_largest<1>(&reach.most, lane), fold_largest<1>(&reach.least, lane)};
#endif
}

/* Add N floats, each to the sum of its vector or lane: number i to sum[i / EACH % SUMS]. If they
 * BEGIN there, the first of each sum takes one addition, of +0, that turns -0 over. */
template <int N, int EACH, int SUMS, int BEGIN, int SQUARES>
static __device__ __forceinline__ void add_terms(const float *v, tilemm__sum_t *sum)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        const double term = SQUARES ? (double)v[i] * v[i] : (double)v[i];
        if (BEGIN && i % EACH == 0 && i / EACH < SUMS) {
            sum[i / EACH] = {term + 0.0, 0.0};
        } else {
            sum[i / EACH % SUMS] = tilemm__sum_add(sum[i / EACH % SUMS], term);
        }
    }
}

template <int N>
static __device__ __forceinline__ void drop_nans(float *v)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        v[i] = v[i] == v[i] ? v[i] : 0.0f;
    }
}

template <int N>
static __device__ __forceinline__ void drop_signs(float *v)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        v[i] = fabsf(v[i]);
    }
}

static __device__ __forceinline__ int is_squares(int op)
{
    return op == TILEMM__SUMSQ || op == TILEMM__NRM2;
}

/* The floats as the operation adds them, but for squares. */
template <int N>
static __device__ __forceinline__ void ready_floats(int op, int nan_ignore, float *v)
{
    if (nan_ignore) {
        drop_nans<N>(v);
    }
    if (op == TILEMM__ASUM) {
        drop_signs<N>(v);
    }
}

template <int N, int EACH, int SUMS, int BEGIN>
static __device__ __forceinline__ void add_floats(int op, int nan_ignore, float *v,
                                                  tilemm__sum_t *sum)
{
    ready_floats<N>(op, nan_ignore, v);
    if (is_squares(op)) {
        add_terms<N, EACH, SUMS, BEGIN, 1>(v, sum);
    } else {
        add_terms<N, EACH, SUMS, BEGIN, 0>(v, sum);
    }
}

/* So that what one branch has made of floats is not kept for the other: there is no room for it. */
template <int N>
static __device__ __forceinline__ void forget(float *v)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        asm volatile("" : "+f"(v[i]));
    }
}

/* V vectors of ROWS rows, whose sums lose nothing: each lane gets the sum of vector lane / (32 /
 * V). Otherwise nothing happens. */
template <int V, int ROWS>
static __device__ __forceinline__ bool sum_exactly(float *v, int lane, tilemm__sum_t *sum)
{
    enum { SPAN = 53 - 24 - 10 }; /* of up to 2^10 elements */
    static_assert(ROWS * LANES <= 1 << 10, "elements");
    reach_t reach = reach_of_none();
    double exact[V];
    reach_further<V * ROWS>(v, &reach);
    if (!is_within<SPAN>(reach_of_lanes(reach, lane))) {
        forget<V * ROWS>(v);
        return false;
    }
#pragma unroll
    for (int i = 0; i < V * ROWS; i++) {
        exact[i / ROWS] = (i % ROWS == 0 ? 0.0 : exact[i / ROWS]) + v[i];
    }
    *sum = {fold_sums<V>(exact, lane), 0.0};
    return true;
}

/* Of 32 vectors a row each, number j in v[j]: lane j gets the sum of vector j. The first step deals
 * in floats, which take a quarter of the registers. */
template <int SQUARES>
static __device__ __forceinline__ tilemm__sum_t fold_rows(const float *v, int lane)
{
    enum { HALF = LANES / 2 };
    tilemm__sum_t sum[HALF];
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        const double keep = lane & HALF ? v[i + HALF] : v[i];
        const double other = __shfl_xor_sync(FULL_WARP, lane & HALF ? v[i] : v[i + HALF], HALF);
        sum[i] = join({(SQUARES ? keep * keep : keep) + 0.0, 0.0},
                      {(SQUARES ? other * other : other) + 0.0, 0.0});
    }
    return fold_sums<LANES, tilemm__sum_t, HALF / 2>(sum, lane);
}

static __device__ __forceinline__ tilemm__sum_t sum_rows(int op, int nan_ignore, float *v, int lane)
{
    if (nan_ignore) {
        drop_nans<LANES>(v);
    }
    if (op == TILEMM__ASUM) {
        drop_signs<LANES>(v);
    }
    return is_squares(op) ? fold_rows<1>(v, lane) : fold_rows<0>(v, lane);
}

/* How many NaN are among ROWS rows of V vectors; each lane gets that of vector lane / (32 / V). */
template <int V, int ROWS>
static __device__ __forceinline__ int count_nans(const float *v, int lane)
{
    int mine = 0;
#pragma unroll
    for (int j = 0; j < V; j++) {
        int found = 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            found += __popc(__ballot_sync(FULL_WARP, v[j * ROWS + r] != v[j * ROWS + r]));
        }
        mine = lane / (LANES / V) == j ? found : mine;
    }
    return mine;
}

/* Where in ROWS rows the largest key is first. */
template <int ROWS>
static __device__ __forceinline__ int find_key(const int32_t *key, int32_t best)
{
    int place = 0;
#pragma unroll
    for (int r = ROWS - 1; r >= 0; r--) {
        const unsigned here = __ballot_sync(FULL_WARP, key[r] == best);
        place = here ? r * LANES + __ffs(here) - 1 : place;
    }
    return place;
}

/* The keys of floats, in their place. */
template <int ROWS>
static __device__ __forceinline__ void keys_of_rows(tilemm__order_t order, const float *v,
                                                    int length, int lane, int32_t *key)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int32_t k = tilemm__key_of(order, __float_as_uint(v[r]));
        key[r] = r * LANES + lane < length ? k : TILEMM__KEY_NONE;
    }
}

/* ---- searches by value ----------------------------------------------------------------------- */

/* Keys cost eight instructions for each element. Here the floats themselves are compared, turned so
 * that the largest is looked for, and only what comes out becomes a key: the hardware too has -0
 * before +0. */
template <int N>
static __device__ __forceinline__ void turn(tilemm__order_t order, float *v)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        v[i] = __uint_as_float((__float_as_uint(v[i]) & order.keep) ^ (order.flip & 0x80000000u));
    }
}

/* The larger of two; IGNORE: NaN only where both are, otherwise NaN where either is. */
template <int IGNORE>
static __device__ __forceinline__ float larger(float a, float b)
{
    if (IGNORE) {
        return fmaxf(a, b);
    }
#if __CUDA_ARCH__ >= 800
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
#else
    return a != a ? a : b != b ? b : fmaxf(a, b);
#endif
}

/* The largest of N floats of one lane, its key, and the first that it is: the same bits, or any
 * NaN. All are turned. */
template <int IGNORE, int N>
static __device__ __forceinline__ float largest(const float *v)
{
    float most = v[0];
#pragma unroll
    for (int i = 1; i < N; i++) {
        most = larger<IGNORE>(most, v[i]);
    }
    return most;
}

static __device__ __forceinline__ int32_t key_of_turned(tilemm__order_t order, float value)
{
    return value != value ? order.nan : (int32_t)tilemm__order_bits(__float_as_uint(value));
}

template <int N>
static __device__ __forceinline__ int first_of(const float *v, float most)
{
    int first = 0;
    if (most == most) {
#pragma unroll
        for (int i = N - 1; i >= 0; i--) {
            first = __float_as_uint(v[i]) == __float_as_uint(most) ? i : first;
        }
    } else {
#pragma unroll
        for (int i = N - 1; i >= 0; i--) {
            first = v[i] != v[i] ? i : first;
        }
    }
    return first;
}

static __device__ __forceinline__ int64_t least_of_lanes(int64_t value)
{
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2) {
        value = min(value, (int64_t)__shfl_xor_sync(FULL_WARP, value, half));
    }
    return value;
}

/* The largest key of `group` lanes, a power of two, and where it stands first. */
static __device__ __forceinline__ void fold_best(int32_t *best, int64_t *place, int group = LANES)
{
#pragma unroll
    for (int half = group / 2; half > 0; half /= 2) {
        const int32_t key = __shfl_xor_sync(FULL_WARP, *best, half);
        const int64_t there = __shfl_xor_sync(FULL_WARP, *place, half);
        if (tilemm__key_wins(key, there, *best, *place)) {
            *best = key;
            *place = there;
        }
    }
}

/* ---- one tile by a warp: every lane gets the result ----------------------------------------- */

/* The sum of `length` floats, ROWS rows at a time; *nans grows by how many are NaN, where they are
 * counted. */
template <int DOT, int ROWS>
static __device__ __forceinline__ tilemm__sum_t sum_tile(int op, int nan_ignore, const float *x,
                                                         int64_t istride, const float *y,
                                                         int64_t y_istride, int length, int lane,
                                                         int *nans)
{
    tilemm__sum_t sum = no_sum();
#pragma unroll 1
    for (int first = 0; first < length; first += ROWS * LANES) {
        float v[ROWS];
        load_rows<1, ROWS, true>(x + first * istride, istride, 0, length - first, 1, 0.0f, lane, v);
        if (DOT) {
            float w[ROWS];
            load_rows<1, ROWS, true>(y + first * y_istride, y_istride, 0, length - first, 1, 0.0f,
                                     lane, w);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                sum = tilemm__sum_add(sum, tilemm__sum_term(TILEMM__DOT, nan_ignore, v[r], w[r]));
            }
        } else {
            if (tilemm__sum_is_counted(op, nan_ignore)) {
                *nans += count_nans<1, ROWS>(v, lane);
            }
            if (ROWS == TILEMM__TILE_ROWS && !is_squares(op)) {
                ready_floats<ROWS>(op, nan_ignore, v);
                if (sum_exactly<1, ROWS>(v, lane, &sum)) {
                    return sum;
                }
            }
            add_floats<ROWS, 1, 1, 0>(op, nan_ignore, v, &sum);
        }
    }
    return fold_sum(sum, lane);
}

/* The sum of up to 1024 partial sums: rows of 32 are folded, ROWS at a time, then what comes of
 * them. */
template <int ROWS>
static __device__ __forceinline__ tilemm__sum_t sum_of_sums(const tilemm__sum_t *sums, int length,
                                                            int lane)
{
    tilemm__sum_t row = no_sum(); /* lane r: that of row r */
#pragma unroll 1
    for (int first = 0; first < length; first += ROWS * LANES) {
        tilemm__sum_t v[ROWS];
        load_rows<1, ROWS, true>(sums + first, 1, 0, length - first, 1, no_sum(), lane, v);
        const tilemm__sum_t mine = fold_sums<ROWS>(v, lane); /* row r in lane r * (32 / ROWS) */
        const tilemm__sum_t here = {
            __shfl_sync(FULL_WARP, mine.sum, lane % ROWS * (LANES / ROWS)),
            __shfl_sync(FULL_WARP, mine.lost, lane % ROWS * (LANES / ROWS))};
        row = lane / ROWS == first / (ROWS * LANES) ? here : row;
    }
    return fold_sum(row, lane);
}

/* The sum of any number of counts. */
static __device__ __forceinline__ int64_t sum_counts(const int64_t *counts, int64_t length,
                                                     int lane)
{
    int64_t sum = 0;
    for (int64_t i = lane; i < length; i += LANES) {
        sum += counts[i];
    }
    return fold_sums<1>(&sum, lane);
}

/* The largest key of `length` floats, ROWS rows at a time, and if asked for its place. */
template <int ROWS>
static __device__ __forceinline__ int32_t search_tile(tilemm__order_t order, const float *x,
                                                      int64_t istride, int length, int lane,
                                                      int want_place, int *place)
{
    int32_t best = TILEMM__KEY_NONE;
#pragma unroll 1
    for (int first = 0; first < length; first += ROWS * LANES) {
        float v[ROWS];
        int32_t key[ROWS], here = TILEMM__KEY_NONE;
        load_rows<1, ROWS, false>(x + first * istride, istride, 0, length - first, 1, 0.0f, lane,
                                  v);
        keys_of_rows<ROWS>(order, v, length - first, lane, key);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            here = max(here, key[r]);
        }
        here = fold_largest<1>(&here, lane);
        if (here > best) {
            best = here;
            if (want_place) {
                *place = first + find_key<ROWS>(key, here);
            }
        }
    }
    return best;
}

/* The largest of up to 32 * ROWS keys, and the least of the indices that belong to it, unless these
 * are NULL: warps that share a vector take its tiles in turns, so the first key may not be the one
 * that stands first. */
template <int ROWS>
static __device__ __forceinline__ int32_t search_keys(const int32_t *keys, const int64_t *indices,
                                                      int length, int lane, int64_t *index)
{
    int32_t key[ROWS], best = TILEMM__KEY_NONE;
    int64_t at[ROWS], least = INT64_MAX;
    load_rows<1, ROWS, false>(keys, 1, 0, length, 1, TILEMM__KEY_NONE, lane, key);
    if (indices) { /* under way with the keys */
        load_rows<1, ROWS, false>(indices, 1, 0, length, 1, INT64_MAX, lane, at);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        best = max(best, key[r]);
    }
    best = fold_largest<1>(&best, lane);
    if (indices) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            least = key[r] == best ? min(least, at[r]) : least;
        }
        *index = least_of_lanes(least);
    }
    return best;
}

/* ---- levels above ------------------------------------------------------------------------- */

/* Where one warp sees the sums of tiles, or of spans, one after the other: for each level 32 of
 * them, in the warp's lanes. They are folded and go up once they are there. */
enum { LEVELS = 11 }; /* 32 ^ 11 values */

typedef struct {
    tilemm__sum_t lane[LEVELS];
} levels_t;

static __device__ __forceinline__ void levels_begin(levels_t *levels)
{
#pragma unroll 1
    for (int k = 0; k < LEVELS; k++) {
        levels->lane[k] = no_sum();
    }
}

/* Add value number `place`, counted from 0, of level k. */
static __device__ __forceinline__ void levels_add(levels_t *levels, int k, int64_t place,
                                                  tilemm__sum_t value, int lane)
{
#pragma unroll 1
    for (; k < LEVELS; k++) {
        if (lane == (int)(place % LANES)) {
            levels->lane[k] = value;
        }
        if (place % LANES != LANES - 1) {
            break;
        }
        value = fold_sum(levels->lane[k], lane);
        levels->lane[k] = no_sum();
        place /= LANES;
    }
}

/* The sum of all `number` > 0 values of level 0. */
static __device__ __forceinline__ tilemm__sum_t levels_end(levels_t *levels, int64_t number,
                                                           int lane)
{
    int k = 0;
#pragma unroll 1
    for (; number > LANES; k++) { /* what is left in this level goes up */
        if (number % LANES != 0) {
            levels_add(levels, k + 1, number / LANES, fold_sum(levels->lane[k], lane), lane);
        }
        number = tilemm__fold_count(number);
    }
    return fold_sum(levels->lane[number == LANES ? k + 1 : k], lane); /* 32 went up at once */
}

/* ---- a span of tiles by a block ----------------------------------------------------------- */

/* A block of up to 32 warps. Each warp takes tiles, or a thousand partial sums, and leaves their
 * sums here, up to 1024 of them. */
typedef struct {
    tilemm__sum_t sums[SPAN_TILES];
    tilemm__sum_t folded[BLOCK_WARPS];
    int64_t extras[BLOCK_WARPS];
    int32_t keys[BLOCK_WARPS];
} block_room_t;

/* Fold the `number` sums, and if they are `counted` add up the warps' counts; thread 0 gets the
 * results. */
static __device__ __forceinline__ tilemm__sum_t block_fold_sum(block_room_t *room, int number,
                                                               int counted, int64_t *count,
                                                               int lane, int warp)
{
    const int groups = (number - 1) / LANES + 1, warps = blockDim.x / LANES;
    tilemm__sum_t sum = no_sum();
    if (counted && lane == 0) {
        room->extras[warp] = *count;
    }
    __syncthreads();
    for (int group = warp; group < groups; group += warps) {
        const int i = group * LANES + lane;
        sum = fold_sum(i < number ? room->sums[i] : no_sum(), lane);
        if (lane == 0) {
            room->folded[group] = sum;
        }
    }
    if (groups > 1) {
        __syncthreads();
        if (warp == 0) {
            sum = fold_sum(lane < groups ? room->folded[lane] : no_sum(), lane);
        }
    }
    if (counted && warp == 0) {
        *count = lane < warps ? room->extras[lane] : 0;
        *count = fold_sums<1>(count, lane);
    }
    return sum;
}

/* The sum of `length` <= 2^20 floats, and the number that are not NaN where they are counted, for
 * thread 0. */
template <int DOT>
static __device__ __forceinline__ tilemm__sum_t block_sum(int op, int nan_ignore, const float *x,
                                                          int64_t istride, const float *y,
                                                          int64_t y_istride, int length,
                                                          block_room_t *room, int64_t *count)
{
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    *count = 0;
    __syncthreads(); /* the room may be in use */
#pragma unroll 1
    for (int tile = warp; tile * TILE < length; tile += warps) {
        const int start = tile * TILE, here = clip(length - start, TILE);
        int nans = 0;
        const tilemm__sum_t sum =
            sum_tile<DOT, 8>(op, nan_ignore, x + start * istride, istride, y + start * y_istride,
                             y_istride, here, lane, &nans);
        if (lane == 0) {
            room->sums[tile] = sum;
        }
        *count += here - nans;
    }
    return block_fold_sum(room, (length - 1) / TILE + 1, tilemm__sum_is_counted(op, nan_ignore),
                          count, lane, warp);
}

/* Fold the warps' keys and places; warp 0 gets the results. */
static __device__ __forceinline__ int32_t block_fold_key(block_room_t *room, int32_t best,
                                                         int64_t *place, int lane, int warp)
{
    __syncthreads();
    if (lane == 0) {
        room->keys[warp] = best;
        room->extras[warp] = *place;
    }
    __syncthreads();
    if (warp == 0) {
        best = lane < (int)blockDim.x / LANES ? room->keys[lane] : TILEMM__KEY_NONE;
        *place = room->extras[lane];
        fold_best(&best, place);
    }
    return best;
}

/* The largest key of any number of floats, and its place if that is asked for. */
static __device__ __forceinline__ int32_t block_search(tilemm__order_t order, const float *x,
                                                       int64_t istride, int64_t length,
                                                       int want_place, block_room_t *room,
                                                       int64_t *place)
{
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    int32_t best = TILEMM__KEY_NONE;
    *place = 0;
#pragma unroll 1
    for (int64_t start = (int64_t)warp * TILE; start < length; start += blockDim.x / LANES * TILE) {
        int here = 0;
        const int32_t key = search_tile<8>(order, x + start * istride, istride,
                                           clip(length - start, TILE), lane, want_place, &here);
        if (key > best) {
            best = key;
            *place = start + here;
        }
    }
    return block_fold_key(room, best, place, lane, warp);
}

/* ---- results ------------------------------------------------------------------------------ */

/* To slot `slot` of partial results, or to the results of vector `vector`. One thread calls. */
static __device__ __forceinline__ void put_sum(const tilemm__reduce_args_t *args,
                                               const tilemm__partials_t *to, int64_t slot,
                                               int64_t vector, tilemm__sum_t sum, int64_t count)
{
    const int counted = tilemm__sum_is_counted(args->op, args->nan_ignore);
    if (to->sums) {
        to->sums[slot] = sum;
        if (counted) {
            to->counts[slot] = count;
        }
    } else {
        args->out[vector * args->out_stride] =
            tilemm__sum_result(args->op, sum, counted ? count : args->n);
    }
}

static __device__ __forceinline__ void put_key(const tilemm__reduce_args_t *args,
                                               const tilemm__partials_t *to, int64_t slot,
                                               int64_t vector, int32_t key, int64_t index)
{
    if (to->keys) {
        to->keys[slot] = key;
        if (args->index_out) {
            to->indices[slot] = index;
        }
        return;
    }
    if (args->out) {
        args->out[vector * args->out_stride] = tilemm__key_result(args->op, key);
    }
    if (args->index_out) {
        args->index_out[vector * args->out_stride] = tilemm__index_result(key, index);
    }
}

#endif
