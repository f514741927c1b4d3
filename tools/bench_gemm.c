/* bench_gemm.c - `tilemm bench gemm`: SGEMM next to OpenBLAS or cuBLAS.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "gpu.h"

enum { A, B, C, POINTERS, BUFFERS };

static tilemm_op_t op_of(int is_transposed)
{
    return is_transposed ? TILEMM_TRANS : TILEMM_NO_TRANS;
}

static int run_ours(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const bench_options_t *o = p->options;
    const buffer_t *x = &p->buffers[A], *y = &p->buffers[B], *z = &p->buffers[C];
    const float *a = buffer_use(x), *b = buffer_use(y);
    float *c = buffer_use(z);
    const tilemm_layout_t layout = (tilemm_layout_t)o->layout;
    const tilemm_op_t transa = op_of(o->trans & 2), transb = op_of(o->trans & 1);
    tilemm_status_t status;
    if (p->by_pointers) {
        void **arrays = buffer_use(&p->buffers[POINTERS]);
        status = tilemm_sgemm_batched(machine->ctx, layout, transa, transb, p->m, p->n, p->k,
                                      o->alpha, (const float *const *)arrays, x->ld,
                                      (const float *const *)(arrays + o->batch), y->ld, o->beta,
                                      (float *const *)(arrays + 2 * o->batch), z->ld, o->batch);
    } else if (o->batch != 1) {
        status = tilemm_sgemm_strided_batched(machine->ctx, layout, transa, transb, p->m, p->n,
                                              p->k, o->alpha, a, x->ld, x->stride, b, y->ld,
                                              y->stride, o->beta, c, z->ld, z->stride, o->batch);
    } else {
        status = tilemm_sgemm(machine->ctx, layout, transa, transb, p->m, p->n, p->k, o->alpha, a,
                              x->ld, b, y->ld, o->beta, c, z->ld);
    }
    return check_ours(machine, status);
}

/* The same without invariance. */
static int run_default(const machine_t *machine, void *problem)
{
    tilemm_invariance_t invariance;
    tilemm_get_invariance(machine->ctx, &invariance);
    tilemm_set_invariance(machine->ctx, TILEMM_INVARIANCE_NONE);
    const int status = run_ours(machine, problem);
    tilemm_set_invariance(machine->ctx, invariance);
    return status;
}

static int run_openblas(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const bench_options_t *o = p->options;
    const buffer_t *x = &p->buffers[A], *y = &p->buffers[B], *z = &p->buffers[C];
    for (int64_t i = 0; i < o->batch; i++)
        machine->blas->sgemm(o->layout, op_of(o->trans & 2), op_of(o->trans & 1), (int)p->m,
                             (int)p->n, (int)p->k, o->alpha, buffer_matrix(x, i), (int)x->ld,
                             buffer_matrix(y, i), (int)y->ld, o->beta, buffer_matrix(z, i),
                             (int)z->ld);
    return 0;
}

/* cuBLAS is column-major: a row-major product is that of the transposes, C' = op(B)' op(A)'. */
static int run_cublas(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const bench_options_t *o = p->options;
    const reference_cublas_t *cublas = machine->cublas;
    const int swap = o->layout == TILEMM_ROW_MAJOR, tf32 = o->math == TILEMM_MATH_TF32;
    const buffer_t *x = &p->buffers[swap ? B : A], *y = &p->buffers[swap ? A : B];
    const buffer_t *z = &p->buffers[C];
    const int trans_x = (o->trans & (swap ? 1 : 2)) != 0;
    const int trans_y = (o->trans & (swap ? 2 : 1)) != 0;
    const int m = (int)(swap ? p->n : p->m), n = (int)(swap ? p->m : p->n), k = (int)p->k;
    const float *a = buffer_use(x), *b = buffer_use(y);
    float *c = buffer_use(z);
    return check_peer(cublas->name,
                      o->batch == 1
                          ? cublas->sgemm(tf32, trans_x, trans_y, m, n, k, o->alpha, a, (int)x->ld,
                                          b, (int)y->ld, o->beta, c, (int)z->ld)
                          : cublas->sgemm_strided_batched(tf32, trans_x, trans_y, m, n, k, o->alpha,
                                                          a, (int)x->ld, x->stride, b, (int)y->ld,
                                                          y->stride, o->beta, c, (int)z->ld,
                                                          z->stride, (int)o->batch));
}

/* cublasXt, likewise, but by its own streams from and to the host. */
static int run_cublasxt(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const bench_options_t *o = p->options;
    const reference_cublasxt_t *xt = reference_cublasxt();
    const int swap = o->layout == TILEMM_ROW_MAJOR;
    const buffer_t *x = &p->buffers[swap ? B : A], *y = &p->buffers[swap ? A : B];
    const buffer_t *z = &p->buffers[C];
    const size_t m = (size_t)(swap ? p->n : p->m), n = (size_t)(swap ? p->m : p->n);
    int status = xt->set_block(p->block);
    (void)machine;
    for (int64_t i = 0; !status && i < o->batch; i++)
        status = xt->sgemm((o->trans & (swap ? 1 : 2)) != 0, (o->trans & (swap ? 2 : 1)) != 0, m, n,
                           (size_t)p->k, o->alpha, buffer_matrix(x, i), (size_t)x->ld,
                           buffer_matrix(y, i), (size_t)y->ld, o->beta, buffer_matrix(z, i),
                           (size_t)z->ld);
    return check_peer("cublasXt", status) != 0 ? -1 : check_peer("the device", gpu_synchronize());
}

/* All results are checked where that is quick, otherwise a sample of them. */
static const double sample_work = 1 << 26; /* multiply-adds */

/* min(count, x), and at least 1. */
static int64_t at_most(int64_t count, double x)
{
    return tilemm__clamp(x, 1, tilemm__max(count, 1));
}

/* Copy `count` of `total` vectors of k elements: the lines of X, or across these. */
static void gather(float *to, const buffer_t *x, int64_t matrix, int lines, int64_t count,
                   int64_t total, int64_t k)
{
    const int64_t line_step = lines ? x->ld : 1, step = lines ? 1 : x->ld;
    for (int64_t i = 0; i < count; i++) {
        const float *from = (float *)buffer_matrix(x, matrix) + spread(i, count, total) * line_step;
        for (int64_t l = 0; l < k; l++)
            to[i * k + l] = from[l * step];
    }
}

/* The index in C of result (i, j) of the sample. */
static int64_t c_index(const bench_problem_t *p, int64_t i, int64_t j)
{
    const int64_t row = spread(i, p->rows, p->m), col = spread(j, p->cols, p->n);
    const int64_t ld = p->buffers[C].ld;
    return p->options->layout == TILEMM_ROW_MAJOR ? row * ld + col : row + col * ld;
}

/* The exact results of one matrix of the batch, and |alpha| (|A||B|) + |beta C|, from rows of op(A)
 * and columns of op(B) side by side; c is C as it was. */
static void sample_matrix(const bench_problem_t *p, double *exact, double *magnitude,
                          const float *a_rows, const float *b_cols, const float *c)
{
    const double alpha = (double)p->options->alpha, beta = (double)p->options->beta;
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->cols; j++) {
            const float *x = a_rows + i * p->k, *y = b_cols + j * p->k;
            const double added = beta != 0 ? beta * (double)c[c_index(p, i, j)] : 0;
            double sum = 0, absolute = 0;
            for (int64_t l = 0; l < p->k; l++) {
                const double product = (double)x[l] * (double)y[l];
                sum += product;
                absolute += fabs(product);
            }
            *exact++ = alpha * sum + added;
            *magnitude++ = fabs(alpha) * absolute + fabs(added);
        }
}

static int sample_open(bench_problem_t *p)
{
    const bench_options_t *o = p->options;
    const buffer_t *c = &p->buffers[C];
    const int row_major = o->layout == TILEMM_ROW_MAJOR;
    const double k = (double)tilemm__max(p->k, 1), work = (double)p->m * (double)p->n * k;
    p->rows = p->m;
    p->cols = p->n;
    p->matrices = o->batch ? at_most(o->batch, sample_work / work) : 0;
    if (work > sample_work) {
        p->matrices = tilemm__min(o->batch, 2);
        p->cols = at_most(p->n, sqrt(sample_work / k));
        p->rows = at_most(p->m, sample_work / k / (double)p->cols);
        p->cols = at_most(p->n, sample_work / k / (double)p->rows);
    }
    const int64_t results = p->rows * p->cols;
    p->exact = malloc((size_t)(p->matrices * results) * 2 * sizeof(double) + 1);
    float *lines = malloc((size_t)((p->rows + p->cols) * p->k) * sizeof *lines + 1);
    if (!p->exact || !lines) {
        free(lines);
        return command_error("no memory for the exact results");
    }
    for (int64_t t = 0; t < p->matrices; t++) {
        const int64_t matrix = spread(t, p->matrices, o->batch);
        float *b_cols = lines + p->rows * p->k;
        gather(lines, &p->buffers[A], matrix, row_major == !(o->trans & 2), p->rows, p->m, p->k);
        gather(b_cols, &p->buffers[B], matrix, row_major != !(o->trans & 1), p->cols, p->n, p->k);
        sample_matrix(p, p->exact + t * results, p->exact + (p->matrices + t) * results, lines,
                      b_cols, p->c_before ? p->c_before + c->first + matrix * c->stride : NULL);
    }
    free(lines);
    return 0;
}

/* Poison that is left. (The library's own NaN is checked in the sample.) */
static int is_incomplete(const bench_problem_t *p)
{
    const buffer_t *c = &p->buffers[C];
    for (int64_t matrix = 0; p->options->data != DATA_INF_NAN && matrix < c->batch; matrix++)
        for (int64_t line = 0; line < c->lines; line++) {
            const float *at = (float *)buffer_matrix(c, matrix) + line * c->ld;
            for (int64_t i = 0; i < c->length; i++)
                if (isnan(at[i]))
                    return 1;
        }
    return 0;
}

/* The errors of what C holds: the largest, relative to the magnitude, which is infinite where
 * anything is NaN or infinite in a wrong place; and relative by the Frobenius norm. An exact result
 * that no float holds is to be infinite. */
static void find_errors(const bench_problem_t *p, contender_t *contender)
{
    const int64_t batch = p->options->batch;
    const double *exact = p->exact, *magnitude = exact + p->matrices * p->rows * p->cols;
    double worst = 0, errors = 0, results = 0;
    for (int64_t t = 0; t < p->matrices; t++) {
        const float *at = buffer_matrix(&p->buffers[C], spread(t, p->matrices, batch));
        for (int64_t i = 0; i < p->rows; i++)
            for (int64_t j = 0; j < p->cols; j++, exact++, magnitude++) {
                const double got = (double)at[c_index(p, i, j)], error = fabs(got - *exact);
                const double rounded = (double)(float)*exact;
                if (!isfinite(rounded) || !isfinite(got)) {
                    if (isnan(rounded) ? !isnan(got) : got != rounded)
                        worst = HUGE_VAL;
                    continue;
                }
                errors += error * error;
                results += *exact * *exact;
                if (error > 0) /* without a magnitude it is infinite */
                    worst = fmax(worst, error / *magnitude);
            }
    }
    contender->error = is_incomplete(p) ? HUGE_VAL : worst;
    contender->norm_error = results > 0 ? sqrt(errors / results) : 0;
}

/* Leave in p->block the size of block with which cublasXt is fastest. */
static int choose_block(const machine_t *machine, bench_problem_t *p)
{
    static const int blocks[] = {8192, 4096, 2048};
    const double long_enough = 2; /* seconds, which need no run that warms up */
    double best = HUGE_VAL;
    int fastest = blocks[0];
    for (int i = 0; i < COUNT_OF(blocks); i++) {
        double seconds = HUGE_VAL;
        p->block = blocks[i];
        for (int run = 0; run < 2 && (run == 0 || seconds < long_enough); run++) {
            const double begin = seconds_now();
            if (run_cublasxt(machine, p) != 0)
                return -1;
            seconds = seconds_now() - begin;
        }
        if (seconds < best) {
            best = seconds;
            fastest = blocks[i];
        }
    }
    p->block = fastest;
    return 0;
}

static int check(const machine_t *machine, contender_t *contender, void *problem)
{
    bench_problem_t *p = problem;
    const buffer_t *c = &p->buffers[C];
    const int is_xt = contender->run == run_cublasxt;
    if (is_xt && choose_block(machine, p) != 0)
        return -1;
    if (buffer_poison(machine, c) != 0)
        return -1;
    if (p->c_before)
        memcpy(c->host, p->c_before, c->bytes);
    if ((p->c_before && buffer_send(machine, c) != 0) ||
        run_once(machine, contender, problem) != 0 || buffer_fetch(machine, c) != 0)
        return -1;
    find_errors(p, contender);
    if (is_xt)
        append(contender->kernel, sizeof contender->kernel, "blocks of %d", p->block);
    return 0;
}

/* The time of m x n x k of the product with operands on the device, or -1. */
static double time_resident(const machine_t *machine, const bench_problem_t *p, const int64_t *size)
{
    const bench_options_t *o = p->options;
    const int by_rows = o->layout == TILEMM_ROW_MAJOR;
    const int64_t m = size[0], n = size[1], k = size[2];
    const int64_t elements[] = {m * k, k * n, m * n};
    const int64_t ld[] = {by_rows == !(o->trans & 2) ? k : m, by_rows == !(o->trans & 1) ? n : k,
                          by_rows ? n : m};
    void *operand[] = {NULL, NULL, NULL};
    double best = HUGE_VAL;
    int status = 0;
    for (int i = A; i <= C; i++) {
        operand[i] = gpu_malloc((size_t)elements[i] * sizeof(float));
        status = status || !operand[i] ? -1
                 : i < C               ? gpu_to_device(operand[i], p->buffers[i].host,
                                                       (size_t)elements[i] * sizeof(float))
                         : gpu_fill_async(operand[C], 0, (size_t)elements[C] * sizeof(float),
                                          machine->stream);
    }
    if (check_peer("device memory for the resident product", status) != 0)
        best = -1;
    for (int i = 0; best > 0 && i < 4; i++) { /* the first warms up */
        float milliseconds = 0;
        status = gpu_event_record(machine->start, machine->stream);
        if (check_ours(machine,
                       tilemm_sgemm(machine->ctx, (tilemm_layout_t)o->layout, op_of(o->trans & 2),
                                    op_of(o->trans & 1), m, n, k, o->alpha, operand[A],
                                    tilemm__max(ld[A], 1), operand[B], tilemm__max(ld[B], 1),
                                    o->beta, operand[C], tilemm__max(ld[C], 1))) != 0)
            best = -1;
        status = status ? status : gpu_event_record(machine->end, machine->stream);
        status = status ? status : gpu_event_synchronize(machine->end);
        status = status ? status : gpu_event_elapsed(&milliseconds, machine->start, machine->end);
        if (check_peer("the device", status) != 0)
            best = -1;
        else if (i && best > 0)
            best = fmin(best, 1e-3 * (double)milliseconds);
    }
    for (int i = A; i <= C; i++)
        gpu_free(operand[i]);
    return best;
}

/* A, B and, with beta, C go up, C comes down. Of a product that does not fit in half of the
 * device's free memory a part is timed, whose largest sizes are halved. */
static int find_bound(const machine_t *machine, const bench_problem_t *p, bench_bound_t *bound)
{
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    const double batch = (double)p->options->batch, element = sizeof(float) * batch;
    int64_t size[] = {p->m, p->n, p->k};
    size_t free_bytes = 0, total;
    bound->up = ((m * k + k * n) + (p->options->beta != 0 ? m * n : 0)) * element;
    bound->down = m * n * element;
    if (m * n * k * batch == 0)
        return 0;
    if (check_peer("the device", gpu_memory(&free_bytes, &total)) != 0)
        return -1;
    for (;;) {
        const double x = (double)size[0], y = (double)size[1], z = (double)size[2];
        const int64_t largest = tilemm__max(tilemm__max(size[0], size[1]), size[2]);
        if ((x * z + z * y + x * y) * sizeof(float) <= 0.5 * (double)free_bytes || largest < 2) {
            const double seconds = time_resident(machine, p, size);
            bound->resident = seconds * (m / x) * (n / y) * (k / z) * batch;
            return seconds < 0 ? -1 : 0;
        }
        for (int i = 0; i < 3; i++)
            size[i] = size[i] == largest ? largest / 2 : size[i];
    }
}

static int shape(bench_problem_t *p, const bench_size_t *size)
{
    const bench_options_t *o = p->options;
    char *text = p->which.size;
    const size_t room = sizeof p->which.size;
    int too_large = o->batch > INT64_MAX / 64;
    p->m = size->dim[0];
    p->n = size->dim[1];
    p->k = size->dim[2];
    p->by_pointers = o->batch > 1 && o->stride[C] == 0;
    if (o->suite)
        append(text, room, "%s %s %s%s ", word_of(math_words, o->math),
               word_of(layout_words, o->layout), word_of(trans_words, o->trans),
               p->by_pointers ? " arrays" : "");
    append(text, room, "%lldx%lldx%lld", (long long)p->m, (long long)p->n, (long long)p->k);
    if (o->suite && o->batch != 1)
        append(text, room, " x %lld", (long long)o->batch);
    if (o->suite && o->data != DATA_NORMAL)
        append(text, room, " %s", data_name((data_t)o->data));
    if (o->suite)
        append_memory(o, text, room);
    p->which.work = 2 * (double)p->m * (double)p->n * (double)p->k * (double)o->batch;
    p->which.extent = cbrt((double)p->m * (double)p->n * (double)p->k);

    const int64_t rows[] = {p->m, p->k, p->m}, cols[] = {p->k, p->n, p->n};
    const int trans[] = {o->trans & 2, o->trans & 1, 0};
    for (int i = A; !too_large && i <= C; i++) {
        const int by_rows = (o->layout == TILEMM_ROW_MAJOR) == !trans[i];
        too_large = buffer_shape(
            &p->buffers[i], by_rows ? rows[i] : cols[i], by_rows ? cols[i] : rows[i], o->ld[i],
            p->by_pointers ? NOT_GIVEN : o->stride[i], o->batch, sizeof(float));
        p->buffers[i].family = (data_t)o->data;
        p->buffers[i].of_b = i == B;
        p->buffers[i].across = by_rows == (i == B);
    }
    p->buffers[A].seed = 11;
    p->buffers[B].seed = 12;
    p->buffers[POINTERS].bytes = p->by_pointers ? (size_t)o->batch * 3 * sizeof(void *) : 0;
    return too_large;
}

static int fill(const machine_t *machine, bench_problem_t *p)
{
    const int64_t batch = p->options->batch;
    const size_t bytes = p->buffers[C].bytes;
    const void **arrays = p->buffers[POINTERS].host;
    if (p->options->beta != 0) {
        p->c_before = malloc(bytes + 1);
        if (!p->c_before)
            return command_error("no memory for %zu bytes", bytes);
        fill_normal(p->c_before, bytes / sizeof(float), 13);
    }
    for (int which = A; p->by_pointers && which <= C; which++)
        for (int64_t i = 0; i < batch; i++)
            arrays[which * batch + i] =
                (float *)buffer_use(&p->buffers[which]) + i * p->buffers[which].stride;
    return buffer_send(machine, &p->buffers[POINTERS]) != 0 ? -1 : sample_open(p);
}

static void add_contenders(const machine_t *machine, bench_problem_t *p)
{
    const buffer_t *x = p->buffers;
    const int64_t sizes[] = {p->m, p->n, p->k, x[A].ld, x[B].ld, x[C].ld, p->options->batch};
    tilemm_invariance_t invariance;
    add_contender(p, "tilemm", run_ours);
    if (tilemm_get_invariance(machine->ctx, &invariance) == TILEMM_SUCCESS &&
        invariance != TILEMM_INVARIANCE_NONE)
        add_contender(p, "default", run_default);
    if (is_on_host(p->options->memory)) {
        int devices[MAX_DEVICES];
        const int count = bench_devices(p->options, devices);
        if (machine->cublas && p->m > 0 && p->n > 0 && p->k > 0 && reference_cublasxt() &&
            reference_cublasxt()->select(count, devices) == 0)
            add_contender(p, "cublasXt", run_cublasxt)->goal = p->options->goal;
        return;
    }
    if ((machine->blas || machine->cublas) && fit_int(sizes, COUNT_OF(sizes)))
        add_contender(p, machine->on_gpu ? "cuBLAS" : "OpenBLAS",
                      machine->on_gpu ? run_cublas : run_openblas)
            ->goal = p->options->goal;
}

static void title(const machine_t *machine, const bench_options_t *options, char *text, size_t size)
{
    static const char *const ops[] = {"NN", "NT", "TN", "TT"};
    append(text, size, "SGEMM, %s-major, %s, %s", word_of(layout_words, options->layout),
           ops[options->trans], word_of(math_words, options->math));
    if (options->alpha != 1 || options->beta != 0)
        append(text, size, ", alpha %g, beta %g", (double)options->alpha, (double)options->beta);
    if (options->batch != 1)
        append(text, size, ", batch of %lld", (long long)options->batch);
    if (options->data != DATA_NORMAL)
        append(text, size, ", %s", data_text((data_t)options->data));
    append_memory(options, text, size);
    append_peer(machine, text, size);
}

const bench_work_t bench_gemm = {.which = {"gemm", "GFLOP/s", "max |error| / (|A||B|)",
                                           "cube root of m n k", .has_norm_error = 1, .size = ""},
                                 "SGEMM",
                                 BUFFERS,
                                 title,
                                 shape,
                                 fill,
                                 add_contenders,
                                 check,
                                 NULL,
                                 find_bound};
