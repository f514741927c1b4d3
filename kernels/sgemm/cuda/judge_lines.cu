/* judge_lines.cu - which lines of a product of planes (planes.h) are exact, and which groups of
 * lines are hard (route.h), from the notes on their blocks.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbouring threads have neighbouring lines, whose notes lie side by side. Where k is long,
 * `slices` threads have a line, each a range of its blocks, and the first one judges by what all
 * have found. Lines that are not exact, as nearly all are, need no atomic operation.
 *
 * Assumes notes made by tilemm__sgemm_make_planes_launch(), which also stores the zeros that this
 * adds to. */
#include <cuda_runtime.h>

#include "kernels/cuda/launch.cuh"
#include "planes.h"

enum {
    THREADS = 256,
    GROUP = TILEMM__SGEMM_ROUTE_LINES,
    CASES = TILEMM__SGEMM_ROUTE_CASES,
    DENSITIES = TILEMM__SGEMM_ROUTE_DENSITIES,
    BITS = TILEMM__SGEMM_NOTE_BITS,
    FEW_OF_BLOCK = 16, /* large elements that decide a line, or twice as many if both are sparse */
    MOST_SPREAD = 36   /* of the exponents of a line's blocks */
};
static_assert(GROUP % THREADS == 0, "a block's lines are of one group");

typedef tilemm__sgemm_judge_operand_t operand_t;

/* What the notes on a line's blocks say. */
typedef struct {
    unsigned top;    /* exponent << BITS | near, of the block with the largest exponent */
    unsigned bottom; /* the smallest exponent << BITS | near */
    unsigned near;   /* elements near the largest of their block */
    unsigned flags;
    unsigned least; /* of all numbers, as in a note */
} line_t;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* elsewhere there are no planes */
/* Of no blocks. */
static __device__ __forceinline__ line_t nothing(void)
{
    return {0, ~0u, 0, 0, TILEMM__SGEMM_NOTE_LEAST_MOST};
}

static __device__ __forceinline__ line_t both(const line_t &x, const line_t &y)
{
    return {max(x.top, y.top), min(x.bottom, y.bottom), x.near + y.near, x.flags | y.flags,
            min(x.least, y.least)};
}

static __device__ __forceinline__ line_t line_of(unsigned note)
{
    const unsigned numbers = note & ((1u << 2 * BITS) - 1);
    return {numbers, numbers ? numbers : ~0u, note & TILEMM__SGEMM_NOTE_MASK,
            note & TILEMM__SGEMM_NOTE_FLAGS, note >> TILEMM__SGEMM_NOTE_LEAST};
}

/* A line with its last block, of which k fills a part. Of a small part few elements are near the
 * largest, whatever the data: it decides only if these are larger than those of other blocks. */
static __device__ __forceinline__ line_t with_part(const line_t &line, line_t part)
{
    if (line.top != 0 && part.top >> BITS <= (line.top >> BITS) + 1)
        part.top = 0;
    return both(line, part);
}

/* log2 of what a density divides: of three fifths and more, three tenths, three twentieths, less.
 */
static __device__ __forceinline__ unsigned halvings(unsigned density)
{
    return density < DENSITIES - 1 ? density : DENSITIES;
}

/* The cases in which a line is exact, a bit for each. Planes' last bit matters only in sums of few
 * large products; with one plane it may be lost. */
static __device__ unsigned judge(const line_t &line, unsigned few, bool one_plane)
{
    const unsigned near = line.top & TILEMM__SGEMM_NOTE_MASK;
    unsigned exact = 0;
    if ((line.flags & TILEMM__SGEMM_NOTE_EXACT) ||
        (line.top != 0 && (line.top >> BITS) - (line.bottom >> BITS) > MOST_SPREAD))
        return (1u << CASES) - 1;
#pragma unroll
    for (unsigned i = 0; i < CASES; i++) {
        const bool sparse = i >= DENSITIES;
        const bool is_few =
            near < (sparse ? 2u : 1u) * FEW_OF_BLOCK || line.near >> halvings(i % DENSITIES) < few;
        if ((sparse && (line.flags & TILEMM__SGEMM_NOTE_LOSSY)) ||
            (line.top != 0 && is_few && !one_plane))
            exact |= 1u << i;
    }
    return exact;
}

/* Which of the DENSITIES a line has, `near` of whose k elements are near the largest. */
static __device__ unsigned density_of(unsigned near, int64_t k)
{
    unsigned thin = 0;
    while (thin < DENSITIES - 1 && ((int64_t)near << thin) * 5 < k * 3)
        thin++;
    return thin;
}

/* Whether BF16 planes lose bits of a line's numbers, or may: of the least one the exponent is known
 * but for its last bits. */
static __device__ bool is_spread(const line_t &line)
{
    const int largest =
        (int)(line.top >> BITS) - TILEMM__SGEMM_NOTE_BIAS + TILEMM__SGEMM_PLANES_TOP_LOG2;
    const int least = ((int)line.least << TILEMM__SGEMM_NOTE_LEAST_UNIT_LOG2) - 127;
    return line.top != 0 && largest - least > TILEMM__SGEMM_HARD_SPREAD_LOG2;
}

/* Add a warp's lines to those of their group and operand. */
static __device__ void count_lines(const operand_t &op, tilemm__sgemm_group_t *group,
                                   const line_t &line, unsigned exact)
{
    const unsigned lane = threadIdx.x % 32;
    const bool counts = line.top != 0 && !(exact & 1);
    const unsigned thin = __reduce_max_sync(~0u, counts ? density_of(line.near, op.k) : 0);
    const unsigned flags = __reduce_or_sync(~0u, line.flags);
    const unsigned has = (flags & TILEMM__SGEMM_NOTE_SPECIAL ? TILEMM__SGEMM_HAS_SPECIAL : 0) |
                         (flags & TILEMM__SGEMM_NOTE_UNEVEN ? TILEMM__SGEMM_HAS_UNEVEN : 0) |
                         (__any_sync(~0u, is_spread(line)) ? TILEMM__SGEMM_HAS_SPREAD : 0);
    if (__any_sync(~0u, exact != 0)) {
        unsigned votes[CASES];
#pragma unroll
        for (int i = 0; i < CASES; i++)
            votes[i] = __popc(__ballot_sync(~0u, exact >> i & 1));
#pragma unroll
        for (int i = 0; i < CASES; i += 2)
            if (lane == i && (votes[i] | votes[i + 1]))
                atomicAdd(&group->exact[i / 2], votes[i] | votes[i + 1] << 16);
        if (lane == 0)
            *(volatile unsigned *)&op.of.density->exact = 1;
    }
    if (lane != 0)
        return;
    if (has && (has & ~*(volatile unsigned *)&group->has))
        atomicOr(&group->has, has);
    if (flags & TILEMM__SGEMM_NOTE_SPARSE)
        *(volatile unsigned *)&op.of.density->sparse = 1;
    if (thin > *(volatile unsigned *)&op.of.density->thin)
        atomicMax(&op.of.density->thin, thin);
}
#endif

static __device__ __forceinline__ void judge_lines(const operand_t &op, unsigned index,
                                                   unsigned few, unsigned slices, unsigned one_in)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    __shared__ line_t found[THREADS];
    const unsigned lines = THREADS / slices, matrix = index / op.tiles;
    const unsigned slice = threadIdx.x / lines,
                   whole = (unsigned)(op.k / TILEMM__SGEMM_PLANES_BLOCK);
    const bool has_part = op.k % TILEMM__SGEMM_PLANES_BLOCK != 0;
    const int64_t first = (int64_t)(index - matrix * op.tiles) * lines;
    const int64_t at = first + threadIdx.x % lines, groups = (op.of.mn + GROUP - 1) / GROUP;
    const int64_t mn_planes = (op.of.mn + TILEMM__SGEMM_PLANES_ALIGN_MN - 1) /
                              TILEMM__SGEMM_PLANES_ALIGN_MN * TILEMM__SGEMM_PLANES_ALIGN_MN;
    const unsigned *const notes =
        op.of.notes + (int64_t)matrix * (whole + has_part) * op.of.notes_pitch + at;
    tilemm__sgemm_group_t *const group = &op.of.groups[matrix * groups + first / GROUP];
    line_t line = nothing(), part = nothing();
    wait_for_previous();
    let_next_start();
    if (at < op.of.mn) {
        if (has_part && slice == 0)
            part = line_of(__ldg(notes + whole * op.of.notes_pitch));
#pragma unroll 8
        for (unsigned block = slice; block < whole; block += slices)
            line = both(line, line_of(__ldg(notes + block * op.of.notes_pitch)));
    }
    if (slices > 1) {
        found[threadIdx.x] = line;
        __syncthreads();
        if (slice == 0)
            for (unsigned s = 1; s < slices; s++)
                line = both(line, found[threadIdx.x + s * lines]);
    }
    if (slice > 0)
        return;
    line = with_part(line, part);

    const unsigned exact = judge(line, few, !op.of.lo);

    if (at < op.of.mn)
        op.of.exact[matrix * mn_planes + at] = exact | line.top >> BITS
                                                                       << TILEMM__SGEMM_JUDGED_LOG2;
    if (threadIdx.x == 0)
        group->most =
            one_in ? max((unsigned)TILEMM__SGEMM_ROUTE_LEAST,
                         (unsigned)min((int64_t)GROUP, op.of.mn - first / GROUP * GROUP) / one_in)
                   : (unsigned)GROUP;
    count_lines(op, group, line, exact);
#endif
}

#define JUDGE_LINES(name, threads)                                                                 \
    static __global__ void __launch_bounds__(threads)                                              \
        name(const __grid_constant__ tilemm__sgemm_judge_lines_t problem)                          \
    {                                                                                              \
        static_assert(threads == THREADS, "what the kernel is written for");                       \
        const bool of_a = blockIdx.x < problem.blocks_a;                                           \
        judge_lines(of_a ? problem.a : problem.b,                                                  \
                    of_a ? blockIdx.x : blockIdx.x - problem.blocks_a, problem.few,                \
                    problem.slices, problem.one_in);                                               \
    }
TILEMM__SGEMM_JUDGE_LINES_ROWS(JUDGE_LINES)

extern "C" int tilemm__sgemm_judge_lines_launch(const tilemm__sgemm_judge_lines_t *problem,
                                                void *stream)
{
    return launch_kernel(sgemm_judge_lines_sm80,
                         {problem->blocks, THREADS, 0, 1, problem->concurrent != 0},
                         (cudaStream_t)stream, *problem);
}
