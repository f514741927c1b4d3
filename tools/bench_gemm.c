/* bench_gemm.c - `tilemm bench gemm`: SGEMM next to OpenBLAS or cuBLAS.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct {
    tilemm_layout_t layout;
    tilemm_op_t transa, transb;
    int tf32;
    int64_t m, n, k, batch;
    float alpha, beta;
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
    int64_t first_a, first_b, first_c; /* where matrix 0 starts */
    int by_pointers;                   /* tilemm_sgemm_batched */
    buffer_t a, b, c, pointers;
    float *c_before; /* with beta */
} problem_t;

/* ---- contenders ---------------------------------------------------------------------------- */

static const float *a_of(const machine_t *machine, const problem_t *p)
{
    return (const float *)buffer_use(machine, &p->a) + p->first_a;
}

static const float *b_of(const machine_t *machine, const problem_t *p)
{
    return (const float *)buffer_use(machine, &p->b) + p->first_b;
}

static float *c_of(const machine_t *machine, const problem_t *p)
{
    return (float *)buffer_use(machine, &p->c) + p->first_c;
}

static int run_ours(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const float *a = a_of(machine, p), *b = b_of(machine, p);
    float *c = c_of(machine, p);

    if (p->by_pointers) {
        void **arrays = buffer_use(machine, &p->pointers);
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
    const float *a = a_of(machine, p), *b = b_of(machine, p);
    float *c = c_of(machine, p);

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
    const float *a = a_of(machine, p), *b = b_of(machine, p);
    const float *left = swap ? b : a, *right = swap ? a : b;
    const int trans_left = (swap ? p->transb : p->transa) == TILEMM_TRANS;
    const int trans_right = (swap ? p->transa : p->transb) == TILEMM_TRANS;
    const int m = (int)(swap ? p->n : p->m), n = (int)(swap ? p->m : p->n), k = (int)p->k;
    const int ld_left = (int)(swap ? p->ldb : p->lda), ld_right = (int)(swap ? p->lda : p->ldb);

    if (p->batch == 1)
        return check_peer(machine->cublas->name,
                          machine->cublas->sgemm(p->tf32, trans_left, trans_right, m, n, k,
                                                 p->alpha, left, ld_left, right, ld_right, p->beta,
                                                 c_of(machine, p), (int)p->ldc));
    return check_peer(machine->cublas->name,
                      machine->cublas->sgemm_strided_batched(
                          p->tf32, trans_left, trans_right, m, n, k, p->alpha, left, ld_left,
                          swap ? p->stride_b : p->stride_a, right, ld_right,
                          swap ? p->stride_a : p->stride_b, p->beta, c_of(machine, p), (int)p->ldc,
                          p->stride_c, (int)p->batch));
}

static int fits_int(const problem_t *p)
{
    const int64_t all[] = {p->m, p->n, p->k, p->lda, p->ldb, p->ldc, p->batch};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i] > INT_MAX || all[i] < 1)
            return 0;
    return 1;
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Some rows by some columns of some matrices of the batch, in FP64: all of them where that is
 * quick, a sample of each otherwise. */
typedef struct {
    int64_t matrices, rows, cols;
    double *exact;     /* [matrix][row][col] */
    double *magnitude; /* |alpha| (|A||B|) + |beta C| */
} sample_t;

static const double sample_work = 1 << 26; /* multiply-adds */

/* Number i of `count` taken from 0 to n - 1, the first and last among them. */
static int64_t taken(int64_t i, int64_t count, int64_t n)
{
    return count > 1 ? (int64_t)((double)i / (double)(count - 1) * (double)(n - 1)) : 0;
}

/* Element (line, i) of op(X), where lines are op(A)'s rows or op(B)'s columns. */
static void gather(float *to, const float *from, int64_t line, int64_t k, int64_t line_stride,
                   int64_t stride)
{
    for (int64_t i = 0; i < k; i++)
        to[i] = from[line * line_stride + i * stride];
}

static int64_t at_least_one(double x)
{
    return x < 1 ? 1 : x < 9e18 ? (int64_t)x : INT64_MAX;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int sample_shape(const problem_t *p, sample_t *s)
{
    const double k = p->k > 1 ? (double)p->k : 1;
    const double work = (double)p->m * (double)p->n * k;

    s->rows = p->m;
    s->cols = p->n;
    s->matrices = smaller(p->batch, at_least_one(sample_work / work));
    if (work > sample_work) {
        s->matrices = smaller(p->batch, 2);
        s->cols = smaller(p->n, at_least_one(sqrt(sample_work / k)));
        s->rows = smaller(p->m, at_least_one(sample_work / k / (double)s->cols));
        s->cols = smaller(p->n, at_least_one(sample_work / k / (double)s->rows));
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
    const float *a = (float *)p->a.host + p->first_a + matrix * p->stride_a;
    const float *b = (float *)p->b.host + p->first_b + matrix * p->stride_b;

    for (int64_t i = 0; i < s->rows; i++)
        gather(a_lines + i * p->k, a, taken(i, s->rows, p->m), p->k, a_by_rows ? p->lda : 1,
               a_by_rows ? 1 : p->lda);
    for (int64_t j = 0; j < s->cols; j++)
        gather(b_lines + j * p->k, b, taken(j, s->cols, p->n), p->k, b_by_rows ? 1 : p->ldb,
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
    return p->first_c + matrix * p->stride_c +
           (p->layout == TILEMM_ROW_MAJOR ? i * p->ldc + j : i + j * p->ldc);
}

static int sample_open(const problem_t *p, sample_t *s)
{
    float *lines;
    size_t at = 0;

    if (sample_shape(p, s) != 0)
        return -1;
    lines = malloc((size_t)((s->rows + s->cols) * p->k) * sizeof *lines + 1);
    if (!lines) {
        free(s->exact);
        return -command_error("no memory for the exact results");
    }
    for (int64_t t = 0; t < s->matrices; t++) {
        const int64_t matrix = taken(t, s->matrices, p->batch);
        sample_matrix(p, s, matrix, s->exact + at, s->magnitude + at, lines,
                      lines + s->rows * p->k);
        for (int64_t i = 0; i < s->rows; i++)
            for (int64_t j = 0; j < s->cols; j++, at++)
                if (p->beta != 0) {
                    const double c = (double)p->beta *
                                     (double)p->c_before[c_index(p, matrix, taken(i, s->rows, p->m),
                                                                 taken(j, s->cols, p->n))];
                    s->exact[at] += c;
                    s->magnitude[at] += fabs(c);
                }
    }
    free(lines);
    return 0;
}

/* The largest error of what C holds, relative to the magnitude; infinite where anything is NaN. */
static double largest_error(const problem_t *p, const sample_t *s)
{
    const float *c = p->c.host;
    const int64_t lines = p->layout == TILEMM_ROW_MAJOR ? p->m : p->n;
    const int64_t length = p->layout == TILEMM_ROW_MAJOR ? p->n : p->m;
    double worst = 0;
    size_t at = 0;

    for (int64_t t = 0; t < s->matrices; t++) {
        const int64_t matrix = taken(t, s->matrices, p->batch);
        for (int64_t i = 0; i < s->rows; i++)
            for (int64_t j = 0; j < s->cols; j++, at++) {
                const double got =
                    (double)c[c_index(p, matrix, taken(i, s->rows, p->m), taken(j, s->cols, p->n))];
                const double error = fabs(got - s->exact[at]);
                if (error > 0 && s->magnitude[at] > 0)
                    worst = fmax(worst, error / s->magnitude[at]);
                else if (error != 0 && got != s->exact[at])
                    return isnan(s->exact[at]) ? worst : HUGE_VAL;
            }
    }
    for (int64_t matrix = 0; matrix < p->batch; matrix++) /* poison that is left */
        for (int64_t line = 0; line < lines; line++) {
            const float *at_line = c + p->first_c + matrix * p->stride_c + line * p->ldc;
            for (int64_t i = 0; i < length; i++)
                if (isnan(at_line[i]))
                    return HUGE_VAL;
        }
    return worst;
}

static int check(const machine_t *machine, contender_t *contender, problem_t *p, const sample_t *s)
{
    if (buffer_poison(machine, &p->c) != 0)
        return -1;
    if (p->beta != 0) {
        memcpy(p->c.host, p->c_before, p->c.bytes);
        if (buffer_send(machine, &p->c) != 0)
            return -1;
    }
    if (run_once(machine, contender, p) != 0 || buffer_fetch(machine, &p->c) != 0)
        return -1;
    contender->error = largest_error(p, s);
    return 0;
}

/* ---- a problem --------------------------------------------------------------------------------
 */

static int64_t given(int64_t value, int64_t otherwise)
{
    return value == NOT_GIVEN ? otherwise : value;
}

/* The matrix as stored: lines of so many elements. Sets the leading dimension and stride. */
static int64_t shape_operand(const problem_t *p, int64_t rows, int64_t cols, int trans,
                             int64_t given_ld, int64_t given_stride, int64_t *ld, int64_t *stride,
                             int64_t *first)
{
    const int by_rows = (p->layout == TILEMM_ROW_MAJOR) != trans;
    const int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    int64_t packed;

    *ld = given(given_ld, length > 1 ? length : 1);
    if (multiply_sizes(lines, *ld, &packed) != 0)
        return -1;
    *stride = p->by_pointers ? packed : given(given_stride, packed);
    return batch_span(lines, length, *ld, *stride, p->batch, first);
}

static int shape_problem(problem_t *p, const bench_options_t *o, const bench_size_t *size)
{
    int64_t a, b, c;

    p->layout = (tilemm_layout_t)o->layout;
    p->transa = (tilemm_op_t)o->transa;
    p->transb = (tilemm_op_t)o->transb;
    p->tf32 = o->math == TILEMM_MATH_TF32;
    p->m = size->dim[0];
    p->n = size->dims == 3 ? size->dim[1] : size->dim[0];
    p->k = size->dims == 3 ? size->dim[2] : size->dim[0];
    p->alpha = o->alpha;
    p->beta = o->beta;
    p->batch = o->batch;
    p->by_pointers = p->batch > 1 && o->stride_c == 0;
    a = shape_operand(p, p->m, p->k, p->transa == TILEMM_TRANS, o->lda, o->stride_a, &p->lda,
                      &p->stride_a, &p->first_a);
    b = shape_operand(p, p->k, p->n, p->transb == TILEMM_TRANS, o->ldb, o->stride_b, &p->ldb,
                      &p->stride_b, &p->first_b);
    c = shape_operand(p, p->m, p->n, 0, o->ldc, o->stride_c, &p->ldc, &p->stride_c, &p->first_c);
    if (a < 0 || b < 0 || c < 0 || p->batch > INT64_MAX / 64)
        return command_error("gemm: %lld x %lld x %lld is too large", (long long)p->m,
                             (long long)p->n, (long long)p->k);
    p->a.bytes = (size_t)a * sizeof(float);
    p->b.bytes = (size_t)b * sizeof(float);
    p->c.bytes = (size_t)c * sizeof(float);
    p->pointers.bytes = p->by_pointers ? (size_t)p->batch * 3 * sizeof(void *) : 0;
    return EXIT_OK;
}

static int fill_problem(const machine_t *machine, problem_t *p)
{
    if (p->beta != 0) {
        p->c_before = malloc(p->c.bytes + 1);
        if (!p->c_before)
            return command_error("no memory for %zu bytes", p->c.bytes);
        fill_normal(p->c_before, p->c.bytes / sizeof(float), 13);
    }
    if (p->by_pointers) {
        const void **arrays = p->pointers.host;
        for (int64_t i = 0; i < p->batch; i++) {
            arrays[i] = a_of(machine, p) + i * p->stride_a;
            arrays[p->batch + i] = b_of(machine, p) + i * p->stride_b;
            arrays[2 * p->batch + i] = c_of(machine, p) + i * p->stride_c;
        }
    }
    return buffer_send(machine, &p->pointers) ? EXIT_FAILED : EXIT_OK;
}

/* Memory of so many bytes with random numbers, unless the problem before left just that. */
static int open_operand(const machine_t *machine, buffer_t *buffer, buffer_t *before, uint64_t seed)
{
    if (before->host && before->bytes == buffer->bytes) {
        *buffer = *before;
        memset(before, 0, sizeof *before);
        return 0;
    }
    buffer_close(before);
    if (buffer_open(machine, buffer) != 0)
        return -1;
    fill_normal(buffer->host, buffer->bytes / sizeof(float), seed);
    return buffer_send(machine, buffer);
}

/* Measure one problem; `before` is one that is done with, whose operands may serve again. A label
 * and a goal (the ratio to the peer) are a suite's. */
static int measure_problem(const machine_t *machine, const bench_options_t *options,
                           const bench_size_t *size, problem_t *p, problem_t *before,
                           const char *label, double goal, report_t *report)
{
    const buffer_t *buffers[] = {&p->a, &p->b, &p->c, &p->pointers};
    contender_t contenders[MAX_CONTENDERS] = {{.name = "tilemm", .run = run_ours}};
    bench_case_t which = {.verb = "gemm",
                          .unit = "GFLOP/s",
                          .error_kind = "max |error| / (|A||B|)",
                          .extent_name = "cube root of m n k"};
    sample_t sample = {0};
    int count = 1, failed = 0;

    if (shape_problem(p, options, size) != EXIT_OK)
        return EXIT_FAILED;
    buffer_close(&before->c);
    buffer_close(&before->pointers);
    if (before->a.bytes != p->a.bytes || before->b.bytes != p->b.bytes) {
        buffer_close(&before->a);
        buffer_close(&before->b);
        if (machine_has_room(machine, buffers, 4) != 0)
            return EXIT_FAILED;
    }
    snprintf(which.size, sizeof which.size, "%s%lldx%lldx%lld", label, (long long)p->m,
             (long long)p->n, (long long)p->k);
    if (*label && p->batch != 1)
        snprintf(which.size + strlen(which.size), sizeof which.size - strlen(which.size), " x %lld",
                 (long long)p->batch);
    which.work = 2 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    which.extent = cbrt((double)p->m * (double)p->n * (double)p->k);
    report_progress(report, "gemm %s: data", which.size);
    if (open_operand(machine, &p->a, &before->a, 11) ||
        open_operand(machine, &p->b, &before->b, 12) || buffer_open(machine, &p->c) ||
        buffer_open(machine, &p->pointers) || fill_problem(machine, p) != EXIT_OK)
        return EXIT_FAILED;

    if ((machine->blas || machine->cublas) && fits_int(p)) {
        contenders[count].name = machine->on_gpu ? "cuBLAS" : "OpenBLAS";
        contenders[count++].run = machine->on_gpu ? run_cublas : run_openblas;
    }
    report_progress(report, "gemm %s: errors", which.size);
    if (sample_open(p, &sample) != 0)
        return EXIT_FAILED;
    for (int i = 0; !failed && i < count; i++)
        failed = check(machine, &contenders[i], p, &sample);
    free(sample.exact);
    report_progress(report, "gemm %s: times", which.size);
    if (failed || measure(machine, contenders, count, p, options->reps) != 0)
        return EXIT_FAILED;
    if (goal > 0 && count > 1)
        snprintf(contenders[1].kernel, sizeof contenders[1].kernel, "goal %.2f: %s", goal,
                 contenders[1].median >= goal * contenders[0].median ? "met" : "missed");
    report_case(report, &which, contenders, count);
    return EXIT_OK;
}

static void close_problem(problem_t *p)
{
    buffer_close(&p->a);
    buffer_close(&p->b);
    buffer_close(&p->c);
    buffer_close(&p->pointers);
    free(p->c_before);
    memset(p, 0, sizeof *p);
}

int bench_gemm(const machine_t *machine, const bench_options_t *options, report_t *report)
{
    static const char *const ops[] = {"NN", "NT", "TN", "TT"};
    const int op = 2 * (options->transa == TILEMM_TRANS) + (options->transb == TILEMM_TRANS);
    const char *peer = machine->blas     ? machine->blas->name
                       : machine->cublas ? machine->cublas->name
                                         : NULL;
    char extra[96] = "";
    int status = EXIT_OK;

    if (options->alpha != 1 || options->beta != 0)
        snprintf(extra, sizeof extra, ", alpha %g, beta %g", (double)options->alpha,
                 (double)options->beta);
    if (options->batch != 1)
        snprintf(extra + strlen(extra), sizeof extra - strlen(extra), ", batch of %lld",
                 (long long)options->batch);
    report_table(report, machine, "SGEMM, %s-major, %s, %s%s%s%s",
                 word_of(layout_words, options->layout), ops[op],
                 word_of(math_words, options->math), extra, peer ? ", against " : "",
                 peer ? peer : "");
    for (int i = 0; status == EXIT_OK && i < options->size_count; i++) {
        problem_t problem = {0}, none = {0};
        status =
            measure_problem(machine, options, &options->sizes[i], &problem, &none, "", 0, report);
        close_problem(&problem);
    }
    return status;
}

int bench_gemm_suite(const machine_t *machine, const bench_options_t *options, report_t *report)
{
    static const char *const ops[] = {"nn", "nt", "tn", "tt"};
    const char *peer = machine->blas     ? machine->blas->name
                       : machine->cublas ? machine->cublas->name
                                         : NULL;
    problem_t problem = {0}, before = {0};
    int count, status = EXIT_OK;
    const bench_row_t *rows = bench_suite(options->suite, &count);

    report_table(report, machine, "SGEMM, suite %s%s%s", options->suite, peer ? ", against " : "",
                 peer ? peer : "");
    for (int i = 0; status == EXIT_OK && i < count; i++) {
        const bench_row_t *row = &rows[i];
        const bench_size_t size = {3, {row->m, row->n, row->k}};
        bench_options_t one = *options;
        char label[40];

        one.math = row->math;
        one.layout = row->layout;
        one.transa = row->trans & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS;
        one.transb = row->trans & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS;
        one.batch = row->batch;
        one.stride_c = row->by_pointers ? 0 : NOT_GIVEN;
        snprintf(label, sizeof label, "%s %s %s%s ", word_of(math_words, row->math),
                 word_of(layout_words, row->layout), ops[row->trans],
                 row->by_pointers ? " arrays" : "");
        status = check_ours(machine, tilemm_set_math(machine->ctx, (tilemm_math_t)row->math))
                     ? EXIT_FAILED
                     : EXIT_OK;
        if (status == EXIT_OK)
            status =
                measure_problem(machine, &one, &size, &problem, &before, label, row->goal, report);
        close_problem(&before);
        before = problem;
        memset(&problem, 0, sizeof problem);
    }
    close_problem(&before);
    return status;
}
