/* choices_reduce.c - the choices of the reductions' plans: see choices.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "choices.h"

#include <stdio.h>
#include <string.h>

#include "lib/reduce/plan.h"

static void on_gpu(const tilemm__reduce_args_t *args, size_t workspace,
                   const tilemm__cuda_traits_t *traits)
{
    tilemm__reduce_cuda_plan_t plan;

    tilemm__plan_reduce_cuda(&plan, args, traits, workspace);
    printf(" |");
    for (int i = 0; i < plan.steps; i++) {
        const tilemm__reduce_step_t *step = &plan.step[i];

        printf(" %d:%d/%d/%d/%d:%lld", (int)step->kind, step->width, step->tiles, step->share,
               step->parts, (long long)step->items);
    }
    printf(" %lld %lld %zu", (long long)plan.vectors, (long long)plan.panel, plan.workspace);
}

static void on_cpu(const tilemm__reduce_args_t *args, size_t workspace,
                   const tilemm__cpu_traits_t *traits)
{
    tilemm__reduce_cpu_plan_t plan;

    tilemm__plan_reduce_cpu(&plan, args, traits, traits->threads, workspace);
    printf(" | %d t%d %lld %lld %lld %zu", (int)plan.method, plan.threads, (long long)plan.panel,
           (long long)plan.strip, (long long)plan.piece_rows, plan.workspace);
}

static void vectors(void)
{
    const size_t workspace = choices_workspace();
    tilemm__reduce_args_t args;
    const int whole = choices_random(2) == 0, down = choices_random(2) == 0;

    memset(&args, 0, sizeof args);
    args.op = (int)choices_random(whole ? TILEMM__DOT + 1 : TILEMM__DOT);
    args.nan_ignore = choices_random(4) == 0;
    args.count = whole ? 1 : choices_size(100000);
    args.n = choices_random(20) ? choices_size(whole ? INT64_C(1) << 32 : 100000) : 0;
    args.istride = down ? args.count + (choices_random(3) ? 0 : 5) : 1;
    args.vstride = down ? 1 : args.n + (choices_random(3) ? 0 : 5);
    args.y_istride = choices_random(3) ? 1 : 2;
    args.x = choices_address();
    args.y = choices_address();
    args.out = choices_address();
    if (args.op >= TILEMM__MAX && args.op <= TILEMM__AMIN && choices_random(2))
        args.index_out = choices_address();
    args.out_stride = 1;
    printf("reduce %d%s%s %lld of %lld strides %lld %lld %lld room %zu", args.op,
           args.nan_ignore ? " ignore" : "", args.index_out ? " arg" : "", (long long)args.count,
           (long long)args.n, (long long)args.istride, (long long)args.vstride,
           (long long)args.y_istride, workspace);
    for (int j = 0; j < CHOICES_MACHINES; j++) {
        on_gpu(&args, workspace, &choices_machines[j].gpu);
        on_cpu(&args, workspace, &choices_machines[j].cpu);
    }
    putchar('\n');
}

static void segments(void)
{
    const size_t workspace = choices_workspace();
    tilemm__segments_args_t args;

    memset(&args, 0, sizeof args);
    args.op = (int)choices_random(TILEMM__DOT);
    args.segments = choices_size(10000000);
    printf("segments %d %lld room %zu", args.op, (long long)args.segments, workspace);
    for (int j = 0; j < CHOICES_MACHINES; j++) {
        tilemm__segments_cuda_plan_t plan;

        tilemm__plan_segments_cuda(&plan, &args, &choices_machines[j].gpu, workspace);
        printf(" | %d %lld %lld %lld %d %zu", plan.group, (long long)plan.warp_limit,
               (long long)plan.room, (long long)plan.span_room, plan.blocks, plan.workspace);
    }
    putchar('\n');
}

void choices_reduce(int problems)
{
    for (int i = 0; i < problems; i++)
        if (choices_random(8) == 0)
            segments();
        else
            vectors();
}
