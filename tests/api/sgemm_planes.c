/* sgemm_planes.c - SGEMM by BF16 planes on the CPU: the plan; that planes lose nothing of an
 * element; what they cannot carry, and whom that concerns; the same bits however the work is shared
 * out. The tile unit is emulated.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "lib/sgemm/plan_cpu.h"
#include "lib/tuning.h"
#include "tests/support/support.h"

enum { M = 150, N = 140, K = 700, LINES = TILEMM__PLANES_LINES };

static float a[M * K], b[K * N], c[M * N], before[M * N];
static rng_t rng = {5};

static void fill(void)
{
    matrix_fill(a, TILEMM_ROW_MAJOR, M, K, K, FAMILY_NORMAL, &rng);
    matrix_fill(b, TILEMM_ROW_MAJOR, K, N, N, FAMILY_NORMAL, &rng);
}

static void multiply(tilemm_t ctx, tilemm_math_t math, int m, int n, int k, float *to)
{
    const gemm_t g = gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, k, 1, 0);
    memset(to, 0xff, sizeof(float) * (size_t)(m * n));
    CHECK_OK(ctx, tilemm_set_math(ctx, math));
    CHECK_OK(ctx, gemm_call(ctx, &g, a, b, to));
    CHECK(!strstr(tilemm_last_kernel(ctx), "bf16") == (math == TILEMM_MATH_FP32_STRICT), "%s",
          tilemm_last_kernel(ctx));
}

static const tilemm__cpu_traits_t xeon = {"Sapphire Rapids", TILEMM__ISA_AMX, 112,
                                          48 << 10,          2 << 20,         105 << 20};

/* Plans, and returns 1 if it is by planes. */
static int plans(const tilemm__sgemm_planes_t *planes, int64_t m, int64_t n, int64_t k,
                 int64_t batch, int threads, size_t workspace, tilemm__sgemm_cpu_plan_t *plan)
{
    const tilemm__sgemm_args_t args = {
        .m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n, .batch_count = batch};
    const tilemm__cpu_kernels_t kernels = {.sgemm = &tilemm__sgemm_cpu_generic,
                                           .planes_fp32 = planes};
    const tilemm__cpu_tuning_t tuning = tilemm__default_tuning(&xeon);
    const tilemm__limits_t limits = {.cpu = &xeon,
                                     .tuning = &tuning,
                                     .kernels = &kernels,
                                     .math = TILEMM_MATH_FP32,
                                     .threads = threads,
                                     .workspace = workspace,
                                     .variant = ""};
    const tilemm__sgemm_cpu_blocks_t *b = &plan->blocked;
    CHECK(tilemm__plan_sgemm_cpu(&args, &limits, plan) == TILEMM_SUCCESS, "no plan");
    if (plan->way != TILEMM__SGEMM_CPU_BLOCKED || !b->planes)
        return 0;
    CHECK(plan->workspace <= workspace && plan->threads >= 1 && plan->threads <= threads,
          "%zu of %zu bytes, %d of %d threads", plan->workspace, workspace, plan->threads, threads);
    CHECK(b->m_panel % LINES == 0 && b->n_panel % LINES == 0 && b->m_part % LINES == 0 &&
              b->n_part % LINES == 0 && b->m_part > 0 && b->n_part > 0 && b->m_part <= b->m_panel &&
              b->n_part <= b->n_panel,
          "%lld x %lld panels, %lld x %lld parts", (long long)b->m_panel, (long long)b->n_panel,
          (long long)b->m_part, (long long)b->n_part);
    CHECK(b->kc > 0 && b->kc % 32 == 0 && b->kc <= planes->depth, "kc %lld", (long long)b->kc);
    CHECK(b->set_bytes == (size_t)((b->m_panel + b->n_panel) / LINES * b->k_blocks) *
                              tilemm__planes_bytes(planes, b->kc),
          "a set of %zu bytes", b->set_bytes);
    CHECK(b->k_blocks >= 1 && (b->shared || b->k_blocks == 1) && (b->k_blocks - 1) * b->kc < k,
          "%d blocks of k", b->k_blocks);
    CHECK(plan->workspace == b->set_bytes * (size_t)(b->shared ? 1 : plan->threads), "%zu",
          plan->workspace);
    const double each = (double)m * (double)n * (double)k / plan->threads;
    CHECK(b->shared == (plan->threads > 1 && batch == 1 &&
                        each >= (double)limits.tuning->sgemm_shared_work) ||
              batch > 1,
          "shared %d", b->shared);
    return 1;
}

static void try_plans(void)
{
    static const int threads[] = {1, 2, 16, 112};
    static const struct {
        int64_t m, n, k, batch;
        int by_planes; /* not where tiles are nearly empty, or packing is the most of it */
    } sizes[] = {{256, 256, 256, 1, 1},       {1024, 1024, 1024, 1, 1},
                 {4096, 4096, 4096, 1, 1},    {16384, 16384, 16384, 1, 1},
                 {65536, 65536, 65536, 1, 1}, {INT64_C(1) << 40, 500, 3000, 1, 1},
                 {500, 500, 3000, 1000, 1},   {16, 16, 16, 100000, 0},
                 {4096, 1, 4096, 1, 0},       {4096, 8, 4096, 1, 0},
                 {4096, 4096, 8, 1, 0}};
    tilemm__sgemm_planes_t planes[] = {tilemm__sgemm_planes_amx_fp32,
                                       tilemm__sgemm_planes_amx_tf32};
    tilemm__sgemm_cpu_plan_t plan, other;
    for (int which = 0; which < 2; which++) {
        tilemm__sgemm_planes_t *p = &planes[which];
        p->always = 0; /* as where it is not emulated */
        for (int t = 0; t < 4; t++) {
            for (int x = 0; x < (int)(sizeof sizes / sizeof *sizes); x++)
                CHECK(plans(p, sizes[x].m, sizes[x].n, sizes[x].k, sizes[x].batch, threads[t],
                            SIZE_MAX, &plan) == sizes[x].by_planes,
                      "size %d, %d threads", x, threads[t]);
            CHECK(!plans(p, 4096, 4096, 4096, 1, threads[t], 0, &plan), "no workspace");
            /* Less and less of it: the sums stay the same. */
            CHECK(plans(p, 3000, 4000, 5000, 1, threads[t], SIZE_MAX, &plan), "large");
            for (size_t bytes = plan.workspace; bytes > 0; bytes = bytes * 3 / 4)
                if (plans(p, 3000, 4000, 5000, 1, threads[t], bytes, &other))
                    CHECK(other.blocked.kc == plan.blocked.kc, "%zu bytes", bytes);
        }
    }
}

/* A times the identity is A, bit by bit, at every scale. */
static void identity(tilemm_t ctx)
{
    enum { SIDE = 100 };
    memset(b, 0, sizeof b);
    for (int i = 0; i < SIDE; i++)
        b[i * SIDE + i] = 1.0f;
    for (int exponent = -149; exponent <= 126; exponent += 5) {
        int wrong = 0, far = 0;
        for (int i = 0; i < SIDE * SIDE; i++) {
            a[i] = ldexpf((float)rng_range(&rng, 1 << 23, (1 << 24) - 1), exponent - 23);
            a[i] = i % 3 ? a[i] : -a[i];
        }
        multiply(ctx, TILEMM_MATH_FP32, SIDE, SIDE, SIDE, c);
        for (int i = 0; i < SIDE * SIDE; i++)
            wrong += c[i] != a[i];
        CHECK(wrong == 0, "exponent %d: %d elements changed", exponent, wrong);
        multiply(ctx, TILEMM_MATH_TF32, SIDE, SIDE, SIDE, c);
        for (int i = 0; i < SIDE * SIDE; i++)
            far += !(fabsf(c[i] - a[i]) <= fmaxf(0x1p-16f * fabsf(a[i]), 0x1p-149f));
        CHECK(far == 0, "exponent %d: %d elements off in TF32", exponent, far);
    }
}

/* Whether element (i, j) of the M x N x K product in c is far from FP64. */
static int is_wrong(int i, int j, double relative, double absolute)
{
    const gemm_t g = gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, M, N, K, 1, 0);
    double magnitude, sum = gemm_dot(&g, a, b, i, j, &magnitude);
    return !gemm_right(c[i * N + j], sum, relative * magnitude + absolute);
}

/* One element of A, or of B, that planes cannot carry beside the others: results that have nothing
 * to do with its 32 rows, or columns, keep their bits, and the others are what FP32 makes of them.
 */
static void lone(tilemm_t ctx, tilemm_math_t math)
{
    static const float elements[] = {INFINITY,  -INFINITY,   NAN,
                                     0x1p-149f, 0x1.8p-120f, 0x1.fffffep127f};
    const double bound = math == TILEMM_MATH_TF32 ? 0x1p-14 : 0x1p-20;
    for (int e = 0; e < (int)(sizeof elements / sizeof *elements); e++) {
        for (int of_b = 0; of_b < 2; of_b++) {
            const int line = of_b ? 77 : 101, p = 333, first = line / LINES * LINES;
            float *element = of_b ? &b[p * N + line] : &a[line * K + p];
            int outside = 0, inside = 0;
            fill();
            multiply(ctx, math, M, N, K, before);
            *element = elements[e];
            multiply(ctx, math, M, N, K, c);
            for (int i = 0; i < M; i++) {
                for (int j = 0; j < N; j++) {
                    const int at = of_b ? j : i;

                    if (at < first || at >= first + LINES)
                        outside += memcmp(&c[i * N + j], &before[i * N + j], sizeof(float)) != 0;
                    else
                        inside += is_wrong(i, j, bound, 0);
                }
            }
            CHECK(!outside && !inside, "%g in %s: %d and %d results are wrong", (double)elements[e],
                  of_b ? "B" : "A", outside, inside);
        }
    }
}

/* Elements so far apart that products of planes, or the planes, would be flushed to 0: as much of a
 * result is kept as FP32 keeps. */
static void wide(tilemm_t ctx)
{
    for (int gap = 0; gap <= 140; gap += 10) {
        int wrong = 0;
        /* Large elements of A meet zeros: all that counts are small ones. */
        fill();
        for (int i = 0; i < M; i++)
            for (int p = 0; p < K; p++)
                a[i * K + p] = ldexpf(a[i * K + p], p % 8 ? -gap : 0);
        for (int p = 0; p < K; p += 8)
            memset(&b[p * N], 0, sizeof(float) * N);
        multiply(ctx, TILEMM_MATH_FP32, M, N, K, c);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                wrong += is_wrong(i, j, 0x1p-22, K * 0x1p-149);
        CHECK(wrong == 0, "2^-%d: %d results are wrong", gap, wrong);
    }
}

static void same_bits(tilemm_t ctx, tilemm_math_t math)
{
    static const size_t bytes[] = {0, 2400000, 1000000, 500000, 260000};
    static char workspace[2400000];
    fill();
    CHECK_OK(ctx, tilemm_set_threads(ctx, 1));
    multiply(ctx, math, M, N, K, before);
    for (int threads = 1; threads < 8; threads++) {
        CHECK_OK(ctx, tilemm_set_threads(ctx, threads));
        for (int w = 0; w < 5; w++) {
            CHECK_OK(ctx, tilemm_set_workspace(ctx, bytes[w] ? workspace : NULL, bytes[w]));
            multiply(ctx, math, M, N, K, c);
            CHECK(memcmp(c, before, sizeof c) == 0, "other bits with %d threads and %zu bytes",
                  threads, bytes[w]);
        }
    }
    CHECK_OK(ctx, tilemm_set_workspace(ctx, NULL, 0));
}

/* A small C with a long k: threads share panels of several blocks of k. Some lines are left to
 * multiply-adds, in one of those blocks. */
static void long_sums(tilemm_t ctx, tilemm_math_t math)
{
    enum { ROWS = 70, COLUMNS = 66, LONG = 45001 };
    const gemm_t g =
        gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, ROWS, COLUMNS, LONG, 1, 0);
    const tilemm__sgemm_planes_t *const planes =
        math == TILEMM_MATH_FP32 ? &tilemm__sgemm_planes_amx_fp32 : &tilemm__sgemm_planes_amx_tf32;
    tilemm__sgemm_cpu_plan_t plan;
    float *const x = host_array(ROWS * LONG), *const y = host_array(LONG * COLUMNS);
    CHECK(plans(planes, ROWS, COLUMNS, LONG, 1, 3, SIZE_MAX, &plan) && plan.blocked.shared &&
              plan.blocked.k_blocks > 1 && LONG > plan.blocked.k_blocks * plan.blocked.kc,
          "%d blocks of k", plan.blocked.k_blocks);
    matrix_fill(x, TILEMM_ROW_MAJOR, ROWS, LONG, LONG, FAMILY_NORMAL, &rng);
    matrix_fill(y, TILEMM_ROW_MAJOR, LONG, COLUMNS, COLUMNS, FAMILY_NORMAL, &rng);
    x[33 * LONG + 20000] = 0x1p-149f;
    x[66 * LONG + 9000] = 0x1p-149f;
    y[700 * COLUMNS + 40] = 0x1p-149f;
    CHECK_OK(ctx, tilemm_set_math(ctx, math));
    for (int threads = 1; threads <= 3; threads += 2) {
        memset(c, 0xff, sizeof c);
        CHECK_OK(ctx, tilemm_set_threads(ctx, threads));
        CHECK_OK(ctx, gemm_call(ctx, &g, x, y, c));
        if (threads == 1)
            memcpy(before, c, sizeof c);
    }
    CHECK(memcmp(c, before, sizeof c) == 0, "other bits with three threads");
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j += i % 32 == 2 ? 1 : 13) {
            double magnitude, sum = gemm_dot(&g, x, y, i, j, &magnitude);
            CHECK(gemm_right(c[i * COLUMNS + j], sum,
                             (math == TILEMM_MATH_FP32 ? 0x1p-21 : 0x1p-14) * magnitude),
                  "element (%d, %d)", i, j);
        }
    free(x);
    free(y);
}

int main(void)
{
    test_begin(TILEMM_BACKEND_CPU);
    try_plans();
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    const gemm_t g = gemm_by_bits(0, (const int64_t[]){64, 64, 64}, 1, 0);
    CHECK_OK(ctx, gemm_call(ctx, &g, a, b, c));
    if (!strstr(tilemm_last_kernel(ctx), "amx")) {
        printf("no AVX-512 here, which the emulation needs: left out\n");
        tilemm_destroy(ctx);
        return check_failures ? 1 : CHECK_SKIPPED;
    }
    identity(ctx);
    lone(ctx, TILEMM_MATH_FP32);
    lone(ctx, TILEMM_MATH_TF32);
    wide(ctx);
    multiply(ctx, TILEMM_MATH_FP32_STRICT, M, N, K, c);
    same_bits(ctx, TILEMM_MATH_FP32);
    same_bits(ctx, TILEMM_MATH_TF32);
    long_sums(ctx, TILEMM_MATH_FP32);
    long_sums(ctx, TILEMM_MATH_TF32);
    tilemm_destroy(ctx);
    return check_exit();
}
