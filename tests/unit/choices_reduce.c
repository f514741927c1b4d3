/* choices_reduce.c - the choices of the reductions' plans: see choices.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "choices.h"

#include <stdio.h>

#include "lib/reduce/plan_cpu.h"
#include "lib/reduce/plan_cuda.h"

static void on_gpu(const tilemm__reduce_args_t *args, size_t workspace,
                   const tilemm__cuda_traits_t *traits)
{
    const tilemm__limits_t limits = {.cuda = traits, .workspace = workspace, .variant = ""};
    tilemm__reduce_cuda_plan_t plan;
    tilemm__plan_reduce_cuda(args, &limits, &plan);
    printf(" |");
    for (int i = 0; i < plan.steps; i++) {
        const tilemm__reduce_step_t *step = &plan.step[i];
        const tilemm__reduce_launch_t *launch = &step->launch;
        printf(" %s", tilemm__reduce_rows[launch->variant].name);
        if (launch->kernel == TILEMM__SUM_TILES)
            printf(":%dx%d", launch->item_tiles, launch->warps);
        else if (launch->kernel == TILEMM__SEARCH_TILES)
            printf(":%d", launch->warps);
        printf(":%lld %lldx%d", (long long)step->items, (long long)launch->blocks, launch->threads);
    }
    printf(" %lld %lld %zu", (long long)plan.vectors, (long long)plan.range, plan.workspace);
}

static void on_cpu(const tilemm__reduce_args_t *args, size_t workspace, int machine)
{
    static const char *const methods[] = {"vectors", "tiles", "columns", "column_blocks"};
    const tilemm__limits_t limits = choices_cpu_limits(machine, workspace);
    tilemm__reduce_cpu_plan_t plan;
    tilemm__plan_reduce_cpu(args, &limits, &plan);
    printf(" | %s t%d", methods[plan.method], plan.threads);
    if (plan.method == TILEMM__REDUCE_TILES)
        printf(" %lld", (long long)plan.tiles);
    else if (plan.method != TILEMM__REDUCE_VECTORS)
        printf(" %lldx%lld", (long long)plan.rows, (long long)plan.width);
    printf(" %zu", plan.workspace);
}

static void vectors(void)
{
    const size_t workspace = pick_workspace();
    tilemm__reduce_args_t args = {0};
    const int whole = pick(2) == 0, down = pick(2) == 0;
    args.op = (int)pick(whole ? TILEMM__DOT + 1 : TILEMM__DOT);
    args.nan_ignore = pick(4) == 0;
    args.count = whole ? 1 : choices_size(100000);
    args.n = pick(20) ? choices_size(whole ? INT64_C(1) << 32 : 100000) : 0;
    args.istride = down ? args.count + (pick(3) ? 0 : 5) : 1;
    args.vstride = down ? 1 : args.n + (pick(3) ? 0 : 5);
    args.y_istride = pick(3) ? 1 : 2;
    args.x = choices_address();
    args.y = choices_address();
    args.out = choices_address();
    if (args.op >= TILEMM__MAX && args.op <= TILEMM__AMIN && pick(2))
        args.index_out = choices_address();
    args.out_stride = 1;
    printf("reduce %d%s%s %lld of %lld strides %lld %lld %lld room %zu", args.op,
           args.nan_ignore ? " ignore" : "", args.index_out ? " arg" : "", (long long)args.count,
           (long long)args.n, (long long)args.istride, (long long)args.vstride,
           (long long)args.y_istride, workspace);
    for (int j = 0; j < GPUS; j++) {
        on_gpu(&args, workspace, &gpus[j]);
        on_cpu(&args, workspace, j);
    }
    putchar('\n');
}

static void segments(void)
{
    const size_t workspace = pick_workspace();
    tilemm__segments_args_t args = {0};
    args.op = (int)pick(TILEMM__DOT);
    args.segments = choices_size(10000000);
    printf("segments %d %lld room %zu", args.op, (long long)args.segments, workspace);
    for (int j = 0; j < GPUS; j++) {
        const tilemm__limits_t limits = {.cuda = &gpus[j], .workspace = workspace, .variant = ""};
        tilemm__segments_cuda_plan_t plan;
        const tilemm__reduce_launch_t *const first = plan.launch;
        tilemm__plan_segments_cuda(&args, &limits, &plan);
        printf(" | %s", plan.name);
        for (int i = 0; i < plan.launches; i++)
            printf(" %lldx%d", (long long)plan.launch[i].blocks, plan.launch[i].threads);
        printf(" %lld %lld %lld %zu", (long long)first->warp_limit, (long long)first->lists.room,
               (long long)first->lists.span_room, plan.workspace);
    }
    putchar('\n');
}

void choices_reduce(int problems)
{
    for (int i = 0; i < problems; i++)
        if (pick(8) == 0)
            segments();
        else
            vectors();
}
