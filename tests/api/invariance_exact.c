/* invariance_exact.c - invariant products on a GPU of compute capability 9.0 whose lines have
 * numbers that planes of BF16, or of FP16, do not carry (doc/numerics.md): every kernel, bits
 * against the rule, with such numbers in all lines, in some, and in one; and the same from a
 * replayed graph whose operands change.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/invariant_rule.h"
#include "tests/support/support.h"
#include "tools/gpu.h"

/* ---- a product ------------------------------------------------------------------------------ */

typedef struct {
    gemm_t g;
    float *a, *b, *c;      /* as they are stored */
    float *before;         /* C before a call */
    float *rows, *columns; /* op(A) and op(B), each line along k */
    void *device_a, *device_b, *device_c;
} product_t;

static product_t product_of(const gemm_t *g)
{
    const int64_t count_a = gemm_span_a(g), count_b = gemm_span_b(g), count_c = gemm_span_c(g);
    return (product_t){.g = *g,
                       .a = host_array(count_a),
                       .b = host_array(count_b),
                       .c = host_array(count_c),
                       .before = host_array(count_c),
                       .rows = host_array(g->m * g->k),
                       .columns = host_array(g->n * g->k),
                       .device_a = device_array((size_t)count_a * sizeof(float)),
                       .device_b = device_array((size_t)count_b * sizeof(float)),
                       .device_c = device_array((size_t)count_c * sizeof(float))};
}

static void discard(product_t *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->before);
    free(p->rows);
    free(p->columns);
    gpu_free(p->device_a);
    gpu_free(p->device_b);
    gpu_free(p->device_c);
}

/* Lines that are exact: none; some, by large numbers, Inf or NaN in some places; one of each
 * operand; all, of which some have one large number only; all numbers. Or lines for FP16 planes,
 * half of whose numbers are zeros, all or some; and some that are thin, that grow along k, that
 * begin with zeros, that are all zeros, or tiny. */
typedef enum {
    NO_LINE,
    SOME_LINES,
    ONE_LINE,
    ALL_LINES,
    ALL_NUMBERS,
    HALF_LINES,
    SOME_HALF,
    MIXED_LINES,
    LINES_COUNT
} lines_t;

static float huge(rng_t *rng)
{
    static const float values[] = {0x1p45f, -0x1.8p60f, 0x1p45f - 0x1p36f, 3e19f};
    return values[rng_range(rng, 0, 3)];
}

static void make_line(rng_t *rng, lines_t lines, int is_one, int64_t k, float *x)
{
    for (int64_t p = 0; p < k; p++)
        x[p] = rng_float(rng, FAMILY_NORMAL) * (lines == ALL_NUMBERS ? 0x1p59f : 1.0f);
    const int mixed = lines == MIXED_LINES ? (int)rng_range(rng, 0, 8) : 0;
    if (lines == HALF_LINES || (lines == SOME_HALF && rng_range(rng, 0, 1)) || mixed == 1)
        for (int64_t p = 0; p < k; p++)
            x[p] = fmaxf(x[p], 0);
    for (int64_t p = 0; p < k && mixed >= 2; p++)
        x[p] = mixed == 2   ? (rng_range(rng, 0, 19) ? 0 : x[p])
               : mixed == 3 ? ldexpf(x[p], (int)(p * 12 / k))
               : mixed == 4 ? (p < 40 ? 0 : x[p])
               : mixed == 5 ? 0
               : mixed == 6 ? ldexpf(x[p], -100)
               : mixed == 7 ? ldexpf(x[p], -140)
                            : ldexpf(x[p], (int)rng_range(rng, -20, 0));
    if (lines == ALL_LINES || (lines == ONE_LINE && is_one) ||
        (lines == SOME_LINES && rng_range(rng, 0, 3) == 0))
        x[rng_range(rng, 0, k - 1)] = huge(rng);
    if (lines == ALL_LINES && rng_range(rng, 0, 1)) /* in every part of k */
        for (int64_t p = 0; p < k; p += 20)
            x[p] = huge(rng);
    if (lines == SOME_LINES && rng_range(rng, 0, 30) == 0)
        x[rng_range(rng, 0, k - 1)] = rng_range(rng, 0, 1) ? INFINITY : NAN;
}

static void fill(rng_t *rng, lines_t lines, product_t *p)
{
    const gemm_t *const g = &p->g;
    const int64_t row = rng_range(rng, 0, g->m - 1), column = rng_range(rng, 0, g->n - 1);
    for (int64_t i = 0; i < g->m; i++) {
        make_line(rng, lines, i == row, g->k, p->rows + i * g->k);
        for (int64_t l = 0; l < g->k; l++)
            p->a[gemm_at_a(g, i, l)] = p->rows[i * g->k + l];
    }
    for (int64_t j = 0; j < g->n; j++) {
        make_line(rng, lines, j == column, g->k, p->columns + j * g->k);
        for (int64_t l = 0; l < g->k; l++)
            p->b[gemm_at_b(g, l, j)] = p->columns[j * g->k + l];
    }
    for (int64_t i = 0; i < gemm_span_c(g); i++)
        p->before[i] = g->beta == 0 ? NAN : rng_float(rng, FAMILY_NORMAL);
    if (gpu_to_device(p->device_c, p->before, (size_t)gemm_span_c(g) * sizeof(float)) ||
        gpu_to_device(p->device_a, p->a, (size_t)gemm_span_a(g) * sizeof(float)) ||
        gpu_to_device(p->device_b, p->b, (size_t)gemm_span_b(g) * sizeof(float)))
        test_give_up("copies to the device");
}

static tilemm_status_t call(tilemm_t ctx, const product_t *p)
{
    return gemm_call(ctx, &p->g, p->device_a, p->device_b, p->device_c);
}

/* Whether the rule's sum is not one of these products; of numbers that are finite. */
static int is_far(int64_t k, const float *a, const float *b, float sum)
{
    double exact = 0, size = 0;
    for (int64_t p = 0; p < k; p++) {
        exact += (double)a[p] * b[p];
        size += fabs((double)a[p] * b[p]);
    }
    return isfinite(size) && size < FLT_MAX &&
           !(fabs(sum - exact) <= 0x1p-19 * size + (double)k * 0x1p-148);
}

/* Elements against the rule: all of them where chains have all, else some. */
static void check(tilemm_t ctx, rng_t *rng, lines_t lines, product_t *p, const char *what)
{
    const gemm_t *const g = &p->g;
    const int is_half = g->k >= LEAST_K_OF_HALF; /* whose rule takes long here */
    const int64_t all = g->m * g->n, steps = is_half ? 500000 : 2000000; /* of k, in the model */
    const int64_t some = (test_quick() ? steps / 4 : steps) / (g->k < 1000 ? 1000 : g->k) + 4;
    const int64_t count = lines == ALL_NUMBERS || all < some ? all : some;
    int64_t wrong = 0, far = 0, first = -1;
    if (gpu_to_host(p->c, p->device_c, (size_t)gemm_span_c(g) * sizeof(float)))
        test_give_up("copies from the device");
    for (int64_t x = 0; x < count; x++) {
        const int64_t e = count == all ? x : rng_range(rng, 0, all - 1);
        const float sum = invariant_sum_of(0, 1, g->k, p->rows + e / g->n * g->k,
                                           p->columns + e % g->n * g->k, 1);
        far += is_far(g->k, p->rows + e / g->n * g->k, p->columns + e % g->n * g->k, sum);
        const int64_t at = matrix_at(g->layout, e / g->n, e % g->n, g->ldc);
        volatile float scaled = g->alpha * sum;
        const float want = g->beta == 0 ? scaled : fmaf(g->beta, p->before[at], scaled);
        const float got = p->c[at];
        if (!(isnan(got) && isnan(want)) && memcmp(&got, &want, sizeof got) && !wrong++)
            first = e;
    }
    CHECK(far == 0, "%s, %s, lines %d, %s: %lld of %lld sums are wrong", tilemm_last_kernel(ctx),
          gemm_text(g), lines, what, (long long)far, (long long)count);
    CHECK(wrong == 0, "%s, %s, lines %d, %s: %lld of %lld elements are not by the rule, first %lld",
          tilemm_last_kernel(ctx), gemm_text(g), lines, what, (long long)wrong, (long long)count,
          (long long)first);
}

/* ---- kernels --------------------------------------------------------------------------------
 */

static const char *const kernels[] = {"sgemm_invariant_sm90_128x128",
                                      "sgemm_invariant_sm90_128x64",
                                      "sgemm_invariant_sm90_64x64",
                                      "sgemm_invariant_sm90_256x32",
                                      "sgemm_invariant_sm90_32x256",
                                      "sgemm_invariant_unaligned_sm90_128x128",
                                      "sgemm_invariant_unaligned_sm90_128x64",
                                      "sgemm_invariant_unaligned_sm90_64x64",
                                      "sgemm_half_planes_sm90_128x128",
                                      "sgemm_half_planes_sm90_128x64",
                                      "sgemm_half_sm90_128x128",
                                      "sgemm_half_sm90_128x64",
                                      "sgemm_half_sm90_64x64",
                                      "sgemm_half_sm90_256x32",
                                      "sgemm_half_sm90_32x256",
                                      "sgemm_warp_sm90_32x16",
                                      "sgemm_warp_sm90_32x8",
                                      "sgemm_warp_sm90_16x8",
                                      "sgemm_team_sm90_32x8",
                                      "sgemm_team_sm90_16x8",
                                      "sgemm_resident_sm90_32x8",
                                      "sgemm_resident_sm90_16x8",
                                      "sgemm_outer_sm80"};

/* k of a team: of FP16 planes, with one round of steps or several; of BF16 planes. */
static int64_t team_k(rng_t *rng, int i)
{
    return i % 4 == 0   ? rng_range(rng, LEAST_K_OF_HALF, 3000)
           : i % 4 == 1 ? rng_range(rng, MOST_K_OF_HALF + 1, MOST_K_OF_HALF + 5000)
           : i % 4 == 2 ? rng_range(rng, 3000, MOST_K_OF_HALF)
                        : rng_range(rng, LEAST_K_OF_HALF, 12000);
}

/* k of a resident kernel: of BF16 planes one part, four, 16 or more; of FP16 planes. */
static int64_t resident_k(rng_t *rng, int i)
{
    return i % 5 == 0   ? rng_range(rng, LEAST_K_OF_HALF, 3000)
           : i % 5 == 1 ? rng_range(rng, 256, LEAST_K_OF_HALF - 1)
           : i % 5 == 2 ? rng_range(rng, 64, 255)
           : i % 5 == 3 ? rng_range(rng, LEAST_K_OF_HALF, 12000)
                        : rng_range(rng, MOST_K_OF_HALF + 1, MOST_K_OF_HALF + 5000);
}

/* k of sums of outer products, up to one step less than they have; often a variant's depth. */
static int64_t outer_k(rng_t *rng, int i)
{
    return i % 4 == 1 ? rng_range(rng, 1, 2) * 8 : rng_range(rng, 1, 23);
}

static void try_kernels(rng_t *rng)
{
    for (int t = 0; t < (int)(sizeof kernels / sizeof *kernels); t++) {
        const char *const name = kernels[t];
        const int has_half = strstr(name, "_half_") != NULL;
        const int has_both = strstr(name, "_warp_") != NULL;
        const int is_team = strstr(name, "_team_") != NULL; /* long ones */
        const int is_resident = strstr(name, "_resident_") != NULL;
        const int is_outer = strstr(name, "_outer_") != NULL;
        setenv("TILEMM_VARIANT", name, 1);
        tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
        CHECK_OK(ctx, tilemm_set_invariance(ctx, TILEMM_INVARIANT));
        for (int i = 0; i < (test_quick() ? 2 : 8) * (has_both || is_resident || is_outer ? 2 : 1);
             i++) {
            const int half = has_half || (has_both && i / 2 % 2);
            const int is_long = rng_range(rng, 0, 3) == 0; /* more than one part of k */
            const int64_t most = is_team ? 60 : test_quick() ? 150 : 300;
            const int64_t k = is_team       ? team_k(rng, i)
                              : is_resident ? resident_k(rng, i + t)
                              : is_outer    ? outer_k(rng, i)
                              : half        ? LEAST_K_OF_HALF - 1 + rng_range(rng, 1, 1000)
                              : is_long     ? rng_range(rng, 256, LEAST_K_OF_HALF - 1)
                                            : rng_range(rng, 64, 255);
            const int64_t vectors = rng_range(rng, 1, k < 5000 ? 8 : 2);
            const int64_t line = rng_range(rng, 1, k < 5000 ? 2000 : 300);
            const int64_t size[] = {!is_resident ? rng_range(rng, 1, most)
                                    : i & 2      ? line
                                                 : vectors,
                                    !is_resident ? rng_range(rng, 1, most)
                                    : i & 2      ? vectors
                                                 : line,
                                    k};
            const gemm_t g = gemm_by_bits(test_quick() ? (t + 3 * i) % 8 : i, size,
                                          i % 2 ? -1.5f : 1.0f, i % 2 ? 0.75f : 0.0f);
            product_t p = product_of(&g);
            for (int lines = 0; lines < LINES_COUNT; lines++) {
                fill(rng, (lines_t)lines, &p);
                CHECK_OK(ctx, call(ctx, &p));
                CHECK(strstr(tilemm_last_kernel(ctx), name), "%s instead of %s",
                      tilemm_last_kernel(ctx), name);
                check(ctx, rng, (lines_t)lines, &p, "a call");
            }
            discard(&p);
        }
        tilemm_destroy(ctx);
    }
    unsetenv("TILEMM_VARIANT");
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* A block of a resident kernel that takes many tiles, one after the other: each of MATRICES equal
 * matrices has one block. Their results must be equal. */
static void try_rounds(rng_t *rng, const char *name, int i)
{
    enum { MATRICES = 300, ROWS = 2600 };
    static const int64_t ks[] = {100, 300, 700};
    const int64_t line = ROWS + rng_range(rng, 0, 40), vectors = rng_range(rng, 1, 3);
    const int64_t size[] = {i % 2 ? line : vectors, i % 2 ? vectors : line, ks[i % 3]};
    const gemm_t g = gemm_by_bits(i, size, i % 2 ? -1.5f : 1.0f, i % 2 ? 0.75f : 0.0f);
    const int64_t span = gemm_span_c(&g);
    const size_t bytes = (size_t)span * sizeof(float);
    float *const all = host_array(span * MATRICES);
    void *const device_all = device_array(bytes * MATRICES);
    product_t p = product_of(&g);
    tilemm_t ctx = test_context_of(TILEMM_BACKEND_CUDA, "", name);
    CHECK_OK(ctx, tilemm_set_invariance(ctx, TILEMM_INVARIANT));
    for (int lines = 0; lines < LINES_COUNT; lines++) {
        int64_t other = 0;
        fill(rng, (lines_t)lines, &p);
        for (int64_t x = 0; x < MATRICES; x++)
            memcpy(all + x * span, p.before, bytes);
        if (gpu_to_device(device_all, all, bytes * MATRICES))
            test_give_up("copies to the device");
        CHECK_OK(ctx, gemm_call_strided(ctx, &g, p.device_a, 0, p.device_b, 0, device_all, span,
                                        MATRICES));
        CHECK(strstr(tilemm_last_kernel(ctx), name), "%s instead of %s", tilemm_last_kernel(ctx),
              name);
        if (gpu_to_host(all, device_all, bytes * MATRICES) || gpu_to_device(p.device_c, all, bytes))
            test_give_up("copies between host and device");
        check(ctx, rng, (lines_t)lines, &p, "the first of a batch");
        for (int64_t x = 1; x < MATRICES; x++)
            other += memcmp(all + x * span, all, bytes) != 0;
        CHECK(other == 0, "%s, %s, lines %d: %lld of %d results are not the first one",
              tilemm_last_kernel(ctx), gemm_text(&g), lines, (long long)other, (int)MATRICES);
    }
    tilemm_destroy(ctx);
    gpu_free(device_all);
    free(all);
    discard(&p);
}

/* ---- graphs --------------------------------------------------------------------------------- */

/* One capture, operands of every kind. */
static void try_graphs(rng_t *rng)
{
    static const int64_t sizes[][3] = {{1500, 1400, 500}, {700, 520, 1000}, {2600, 2500, 700},
                                       {20, 900, 2000},   {60, 70, 140},    {50, 40, 9000}};
    for (int s = test_quick() ? 3 : 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
        const gemm_t g = gemm_by_bits(s, sizes[s], 1.0f, 0.0f);
        product_t p = product_of(&g);
        tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
        void *const stream = gpu_stream_create();
        CHECK_OK(ctx, tilemm_set_invariance(ctx, TILEMM_INVARIANT));
        CHECK_OK(ctx, call(ctx, &p)); /* workspace */
        CHECK_OK(ctx, tilemm_set_stream(ctx, stream));
        CHECK(gpu_capture_begin(stream) == 0, "capture");
        CHECK_OK(ctx, call(ctx, &p));
        void *const graph = gpu_capture_end(stream);
        CHECK(graph, "%s: the capture was broken", gemm_text(&g));
        for (int run = 0; graph && run < 2 * LINES_COUNT; run++) {
            const lines_t lines = (lines_t)(run % LINES_COUNT);
            fill(rng, lines, &p);
            CHECK(gpu_graph_launch(graph, stream) == 0 && gpu_stream_synchronize(stream) == 0,
                  "replay");
            check(ctx, rng, lines, &p, "a replay");
        }
        tilemm_destroy(ctx);
        gpu_graph_destroy(graph);
        gpu_stream_destroy(stream);
        discard(&p);
    }
}

int main(void)
{
    rng_t rng = {2022};
    gpu_traits_t traits;
    test_begin(TILEMM_BACKEND_CUDA);
    if (gpu_describe(0, &traits) || traits.cc_major != 9) {
        printf("no GPU of compute capability 9.0\n");
        return 77;
    }
    try_kernels(&rng);
    for (int i = test_quick() ? 3 : 0; i < 6; i++)
        try_rounds(&rng, i % 2 ? "sgemm_resident_sm90_32x8" : "sgemm_resident_sm90_16x8", i);
    try_graphs(&rng);
    return check_exit();
}
