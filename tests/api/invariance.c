/* invariance.c - invariant products, on the CPU or (TEST_CUDA) a GPU: bits of an element against
 * the order of sums that doc/numerics.md states, computed here on its own; and the same rows and
 * columns once more in another batch, layout, place and alignment, among others that hold Inf, NaN
 * and outliers.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/gemm.h"
#include "tests/support/invariant_rule.h"
#include "tests/support/support.h"
#include "tests/support/tile_planes.h"

enum { ANY = -1, CONTEXTS = 4, MOST_BATCH = 4, WORKSPACE = 1 << 20 };

#ifdef TEST_CUDA /* in the order of tilemm_math_t */
static const char *const archs[] = {"fp32", "strict", "tf32"};
enum { ARCHS = 3 };
#else
static const char *const archs[] = {"generic", "avx2", "avx512", "amx", "neon"};
enum { ARCHS = 5 };
#endif

static tilemm_t contexts[ARCHS][CONTEXTS];
static char workspace[WORKSPACE];

/* ---- a product ------------------------------------------------------------------------------ */

/* Row-major and dense: A m x k, B k x n, C m x n, and the results. */
typedef struct {
    int64_t m, n, k;
    float alpha, beta;
    float *a, *b, *c, *out;
    int math; /* the mode; ANY: it makes no difference */
} problem_t;

static float *numbers(int64_t count)
{
    float *x = calloc((size_t)count + 1, sizeof(*x));
    if (!x)
        exit(1);
    return x;
}

/* ---- the rule ------------------------------------------------------------------------------- */

#ifdef TEST_CUDA

static int is_hopper = 0;

static float sum_of(int fused, int64_t k, const float *a, const float *b, int64_t ldb)
{
    return invariant_sum_of(fused, is_hopper, k, a, b, ldb);
}

static float element_of(int fused, int64_t k, float alpha, float beta, const float *a,
                        const float *b, int64_t ldb, float c)
{
    volatile float scaled = alpha * sum_of(fused, k, a, b, ldb);
    return beta == 0 ? scaled : fmaf(beta, c, scaled);
}

#else

enum { CHAIN = 128, LEAST_K_OF_TILES = 128 };
/* How a sum is made: two roundings, one, or tiles in mode FP32, in mode TF32. */
enum { SEPARATE = 0, FUSED, TILES, TILES_TF32 };
static int has_tiles[ARCHS]; /* a name of another machine caps nothing */

/* A product and a sum that the compiler cannot make one operation of. */
static __attribute__((noinline)) void multiply(int64_t n, float a, const float *b, float *products)
{
    for (int64_t j = 0; j < n; j++)
        products[j] = a * b[j];
}

static __attribute__((noinline)) void add(int64_t n, const float *x, float *sums)
{
    for (int64_t j = 0; j < n; j++)
        sums[j] += x[j];
}

/* sums += a b, rounded once. Without the instruction the C library does it, ten times slower. */
#ifdef __x86_64__
__attribute__((target("fma"))) static void multiply_add_by_fma(int64_t n, float a, const float *b,
                                                               float *sums)
{
    for (int64_t j = 0; j < n; j++)
        sums[j] = fmaf(a, b[j], sums[j]);
}
#endif

static void multiply_add(int64_t n, float a, const float *b, float *sums)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("fma")) {
        multiply_add_by_fma(n, a, b, sums);
        return;
    }
#endif
    for (int64_t j = 0; j < n; j++)
        sums[j] = fmaf(a, b[j], sums[j]);
}

/* Row i of op(A) op(B): chains of CHAIN steps, added up. A step is rounded twice, or once. */
static void sums_of_row(int fused, const problem_t *p, int64_t i, float *sums)
{
    const int64_t n = p->n, k = p->k;
    const float *const a = p->a + i * k;
    float *const of_chain = numbers(n), *const products = numbers(n);
    if (fused >= TILES)
        tile_sums(fused == TILES_TF32, n, k, a, p->b, n, sums);
    for (int64_t chain = 0; chain < k && fused < TILES; chain += CHAIN) {
        float *const x = chain == 0 ? sums : of_chain;
        memset(x, 0, (size_t)n * sizeof(*x));
        for (int64_t l = chain; l < k && l < chain + CHAIN; l++) {
            const float *const b = p->b + l * n;
            if (fused) {
                multiply_add(n, a[l], b, x);
            } else {
                multiply(n, a[l], b, products);
                add(n, products, x);
            }
        }
        if (chain > 0)
            add(n, of_chain, sums);
    }
    free(of_chain);
    free(products);
}

/* Row i of C. */
static void row_of(int fused, const problem_t *p, int64_t i, float *row)
{
    sums_of_row(fused, p, i, row);
    multiply(p->n, p->alpha, row, row);
    if (p->beta != 0) {
        float *const added = numbers(p->n);
        multiply(p->n, p->beta, p->c + i * p->n, added);
        add(p->n, added, row);
        free(added);
    }
}

#endif

static int same(float x, float y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof(x)) == 0;
}

/* ---- a product, stored in some way ---------------------------------------------------------- */

/* A number that spoils what it meets. */
static float poison(rng_t *rng)
{
    /* The largest number that planes carry, and the next one. */
    const float values[] = {NAN,
                            INFINITY,
                            -INFINITY,
                            1e38f,
                            -3e38f,
                            1e-44f,
                            1e20f,
                            0x1p45f - 0x1p36f - 0x1p21f,
                            0x1p45f - 0x1p36f};
    return values[rng_range(rng, 0, 8)];
}

/* Copies of the logical matrix into storage of the call's kind, and where matrix `at` of a batch is
 * it; the others are poison. */
static void store(rng_t *rng, tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld,
                  const float *from, float *to)
{
    const int64_t lines = layout == TILEMM_ROW_MAJOR ? rows : cols;
    for (int64_t i = 0; i < lines * ld; i++)
        to[i] = poison(rng);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[matrix_at(layout, i, j, ld)] = from[i * cols + j];
}

/* The problem's mode, or any; on a GPU strict mode has bits of its own. */
static void set_math(tilemm_t ctx, rng_t *rng, int wanted)
{
    tilemm_math_t math = (tilemm_math_t)rng_range(rng, 0, 2), old;
    CHECK_OK(ctx, tilemm_get_math(ctx, &old));
    if (wanted != ANY)
        math = (tilemm_math_t)wanted;
    else if (TEST_BACKEND == TILEMM_BACKEND_CUDA && old == TILEMM_MATH_FP32_STRICT)
        math = old;
    else if (TEST_BACKEND == TILEMM_BACKEND_CUDA && math == TILEMM_MATH_FP32_STRICT)
        math = TILEMM_MATH_FP32;
    CHECK_OK(ctx, tilemm_set_math(ctx, math));
}

static void run(tilemm_t ctx, rng_t *rng, const problem_t *p)
{
    gemm_t g = gemm_make(rng_range(rng, 0, 1) ? TILEMM_ROW_MAJOR : TILEMM_COL_MAJOR,
                         rng_range(rng, 0, 1) ? TILEMM_TRANS : TILEMM_NO_TRANS,
                         rng_range(rng, 0, 1) ? TILEMM_TRANS : TILEMM_NO_TRANS, p->m, p->n, p->k,
                         p->alpha, p->beta);
    const int64_t batch = rng_range(rng, 0, 3) ? 1 : rng_range(rng, 2, MOST_BATCH);
    const int64_t at = rng_range(rng, 0, batch - 1);
    const int pointers = batch > 1 && rng_range(rng, 0, 1);
    const tilemm_layout_t layout_a = gemm_layout(&g, g.transa),
                          layout_b = gemm_layout(&g, g.transb);
    if (rng_range(rng, 0, 1))
        gemm_set_ld(&g, rng_range(rng, 0, 9), rng_range(rng, 0, 9), rng_range(rng, 0, 9));
    const int64_t lines_a = layout_a == TILEMM_ROW_MAJOR ? p->m : p->k,
                  lines_b = layout_b == TILEMM_ROW_MAJOR ? p->k : p->n,
                  lines_c = g.layout == TILEMM_ROW_MAJOR ? p->m : p->n;
    const int64_t step_a = lines_a * g.lda + rng_range(rng, 0, 3),
                  step_b = lines_b * g.ldb + rng_range(rng, 0, 3),
                  step_c = lines_c * g.ldc + rng_range(rng, 0, 3);
    const int64_t skip = rng_range(rng, 0, 16);
    float *const a = numbers(batch * step_a + skip), *const b = numbers(batch * step_b + skip),
                 *const c = numbers(batch * step_c + skip);
    const float *as[MOST_BATCH], *bs[MOST_BATCH];
    float *cs[MOST_BATCH];
    for (int64_t i = 0; i < batch; i++) {
        as[i] = a + skip + i * step_a;
        bs[i] = b + skip + i * step_b;
        cs[i] = c + skip + i * step_c;
    }
    for (int64_t i = 0; i < batch * step_a; i++)
        a[skip + i] = poison(rng);
    for (int64_t i = 0; i < batch * step_b; i++)
        b[skip + i] = poison(rng);
    store(rng, layout_a, p->m, p->k, g.lda, p->a, a + skip + at * step_a);
    store(rng, layout_b, p->k, p->n, g.ldb, p->b, b + skip + at * step_b);
    store(rng, g.layout, p->m, p->n, g.ldc, p->c, cs[at]);
    if (p->beta == 0)
        for (int64_t i = 0; i < lines_c * g.ldc; i++)
            cs[at][i] = NAN;
    tilemm_set_workspace(ctx, NULL, 0);
    if (TEST_BACKEND == TILEMM_BACKEND_CPU && rng_range(rng, 0, 3) == 0)
        CHECK_OK(ctx, tilemm_set_workspace(ctx, workspace, (size_t)1 << rng_range(rng, 6, 20)));
    set_math(ctx, rng, p->math);
    if (pointers)
        CHECK_OK(ctx, gemm_call_batched(ctx, &g, as, bs, cs, batch));
    else if (batch > 1)
        CHECK_OK(ctx,
                 gemm_call_strided(ctx, &g, as[0], step_a, bs[0], step_b, cs[0], step_c, batch));
    else
        CHECK_OK(ctx, gemm_call(ctx, &g, as[0], bs[0], cs[0]));
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++)
            p->out[i * p->n + j] = cs[at][matrix_at(g.layout, i, j, g.ldc)];
    free(a);
    free(b);
    free(c);
}

static problem_t problem(int64_t m, int64_t n, int64_t k, float alpha, float beta)
{
    return (problem_t){
        m, n, k, alpha, beta, numbers(m * k), numbers(k * n), numbers(m * n), numbers(m * n), ANY};
}

static void discard(problem_t *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->out);
}

/* ---- checks --------------------------------------------------------------------------------- */

/* Whether the rule is one of multiplications and additions at once; -1: the compiler has decided.
 */
static int is_fused(tilemm_t ctx, int64_t k, int mode)
{
#ifdef TEST_CUDA
    tilemm_math_t math;
    (void)mode;
    CHECK_OK(ctx, tilemm_get_math(ctx, &math));
    return !is_hopper || math == TILEMM_MATH_FP32_STRICT || is_one_chain(k);
#else
    if (mode == TILEMM_MATH_FP32 || mode == TILEMM_MATH_TF32) {
        CHECK(strstr(tilemm_last_kernel(ctx), "amx"), "k %lld: %s", (long long)k,
              tilemm_last_kernel(ctx));
        return mode == TILEMM_MATH_TF32 ? TILES_TF32 : TILES;
    }
    if (strstr(tilemm_last_kernel(ctx), "_fma"))
        return 1;
#if defined __x86_64__
    return 0;
#else
    return -1;
#endif
#endif
}

/* All elements; or of large products by tensor cores, which take long here, about MOST. */
static void check_rule(tilemm_t ctx, rng_t *rng, const problem_t *p, int number, const char *arch)
{
    enum { MOST = 1000 };
    const int fused = is_fused(ctx, p->k, p->math);
    const int is_slow = TEST_BACKEND == TILEMM_BACKEND_CUDA && !fused;
    const int64_t all = p->m * p->n, step = is_slow && all > MOST ? 2 * all / MOST : 1;
    int64_t wrong = 0, first = -1;
    float *const row = numbers(p->n);
    for (int64_t x = 0; x < all && fused >= 0; x += rng_range(rng, 1, step)) {
#ifdef TEST_CUDA
        const float want = element_of(fused, p->k, p->alpha, p->beta, p->a + x / p->n * p->k,
                                      p->b + x % p->n, p->n, p->c[x]);
#else
        if (x % p->n == 0)
            row_of(fused, p, x / p->n, row);
        const float want = row[x % p->n];
#endif
        if (!same(p->out[x], want) && !wrong++)
            first = x;
    }
    CHECK(wrong == 0,
          "%d: %s %s, %lldx%lldx%lld, %g %g: %lld elements are not by the rule, the first %lld",
          number, arch, tilemm_last_kernel(ctx), (long long)p->m, (long long)p->n, (long long)p->k,
          (double)p->alpha, (double)p->beta, (long long)wrong, (long long)first);
    free(row);
}

/* Some rows and columns again, in other places among poisoned ones. */
static void check_again(tilemm_t ctx, rng_t *rng, const problem_t *p, int number, const char *arch)
{
    enum { LONG_K = 9000 }; /* of which the last context has memory for few lines */
    const int64_t most = p->k < LONG_K ? 60 : 10;
    const int64_t rows = rng_range(rng, 0, 2) ? rng_size(rng, most) + 1 : 1;
    const int64_t columns = rng_range(rng, 0, 2) ? rng_size(rng, most) + 1 : 1;
    problem_t again = problem(rows, columns, p->k, p->alpha, p->beta);
    again.math = p->math;
    int64_t *const row = malloc((size_t)rows * sizeof(*row));
    int64_t *const column = malloc((size_t)columns * sizeof(*column));
    int64_t wrong = 0;
    if (!row || !column)
        exit(1);
    for (int64_t i = 0; i < rows; i++) {
        row[i] = i > 0 && rng_range(rng, 0, 1) ? -1 : rng_range(rng, 0, p->m - 1);
        for (int64_t l = 0; l < p->k; l++)
            again.a[i * p->k + l] = row[i] < 0 ? poison(rng) : p->a[row[i] * p->k + l];
    }
    for (int64_t j = 0; j < columns; j++) {
        column[j] = j > 0 && rng_range(rng, 0, 1) ? -1 : rng_range(rng, 0, p->n - 1);
        for (int64_t l = 0; l < p->k; l++)
            again.b[l * columns + j] = column[j] < 0 ? poison(rng) : p->b[l * p->n + column[j]];
    }
    for (int64_t x = 0; x < rows * columns; x++) {
        const int64_t i = row[x / columns], j = column[x % columns];
        again.c[x] = i < 0 || j < 0 ? poison(rng) : p->c[i * p->n + j];
    }
    run(ctx, rng, &again);
    for (int64_t x = 0; x < rows * columns; x++) {
        const int64_t i = row[x / columns], j = column[x % columns];
        wrong += i >= 0 && j >= 0 && !same(again.out[x], p->out[i * p->n + j]);
    }
    CHECK(wrong == 0, "%d: %s, %lldx%lldx%lld in %lldx%lld: %lld elements have other bits", number,
          arch, (long long)p->m, (long long)p->n, (long long)p->k, (long long)rows,
          (long long)columns, (long long)wrong);
    discard(&again);
    free(row);
    free(column);
}

/* Sums that show how they are made: neighbours cancel but for their last bits; or large elements
 * meet zeros, and what counts are products of elements that are about 2^`below` smaller. */
static void sharpen(rng_t *rng, problem_t *p)
{
    const int below = rng_range(rng, 0, 1) ? 0 : (int)rng_range(rng, 93, 99);
    const int large = below ? 50 : 0;
    for (int64_t l = 0; l < p->k; l++) {
        const int lone_a = below && l % 8 == 0, lone_b = below && l % 8 == 4;
        const int cancels = l % 2 == 1 && !lone_a && !lone_b && l % 8 != 1 && l % 8 != 5;
        for (int64_t i = 0; i < p->m; i++) {
            float *const x = &p->a[i * p->k + l];
            const float change = ldexpf((float)rng_range(rng, 1, 4095), -23);
            *x = lone_b    ? 0
                 : cancels ? -x[-1] - x[-1] * change
                           : ldexpf(1 + rng_float(rng, FAMILY_POSITIVE),
                                    large - (lone_a ? 0 : below + (int)rng_range(rng, -1, 1)));
        }
        for (int64_t j = 0; j < p->n; j++) {
            float *const x = &p->b[l * p->n + j];
            *x = lone_a    ? 0
                 : cancels ? x[-p->n]
                           : ldexpf(1 + rng_float(rng, FAMILY_POSITIVE),
                                    large - (lone_b ? 0 : below + (int)rng_range(rng, -1, 1)));
        }
    }
}

static void try(rng_t *rng, int number, int across)
{
    static const float scales[][2] = {{1, 0}, {1, 0}, {0.75f, 0}, {1, 1}, {-1.5f, 2}, {3, -0.1f}};
    const float *const scale = scales[rng_range(rng, 0, 5)];
    const int is_large = number % 49 == 0;
    /* A vector, or a few rows or columns, with a matrix that L2 may not hold. */
    const int is_wide = number % 17 == 1;
    int64_t m = rng_size(rng, is_large ? 400 : 50) + 1, n = rng_size(rng, is_large ? 400 : 70) + 1,
            k = rng_size(rng, number % 4 ? 140 : 900) + 1;
    if (is_wide) {
        const int64_t few = rng_range(rng, 0, 2) ? rng_range(rng, 2, 40) : 1,
                      many = rng_range(rng, 1, 900);
        const int rows_are_few = rng_range(rng, 0, 1);
        m = rows_are_few ? few : many;
        n = rows_are_few ? many : few;
        k = rng_range(rng, 1, 7200 / few + 500);
    }
    if (number % 97 == 2) { /* more parts of k than a cluster has blocks */
        m = rng_range(rng, 1, 4);
        n = rng_range(rng, 1, 4);
        k = rng_range(rng, 10000, 40000);
    }
    if (number % 13 == 6) { /* FP16 planes on a GPU */
        m = rng_range(rng, 1, number % 2 ? 40 : 300);
        n = rng_range(rng, 1, number % 4 < 2 ? 40 : 300);
        k = rng_range(rng, 500, 2500);
    }
    const int is_sharp = TEST_BACKEND == TILEMM_BACKEND_CPU && number % 15 == 3;
    if (is_sharp) { /* enough for AMX's tiles, whose turn it is */
        m = rng_range(rng, 1, 90);
        n = rng_range(rng, 1, 90);
        k = rng_range(rng, 128, 1600);
    }
    problem_t p = problem(m, n, k, scale[0], scale[1]);
    const family_t family = (family_t)rng_range(rng, 0, FAMILY_COUNT - 1);
    for (int64_t i = 0; i < p.m * p.k; i++)
        p.a[i] = rng_float(rng, family);
    for (int64_t i = 0; i < p.k * p.n; i++)
        p.b[i] = rng_float(rng, family);
    for (int64_t i = 0; i < p.m * p.n; i++)
        p.c[i] = rng_float(rng, family);
    if (is_sharp)
        sharpen(rng, &p);
    if (number % 13 == 6 && rng_range(rng, 0, 1)) /* rows that are thinner, each in its way */
        for (int64_t i = 0; i < p.m * p.k; i++)
            if (rng_range(rng, 0, 6) < i / p.k % 7)
                p.a[i] = 0;
    for (int64_t i = rng_range(rng, 0, 3) ? 0 : rng_range(rng, 1, 3); i > 0; i--) {
        p.a[rng_range(rng, 0, p.m * p.k - 1)] = poison(rng);
        p.b[rng_range(rng, 0, p.k * p.n - 1)] = poison(rng);
    }
    float *first = NULL;
    for (int arch = 0; arch < ARCHS; arch++) {
        if (!contexts[arch][0] || (!across && arch != number % ARCHS))
            continue;
        const tilemm_t ctx = contexts[arch][rng_range(rng, 0, CONTEXTS - 1)];
        const tilemm_t other = contexts[arch][rng_range(rng, 0, CONTEXTS - 1)];
#ifndef TEST_CUDA
        const int by_mode = has_tiles[arch] && k >= LEAST_K_OF_TILES;
        p.math = by_mode ? (int)rng_range(rng, 0, 2) : ANY;
#endif
        run(ctx, rng, &p);
        check_rule(ctx, rng, &p, number, archs[arch]);
        check_again(other, rng, &p, number, archs[arch]);
        if (across && first) {
            int64_t wrong = 0;
            for (int64_t x = 0; x < p.m * p.n; x++)
                wrong += !same(first[x], p.out[x]);
            CHECK(wrong == 0, "%d: %lld elements are others with %s", number, (long long)wrong,
                  archs[arch]);
        } else if (across) {
            first = p.out;
            p.out = numbers(p.m * p.n);
        }
    }
    free(first);
    discard(&p);
}

/* ---- settings ------------------------------------------------------------------------------- */

#ifdef TEST_CUDA

/* The last of each takes so little memory that wide problems go through it in strips. */
static void open_contexts(tilemm_invariance_t invariance)
{
    enum { LITTLE = 9 << 20 };
    for (int math = 0; math < ARCHS; math++)
        for (int i = 0; i < CONTEXTS; i++) {
            tilemm_t *const ctx = &contexts[math][i];
            *ctx = test_context(TILEMM_BACKEND_CUDA, "");
            CHECK_OK(*ctx, tilemm_set_invariance(*ctx, invariance));
            CHECK_OK(*ctx, tilemm_set_math(*ctx, (tilemm_math_t)math));
            CHECK_OK(*ctx, tilemm_set_device_memory(*ctx, i + 1 < CONTEXTS ? 0 : LITTLE));
        }
    rng_t rng = {1};
    problem_t p = problem(1, 1, 1024, 1, 0);
    run(contexts[0][0], &rng, &p);
    is_hopper = strstr(tilemm_last_kernel(contexts[0][0]), "_sm90_") != NULL;
    printf("the rule %s\n", is_hopper ? "of compute capability 9.0" : "of all but 9.0");
    discard(&p);
}

#else

static void open_contexts(tilemm_invariance_t invariance)
{
    static const int threads[CONTEXTS] = {1, 2, 3, 16};
    for (int arch = 0; arch < ARCHS; arch++)
        for (int i = 0; i < CONTEXTS; i++) {
            tilemm_t *const ctx = &contexts[arch][i];
            setenv("TILEMM_ARCH", archs[arch], 1);
            if (tilemm_create(ctx, TILEMM_BACKEND_CPU, 0) != TILEMM_SUCCESS) {
                CHECK(0, "%s", tilemm_create_error());
                continue;
            }
            CHECK_OK(*ctx, tilemm_set_invariance(*ctx, invariance));
            CHECK_OK(*ctx, tilemm_set_threads(*ctx, threads[i]));
        }
    unsetenv("TILEMM_ARCH");
    rng_t rng = {1};
    problem_t p = problem(1, 1, LEAST_K_OF_TILES, 1, 0);
    p.math = TILEMM_MATH_FP32;
    for (int arch = 0; arch < ARCHS; arch++) {
        run(contexts[arch][0], &rng, &p);
        has_tiles[arch] = strstr(tilemm_last_kernel(contexts[arch][0]), "amx") != NULL;
        printf("%s: %s\n", archs[arch], tilemm_last_kernel(contexts[arch][0]));
    }
    discard(&p);
}

#endif

static void close_contexts(void)
{
    for (int arch = 0; arch < ARCHS; arch++)
        for (int i = 0; i < CONTEXTS; i++)
            CHECK(tilemm_destroy(contexts[arch][i]) == TILEMM_SUCCESS, "destroy");
}

static void settings(void)
{
    static const char *const words[] = {"none", "batch", "across"};
    tilemm_t ctx;
    tilemm_invariance_t now;
    for (int i = 0; i < 3; i++) {
        setenv("TILEMM_INVARIANCE", words[i], 1);
        CHECK(tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS, "%s",
              tilemm_create_error());
        CHECK(tilemm_get_invariance(ctx, &now) == TILEMM_SUCCESS && (int)now == i, "%s: %d",
              words[i], (int)now);
        CHECK(tilemm_get_invariance(ctx, NULL) == TILEMM_INVALID_ARGUMENT, "NULL");
        CHECK(tilemm_set_invariance(ctx, (tilemm_invariance_t)3) == TILEMM_INVALID_ARGUMENT &&
                  strstr(tilemm_last_error(ctx), "invariance = 3"),
              "%s", tilemm_last_error(ctx));
        CHECK(tilemm_get_invariance(ctx, &now) == TILEMM_SUCCESS && (int)now == i, "it stays");
        tilemm_destroy(ctx);
    }
    setenv("TILEMM_INVARIANCE", "rows", 1);
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_INVALID_ARGUMENT &&
              strstr(tilemm_create_error(), "TILEMM_INVARIANCE = rows, must be"),
          "%s", tilemm_create_error());
    /* A GPU has no order of other devices: AUTO takes the CPU. */
    setenv("TILEMM_INVARIANCE", "across", 1);
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_CUDA, 0) == TILEMM_NOT_SUPPORTED &&
              strstr(tilemm_create_error(), "TILEMM_INVARIANCE = across"),
          "%s", tilemm_create_error());
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) == TILEMM_SUCCESS, "%s",
          tilemm_create_error());
    tilemm_destroy(ctx);
    unsetenv("TILEMM_INVARIANCE");
    CHECK(tilemm_set_invariance(NULL, TILEMM_INVARIANT) == TILEMM_INVALID_ARGUMENT, "NULL");
}

int main(void)
{
    const int problems = test_quick() ? 400 : 10000;
    rng_t rng = {22};
    unsetenv("TILEMM_INVARIANCE");
    test_begin(TEST_BACKEND);
    settings();
    open_contexts(TILEMM_INVARIANT);
    for (int i = 0; i < problems; i++)
        try(&rng, i, 0);
#ifdef TEST_CUDA
    CHECK(tilemm_set_invariance(contexts[0][0], TILEMM_INVARIANT_ACROSS) == TILEMM_NOT_SUPPORTED &&
              strstr(tilemm_last_error(contexts[0][0]), "CUDA"),
          "%s", tilemm_last_error(contexts[0][0]));
#endif
    close_contexts();
    if (TEST_BACKEND == TILEMM_BACKEND_CUDA)
        return check_exit();
    open_contexts(TILEMM_INVARIANT_ACROSS);
    for (int i = 0; i < problems / 10; i++)
        try(&rng, i, 1);
    close_contexts();
    return check_exit();
}
