/* run_cpu.c - transpositions on the CPU, as the plan says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lib/cpu/cpu.h"
#include "team_cpu.h"

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
        [TILEMM__ISA_GENERIC] = NAMES("generic", "16x16x1", "8x8x2", "4x4x4", "2x2x8", "1x1x16"),
        [TILEMM__ISA_NEON] = NAMES("neon", "16x16x1", "8x8x2", "4x4x4", "2x2x8", "1x1x16"),
        [TILEMM__ISA_AVX2] = NAMES("avx2", "32x16x1", "16x8x2", "8x4x4", "4x2x8", "2x1x16"),
        [TILEMM__ISA_AVX512] = NAMES("avx512", "64x16x1", "32x8x2", "16x4x4", "8x2x8", "4x1x16"),
        [TILEMM__ISA_AMX] = NAMES("amx", "64x16x1", "32x8x2", "16x4x4", "8x2x8", "4x1x16")};
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
    tilemm__release_threads(limits.threads - plan.threads);
    set_name(ctx, &plan, (int)args->elem_size);
    if (plan.method == TILEMM__TRANSPOSE_CPU_SIMD)
        tilemm__run_team(plan.threads, tilemm__cpu_transpose_blocks, &job);
    else if (plan.method == TILEMM__TRANSPOSE_CPU_COPY || plan.method == TILEMM__TRANSPOSE_CPU_FILL)
        tilemm__run_team(plan.threads, tilemm__cpu_copy_blocks, &job);
    else
        tilemm__cpu_run_inplace(&job);
    tilemm__release_threads(plan.threads);
    return TILEMM_SUCCESS;
}

/* By one block, as a plan would. */
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
    tilemm__cpu_kernels(ctx)->transpose->block[kind](
        args->rows, args->cols, args->src, args->ld_src, args->dst, args->ld_dst, args->alpha, 0);
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
