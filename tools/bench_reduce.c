/* bench_reduce.c - `tilemm bench reduce`: vectors, axes and segments, next to OpenBLAS, cuBLAS,
 * CUB.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "gpu.h"

/* `count` vectors of n elements, the one after `vstride`, their elements `stride` apart: what the
 * library is asked for is a vector (count 1), a matrix by one axis, or segments. */
typedef struct {
    reduce_op_t op;
    int by_axis, arg; /* arg: index_out and out */
    tilemm_axis_t axis;
    tilemm_layout_t layout;
    int64_t rows, cols, lda; /* by axis */
    int64_t n, inc, inc_y;   /* a vector */
    int64_t segments;        /* -1: none */
    int64_t count, elements; /* results; elements of x that are read */
    buffer_t x, y, offsets, out, positions, workspace, scratch;
    size_t workspace_bytes;
} problem_t;

/* What a contender computes, and where it leaves it. */
enum {
    TAG_UNCHECKED = 0,
    TAG_FLOATS = 0x100,
    TAG_POSITIONS = 0x200,
    TAG_INT_FROM_1 = 0x300,
    TAG_KIND = 0xf00
};

static reduce_op_t tag_op(int tag)
{
    return (reduce_op_t)(tag & 0xff);
}

/* ---- contenders --------------------------------------------------------------------------------
 */

static int run_vector(const machine_t *machine, const problem_t *p, const float *x, float *out,
                      int64_t *positions)
{
    const float *y = buffer_use(machine, &p->y);
    const int64_t step = p->inc < 0 ? -p->inc : p->inc;
    const tilemm_t ctx = machine->ctx;

    switch (p->op) {
    case REDUCE_SUM: return check_ours(machine, tilemm_ssum(ctx, p->n, x, p->inc, out));
    case REDUCE_ASUM: return check_ours(machine, tilemm_sasum(ctx, p->n, x, p->inc, out));
    case REDUCE_NRM2: return check_ours(machine, tilemm_snrm2(ctx, p->n, x, p->inc, out));
    case REDUCE_MAX: return check_ours(machine, tilemm_smax(ctx, p->n, x, p->inc, out));
    case REDUCE_MIN: return check_ours(machine, tilemm_smin(ctx, p->n, x, p->inc, out));
    case REDUCE_DOT:
        return check_ours(machine, tilemm_sdot(ctx, p->n, x, p->inc, y, p->inc_y, out));
    case REDUCE_IMAX: return check_ours(machine, tilemm_ismax(ctx, p->n, x, p->inc, positions));
    case REDUCE_IMIN: return check_ours(machine, tilemm_ismin(ctx, p->n, x, p->inc, positions));
    case REDUCE_IAMAX: return check_ours(machine, tilemm_isamax(ctx, p->n, x, p->inc, positions));
    case REDUCE_IAMIN: return check_ours(machine, tilemm_isamin(ctx, p->n, x, p->inc, positions));
    default: /* what has no function of its own is a column */
        return check_ours(machine, tilemm_sreduce(ctx, reduce_value_op(p->op), TILEMM_AXIS_ROWS,
                                                  TILEMM_ROW_MAJOR, p->n, 1, x, step, out, 1));
    }
}

static int run_ours(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const float *x = buffer_use(machine, &p->x);
    float *out = buffer_use(machine, &p->out);
    int64_t *positions = buffer_use(machine, &p->positions);

    if (p->segments >= 0)
        return check_ours(machine,
                          tilemm_sreduce_segments(machine->ctx, reduce_value_op(p->op), p->segments,
                                                  x, buffer_use(machine, &p->offsets), out));
    if (!p->by_axis)
        return run_vector(machine, p, x, out, positions);
    if (p->arg)
        return check_ours(machine, tilemm_sargreduce(machine->ctx, reduce_value_op(p->op), p->axis,
                                                     p->layout, p->rows, p->cols, x, p->lda, out, 1,
                                                     positions));
    return check_ours(machine, tilemm_sreduce(machine->ctx, reduce_value_op(p->op), p->axis,
                                              p->layout, p->rows, p->cols, x, p->lda, out, 1));
}

static int run_ssum(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    *(float *)p->out.host = machine->blas->ssum((int)p->n, p->x.host, (int)p->inc);
    return 0;
}

static int run_sasum(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    *(float *)p->out.host = machine->blas->sasum((int)p->n, p->x.host, (int)p->inc);
    return 0;
}

static int run_snrm2(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    *(float *)p->out.host = machine->blas->snrm2((int)p->n, p->x.host, (int)p->inc);
    return 0;
}

static int run_sdot(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    *(float *)p->out.host =
        machine->blas->sdot((int)p->n, p->x.host, (int)p->inc, p->y.host, (int)p->inc_y);
    return 0;
}

static int run_isamax(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    *(int64_t *)p->positions.host =
        (int64_t)machine->blas->isamax((int)p->n, p->x.host, (int)p->inc);
    return 0;
}

static int run_cublas_sasum(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return check_peer("cublasSasum",
                      machine->cublas->sasum((int)p->n, p->x.device, (int)p->inc, p->out.device));
}

static int run_cublas_snrm2(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return check_peer("cublasSnrm2",
                      machine->cublas->snrm2((int)p->n, p->x.device, (int)p->inc, p->out.device));
}

static int run_cublas_sdot(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return check_peer("cublasSdot",
                      machine->cublas->sdot((int)p->n, p->x.device, (int)p->inc, p->y.device,
                                            (int)p->inc_y, p->out.device));
}

static int run_cublas_isamax(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return check_peer("cublasIsamax", machine->cublas->isamax((int)p->n, p->x.device, (int)p->inc,
                                                              p->positions.device));
}

static int run_cub_sum(const machine_t *machine, void *problem)
{
    problem_t *p = problem;
    return check_peer("CUB", machine->cub->sum(p->workspace.device, &p->workspace_bytes,
                                               p->x.device, p->n, p->out.device, machine->stream));
}

static int run_cub_max(const machine_t *machine, void *problem)
{
    problem_t *p = problem;
    return check_peer("CUB", machine->cub->max(p->workspace.device, &p->workspace_bytes,
                                               p->x.device, p->n, p->out.device, machine->stream));
}

/* The sum of all elements: what reading them takes. */
static int run_full_sum(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return check_ours(machine, tilemm_ssum(machine->ctx, p->elements, buffer_use(machine, &p->x), 1,
                                           buffer_use(machine, &p->scratch)));
}

static void add(contender_t *contenders, int *count, const char *name,
                int (*run)(const machine_t *machine, void *problem), int kind, reduce_op_t op)
{
    contenders[*count] = (contender_t){.name = name, .run = run, .tag = kind | (int)op};
    ++*count;
}

/* The peers that do the same: for a vector that is walked forwards. */
static void add_peers(const machine_t *machine, const problem_t *p, contender_t *contenders,
                      int *count)
{
    const reference_blas_t *blas = machine->blas;
    const int vector = !p->by_axis && p->segments < 0 && p->n > 0 && p->inc > 0 && p->inc_y > 0;
    const int fits = p->n <= INT_MAX && p->inc <= INT_MAX && p->inc_y <= INT_MAX;

    if (!vector)
        return;
    if (machine->cub && p->inc == 1 && (p->op == REDUCE_SUM || p->op == REDUCE_MAX))
        add(contenders, count, p->op == REDUCE_SUM ? "CUB Sum" : "CUB Max",
            p->op == REDUCE_SUM ? run_cub_sum : run_cub_max, TAG_FLOATS, p->op);
    if (machine->cublas && fits) {
        if (p->op == REDUCE_ASUM)
            add(contenders, count, "cublasSasum", run_cublas_sasum, TAG_FLOATS, p->op);
        else if (p->op == REDUCE_NRM2)
            add(contenders, count, "cublasSnrm2", run_cublas_snrm2, TAG_FLOATS, p->op);
        else if (p->op == REDUCE_DOT)
            add(contenders, count, "cublasSdot", run_cublas_sdot, TAG_FLOATS, p->op);
        else if (p->op == REDUCE_IAMAX)
            add(contenders, count, "cublasIsamax", run_cublas_isamax, TAG_INT_FROM_1, p->op);
    }
    if (blas && fits) {
        if (p->op == REDUCE_SUM && blas->ssum)
            add(contenders, count, "OpenBLAS ssum", run_ssum, TAG_FLOATS, p->op);
        else if ((p->op == REDUCE_ASUM || p->op == REDUCE_SUM) && blas->sasum)
            add(contenders, count, "OpenBLAS sasum", run_sasum, TAG_FLOATS, REDUCE_ASUM);
        else if (p->op == REDUCE_NRM2 && blas->snrm2)
            add(contenders, count, "OpenBLAS snrm2", run_snrm2, TAG_FLOATS, p->op);
        else if (p->op == REDUCE_DOT && blas->sdot)
            add(contenders, count, "OpenBLAS sdot", run_sdot, TAG_FLOATS, p->op);
        else if (p->op == REDUCE_IAMAX && blas->isamax)
            add(contenders, count, "OpenBLAS isamax", run_isamax, TAG_POSITIONS, p->op);
    }
}

/* ---- errors
 * --------------------------------------------------------------------------------------- */

typedef struct {
    double value;
    int64_t position;
} exact_t;

/* A sum in two doubles: what rounding loses is summed too. */
static double exact_sum(reduce_op_t op, int64_t n, const float *x, int64_t stride, const float *y,
                        int64_t y_stride)
{
    double sum = 0, lost = 0;

    for (int64_t i = 0; i < n; i++) {
        const double e = (double)x[i * stride];
        const double term = op == REDUCE_ASUM                         ? fabs(e)
                            : op == REDUCE_SUMSQ || op == REDUCE_NRM2 ? e * e
                            : op == REDUCE_DOT                        ? e * (double)y[i * y_stride]
                                                                      : e;
        const double next = sum + term, part = next - sum;
        lost += (sum - (next - part)) + (term - part);
        sum = next;
    }
    sum += lost;
    return op == REDUCE_NRM2 ? sqrt(sum) : op == REDUCE_MEAN ? sum / (double)n : sum;
}

static exact_t exact_extreme(reduce_op_t op, int64_t n, const float *x, int64_t stride)
{
    const tilemm_reduce_t of = reduce_value_op(op);
    const int absolute = of == TILEMM_AMAX || of == TILEMM_AMIN;
    const float sign = of == TILEMM_MIN || of == TILEMM_AMIN ? -1.0f : 1.0f;
    exact_t best = {of == TILEMM_AMAX ? 0 : (double)(sign * -HUGE_VALF), -1};

    for (int64_t i = 0; i < n; i++) {
        const float e = absolute ? fabsf(x[i * stride]) : x[i * stride];
        if (best.position < 0 || sign * e > sign * (float)best.value) {
            best.value = (double)e;
            best.position = i;
        }
    }
    return best;
}

/* Result v by definition. */
static exact_t exact_result(const problem_t *p, reduce_op_t op, int64_t v)
{
    const float *x = p->x.host, *y = p->y.host;
    const int is_sum = op <= REDUCE_MEAN || op == REDUCE_DOT;
    int64_t n = p->n, stride = p->inc, y_stride = p->inc_y;
    exact_t result = {0, -1};

    if (p->segments >= 0) {
        const int64_t *offsets = p->offsets.host;
        x += offsets[v];
        n = offsets[v + 1] - offsets[v];
        stride = 1;
    } else if (p->by_axis) {
        const int down = p->axis == TILEMM_AXIS_ROWS, row_major = p->layout == TILEMM_ROW_MAJOR;
        n = down ? p->rows : p->cols;
        stride = down == row_major ? p->lda : 1;
        x += v * (down == row_major ? 1 : p->lda);
    } else {
        if (stride < 0 && n)
            x += (n - 1) * -stride;
        if (op == REDUCE_DOT && y_stride < 0 && n)
            y += (n - 1) * -y_stride;
    }
    if (!is_sum)
        return exact_extreme(op, n, x, stride);
    result.value = exact_sum(op, n, x, stride, y, y_stride);
    return result;
}

static double relative_error(double got, double exact)
{
    if (got == exact || (isnan(got) && isnan(exact)))
        return 0;
    if (isnan(got) || isinf(got) || exact == 0)
        return HUGE_VAL;
    return fabs(got - exact) / fabs(exact);
}

/* The largest error of some results, the first and last among them. */
static double largest_error(const problem_t *p, int tag)
{
    const int64_t each = p->count ? p->elements / p->count : 0;
    const double affordable = (double)(1 << 27) / (double)(each > 1 ? each : 1);
    const int64_t checked = affordable >= (double)p->count ? p->count
                            : affordable > 2               ? (int64_t)affordable
                                                           : (p->count < 2 ? p->count : 2);
    const int kind = tag & TAG_KIND;
    double worst = 0;

    for (int64_t i = 0; kind != TAG_UNCHECKED && i < checked; i++) {
        const int64_t v =
            checked > 1 ? (int64_t)((double)i / (double)(checked - 1) * (double)(p->count - 1)) : 0;
        const exact_t exact = exact_result(p, tag_op(tag), v);
        if (kind == TAG_INT_FROM_1) {
            if (((int *)p->positions.host)[v] - 1 != exact.position)
                return HUGE_VAL;
        } else if (kind == TAG_POSITIONS || p->arg) {
            if (((int64_t *)p->positions.host)[v] != exact.position)
                return HUGE_VAL;
        }
        if (kind == TAG_FLOATS)
            worst = fmax(worst, relative_error((double)((float *)p->out.host)[v], exact.value));
    }
    return worst;
}

static int check(const machine_t *machine, contender_t *contender, problem_t *p)
{
    if (buffer_poison(machine, &p->out) != 0 || buffer_poison(machine, &p->positions) != 0 ||
        run_once(machine, contender, p) != 0 || buffer_fetch(machine, &p->out) != 0 ||
        buffer_fetch(machine, &p->positions) != 0)
        return -1;
    contender->error = largest_error(p, contender->tag);
    return 0;
}

/* ---- a problem
 * --------------------------------------------------------------------------------------- */

static int64_t vector_span(int64_t n, int64_t inc)
{
    int64_t first;
    return batch_span(n, 1, inc < 0 ? -inc : inc, 0, 1, &first);
}

static int shape_problem(problem_t *p, const bench_options_t *o, const bench_size_t *size)
{
    int64_t x, y = 0, first, elements;

    p->op = (reduce_op_t)o->op;
    p->axis = o->axis < 0 ? TILEMM_AXIS_ROWS : (tilemm_axis_t)o->axis;
    p->layout = (tilemm_layout_t)o->layout;
    p->segments = o->segments;
    p->by_axis = o->axis >= 0;
    p->arg = p->by_axis && (o->arg || reduce_is_index(p->op));
    p->inc = o->inc;
    p->inc_y = o->inc_y;
    p->count = p->segments >= 0 ? p->segments : 1;
    if (p->by_axis) {
        const int row_major = p->layout == TILEMM_ROW_MAJOR;
        int64_t least;
        p->rows = size->dim[0];
        p->cols = size->dims == 2 ? size->dim[1] : size->dim[0];
        least = row_major ? p->cols : p->rows;
        p->lda = o->lda == NOT_GIVEN ? (least > 1 ? least : 1) : o->lda;
        p->count = p->axis == TILEMM_AXIS_ROWS ? p->cols : p->rows;
        x = batch_span(row_major ? p->rows : p->cols, least, p->lda, 0, 1, &first);
        if (multiply_sizes(p->rows, p->cols, &elements) != 0)
            x = -1;
    } else {
        p->n = elements = size->dim[0];
        x = vector_span(p->n, p->inc);
        if (p->op == REDUCE_DOT)
            y = vector_span(p->n, p->inc_y);
    }
    if (x < 0 || y < 0 || p->count > PTRDIFF_MAX / 64)
        return command_error("reduce: this size is too large");
    p->elements = elements;
    p->x.bytes = (size_t)x * sizeof(float);
    p->y.bytes = (size_t)y * sizeof(float);
    p->out.bytes = (size_t)p->count * sizeof(float);
    p->positions.bytes = (size_t)p->count * sizeof(int64_t);
    p->scratch.bytes = sizeof(float);
    p->offsets.bytes = p->segments >= 0 ? (size_t)(p->segments + 1) * sizeof(int64_t) : 0;
    return EXIT_OK;
}

/* Fill an operand, unless `before` has the same one. */
static int open_operand(const machine_t *machine, buffer_t *buffer, buffer_t *before, uint64_t seed)
{
    if (before->bytes == buffer->bytes && (before->host || before->device)) {
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

static int fill_offsets(const machine_t *machine, problem_t *p)
{
    int64_t *offsets = p->offsets.host;
    for (int64_t i = 0; i <= p->segments; i++) /* no product that could overflow */
        offsets[i] =
            p->segments ? p->n / p->segments * i + (i < p->n % p->segments ? i : p->n % p->segments)
                        : 0;
    return buffer_send(machine, &p->offsets);
}

/* CUB says how much memory it wants. */
static int open_workspace(const machine_t *machine, problem_t *p)
{
    if (!machine->cub || !machine->on_gpu)
        return EXIT_OK;
    if (p->op == REDUCE_SUM || p->op == REDUCE_MAX) {
        int (*run)(const machine_t *, void *) = p->op == REDUCE_SUM ? run_cub_sum : run_cub_max;
        if (run(machine, p) != 0)
            return EXIT_FAILED;
    }
    p->workspace.bytes = p->workspace_bytes;
    return buffer_open(machine, &p->workspace) == 0 ? EXIT_OK : EXIT_FAILED;
}

static void close_problem(problem_t *p)
{
    buffer_close(&p->x);
    buffer_close(&p->y);
    buffer_close(&p->out);
    buffer_close(&p->positions);
    buffer_close(&p->offsets);
    buffer_close(&p->workspace);
    buffer_close(&p->scratch);
    memset(p, 0, sizeof *p);
}

/* Measure one problem; `before` is one that is done with, whose operands may serve again. A label
 * and a goal (the ratio to the peer) are a suite's. */
static int measure_problem(const machine_t *machine, const bench_options_t *options,
                           const bench_size_t *size, problem_t *p, problem_t *before,
                           const char *label, double goal, report_t *report)
{
    const buffer_t *buffers[] = {&p->x, &p->y, &p->out, &p->positions, &p->offsets};
    contender_t contenders[MAX_CONTENDERS];
    bench_case_t which = {.verb = "reduce",
                          .unit = "GB/s",
                          .error_kind = "relative error",
                          .extent_name = "elements"};
    int count = 0, failed = 0;

    if (shape_problem(p, options, size) != EXIT_OK)
        return EXIT_FAILED;
    if (before->x.bytes != p->x.bytes || before->y.bytes != p->y.bytes) {
        close_problem(before);
        if (machine_has_room(machine, buffers, 5) != 0)
            return EXIT_FAILED;
    }
    if (p->by_axis)
        snprintf(which.size, sizeof which.size, "%s%lldx%lld", label, (long long)p->rows,
                 (long long)p->cols);
    else
        snprintf(which.size, sizeof which.size, "%s%lld", label, (long long)p->n);
    which.work = (double)p->elements * sizeof(float) * (p->op == REDUCE_DOT ? 2 : 1) +
                 (reduce_is_index(p->op) ? 0 : (double)p->count * sizeof(float)) +
                 (reduce_is_index(p->op) || p->arg ? (double)p->count * sizeof(int64_t) : 0);
    which.extent = (double)p->elements;
    report_progress(report, "reduce %s: data", which.size);
    if (open_operand(machine, &p->x, &before->x, 31) ||
        open_operand(machine, &p->y, &before->y, 32) || buffer_open(machine, &p->out) ||
        buffer_open(machine, &p->positions) || buffer_open(machine, &p->offsets) ||
        buffer_open(machine, &p->scratch) || (p->segments >= 0 && fill_offsets(machine, p) != 0) ||
        open_workspace(machine, p) != EXIT_OK)
        return EXIT_FAILED;

    add(contenders, &count, "tilemm", run_ours,
        reduce_is_index(p->op) && !p->by_axis ? TAG_POSITIONS : TAG_FLOATS, p->op);
    add_peers(machine, p, contenders, &count);
    if (*label && (p->by_axis || p->segments >= 0))
        add(contenders, &count, "tilemm, sum all", run_full_sum, TAG_UNCHECKED, REDUCE_SUM);
    report_progress(report, "reduce %s: errors", which.size);
    for (int i = 0; !failed && i < count; i++)
        failed = check(machine, &contenders[i], p);
    report_progress(report, "reduce %s: times", which.size);
    if (failed || measure(machine, contenders, count, p, options->reps) != 0)
        return EXIT_FAILED;
    if (goal > 0 && count > 1)
        snprintf(contenders[1].kernel, sizeof contenders[1].kernel, "goal %.2f: %s", goal,
                 contenders[1].median >= goal * contenders[0].median ? "met" : "missed");
    report_case(report, &which, contenders, count);
    return EXIT_OK;
}

int bench_reduce(const machine_t *machine, const bench_options_t *options, report_t *report)
{
    const char *op = word_of(reduce_words, options->op);
    const int vector = options->axis < 0 && options->segments < 0;
    const char *first = NULL, *second = NULL;
    char what[96], peers[160] = "";
    int status = EXIT_OK;

    if (options->axis >= 0)
        snprintf(what, sizeof what, "%s %s, %s-major%s",
                 options->axis == TILEMM_AXIS_ROWS ? "down the rows" : "along the columns",
                 "of matrices", word_of(layout_words, options->layout),
                 options->arg ? ", with positions" : "");
    else if (options->segments >= 0)
        snprintf(what, sizeof what, "of %lld segments", (long long)options->segments);
    else if (options->inc != 1)
        snprintf(what, sizeof what, "of vectors, increment %lld", (long long)options->inc);
    else
        snprintf(what, sizeof what, "of vectors");
    if (vector) {
        if (machine->blas)
            first = machine->blas->name;
        if (machine->cublas)
            first = machine->cublas->name;
        if (machine->cub)
            second = machine->cub->name;
        if (!first) {
            first = second;
            second = NULL;
        }
        if (first)
            snprintf(peers, sizeof peers, ", against %s%s%s", first, second ? " and " : "",
                     second ? second : "");
    }
    report_table(report, machine, "%s %s%s%s", op, what,
                 options->nan == TILEMM_NAN_IGNORE ? ", NaN ignored" : "", peers);
    for (int i = 0; status == EXIT_OK && i < options->size_count; i++) {
        problem_t problem = {0}, none = {0};
        status =
            measure_problem(machine, options, &options->sizes[i], &problem, &none, "", 0, report);
        close_problem(&problem);
    }
    return status;
}

/* ---- suites
 * --------------------------------------------------------------------------------------- */

enum { VECTOR = -1, ROWS = TILEMM_AXIS_ROWS, COLS = TILEMM_AXIS_COLS };

/* A vector of `rows` elements, in `segments` if that is not 0, or a matrix by an axis; and the
 * ratio that is aimed at: to the peer, or of axes and segments to the sum of all elements. */
typedef struct {
    reduce_op_t op;
    int axis, arg;
    int64_t rows, cols, segments;
    double goal;
} suite_row_t;

#define WHOLE(op, n, goal)                                                                         \
    {                                                                                              \
        op, VECTOR, 0, n, 0, 0, goal                                                               \
    }
#define SEGMENTED(n, segments)                                                                     \
    {                                                                                              \
        REDUCE_SUM, VECTOR, 0, n, 0, segments, 0                                                   \
    }
#define BY_AXIS(rows, cols, goal)                                                                  \
    {REDUCE_SUM, ROWS, 0, rows, cols, 0, goal}, {REDUCE_SUM, COLS, 0, rows, cols, 0, goal},        \
        {REDUCE_MAX, ROWS, 0, rows, cols, 0, goal}, {REDUCE_MAX, COLS, 0, rows, cols, 0, goal},    \
        {REDUCE_MAX, ROWS, 1, rows, cols, 0, goal},                                                \
    {                                                                                              \
        REDUCE_MAX, COLS, 1, rows, cols, 0, goal                                                   \
    }
#define SHORT(op, goal)                                                                            \
    WHOLE(op, 16, goal), WHOLE(op, 64, goal), WHOLE(op, 256, goal), WHOLE(op, 1024, goal),         \
        WHOLE(op, 4096, goal)

enum { K = 1 << 10, M = 1 << 20 };

static const suite_row_t suite_h200[] = {
    WHOLE(REDUCE_SUM, K, 1.0),
    WHOLE(REDUCE_SUM, 64 * K, 1.0),
    WHOLE(REDUCE_SUM, 16 * M, 1.0),
    WHOLE(REDUCE_MAX, 16 * M, 1.0),
    WHOLE(REDUCE_SUM, 256 * M, 1.0),
    WHOLE(REDUCE_MAX, 256 * M, 1.0),
    BY_AXIS(16384, 16384, 0.95),
    SEGMENTED(256 * M, 16 * M),
    SEGMENTED(256 * M, 256 * K),
    SEGMENTED(256 * M, 1000),
    SEGMENTED(256 * M, 1),
    BY_AXIS(M, 128, 0.95),
    BY_AXIS(128, M, 0.95),
    BY_AXIS(65536, 31, 0.8),
    BY_AXIS(65536, 4, 0),
    BY_AXIS(M, 1, 0),
    BY_AXIS(1, M, 0),
    WHOLE(REDUCE_SUM, 1024 * M, 1.0),
    WHOLE(REDUCE_MAX, 1024 * M, 1.0),
    WHOLE(REDUCE_ASUM, 1024 * M, 1.6),
    WHOLE(REDUCE_NRM2, 1024 * M, 1.8),
    WHOLE(REDUCE_IAMAX, 1024 * M, 1.5),
    WHOLE(REDUCE_DOT, 1024 * M, 1.0),
};

static const suite_row_t suite_cpu[] = {
    WHOLE(REDUCE_SUM, 16 * M, 1.0),  WHOLE(REDUCE_ASUM, 16 * M, 1.0),
    WHOLE(REDUCE_NRM2, 16 * M, 2.0), WHOLE(REDUCE_IAMAX, 16 * M, 1.0),
    WHOLE(REDUCE_DOT, 16 * M, 1.0),  SHORT(REDUCE_SUM, 1.0),
    SHORT(REDUCE_ASUM, 1.0),         SHORT(REDUCE_NRM2, 1.0),
    SHORT(REDUCE_IAMAX, 1.0),        SHORT(REDUCE_DOT, 1.0),
};

static const suite_row_t *find_suite(const char *name, int *count)
{
    const int is_cpu = strcmp(name, "cpu") == 0;
    *count =
        is_cpu ? sizeof suite_cpu / sizeof suite_cpu[0] : sizeof suite_h200 / sizeof suite_h200[0];
    return is_cpu ? suite_cpu : strcmp(name, "h200") == 0 ? suite_h200 : NULL;
}

int bench_reduce_has_suite(const char *name)
{
    int count;
    return find_suite(name, &count) != NULL;
}

int bench_reduce_suite(const machine_t *machine, const bench_options_t *options, report_t *report)
{
    problem_t problem = {0}, before = {0};
    int count, status = EXIT_OK;
    const suite_row_t *rows = find_suite(options->suite, &count);

    report_table(report, machine, "reductions, suite %s", options->suite);
    for (int i = 0; status == EXIT_OK && i < count; i++) {
        const suite_row_t *row = &rows[i];
        const bench_size_t size = {row->axis == VECTOR ? 1 : 2, {row->rows, row->cols}};
        bench_options_t one = *options;
        char label[40];

        one.op = row->op;
        one.axis = row->axis;
        one.arg = row->arg;
        one.segments = row->segments ? row->segments : -1;
        if (row->segments)
            snprintf(label, sizeof label, "%s, %lld segments ", word_of(reduce_words, row->op),
                     (long long)row->segments);
        else
            snprintf(label, sizeof label, "%s%s%s ", row->arg ? "arg" : "",
                     word_of(reduce_words, row->op),
                     row->axis == ROWS   ? " rows"
                     : row->axis == COLS ? " cols"
                                         : "");
        status = measure_problem(machine, &one, &size, &problem, &before, label, row->goal, report);
        close_problem(&before);
        before = problem;
        memset(&problem, 0, sizeof problem);
    }
    close_problem(&before);
    return status;
}
