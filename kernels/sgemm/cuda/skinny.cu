/* skinny.cu - C = alpha X Z + beta C for a large X and a Z of at most 16 columns, as fast as X can
 * be read.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Each word of X is read once, to registers, while the step before is multiplied. A thread
 * multiplies it by all N columns of Z, of which DEPTH steps of k are in shared memory at a time.
 * There are three kernels:
 *   across - X's rows run along k. KL lanes lie along k, with 4 words each of R rows. At the end
 *            lanes fold their sums by halves.
 *   down   - X's rows run along m. IL lanes lie along m, with 4 words each, the others along k; a
 *            thread takes U steps of k at a time.
 *   along  - X's rows run along k, and are few and long. All threads lie along k and keep their
 *            words of Z in registers, while they read one row after another.
 * The warps of a block have different rows, or WK of them divide k; blocks divide k in `splits`.
 * Warps' sums are added pairwise in shared memory. Blocks' sums are added in the order of the
 * splits: by all blocks of a cluster, or by the block that finishes last, by a counter that it sets
 * back to zero. So the bits repeat.
 *
 * Layout of Z: tilemm__skinny_index(). across reads 4 words along k of one column, down all columns
 * of one k. Where X is read by single words, neighbouring lanes read neighbouring words, and across
 * has the k of Z in that order.
 *
 * X and Z are zero past the end of k, Z also past n. Rows past m are computed from another row, and
 * not stored.
 *
 * Assumes: compute capability 7.5 or more; what the host promises in tilemm__sgemm_skinny_t.
 * Accuracy: chains of at most k / 8 / splits, added up as trees and, over splits, in order: better
 * than one chain over k. */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "skinny.h"

enum { WARPS = 8, THREADS = WARPS * 32 }; /* of across and down */

/* The layout of DEPTH steps of k of Z. KL is 0 for down. */
template <int N, int KL, bool VECTOR>
struct z_layout {
    static const int DEPTH = tilemm__skinny_depth(N);
    static const int PITCH = tilemm__skinny_pitch(N, KL);
    static const int WORDS = KL ? N * PITCH : DEPTH * PITCH;

    static __device__ __forceinline__ int index(int k, int j)
    {
        return tilemm__skinny_index(k, j, PITCH, KL, VECTOR);
    }
};

/* Producer of Z: `depth` steps of k from z on, then zeros up to `padded`; zeros past column n. */
template <int N, class L>
static __device__ __forceinline__ void fetch_z(float *zs, const float *__restrict__ z,
                                               const tilemm__sgemm_skinny_t &problem, int depth,
                                               int padded)
{
    const int BATCH = 4; /* loads under way; X's next words hold registers */
    const int n = (int)problem.n;
    const bool along_k = problem.z_k == 1;
    if (problem.aligned_z && depth == padded && (along_k || n == N) && (along_k || N >= 4)) {
        const int count = padded * N / 4, across = along_k ? padded / 4 : N / 4;
        for (int first = threadIdx.x; first < count; first += BATCH / 2 * THREADS) {
            float w[BATCH / 2][4];
            int row[BATCH / 2], word[BATCH / 2];
#pragma unroll
            for (int i = 0; i < BATCH / 2; i++) {
                const int e = first + i * THREADS;
                row[i] = along_k ? e / across : e / (N >= 4 ? N / 4 : 1);
                word[i] = (e - row[i] * across) * 4;
                unpack(w[i], make_float4(0.0f, 0.0f, 0.0f, 0.0f));
                if (e < count && (!along_k || row[i] < n))
                    unpack(
                        w[i],
                        __ldg((const float4 *)(z + row[i] * (along_k ? problem.z_n : problem.z_k) +
                                               word[i])));
            }
#pragma unroll
            for (int i = 0; i < BATCH / 2; i++)
                if (first + i * THREADS < count) {
#pragma unroll
                    for (int x = 0; x < 4; x++) {
                        const int k = along_k ? word[i] + x : row[i];
                        const int j = along_k ? row[i] : word[i] + x;
                        zs[L::index(k, j)] = w[i][x];
                    }
                }
        }
        return;
    }
    for (int first = threadIdx.x; first < padded * N; first += BATCH * THREADS) {
        float w[BATCH];
        int k[BATCH], j[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            const int e = first + i * THREADS;
            j[i] = along_k ? e / padded : e % N;
            k[i] = along_k ? e - j[i] * padded : e / N;
            w[i] = 0.0f;
            if (j[i] < n && k[i] < depth)
                w[i] = __ldg(z + k[i] * problem.z_k + j[i] * problem.z_n);
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            if (first + i * THREADS < padded * N)
                zs[L::index(k[i], j[i])] = w[i];
    }
}

/* A block's tile of rows, split and matrix. */
typedef struct {
    int64_t tile, split, matrix, index; /* index: of the tile among those of all matrices */
    int64_t begin_k, end_k;
    const float *x, *z;
} place_t;

/* Found again at the end, since it would hold registers through the loop. The assembly keeps the
 * compiler from seeing that it is the same. */
static __device__ __forceinline__ place_t place_of(const tilemm__sgemm_skinny_t &problem)
{
    const int64_t first = problem.first, tiles = problem.tiles;
    place_t p;
    unsigned number;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));

    const uint64_t block = (uint64_t)first + number;
    const uint64_t rest = block / (uint64_t)problem.splits;

    p.split = (int64_t)(block - rest * problem.splits);
    p.matrix = (int64_t)(rest / (uint64_t)tiles);
    p.tile = (int64_t)rest - p.matrix * tiles;
    p.index = p.matrix * tiles + p.tile;
    p.begin_k = p.split * problem.k_split;
    p.end_k = min(problem.k, p.begin_k + problem.k_split);
    p.x = problem.x_array ? problem.x_array[p.matrix] : problem.x + p.matrix * problem.stride_x;
    p.z = problem.z_array ? problem.z_array[p.matrix] : problem.z + p.matrix * problem.stride_z;
    return p;
}

/* The row and column of sum o of a tile's ROWS x N. Neighbours in C have neighbouring numbers. */
template <int ROWS, int N>
static __device__ __forceinline__ int row_of(int o, bool down_rows)
{
    return down_rows ? o % ROWS : o / N;
}
template <int ROWS, int N>
static __device__ __forceinline__ int column_of(int o, bool down_rows)
{
    return down_rows ? o / ROWS : o % N;
}

/* Epilogue: store the block's sums, which are in out[row * (N + 1) + column], together with those
 * of the tile's other splits, from their shared memory or through `partial`. */
template <int ROWS, int N, int THREADS = ::THREADS>
static __device__ __forceinline__ void finish(const tilemm__sgemm_skinny_t &problem, float *out)
{
    const place_t place = place_of(problem);
    const int OUTS = ROWS * N, GROUPS = OUTS < THREADS ? THREADS / OUTS : 1;
    const bool down_rows = problem.c_m == 1 && (N == 1 || problem.c_n != 1);
    const int64_t row0 = place.tile * ROWS;
    __shared__ unsigned arrived;
    static_assert(OUTS % THREADS == 0 || THREADS % OUTS == 0, "threads share out the sums evenly");
    const auto put = [&](int o, float sum) {
        const int row = row_of<ROWS, N>(o, down_rows), column = column_of<ROWS, N>(o, down_rows);

        if (row0 + row < problem.m && column < problem.n) {
            float *const c = problem.c_array ? problem.c_array[place.matrix]
                                             : problem.c + place.matrix * problem.stride_c;
            epilogue_store(c + (row0 + row) * problem.c_m + column * problem.c_n, sum,
                           problem.alpha, problem.beta);
        }
    };

    if (problem.splits > 1 && !problem.partial) { /* a cluster */
        const int splits = (int)problem.splits;

        cluster_sync();
        for (int o = (int)place.split * THREADS + threadIdx.x; o < OUTS; o += splits * THREADS) {
            const float *const from =
                out + row_of<ROWS, N>(o, down_rows) * (N + 1) + column_of<ROWS, N>(o, down_rows);
            put(o, cluster_sum<TILEMM__SGEMM_MOST_CLUSTER>(from, splits));
        }
        cluster_sync(); /* nobody leaves while another may still read its sums */
        return;
    }
    if (problem.splits > 1) {
        float *const tile = problem.partial + place.index * problem.splits * OUTS;
        for (int o = threadIdx.x; o < OUTS; o += THREADS)
            __stcg(tile + place.split * OUTS + o,
                   out[row_of<ROWS, N>(o, down_rows) * (N + 1) + column_of<ROWS, N>(o, down_rows)]);
        __threadfence();
        wait_for_previous(); /* the counters are zeroed */
        __syncthreads();
        /* The last of `splits` arrivals sets the counter back to zero. */
        if (threadIdx.x == 0)
            arrived = atomicInc(problem.counters + place.index, (unsigned)(problem.splits - 1));
        __syncthreads();
        if (arrived != (unsigned)(problem.splits - 1))
            return;
        __threadfence();

        /* Where sums are few, groups of threads add up a range of splits each. */
        const int group = threadIdx.x / OUTS;
        const int64_t share = (problem.splits + GROUPS - 1) / GROUPS;
        const int64_t begin = GROUPS == 1 ? 0 : min(group * share, problem.splits);
        const int64_t end = GROUPS == 1 ? problem.splits : min(begin + share, problem.splits);

        for (int o = threadIdx.x; o < OUTS * GROUPS; o += THREADS) {
            const int which = o % OUTS;
            const float *from = tile + begin * OUTS + which;
            float sum = 0.0f;
#pragma unroll 8
            for (int64_t s = begin; s < end; s++, from += OUTS)
                sum += __ldcg(from);
            if (GROUPS == 1)
                out[row_of<ROWS, N>(which, down_rows) * (N + 1) +
                    column_of<ROWS, N>(which, down_rows)] = sum;
            else
                out[o] = sum;
        }
        if (GROUPS > 1) {
            float sum = 0.0f;
            __syncthreads();
            if (threadIdx.x < OUTS)
                for (int g = 0; g < GROUPS; g++)
                    sum += out[g * OUTS + threadIdx.x];
            __syncthreads();
            if (threadIdx.x < OUTS)
                out[row_of<ROWS, N>(threadIdx.x, down_rows) * (N + 1) +
                    column_of<ROWS, N>(threadIdx.x, down_rows)] = sum;
        }
        /* Each thread now stores what it put there itself. */
    }

    for (int o = threadIdx.x; o < OUTS; o += THREADS)
        put(o, out[row_of<ROWS, N>(o, down_rows) * (N + 1) + column_of<ROWS, N>(o, down_rows)]);
}

/* Add up the COUNT elements of lanes whose numbers differ in the bits APART, APART / 2 ... TO. At
 * each bit a lane keeps half of its elements; at the end it has those from *first on. Where there
 * is one element for several lanes, *owner is true in the one that has its sum. */
template <int COUNT, int APART, int TO>
static __device__ __forceinline__ void fold(float *x, int lane, int *first, bool *owner)
{
    if constexpr (APART >= TO) {
        const bool upper = lane & APART;
        if constexpr (COUNT > 1) {
#pragma unroll
            for (int i = 0; i < COUNT / 2; i++) {
                const float keep = upper ? x[COUNT / 2 + i] : x[i];
                const float give = upper ? x[i] : x[COUNT / 2 + i];
                x[i] = keep + __shfl_xor_sync(0xffffffffu, give, APART);
            }
            *first += upper ? COUNT / 2 : 0;
            fold<COUNT / 2, APART / 2, TO>(x, lane, first, owner);
        } else {
            x[0] += __shfl_xor_sync(0xffffffffu, x[0], APART);
            *owner = *owner && !upper;
            fold<1, APART / 2, TO>(x, lane, first, owner);
        }
    }
}

/* ---- X's rows run along k ------------------------------------------------------------------- */

/* Producer of X: R rows, 4 words each of the KL * 4 from k on, of which `left` exist. */
template <int KL, int R, bool VECTOR>
static __device__ __forceinline__ void fetch_across(float (&x)[R][4], const float *const (&row)[R],
                                                    int64_t k, int lane_k, int64_t left)
{
    if (left >= 4 * KL) {
#pragma unroll
        for (int r = 0; r < R; r++) {
            if (VECTOR) {
                unpack(x[r], __ldcs((const float4 *)(row[r] + k + 4 * lane_k)));
            } else {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    x[r][i] = __ldg(row[r] + k + i * KL + lane_k);
            }
        }
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int at = VECTOR ? 4 * lane_k + i : i * KL + lane_k;
#pragma unroll
            for (int r = 0; r < R; r++) {
                x[r][i] = 0.0f;
                if (at < left)
                    x[r][i] = __ldg(row[r] + k + at);
            }
        }
    }
}

template <int N, int KL, int R, int WK, bool VECTOR>
static __device__ __forceinline__ void across(const tilemm__sgemm_skinny_t &problem)
{
    typedef z_layout<N, KL, VECTOR> Z;
    const int STEP = KL * 4 * WK, ROWS = WARPS / WK * (32 / KL) * R;
    const int SUMS = R * N, KEPT = SUMS > KL ? SUMS / KL : 1;
    const int OUT_WORDS = WK * ROWS * (N + 1);
    const int WORDS = Z::WORDS > OUT_WORDS ? Z::WORDS : OUT_WORDS;
    __shared__ __align__(16) float shared[WORDS];
    static_assert(Z::DEPTH % STEP == 0, "a chunk is whole steps");
    static_assert(WORDS <= 48 * 256, "static shared memory");
    static_assert(WORDS >= THREADS, "finish() needs a word a thread");

    const place_t place = place_of(problem);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int lane_k = lane % KL, warp_k = warp % WK;
    const int row0 = (warp / WK * (32 / KL) + lane / KL) * R;
    const float *row[R];
    float sum[SUMS], next[R][4];

#pragma unroll
    for (int r = 0; r < R; r++)
        row[r] = place.x + min(place.tile * ROWS + row0 + r, problem.m - 1) * problem.ldx;
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sum[i] = 0.0f;

    int64_t at = place.begin_k + warp_k * (4 * KL); /* of this warp */

    fetch_across<KL, R, VECTOR>(next, row, at, lane_k, place.end_k - at);
    for (int64_t k0 = place.begin_k; k0 < place.end_k; k0 += Z::DEPTH) {
        const int depth = (int)min((int64_t)Z::DEPTH, place.end_k - k0);
        const int steps = (depth + STEP - 1) / STEP;
        __syncthreads();
        fetch_z<N, Z>(shared, place.z + k0 * problem.z_k, problem, depth, steps * STEP);
        __syncthreads();

        const float *zs = shared + warp_k * (4 * KL) + 4 * lane_k;

#pragma unroll 1
        for (int step = 0; step < steps; step++, zs += STEP) {
            float x[R][4];
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    x[r][i] = next[r][i];
            at += STEP;
            fetch_across<KL, R, VECTOR>(next, row, at, lane_k, place.end_k - at);
#pragma unroll
            for (int j = 0; j < N; j++) {
                float z[4];
                unpack(z, *(const float4 *)(zs + j * Z::PITCH));
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int r = 0; r < R; r++)
                        sum[r * N + j] = fmaf(x[r][i], z[i], sum[r * N + j]);
            }
        }
    }

    /* Lanes' sums, then warps'. */
    bool owner = true;
    int kept = 0;

    fold<SUMS, KL / 2, 1>(sum, lane, &kept, &owner);

    __syncthreads();
    if (owner)
#pragma unroll
        for (int i = 0; i < KEPT; i++)
            shared[(warp_k * ROWS + row0 + (kept + i) / N) * (N + 1) + (kept + i) % N] = sum[i];
    __syncthreads();
    if (WK > 1) {
        for (int o = threadIdx.x; o < ROWS * (N + 1); o += THREADS) {
            float total = shared[o];
#pragma unroll
            for (int w = 1; w < WK; w++)
                total += shared[w * ROWS * (N + 1) + o];
            shared[o] = total;
        }
        __syncthreads();
    }
    finish<ROWS, N>(problem, shared);
}

/* ---- X's rows run along m ------------------------------------------------------------------- */

/* Row i of a thread that has Q times 4 of them, after its first. */
template <int IL, bool VECTOR>
static __device__ __forceinline__ int row_after(int i)
{
    return VECTOR ? i / 4 * (4 * IL) + i % 4 : i * IL;
}

/* Producer of X: U steps of k, KL apart, Q times 4 rows each. From this thread's first on, `rows`
 * rows and `left` steps of k exist. */
template <int U, int Q, int KL, int IL, bool VECTOR>
static __device__ __forceinline__ void fetch_down(float (&x)[U][4 * Q], const float *__restrict__ p,
                                                  int64_t ldx, int64_t left, int rows)
{
#pragma unroll
    for (int u = 0; u < U; u++, p += KL * ldx)
#pragma unroll
        for (int q = 0; q < Q; q++) {
            const int first = row_after<IL, VECTOR>(4 * q);
            if (VECTOR && first + 4 <= rows && u * KL < left) {
                const float4 v = __ldcs((const float4 *)(p + first));
                unpack(x[u] + 4 * q, v);
            } else {
#pragma unroll
                for (int i = 4 * q; i < 4 * q + 4; i++) {
                    const int row = row_after<IL, VECTOR>(i);
                    x[u][i] = 0.0f;
                    if (row < rows && u * KL < left)
                        x[u][i] = __ldg(p + row);
                }
            }
        }
}

template <int N, int IL, int Q, int WK, int U, bool VECTOR>
static __device__ __forceinline__ void down(const tilemm__sgemm_skinny_t &problem)
{
    typedef z_layout<N, 0, true> Z;
    const int KL = 32 / IL, STEP = KL * U * WK, ROWS = WARPS / WK * IL * 4 * Q;
    const int PITCH = N + 1, PART = ROWS * PITCH;
    const int OUT_WORDS = (WK > 1 ? WK / 2 : 1) * PART;
    const int WORDS = Z::WORDS > OUT_WORDS ? Z::WORDS : OUT_WORDS;
    __shared__ __align__(16) float shared[WORDS];
    static_assert(Z::DEPTH % STEP == 0, "a chunk is whole steps");
    static_assert(WORDS <= 48 * 256, "static shared memory");
    static_assert(WORDS >= THREADS, "finish() needs a word a thread");

    const place_t place = place_of(problem);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_k = warp % WK;
    const int lane_k = lane / IL, lane_m = lane % IL;
    const int row0 = warp / WK * (IL * 4 * Q) + lane_m * (VECTOR ? 4 : 1);
    const int64_t m0 = place.tile * ROWS + row0;
    const int rows = (int)max((int64_t)0, min(problem.m - m0, (int64_t)(4 * Q * IL)));
    float sum[4 * Q * N], next[U][4 * Q];

#pragma unroll
    for (int i = 0; i < 4 * Q * N; i++)
        sum[i] = 0.0f;

    const int64_t at = place.begin_k + warp_k * (KL * U) + lane_k;
    const float *p = place.x + at * problem.ldx + m0;
    int64_t left = place.end_k - at;

    fetch_down<U, Q, KL, IL, VECTOR>(next, p, problem.ldx, left, rows);
    for (int64_t k0 = place.begin_k; k0 < place.end_k; k0 += Z::DEPTH) {
        const int depth = (int)min((int64_t)Z::DEPTH, place.end_k - k0);
        const int steps = (depth + STEP - 1) / STEP;
        __syncthreads();
        fetch_z<N, Z>(shared, place.z + k0 * problem.z_k, problem, depth, steps * STEP);
        __syncthreads();

#pragma unroll 1
        for (int step = 0; step < steps; step++) {
            float x[U][4 * Q];
            const int k = step * STEP + warp_k * (KL * U) + lane_k;
#pragma unroll
            for (int u = 0; u < U; u++)
#pragma unroll
                for (int i = 0; i < 4 * Q; i++)
                    x[u][i] = next[u][i];
            left -= STEP;
            p += STEP * problem.ldx;
            fetch_down<U, Q, KL, IL, VECTOR>(next, p, problem.ldx, left, rows);
#pragma unroll
            for (int u = 0; u < U; u++) {
                const float *const zs = shared + Z::index(k + u * KL, 0);
#pragma unroll
                for (int j = 0; j < N; j += 4) {
                    float z[4];
                    if constexpr (N >= 4)
                        unpack(z, *(const float4 *)(zs + j));
                    else
#pragma unroll
                        for (int y = 0; y < N; y++)
                            z[y] = zs[y];
#pragma unroll
                    for (int y = 0; y < (N < 4 ? N : 4); y++)
#pragma unroll
                        for (int i = 0; i < 4 * Q; i++)
                            sum[i * N + j + y] = fmaf(x[u][i], z[y], sum[i * N + j + y]);
                }
            }
        }
    }

    /* Lanes' sums, then warps'. */
    const int KEPT = 4 * Q * N >= KL ? 4 * Q * N / KL : 1;
    bool owner = true;
    int kept = 0;

    fold<4 * Q * N, 16, IL>(sum, lane, &kept, &owner);

    /* The upper half of the warps along k hands its sums to the lower half, and so on. */
#pragma unroll 1
    for (int half = WK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (owner && warp_k >= half && warp_k < 2 * half)
#pragma unroll
            for (int i = 0; i < KEPT; i++)
                shared[(warp_k - half) * PART +
                       (row0 + row_after<IL, VECTOR>((kept + i) / N)) * PITCH + (kept + i) % N] =
                    sum[i];
        __syncthreads();
        if (owner && warp_k < half)
#pragma unroll
            for (int i = 0; i < KEPT; i++)
                sum[i] +=
                    shared[warp_k * PART + (row0 + row_after<IL, VECTOR>((kept + i) / N)) * PITCH +
                           (kept + i) % N];
    }
    __syncthreads();
    if (owner && warp_k == 0)
#pragma unroll
        for (int i = 0; i < KEPT; i++)
            shared[(row0 + row_after<IL, VECTOR>((kept + i) / N)) * PITCH + (kept + i) % N] =
                sum[i];
    __syncthreads();
    finish<ROWS, N>(problem, shared);
}

/* ---- X's rows run along k, and are few and long --------------------------------------------- */

/* Word i of a thread, after the first of its block. */
template <int THREADS, bool VECTOR>
static __device__ __forceinline__ int word_of(int i)
{
    return VECTOR ? (i / 4 * THREADS + (int)threadIdx.x) * 4 + i % 4
                  : i * THREADS + (int)threadIdx.x;
}

/* Producer of X: of R rows from p on, of which `rows` exist, this thread's words of the `depth`
 * from k on. */
template <int R, int WORDS, int THREADS, bool VECTOR>
static __device__ __forceinline__ void fetch_along(float (&x)[R][WORDS], const float *p,
                                                   int64_t ldx, int rows, int depth)
{
#pragma unroll
    for (int r = 0; r < R; r++, p += ldx)
#pragma unroll
        for (int i = 0; i < WORDS; i += 4) {
            if (VECTOR && r < rows && word_of<THREADS, VECTOR>(i + 3) < depth) {
                unpack(x[r] + i, __ldcs((const float4 *)(p + word_of<THREADS, VECTOR>(i))));
            } else {
#pragma unroll
                for (int j = i; j < i + 4; j++) {
                    const int at = word_of<THREADS, VECTOR>(j);
                    x[r][j] = r < rows && at < depth ? __ldg(p + at) : 0.0f;
                }
            }
        }
}

template <int ROWS, int R, int THREADS, bool VECTOR>
static __device__ __forceinline__ void along(const tilemm__sgemm_skinny_t &problem)
{
    const int WARPS = THREADS / 32, PITCH = WARPS + 1;
    const int WORDS = 8; /* of a row that a thread reads at a time */
    __shared__ float shared[ROWS * PITCH];
    static_assert(ROWS % R == 0 && ROWS % WARPS == 0, "rows are shared out evenly");

    const place_t place = place_of(problem);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int rows = (int)min(problem.m - place.tile * ROWS, (int64_t)ROWS);
    const float *const x = place.x + place.tile * ROWS * problem.ldx;
    /* Pieces of k of the same length, in whole lines of the cache. */
    const int64_t length = place.end_k - place.begin_k;
    const int64_t pieces = (length + THREADS * WORDS - 1) / (THREADS * WORDS);
    const int piece = (int)((length + pieces * 32 - 1) / (pieces * 32)) * 32;

#pragma unroll 1
    for (int64_t k0 = place.begin_k; k0 < place.end_k; k0 += piece) {
        const int depth = (int)min((int64_t)piece, place.end_k - k0);
        const float *p = x + k0;
        float z[WORDS], next[R][WORDS];
        fetch_along<R, WORDS, THREADS, VECTOR>(next, p, problem.ldx, rows, depth);
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const int at = word_of<THREADS, VECTOR>(i);
            z[i] = at < depth ? __ldg(place.z + (k0 + at) * problem.z_k) : 0.0f;
        }
#pragma unroll 1
        for (int row = 0; row < rows; row += R) {
            float sum[R];
#pragma unroll
            for (int r = 0; r < R; r++) {
                sum[r] = next[r][0] * z[0];
#pragma unroll
                for (int i = 1; i < WORDS; i++)
                    sum[r] = fmaf(next[r][i], z[i], sum[r]);
            }
            p += R * problem.ldx;
            fetch_along<R, WORDS, THREADS, VECTOR>(next, p, problem.ldx, rows - row - R, depth);
            bool owner = true;
            int kept = 0;
            fold<R, 16, 1>(sum, lane, &kept, &owner);
            if (owner) {
                float *const total = shared + (row + kept) * PITCH + warp;
                *total = k0 == place.begin_k ? sum[0] : *total + sum[0];
            }
        }
    }

    /* Warps' sums: a warp adds up some rows' in pairs. */
    float total[ROWS / WARPS];
    bool owner = true;
    int kept = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ROWS / WARPS; i++)
        total[i] = warp + i * WARPS < rows ? shared[(warp + i * WARPS) * PITCH + lane] : 0.0f;
    fold<ROWS / WARPS, 16, 1>(total, lane, &kept, &owner);
    __syncthreads();
    if (owner)
        shared[(warp + kept * WARPS) * 2] = total[0];
    __syncthreads();
    finish<ROWS, 1, THREADS>(problem, shared);
}

/* ---- variants ------------------------------------------------------------------------------- */

/* The registers let BLOCKS blocks fit a multiprocessor. */
enum { BLOCKS = 2 };

#define KERNEL(name, threads, blocks, call)                                                        \
    static __global__ void __launch_bounds__(threads, blocks)                                      \
        name(const __grid_constant__ tilemm__sgemm_skinny_t problem)                               \
    {                                                                                              \
        if (!problem.partial && !problem.fringe)                                                   \
            wait_for_previous();                                                                   \
        call(problem);                                                                             \
        if (problem.fringe)                                                                        \
            wait_for_previous();                                                                   \
    }
#define KERNEL_K(name, aligned, rows, n, lanes_k, rows_of_thread, warps_k)                         \
    static_assert(WARPS / (warps_k) * (32 / (lanes_k)) * (rows_of_thread) == (rows), #name);       \
    KERNEL(name, THREADS, BLOCKS, (across<n, lanes_k, rows_of_thread, warps_k, (aligned) != 0>))
#define KERNEL_M(name, aligned, rows, n, lanes_m, steps, warps_k)                                  \
    static_assert(WARPS / (warps_k) * (lanes_m)*4 == (rows), #name);                               \
    KERNEL(name, THREADS, BLOCKS, (down<n, lanes_m, 1, warps_k, steps, (aligned) != 0>))
#define KERNEL_LONG(name, aligned, rows, n, at_a_time, threads)                                    \
    KERNEL(name, threads, 1, (along<rows, at_a_time, threads, (aligned) != 0>))
TILEMM__SGEMM_SKINNY_K_ROWS(KERNEL_K)
TILEMM__SGEMM_SKINNY_M_ROWS(KERNEL_M)
TILEMM__SGEMM_SKINNY_LONG_ROWS(KERNEL_LONG)

#define VARIANT(name, ...) {name, THREADS},
#define VARIANT_LONG(name, aligned, rows, n, at_a_time, threads) {name, threads},
static const struct {
    void (*kernel)(tilemm__sgemm_skinny_t);
    unsigned threads;
} variants[] = {TILEMM__SGEMM_SKINNY_K_ROWS(VARIANT) TILEMM__SGEMM_SKINNY_M_ROWS(VARIANT)
                    TILEMM__SGEMM_SKINNY_LONG_ROWS(VARIANT_LONG)};

extern "C" int tilemm__sgemm_skinny_launch(const tilemm__sgemm_skinny_t *problem, void *stream)
{
    const auto &variant = variants[problem->variant - TILEMM__sgemm_skinny_sm75_128x2_k];
    return launch_grids(variant.kernel, *problem,
                        {0, variant.threads, 0, problem->cluster, problem->concurrent != 0},
                        stream);
}
