/* choices_sgemm.c - the choices of SGEMM's plans: see choices.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "choices.h"

#include <stdio.h>
#include <string.h>

#include "kernels/sgemm/cpu/planes.h"
#include "lib/sgemm/plan_cpu.h"
#include "lib/sgemm/plan_cuda.h"
#include "lib/sgemm/plan_planes.h"

/* A leading dimension or a stride: often whole pieces of 16 bytes. */
static int64_t stride_of(int64_t least)
{
    if (choices_random(4) == 0)
        least += (int64_t)choices_random(64);
    return choices_random(3) ? (least + 3) / 4 * 4 : least;
}

static void problem(tilemm__sgemm_args_t *args)
{
    const int batched = choices_random(4) == 0;
    const int64_t most = batched ? 600 : 20000;

    memset(args, 0, sizeof *args);
    args->m = choices_size(choices_random(8) ? most : 16);
    args->n = choices_size(choices_random(8) ? most : 16);
    args->k = choices_random(40) ? choices_size(choices_random(8) ? most : 1 << 24) : 0;
    args->trans_a = (int)choices_random(2);
    args->trans_b = (int)choices_random(2);
    args->alpha = 1.0f;
    args->beta = choices_random(3) ? 0.0f : 1.0f;
    args->batch_count = batched ? choices_size(70000) : 1;
    args->lda = stride_of(args->trans_a ? args->m : args->k ? args->k : 1);
    args->ldb = stride_of(args->trans_b ? args->k ? args->k : 1 : args->n);
    args->ldc = stride_of(args->n);
    args->stride_a = stride_of(args->lda * (args->trans_a ? args->k : args->m));
    args->stride_b = stride_of(args->ldb * (args->trans_b ? args->n : args->k));
    args->stride_c = stride_of(args->ldc * args->m);
    args->a = choices_address();
    args->b = choices_address();
    args->c = choices_address();
    if (choices_random(3) == 0) { /* as most callers have them */
        args->a = args->b = args->c = (void *)((uintptr_t)1 << 30);
        args->lda = (args->lda + 3) / 4 * 4;
        args->ldb = (args->ldb + 3) / 4 * 4;
        args->stride_a = args->lda * (args->trans_a ? args->k : args->m);
        args->stride_b = args->ldb * (args->trans_b ? args->n : args->k);
    } else if (batched && choices_random(4) == 0) { /* addresses that nobody follows */
        args->a_array = choices_address();
        args->b_array = choices_address();
        args->c_array = choices_address();
    }
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

static void on_cpu(const tilemm__sgemm_args_t *args, int math, size_t workspace,
                   const tilemm__cpu_traits_t *traits)
{
    static const int tiles[][2] = {[TILEMM__ISA_GENERIC] = {4, 8},
                                   [TILEMM__ISA_AVX2] = {6, 16},
                                   [TILEMM__ISA_AVX512] = {14, 32},
                                   [TILEMM__ISA_AMX] = {14, 32}};
    static const tilemm__sgemm_planes_t engines[] = {
        [TILEMM_MATH_FP32] = {.planes = 3, .products = 6, .depth = 512},
        [TILEMM_MATH_TF32] = {.planes = 2, .products = 3, .depth = 768}};
    tilemm__sgemm_cpu_plan_t plan;
    tilemm__sgemm_planes_plan_t planes;

    if (args->k == 0)
        return;
    if (traits->isa == TILEMM__ISA_AMX && math != TILEMM_MATH_FP32_STRICT &&
        tilemm__plan_sgemm_planes(&planes, args, traits, &engines[math], traits->threads,
                                  workspace)) {
        printf(" | planes%s t%d %lldx%lldx%lld %lldx%lld %zu", planes.shared ? " shared" : "",
               planes.threads, (long long)planes.m_panel, (long long)planes.n_panel,
               (long long)planes.depth, (long long)planes.m_part, (long long)planes.n_part,
               planes.workspace);
        return;
    }
    tilemm__plan_sgemm_cpu(&plan, args, traits, tiles[traits->isa][0], tiles[traits->isa][1],
                           traits->threads, workspace);
    printf(" | fma%s%s%s%s%s%s%s%s t%d", plan.swap ? " swap" : "", plan.stream ? " stream" : "",
           plan.direct ? " direct" : "", plan.in_place ? " in_place" : "",
           plan.small ? " small" : "", plan.vector ? " vector" : "", plan.shared ? " shared" : "",
           plan.on_stack ? " stack" : "", plan.threads);
    if (!plan.small)
        printf(" %lldx%lldx%lld/%lld %lldx%lld %lldx%lld", (long long)plan.m_panel,
               (long long)plan.n_panel, (long long)plan.kc, (long long)plan.chain,
               (long long)plan.m_part, (long long)plan.n_part, (long long)plan.m_task,
               (long long)plan.n_task);
    printf(" %lld %zu", (long long)plan.tasks, plan.workspace);
}

void choices_sgemm(int problems)
{
    static const char *const modes[] = {"fp32", "strict", "tf32"};
    tilemm__sgemm_args_t args;

    for (int i = 0; i < problems; i++) {
        const int math = (int)choices_random(3);
        const size_t workspace = choices_workspace();

        problem(&args);
        printf("sgemm %s %c%c %lldx%lldx%lld batch %lld%s ld %lld %lld %lld room %zu", modes[math],
               args.trans_a ? 't' : 'n', args.trans_b ? 't' : 'n', (long long)args.m,
               (long long)args.n, (long long)args.k, (long long)args.batch_count,
               args.a_array ? " pointers" : "", (long long)args.lda, (long long)args.ldb,
               (long long)args.ldc, workspace);
        for (int j = 0; j < CHOICES_MACHINES; j++) {
            on_gpu(&args, math, workspace, &choices_machines[j].gpu);
            on_cpu(&args, math, workspace, &choices_machines[j].cpu);
        }
        putchar('\n');
    }
}
