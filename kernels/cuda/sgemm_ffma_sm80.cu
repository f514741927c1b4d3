/* sgemm_ffma_sm80.cu - SGEMM by FP32 multiply-adds on shared tiles Ms and Ns, which asynchronous
 * copies fill.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block computes one tile of C, for one matrix of a batch and one range of k. Where k is split
 * and there is no room for partial products, the blocks of a tile are a cluster: each puts its sums
 * in its own shared memory, and each adds up some of all, the splits in order. Shared memory holds
 * STAGES k-steps in a ring: while one is multiplied the others are on their way, past the registers
 * (cp.async). So a thread has registers for 8 x 8 sums, and for the fragments of the next k while
 * it multiplies those of this one. Reads from Ms and Ns are then few: 4 of 16 bytes to 64
 * multiply-adds. The loop has little else, and the compiler can place the sums so that a
 * multiply-add's operands come from different register banks; these two things set the speed.
 *
 * An operand whose rows run along k is turned over on the way, by copies of 4 bytes, for which any
 * alignment will do. The other kind is copied 16 bytes at a time where its addresses allow it.
 *
 * The last tile of a row or column of tiles is moved back so that it ends where the matrix ends; it
 * computes some elements again and does not store those. The k-step that is not full is the first.
 * So only that step, and matrices smaller than a tile, need their copies checked.
 *
 * Assumes: compute capability 8.0 or more, 9.0 for clusters; what the host promises in
 * tilemm__sgemm_ffma_t.
 *
 * Accuracy: each sum is one chain of multiply-adds over the block's range of k, in order, or with
 * the smallest tile, which has registers for it, the sum of chains of one k-step each; a cluster's
 * are added first split to last. */
#include <cuda_runtime.h>

#include "launch.cuh"
#include "sgemm_ffma.h"

enum { GROUP = 16 }; /* rows of tiles that are walked together, for the L2 cache */

static_assert(TILEMM__SGEMM_MOST_K / 16 <= (int64_t)1 << 32,
              "k-steps of 16 are counted in 32 bits");

/* What follows is compiled for the host's pass and where its instructions are. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* ---- instructions --------------------------------------------------------------------------- */

/* Copy so many bytes from global to shared memory; zeros if `there` is false. */
template <int BYTES>
static __device__ __forceinline__ void copy(unsigned to, const float *from, bool there)
{
    const int bytes = there ? BYTES : 0;

    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :
                     : "r"(to), "l"(from), "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                     :
                     : "r"(to), "l"(from), "r"(bytes)
                     : "memory");
}

/* Copy so many bytes, or nothing. A branch would keep the compiler from mixing the copies with what
 * is around them. */
template <int BYTES>
static __device__ __forceinline__ void copy_if(bool yes, unsigned to, const float *from)
{
    if (BYTES == 16)
        asm volatile("{\n"
                     ".reg .pred yes;\n"
                     "setp.ne.b32 yes, %2, 0;\n"
                     "@yes cp.async.cg.shared.global [%0], [%1], 16;\n"
                     "}"
                     :
                     : "r"(to), "l"(from), "r"((int)yes)
                     : "memory");
    else
        asm volatile("{\n"
                     ".reg .pred yes;\n"
                     "setp.ne.b32 yes, %2, 0;\n"
                     "@yes cp.async.ca.shared.global [%0], [%1], 4;\n"
                     "}"
                     :
                     : "r"(to), "l"(from), "r"((int)yes)
                     : "memory");
}

/* What has been copied since the last call is one group. */
static __device__ __forceinline__ void end_group(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Wait until all but so many groups have arrived, for all threads. */
template <int LEFT>
static __device__ __forceinline__ void wait_groups(void)
{
    asm volatile("cp.async.wait_group %0;" : : "n"(LEFT) : "memory");
    __syncthreads();
}

static __device__ __forceinline__ void shared_write(unsigned to, const float *v)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(to), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
                 : "memory");
}

static __device__ __forceinline__ float4 shared_read(unsigned from)
{
    float4 v;

    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(from));
    return v;
}

/* This block's number in its cluster. */
static __device__ __forceinline__ unsigned cluster_rank(void)
{
    unsigned rank = 0;

#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/* All threads of the cluster meet in two steps: what one wrote to shared memory before it arrived,
 * the others see after they waited. */
static __device__ __forceinline__ void cluster_arrive(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

static __device__ __forceinline__ void cluster_wait(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/* Read what lies at `from` in the shared memory of the cluster's block `rank`. */
static __device__ __forceinline__ float4 cluster_read(unsigned from, unsigned rank)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

#if __CUDA_ARCH__ >= 900
    asm volatile("{\n"
                 ".reg .u32 there;\n"
                 "mapa.shared::cluster.u32 there, %4, %5;\n"
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n"
                 "}"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(from), "r"(rank)
                 : "memory");
#endif
    return v;
}

/* ---- producer ------------------------------------------------------------------------------- */

/* One thread's copies of a tile of WIDTH x BK: LINES lines, ALONG copies of each. */
template <int WIDTH, int BK, int WARPS, bool TURNED, bool WIDE>
struct copies {
    static_assert(BK % 8 == 0 && WIDTH % 32 == 0 && WARPS <= 8, "copies cover the tile");
    static_assert(!(TURNED && WIDE), "16 bytes cannot be turned over");

    static const int LINE = TURNED ? 4 * WARPS : WIDE ? 128 * WARPS / WIDTH : WARPS;
    static const int LINES = (TURNED ? WIDTH : BK) / LINE;
    static const int ALONG = TURNED ? BK / 8 : WIDE ? 1 : WIDTH / 32;
    static const int BYTES = WIDE ? 16 : 4;
    static_assert(LINES * LINE == (TURNED ? WIDTH : BK), "whole lines");

    /* How far into the operand, and into the shared tile, the thread's first element lies. */
    static __device__ __forceinline__ int64_t offset(int64_t ld)
    {
        return tilemm__ffma_line(threadIdx.x, 0, WIDTH, WARPS, TURNED, WIDE) * ld +
               tilemm__ffma_along(threadIdx.x, 0, WIDTH, TURNED, WIDE);
    }

    static __device__ __forceinline__ unsigned index(unsigned i, unsigned j)
    {
        const unsigned line = tilemm__ffma_line(threadIdx.x, i, WIDTH, WARPS, TURNED, WIDE);
        const unsigned along = tilemm__ffma_along(threadIdx.x, j, WIDTH, TURNED, WIDE);

        return tilemm__ffma_index(TURNED ? along : line, TURNED ? line : along, WIDTH, TURNED);
    }

    /* Copy number j of line i of a whole tile, if `yes`. `p` is the thread's first element of the
     * line, `to` the shared tile. */
    static __device__ __forceinline__ void one(bool yes, unsigned to, const float *p, unsigned i,
                                               unsigned j)
    {
        /* The place of copy (0, 0) + what index(i, j) adds to index(0, 0); where that would carry
         * into the permuted bits it is an exclusive or. */
        const unsigned first = index(0, 0) * 4;
        const unsigned k = TURNED ? j * 8 : i * LINE, mn = TURNED ? i * LINE : j * 32;
        const unsigned low = TURNED ? mn % 32 : 0;

        copy_if<BYTES>(yes, to + (first ^ low * 4) + (k * WIDTH + mn - low) * 4,
                       p + j * (TURNED ? 8 : 32));
    }

    /* A tile of which `extent` x `depth` elements are there. Zeros make up the depth; what lies
     * beyond the extent only touches sums that are not stored. `valid` may be read. */
    static __device__ __forceinline__ void part(unsigned to, const float *p, int64_t ld,
                                                int64_t extent, unsigned depth, const float *valid)
    {
#pragma unroll 1
        for (unsigned i = 0; i < LINES; i++) {
#pragma unroll 1
            for (unsigned j = 0; j < ALONG; j++) {
                const unsigned line = tilemm__ffma_line(threadIdx.x, i, WIDTH, WARPS, TURNED, WIDE);
                const unsigned along = tilemm__ffma_along(threadIdx.x, j, WIDTH, TURNED, WIDE);
                const bool there = (TURNED ? along : line) < depth;

                if ((TURNED ? line : along) < extent)
                    copy<BYTES>(to + index(i, j) * 4, there ? p + j * (TURNED ? 8 : 32) : valid,
                                there);
            }
            p += LINE * ld;
        }
    }
};

/* One operand's way to its shared tiles. Copies of a whole tile that are as wide as can be may be
 * made in parts, between the multiply-adds: many at once keep the reads of Ms and Ns waiting. Other
 * k-steps are copied at once. */
template <int WIDTH, int BK, int WARPS, bool TURNED>
struct producer {
    typedef copies<WIDTH, BK, WARPS, TURNED, false> narrow;
    typedef copies<WIDTH, BK, WARPS, TURNED, !TURNED> widest;

    const float *p; /* this thread's first element of the next tile, or of what is left of it */
    int64_t ld, extent;
    bool at_once;

    /* The operand from the tile's first element on. Copy the first k-step, `depth` deep. */
    __device__ __forceinline__ producer(const float *origin, int64_t ld, int64_t extent,
                                        unsigned depth, unsigned to)
        : ld(ld), extent(extent)
    {
        at_once = extent < WIDTH || (!TURNED && ((uintptr_t)origin | (uint64_t)ld * 4) % 16 != 0);
        if (at_once) {
            p = origin + narrow::offset(ld);
            narrow::part(to, p, ld, extent, depth, origin);
        } else {
            p = origin + widest::offset(ld);
            if (WARPS < 8 && depth == BK) { /* quicker; in larger tiles the loop then is slower */
                next(true, to, 0, 1);
                return;
            }
            widest::part(to, p, ld, extent, depth, origin);
        }
        p += TURNED ? depth : depth * ld;
    }

    /* Copy part `number` of `parts` of the next k-step, if `yes`. What is copied at once belongs to
     * the first. */
    __device__ __forceinline__ void next(bool yes, unsigned to, unsigned number, unsigned parts)
    {
        const unsigned ALONG = widest::ALONG, COUNT = widest::LINES * ALONG;

        if (number == 0 && at_once && yes) {
            if (!TURNED && extent >= WIDTH) {
#pragma unroll
                for (unsigned i = 0; i < narrow::LINES; i++)
#pragma unroll
                    for (unsigned j = 0; j < narrow::ALONG; j++)
                        narrow::one(true, to, p + i * narrow::LINE * ld, i, j);
            } else {
                narrow::part(to, p, ld, extent, BK, p);
            }
        }
#pragma unroll
        for (unsigned c = 0; c < COUNT; c++) {
            if (c * parts / COUNT != number)
                continue;
            widest::one(yes && !at_once, to, p, c / ALONG, c % ALONG);
            if (c % ALONG == ALONG - 1)
                p += widest::LINE * ld;
            if (c == COUNT - 1 && TURNED)
                p += BK - WIDTH * ld;
        }
    }
};

/* ---- consumer ------------------------------------------------------------------------------- */

/* Read a thread's elements of row k of a tile. `at` is the first one's place in row 0, in bytes. */
template <int QUADS, int WIDTH, bool TURNED>
static __device__ __forceinline__ void read_fragment(float (&x)[4 * QUADS], unsigned tile,
                                                     unsigned at, unsigned k)
{
    /* Squares are a multiple of 32 elements apart, which the permutation does not reach. */
    const unsigned from = tile + (at ^ tilemm__ffma_index(k, 0, WIDTH, TURNED) % 32 * 4);

    static_assert(WIDTH / QUADS % 32 == 0, "squares are a constant apart");
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        const float4 v = shared_read(from + (k * WIDTH + q * (WIDTH / QUADS)) * 4);

        x[4 * q] = v.x;
        x[4 * q + 1] = v.y;
        x[4 * q + 2] = v.z;
        x[4 * q + 3] = v.w;
    }
}

/* sum += a b, up one column and down the next. Of the orders that were tried (by rows, by columns,
 * by squares of 2 x 2) the compiler's code for this one has the fewest register bank conflicts:
 * counted in the machine code by a model of two banks, not measured. */
template <int M, int N>
static __device__ __forceinline__ void multiply(float (&sum)[M][N], const float (&a)[M],
                                                const float (&b)[N])
{
#pragma unroll
    for (int j = 0; j < N; j++) {
#pragma unroll
        for (int along = 0; along < M; along++) {
            const int i = j % 2 ? M - 1 - along : along;

            sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
        }
    }
}

/* ---- epilogue ------------------------------------------------------------------------------- */

/* Store four neighbours in C, those in columns from `begin` up to `end` of 0 to 3. */
static __device__ __forceinline__ void store(float *c, const float *sum, float alpha, float beta,
                                             bool wide, int begin, int end)
{
    if (wide) {
        if (begin <= 0 && end > 0) {
            float4 v = make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);

            if (beta != 0.0f) {
                const float4 old = *(const float4 *)c;

                v.x = fmaf(beta, old.x, v.x);
                v.y = fmaf(beta, old.y, v.y);
                v.z = fmaf(beta, old.z, v.z);
                v.w = fmaf(beta, old.w, v.w);
            }
            *(float4 *)c = v;
        }
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (j >= begin && j < end) {
                float v = alpha * sum[j];

                if (beta != 0.0f)
                    v = fmaf(beta, c[j], v);
                c[j] = v;
            }
        }
    }
}

#endif

/* ---- kernel --------------------------------------------------------------------------------- */

template <int BM, int BN, int BK, int QM, int QN, int STAGES, int BLOCKS, bool TURNED_A,
          bool TURNED_B>
static __global__ void __launch_bounds__(BM / QM * (BN / QN) / 16, BLOCKS)
    sgemm_ffma_sm80(const __grid_constant__ tilemm__sgemm_ffma_t problem, uint64_t first,
                    uint64_t tiles_m, uint64_t tiles_n)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const int WARPS = BM / QM * (BN / QN) / 16 / 32;
    const int LANES_M = QM < QN ? 8 : 4, LANES_N = 32 / LANES_M;
    const int WARPS_N = BN / QN / 4 / LANES_N;
    /* Into how many parts a k-step's copies fall, as measured. The compiler puts empty reads before
     * each group of copies that lie together, so that more parts cost more. */
    const unsigned PARTS = WARPS == 8 ? 4 : 1;
    const unsigned MS_BYTES = BM * BK * 4, STAGE_BYTES = (BM + BN) * BK * 4;
    extern __shared__ __align__(128) float stages[];
    static_assert(BK % 16 == 0, "k-steps are counted in 32 bits");
    static_assert(BM / QM % (4 * LANES_M) == 0 && BN / QN % (4 * LANES_N) == 0, "whole warps");
    static_assert(STAGES >= 2, "one is multiplied, one is filled");
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool in_cluster = problem.splits > 1 && !problem.partial;

    /* Which tile, which range of k, which matrix. */
    uint64_t tile = first + blockIdx.x, split = 0, matrix = 0;

    if (in_cluster) {
        split = cluster_rank();
        tile /= (uint64_t)problem.splits;
        if (args.batch_count > 1) {
            matrix = tile / (tiles_m * tiles_n);
            tile -= matrix * (tiles_m * tiles_n);
        }
    } else if (problem.splits > 1 || args.batch_count > 1) {
        const uint64_t rest = tile / (tiles_m * tiles_n);

        tile -= rest * (tiles_m * tiles_n);
        matrix = rest / problem.splits;
        split = rest - matrix * problem.splits;
    }

    const uint64_t group = tile / (GROUP * tiles_n);
    const uint64_t in_group = tile - group * (GROUP * tiles_n);
    const uint64_t rows = min((uint64_t)GROUP, tiles_m - group * GROUP);
    const uint64_t tile_n = in_group / rows;
    const int64_t begin_m = (group * GROUP + (in_group - tile_n * rows)) * BM;
    const int64_t begin_n = tile_n * BN;

    /* Where the tile lies, and how much of it is there. */
    const int64_t m0 = max((int64_t)0, min(begin_m, args.m - BM));
    const int64_t n0 = max((int64_t)0, min(begin_n, args.n - BN));
    const int64_t k0 = (int64_t)split * problem.k_split;
    const int64_t depth = min(problem.k_split, args.k - k0);
    unsigned steps = (unsigned)((depth - 1) / BK); /* after the first */
    const unsigned depth0 = (unsigned)(depth - (int64_t)steps * BK);

    /* Start the copies of the first stages. */
    wait_for_previous();

    const unsigned ring = (unsigned)__cvta_generic_to_shared(stages);
    const unsigned ring_end = ring + STAGES * STAGE_BYTES;
    const float *const a = args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a;
    const float *const b = args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b;

    producer<BM, BK, WARPS, TURNED_A> to_ms(
        a + (TURNED_A ? m0 * args.lda + k0 : k0 * args.lda + m0), args.lda, args.m, depth0, ring);
    producer<BN, BK, WARPS, TURNED_B> to_ns(
        b + (TURNED_B ? n0 * args.ldb + k0 : k0 * args.ldb + n0), args.ldb, args.n, depth0,
        ring + MS_BYTES);
    unsigned filling = ring + STAGE_BYTES, to_copy = steps;

    end_group();
#pragma unroll 1
    for (int s = 1; s < STAGES - 1; s++) {
        to_ms.next(to_copy, filling, 0, 1);
        to_ns.next(to_copy, filling + MS_BYTES, 0, 1);
        end_group();
        filling += STAGE_BYTES;
        if (to_copy)
            to_copy--;
    }

    /* This thread's squares begin at (m, n), (m + BM / QM, n), (m, n + BN / QN) ... of the tile. */
    const unsigned m = (warp / WARPS_N * LANES_M + tilemm__ffma_square_m(lane, LANES_M)) * 4;
    const unsigned n = (warp % WARPS_N * LANES_N + tilemm__ffma_square_n(lane, LANES_M)) * 4;
    unsigned ms = ring; /* the stage that is multiplied */
    const bool CHAINS = QM * QN == 1;
    float sum[4 * QM][4 * QN], total[4 * QM][4 * QN]; /* total is used where CHAINS */
    float am[2][4 * QM], bn[2][4 * QN];

#pragma unroll
    for (int i = 0; i < 4 * QM; i++)
#pragma unroll
        for (int j = 0; j < 4 * QN; j++)
            sum[i][j] = total[i][j] = 0.0f;

    wait_groups<STAGES - 2>();
    read_fragment<QM, BM, TURNED_A>(am[0], ms, m * 4, 0);
    read_fragment<QN, BN, TURNED_B>(bn[0], ms + MS_BYTES, n * 4, 0);

#pragma unroll 1
    for (;;) {
#pragma unroll
        for (unsigned k = 0; k < BK; k++) {
            const unsigned next = (k + 1) % BK;

            /* The stage that was multiplied last is filled. */
            to_ms.next(to_copy, filling, k, PARTS);
            to_ns.next(to_copy, filling + MS_BYTES, k, PARTS);

            /* Before the last k: the next stage is there, and this one's fragments are all read, so
             * that it may be filled again. */
            if (next == 0) {
                end_group();
                filling += STAGE_BYTES;
                if (filling == ring_end)
                    filling = ring;
                if (to_copy)
                    to_copy--;
                wait_groups<STAGES - 2>();
                ms += STAGE_BYTES;
                if (ms == ring_end)
                    ms = ring;
            }
            read_fragment<QM, BM, TURNED_A>(am[next & 1], ms, m * 4, next);
            read_fragment<QN, BN, TURNED_B>(bn[next & 1], ms + MS_BYTES, n * 4, next);
            multiply<4 * QM, 4 * QN>(sum, am[k & 1], bn[k & 1]);
        }
        if (CHAINS) {
#pragma unroll
            for (int i = 0; i < 4 * QM; i++)
#pragma unroll
                for (int j = 0; j < 4 * QN; j++) {
                    total[i][j] += sum[i][j];
                    sum[i][j] = 0.0f;
                }
        }
        if (!steps)
            break;
        steps--;
    }

    if (CHAINS && gridDim.x <= TILEMM__SGEMM_FEW_BLOCKS)
        let_next_start();

    /* Store what is new of the tile, in C or in the partial product. */
    const bool whole = problem.splits == 1 || in_cluster;
    const float alpha = whole ? args.alpha : 1.0f, beta = whole ? args.beta : 0.0f;
    const int64_t ldc = whole ? args.ldc : args.n;
    const int new_m = (int)(begin_m - m0) - (int)m, new_n = (int)(begin_n - n0) - (int)n;
    const int end_m = (int)min((int64_t)BM, args.m) - (int)m;
    const int end_n = (int)min((int64_t)BN, args.n) - (int)n;
    float *c;

    if (!whole)
        c = problem.partial + (split * args.batch_count + matrix) * (args.m * args.n);
    else
        c = args.c_array ? args.c_array[matrix] : args.c + matrix * args.stride_c;
    c += m0 * ldc + n0;

    const bool wide =
        ((uintptr_t)c | (uint64_t)ldc * 4) % 16 == 0 && (begin_n - n0) % 4 == 0 && args.n % 4 == 0;

    c += m * ldc + n;
    if (in_cluster) {
        /* A thread's fours of sums are numbered; block r adds up numbers r, r + splits ... */
        const unsigned FOURS = 4 * QM * QN, APART = 32 * WARPS * 16;
        const unsigned splits = (unsigned)problem.splits, own = ring + threadIdx.x * 16;
        static_assert(BM * BN <= STAGES * (BM + BN) * BK, "the sums fit the stages");

        __syncthreads(); /* which are all read */
#pragma unroll
        for (unsigned four = 0; four < FOURS; four++) {
            float v[4];

            /* Other registers, by an addition: the sums need not lie in fours themselves, which
             * would keep the compiler from placing them by bank. */
#pragma unroll
            for (int j = 0; j < 4; j++)
                v[j] = (CHAINS ? total : sum)[four / QN][four % QN * 4 + j] + 0.0f;
            shared_write(own + four * APART, v);
        }
        cluster_arrive();
        cluster_wait();
#pragma unroll 1
        for (unsigned four = (unsigned)split; four < FOURS; four += splits) {
            const int row = (int)(four / QN / 4 * (BM / QM) + four / QN % 4);
            const int col = (int)(four % QN * (BN / QN));
            float4 part[TILEMM__SGEMM_MOST_CLUSTER];
            float total[4] = {0.0f, 0.0f, 0.0f, 0.0f};

#pragma unroll
            for (unsigned s = 0; s < TILEMM__SGEMM_MOST_CLUSTER; s++)
                if (s < splits)
                    part[s] = cluster_read(own + four * APART, s);
#pragma unroll
            for (unsigned s = 0; s < TILEMM__SGEMM_MOST_CLUSTER; s++)
                if (s < splits) {
                    total[0] += part[s].x;
                    total[1] += part[s].y;
                    total[2] += part[s].z;
                    total[3] += part[s].w;
                }
            if (row >= new_m && row < end_m)
                store(c + row * ldc + col, total, alpha, beta, wide, new_n - col, end_n - col);
        }
        cluster_arrive();
        cluster_wait(); /* nobody leaves while another may still read its sums */
        return;
    }
#pragma unroll
    for (int i = 0; i < 4 * QM; i++) {
        const int row = i / 4 * (BM / QM) + i % 4;

        if (row < new_m || row >= end_m)
            continue;
#pragma unroll
        for (int q = 0; q < QN; q++) {
            const int col = q * (BN / QN);

            store(c + row * ldc + col, (CHAINS ? total : sum)[i] + 4 * q, alpha, beta, wide,
                  new_n - col, end_n - col);
        }
    }
#endif
}

/* ---- launcher ------------------------------------------------------------------------------- */

template <int BM, int BN, int BK, int QM, int QN, int STAGES, int BLOCKS, bool TURNED_A,
          bool TURNED_B>
static int launch_sm80(const tilemm__sgemm_ffma_t *problem, cudaStream_t stream)
{
    const auto kernel = sgemm_ffma_sm80<BM, BN, BK, QM, QN, STAGES, BLOCKS, TURNED_A, TURNED_B>;
    const int threads = BM / QM * (BN / QN) / 16;
    const int shared = STAGES * (BM + BN) * BK * (int)sizeof(float);
    const tilemm__sgemm_args_t *args = &problem->args;
    const uint64_t tiles_m = (args->m + BM - 1) / BM, tiles_n = (args->n + BN - 1) / BN;
    const uint64_t total = tiles_m * tiles_n * args->batch_count * problem->splits;
    const unsigned cluster = problem->partial ? 1 : (unsigned)problem->splits;
    cudaError_t error = cudaSuccess;

    if (cluster > TILEMM__SGEMM_MOST_CLUSTER)
        return cudaErrorInvalidValue;
    static_assert(shared <= 99 << 10, "compute capability 8.6 has no more");
    if (shared > 48 << 10)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    for (uint64_t first = 0; error == cudaSuccess && first < total;) {
        const uint64_t most = (1u << 30) / cluster * cluster; /* the grid's limit is twice that */
        const unsigned blocks = (unsigned)(total - first < most ? total - first : most);

        error = launch_cluster_after(kernel, cluster, blocks, threads, shared, stream, *problem,
                                     first, tiles_m, tiles_n);
        first += blocks;
    }
    return error;
}

/* A's rows run along k unless it is transposed, B's do if it is. */
template <int BM, int BN, int BK, int QM, int QN, int STAGES, int BLOCKS>
static int launch_turned_sm80(const tilemm__sgemm_ffma_t *problem, cudaStream_t stream)
{
    if (!problem->args.trans_a && !problem->args.trans_b)
        return launch_sm80<BM, BN, BK, QM, QN, STAGES, BLOCKS, true, false>(problem, stream);
    if (!problem->args.trans_a)
        return launch_sm80<BM, BN, BK, QM, QN, STAGES, BLOCKS, true, true>(problem, stream);
    if (!problem->args.trans_b)
        return launch_sm80<BM, BN, BK, QM, QN, STAGES, BLOCKS, false, false>(problem, stream);
    return launch_sm80<BM, BN, BK, QM, QN, STAGES, BLOCKS, false, true>(problem, stream);
}

extern "C" int tilemm__sgemm_ffma_sm80_launch(const tilemm__sgemm_ffma_t *problem, void *stream)
{
    switch (problem->tile) {
#define LAUNCH_TILE(m, n, k, quads_m, quads_n, stages, blocks)                                     \
    case TILEMM__SGEMM_SM80_##m##X##n##X##k:                                                       \
        return launch_turned_sm80<m, n, k, quads_m, quads_n, stages, blocks>(                      \
            problem, (cudaStream_t)stream);
        TILEMM__SGEMM_FFMA_SM80_TILES(LAUNCH_TILE)
#undef LAUNCH_TILE
    default: return cudaErrorInvalidValue;
    }
}
