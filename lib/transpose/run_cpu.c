/* run_cpu.c - transpositions on the CPU, as the plan says: blocks over threads, out of place.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "run_cpu.h"

#include "lib/cpu/cpu.h"

/* ---- blocks -------------------------------------------------------------------------------- */

typedef struct {
    int64_t rows, cols; /* of the source's block */
    const char *src;
    char *dst;
    int hints;
} block_t;

/* Task number `task`: a block of a matrix of the batch. Row blocks follow each other, so that a
 * thread writes along the rows of the result, or column blocks, so that it reads along those of the
 * source. */
static block_t find_block(const job_t *job, int64_t task, int trans)
{
    const tilemm__transpose_cpu_blocks_t *const b = &job->plan->blocks;
    const tilemm__transpose_args_t *const args = job->args;
    const int64_t size = (int64_t)args->elem_size;
    const int64_t row_blocks = tilemm__transpose_row_blocks(b);
    const int64_t col_blocks = tilemm__transpose_col_blocks(b);
    const int64_t matrix = task / (row_blocks * col_blocks);
    const int64_t of_it = task % (row_blocks * col_blocks);
    const int64_t row_block =
        (b->along_rows ? of_it / col_blocks : of_it % row_blocks) - (b->head > 0);
    const int64_t col_block =
        (b->along_rows ? of_it % col_blocks : of_it / row_blocks) - (b->head_cols > 0);
    const int64_t i = row_block < 0 ? 0 : b->head + row_block * b->block_rows;
    const int64_t j = col_block < 0 ? 0 : b->head_cols + col_block * b->block_cols;
    block_t block;

    block.rows = row_block < 0 ? b->head : tilemm__min(b->block_rows, b->rows - i);
    block.cols = col_block < 0 ? b->head_cols : tilemm__min(b->block_cols, b->cols - j);
    block.src = args->src;
    if (block.src)
        block.src += (matrix * args->stride_src + i * b->ld_src + j) * size;
    block.dst =
        (char *)args->dst +
        (matrix * args->stride_dst + (trans ? j * b->ld_dst + i : i * b->ld_dst + j)) * size;
    block.hints = b->stream && row_block >= 0 ? TILEMM__BLOCK_STREAM : 0;
    return block;
}

/* Prefetch a block of the source while another one is worked on. Always inlined: a compiler that
 * sees a function without effects leaves out its calls. */
static inline __attribute__((always_inline)) void prefetch_block(const block_t *block, int64_t ld,
                                                                 int64_t size)
{
    int64_t i, at;

    for (i = 0; i < block->rows; i++)
        for (at = 0; at < block->cols * size; at += 64)
            __builtin_prefetch(block->src + i * ld * size + at, 0, 2);
}

static void transpose_blocks(const job_t *job, thread_t me)
{
    const tilemm__transpose_cpu_blocks_t *const b = &job->plan->blocks;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t ld = tilemm__transpose_block_ld(b->block_cols, job->args->elem_size);
    /* 64: vectors read from it are best aligned. */
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    char *const scratch = my_scratch(job, me, stack, &bytes);
    int64_t task, end;

    my_share(me, tilemm__transpose_tasks(b), &task, &end);
    for (; task < end; task++) {
        const block_t block = find_block(job, task, 1);

        const int ahead = b->ahead && task + 1 < end;
        const block_t next = ahead ? find_block(job, task + 1, 1) : block;

        if (b->buffered) {
            if (ahead)
                prefetch_block(&next, b->ld_src, size);
            copy_rows(scratch, ld, block.src, b->ld_src, block.rows, block.cols, size);
            job->kernels->block[job->plan->kind](block.rows, block.cols, scratch, ld, block.dst,
                                                 b->ld_dst, job->args->alpha,
                                                 block.hints | TILEMM__BLOCK_NEAR, NULL);
        } else if (b->lines) {
            const int64_t scratch_ld =
                tilemm__transpose_block_ld(b->block_rows, job->args->elem_size);

            job->kernels->block[job->plan->kind](block.rows, block.cols, block.src, b->ld_src,
                                                 scratch, scratch_ld, job->args->alpha, 0,
                                                 ahead ? next.src : NULL);
            job->kernels->stream(block.cols, block.rows * size, scratch, scratch_ld * size,
                                 block.dst, b->ld_dst * size);
        } else {
            job->kernels->block[job->plan->kind](block.rows, block.cols, block.src, b->ld_src,
                                                 block.dst, b->ld_dst, job->args->alpha,
                                                 block.hints, ahead ? next.src : NULL);
        }
    }
}

void tilemm__cpu_copy_blocks(const job_t *job, thread_t me)
{
    const tilemm__transpose_cpu_blocks_t *const b = &job->plan->blocks;
    const int64_t size = (int64_t)job->args->elem_size;
    int64_t task, end, i;

    my_share(me, tilemm__transpose_tasks(b), &task, &end);
    for (; task < end; task++) {
        const block_t block = find_block(job, task, 0);

        if (job->plan->method == TILEMM__TRANSPOSE_CPU_FILL)
            for (i = 0; i < block.rows; i++)
                memset(block.dst + i * b->ld_dst * size, 0, (size_t)(block.cols * size));
        else if (job->plan->kind == TILEMM__TRANSPOSE_SCALED)
            for (i = 0; i < block.rows; i++)
                job->kernels->scale(
                    block.cols, (const float *)(const void *)(block.src + i * b->ld_src * size),
                    (float *)(void *)(block.dst + i * b->ld_dst * size), job->args->alpha);
        else
            copy_rows(block.dst, b->ld_dst, block.src, b->ld_src, block.rows, block.cols, size);
    }
}

/* ---- the backend's functions --------------------------------------------------------------- */

/* Append to a text that has room. */
static char *put(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    *to = '\0';
    return to;
}

static char *put_number(char *to, int number)
{
    char digits[2] = {(char)('0' + number % 10), '\0'};

    if (number >= 10)
        to = put_number(to, number / 10);
    return put(to, digits);
}

/* "transpose_simd_avx512_16x4x4": to print it takes as long as to transpose 64 x 64 floats. */
static void set_name(tilemm_t ctx, const plan_t *plan, int size)
{
    char *to = put(ctx->kernel_text, "transpose_");

    to = put(put(to, tilemm__transpose_method_name(plan->method)), "_");
    to = put(put(to, tilemm__cpu_kernels(ctx)->isa), "_");
    to = put(put_number(to, plan->tile_rows), "x");
    to = put(put_number(to, plan->tile_cols), "x");
    put_number(to, size);
    tilemm__set_kernel_name(ctx, ctx->kernel_text);
}

/* The same for a small matrix: even to put the text together takes too long. */
static const char *small_name(tilemm__isa_t isa, int kind)
{
#define NAME(isa, tile) "transpose_simd_" isa "_" tile
#define NAMES(isa, one, two, four, eight, sixteen)                                                 \
    {                                                                                              \
        NAME(isa, one), NAME(isa, two), NAME(isa, four), NAME(isa, eight), NAME(isa, sixteen),     \
            NAME(isa, four)                                                                        \
    }
    static const char *const names[][TILEMM__TRANSPOSE_KINDS] = {
        NAMES("generic", "16x16x1", "8x8x2", "4x4x4", "2x2x8", "1x1x16"),
        NAMES("neon", "16x16x1", "8x8x2", "4x4x4", "2x2x8", "1x1x16"),
        NAMES("avx2", "32x16x1", "16x8x2", "8x4x4", "4x2x8", "2x1x16"),
        NAMES("avx512", "64x16x1", "32x8x2", "16x4x4", "8x2x8", "4x1x16"),
        NAMES("amx", "64x16x1", "32x8x2", "16x4x4", "8x2x8", "4x1x16")};
#undef NAMES
#undef NAME
    _Static_assert(TILEMM__ISA_GENERIC == 0 && TILEMM__ISA_NEON == 1 && TILEMM__ISA_AVX2 == 2 &&
                       TILEMM__ISA_AVX512 == 3 && TILEMM__ISA_AMX == 4,
                   "names are in this order");
    return names[isa][kind];
}

static tilemm_status_t run(tilemm_t ctx, const tilemm__transpose_args_t *args,
                           int (*make_plan)(const tilemm__transpose_args_t *args,
                                            const tilemm__limits_t *limits, plan_t *plan))
{
    tilemm__limits_t limits = tilemm__cpu_limits(ctx);
    plan_t plan;
    job_t job = {.args = args, .kernels = limits.kernels->transpose, .plan = &plan};

    make_plan(args, &limits, &plan);
    if (plan.workspace) {
        job.workspace = tilemm__cpu_workspace(ctx, plan.workspace, &limits.workspace);
        if (limits.workspace < plan.workspace)
            make_plan(args, &limits, &plan);
        if (!plan.scratch)
            job.workspace = NULL;
    }
    set_name(ctx, &plan, (int)args->elem_size);
    if (plan.method == TILEMM__TRANSPOSE_CPU_SIMD)
        on_threads(&job, transpose_blocks);
    else if (plan.method == TILEMM__TRANSPOSE_CPU_COPY || plan.method == TILEMM__TRANSPOSE_CPU_FILL)
        on_threads(&job, tilemm__cpu_copy_blocks);
    else
        tilemm__cpu_run_inplace(&job);
    return TILEMM_SUCCESS;
}

/* One block, of which a plan would say no more. */
int tilemm__cpu_transpose_small(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    enum { MOST = 65536 }; /* bytes: no work for two threads, and near enough to need no copy */
    const tilemm__isa_t isa = tilemm__cpu_traits(ctx)->isa;
    const int kind = tilemm__transpose_kind(args);

    /* Little enough that no index overflows. */
    if ((args->rows | args->cols | args->ld_src | args->ld_dst) >> 20 != 0)
        return 0;
    if (args->rows == 1 || args->cols == 1 ||
        args->rows * args->cols * (int64_t)args->elem_size > MOST ||
        tilemm__cpu_may_have_device(ctx))
        return 0;
    tilemm__cpu_kernels(ctx)->transpose->block[kind](args->rows, args->cols, args->src,
                                                     args->ld_src, args->dst, args->ld_dst,
                                                     args->alpha, 0, NULL);
    tilemm__set_kernel_name(ctx, small_name(isa, kind));
    return 1;
}

tilemm_status_t tilemm__cpu_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    return run(ctx, args, tilemm__plan_transpose_cpu);
}

tilemm_status_t tilemm__cpu_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    return run(ctx, args, tilemm__plan_transpose_inplace_cpu);
}
