/* choices_sgemm.c - the choices of SGEMM's plans: see choices.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "choices.h"

#include <stdio.h>

#include "lib/sgemm/plan_cpu.h"
#include "lib/sgemm/plan_cuda.h"

/* A leading dimension or a stride: often whole pieces of 16 bytes. */
static int64_t stride_of(int64_t least)
{
    if (pick(4) == 0)
        least += pick(64);
    return pick(3) ? (least + 3) / 4 * 4 : least;
}

static tilemm__sgemm_args_t problem(void)
{
    const int batched = pick(4) == 0;
    const int64_t most = batched ? 600 : 20000;
    tilemm__sgemm_args_t args = {.alpha = 1.0f};
    args.m = choices_size(pick(8) ? most : 16);
    args.n = choices_size(pick(8) ? most : 16);
    args.k = pick(40) ? choices_size(pick(8) ? most : 1 << 24) : 0;
    args.trans_a = (int)pick(2);
    args.trans_b = (int)pick(2);
    args.beta = pick(3) ? 0.0f : 1.0f;
    args.batch_count = batched ? choices_size(70000) : 1;
    args.lda = stride_of(args.trans_a ? args.m : args.k ? args.k : 1);
    args.ldb = stride_of(args.trans_b ? args.k ? args.k : 1 : args.n);
    args.ldc = stride_of(args.n);
    args.stride_a = stride_of(args.lda * (args.trans_a ? args.k : args.m));
    args.stride_b = stride_of(args.ldb * (args.trans_b ? args.n : args.k));
    args.stride_c = stride_of(args.ldc * args.m);
    args.a = choices_address();
    args.b = choices_address();
    args.c = choices_address();
    if (pick(3) == 0) { /* as most callers have them */
        args.a = args.b = args.c = (void *)((uintptr_t)1 << 30);
        args.lda = (args.lda + 3) / 4 * 4;
        args.ldb = (args.ldb + 3) / 4 * 4;
        args.stride_a = args.lda * (args.trans_a ? args.k : args.m);
        args.stride_b = args.ldb * (args.trans_b ? args.n : args.k);
    } else if (batched && pick(4) == 0) { /* addresses that nobody follows */
        args.a_array = choices_address();
        args.b_array = choices_address();
        args.c_array = choices_address();
    }
    return args;
}

static void on_gpu(const tilemm__sgemm_args_t *args, int math, size_t workspace,
                   const tilemm__cuda_traits_t *traits)
{
    const tilemm__limits_t limits = {
        .cuda = traits, .math = (tilemm_math_t)math, .workspace = workspace, .variant = ""};
    tilemm__sgemm_cuda_plan_t plan;
    tilemm__plan_sgemm_cuda(args, &limits, &plan);
    printf(" | %s %zu", plan.name, plan.workspace);
}

static void on_cpu(const tilemm__sgemm_args_t *args, int math, size_t workspace, int machine)
{
    tilemm__limits_t limits = choices_cpu_limits(machine, workspace);
    tilemm__sgemm_cpu_plan_t plan;
    if (args->k == 0)
        return;
    limits.math = (tilemm_math_t)math;
    tilemm__plan_sgemm_cpu(args, &limits, &plan);
    const tilemm__sgemm_cpu_blocks_t *b = &plan.blocked;
    if (plan.way == TILEMM__SGEMM_CPU_SMALL)
        printf(" | fma%s small stack t%d %lld 0", plan.swap ? " swap" : "", plan.threads,
               (long long)plan.tasks);
    else if (plan.way == TILEMM__SGEMM_CPU_VECTOR)
        printf(" | fma%s vector stack t%d 1x%lldx%lld/128 1x%lld %lldx%lld %lld 0",
               plan.swap ? " swap" : "", plan.threads, (long long)plan.vector.n_panel,
               (long long)plan.vector.kc, (long long)plan.vector.n_panel, (long long)plan.m_task,
               (long long)plan.n_task, (long long)plan.tasks);
    else if (b->planes)
        printf(" | planes%s t%d %lldx%lldx%lld %lldx%lld %zu", b->shared ? " shared" : "",
               plan.threads, (long long)b->m_panel, (long long)b->n_panel, (long long)b->kc,
               (long long)b->m_part, (long long)b->n_part, plan.workspace);
    else
        printf(" | fma%s%s%s%s%s%s t%d %lldx%lldx%lld/%lld %lldx%lld %lldx%lld %lld %zu",
               plan.swap ? " swap" : "", b->stream ? " stream" : "", b->direct ? " direct" : "",
               b->in_place ? " in_place" : "", b->shared ? " shared" : "",
               b->on_stack ? " stack" : "", plan.threads, (long long)b->m_panel,
               (long long)b->n_panel, (long long)b->kc, (long long)b->chain, (long long)b->m_part,
               (long long)b->n_part, (long long)plan.m_task, (long long)plan.n_task,
               (long long)plan.tasks, plan.workspace);
}

void choices_sgemm(int problems)
{
    static const char *const modes[] = {"fp32", "strict", "tf32"};
    for (int i = 0; i < problems; i++) {
        const int math = (int)pick(3);
        const size_t workspace = pick_workspace();
        const tilemm__sgemm_args_t args = problem();
        printf("sgemm %s %c%c %lldx%lldx%lld batch %lld%s ld %lld %lld %lld room %zu", modes[math],
               args.trans_a ? 't' : 'n', args.trans_b ? 't' : 'n', (long long)args.m,
               (long long)args.n, (long long)args.k, (long long)args.batch_count,
               args.a_array ? " pointers" : "", (long long)args.lda, (long long)args.ldb,
               (long long)args.ldc, workspace);
        for (int j = 0; j < GPUS; j++) {
            on_gpu(&args, math, workspace, &gpus[j]);
            on_cpu(&args, math, workspace, j);
        }
        putchar('\n');
    }
}
