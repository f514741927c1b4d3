/* plan_cpu.c - properties of the CPU's plans of SGEMM and of transpositions, for random problems,
 * limits, machines and tunings: there is a plan for any workspace, it keeps to its limits, its
 * pieces cover the problem once, and sums do not depend on threads, on workspace or on tuning.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "cpu_kernels.h"
#include "lib/sgemm/plan_cpu.h"
#include "lib/size.h"
#include "lib/transpose/plan_cpu.h"
#include "lib/tuning.h"
#include "machines.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

/* Each constant somewhere within its bounds, or the default. */
static tilemm__cpu_tuning_t pick_tuning(const tilemm__cpu_traits_t *cpu)
{
    tilemm__cpu_tuning_t tuning = tilemm__default_tuning(cpu);
#define CONSTANT(name, least, most)                                                                \
    if (pick(2))                                                                                   \
        tuning.name = tilemm__min(tilemm__max(pick_size(1 + (int)pick(50)), least), most);
    TILEMM__TUNING_CONSTANTS(CONSTANT)
#undef CONSTANT
    return tuning;
}

static int is_of_chains(int64_t steps)
{
    return steps > 0 && steps % TILEMM__SGEMM_INVARIANT_CHAIN == 0;
}

static void check_sgemm(const tilemm__limits_t *of_machine)
{
    tilemm__limits_t own_limits = *of_machine;
    own_limits.invariance = (tilemm_invariance_t)(pick(2) ? 0 : pick(3));
    const tilemm__limits_t *const limits = &own_limits;
    const int invariant = limits->invariance != TILEMM_INVARIANCE_NONE;
    const tilemm__sgemm_args_t args = {
        .m = pick_size(32),
        .n = pick_size(32),
        .k = pick_size(20),
        .trans_a = (int)pick(2),
        .trans_b = (int)pick(2),
        .alpha = 1.0f,
        .lda = pick_size(20),
        .ldb = pick_size(20),
        .batch_count = pick(3) ? 1 : pick_size(12),
    };
    const tilemm__cpu_tuning_t built_in = tilemm__default_tuning(limits->cpu);
    tilemm__limits_t alone_limits = *limits;
    tilemm__sgemm_cpu_plan_t plan = {0}, again = {0}, alone;
    alone_limits.threads = 1;
    alone_limits.tuning = &built_in;
    alone_limits.workspace = SIZE_MAX;
    const tilemm__sgemm_planes_t *const planes =
        tilemm__sgemm_cpu_planes(limits->kernels, limits->math);
    const int by_planes = planes && limits->invariance == TILEMM_INVARIANT &&
                          args.k >= TILEMM__SGEMM_INVARIANT_PLANES;
    int status = tilemm__plan_sgemm_cpu(&args, limits, &plan);
    if (status == TILEMM_OUT_OF_MEMORY) { /* it says what it needs at least */
        CHECK(by_planes && plan.blocked.set_bytes > limits->workspace, "no plan");
        own_limits.workspace = plan.blocked.set_bytes;
        status = tilemm__plan_sgemm_cpu(&args, limits, &plan);
    }
    CHECK(status == TILEMM_SUCCESS, "no plan");
    CHECK(tilemm__plan_sgemm_cpu(&args, limits, &again) == TILEMM_SUCCESS, "no plan");
    CHECK(tilemm__plan_sgemm_cpu(&args, &alone_limits, &alone) == TILEMM_SUCCESS, "no plan");
    CHECK(!invariant ||
              by_planes == (plan.way == TILEMM__SGEMM_CPU_BLOCKED && plan.blocked.planes != NULL),
          "k %lld by planes", (long long)args.k);

    const int64_t m = plan.swap ? args.n : args.m, n = plan.swap ? args.m : args.n;
    const tilemm__sgemm_cpu_blocks_t *b = &plan.blocked;
#define SGEMM                                                                                      \
    "%s, %lld x %lld x %lld, batch %lld, %d threads of %d, %zu bytes of %zu, way %d, %d",          \
        limits->cpu->name, (long long)args.m, (long long)args.n, (long long)args.k,                \
        (long long)args.batch_count, plan.threads, limits->threads, plan.workspace,                \
        limits->workspace, (int)plan.way, (int)limits->invariance

    CHECK(plan.threads >= 1 && plan.threads <= limits->threads, SGEMM);
    CHECK(plan.workspace <= limits->workspace, SGEMM);
    CHECK(again.way == plan.way && again.threads == plan.threads && again.tasks == plan.tasks &&
              again.workspace == plan.workspace,
          SGEMM);
    if (plan.way == TILEMM__SGEMM_CPU_SMALL) {
        CHECK(plan.tasks == args.batch_count && plan.threads <= plan.tasks, SGEMM);
        CHECK(!invariant || plan.small.chain == TILEMM__SGEMM_INVARIANT_CHAIN, SGEMM);
        return;
    }
    if (plan.way == TILEMM__SGEMM_CPU_BLOCKED && b->shared)
        CHECK(plan.threads > 1 && plan.tasks == 1, SGEMM);
    else
        CHECK(plan.threads <= plan.tasks && plan.tasks == tilemm__div_up(m, plan.m_task) *
                                                              tilemm__div_up(n, plan.n_task) *
                                                              args.batch_count,
              SGEMM);
    if (plan.way == TILEMM__SGEMM_CPU_VECTOR) {
        CHECK(m == 1 && plan.vector.kc <= TILEMM__SGEMM_VECTOR_PIECE &&
                  plan.vector.n_panel <= TILEMM__SGEMM_VECTOR_PIECE,
              SGEMM);
        CHECK(!invariant || (plan.vector.in_order &&
                             (plan.vector.kc == args.k || is_of_chains(plan.vector.kc))),
              SGEMM);
        return;
    }
    if (plan.way == TILEMM__SGEMM_CPU_PLAIN) {
        CHECK(limits->invariance == TILEMM_INVARIANT_ACROSS, SGEMM);
        return;
    }
    if (by_planes) {
        const int64_t few = tilemm__min(args.m, args.n);
        const int64_t panels = tilemm__div_up(few, TILEMM__PLANES_LINES);
        CHECK(b->kc == alone.blocked.kc && (b->as_read || panels > 1) &&
                  (!b->as_read ||
                   b->set_bytes == (size_t)(1 + b->k_blocks * panels) * b->panel_bytes +
                                       tilemm__sgemm_cpu_copied_bytes(b)),
              SGEMM);
        CHECK(!(b->as_vectors && b->copied) &&
                  (!b->as_vectors || (b->as_read && few <= TILEMM__PLANES_VECTORS)) &&
                  (!b->copied || (b->as_read && b->copied % TILEMM__PLANES_LINES == 0)),
              SGEMM);
    } else if (invariant) {
        /* Whole chains, or all of k, or else parts of chains that have memory. */
        const size_t chains = (size_t)(tilemm__min(m, plan.m_task) * b->n_panel) * sizeof(float);
        CHECK(b->in_order && b->chain == TILEMM__SGEMM_INVARIANT_CHAIN, SGEMM);
        CHECK(b->kc >= args.k || is_of_chains(b->kc) ||
                  (tilemm__sgemm_cpu_keeps_chains(b) && b->chain % b->kc == 0 &&
                   b->ms_bytes >= chains),
              SGEMM);
    }
    CHECK(b->m_panel % b->mr == 0 && b->n_panel % b->nr == 0 && b->m_part % b->mr == 0 &&
              b->n_part % b->nr == 0 && b->m_part > 0 && b->m_part <= b->m_panel && b->n_part > 0 &&
              b->n_part <= b->n_panel,
          SGEMM);
    CHECK(b->set_bytes % 64 == 0 && (!b->on_stack || b->set_bytes <= TILEMM__SGEMM_STACK_BYTES),
          SGEMM);
    CHECK(plan.workspace ==
              (b->on_stack ? 0 : b->set_bytes * (size_t)(b->shared ? 1 : plan.threads)),
          SGEMM);
    if (invariant)
        return;
    if (alone.way == TILEMM__SGEMM_CPU_SMALL)
        CHECK(b->on_stack || b->planes ||
                  (b->kc >= args.k &&
                   b->chain == tilemm__sgemm_cpu_chain((double)(args.m * args.n * args.k))),
              SGEMM);
    else if (!b->on_stack && b->planes == alone.blocked.planes)
        CHECK(b->kc == alone.blocked.kc && b->chain == alone.blocked.chain, SGEMM);
}

static void check_transpose(const tilemm__limits_t *limits)
{
    const int in_place = (int)pick(2);
    const int64_t rows = pick_size(20), cols = pick_size(20);
    const tilemm__transpose_args_t args = {
        .rows = rows,
        .cols = in_place && pick(4) == 0 ? rows : cols,
        .elem_size = (size_t)1 << pick(5),
        .trans = pick(8) != 0,
        .src = (const void *)(uintptr_t)(4096 + 16 * pick(5)),
        .dst = (void *)(uintptr_t)(8192 + 16 * pick(5)),
        .ld_src = cols + pick(2) * pick(64),
        .ld_dst = rows + pick(2) * pick(64),
        .batch_count = in_place || pick(3) ? 1 : pick_size(12),
    };
    const double bytes = (double)args.rows * (double)args.cols * (double)args.elem_size;
    tilemm__transpose_cpu_plan_t plan;
    const int status = in_place ? tilemm__plan_transpose_inplace_cpu(&args, limits, &plan)
                                : tilemm__plan_transpose_cpu(&args, limits, &plan);
    const tilemm__transpose_cpu_blocks_t *b = &plan.blocks;
#define TRANSPOSE                                                                                  \
    "%s, %lld x %lld of %zu bytes, in place %d, method %d, %d threads, %zu bytes of %zu",          \
        limits->cpu->name, (long long)args.rows, (long long)args.cols, args.elem_size, in_place,   \
        (int)plan.method, plan.threads, plan.workspace, limits->workspace

    CHECK(status == TILEMM_SUCCESS, TRANSPOSE);
    CHECK(plan.threads >= 1 && plan.threads <= limits->threads, TRANSPOSE);
    CHECK(plan.workspace <= limits->workspace && plan.scratch % 64 == 0, TRANSPOSE);
    CHECK(!in_place || (double)plan.workspace <= bytes / 16, TRANSPOSE);
    if (plan.method == TILEMM__TRANSPOSE_CPU_SLABS)
        CHECK(plan.slabs.m % plan.slabs.height == plan.slabs.fringe, TRANSPOSE);
    if (plan.method != TILEMM__TRANSPOSE_CPU_SIMD && plan.method != TILEMM__TRANSPOSE_CPU_COPY)
        return;
    CHECK(plan.threads <= tilemm__transpose_tasks(b), TRANSPOSE);
    CHECK(b->block_rows >= 1 && b->block_rows <= b->rows + 63 && b->block_cols >= 1 &&
              b->block_cols <= b->cols,
          TRANSPOSE);
    if (b->lines) /* what is left of a line waits only for a block that fills it */
        CHECK(b->block_rows * (int64_t)args.elem_size % 64 == 0, TRANSPOSE);
}

/* ---- each constant does what its name says ------------------------------------------------- */

/* A plan with a constant at `value` and the others as built in, on 16 threads of a machine. */
#define WITH(machine, name, value, call)                                                           \
    do {                                                                                           \
        const tilemm__cpu_kernels_t kernels = cpu_kernels_of(cpus[machine].isa);                   \
        tilemm__cpu_tuning_t tuning = tilemm__default_tuning(&cpus[machine]);                      \
        const tilemm__limits_t limits = {.cpu = &cpus[machine],                                    \
                                         .tuning = &tuning,                                        \
                                         .kernels = &kernels,                                      \
                                         .threads = 16,                                            \
                                         .workspace = SIZE_MAX,                                    \
                                         .variant = ""};                                           \
        tuning.name = value;                                                                       \
        call;                                                                                      \
    } while (0)

static tilemm__sgemm_cpu_plan_t plan_product(tilemm__limits_t limits, tilemm_math_t math, int64_t m,
                                             int64_t n, int64_t k)
{
    const tilemm__sgemm_args_t args = {
        .m = m, .n = n, .k = k, .alpha = 1, .lda = 2000, .ldb = 2000, .batch_count = 1};
    tilemm__sgemm_cpu_plan_t plan;
    limits.math = math;
    CHECK(tilemm__plan_sgemm_cpu(&args, &limits, &plan) == TILEMM_SUCCESS, "no plan");
    return plan;
}

static tilemm__transpose_cpu_plan_t plan_square(tilemm__limits_t limits, int64_t n)
{
    const tilemm__transpose_args_t args = {.rows = n,
                                           .cols = n,
                                           .elem_size = 4,
                                           .trans = 1,
                                           .src = (const void *)4096,
                                           .dst = (void *)8192,
                                           .ld_src = n,
                                           .ld_dst = n,
                                           .batch_count = 1};
    tilemm__transpose_cpu_plan_t plan;
    CHECK(tilemm__plan_transpose_cpu(&args, &limits, &plan) == TILEMM_SUCCESS, "no plan");
    return plan;
}

/* A context's team chooses the engine, not how many of it this call has. */
static void check_team(tilemm__limits_t limits)
{
    for (limits.threads = 1; limits.threads <= 16; limits.threads++)
        for (limits.team = limits.threads; limits.team <= 16; limits.team++) {
            const tilemm__sgemm_cpu_plan_t fp32 =
                plan_product(limits, TILEMM_MATH_FP32, 1000, 1000, 1000);
            const tilemm__sgemm_cpu_plan_t tf32 =
                plan_product(limits, TILEMM_MATH_TF32, 1000, 1000, 1000);
            CHECK(!fp32.blocked.planes == (limits.team >= 3) && tf32.blocked.planes,
                  "AMX for %d threads of %d", limits.threads, limits.team);
        }
}

static void check_constants(void)
{
    enum { AVX2 = 1, AVX512 = 2, AMX = 3 };
    const tilemm_math_t strict = TILEMM_MATH_FP32_STRICT;
    const int64_t most = (int64_t)1 << 50;
    tilemm__sgemm_cpu_plan_t p[2];
    tilemm__transpose_cpu_plan_t t[2];
#define PRODUCT(machine, name, less, more, math, m, n, k)                                          \
    WITH(machine, name, less, p[0] = plan_product(limits, math, m, n, k));                         \
    WITH(machine, name, more, p[1] = plan_product(limits, math, m, n, k))
#define SQUARE(machine, name, less, more, n)                                                       \
    WITH(machine, name, less, t[0] = plan_square(limits, n));                                      \
    WITH(machine, name, more, t[1] = plan_square(limits, n))
    PRODUCT(AVX512, sgemm_thread_work, 1 << 16, most, strict, 256, 256, 256);
    CHECK(p[0].threads == 16 && p[1].threads == 1, "%d, %d", p[0].threads, p[1].threads);
    PRODUCT(AVX512, sgemm_vector_work, 1 << 12, most, strict, 1, 512, 512);
    CHECK(p[0].threads == 16 && p[1].threads == 1, "%d, %d", p[0].threads, p[1].threads);
    PRODUCT(AVX512, sgemm_a_bytes, 1 << 16, 1 << 20, strict, 2000, 2000, 2000);
    CHECK(p[0].blocked.m_part < p[1].blocked.m_part, "%lld", (long long)p[0].blocked.m_part);
    PRODUCT(AVX512, sgemm_parts, 1, 64, strict, 2000, 2000, 2000);
    CHECK(p[0].blocked.m_part * p[0].blocked.n_part > p[1].blocked.m_part * p[1].blocked.n_part,
          "%lld", (long long)p[0].blocked.m_part);
    PRODUCT(AVX512, sgemm_shared_work, 1 << 10, most, strict, 1000, 1000, 1000);
    CHECK(p[0].blocked.shared && !p[1].blocked.shared, "who packs");
    CHECK(p[1].tasks >= 16 && p[1].m_task > 100 && p[1].n_task > 100, "%lld tasks of %lld x %lld",
          (long long)p[1].tasks, (long long)p[1].m_task, (long long)p[1].n_task);
    PRODUCT(AMX, amx_percent, 1, 10000, TILEMM_MATH_FP32, 256, 256, 256);
    CHECK(p[0].blocked.planes && !p[1].blocked.planes, "where AMX pays");
    PRODUCT(AMX, amx_percent, 1, 10000, strict, 256, 256, 256);
    CHECK(!p[0].blocked.planes && !p[1].blocked.planes, "AMX in strict mode");
    WITH(AMX, amx_team_percent, 400, check_team(limits)); /* what tune tries */
    PRODUCT(AMX, amx_thread_cycles, 1 << 10, most, TILEMM_MATH_FP32, 512, 512, 512);
    CHECK(p[0].threads > 8 && p[1].threads == 1, "%d, %d", p[0].threads, p[1].threads);
    SQUARE(AVX512, transpose_thread_bytes, 1 << 12, most, 512);
    CHECK(t[0].threads == 16 && t[1].threads == 1, "%d, %d", t[0].threads, t[1].threads);
    SQUARE(AVX512, transpose_far_bytes, 1 << 20, most, 2048);
    CHECK(t[0].blocks.lines && !t[1].blocks.lines, "stores around the caches");
    SQUARE(AVX2, transpose_block_bytes, 1 << 16, 1 << 18, 4096);
    CHECK(t[0].blocks.lines && t[0].blocks.block_rows * t[0].blocks.block_cols <
                                   t[1].blocks.block_rows * t[1].blocks.block_cols,
          "%lld rows", (long long)t[0].blocks.block_rows);
}

int main(void)
{
    for (int i = 0; i < 30000; i++) {
        const tilemm__cpu_traits_t *cpu = &cpus[pick(CPUS)];
        const tilemm__cpu_kernels_t kernels = cpu_kernels_of(cpu->isa);
        const tilemm__cpu_tuning_t tuning = pick_tuning(cpu);
        const tilemm__limits_t limits = {
            .cpu = cpu,
            .tuning = &tuning,
            .kernels = &kernels,
            .math = (tilemm_math_t)pick(3),
            .threads = (int)pick_size(8),
            .workspace = pick(3) ? (size_t)pick_size(30) - 1 : SIZE_MAX,
            .variant = "",
        };
        check_sgemm(&limits);
        check_transpose(&limits);
    }
    check_constants();
    return check_exit();
}
