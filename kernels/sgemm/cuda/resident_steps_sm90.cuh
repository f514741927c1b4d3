/* resident_steps_sm90.cuh - where the blocks of resident kernels have their tiles and parts of k,
 * and how a warp copies op(A)'s steps, of tile after tile. For resident_sm90.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_RESIDENT_STEPS_SM90_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_RESIDENT_STEPS_SM90_CUH

#include <cuda_runtime.h>

#include "warp.h"
#include "warp_sm90.cuh"

static_assert(sizeof(tilemm__sgemm_resident_t) % 16 == 0,
              "what follows is read 16 bytes at a time");
typedef tilemm__sgemm_resident_t shared_t; /* its dynamic parts follow in locate() */

enum {
    CHUNK = TILEMM__SGEMM_RESIDENT_CHUNK,
    SLOTS = TILEMM__SGEMM_RESIDENT_SLOTS /* warps of a tile that is shared */
};

/* What a block has, and its warp. A group of warps has a tile at a time. */
typedef struct {
    shared_t *shared;
    uint4 *planes; /* of op(B): planes_of() */
    float *ring;   /* the warp's steps */
    float *sums;   /* of the group's warps, a tile each, and of the parts before */
    int slots, group, slot;
    int split; /* the only part of k, if there are splits */
    unsigned matrix;
    unsigned first, apart; /* the group's tiles */
    int rounds;            /* how many they are */
} block_t;

/* Steps that a warp has under way. */
template <typename S>
static __device__ __host__ constexpr int stages(void)
{
    return tilemm__resident_stages(S::M);
}

/* The rounds that a group takes: `count` rounds from `first` on; or, if there is a list `left`, the
 * `count` rounds in it, counted from `first`. */
typedef struct {
    int first, count;
    const unsigned char *left;
} rounds_t;

template <typename S>
static __device__ __forceinline__ block_t locate(const problem_t &problem, unsigned char *memory)
{
    const int warp = (int)threadIdx.x / 32;
    const unsigned over = divided(blockIdx.x, problem.by_shares);
    block_t block;
    block.slots = 1 << problem.slots_log2;
    block.group = warp >> problem.slots_log2;
    block.slot = warp & (block.slots - 1);
    block.matrix = divided(over, problem.by_splits);
    block.split = (int)(over - block.matrix * problem.splits);
    const unsigned groups = problem.warps >> problem.slots_log2;
    block.first = (blockIdx.x - over * problem.shares) * groups + block.group;
    block.apart = problem.shares * groups;
    block.rounds = block.first < problem.per_matrix
                       ? (int)((problem.per_matrix - 1 - block.first) / block.apart + 1)
                       : 0;
    block.shared = (shared_t *)memory;
    block.planes = (uint4 *)(memory + sizeof(shared_t));
    float *const rings = (float *)(block.planes + problem.planes);
    block.ring = rings + warp * stages<S>() * S::WORDS_A;
    block.sums = rings + problem.warps * stages<S>() * S::WORDS_A +
                 block.group * (SLOTS + 1) * S::M * (int)problem.args.n;
    return block;
}

/* The parts of k that a block multiplies, by planes of one kind: `length` each. */
typedef struct {
    int first, end, length;
} parts_t;

template <typename P>
static __device__ __forceinline__ parts_t parts_of(const problem_t &problem, const block_t &block)
{
    if (P::HALF)
        return {0, problem.parts_half, problem.k_half};
    if (problem.splits > 1)
        return {block.split, block.split + 1, problem.k_part};
    return {0, problem.parts, problem.k_part};
}

/* ---- op(A)'s steps -------------------------------------------------------------------------- */

/* A tile of a matrix, of which rows from `first` on are the tile's own. */
struct rows_of_tile_t : tile_t {
    int first;
};

/* The last tile has the matrix's last rows, and some of the tile before, so that all exist: unless
 * they are fewer, or not aligned. */
template <typename S>
static __device__ __forceinline__ rows_of_tile_t tile_of(const problem_t &problem,
                                                         const block_t &block,
                                                         const rounds_t &rounds, int i)
{
    const tilemm__sgemm_args_t &args = problem.args;
    const int round = rounds.first + (rounds.left ? rounds.left[i] : i);
    const int64_t m = ((int64_t)block.first + (int64_t)round * block.apart) * S::M;
    const bool moves = m + S::M > args.m && args.m >= S::M && (S::A_K || args.m % 4 == 0);
    const int64_t at = moves ? args.m - S::M : m;
    return {{at, 0, block.matrix, (int)min(args.m - at, (int64_t)S::M), (int)args.n},
            (int)(m - at)};
}

/* Copy a step that is not made of 16 bytes that are aligned, and of zeros. In a call of its own:
 * the loop that copies steps shall be short. */
template <typename S>
static __device__ __noinline__ void copy_rest(const operand_t a, int k, int depth, unsigned to)
{
    copier_t<S::M, S::A_K, false>(a, k).copy(to, depth, false);
}

/* Copies the steps of a warp's parts of k, of tile after tile, to its ring. */
template <typename S>
struct source_t {
    /* Of a step a lane copies 16 bytes of every NEXT-th row, or k. */
    static const int RUN = (S::A_K ? (int)BK : S::M) / 4, NEXT = 32 / RUN;
    static const int COPIES = S::M * BK / 4 / 32;
    const problem_t &problem;
    const block_t &block;
    const rounds_t &rounds;
    const parts_t parts;
    const float *now;  /* the lane's first number of the next step */
    bool is_whole;     /* all rows exist, and are aligned */
    int round, part;   /* of the next step */
    int k, end;        /* likewise; and where its part ends */
    unsigned to, from; /* where the next one is copied to, and taken from */

    __device__ __forceinline__ source_t(const problem_t &problem, const block_t &block,
                                        const rounds_t &rounds, const parts_t &parts)
        : problem(problem), block(block), rounds(rounds), parts(parts), now(nullptr),
          is_whole(false), round(0), part(parts.first + block.slot), to(0), from(0)
    {
        begin();
#pragma unroll 1
        for (int i = 0; i < stages<S>(); i++)
            copy();
    }

    /* Begin a part of a tile, if the warp has one. */
    __device__ __forceinline__ void begin(void)
    {
        const int lane = (int)threadIdx.x % 32, inside = lane % RUN * 4, outside = lane / RUN;
        k = end = 0;
        if (round >= rounds.count || part >= parts.end)
            return;
        const operand_t a = rows_of<S>(problem, tile_of<S>(problem, block, rounds, round));
        k = part * parts.length;
        end = (int)min(problem.args.k, (int64_t)k + parts.length);
        now = a.from + (S::A_K ? outside * a.ld + k + inside : (k + outside) * a.ld + inside);
        is_whole = a.wide && a.lines == S::M;
    }

    /* Copy the next step, if there is one, in place of one that all lanes have taken. */
    __device__ __forceinline__ void copy(void)
    {
        const int lane = (int)threadIdx.x % 32, inside = lane % RUN * 4, outside = lane / RUN;
        const unsigned step = shared_address(block.ring) + to * S::WORDS_A * 4;
        const unsigned first = step + tilemm__warp_index(S::A_K ? inside : outside,
                                                         S::A_K ? outside : inside, S::M, S::A_K) *
                                          4;
        const int64_t ld = problem.args.lda;
        if (is_whole && k + BK <= end) {
            const float *from = now;
#pragma unroll
            for (int i = 0; i < COPIES; i++, from += NEXT * ld)
                copy_async<16>(first + next_to(i), from);
        } else if (is_whole && k < end && (!S::A_K || (end - k) % 4 == 0)) {
            const float *from = now;
#pragma unroll
            for (int i = 0; i < COPIES; i++, from += NEXT * ld)
                copy_async_or_zero(S::A_K ? k + inside < end : k + outside + i * NEXT < end,
                                   first + next_to(i), from);
        } else if (k < end) {
            copy_rest<S>(rows_of<S>(problem, tile_of<S>(problem, block, rounds, round)), k, end - k,
                         step);
        }
        copy_async_commit();
        to = to + 1 == stages<S>() ? 0 : to + 1;
        now += S::A_K ? (int64_t)BK : BK * ld;
        k += BK;
        if (k >= end)
            go_on();
    }

    /* Bytes from a lane's first copy of a step to copy i, in shared memory. */
    static __device__ __forceinline__ int next_to(int i)
    {
        return (S::A_K ? i * NEXT * (int)BK : tilemm__warp_index(i * NEXT, 0, S::M, false)) * 4;
    }

    /* Go on to the warp's next part. */
    __device__ __forceinline__ void go_on(void)
    {
        part += block.slots;
        if (part >= parts.end) {
            part = parts.first + block.slot;
            round++;
        }
        begin();
    }

    /* Wait for the next step. */
    __device__ __forceinline__ const float *next(void)
    {
        const float *const step = block.ring + from * S::WORDS_A;
        copy_async_wait<stages<S>() - 1>();
        __syncwarp();
        from = from + 1 == stages<S>() ? 0 : from + 1;
        return step;
    }
};

#endif
