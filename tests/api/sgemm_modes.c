/* sgemm_modes.c - the tensor-core products on the GPU at sizes where they are chosen: all layouts,
 * ragged sizes and strides, batches, C untouched where it must be; lines that the split planes
 * cannot carry; small workspaces; the same bits again and again; graphs; and sizes past 2^31.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

static const tilemm_math_t modes[] = {TILEMM_MATH_FP32, TILEMM_MATH_FP32_STRICT, TILEMM_MATH_TF32};
static const char *const mode_names[] = {"FP32", "strict", "TF32"};
static rng_t rng = {20261121};

enum { LIMIT = 200 }; /* elements of C that are checked in FP64 */

static void *allocate(size_t bytes)
{
    void *memory = gpu_malloc(bytes);
    if (!memory) {
        fprintf(stderr, "gpu_malloc(%zu) failed\n", bytes);
        exit(1);
    }
    return memory;
}

/* A problem on the host and the device; `pad` elements follow C's last, to be left alone. */
typedef struct {
    gemm_t gemm;
    int64_t spans[3]; /* of A, B, C */
    float *host[3], *before, *device[3];
} problem_t;

static float *host_array(int64_t count)
{
    float *x = malloc((size_t)count * sizeof(float));
    if (!x) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return x;
}

/* `skip` elements before each array, so that addresses are not aligned. */
static problem_t make_problem(const gemm_t *gemm, family_t family, int64_t skip)
{
    problem_t p;
    memset(&p, 0, sizeof(p));
    p.gemm = *gemm;
    p.spans[0] = gemm_span_a(gemm);
    p.spans[1] = gemm_span_b(gemm);
    p.spans[2] = gemm_span_c(gemm);
    for (int i = 0; i < 3; i++) {
        p.host[i] = host_array(p.spans[i]);
        p.device[i] = (float *)allocate((size_t)(p.spans[i] + skip) * sizeof(float)) + skip;
        memset(p.host[i], 0xff, (size_t)p.spans[i] * sizeof(float));
    }
    gemm_fill_a(gemm, p.host[0], family, &rng);
    gemm_fill_b(gemm, p.host[1], family, &rng);
    if (gemm->beta != 0)
        matrix_fill(p.host[2], gemm->layout, gemm->m, gemm->n, gemm->ldc, FAMILY_NORMAL, &rng);
    p.before = host_array(p.spans[2]);
    memcpy(p.before, p.host[2], (size_t)p.spans[2] * sizeof(float));
    return p;
}

static void free_problem(problem_t *p, int64_t skip)
{
    for (int i = 0; i < 3; i++) {
        gpu_free(p->device[i] - skip);
        free(p->host[i]);
    }
    free(p->before);
}

static tilemm_status_t call(tilemm_t ctx, const problem_t *p)
{
    const gemm_t *g = &p->gemm;
    return tilemm_sgemm(ctx, g->layout, g->transa, g->transb, g->m, g->n, g->k, g->alpha,
                        p->device[0], g->lda, p->device[1], g->ldb, g->beta, p->device[2], g->ldc);
}

static void send(problem_t *p)
{
    for (int i = 0; i < 3; i++)
        CHECK(gpu_to_device(p->device[i], i < 2 ? p->host[i] : p->before,
                            (size_t)p->spans[i] * sizeof(float)) == 0,
              "copy");
}

static void fetch(problem_t *p)
{
    CHECK(gpu_synchronize() == 0 &&
              gpu_to_host(p->host[2], p->device[2], (size_t)p->spans[2] * sizeof(float)) == 0,
          "copy back");
}

/* The index of element (i, p) of op(A), or of op(B). */
static int64_t place(const gemm_t *g, int of_b, int64_t i, int64_t p)
{
    int turned = (of_b ? g->transb : g->transa) == TILEMM_TRANS;
    int64_t ld = of_b ? g->ldb : g->lda;
    return turned ? matrix_at(g->layout, p, i, ld) : matrix_at(g->layout, i, p, ld);
}

static double element(const gemm_t *g, const float *x, int of_b, int64_t i, int64_t p)
{
    return x[place(g, of_b, i, p)];
}

static float *operand(problem_t *p, int of_b, int64_t i, int64_t q)
{
    return &p->host[of_b][place(&p->gemm, of_b, i, q)];
}

/* Check element (i, j) against FP64: |error| <= tolerance (|A||B| + |C|), or the same Inf or NaN.
 */
static void check_element(const problem_t *p, int64_t i, int64_t j, double tolerance,
                          const char *what)
{
    const gemm_t *g = &p->gemm;
    double sum = 0, magnitude = 0;
    for (int64_t k = 0; k < g->k; k++) {
        double product = element(g, p->host[0], 0, i, k) * element(g, p->host[1], 1, k, j);
        sum += product;
        magnitude += fabs(product);
    }
    double want = g->alpha * sum, bound = fabs(g->alpha) * magnitude;
    if (g->beta != 0) {
        double old = g->beta * (double)p->before[matrix_at(g->layout, i, j, g->ldc)];
        want += old;
        bound += fabs(old);
    }
    double got = p->host[2][matrix_at(g->layout, i, j, g->ldc)];
    if (fabs(want) > 3.5e38)
        want = want > 0 ? INFINITY : -INFINITY;
    if (isnan(want) || isinf(want))
        CHECK(isnan(want) ? isnan(got) : got == want, "%s: (%lld, %lld) is %g, not %g", what,
              (long long)i, (long long)j, got, want);
    else
        CHECK(fabs(got - want) <= tolerance * bound + 1e-44, "%s: (%lld, %lld) is %.9g, not %.9g",
              what, (long long)i, (long long)j, got, want);
}

static void check_sample(const problem_t *p, double tolerance, const char *what)
{
    for (int s = 0; s < LIMIT; s++) /* the corners first */
        check_element(p, s & 1 && s < 4 ? p->gemm.m - 1 : rng_range(&rng, 0, p->gemm.m - 1),
                      s & 2 && s < 4 ? p->gemm.n - 1 : rng_range(&rng, 0, p->gemm.n - 1), tolerance,
                      what);
}

/* Bytes between the rows of C are as they were. */
static void check_between(const problem_t *p, const char *what)
{
    const gemm_t *g = &p->gemm;
    int64_t rows = g->layout == TILEMM_ROW_MAJOR ? g->m : g->n;
    int64_t width = g->layout == TILEMM_ROW_MAJOR ? g->n : g->m;
    int changed = 0;
    for (int64_t r = 0; r + 1 < rows; r++)
        changed |= memcmp(p->host[2] + r * g->ldc + width, p->before + r * g->ldc + width,
                          (size_t)(g->ldc - width) * sizeof(float)) != 0;
    CHECK(!changed, "%s: bytes between the rows of C have changed", what);
}

/* FP32 and strict promise an error that grows like that of one FP32 sum; TF32 has 11 bits. */
static double tolerance_of(tilemm_math_t mode, int64_t k)
{
    double fp32 = (8 + sqrt((double)k)) * 0x1p-24;
    return mode == TILEMM_MATH_TF32 ? 0x1p-10 + fp32 : fp32;
}

static void try_shapes(const char *arch)
{
    static const int64_t sizes[][3] = {
        {512, 512, 512},    {1000, 999, 1001}, {260, 384, 420},   {1024, 768, 640},
        {513, 1300, 700},   {2049, 511, 1025}, {128, 4096, 2048}, {4000, 130, 3000},
        {1500, 1500, 40},   {300, 300, 9000},  {2500, 1900, 44},  {129, 65, 3000},
        {1920, 1300, 2000}, {72, 2000, 500},   {200, 136, 20000}, {516, 132, 8000},
        {3000, 16, 4000},   {12, 3300, 4100},  {5000, 29, 1000},  {32, 2100, 8000}};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);
    int count = test_quick() ? 3 : (int)(sizeof(sizes) / sizeof(*sizes));

    for (int s = 0; s < count; s++)
        for (int variant = s < 10 ? 0 : 8; variant < 12; variant++) {
            /* From 8 on leading dimensions are whole quads where the sizes are. */
            int quads = variant >= 8, pad = quads || !(variant & 1) ? 4 : 3;
            int64_t skip = variant == 5 ? 1 : variant == 6 ? 2 : 0;
            gemm_t g = {variant & 4 ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR,
                        variant & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                        variant & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                        sizes[s][0],
                        sizes[s][1],
                        sizes[s][2],
                        variant == 3 ? -0.75f : 1.0f,
                        variant % 3 == 0 ? 0.0f : 0.5f,
                        0,
                        0,
                        0};
            gemm_set_ld(&g, pad, quads ? 8 : pad + variant, pad + 1);
            problem_t p = make_problem(&g, variant & 1 ? FAMILY_NORMAL : FAMILY_POSITIVE, skip);
            for (int m = 0; m < 3; m++) {
                char what[160];
                CHECK(tilemm_set_math(ctx, modes[m]) == TILEMM_SUCCESS, "set_math");
                send(&p);
                CHECK(call(ctx, &p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
                fetch(&p);
                snprintf(what, sizeof(what), "%s %s %lldx%lldx%lld variant %d (%s)", arch,
                         mode_names[m], (long long)g.m, (long long)g.n, (long long)g.k, variant,
                         tilemm_last_kernel(ctx));
                check_sample(&p, tolerance_of(modes[m], g.k), what);
                check_between(&p, what);
                CHECK(test_kernel_allowed(tilemm_last_kernel(ctx), arch), "%s", what);
            }
            free_problem(&p, skip);
        }
    tilemm_destroy(ctx);
}

/* The product in a mode; `what` says what it was: the case, the mode and the kernel. */
static void run(tilemm_t ctx, const char *arch, problem_t *p, int mode, const char *name,
                int number, char (*what)[160])
{
    CHECK(tilemm_set_math(ctx, modes[mode]) == TILEMM_SUCCESS, "set_math");
    send(p);
    CHECK(call(ctx, p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    fetch(p);
    snprintf(*what, sizeof(*what), "%s %s %s %d (%s)", arch, mode_names[mode], name, number,
             tilemm_last_kernel(ctx));
}

/* Row-major, without gaps, transposed by the bits of `turned`, alpha 1. */
static problem_t plain_problem(int turned, int64_t m, int64_t n, int64_t k, float beta)
{
    gemm_t g = {TILEMM_ROW_MAJOR,
                turned & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                turned & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                m,
                n,
                k,
                1.0f,
                beta,
                0,
                0,
                0};
    gemm_set_ld(&g, 0, 0, 0);
    return make_problem(&g, FAMILY_NORMAL, 0);
}

/* One element of A or B is made special: it must land where IEEE arithmetic puts it, and the rest
 * must be as accurate as ever. */
static void try_left_lines(const char *arch)
{
    static const float specials[] = {INFINITY, -INFINITY, NAN, 1e30f, 1e-30f, 3e38f, 1e-42f};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);

    for (int s = 0; s < (int)(sizeof(specials) / sizeof(*specials)); s++)
        for (int side = 0; side < 6; side++) {
            const int small = side >= 3; /* and the leading dimensions are whole quads */
            gemm_t g = {s & 1 ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR,
                        s & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                        side % 3 == 1 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                        small ? 384 : 700,
                        small ? 420 : 650,
                        small ? 1000 : 1100,
                        1.0f,
                        s % 2 ? 0.25f : 0.0f,
                        0,
                        0,
                        0};
            if (small)
                gemm_set_ld(&g, 4, 8, 3);
            else
                gemm_set_ld(&g, 1, 2, 3);
            problem_t p = make_problem(&g, FAMILY_NORMAL, 0);
            int64_t row = 137, col = 401, at = 555;
            if (side % 3 != 1)
                *operand(&p, 0, row, at) = specials[s];
            if (side % 3 != 0)
                *operand(&p, 1, at, col) = specials[s];
            if (side % 3 == 2 && fabsf(specials[s]) < 1) /* a tiny one whose partner is huge */
                *operand(&p, 1, at, col) = 1e30f;
            for (int m = 0; m < 3; m++) {
                char name[40], what[160];
                snprintf(name, sizeof(name), "%g on side", (double)specials[s]);
                run(ctx, arch, &p, m, name, side, &what);
                /* Overflow may come at any step of a sum: then only finite results are asked for
                 * where no sum overflows. */
                if (fabsf(specials[s]) < 1e38f || isinf(specials[s]) || isnan(specials[s])) {
                    for (int64_t x = 0; x < 40; x++) {
                        check_element(&p, row, x * g.n / 40, tolerance_of(modes[m], g.k), what);
                        check_element(&p, x * g.m / 40, col, tolerance_of(modes[m], g.k), what);
                    }
                    if (side % 3 == 2)
                        check_element(&p, row, col, tolerance_of(modes[m], g.k), what);
                }
                for (int x = 0; x < LIMIT; x++) {
                    int64_t i = rng_range(&rng, 0, g.m - 1), j = rng_range(&rng, 0, g.n - 1);
                    if (i != row && j != col)
                        check_element(&p, i, j, tolerance_of(modes[m], g.k), what);
                }
                check_between(&p, what);
            }
            free_problem(&p, 0);
        }
    tilemm_destroy(ctx);
}

/* Lines that are left for other reasons: small elements where the other operand is sparse, blocks
 * of k whose magnitudes lie far apart, sums of few products. beta C must be added once. */
static void try_other_lines(const char *arch)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);

    for (int s = 0; s < 6; s++) {
        problem_t p = plain_problem(s, 600, 520, 1300, 3.0f);
        const gemm_t *g = &p.gemm;
        for (int64_t i = 0; i < g->m; i += 7)
            for (int64_t q = 0; q < g->k; q++) {
                float *x = operand(&p, 0, i, q);
                if (s < 2 && q % 100 == 50)
                    *x *= 1e-12f; /* loses bits beside its neighbours */
                else if (s == 2 || s == 3)
                    *x = q < 512 ? *x * 1e14f : *x;
                else if (s > 3)
                    *x = q % 190 == 3 ? *x : 0.0f;
            }
        for (int64_t j = 0; j < g->n && s < 2; j += 11) /* sparse: one large, the others small */
            for (int64_t q = 0; q < g->k; q++)
                *operand(&p, 1, q, j) *= q % 100 == 50 ? 1e12f : 1.0f;
        for (int m = 0; m < 3; m++) {
            char what[160];
            run(ctx, arch, &p, m, "other lines", s, &what);
            check_sample(&p, tolerance_of(modes[m], g->k), what);
            for (int64_t x = 0; x < 40; x++) {
                check_element(&p, x * 14, x * 11, tolerance_of(modes[m], g->k), what);
                check_element(&p, x * 14 + 1, x * 11, tolerance_of(modes[m], g->k), what);
                check_element(&p, x * 14, x * 11 + 1, tolerance_of(modes[m], g->k), what);
            }
        }
        free_problem(&p, 0);
    }
    tilemm_destroy(ctx);
}

/* Rows whose only number is so small that its upper half is zero, beside ordinary ones: what meets
 * it is huge, and so the results are numbers like any others. */
static void try_lone_subnormals(const char *arch)
{
    static const int64_t sizes[][3] = {{512, 512, 512}, {700, 600, 96}, {1024, 1024, 1024}};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);

    for (int s = 0; s < 12; s++) {
        const int64_t *size = sizes[s / 4];
        problem_t p = plain_problem(s, size[0], size[1], size[2], 0.0f);
        const gemm_t *g = &p.gemm;
        for (int64_t i = 0; i < g->m; i += 5)
            for (int64_t q = 0; q < g->k; q++)
                *operand(&p, 0, i, q) = q == 41 ? 0x1.4p-140f : 0.0f;
        for (int64_t j = 0; j < g->n; j++)
            *operand(&p, 1, 41, j) *= 0x1p100f;
        for (int m = 0; m < 3; m++) {
            char what[160];
            run(ctx, arch, &p, m, "lone subnormals", s, &what);
            for (int64_t x = 0; x < 100; x++) {
                check_element(&p, x * 5, x * 3, tolerance_of(modes[m], g->k), what);
                check_element(&p, x * 5 + 1, x * 3, tolerance_of(modes[m], g->k), what);
            }
        }
        free_problem(&p, 0);
    }
    tilemm_destroy(ctx);
}

/* Less workspace than a product would like: other plans, the same product. */
static void try_workspaces(void)
{
    static const size_t bytes[] = {0, 1000, 100000, 1 << 20, 3 << 20, 8 << 20, 20 << 20};
    gemm_t g = {
        TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_TRANS, 1000, 900, 3000, 1.5f, 0.5f, 0, 0, 0};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *workspace = allocate(20 << 20);
    gemm_set_ld(&g, 0, 0, 1);
    problem_t p = make_problem(&g, FAMILY_NORMAL, 0);
    p.host[0][matrix_at(g.layout, 77, 2500, g.lda)] = 1e25f; /* a left line in a late panel */

    for (int m = 0; m < 3; m++)
        for (int s = 0; s < (int)(sizeof(bytes) / sizeof(*bytes)); s++) {
            char what[160];
            size_t wanted = 0;
            CHECK(tilemm_set_math(ctx, modes[m]) == TILEMM_SUCCESS, "set_math");
            CHECK(tilemm_sgemm_workspace(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k, 1,
                                         &wanted) == TILEMM_SUCCESS,
                  "%s", tilemm_last_error(ctx));
            CHECK(wanted <= (size_t)64 << 20, "%zu bytes", wanted);
            CHECK(tilemm_set_workspace(ctx, bytes[s] ? workspace : NULL, bytes[s]) ==
                      TILEMM_SUCCESS,
                  "set_workspace");
            send(&p);
            CHECK(call(ctx, &p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
            fetch(&p);
            snprintf(what, sizeof(what), "%s with %zu bytes (%s)", mode_names[m], bytes[s],
                     tilemm_last_kernel(ctx));
            check_sample(&p, tolerance_of(modes[m], g.k), what);
            check_element(&p, 77, 5, tolerance_of(modes[m], g.k), what);
            check_between(&p, what);
        }
    free_problem(&p, 0);
    gpu_free(workspace);
    tilemm_destroy(ctx);
}

/* The same bits over 100 runs, and when a graph is replayed. */
static void try_repeats(void)
{
    static const int64_t sizes[][3] = {{1025, 1000, 1500}, {300, 260, 5000}, {128, 128, 20000},
                                       {2000, 10, 3000},   {9, 2500, 700},   {200, 200, 200}};
    int runs = test_quick() ? 5 : 100;

    for (int s = 0; s < (int)(sizeof(sizes) / sizeof(*sizes)); s++) {
        gemm_t g = {TILEMM_COL_MAJOR,
                    TILEMM_NO_TRANS,
                    TILEMM_NO_TRANS,
                    sizes[s][0],
                    sizes[s][1],
                    sizes[s][2],
                    1.0f,
                    0.0f,
                    0,
                    0,
                    0};
        gemm_set_ld(&g, 0, 0, 0);
        problem_t p = make_problem(&g, FAMILY_NORMAL, 0);
        float *first = host_array(p.spans[2]);
        p.host[0][5] = 1e28f; /* a left line too */
        for (int m = 0; m < 3; m++) {
            tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
            void *stream = gpu_stream_create();
            CHECK(tilemm_set_math(ctx, modes[m]) == TILEMM_SUCCESS, "set_math");
            for (int run = 0; run < runs; run++) {
                if (run == 0)
                    send(&p);
                CHECK(call(ctx, &p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
                fetch(&p);
                if (run == 0)
                    memcpy(first, p.host[2], (size_t)p.spans[2] * sizeof(float));
                CHECK(!memcmp(first, p.host[2], (size_t)p.spans[2] * sizeof(float)),
                      "%s %s: run %d differs", mode_names[m], tilemm_last_kernel(ctx), run);
            }
            CHECK(tilemm_set_stream(ctx, stream) == TILEMM_SUCCESS, "set_stream");
            CHECK(gpu_capture_begin(stream) == 0, "capture");
            CHECK(call(ctx, &p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
            void *graph = gpu_capture_end(stream);
            CHECK(graph, "%s: the capture was broken", tilemm_last_kernel(ctx));
            for (int run = 0; graph && run < 3; run++) {
                send(&p);
                CHECK(gpu_graph_launch(graph, stream) == 0, "replay");
                fetch(&p);
                CHECK(!memcmp(first, p.host[2], (size_t)p.spans[2] * sizeof(float)),
                      "%s %s: replay %d differs", mode_names[m], tilemm_last_kernel(ctx), run);
            }
            tilemm_destroy(ctx);
            gpu_graph_destroy(graph);
            gpu_stream_destroy(stream);
        }
        free(first);
        free_problem(&p, 0);
    }
}

/* Batches: each matrix as if alone. */
static void try_batches(void)
{
    enum { BATCH = 5 };
    static const int64_t sizes[][3] = {
        {600, 520, 700}, {96, 80, 300}, {30, 31, 29}, {257, 129, 513}};

    for (int s = 0; s < (int)(sizeof(sizes) / sizeof(*sizes)); s++)
        for (int arrays = 0; arrays < 2; arrays++)
            for (int m = 0; m < 3; m++) {
                gemm_t g = {s & 1 ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR,
                            m & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                            s & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                            sizes[s][0],
                            sizes[s][1],
                            sizes[s][2],
                            1.0f,
                            0.5f,
                            0,
                            0,
                            0};
                gemm_set_ld(&g, 1, 0, 2);
                tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
                problem_t p[BATCH];
                float *block[3], **pointers[3];
                int64_t stride[3];
                char what[160];
                for (int x = 0; x < BATCH; x++)
                    p[x] = make_problem(&g, FAMILY_NORMAL, 0);
                p[3].host[0][matrix_at(g.layout, 2, 3, g.lda)] = INFINITY;
                for (int i = 0; i < 3; i++) {
                    stride[i] = p[0].spans[i] + 3;
                    block[i] = allocate((size_t)stride[i] * BATCH * sizeof(float));
                    pointers[i] = allocate(BATCH * sizeof(float *));
                    float *list[BATCH];
                    for (int x = 0; x < BATCH; x++) {
                        list[x] = block[i] + x * stride[i];
                        CHECK(gpu_to_device(list[x], i < 2 ? p[x].host[i] : p[x].before,
                                            (size_t)p[x].spans[i] * sizeof(float)) == 0,
                              "copy");
                    }
                    CHECK(gpu_to_device(pointers[i], list, sizeof(list)) == 0, "copy");
                }
                CHECK(tilemm_set_math(ctx, modes[m]) == TILEMM_SUCCESS, "set_math");
                CHECK((arrays
                           ? tilemm_sgemm_batched(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k,
                                                  g.alpha, (const float *const *)pointers[0], g.lda,
                                                  (const float *const *)pointers[1], g.ldb, g.beta,
                                                  pointers[2], g.ldc, BATCH)
                           : tilemm_sgemm_strided_batched(
                                 ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k, g.alpha,
                                 block[0], g.lda, stride[0], block[1], g.ldb, stride[1], g.beta,
                                 block[2], g.ldc, stride[2], BATCH)) == TILEMM_SUCCESS,
                      "%s", tilemm_last_error(ctx));
                snprintf(what, sizeof(what), "batch %lldx%lldx%lld %s %s (%s)", (long long)g.m,
                         (long long)g.n, (long long)g.k, mode_names[m],
                         arrays ? "arrays" : "strides", tilemm_last_kernel(ctx));
                for (int x = 0; x < BATCH; x++) {
                    CHECK(gpu_synchronize() == 0 &&
                              gpu_to_host(p[x].host[2], block[2] + x * stride[2],
                                          (size_t)p[x].spans[2] * sizeof(float)) == 0,
                          "copy back");
                    check_sample(&p[x], tolerance_of(modes[m], g.k), what);
                    check_between(&p[x], what);
                    free_problem(&p[x], 0);
                }
                for (int i = 0; i < 3; i++) {
                    gpu_free(block[i]);
                    gpu_free(pointers[i]);
                }
                tilemm_destroy(ctx);
            }
}

/* More than 2^31 elements of C, and rows that lie more than 2^31 bytes apart. The operands hold
 * one row that is repeated, and one column, so that few elements need be known. */
static void try_large(void)
{
    static const struct {
        int64_t m, n, k, lda;
    } large[] = {{50000, 50000, 1000, 1000}, {40, 300, 400, (int64_t)600 << 20}};

    for (int s = 0; s < 2; s++)
        for (int mode = 0; mode < 3; mode += 2) {
            int64_t m = large[s].m, n = large[s].n, k = large[s].k, lda = large[s].lda;
            size_t free_bytes = 0, total = 0, bytes_a = (size_t)((m - 1) * lda + k) * 4;
            size_t bytes_c = (size_t)(m * n) * 4, bytes_b = (size_t)(k * n) * 4;
            gpu_memory(&free_bytes, &total);
            if (free_bytes < bytes_a + bytes_b + bytes_c + ((size_t)8 << 30)) {
                printf("no memory for %lld x %lld x %lld: left out\n", (long long)m, (long long)n,
                       (long long)k);
                continue;
            }
            tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
            float *a = allocate(bytes_a), *b = allocate(bytes_b), *c = allocate(bytes_c);
            float *row = host_array(k), *column = host_array(k * n), got;
            double want = 0, magnitude = 0;
            for (int64_t i = 0; i < k; i++)
                row[i] = rng_float(&rng, FAMILY_NORMAL);
            for (int64_t i = 0; i < k; i++)
                for (int64_t j = 0; j < n; j++)
                    column[i * n + j] = (float)((i * 37 + j) % 101) - 50;
            for (int64_t i = 0; i < m; i++)
                CHECK(gpu_to_device(a + i * lda, row, (size_t)k * 4) == 0, "copy");
            CHECK(gpu_to_device(b, column, bytes_b) == 0, "copy");
            CHECK(gpu_fill_async(c, 0xff, bytes_c, NULL) == 0, "fill");
            CHECK(tilemm_set_math(ctx, modes[mode]) == TILEMM_SUCCESS, "set_math");
            CHECK(tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, k,
                               1.0f, a, lda, b, n, 0.0f, c, n) == TILEMM_SUCCESS,
                  "%s", tilemm_last_error(ctx));
            CHECK(gpu_synchronize() == 0, "synchronize");
            for (int x = 0; x < LIMIT; x++) {
                int64_t i = x < 2 ? m - 1 : rng_range(&rng, 0, m - 1);
                int64_t j = x < 2 ? n - 1 - x : rng_range(&rng, 0, n - 1);
                want = magnitude = 0;
                for (int64_t q = 0; q < k; q++) {
                    want += (double)row[q] * (double)column[q * n + j];
                    magnitude += fabs((double)row[q] * (double)column[q * n + j]);
                }
                CHECK(gpu_to_host(&got, c + i * n + j, sizeof(got)) == 0, "copy back");
                CHECK(fabs(got - want) <= tolerance_of(modes[mode], k) * magnitude,
                      "%s %s: (%lld, %lld) is %.9g, not %.9g", mode_names[mode],
                      tilemm_last_kernel(ctx), (long long)i, (long long)j, (double)got, want);
            }
            gpu_free(a);
            gpu_free(b);
            gpu_free(c);
            free(row);
            free(column);
            tilemm_destroy(ctx);
        }
}

int main(void)
{
    test_begin(TILEMM_BACKEND_CUDA);
    for (const char *const *arch = test_archs(TILEMM_BACKEND_CUDA); *arch; arch++) {
        try_shapes(*arch);
        try_left_lines(*arch);
        try_other_lines(*arch);
        try_lone_subnormals(*arch);
    }
    try_workspaces();
    try_repeats();
    try_batches();
    if (!test_quick())
        try_large();
    return check_exit();
}
