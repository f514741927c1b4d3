/* plan_sgemm_cpu.c - the CPU SGEMM's plans, over the caches of several machines that need not be
 * here: what every plan must hold to, and what is wanted of particular ones.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>

#include "tests/support/check.h"
#include "lib/sgemm/plan_cpu.h"
#include "kernels/sgemm/layout.h"

static const tilemm__cpu_traits_t machines[] = {
    {"Zen 5", TILEMM__ISA_AVX512, 16, 48 << 10, 1 << 20, 32 << 20},
    {"Sapphire Rapids", TILEMM__ISA_AVX512, 112, 48 << 10, 2 << 20, 105 << 20},
    {"Haswell", TILEMM__ISA_AVX2, 4, 32 << 10, 256 << 10, 8 << 20},
    {"Neoverse N1", TILEMM__ISA_NEON, 80, 64 << 10, 1 << 20, 32 << 20},
    {"Cortex-A53", TILEMM__ISA_NEON, 4, 32 << 10, 512 << 10, 512 << 10},
    {"a small machine", TILEMM__ISA_GENERIC, 1, 8 << 10, 64 << 10, 64 << 10},
};

static const struct {
    int mr, nr;
} tiles[] = {
    [TILEMM__ISA_GENERIC] = {4, 8},
    [TILEMM__ISA_NEON] = {8, 12},
    [TILEMM__ISA_AVX2] = {6, 16},
    [TILEMM__ISA_AVX512] = {14, 32},
};

static tilemm__sgemm_args_t problem(int64_t m, int64_t n, int64_t k, int trans, int64_t batch)
{
    tilemm__sgemm_args_t args = {0};

    args.m = m;
    args.n = n;
    args.k = k;
    args.trans_a = trans & 1;
    args.trans_b = trans >> 1;
    args.alpha = 1.0f;
    args.lda = args.trans_a ? m : k;
    args.ldb = args.trans_b ? k : n;
    args.ldc = n;
    args.batch_count = batch;
    return args;
}

static tilemm__sgemm_cpu_plan_t plan_for(const tilemm__cpu_traits_t *machine,
                                         const tilemm__sgemm_args_t *args, int threads,
                                         size_t workspace)
{
    tilemm__sgemm_cpu_plan_t plan;

    tilemm__plan_sgemm_cpu(&plan, args, machine, tiles[machine->isa].mr, tiles[machine->isa].nr,
                           threads, workspace);
    return plan;
}

static int is_multiple(int64_t x, int64_t unit)
{
    return x > 0 && x % unit == 0;
}

static int64_t pieces(int64_t total, int64_t size)
{
    return (total - 1) / size + 1;
}

/* What must hold of every plan. */
static void check_sound(const tilemm__cpu_traits_t *machine, const tilemm__sgemm_args_t *args,
                        int threads, size_t workspace)
{
    const tilemm__sgemm_cpu_plan_t plan = plan_for(machine, args, threads, workspace);
    const int64_t mr = plan.vector ? 1 : tiles[machine->isa].mr, nr = tiles[machine->isa].nr;
    const tilemm__sgemm_cpu_plan_t alone = plan_for(machine, args, 1, SIZE_MAX);
    const int64_t m = plan.swap ? args->n : args->m, n = plan.swap ? args->m : args->n;
    const int64_t ns_width = plan.direct ? nr : plan.n_panel;
    char what[200];

    snprintf(what, sizeof what,
             "%s, m %" PRId64 " n %" PRId64 " k %" PRId64 " trans %d%d batch %" PRId64
             ", %d threads, workspace %zu",
             machine->name, args->m, args->n, args->k, args->trans_a, args->trans_b,
             args->batch_count, threads, workspace);
    CHECK(plan.threads >= 1 && plan.threads <= threads, "%s: %d threads", what, plan.threads);
    CHECK(plan.workspace <= workspace, "%s: %zu bytes", what, plan.workspace);
    CHECK(plan.swap == alone.swap, "%s", what);
    if (plan.small) {
        CHECK(plan.workspace == 0 && plan.tasks == args->batch_count && plan.threads <= plan.tasks,
              "%s: %" PRId64 " tasks", what, plan.tasks);
        CHECK(args->k * nr <= TILEMM__SGEMM_SMALL_FLOATS && m * n * args->k <= 1 << 21, "%s", what);
        return;
    }
    CHECK(plan.kc > 0 && plan.kc < args->k + 4, "%s: kc %" PRId64, what, plan.kc);
    CHECK(is_multiple(plan.m_panel, mr) && is_multiple(plan.n_panel, nr),
          "%s: %" PRId64 " x %" PRId64, what, plan.m_panel, plan.n_panel);
    CHECK(is_multiple(plan.m_part, mr) && is_multiple(plan.n_part, nr),
          "%s: %" PRId64 " x %" PRId64, what, plan.m_part, plan.n_part);
    CHECK(plan.m_part <= plan.m_panel && plan.n_part <= plan.n_panel, "%s: %" PRId64 " x %" PRId64,
          what, plan.m_part, plan.n_part);
    CHECK(plan.ms_bytes % 64 == 0 && plan.set_bytes % 64 == 0, "%s: %zu", what, plan.set_bytes);
    CHECK(plan.vector || plan.in_place ||
              plan.ms_bytes >= sizeof(float) * (size_t)(plan.kc * plan.m_panel),
          "%s: %zu", what, plan.ms_bytes);
    CHECK(plan.vector ||
              plan.set_bytes - plan.ms_bytes >= sizeof(float) * (size_t)(plan.kc * ns_width),
          "%s: %zu", what, plan.set_bytes);
    if (plan.on_stack) {
        CHECK(!plan.shared && plan.workspace == 0 && plan.set_bytes <= TILEMM__SGEMM_STACK_BYTES,
              "%s: %zu bytes on the stack", what, plan.set_bytes);
    } else {
        CHECK(plan.workspace == plan.set_bytes * (size_t)(plan.shared ? 1 : plan.threads),
              "%s: %zu", what, plan.workspace);
        CHECK(plan.kc == alone.kc, "%s: kc %" PRId64 ", alone %" PRId64, what, plan.kc, alone.kc);
    }
    CHECK(!plan.vector || (m == 1 && plan.kc <= TILEMM__SGEMM_VECTOR_PIECE &&
                           plan.n_panel <= TILEMM__SGEMM_VECTOR_PIECE),
          "%s", what);
    if (plan.shared) {
        CHECK(!plan.direct && plan.threads > 1 && plan.tasks == 1, "%s", what);
    } else {
        CHECK(is_multiple(plan.m_task, mr) && is_multiple(plan.n_task, nr),
              "%s: %" PRId64 " x %" PRId64, what, plan.m_task, plan.n_task);
        CHECK(plan.tasks == pieces(m, plan.m_task) * pieces(n, plan.n_task) * args->batch_count,
              "%s: %" PRId64 " tasks", what, plan.tasks);
        CHECK(plan.threads <= plan.tasks, "%s: %" PRId64 " tasks", what, plan.tasks);
        CHECK(!plan.direct || plan.stream || plan.n_panel >= (n < plan.n_task ? n : plan.n_task),
              "%s", what);
    }
}

static void check_all(void)
{
    static const int64_t sizes[] = {1, 3, 16, 17, 64, 300, 1024, 4097, INT64_C(3000000000)};
    static const int64_t depths[] = {1, 5, 64, 300, 1025, 100000};
    static const size_t workspaces[] = {0, 64, 40000, 1 << 20, 100 << 20, SIZE_MAX};
    enum { SIZES = sizeof sizes / sizeof *sizes, DEPTHS = sizeof depths / sizeof *depths };

    for (size_t at = 0; at < sizeof machines / sizeof *machines; at++) {
        for (int shape = 0; shape < SIZES * SIZES * DEPTHS; shape++) {
            const int64_t batch = shape % 5 == 0 ? 1000 : shape % 5 == 1 ? 3 : 1;
            const tilemm__sgemm_args_t args =
                problem(sizes[shape % SIZES], sizes[shape / SIZES % SIZES],
                        depths[shape / SIZES / SIZES], shape % 4, batch);

            for (size_t w = 0; w < sizeof workspaces / sizeof *workspaces; w++) {
                check_sound(&machines[at], &args, 1, workspaces[w]);
                check_sound(&machines[at], &args, 2, workspaces[w]);
                check_sound(&machines[at], &args, 200, workspaces[w]);
            }
        }
    }
}

/* Blocks fit the caches that they are meant for. */
static void check_caches(void)
{
    for (size_t at = 0; at < sizeof machines / sizeof *machines; at++) {
        const tilemm__cpu_traits_t *x = &machines[at];
        const tilemm__sgemm_args_t args = problem(5000, 5000, 5000, 0, 1);

        for (int threads = 1; threads <= 64; threads *= 4) {
            const tilemm__sgemm_cpu_plan_t plan = plan_for(x, &args, threads, SIZE_MAX);

            CHECK(plan.threads == threads && plan.shared == (threads > 1), "%s", x->name);
            CHECK(sizeof(float) * (size_t)(plan.kc * plan.m_part) <= x->l2_bytes / 4 * 3,
                  "%s: %" PRId64 " x %" PRId64, x->name, plan.kc, plan.m_part);
            CHECK(sizeof(float) * (size_t)(plan.kc * plan.n_panel) <=
                      (threads > 1 && threads * x->l2_bytes > x->l3_bytes ? threads * x->l2_bytes
                                                                          : x->l3_bytes),
                  "%s: %" PRId64 " x %" PRId64, x->name, plan.kc, plan.n_panel);
            const int64_t parts =
                pieces(plan.m_panel, plan.m_part) * pieces(plan.n_panel, plan.n_part);
            CHECK(!plan.shared || parts >= 4 * threads, "%s: %" PRId64 " parts", x->name, parts);
        }
    }
}

static void check_particular(void)
{
    const tilemm__cpu_traits_t *x = &machines[0];
    tilemm__sgemm_args_t args = problem(64, 64, 64, 0, 1);
    tilemm__sgemm_cpu_plan_t plan = plan_for(x, &args, 16, SIZE_MAX);

    CHECK(plan.threads == 1 && plan.small && plan.tasks == 1, "64 cubed");

    args = problem(64, 64, 64, 2, 1);
    plan = plan_for(x, &args, 16, SIZE_MAX);
    CHECK(plan.small, "64 cubed, B transposed");

    args = problem(64, 64, 64, 0, 1);
    args.lda = 4096;
    plan = plan_for(x, &args, 16, SIZE_MAX);
    CHECK(!plan.small, "64 cubed, rows far apart");

    args = problem(64, 64, 64, 0, 1000);
    plan = plan_for(x, &args, 16, SIZE_MAX);
    CHECK(plan.threads == 16 && !plan.shared && plan.tasks == 1000, "a batch of 64 cubed");

    args = problem(1024, 1024, 1024, 0, 2);
    plan = plan_for(x, &args, 16, SIZE_MAX);
    CHECK(plan.threads == 16 && plan.shared, "a batch of two large ones");

    args = problem(10000, 1, 10000, 0, 1);
    plan = plan_for(x, &args, 16, SIZE_MAX);
    CHECK(plan.swap && plan.vector && plan.threads == 16 && plan.tasks >= 16,
          "matrix times vector");

    args = problem(1, 10000, 10000, 0, 1);
    plan = plan_for(x, &args, 16, SIZE_MAX);
    CHECK(!plan.swap && plan.vector && plan.threads == 16, "vector times matrix");

    args = problem(1000, 1000, 1000, 0, 1);
    plan = plan_for(x, &args, 16, 0);
    CHECK(plan.on_stack && plan.threads == 16 && plan.tasks >= 16, "no workspace");
}

/* Panels have every element once, in the order that the micro-kernel reads. */
static void check_layout(void)
{
    for (int64_t width = 4; width <= 32; width += 2) {
        int64_t next = 0;

        for (int64_t k = 0; k < 9; k++) {
            for (int64_t i = 0; i < width; i++, next++) {
                CHECK(tilemm__cpu_ms_index(k, i, width) == next, "Ms %" PRId64, next);
                CHECK(tilemm__cpu_ns_index(k, i, width) == next, "Ns %" PRId64, next);
            }
        }
    }
}

int main(void)
{
    check_all();
    check_caches();
    check_particular();
    check_layout();
    return check_exit();
}
