/* bench_gemm.c - `tilemm bench gemm`: SGEMM next to OpenBLAS or cuBLAS.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { A, B, C, POINTERS, BUFFERS };

/* Some rows by some columns of some matrices of the batch, in FP64: all of them where that is
 * quick, a sample of each otherwise. */
typedef struct {
    int64_t matrices, rows, cols;
    double *exact;     /* [matrix][row][col] */
    double *magnitude; /* |alpha| (|A||B|) + |beta C| */
} sample_t;

typedef struct {
    tilemm_layout_t layout;
    tilemm_op_t transa, transb;
    int tf32;
    int64_t m, n, k, batch;
    float alpha, beta;
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
    int64_t first[3]; /* where matrix 0 of A, B and C starts */
    int by_pointers;  /* tilemm_sgemm_batched */
    buffer_t buffers[BUFFERS];
    float *c_before; /* with beta */
    sample_t sample;
} problem_t;

/* ---- contenders ---------------------------------------------------------------------------- */

/* Matrix 0 of A, B or C, where the work happens. */
static float *matrix_of(const machine_t *machine, const problem_t *p, int which)
{
    return (float *)buffer_use(machine, &p->buffers[which]) + p->first[which];
}

static int run_ours(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const float *a = matrix_of(machine, p, A), *b = matrix_of(machine, p, B);
    float *c = matrix_of(machine, p, C);

    if (p->by_pointers) {
        void **arrays = buffer_use(machine, &p->buffers[POINTERS]);
        return check_ours(machine, tilemm_sgemm_batched(
                                       machine->ctx, p->layout, p->transa, p->transb, p->m, p->n,
                                       p->k, p->alpha, (const float *const *)arrays, p->lda,
                                       (const float *const *)(arrays + p->batch), p->ldb, p->beta,
                                       (float *const *)(arrays + 2 * p->batch), p->ldc, p->batch));
    }
    if (p->batch != 1)
        return check_ours(machine, tilemm_sgemm_strided_batched(
                                       machine->ctx, p->layout, p->transa, p->transb, p->m, p->n,
                                       p->k, p->alpha, a, p->lda, p->stride_a, b, p->ldb,
                                       p->stride_b, p->beta, c, p->ldc, p->stride_c, p->batch));
    return check_ours(machine,
                      tilemm_sgemm(machine->ctx, p->layout, p->transa, p->transb, p->m, p->n, p->k,
                                   p->alpha, a, p->lda, b, p->ldb, p->beta, c, p->ldc));
}

static int run_openblas(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const float *a = matrix_of(machine, p, A), *b = matrix_of(machine, p, B);
    float *c = matrix_of(machine, p, C);

    for (int64_t i = 0; i < p->batch; i++)
        machine->blas->sgemm((int)p->layout, (int)p->transa, (int)p->transb, (int)p->m, (int)p->n,
                             (int)p->k, p->alpha, a + i * p->stride_a, (int)p->lda,
                             b + i * p->stride_b, (int)p->ldb, p->beta, c + i * p->stride_c,
                             (int)p->ldc);
    return 0;
}

/* cuBLAS is column-major: a row-major product is that of the transposes, C' = op(B)' op(A)'. */
static int run_cublas(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const int swap = p->layout == TILEMM_ROW_MAJOR;
    const float *a = matrix_of(machine, p, A), *b = matrix_of(machine, p, B);
    const float *left = swap ? b : a, *right = swap ? a : b;
    const int trans_left = (swap ? p->transb : p->transa) == TILEMM_TRANS;
    const int trans_right = (swap ? p->transa : p->transb) == TILEMM_TRANS;
    const int m = (int)(swap ? p->n : p->m), n = (int)(swap ? p->m : p->n), k = (int)p->k;
    const int ld_left = (int)(swap ? p->ldb : p->lda), ld_right = (int)(swap ? p->lda : p->ldb);

    if (p->batch == 1)
        return check_peer(machine->cublas->name,
                          machine->cublas->sgemm(p->tf32, trans_left, trans_right, m, n, k,
                                                 p->alpha, left, ld_left, right, ld_right, p->beta,
                                                 matrix_of(machine, p, C), (int)p->ldc));
    return check_peer(machine->cublas->name,
                      machine->cublas->sgemm_strided_batched(
                          p->tf32, trans_left, trans_right, m, n, k, p->alpha, left, ld_left,
                          swap ? p->stride_b : p->stride_a, right, ld_right,
                          swap ? p->stride_a : p->stride_b, p->beta, matrix_of(machine, p, C),
                          (int)p->ldc, p->stride_c, (int)p->batch));
}

/* ---- errors --------------------------------------------------------------------------------- */

static const double sample_work = 1 << 26; /* multiply-adds */

/* Element (line, i) of op(X), where lines are op(A)'s rows or op(B)'s columns. */
static void gather(float *to, const float *from, int64_t line, int64_t k, int64_t line_stride,
                   int64_t stride)
{
    for (int64_t i = 0; i < k; i++)
        to[i] = from[line * line_stride + i * stride];
}

/* min(count, x), and at least 1. */
static int64_t at_most(int64_t count, double x)
{
    return tilemm__clamp(x, 1, tilemm__max(count, 1));
}

static int sample_shape(const problem_t *p, sample_t *s)
{
    const double k = p->k > 1 ? (double)p->k : 1;
    const double work = (double)p->m * (double)p->n * k;

    s->rows = p->m;
    s->cols = p->n;
    s->matrices = p->batch ? at_most(p->batch, sample_work / work) : 0;
    if (work > sample_work) {
        s->matrices = tilemm__min(p->batch, 2);
        s->cols = at_most(p->n, sqrt(sample_work / k));
        s->rows = at_most(p->m, sample_work / k / (double)s->cols);
        s->cols = at_most(p->n, sample_work / k / (double)s->rows);
    }
    s->exact = malloc((size_t)(s->matrices * s->rows * s->cols) * 2 * sizeof(double) + 1);
    if (!s->exact)
        return command_error("no memory for the exact results");
    s->magnitude = s->exact + s->matrices * s->rows * s->cols;
    return 0;
}

/* The exact results of one matrix of the batch, from lines of A and B side by side. */
static void sample_matrix(const problem_t *p, const sample_t *s, int64_t matrix, double *exact,
                          double *magnitude, float *a_lines, float *b_lines)
{
    const int row_major = p->layout == TILEMM_ROW_MAJOR;
    const int a_by_rows = row_major == (p->transa == TILEMM_NO_TRANS);
    const int b_by_rows = row_major == (p->transb == TILEMM_NO_TRANS);
    const float *a = (float *)p->buffers[A].host + p->first[A] + matrix * p->stride_a;
    const float *b = (float *)p->buffers[B].host + p->first[B] + matrix * p->stride_b;

    for (int64_t i = 0; i < s->rows; i++)
        gather(a_lines + i * p->k, a, spread(i, s->rows, p->m), p->k, a_by_rows ? p->lda : 1,
               a_by_rows ? 1 : p->lda);
    for (int64_t j = 0; j < s->cols; j++)
        gather(b_lines + j * p->k, b, spread(j, s->cols, p->n), p->k, b_by_rows ? 1 : p->ldb,
               b_by_rows ? p->ldb : 1);
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++) {
            const float *x = a_lines + i * p->k, *y = b_lines + j * p->k;
            double sum = 0, absolute = 0;
            for (int64_t l = 0; l < p->k; l++) {
                const double product = (double)x[l] * (double)y[l];
                sum += product;
                absolute += fabs(product);
            }
            exact[i * s->cols + j] = (double)p->alpha * sum;
            magnitude[i * s->cols + j] = fabs((double)p->alpha) * absolute;
        }
}

static int64_t c_index(const problem_t *p, int64_t matrix, int64_t i, int64_t j)
{
    return p->first[C] + matrix * p->stride_c +
           (p->layout == TILEMM_ROW_MAJOR ? i * p->ldc + j : i + j * p->ldc);
}

static int sample_open(problem_t *p)
{
    sample_t *s = &p->sample;
    float *lines;
    size_t at = 0;

    if (sample_shape(p, s) != 0)
        return -1;
    lines = malloc((size_t)((s->rows + s->cols) * p->k) * sizeof *lines + 1);
    if (!lines)
        return command_error("no memory for the exact results");
    for (int64_t t = 0; t < s->matrices; t++) {
        const int64_t matrix = spread(t, s->matrices, p->batch);
        sample_matrix(p, s, matrix, s->exact + at, s->magnitude + at, lines,
                      lines + s->rows * p->k);
        for (int64_t i = 0; i < s->rows; i++)
            for (int64_t j = 0; j < s->cols; j++, at++)
                if (p->beta != 0) {
                    const double c =
                        (double)p->beta *
                        (double)p->c_before[c_index(p, matrix, spread(i, s->rows, p->m),
                                                    spread(j, s->cols, p->n))];
                    s->exact[at] += c;
                    s->magnitude[at] += fabs(c);
                }
    }
    free(lines);
    return 0;
}

/* The largest error of what C holds, relative to the magnitude; infinite where anything is NaN. */
static double largest_error(const problem_t *p)
{
    const sample_t *s = &p->sample;
    const float *c = p->buffers[C].host;
    const int64_t lines = p->layout == TILEMM_ROW_MAJOR ? p->m : p->n;
    const int64_t length = p->layout == TILEMM_ROW_MAJOR ? p->n : p->m;
    double worst = 0;
    size_t at = 0;

    for (int64_t t = 0; t < s->matrices; t++) {
        const int64_t matrix = spread(t, s->matrices, p->batch);
        for (int64_t i = 0; i < s->rows; i++)
            for (int64_t j = 0; j < s->cols; j++, at++) {
                const double got = (double)
                    c[c_index(p, matrix, spread(i, s->rows, p->m), spread(j, s->cols, p->n))];
                const double error = fabs(got - s->exact[at]);
                if (error > 0 && s->magnitude[at] > 0)
                    worst = fmax(worst, error / s->magnitude[at]);
                else if (error != 0 && got != s->exact[at])
                    return isnan(s->exact[at]) ? worst : HUGE_VAL;
            }
    }
    for (int64_t matrix = 0; matrix < p->batch; matrix++) /* poison that is left */
        for (int64_t line = 0; line < lines; line++) {
            const float *at_line = c + p->first[C] + matrix * p->stride_c + line * p->ldc;
            for (int64_t i = 0; i < length; i++)
                if (isnan(at_line[i]))
                    return HUGE_VAL;
        }
    return worst;
}

static int check(const machine_t *machine, contender_t *contender, void *problem)
{
    const problem_t *p = problem;
    const buffer_t *c = &p->buffers[C];

    if (buffer_poison(machine, c) != 0)
        return -1;
    if (p->beta != 0) {
        memcpy(c->host, p->c_before, c->bytes);
        if (buffer_send(machine, c) != 0)
            return -1;
    }
    if (run_once(machine, contender, problem) != 0 || buffer_fetch(machine, c) != 0)
        return -1;
    contender->error = largest_error(p);
    return 0;
}

/* ---- a problem ------------------------------------------------------------------------------ */

/* Lay out an operand: its bytes, leading dimension, stride, and where matrix 0 starts. Returns 0,
 * or -1 where it is too large. */
static int shape_operand(problem_t *p, int which, int64_t rows, int64_t cols, int trans,
                         int64_t given_ld, int64_t given_stride, int64_t *ld, int64_t *stride)
{
    const int by_rows = (p->layout == TILEMM_ROW_MAJOR) != trans;
    const int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    int64_t packed, span;

    *ld = given(given_ld, tilemm__max(length, 1));
    if (multiply_sizes(lines, *ld, &packed) != 0)
        return -1;
    *stride = p->by_pointers ? packed : given(given_stride, packed);
    span = batch_span(lines, length, *ld, *stride, p->batch, &p->first[which]);
    p->buffers[which].bytes = (size_t)span * sizeof(float);
    return span < 0 ? -1 : 0;
}

static int shape_problem(problem_t *p, const bench_options_t *o, const bench_size_t *size)
{
    p->layout = (tilemm_layout_t)o->layout;
    p->transa = o->trans & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS;
    p->transb = o->trans & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS;
    p->tf32 = o->math == TILEMM_MATH_TF32;
    p->m = size->dim[0];
    p->n = size->dims == 3 ? size->dim[1] : size->dim[0];
    p->k = size->dims == 3 ? size->dim[2] : size->dim[0];
    p->alpha = o->alpha;
    p->beta = o->beta;
    p->batch = o->batch;
    p->by_pointers = p->batch > 1 && o->stride_c == 0;
    p->buffers[A].seed = 11;
    p->buffers[B].seed = 12;
    p->buffers[POINTERS].bytes = p->by_pointers ? (size_t)p->batch * 3 * sizeof(void *) : 0;
    return p->batch > INT64_MAX / 64 ||
           shape_operand(p, A, p->m, p->k, (o->trans & 2) != 0, o->lda, o->stride_a, &p->lda,
                         &p->stride_a) ||
           shape_operand(p, B, p->k, p->n, o->trans & 1, o->ldb, o->stride_b, &p->ldb,
                         &p->stride_b) ||
           shape_operand(p, C, p->m, p->n, 0, o->ldc, o->stride_c, &p->ldc, &p->stride_c);
}

static int fill_problem(const machine_t *machine, problem_t *p)
{
    const size_t bytes = p->buffers[C].bytes;

    if (p->beta != 0) {
        p->c_before = malloc(bytes + 1);
        if (!p->c_before)
            return command_error("no memory for %zu bytes", bytes);
        fill_normal(p->c_before, bytes / sizeof(float), 13);
    }
    if (p->by_pointers) {
        const void **arrays = p->buffers[POINTERS].host;
        for (int64_t i = 0; i < p->batch; i++) {
            arrays[i] = matrix_of(machine, p, A) + i * p->stride_a;
            arrays[p->batch + i] = matrix_of(machine, p, B) + i * p->stride_b;
            arrays[2 * p->batch + i] = matrix_of(machine, p, C) + i * p->stride_c;
        }
    }
    return buffer_send(machine, &p->buffers[POINTERS]);
}

static int run_problem(const machine_t *machine, const bench_options_t *options, problem_t *p,
                       const bench_case_t *which, report_t *report)
{
    const int64_t sizes[] = {p->m, p->n, p->k, p->lda, p->ldb, p->ldc, p->batch};
    contender_t contenders[MAX_CONTENDERS];
    int count = 0;

    report_progress(report, "gemm %s: data", which->size);
    if (buffers_open(machine, p->buffers, BUFFERS) != 0 || fill_problem(machine, p) != 0 ||
        sample_open(p) != 0)
        return EXIT_FAILED;
    add_contender(contenders, &count, "tilemm", run_ours);
    if ((machine->blas || machine->cublas) && fit_int(sizes, sizeof sizes / sizeof sizes[0]))
        add_contender(contenders, &count, machine->on_gpu ? "cuBLAS" : "OpenBLAS",
                      machine->on_gpu ? run_cublas : run_openblas)
            ->goal = options->goal;
    if (bench_measure(machine, options, which, contenders, count, check, p, report) != EXIT_OK)
        return EXIT_FAILED;
    report_case(report, which, contenders, count);
    return EXIT_OK;
}

int bench_gemm(const machine_t *machine, const bench_options_t *options, const bench_size_t *size,
               report_t *report)
{
    problem_t p = {0};
    bench_case_t which = {.verb = "gemm",
                          .unit = "GFLOP/s",
                          .error_kind = "max |error| / (|A||B|)",
                          .extent_name = "cube root of m n k"};
    const int too_large = shape_problem(&p, options, size);
    int status;

    if (options->suite)
        append(which.size, sizeof which.size, "%s %s %s%s ", word_of(math_words, options->math),
               word_of(layout_words, options->layout), word_of(trans_words, options->trans),
               p.by_pointers ? " arrays" : "");
    append(which.size, sizeof which.size, "%lldx%lldx%lld", (long long)p.m, (long long)p.n,
           (long long)p.k);
    if (options->suite && p.batch != 1)
        append(which.size, sizeof which.size, " x %lld", (long long)p.batch);
    which.work = 2 * (double)p.m * (double)p.n * (double)p.k * (double)p.batch;
    which.extent = cbrt((double)p.m * (double)p.n * (double)p.k);
    status = too_large ? bench_too_large("gemm", which.size)
                       : run_problem(machine, options, &p, &which, report);
    buffers_close(machine, p.buffers, BUFFERS);
    free(p.c_before);
    free(p.sample.exact);
    return status;
}

void bench_gemm_title(const machine_t *machine, const bench_options_t *options, char *title,
                      size_t size)
{
    static const char *const ops[] = {"NN", "NT", "TN", "TT"};
    char against[128];

    bench_against(machine, against, sizeof against);
    snprintf(title, size, "SGEMM, %s-major, %s, %s", word_of(layout_words, options->layout),
             ops[options->trans], word_of(math_words, options->math));
    if (options->alpha != 1 || options->beta != 0)
        append(title, size, ", alpha %g, beta %g", (double)options->alpha, (double)options->beta);
    if (options->batch != 1)
        append(title, size, ", batch of %lld", (long long)options->batch);
    append(title, size, "%s", against);
}
