/* short.cu - SGEMM where k is short, or memory is not aligned: by FP32 multiply-adds, and in TF32
 * mode on tensor cores.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * With a short k the time goes into C, and with few rows into B. So the lanes of a warp store
 * neighbouring columns, wherever a row of C begins. There are two consumers:
 *   ffma_t - A thread computes ROWS x COLUMNS elements: rows that follow each other, and columns 32
 *            apart. It reads A's tile Ms by broadcast, 16 bytes at a time, and B's tile Ns with
 *            stride one; a warp stores 128 bytes of a row at a time.
 *   tf32_t - A warp computes ROWS x COLUMNS elements by mma.sync.m16n8k8, whose 16 rows are columns
 *            of C, and whose 8 columns are rows; it stores rows by way of shared memory.
 *
 * Layout: tilemm__short_pitch(). Both tiles have a line for each k. An operand whose rows run along
 * k is transposed by copies of 4 bytes: of 8 k of 4 of its rows by a warp, without bank conflicts.
 * tf32_t reads 8 neighbours of each of 4 lines, which are 2 apart: without bank conflicts too.
 *
 * Padding: none. Rows, columns and k that are not there are not copied; their sums are not stored.
 * tf32_t takes zeros for such k.
 *
 * Assumes: compute capability 8.0 or more; what the host promises in tilemm__sgemm_short_t.
 * Accuracy: ffma_t: one chain of multiply-adds over k; in tiles with few elements of C for each
 * thread, the sum of one chain for each stage. tf32_t: operands rounded to TF32, to nearest, one
 * sum over k in the tensor cores. */
#include <cuda_runtime.h>

#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "short.h"

/* Producer: copy `depth` steps of k of an operand's tile of WIDTH lines, of which `extent` are
 * there. `from` is the tile's first element. */
template <int WIDTH, int PITCH, int THREADS, bool ALONG_K>
static __device__ __forceinline__ void produce(unsigned to, const float *__restrict__ from,
                                               int64_t ld, int extent, int depth, bool wide)
{
    const int thread = (int)threadIdx.x;
    if (ALONG_K) {
        const int first_line = tilemm__short_line(thread), k = tilemm__short_k(thread);
        const int step = tilemm__short_line(THREADS);
        to += (k * PITCH + first_line) * 4;
        from += first_line * ld + k;
#pragma unroll 2
        for (int line = first_line; line < extent; line += step, to += 4 * step, from += step * ld)
#pragma unroll
            for (int i = 0; i < TILEMM__SGEMM_SHORT_DEPTH; i += TILEMM__SGEMM_SHORT_TOGETHER)
                if (k + i < depth)
                    copy_async<4>(to + i * PITCH * 4, from + i);
    } else if (wide) {
        const int first_k = thread / (WIDTH / 4), line = thread % (WIDTH / 4) * 4;
        const int step = THREADS / (WIDTH / 4), there = 4 * min(4, extent - line);
        from += first_k * ld + line;
#pragma unroll 2
        for (int k = first_k; k < depth && line < extent; k += step, from += step * ld)
            copy_async_zero<16>(to + (k * PITCH + line) * 4, from, there);
    } else {
        const int first_k = thread / WIDTH, line = thread % WIDTH, step = THREADS / WIDTH;
        from += first_k * ld + line;
#pragma unroll 4
        for (int k = first_k; k < depth && line < extent; k += step, from += step * ld)
            copy_async<4>(to + (k * PITCH + line) * 4, from);
    }
}

/* ---- consumers ------------------------------------------------------------------------------ */

/* What both have in common: rows and columns are those of a thread, or a warp's. */
template <int BM_, int BN_, int WARPS_, bool A_ALONG_K_, bool B_ALONG_K_, bool PADDED>
struct tile_t {
    static const int BM = BM_, BN = BN_, THREADS = 32 * WARPS_;
    static const bool A_ALONG_K = A_ALONG_K_, B_ALONG_K = B_ALONG_K_;
    static const int PITCH_A = tilemm__short_pitch(BM, A_ALONG_K || PADDED);
    static const int PITCH_B = tilemm__short_pitch(BN, B_ALONG_K || PADDED);
};

/* A part of C, and how many of its rows and columns there are. */
typedef struct {
    float *c;
    int64_t c_m, c_n;
    int rows, columns;
    float alpha, beta;
} part_t;

/* The part from element (m, n) on. */
[[maybe_unused]] static __device__ __forceinline__ part_t part_from(const part_t &part, int m,
                                                                    int n)
{
    return {part.c + m * part.c_m + n * part.c_n,
            part.c_m,
            part.c_n,
            part.rows - m,
            part.columns - n,
            part.alpha,
            part.beta};
}

/* Store value(i, j) to row i and column 32 j of a part. IS_USUAL: c_n is 1, beta is 0. */
template <int ROWS, int COLUMNS, bool IS_USUAL, typename VALUE>
static __device__ __forceinline__ void store_part(const part_t &part, VALUE value)
{
    const int64_t c_n = IS_USUAL ? 1 : part.c_n;
    float *row = part.c;
#pragma unroll
    for (int i = 0; i < ROWS; i++, row += part.c_m)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            if (i < part.rows && 32 * j < part.columns)
                epilogue_store(row + 32 * j * c_n, value(i, j), part.alpha,
                               IS_USUAL ? 0.0f : part.beta);
}

template <int ROWS, int COLUMNS, typename VALUE>
static __device__ __forceinline__ void store(const part_t &part, VALUE value)
{
    if (part.c_n == 1 && part.beta == 0.0f)
        store_part<ROWS, COLUMNS, true>(part, value);
    else
        store_part<ROWS, COLUMNS, false>(part, value);
}

template <int ROWS, int COLUMNS, int WARPS_M, int WARPS_N, bool A_ALONG_K, bool B_ALONG_K>
struct ffma_t : tile_t<ROWS * WARPS_M, 32 * COLUMNS * WARPS_N, WARPS_M * WARPS_N, A_ALONG_K,
                       B_ALONG_K, false> {
    typedef float sums_t[ROWS][COLUMNS];
    /* There are registers for totals: a chain ends with each stage. */
    static const bool ENDS_CHAINS = ROWS * COLUMNS <= TILEMM__SGEMM_SHORT_TOTALS;
    static_assert(ROWS % 4 == 0, "Ms is read 16 bytes at a time");

    static __device__ __forceinline__ int row(int warp)
    {
        return warp / WARPS_N * ROWS;
    }

    static __device__ __forceinline__ int column(int warp, int lane)
    {
        return warp % WARPS_N * 32 * COLUMNS + lane;
    }

    /* sum += the products of `depth` steps of k. `ms` and `ns` are the thread's first words. */
    static __device__ __forceinline__ void add(sums_t &sum, unsigned ms, const float *ns, int depth)
    {
#pragma unroll 2
        for (int k = 0; k < depth; k++) {
            float a[ROWS], b[COLUMNS];
#pragma unroll
            for (int i = 0; i < ROWS; i += 4)
                unpack(a + i, shared_read(ms + (k * ffma_t::PITCH_A + i) * 4));
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                b[j] = ns[k * ffma_t::PITCH_B + 32 * j];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < COLUMNS; j++)
                    sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
        }
    }

    /* total += the products of a stage, whose operands' parts are at `ms` and `ns`. */
    static __device__ __forceinline__ void multiply(sums_t &total, const float *ms, const float *ns,
                                                    int warp, int lane, int depth)
    {
        ms += row(warp);
        ns += column(warp, lane);
        if (ENDS_CHAINS) {
            sums_t sum = {};
            add(sum, shared_address(ms), ns, depth);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < COLUMNS; j++)
                    total[i][j] += sum[i][j];
        } else {
            add(total, shared_address(ms), ns, depth);
        }
    }

    static __device__ __forceinline__ void store_all(const part_t &part, float *, int warp,
                                                     int lane, const sums_t &total)
    {
        store<ROWS, COLUMNS>(part_from(part, row(warp), column(warp, lane)), [&](int i, int j) {
            return total[i][j] + 0.0f; /* no -0 */
        });
    }
};

template <int ROWS, int COLUMNS, int WARPS_M, int WARPS_N, bool A_ALONG_K, bool B_ALONG_K>
struct tf32_t
    : tile_t<ROWS * WARPS_M, COLUMNS * WARPS_N, WARPS_M * WARPS_N, A_ALONG_K, B_ALONG_K, true> {
    static const int MI = ROWS / 8, NI = COLUMNS / 16, STEP = TILEMM__SGEMM_SHORT_STEP_OF_TF32;
    typedef float sums_t[NI][MI][4];
    static const int STORED = TILEMM__SGEMM_SHORT_STORED_ROWS;
    static_assert(COLUMNS <= TILEMM__SGEMM_SHORT_STORED_MOST, "the host has made room");
    static_assert(tf32_t::PITCH_A % 32 == 4 && tf32_t::PITCH_B % 32 == 4, "no bank conflicts");

    static __device__ __forceinline__ int row(int warp)
    {
        return warp / WARPS_N * ROWS;
    }

    static __device__ __forceinline__ int column(int warp, int lane)
    {
        return warp % WARPS_N * COLUMNS + lane / 4;
    }

    /* A number rounded to TF32, or 0 if it is not there. */
    static __device__ __forceinline__ unsigned taken(float x, bool is_there)
    {
        unsigned rounded;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(is_there ? x : 0.0f));
        return rounded;
    }

    /* The numbers k 0 and 4, in the instruction's order, are the lane's k here, and the next. */
    static __device__ __forceinline__ void multiply(sums_t &total, const float *ms, const float *ns,
                                                    int warp, int lane, int depth)
    {
        ms += row(warp) + lane / 4;
        ns += column(warp, lane);
#pragma unroll 1
        for (int k0 = 0; k0 < depth; k0 += STEP) {
            const int k = k0 + lane % 4 * 2;
            const bool first = k < depth, second = k + 1 < depth;
            const float *const a = ms + k * tf32_t::PITCH_A, *const b = ns + k * tf32_t::PITCH_B;
            unsigned of_a[MI][2];
#pragma unroll
            for (int i = 0; i < MI; i++) {
                of_a[i][0] = taken(a[8 * i], first);
                of_a[i][1] = taken(a[8 * i + tf32_t::PITCH_A], second);
            }
#pragma unroll
            for (int j = 0; j < NI; j++) {
                const unsigned of_b[4] = {taken(b[16 * j], first), taken(b[16 * j + 8], first),
                                          taken(b[16 * j + tf32_t::PITCH_B], second),
                                          taken(b[16 * j + 8 + tf32_t::PITCH_B], second)};
#pragma unroll
                for (int i = 0; i < MI; i++) {
                    float(&sum)[4] = total[j][i];
                    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                        : "r"(of_b[0]), "r"(of_b[1]), "r"(of_b[2]), "r"(of_b[3]), "r"(of_a[i][0]),
                          "r"(of_a[i][1]));
                }
            }
        }
    }

    /* Eight rows at a time by way of shared memory. Of these a lane has rows 2 q and 2 q + 1, and
     * of 16 columns g and g + 8: it writes them, and reads rows, without bank conflicts. */
    static __device__ __forceinline__ void store_all(const part_t &part, float *memory, int warp,
                                                     int lane, const sums_t &total)
    {
        const int PITCH = tilemm__short_pitch(COLUMNS, true);
        float *const rows = memory + warp * STORED * PITCH;
        float *const to = rows + lane % 4 * 2 * PITCH + lane / 4;
        __syncthreads(); /* the last stage is no longer read */
#pragma unroll
        for (int i = 0; i < MI; i++) {
#pragma unroll
            for (int j = 0; j < NI; j++)
#pragma unroll
                for (int r = 0; r < 4; r++)
                    to[r % 2 * PITCH + 16 * j + r / 2 * 8] = total[j][i][r];
            __syncwarp();
            store<STORED, COLUMNS / 32>(
                part_from(part, row(warp) + STORED * i, warp % WARPS_N * COLUMNS + lane),
                [&](int r, int j) { return rows[r * PITCH + 32 * j + lane]; });
            __syncwarp();
        }
    }
};

/* ---- a block -------------------------------------------------------------------------------- */

template <typename S>
static __device__ __forceinline__ void body(const tilemm__sgemm_short_t &problem)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(16) float stages[];
    const int DEPTH = TILEMM__SGEMM_SHORT_DEPTH, STAGES = TILEMM__SGEMM_SHORT_STAGES;
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned matrix = divided(blockIdx.x, problem.by_per_matrix);
    const unsigned tile = blockIdx.x - matrix * problem.per_matrix;
    const unsigned tile_m = divided(tile, problem.by_tiles_n);
    const int64_t m0 = (int64_t)tile_m * S::BM;
    const int64_t n0 = (int64_t)(tile - tile_m * problem.tiles_n) * S::BN;
    const int rows = (int)min(args.m - m0, (int64_t)S::BM);
    const int columns = (int)min(args.n - n0, (int64_t)S::BN);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, k = (int)args.k;
    const unsigned words_a = (unsigned)(problem.depth * S::PITCH_A);
    const unsigned words = words_a + (unsigned)(problem.depth * S::PITCH_B);
    const unsigned ring = shared_address(stages);

    wait_for_previous();
    const float *a = args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a;
    const float *b = args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b;
    a += S::A_ALONG_K ? m0 * args.lda : m0;
    b += S::B_ALONG_K ? n0 * args.ldb : n0;
    int to_copy = 0; /* the first k that is not under way */
    unsigned filling = 0, stage = 0;
    const auto fill = [&] {
        const int depth = min(DEPTH, k - to_copy);
        const unsigned to = ring + filling * words * 4;
        if (depth > 0) {
            produce<S::BM, S::PITCH_A, S::THREADS, S::A_ALONG_K>(
                to, a + (S::A_ALONG_K ? to_copy : to_copy * args.lda), args.lda, rows, depth,
                problem.wide_a != 0);
            produce<S::BN, S::PITCH_B, S::THREADS, S::B_ALONG_K>(
                to + words_a * 4, b + (S::B_ALONG_K ? to_copy : to_copy * args.ldb), args.ldb,
                columns, depth, problem.wide_b != 0);
        }
        copy_async_commit();
        to_copy += DEPTH;
        filling = (filling + 1) % STAGES;
    };
    typename S::sums_t total = {};

#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++)
        fill();
#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += DEPTH, stage = (stage + 1) % STAGES) {
        const float *const ms = stages + stage * words;
        copy_async_wait<STAGES - 2>();
        __syncthreads();
        fill(); /* the stage that was read last */
        S::multiply(total, ms, ms + words_a, warp, lane, min(DEPTH, k - k0));
    }
    float *const c = args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c;
    S::store_all({c + m0 * problem.c_m + n0 * problem.c_n, problem.c_m, problem.c_n, rows, columns,
                  args.alpha, args.beta},
                 stages, warp, lane, total);
#endif
}

/* ---- variants ------------------------------------------------------------------------------- */

#define KERNEL(name, shape, trans_a, trans_b, rows, columns, warps_m, warps_n, blocks)             \
    KERNEL_OF(name, (32 * (warps_m) * (warps_n), ROOM_FOR(blocks)),                                \
              (const __grid_constant__ tilemm__sgemm_short_t problem),                             \
              body<shape<rows, columns, warps_m, warps_n, !(trans_a), (trans_b) != 0>>(problem))
#define KERNEL_FFMA(name, ...) KERNEL(name, ffma_t, __VA_ARGS__)
#define KERNEL_TF32(name, ...) KERNEL(name, tf32_t, __VA_ARGS__)
TILEMM__SGEMM_SHORT_ROWS(KERNEL_FFMA)
TILEMM__SGEMM_SHORT_TF32_ROWS(KERNEL_TF32)

#define VARIANT(name, trans_a, trans_b, rows, columns, warps_m, warps_n, blocks)                   \
    {name, 32 * (warps_m) * (warps_n)},
static const struct {
    void (*kernel)(tilemm__sgemm_short_t);
    unsigned threads;
} variants[] = {TILEMM__SGEMM_SHORT_ROWS(VARIANT) TILEMM__SGEMM_SHORT_TF32_ROWS(VARIANT)};

extern "C" int tilemm__sgemm_short_launch(const tilemm__sgemm_short_t *problem, void *stream)
{
    const auto &variant = variants[problem->variant - TILEMM__sgemm_short_sm80_128x128_nn];
    return launch_kernel(
        variant.kernel,
        {problem->blocks, variant.threads, problem->shared, 1, problem->concurrent != 0},
        (cudaStream_t)stream, *problem);
}
