/* ffma_sm80.cu - SGEMM by FP32 multiply-adds on shared tiles Ms and Ns, which asynchronous
 * copies fill.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block computes one tile of C, for one matrix of a batch and one range of k. Where k is split
 * and there is no room for partial products, the blocks of a tile are a cluster: each puts its sums
 * in its own shared memory, and each adds up some of all, the splits in order. In tiles for small
 * products a block's threads split every k-step among them in the same way, so that a
 * multiprocessor that has few blocks has warps enough. Shared memory holds
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
 * So only that step, and matrices smaller than a tile, need their copies checked. Operands that are
 * aligned and large enough have a loop of their own, in which nothing is left to be asked.
 *
 * Assumes: compute capability 8.0 or more, 9.0 for clusters; what the host promises in
 * tilemm__sgemm_ffma_t.
 *
 * Accuracy: each sum is one chain of multiply-adds over the group's part of the block's range of k,
 * in order, or with the smallest tile, which has registers for it, the sum of chains of one k-step
 * each; groups' sums, then a cluster's, are added first to last. */
#include <cuda_runtime.h>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/launch.cuh"
#include "ffma.h"
#include "tile.cuh"

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

template <bool VALUE>
struct constant {
    static const bool value = VALUE;
};

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

/* One operand's way to its shared tiles. Copies of a whole tile may be made in parts, between the
 * multiply-adds: many at once keep the reads of Ms and Ns waiting. */
template <int WIDTH, int BK, int WARPS, bool TURNED>
struct producer {
    typedef copies<WIDTH, BK, WARPS, TURNED, false> narrow;
    typedef copies<WIDTH, BK, WARPS, TURNED, !TURNED> widest;

    const float *p; /* this thread's first element of the next tile, or of what is left of it */
    int64_t ld, extent;

    /* Whether all tiles are whole, and copies can be as wide as can be. */
    static __device__ __forceinline__ bool can_be_widest(const float *origin, int64_t ld,
                                                         int64_t extent)
    {
        return extent >= WIDTH && (TURNED || ((uintptr_t)origin | (uint64_t)ld * 4) % 16 == 0);
    }

    /* The operand from the tile's first element on. Copy the first k-step, `depth` deep. */
    __device__ __forceinline__ producer(const float *origin, int64_t ld, int64_t extent,
                                        bool is_widest, unsigned depth, unsigned to)
        : ld(ld), extent(extent)
    {
        if (is_widest) {
            p = origin + widest::offset(ld);
            /* Quicker; but with the largest tile the loop then is slower. */
            if ((WARPS < 8 || WIDTH < 128) && depth == BK) {
                next<true>(true, to, 0, 1);
                return;
            }
            widest::part(to, p, ld, extent, depth, origin);
        } else {
            p = origin + narrow::offset(ld);
            narrow::part(to, p, ld, extent, depth, origin);
        }
        p += TURNED ? depth : depth * ld;
    }

    /* Copy part `number` of `parts` of the next k-step, if `yes`. A tile that is not whole is
     * copied with the first part. */
    template <bool WIDEST>
    __device__ __forceinline__ void next(bool yes, unsigned to, unsigned number, unsigned parts)
    {
        typedef copies<WIDTH, BK, WARPS, TURNED, WIDEST && !TURNED> C;
        const unsigned ALONG = C::ALONG, COUNT = C::LINES * ALONG;
        const bool whole = WIDEST || extent >= WIDTH;

        if (number == 0 && yes && !whole)
            C::part(to, p, ld, extent, BK, p);
#pragma unroll
        for (unsigned c = 0; c < COUNT; c++) {
            if (c * parts / COUNT != number)
                continue;
            C::one(yes && whole, to, p, c / ALONG, c % ALONG);
            if (c % ALONG == ALONG - 1)
                p += C::LINE * ld;
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

static __device__ __forceinline__ void add(float (&sum)[4], float4 v)
{
    sum[0] += v.x;
    sum[1] += v.y;
    sum[2] += v.z;
    sum[3] += v.w;
}

#endif

/* ---- kernel --------------------------------------------------------------------------------- */

template <int BM, int BN, int BK, int QM, int QN, int GROUPS, int STAGES, int BLOCKS, bool TURNED_A,
          bool TURNED_B>
static __global__ void __launch_bounds__(BM / QM * (BN / QN) / 16 * GROUPS, BLOCKS)
    sgemm_ffma_sm80(const __grid_constant__ tilemm__sgemm_ffma_t problem, uint64_t first,
                    uint64_t tiles_m, uint64_t tiles_n)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const int GROUP_WARPS = BM / QM * (BN / QN) / 16 / 32, WARPS = GROUP_WARPS * GROUPS;
    const int GROUP_K = BK / GROUPS; /* of a k-step */
    const int LANES_M = QM < QN ? 8 : 4, LANES_N = 32 / LANES_M;
    const int WARPS_N = BN / QN / 4 / LANES_N;
    /* Into how many parts a k-step's copies fall, as measured. The compiler puts empty reads before
     * each group of copies that lie together, so that more parts cost more. */
    const unsigned PARTS = GROUP_WARPS == 8 ? 4 : 1;
    const unsigned MS_BYTES = BM * BK * 4, STAGE_BYTES = (BM + BN) * BK * 4;
    extern __shared__ __align__(128) float stages[];
    static_assert(BK % 16 == 0, "k-steps are counted in 32 bits");
    static_assert(BM / QM % (4 * LANES_M) == 0 && BN / QN % (4 * LANES_N) == 0, "whole warps");
    static_assert(GROUP_K * GROUPS == BK && GROUP_K % 8 == 0, "groups read rows permuted alike");
    static_assert(STAGES >= 2, "one is multiplied, one is filled");
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned group = GROUPS > 1 ? threadIdx.x / 32 / GROUP_WARPS : 0;
    const unsigned warp = threadIdx.x / 32 - group * GROUP_WARPS, lane = threadIdx.x % 32;
    const bool in_cluster = problem.splits > 1 && !problem.partial;

    const tile_place_t place = tile_place<BM, BN>(problem, first + blockIdx.x, tiles_m, tiles_n);
    const int64_t begin_m = place.begin_m, begin_n = place.begin_n;
    const int64_t m0 = place.m0, n0 = place.n0, k0 = place.k0, depth = place.depth;
    const uint64_t split = place.split, matrix = place.matrix;
    unsigned steps = (unsigned)((depth - 1) / BK); /* after the first */
    const unsigned depth0 = (unsigned)(depth - (int64_t)steps * BK);

    /* Start the copies of the first stage. */
    wait_for_previous();
    if (problem.lets_start)
        let_next_start();

    const unsigned ring = (unsigned)__cvta_generic_to_shared(stages);
    const unsigned ring_end = ring + STAGES * STAGE_BYTES;
    const float *const a = args.a_array ? args.a_array[matrix] : args.a + matrix * args.stride_a;
    const float *const b = args.b_array ? args.b_array[matrix] : args.b + matrix * args.stride_b;

    typedef producer<BM, BK, WARPS, TURNED_A> ms_producer;
    typedef producer<BN, BK, WARPS, TURNED_B> ns_producer;
    const float *const from_a = a + (TURNED_A ? m0 * args.lda + k0 : k0 * args.lda + m0);
    const float *const from_b = b + (TURNED_B ? n0 * args.ldb + k0 : k0 * args.ldb + n0);
    const bool is_widest = ms_producer::can_be_widest(from_a, args.lda, args.m) &&
                           ns_producer::can_be_widest(from_b, args.ldb, args.n);
    ms_producer to_ms(from_a, args.lda, args.m, is_widest, depth0, ring);
    ns_producer to_ns(from_b, args.ldb, args.n, is_widest, depth0, ring + MS_BYTES);
    unsigned filling = ring + STAGE_BYTES, to_copy = steps;

    end_group();

    /* This thread's squares begin at (m, n), (m + BM / QM, n), (m, n + BN / QN) ... of the tile. */
    const unsigned m = (warp / WARPS_N * LANES_M + tilemm__ffma_square_m(lane, LANES_M)) * 4;
    const unsigned n = (warp % WARPS_N * LANES_N + tilemm__ffma_square_n(lane, LANES_M)) * 4;
    const unsigned at_m = (group * GROUP_K * BM + m) * 4, at_n = (group * GROUP_K * BN + n) * 4;
    unsigned ms = ring; /* the stage that is multiplied */
    const bool CHAINS = QM * QN == 1;
    float sum[4 * QM][4 * QN], total[4 * QM][4 * QN]; /* total is used where CHAINS */
    float am[2][4 * QM], bn[2][4 * QN];

#pragma unroll
    for (int i = 0; i < 4 * QM; i++)
#pragma unroll
        for (int j = 0; j < 4 * QN; j++)
            sum[i][j] = total[i][j] = 0.0f;

    const auto multiply_steps = [&](auto widest) {
        const bool WIDEST = decltype(widest)::value;

#pragma unroll 1
        for (int s = 1; s < STAGES - 1; s++) {
            to_ms.template next<WIDEST>(to_copy, filling, 0, 1);
            to_ns.template next<WIDEST>(to_copy, filling + MS_BYTES, 0, 1);
            end_group();
            filling += STAGE_BYTES;
            if (to_copy)
                to_copy--;
        }
        wait_groups<STAGES - 2>();
        read_fragment<QM, BM, TURNED_A>(am[0], ms, at_m, 0);
        read_fragment<QN, BN, TURNED_B>(bn[0], ms + MS_BYTES, at_n, 0);

#pragma unroll 1
        for (;;) {
#pragma unroll
            for (unsigned k = 0; k < GROUP_K; k++) {
                const unsigned next = (k + 1) % GROUP_K;

                /* The stage that was multiplied last is filled. */
                to_ms.template next<WIDEST>(to_copy, filling, k, PARTS);
                to_ns.template next<WIDEST>(to_copy, filling + MS_BYTES, k, PARTS);

                /* Before the last k: the next stage is there, and this one's fragments are all
                 * read, so that it may be filled again. */
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
                read_fragment<QM, BM, TURNED_A>(am[next & 1], ms, at_m, next);
                read_fragment<QN, BN, TURNED_B>(bn[next & 1], ms + MS_BYTES, at_n, next);
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
    };

    if (is_widest)
        multiply_steps(constant<true>());
    else
        multiply_steps(constant<false>());

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

    /* A thread's fours of sums are numbered. */
    const unsigned FOURS = 4 * QM * QN;
    const auto put = [&](unsigned four, const float *v) {
        const int row = (int)(four / QN / 4 * (BM / QM) + four / QN % 4);
        const int col = (int)(four % QN * (BN / QN));

        if (row >= new_m && row < end_m)
            store_four(c + row * ldc + col, v, alpha, beta, wide, new_n - col, end_n - col);
    };

    if (GROUPS == 1 && !in_cluster) {
#pragma unroll
        for (unsigned four = 0; four < FOURS; four++)
            put(four, (CHAINS ? total : sum)[four / QN] + four % QN * 4);
        return;
    }

    /* They go to the shared memory that the stages had. Of a block's groups, and of a cluster's
     * blocks, each adds up other numbers. */
    const unsigned APART = 32 * GROUP_WARPS * 16, splits = (unsigned)problem.splits;
    const unsigned own = ring + threadIdx.x % (32 * GROUP_WARPS) * 16;
    static_assert(BM * BN * GROUPS <= STAGES * (BM + BN) * BK, "the sums fit the stages");

    __syncthreads(); /* the stages are all read */
#pragma unroll
    for (unsigned four = 0; four < FOURS; four++) {
        float v[4];

        /* Other registers, by an addition: the sums need not lie in fours themselves, which
         * would keep the compiler from placing them by bank. */
#pragma unroll
        for (int j = 0; j < 4; j++)
            v[j] = (CHAINS ? total : sum)[four / QN][four % QN * 4 + j] + 0.0f;
        shared_write(own + (group * FOURS + four) * APART, v);
    }
    if (GROUPS > 1) {
        __syncthreads();
#pragma unroll
        for (unsigned four = group; four < FOURS; four += GROUPS) {
            float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};

#pragma unroll
            for (unsigned g = 0; g < GROUPS; g++)
                add(v, shared_read(own + (g * FOURS + four) * APART));
            if (in_cluster)
                shared_write(own + four * APART, v);
            else
                put(four, v);
        }
    }
    if (!in_cluster)
        return;
    cluster_sync();
#pragma unroll 1
    for (unsigned four = group * splits + (unsigned)split; four < FOURS; four += GROUPS * splits) {
        float4 part[TILEMM__SGEMM_MOST_CLUSTER];
        float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};

#pragma unroll
        for (unsigned s = 0; s < TILEMM__SGEMM_MOST_CLUSTER; s++)
            if (s < splits)
                part[s] = cluster_read(own + four * APART, s);
#pragma unroll
        for (unsigned s = 0; s < TILEMM__SGEMM_MOST_CLUSTER; s++)
            if (s < splits)
                add(v, part[s]);
        put(four, v);
    }
    cluster_sync(); /* nobody leaves while another may still read its sums */
#endif
}

/* ---- launcher ------------------------------------------------------------------------------- */

template <int BM, int BN, int BK, int QM, int QN, int GROUPS, int STAGES, int BLOCKS, bool TURNED_A,
          bool TURNED_B>
static int launch_sm80(const tilemm__sgemm_ffma_t *problem, cudaStream_t stream)
{
    const auto kernel =
        sgemm_ffma_sm80<BM, BN, BK, QM, QN, GROUPS, STAGES, BLOCKS, TURNED_A, TURNED_B>;
    const int threads = BM / QM * (BN / QN) / 16 * GROUPS;
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
template <int BM, int BN, int BK, int QM, int QN, int GROUPS, int STAGES, int BLOCKS>
static int launch_turned_sm80(const tilemm__sgemm_ffma_t *problem, cudaStream_t stream)
{
    if (!problem->args.trans_a && !problem->args.trans_b)
        return launch_sm80<BM, BN, BK, QM, QN, GROUPS, STAGES, BLOCKS, true, false>(problem,
                                                                                    stream);
    if (!problem->args.trans_a)
        return launch_sm80<BM, BN, BK, QM, QN, GROUPS, STAGES, BLOCKS, true, true>(problem, stream);
    if (!problem->args.trans_b)
        return launch_sm80<BM, BN, BK, QM, QN, GROUPS, STAGES, BLOCKS, false, false>(problem,
                                                                                     stream);
    return launch_sm80<BM, BN, BK, QM, QN, GROUPS, STAGES, BLOCKS, false, true>(problem, stream);
}

extern "C" int tilemm__sgemm_ffma_sm80_launch(const tilemm__sgemm_ffma_t *problem, void *stream)
{
    switch (problem->tile) {
#define LAUNCH_TILE(m, n, k, quads_m, quads_n, groups, stages, blocks)                             \
    case TILEMM__SGEMM_SM80_##m##X##n##X##k:                                                       \
        return launch_turned_sm80<m, n, k, quads_m, quads_n, groups, stages, blocks>(              \
            problem, (cudaStream_t)stream);
        TILEMM__SGEMM_FFMA_SM80_TILES(LAUNCH_TILE)
#undef LAUNCH_TILE
    default: return cudaErrorInvalidValue;
    }
}
