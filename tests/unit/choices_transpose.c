/* choices_transpose.c - the choices of transposes' plans: see choices.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "choices.h"

#include <stdio.h>

#include "lib/transpose/plan_cpu.h"
#include "lib/transpose/plan_cuda.h"

static tilemm__transpose_args_t problem(int in_place)
{
    const int narrow = pick(3) == 0;
    tilemm__transpose_args_t args = {0};
    args.batch_count = !in_place && pick(3) == 0 ? choices_size(70000) : 1;
    const int most = args.batch_count > 1 ? 600 : 40000;
    const int64_t longer = choices_size(most), shorter = choices_size(narrow ? 40 : most);
    const int turned = narrow && pick(2);
    args.rows = turned ? shorter : longer;
    args.cols = turned ? longer : shorter;
    args.elem_size = (size_t)1 << pick(5);
    args.trans = pick(8) != 0;
    args.scaled = args.elem_size == 4 && pick(3) == 0;
    args.alpha = args.scaled ? (pick(4) ? 2.0f : 0.0f) : 1.0f;
    args.ld_src = args.cols + (pick(3) ? 0 : pick(64));
    args.ld_dst = (args.trans ? args.rows : args.cols) + (pick(3) ? 0 : pick(64));
    args.stride_src = args.rows * args.ld_src + (pick(4) ? 0 : 3);
    args.stride_dst = (args.trans ? args.cols : args.rows) * args.ld_dst + (pick(4) ? 0 : 3);
    const uintptr_t aligned = ~((uintptr_t)args.elem_size - 1);
    args.dst = (void *)((uintptr_t)choices_address() & aligned);
    args.src = args.dst;
    if (!in_place)
        args.dst = (void *)((uintptr_t)choices_address() & aligned);
    return args;
}

/* A plan out of place: the kernel; of copies the block. */
static void print_plan(const tilemm__transpose_cuda_plan_t *plan)
{
    const tilemm__transpose_tiles_t *tiles = &plan->arm.tiles;
    printf(" | %s", plan->name);
    if (plan->method == TILEMM__TRANSPOSE_BY_copy) {
        printf(" %dx%d", TILEMM__TRANSPOSE_THREADS / plan->arm.copy.of.block_cols,
               plan->arm.copy.of.block_cols);
        return;
    }
    printf("%s", tiles->streaming ? " streaming" : "");
}

static void on_gpu(const tilemm__transpose_args_t *args, int in_place, size_t workspace,
                   const tilemm__cuda_traits_t *traits)
{
    const tilemm__limits_t limits = {.cuda = traits, .workspace = workspace, .variant = ""};
    if (in_place) {
        tilemm__transpose_inplace_cuda_plan_t plan;
        if (tilemm__plan_transpose_inplace_cuda(args, &limits, &plan) != TILEMM_SUCCESS)
            printf(" | none");
        else
            printf(" | %s", plan.name);
        printf(" %zu %zu", plan.workspace, tilemm__transpose_inplace_cuda_want(args, traits));
    } else {
        tilemm__transpose_cuda_plan_t plan;
        (void)tilemm__plan_transpose_cuda(args, &limits, &plan);
        print_plan(&plan);
    }
}

static void on_cpu(const tilemm__transpose_args_t *args, int in_place, size_t workspace,
                   int machine)
{
    const tilemm__limits_t limits = choices_cpu_limits(machine, workspace);
    tilemm__transpose_cpu_blocks_t b = {0};
    tilemm__transpose_cpu_plan_t plan;
    int64_t fringe = 0;
    if (in_place)
        tilemm__plan_transpose_inplace_cpu(args, &limits, &plan);
    else
        tilemm__plan_transpose_cpu(args, &limits, &plan);
    switch (plan.method) {
    case TILEMM__TRANSPOSE_CPU_SWAP: b.block_rows = b.block_cols = plan.swap.side; break;
    case TILEMM__TRANSPOSE_CPU_SLABS:
        b.block_rows = plan.slabs.height;
        b.block_cols = plan.slabs.n;
        fringe = plan.slabs.fringe;
        break;
    case TILEMM__TRANSPOSE_CPU_C2R:
    case TILEMM__TRANSPOSE_CPU_R2C:
        b.block_rows = plan.tile_rows;
        b.block_cols = plan.cycles.cols;
        break;
    default: b = plan.blocks;
    }
    printf(" | %s t%d %lldx%lld%s%s %lld %zu %zu", tilemm__transpose_method_name(plan.method),
           plan.threads, (long long)b.block_rows, (long long)b.block_cols,
           b.buffered ? " buffered" : "", b.lines ? " lines" : "", (long long)fringe,
           plan.workspace - (size_t)plan.threads * plan.scratch, plan.scratch);
}

void choices_transpose(int problems)
{
    for (int i = 0; i < problems; i++) {
        const int in_place = pick(3) == 0;
        const size_t room = pick_workspace();
        const size_t workspace = in_place && pick(2) ? room >> pick(64) : room;
        const tilemm__transpose_args_t args = problem(in_place);
        printf("%s %lldx%lld of %zu batch %lld%s%s ld %lld %lld room %zu",
               in_place ? "transpose_inplace" : "transpose", (long long)args.rows,
               (long long)args.cols, args.elem_size, (long long)args.batch_count,
               args.trans ? "" : " copy",
               !args.scaled         ? ""
               : args.alpha == 0.0f ? " zero"
                                    : " scaled",
               (long long)args.ld_src, (long long)args.ld_dst, workspace);
        for (int j = 0; j < GPUS; j++) {
            on_gpu(&args, in_place, workspace, &gpus[j]);
            on_cpu(&args, in_place, workspace, j);
        }
        putchar('\n');
    }
}
