/* ffma_sm80.cuh - SGEMM by FP32 multiply-adds on shared tiles Ms and Ns, which asynchronous copies
 * fill. For ffma_sm80.cu and rest_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block computes one tile of C, for one matrix of a batch and one range of k. The blocks that
 * divide a tile's k may be a cluster: each stores its sums in its shared memory and adds up some of
 * all, the splits in order. In tiles for small products, groups of a block's threads divide every
 * k-step in the same way, so that a multiprocessor with few blocks has enough warps.
 *
 * Shared memory holds STAGES k-steps in a ring: one is multiplied while cp.async fills the others
 * without registers. So a thread has registers for 8 x 8 sums and for the fragments of two k. It
 * reads 4 times 16 bytes for 64 multiply-adds, and the compiler can place the sums so that a
 * multiply-add's operands come from different register banks. These two set the speed.
 *
 * An operand whose rows run along k is transposed by copies of 4 bytes. The other kind is copied 16
 * bytes at a time if it is aligned.
 *
 * The last tile of a row or column of tiles is moved back so that it ends where the matrix ends; it
 * stores only elements that no other tile has. The first k-step may be partial: a whole one is
 * copied, from which the next step begins anew where the part ends, and zeros overwrite the rest.
 * So only copies of matrices smaller than a tile, which leave out what these lack, or of a k
 * smaller than a step need conditions. There is a loop for any tiles, one for whole tiles, and one
 * for whole tiles that are aligned.
 *
 * Assumes: compute capability 8.0 or more, 9.0 for clusters; what the host promises in
 * tilemm__sgemm_ffma_t.
 *
 * Accuracy: a sum is one chain of multiply-adds over the group's part of the block's k; with the
 * smallest tile of two groups, which has registers for it, the sum of one chain for each k-step; in
 * rest_sm90.cu the sum of chains of 256 of k, each of which starts with what the addition before it
 * lost. Groups' sums, then a cluster's, or in rest_sm90.cu those of pieces of k, are added first to
 * last. */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_FFMA_SM80_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_FFMA_SM80_CUH

#include <cuda_runtime.h>

#include "ffma.h"
#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/registers.cuh"
#include "kernels/cuda/shared.cuh"
#include "tile.cuh"

namespace ffma_sm80
{

static_assert(TILEMM__SGEMM_MOST_K / 16 <= (int64_t)1 << 32,
              "k-steps of 16 are counted in 32 bits");

/* Wait until at most PENDING groups of copies are unfinished, of any thread. */
template <int PENDING>
static __device__ __forceinline__ void wait_groups(void)
{
    copy_async_wait<PENDING>();
    __syncthreads();
}

/* ---- producer ------------------------------------------------------------------------------- */

/* One thread's copies of a tile of WIDTH x BK: LINES lines, ALONG copies of each. */
template <int WIDTH, int BK, int WARPS, bool TRANSPOSED, bool WIDE>
struct copies {
    static_assert(BK % 8 == 0 && WIDTH % 32 == 0 && WARPS <= 8, "copies cover the tile");
    static_assert(!(TRANSPOSED && WIDE), "16 bytes cannot be transposed");

    static const int LINE = TRANSPOSED ? 4 * WARPS : WIDE ? 128 * WARPS / WIDTH : WARPS;
    static const int LINES = (TRANSPOSED ? WIDTH : BK) / LINE;
    static const int ALONG = TRANSPOSED ? BK / 8 : WIDE ? 1 : WIDTH / 32;
    static const int BYTES = WIDE ? 16 : 4;
    static_assert(LINES * LINE == (TRANSPOSED ? WIDTH : BK), "whole lines");

    /* How far along m or n the thread's first element lies in a tile. */
    static __device__ __forceinline__ unsigned first(void)
    {
        return TRANSPOSED ? tilemm__ffma_line(threadIdx.x, 0, WIDTH, WARPS, TRANSPOSED, WIDE)
                          : tilemm__ffma_along(threadIdx.x, 0, WIDTH, TRANSPOSED, WIDE);
    }

    /* How far into the operand the thread's first element lies. */
    static __device__ __forceinline__ int64_t offset(int64_t ld)
    {
        return tilemm__ffma_line(threadIdx.x, 0, WIDTH, WARPS, TRANSPOSED, WIDE) * ld +
               tilemm__ffma_along(threadIdx.x, 0, WIDTH, TRANSPOSED, WIDE);
    }

    static __device__ __forceinline__ unsigned index(unsigned i, unsigned j)
    {
        const unsigned line = tilemm__ffma_line(threadIdx.x, i, WIDTH, WARPS, TRANSPOSED, WIDE);
        const unsigned along = tilemm__ffma_along(threadIdx.x, j, WIDTH, TRANSPOSED, WIDE);
        return tilemm__ffma_index(TRANSPOSED ? along : line, TRANSPOSED ? line : along, WIDTH,
                                  TRANSPOSED);
    }

    /* Copy number j of line i of a whole tile, if `yes`. `p` is the thread's first element of the
     * line, `to` the shared tile. */
    static __device__ __forceinline__ void one(bool yes, unsigned to, const float *p, unsigned i,
                                               unsigned j)
    {
        /* index(0, 0) + the offset of copy (i, j); xor, where the offset is in permuted bits. */
        const unsigned first = index(0, 0) * 4;
        const unsigned k = TRANSPOSED ? j * 8 : i * LINE, mn = TRANSPOSED ? i * LINE : j * 32;
        const unsigned low = TRANSPOSED ? mn % 32 : 0;
        copy_async_if<BYTES>(yes, to + (first ^ low * 4) + (k * WIDTH + mn - low) * 4,
                             p + j * (TRANSPOSED ? 8 : 32));
    }

    /* The tile of a k smaller than a step, of which `extent` x `depth` elements exist. It is filled
     * up with zeros along k; beyond the extent are only sums that are not stored. `valid` is an
     * address that may be read. */
    static __device__ __forceinline__ void part(unsigned to, const float *p, int64_t ld,
                                                int64_t extent, unsigned depth, const float *valid)
    {
#pragma unroll 1
        for (unsigned i = 0; i < LINES; i++) {
#pragma unroll 1
            for (unsigned j = 0; j < ALONG; j++) {
                const unsigned line =
                    tilemm__ffma_line(threadIdx.x, i, WIDTH, WARPS, TRANSPOSED, WIDE);
                const unsigned along = tilemm__ffma_along(threadIdx.x, j, WIDTH, TRANSPOSED, WIDE);
                const bool there = (TRANSPOSED ? along : line) < depth;
                if ((TRANSPOSED ? line : along) < extent)
                    copy_async_zero<BYTES>(to + index(i, j) * 4,
                                           there ? p + j * (TRANSPOSED ? 8 : 32) : valid,
                                           there ? BYTES : 0);
            }
            p += LINE * ld;
        }
    }
};

/* What a block's loop promises of the tiles of both operands: nothing; that all of them are whole;
 * also that they are aligned for the widest copies. */
enum { ANY_TILES, WHOLE_TILES, ALIGNED_TILES };

/* Copies one operand to its shared tiles. The copies of a tile may be made in parts, between
 * multiply-adds: many at a time delay the reads of Ms and Ns. */
template <int WIDTH, int BK, int WARPS, bool TRANSPOSED>
struct producer {
    typedef copies<WIDTH, BK, WARPS, TRANSPOSED, false> narrow;
    typedef copies<WIDTH, BK, WARPS, TRANSPOSED, !TRANSPOSED> widest;

    const float *p; /* this thread's first element of the next tile, or of what is left of it */
    int64_t ld, extent;
    bool begun; /* the first k-step is under way */

    /* Whether all tiles are whole, and aligned for the widest copies. */
    static __device__ __forceinline__ bool can_be_widest(const float *origin, int64_t ld,
                                                         int64_t extent)
    {
        return extent >= WIDTH && (TRANSPOSED || ((uintptr_t)origin | (uint64_t)ld * 4) % 16 == 0);
    }

    /* Start with the first k-step, `depth` deep, if it is not whole and the last one. `origin` is
     * the tile's first element. */
    __device__ __forceinline__ producer(const float *origin, int64_t ld, int64_t extent,
                                        bool is_widest, unsigned depth, bool last, unsigned to)
        : p(origin + (is_widest ? widest::offset(ld) : narrow::offset(ld))), ld(ld), extent(extent),
          begun(last && depth < BK)
    {
        if (!begun)
            return;
        if (is_widest)
            widest::part(to, p, ld, extent, depth, origin);
        else
            narrow::part(to, p, ld, extent, depth, origin);
    }

    /* Of the last k-step that was copied, `back` are copied again with the next one. */
    __device__ __forceinline__ void move_back(unsigned back)
    {
        p -= TRANSPOSED ? back : back * ld;
    }

    /* Copy part `number` of `parts` of the next k-step, if `yes`. */
    template <int TILES>
    __device__ __forceinline__ void next(bool yes, unsigned to, unsigned number, unsigned parts)
    {
        typedef copies<WIDTH, BK, WARPS, TRANSPOSED, TILES == ALIGNED_TILES && !TRANSPOSED> C;
        const unsigned ALONG = C::ALONG, COUNT = C::LINES * ALONG;
#pragma unroll
        for (unsigned c = 0; c < COUNT; c++) {
            const unsigned i = c / ALONG, j = c % ALONG;
            if (c * parts / COUNT != number)
                continue;
            C::one(yes && (TILES != ANY_TILES ||
                           C::first() + (TRANSPOSED ? i * C::LINE : j * 32) < extent),
                   to, p, i, j);
            if (j == ALONG - 1)
                p += C::LINE * ld;
            if (c == COUNT - 1 && TRANSPOSED)
                p += BK - WIDTH * ld;
        }
    }
};

/* ---- consumer ------------------------------------------------------------------------------- */

/* Read a thread's elements of row k of a tile. `at` is the first one's place in row 0, in bytes. */
template <int QUADS, int WIDTH, bool TRANSPOSED>
static __device__ __forceinline__ void read_fragment(float (&x)[4 * QUADS], unsigned tile,
                                                     unsigned at, unsigned k)
{
    /* Squares are a multiple of 32 elements apart, which the permutation does not reach. */
    const unsigned from = tile + (at ^ tilemm__ffma_index(k, 0, WIDTH, TRANSPOSED) % 32 * 4);
    static_assert(WIDTH / QUADS % 32 == 0, "squares are a constant apart");
#pragma unroll
    for (int q = 0; q < QUADS; q++)
        unpack(x + 4 * q, shared_read(from + (k * WIDTH + q * (WIDTH / QUADS)) * 4));
}

/* sum += a b, by squares of 2 x 2, up two columns of these and down the next two. A multiply-add
 * takes two cycles where two of the registers that it reads are in one bank, unless the one before
 * read one of them too. So speed depends on where the compiler places the sums, and that on the
 * order. By columns it places them worse where copies transpose neither operand: 6 %. */
template <int M, int N>
static __device__ __forceinline__ void multiply(float (&sum)[M][N], const float (&a)[M],
                                                const float (&b)[N])
{
    const int SIDE = 2;
#pragma unroll
    for (int n = 0; n < N; n += SIDE)
#pragma unroll
        for (int along = 0; along < M; along += SIDE) {
            const int m = n / SIDE % 2 ? M - SIDE - along : along;
#pragma unroll
            for (int at = 0; at < SIDE * SIDE; at++) {
                const int j = n + at / SIDE, i = m + (at / SIDE ? SIDE - 1 - at % SIDE : at % SIDE);
                sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
            }
        }
}

/* ---- a block -------------------------------------------------------------------------------- */

/* In how many parts a tile's copies of a k-step are made, as measured. The compiler puts an empty
 * read before each part; and it places the sums by bank with one number, but not with another. */
static constexpr unsigned parts_of(int m, int n, int groups, bool transposed_a, bool transposed_b)
{
    const struct {
        int m, n, groups;
        unsigned nn, nt, tn, tt;
    } tiles[] = {{128, 128, 1, 8, 8, 8, 4}, {128, 64, 1, 1, 1, 8, 1},  {64, 64, 1, 1, 1, 2, 1},
                 {64, 64, 2, 1, 1, 1, 4},   {128, 32, 1, 8, 8, 16, 8}, {32, 128, 1, 8, 8, 8, 2},
                 {32, 64, 1, 2, 1, 2, 1}};
    for (const auto &tile : tiles)
        if (tile.m == m && tile.n == n && tile.groups == groups)
            return transposed_a ? (transposed_b ? tile.nt : tile.nn)
                                : (transposed_b ? tile.tt : tile.tn);
    return 1;
}

/* A variant's constants. With CHAIN, the steps of a chain, sums are added to totals: in registers
 * after each step; or compensated, in shared memory behind the stages, after several steps. */
template <int BM_, int BN_, int BK_, int QM_, int QN_, int GROUPS_, int STAGES_, bool TRANSPOSED_A_,
          bool TRANSPOSED_B_, unsigned CHAIN_ = QM_ *QN_ == 1 && GROUPS_ != 1>
struct shape {
    static const int BM = BM_, BN = BN_, BK = BK_, QM = QM_, QN = QN_, GROUPS = GROUPS_,
                     STAGES = STAGES_;
    static const bool TRANSPOSED_A = TRANSPOSED_A_, TRANSPOSED_B = TRANSPOSED_B_;
    static const int GROUP_WARPS = BM / QM * (BN / QN) / 16 / 32, WARPS = GROUP_WARPS * GROUPS;
    static const int GROUP_K = BK / GROUPS; /* of a k-step */
    static const int LANES_M = QM < QN ? 8 : 4, LANES_N = 32 / LANES_M;
    static const int WARPS_N = BN / QN / 4 / LANES_N;
    static const unsigned PARTS = parts_of(BM, BN, GROUPS, TRANSPOSED_A, TRANSPOSED_B);
    static const unsigned MS_BYTES = BM * BK * 4, STAGE_BYTES = (BM + BN) * BK * 4;
    static const unsigned CHAIN = CHAIN_;
    static const unsigned RING_BYTES = STAGES * STAGE_BYTES;
    static const unsigned SHARED_BYTES = RING_BYTES + (CHAIN > 1 ? BM * BN * GROUPS * 4 : 0);
    typedef producer<BM, BK, WARPS, TRANSPOSED_A> ms_producer;
    typedef producer<BN, BK, WARPS, TRANSPOSED_B> ns_producer;
    static_assert(BK % 16 == 0, "k-steps are counted in 32 bits");
    static_assert(BM / QM % (4 * LANES_M) == 0 && BN / QN % (4 * LANES_N) == 0, "whole warps");
    static_assert(GROUP_K * GROUPS == BK && GROUP_K % 8 == 0, "groups read rows permuted alike");
    static_assert(PARTS <= (unsigned)GROUP_K, "all parts are copied");
    static_assert(STAGES >= 2, "one is multiplied, one is filled");
    static_assert(BM * BN * GROUPS <= STAGES * (BM + BN) * BK, "the sums fit the stages");
};

/* The totals of this thread in shared memory are `apart` bytes apart, a row of sums in each fours.
 * End a chain, the first one if `first`; the `last` one leaves the totals in `sum`. */
template <int M, int N>
static __device__ __forceinline__ void end_chain_shared(float (&sum)[M][N], unsigned totals,
                                                        unsigned apart, bool first, bool last)
{
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int j = 0; j < N; j += 4) {
            const unsigned at = totals + (i * N + j) / 4 * apart;
            float total[1][4] = {},
                  four[1][4] = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
            if (!first)
                unpack(total[0], shared_read(at));
            end_chain(total, four);
            shared_write(at, pack(total[0]));
#pragma unroll
            for (int e = 0; e < 4; e++)
                sum[i][j + e] = last ? total[0][e] : four[0][e];
        }
}

/* Fill the rows of k from `depth` on of a stage with zeros. */
template <class S>
static __device__ __forceinline__ void zero_rows(unsigned stage, unsigned depth)
{
#pragma unroll 1
    for (unsigned at = depth * S::BM + 4 * threadIdx.x; at < S::BK * S::BM; at += 128 * S::WARPS)
        shared_write(stage + at * 4, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
#pragma unroll 1
    for (unsigned at = depth * S::BN + 4 * threadIdx.x; at < S::BK * S::BN; at += 128 * S::WARPS)
        shared_write(stage + S::MS_BYTES + at * 4, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
}

/* Consumer. Between its multiply-adds the producers fill the stages. The result is in `sum`, or
 * with a CHAIN of 1 in `total`. A thread's squares begin at at_m and at_n of each stage; `steps`
 * k-steps follow the first, of which `depth0` of k count. */
template <class S, int TILES>
static __device__ __forceinline__ void
multiply_steps(float (&sum)[4 * S::QM][4 * S::QN], float (&total)[4 * S::QM][4 * S::QN],
               typename S::ms_producer &to_ms, typename S::ns_producer &to_ns, unsigned depth0,
               unsigned steps, unsigned ring, unsigned at_m, unsigned at_n)
{
    const unsigned ring_end = ring + S::RING_BYTES;
    [[maybe_unused]] bool is_first = true; /* of the chains */
    unsigned ms = ring;                    /* the stage that is multiplied */
    unsigned filling = ring, to_copy = steps;
    float am[2][4 * S::QM], bn[2][4 * S::QN];
#pragma unroll 1
    for (int s = 0; s < S::STAGES - 1; s++) {
        to_ms.template next<TILES>(s ? to_copy : !to_ms.begun, filling, 0, 1);
        to_ns.template next<TILES>(s ? to_copy : !to_ns.begun, filling + S::MS_BYTES, 0, 1);
        copy_async_commit();
        filling += S::STAGE_BYTES;
        if (s == 0) {
            to_ms.move_back(S::BK - depth0);
            to_ns.move_back(S::BK - depth0);
        } else if (to_copy) {
            to_copy--;
        }
    }
    wait_groups<S::STAGES - 2>();
    if (depth0 < S::BK) {
        zero_rows<S>(ring, depth0);
        __syncthreads();
    }
    read_fragment<S::QM, S::BM, S::TRANSPOSED_A>(am[0], ms, at_m, 0);
    read_fragment<S::QN, S::BN, S::TRANSPOSED_B>(bn[0], ms + S::MS_BYTES, at_n, 0);

#pragma unroll 1
    for (;;) {
#pragma unroll
        for (unsigned k = 0; k < S::GROUP_K; k++) {
            const unsigned next = (k + 1) % S::GROUP_K;
            /* Fill the stage that was multiplied last. */
            to_ms.template next<TILES>(to_copy, filling, k, S::PARTS);
            to_ns.template next<TILES>(to_copy, filling + S::MS_BYTES, k, S::PARTS);

            /* Before the last k all of this stage's fragments have been read: go to the next. */
            if (next == 0) {
                copy_async_commit();
                filling += S::STAGE_BYTES;
                if (filling == ring_end)
                    filling = ring;
                if (to_copy)
                    to_copy--;
                wait_groups<S::STAGES - 2>();
                ms += S::STAGE_BYTES;
                if (ms == ring_end)
                    ms = ring;
            }
            read_fragment<S::QM, S::BM, S::TRANSPOSED_A>(am[next & 1], ms, at_m, next);
            read_fragment<S::QN, S::BN, S::TRANSPOSED_B>(bn[next & 1], ms + S::MS_BYTES, at_n,
                                                         next);
            multiply<4 * S::QM, 4 * S::QN>(sum, am[k & 1], bn[k & 1]);
        }
        if constexpr (S::CHAIN > 1) {
            if (steps % S::CHAIN == 0) {
                end_chain_shared(sum, ring_end + threadIdx.x * 16, 32 * S::WARPS * 16, is_first,
                                 steps == 0);
                is_first = false;
            }
        } else if constexpr (S::CHAIN == 1) {
#pragma unroll
            for (int i = 0; i < 4 * S::QM; i++)
#pragma unroll
                for (int j = 0; j < 4 * S::QN; j++) {
                    total[i][j] += sum[i][j];
                    sum[i][j] = 0.0f;
                }
        }
        if (!steps)
            break;
        steps--;
    }
}

/* Epilogue: store the elements that no other tile has, in C or in the partial product. This
 * thread's squares begin at (m, n) of the tile. The sums of a block's groups and of a cluster's
 * blocks go to the stages' shared memory; each group and each block adds up some of them. Where
 * rows of C are not aligned, a warp's sums also go by way of that memory, so that neighbours in C
 * are stored by neighbouring lanes. */
template <class S>
static __device__ __forceinline__ void
store_tile(const float (&sum)[4 * S::QM][4 * S::QN], const tilemm__sgemm_ffma_t &problem,
           const tile_place_t &place, unsigned ring, unsigned group, unsigned m, unsigned n)
{
    const int BM = S::BM, BN = S::BN, QM = S::QM, QN = S::QN, GROUPS = S::GROUPS;
    const tilemm__sgemm_args_t &args = problem.args;
    const bool in_cluster = problem.splits > 1 && !problem.partial;
    const bool whole = problem.splits == 1 || in_cluster;
    const float alpha = whole ? args.alpha : 1.0f, beta = whole ? args.beta : 0.0f;
    const int64_t ldc = whole ? args.ldc : args.n;
    const int new_m = (int)(place.begin_m - place.m0), new_n = (int)(place.begin_n - place.n0);
    const int end_m = (int)min((int64_t)BM, args.m), end_n = (int)min((int64_t)BN, args.n);
    float *c;
    if (!whole)
        c = problem.partial + (place.split * args.batch_count + place.matrix) * (args.m * args.n);
    else
        c = args.c_array ? args.c_array[place.matrix] : args.c + place.matrix * args.stride_c;
    c += place.m0 * ldc + place.n0;

    const bool wide =
        ((uintptr_t)c | (uint64_t)ldc * 4) % 16 == 0 && new_n % 4 == 0 && args.n % 4 == 0;

    /* A thread's fours of sums are numbered. Those of a warp with one number lie in LANES_M rows of
     * ROW floats, four rows apart. In the stages they are together. */
    const unsigned FOURS = 4 * QM * QN, ROW = 4 * S::LANES_N, APART = 32 * S::GROUP_WARPS * 16;
    const unsigned lane = threadIdx.x % 32;
    const unsigned own = ring + threadIdx.x % (32 * S::GROUP_WARPS) * 16, of_warp = own - lane * 16;
    const unsigned square_m = tilemm__ffma_square_m(lane, S::LANES_M);
    const unsigned square_n = tilemm__ffma_square_n(lane, S::LANES_M);
    const auto row_of = [&](unsigned four) {
        return (int)(m + four / QN / 4 * (BM / QM) + four / QN % 4);
    };
    const auto col_of = [&](unsigned four) { return (int)(n + four % QN * (BN / QN)); };
    const auto put_four = [&](unsigned four, const float *v) {
        const int row = row_of(four), col = col_of(four);
        if (row >= new_m && row < end_m && col >= new_n && col < end_n)
            epilogue_store((float4 *)(c + row * ldc + col), v, alpha, beta);
    };
    const auto order = [&](unsigned four, const float *v) {
        shared_write(of_warp + four * APART + tilemm__ffma_ordered(lane, S::LANES_M) * 16, pack(v));
    };
    const auto put_ordered = [&](unsigned four) {
        const int row = row_of(four) - (int)(square_m - lane / ROW) * 4;
        const int col = col_of(four) - (int)(square_n * 4 - lane % ROW);
        const bool there = col >= new_n && col < end_n;
        float v[4], *to = c + row * ldc + col;
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            v[i] = shared_read_float(of_warp + four * APART + (i * 32 + lane) * 4);
#pragma unroll
        for (int i = 0; i < 4; i++, to += 128 / ROW * ldc)
            if (there && row + i * (128 / (int)ROW) >= new_m && row + i * (128 / (int)ROW) < end_m)
                epilogue_store(to, v[i], alpha, beta);
    };
    const auto put = [&](unsigned four, const float *v) {
        if (wide) {
            put_four(four, v);
            return;
        }
        __syncwarp(); /* the lanes have read their fours */
        order(four, v);
        __syncwarp();
        put_ordered(four);
    };

    const bool is_alone = GROUPS == 1 && !in_cluster;
    const unsigned splits = (unsigned)problem.splits;

    if (is_alone && wide) {
#pragma unroll
        for (unsigned four = 0; four < FOURS; four++)
            put_four(four, sum[four / QN] + four % QN * 4);
        return;
    }
    if constexpr (S::CHAIN <= 1)
        __syncthreads(); /* the stages are all read */
#pragma unroll
    for (unsigned four = 0; four < FOURS; four++) {
        float v[4];
        /* The addition moves the sums to other registers: a store of 16 bytes needs four in a
         * row, which would keep the compiler from placing the sums by bank. */
#pragma unroll
        for (int j = 0; j < 4; j++)
            v[j] = sum[four / QN][four % QN * 4 + j] + 0.0f;
        if (is_alone)
            order(four, v);
        else
            shared_write(own + (group * FOURS + four) * APART, pack(v));
    }
    if (is_alone) {
        __syncwarp();
#pragma unroll 4
        for (unsigned four = 0; four < FOURS; four++)
            put_ordered(four);
        return;
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
                shared_write(own + four * APART, pack(v));
            else
                put(four, v);
        }
    }
    if (!in_cluster)
        return;
    cluster_sync();
#pragma unroll 1
    for (unsigned four = group * splits + (unsigned)place.split; four < FOURS;
         four += GROUPS * splits) {
        float4 part[TILEMM__SGEMM_MOST_CLUSTER];
        float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        /* All reads are under way together. Not a function: with one the compiler makes other code
         * of the whole kernel, and products of 128^3 took 2 % longer. */
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
}

/* Compute a tile, or a part of its k, unless begin() returns false. Warps for which finish(sums)
 * returns true store their sums. In rest_sm90.cu these need not be all of the block's, and finish()
 * returns when the stages are read. */
template <class S, typename begin_t, typename finish_t>
static __device__ __forceinline__ void compute(const tilemm__sgemm_ffma_t &problem,
                                               const tile_place_t &place, const begin_t &begin,
                                               const finish_t &finish)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) float stages[];
    const tilemm__sgemm_args_t &args = problem.args;
    const unsigned group = S::GROUPS > 1 ? threadIdx.x / 32 / S::GROUP_WARPS : 0;
    const unsigned warp = threadIdx.x / 32 - group * S::GROUP_WARPS, lane = threadIdx.x % 32;
    const int64_t m0 = place.m0, n0 = place.n0, k0 = place.k0;
    const unsigned steps = (unsigned)((place.depth - 1) / S::BK); /* after the first */
    const unsigned depth0 = (unsigned)(place.depth - (int64_t)steps * S::BK);

    if (!begin())
        return;

    const unsigned ring = shared_address(stages);
    const float *const a =
        args.a_array ? args.a_array[place.matrix] : args.a + place.matrix * args.stride_a;
    const float *const b =
        args.b_array ? args.b_array[place.matrix] : args.b + place.matrix * args.stride_b;
    const float *const from_a = a + (S::TRANSPOSED_A ? m0 * args.lda + k0 : k0 * args.lda + m0);
    const float *const from_b = b + (S::TRANSPOSED_B ? n0 * args.ldb + k0 : k0 * args.ldb + n0);
    const bool is_widest = S::ms_producer::can_be_widest(from_a, args.lda, args.m) &&
                           S::ns_producer::can_be_widest(from_b, args.ldb, args.n);
    typename S::ms_producer to_ms(from_a, args.lda, args.m, is_widest, depth0, !steps, ring);
    typename S::ns_producer to_ns(from_b, args.ldb, args.n, is_widest, depth0, !steps,
                                  ring + S::MS_BYTES);

    /* This thread's squares begin at (m, n), (m + BM / QM, n), (m, n + BN / QN) ... of the tile. */
    const unsigned m =
        (warp / S::WARPS_N * S::LANES_M + tilemm__ffma_square_m(lane, S::LANES_M)) * 4;
    const unsigned n =
        (warp % S::WARPS_N * S::LANES_N + tilemm__ffma_square_n(lane, S::LANES_M)) * 4;
    const unsigned at_m = (group * S::GROUP_K * S::BM + m) * 4;
    const unsigned at_n = (group * S::GROUP_K * S::BN + n) * 4;
    float sum[4 * S::QM][4 * S::QN], total[4 * S::QM][4 * S::QN];

#pragma unroll
    for (int i = 0; i < 4 * S::QM; i++)
#pragma unroll
        for (int j = 0; j < 4 * S::QN; j++)
            sum[i][j] = total[i][j] = 0.0f;
    if (is_widest)
        multiply_steps<S, ALIGNED_TILES>(sum, total, to_ms, to_ns, depth0, steps, ring, at_m, at_n);
    else if (!(S::TRANSPOSED_A && S::TRANSPOSED_B) && args.m >= S::BM && args.n >= S::BN)
        multiply_steps<S, WHOLE_TILES>(sum, total, to_ms, to_ns, depth0, steps, ring, at_m, at_n);
    else
        multiply_steps<S, ANY_TILES>(sum, total, to_ms, to_ns, depth0, steps, ring, at_m, at_n);
#pragma unroll
    for (int i = 0; i < 4 * S::QM; i++)
#pragma unroll
        for (int j = 0; j < 4 * S::QN && !S::CHAIN; j++)
            sum[i][j] += 0.0f; /* no -0 */
    if (finish(sum))
        store_tile<S>(S::CHAIN == 1 ? total : sum, problem, place, ring, group, m, n);
#endif
}

/* Compute tile number `number` of the grids. */
template <class S>
static __device__ __forceinline__ void body(const tilemm__sgemm_ffma_t &problem, uint64_t number)
{
    const tile_place_t place = tile_place<S::BM, S::BN>(problem, number);
    const auto begin = [&] {
        wait_for_previous();
        if (problem.lets_start)
            let_next_start();
        return !(S::BM * S::BN == 128 * 128 && problem.routes.a &&
                 (!(*problem.routes.left & TILEMM__SGEMM_BY_FP32) ||
                  tilemm__sgemm_route(problem.routes, place.matrix, place.begin_m, place.begin_n) !=
                      TILEMM__SGEMM_BY_FP32));
    };
    const auto finish = [&](const float(&)[4 * S::QM][4 * S::QN]) {
        if ((S::CHAIN || S::BM == 32) && gridDim.x <= TILEMM__SGEMM_FEW_BLOCKS)
            let_next_start();
        return true;
    };
    compute<S>(problem, place, begin, finish);
}

} /* namespace ffma_sm80 */

#endif
