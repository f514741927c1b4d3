/* bench_reduce.c - `tilemm bench reduce`: vectors, axes and segments, next to OpenBLAS, cuBLAS,
 * CUB.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>

#include "bench.h"

enum { X, Y, OUT, POSITIONS, OFFSETS, SCRATCH, WORKSPACE, BUFFERS };

/* What is reduced: a vector (one result), a matrix by one axis, or the segments of a vector. */
typedef struct {
    reduce_op_t op;
    int by_axis, arg; /* arg: index_out and out */
    tilemm_axis_t axis;
    tilemm_layout_t layout;
    int64_t rows, cols, lda; /* by axis */
    int64_t n, inc, inc_y;   /* a vector */
    int64_t segments;        /* -1: none */
    int64_t count, elements; /* results; elements of x that are read */
    buffer_t buffers[BUFFERS];
    size_t workspace_bytes;
    reduce_op_t blas_op; /* what OpenBLAS computes: magnitudes are added where it has no sum */
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

/* ---- contenders ---------------------------------------------------------------------------- */

static int run_vector(const machine_t *machine, const problem_t *p, const float *x, float *out,
                      int64_t *positions)
{
    const float *y = buffer_use(machine, &p->buffers[Y]);
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
    const float *x = buffer_use(machine, &p->buffers[X]);
    float *out = buffer_use(machine, &p->buffers[OUT]);
    int64_t *positions = buffer_use(machine, &p->buffers[POSITIONS]);

    if (p->segments >= 0)
        return check_ours(
            machine, tilemm_sreduce_segments(machine->ctx, reduce_value_op(p->op), p->segments, x,
                                             buffer_use(machine, &p->buffers[OFFSETS]), out));
    if (!p->by_axis)
        return run_vector(machine, p, x, out, positions);
    if (p->arg)
        return check_ours(machine, tilemm_sargreduce(machine->ctx, reduce_value_op(p->op), p->axis,
                                                     p->layout, p->rows, p->cols, x, p->lda, out, 1,
                                                     positions));
    return check_ours(machine, tilemm_sreduce(machine->ctx, reduce_value_op(p->op), p->axis,
                                              p->layout, p->rows, p->cols, x, p->lda, out, 1));
}

static int run_openblas(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const reference_blas_t *blas = machine->blas;
    const float *x = p->buffers[X].host, *y = p->buffers[Y].host;
    const int n = (int)p->n, inc = (int)p->inc, inc_y = (int)p->inc_y;
    float *out = p->buffers[OUT].host;

    switch (p->blas_op) {
    case REDUCE_SUM: *out = blas->ssum(n, x, inc); break;
    case REDUCE_ASUM: *out = blas->sasum(n, x, inc); break;
    case REDUCE_NRM2: *out = blas->snrm2(n, x, inc); break;
    case REDUCE_DOT: *out = blas->sdot(n, x, inc, y, inc_y); break;
    default: *(int64_t *)p->buffers[POSITIONS].host = (int64_t)blas->isamax(n, x, inc);
    }
    return 0;
}

static int run_cublas(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const reference_cublas_t *cublas = machine->cublas;
    const float *x = p->buffers[X].device, *y = p->buffers[Y].device;
    const int n = (int)p->n, inc = (int)p->inc, inc_y = (int)p->inc_y;
    float *out = p->buffers[OUT].device;

    switch (p->op) {
    case REDUCE_ASUM: return check_peer("cublasSasum", cublas->sasum(n, x, inc, out));
    case REDUCE_NRM2: return check_peer("cublasSnrm2", cublas->snrm2(n, x, inc, out));
    case REDUCE_DOT: return check_peer("cublasSdot", cublas->sdot(n, x, inc, y, inc_y, out));
    default:
        return check_peer("cublasIsamax", cublas->isamax(n, x, inc, p->buffers[POSITIONS].device));
    }
}

static int run_cub(const machine_t *machine, void *problem)
{
    problem_t *p = problem;
    const reference_cub_t *cub = machine->cub;

    return check_peer("CUB",
                      (p->op == REDUCE_SUM ? cub->sum : cub->max)(
                          p->buffers[WORKSPACE].device, &p->workspace_bytes, p->buffers[X].device,
                          p->n, p->buffers[OUT].device, machine->stream));
}

/* The sum of all elements: what reading them takes. */
static int run_full_sum(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return check_ours(machine,
                      tilemm_ssum(machine->ctx, p->elements, buffer_use(machine, &p->buffers[X]), 1,
                                  buffer_use(machine, &p->buffers[SCRATCH])));
}

static int has_openblas(const reference_blas_t *blas, reduce_op_t op)
{
    return op == REDUCE_SUM    ? blas->ssum != NULL
           : op == REDUCE_ASUM ? blas->sasum != NULL
           : op == REDUCE_NRM2 ? blas->snrm2 != NULL
           : op == REDUCE_DOT  ? blas->sdot != NULL
                               : blas->isamax != NULL;
}

/* The peers that do the same: for a vector that is walked forwards. */
static void add_peers(const machine_t *machine, problem_t *p, contender_t *contenders, int *count)
{
    static const struct {
        reduce_op_t op;
        const char *openblas, *cublas, *cub;
    } peers[] = {
        {REDUCE_SUM, "OpenBLAS ssum", NULL, "CUB Sum"},
        {REDUCE_MAX, NULL, NULL, "CUB Max"},
        {REDUCE_ASUM, "OpenBLAS sasum", "cublasSasum", NULL},
        {REDUCE_NRM2, "OpenBLAS snrm2", "cublasSnrm2", NULL},
        {REDUCE_DOT, "OpenBLAS sdot", "cublasSdot", NULL},
        {REDUCE_IAMAX, "OpenBLAS isamax", "cublasIsamax", NULL},
    };
    const int vector = !p->by_axis && p->segments < 0 && p->n > 0 && p->inc > 0 && p->inc_y > 0;
    const int64_t sizes[] = {p->n, p->inc, p->inc_y};
    const int is_index = reduce_is_index(p->op);
    size_t i = 0;

    p->blas_op = p->op;
    if (p->op == REDUCE_SUM && machine->blas && !machine->blas->ssum)
        p->blas_op = REDUCE_ASUM;
    while (i < sizeof peers / sizeof peers[0] && peers[i].op != p->op)
        i++;
    if (!vector || i == sizeof peers / sizeof peers[0])
        return;
    if (machine->cub && p->inc == 1 && peers[i].cub)
        add_contender(contenders, count, peers[i].cub, run_cub)->tag = TAG_FLOATS | (int)p->op;
    if (machine->cublas && fit_int(sizes, 3) && peers[i].cublas)
        add_contender(contenders, count, peers[i].cublas, run_cublas)->tag =
            (is_index ? TAG_INT_FROM_1 : TAG_FLOATS) | (int)p->op;
    if (machine->blas && fit_int(sizes, 3) && peers[i].openblas &&
        has_openblas(machine->blas, p->blas_op))
        add_contender(contenders, count, p->blas_op == p->op ? peers[i].openblas : "OpenBLAS sasum",
                      run_openblas)
            ->tag = (is_index ? TAG_POSITIONS : TAG_FLOATS) | (int)p->blas_op;
}

/* ---- errors --------------------------------------------------------------------------------- */

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
    const float *x = p->buffers[X].host, *y = p->buffers[Y].host;
    const int is_sum = op <= REDUCE_MEAN || op == REDUCE_DOT;
    int64_t n = p->n, stride = p->inc, y_stride = p->inc_y;
    exact_t result = {0, -1};

    if (p->segments >= 0) {
        const int64_t *offsets = p->buffers[OFFSETS].host;
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
    const double affordable = (1 << 27) / (double)tilemm__max(each, 1);
    const int64_t checked = tilemm__min(p->count, tilemm__clamp(affordable, 2, INT64_MAX));
    const int kind = tag & TAG_KIND;
    double worst = 0;

    for (int64_t i = 0; kind != TAG_UNCHECKED && i < checked; i++) {
        const int64_t v = spread(i, checked, p->count);
        const exact_t exact = exact_result(p, tag_op(tag), v);
        const int64_t position = kind == TAG_INT_FROM_1
                                     ? ((int *)p->buffers[POSITIONS].host)[v] - 1
                                     : ((int64_t *)p->buffers[POSITIONS].host)[v];

        if ((kind != TAG_FLOATS || p->arg) && position != exact.position)
            return HUGE_VAL;
        if (kind == TAG_FLOATS)
            worst = fmax(worst,
                         relative_error((double)((float *)p->buffers[OUT].host)[v], exact.value));
    }
    return worst;
}

static int check(const machine_t *machine, contender_t *contender, void *problem)
{
    const problem_t *p = problem;
    const buffer_t *out = &p->buffers[OUT], *positions = &p->buffers[POSITIONS];

    if (buffer_poison(machine, out) != 0 || buffer_poison(machine, positions) != 0 ||
        run_once(machine, contender, problem) != 0 || buffer_fetch(machine, out) != 0 ||
        buffer_fetch(machine, positions) != 0)
        return -1;
    contender->error = largest_error(p, contender->tag);
    return 0;
}

/* ---- a problem ------------------------------------------------------------------------------ */

static int64_t vector_span(int64_t n, int64_t inc)
{
    int64_t first;
    return batch_span(n, 1, inc < 0 ? -inc : inc, 0, 1, &first);
}

/* Returns 0, or -1 where the operands are too large. */
static int shape_problem(problem_t *p, const bench_options_t *o, const bench_size_t *size)
{
    int64_t x, y = 0, first;

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
        int64_t length;
        p->rows = size->dim[0];
        p->cols = size->dims == 2 ? size->dim[1] : size->dim[0];
        length = row_major ? p->cols : p->rows;
        p->lda = given(o->lda, tilemm__max(length, 1));
        p->count = p->axis == TILEMM_AXIS_ROWS ? p->cols : p->rows;
        x = batch_span(row_major ? p->rows : p->cols, length, p->lda, 0, 1, &first);
        if (multiply_sizes(p->rows, p->cols, &p->elements) != 0)
            return -1;
    } else {
        p->n = p->elements = size->dim[0];
        x = vector_span(p->n, p->inc);
        if (p->op == REDUCE_DOT)
            y = vector_span(p->n, p->inc_y);
    }
    if (x < 0 || y < 0 || p->count > PTRDIFF_MAX / 64)
        return -1;
    p->buffers[X] = (buffer_t){.bytes = (size_t)x * sizeof(float), .seed = 31};
    p->buffers[Y] = (buffer_t){.bytes = (size_t)y * sizeof(float), .seed = 32};
    p->buffers[OUT].bytes = (size_t)p->count * sizeof(float);
    p->buffers[POSITIONS].bytes = (size_t)p->count * sizeof(int64_t);
    p->buffers[SCRATCH].bytes = sizeof(float);
    p->buffers[OFFSETS].bytes = p->segments >= 0 ? (size_t)(p->segments + 1) * sizeof(int64_t) : 0;
    return 0;
}

/* Segments of equal length, the first ones longer by one element where they do not divide n. */
static int fill_offsets(const machine_t *machine, const problem_t *p)
{
    int64_t *offsets = p->buffers[OFFSETS].host;

    for (int64_t i = 0; i <= p->segments; i++) /* no product that could overflow */
        offsets[i] = p->segments ? p->n / p->segments * i + tilemm__min(i, p->n % p->segments) : 0;
    return buffer_send(machine, &p->buffers[OFFSETS]);
}

/* CUB says how much memory it needs. */
static int open_workspace(const machine_t *machine, problem_t *p)
{
    if (!machine->cub || !machine->on_gpu)
        return 0;
    if ((p->op == REDUCE_SUM || p->op == REDUCE_MAX) && run_cub(machine, p) != 0)
        return -1;
    p->buffers[WORKSPACE].bytes = p->workspace_bytes;
    return buffer_open(machine, &p->buffers[WORKSPACE]);
}

static int run_problem(const machine_t *machine, const bench_options_t *options, problem_t *p,
                       const bench_case_t *which, report_t *report)
{
    contender_t contenders[MAX_CONTENDERS];
    int count = 0;

    report_progress(report, "reduce %s: data", which->size);
    if (buffers_open(machine, p->buffers, WORKSPACE) != 0 ||
        (p->segments >= 0 && fill_offsets(machine, p) != 0) || open_workspace(machine, p) != 0)
        return EXIT_FAILED;
    add_contender(contenders, &count, "tilemm", run_ours)->tag =
        (reduce_is_index(p->op) && !p->by_axis ? TAG_POSITIONS : TAG_FLOATS) | (int)p->op;
    add_peers(machine, p, contenders, &count);
    if (options->suite && (p->by_axis || p->segments >= 0))
        add_contender(contenders, &count, "tilemm, sum all", run_full_sum)->tag = TAG_UNCHECKED;
    if (count > 1)
        contenders[1].goal = options->goal;
    if (bench_measure(machine, options, which, contenders, count, check, p, report) != EXIT_OK)
        return EXIT_FAILED;
    report_case(report, which, contenders, count);
    return EXIT_OK;
}

int bench_reduce(const machine_t *machine, const bench_options_t *options, const bench_size_t *size,
                 report_t *report)
{
    problem_t p = {0};
    bench_case_t which = {.verb = "reduce",
                          .unit = "GB/s",
                          .error_kind = "relative error",
                          .extent_name = "elements"};
    const int too_large = shape_problem(&p, options, size), is_index = reduce_is_index(p.op);
    int status;

    if (options->suite)
        append(which.size, sizeof which.size, "%s%s%s", options->arg ? "arg" : "",
               word_of(reduce_words, options->op),
               options->axis == TILEMM_AXIS_ROWS   ? " rows"
               : options->axis == TILEMM_AXIS_COLS ? " cols"
                                                   : "");
    if (p.segments >= 0 && options->suite)
        append(which.size, sizeof which.size, ", %lld segments", (long long)p.segments);
    append(which.size, sizeof which.size, "%s%lld", options->suite ? " " : "",
           (long long)size->dim[0]);
    if (p.by_axis)
        append(which.size, sizeof which.size, "x%lld", (long long)p.cols);
    which.work = (double)p.elements * sizeof(float) * (p.op == REDUCE_DOT ? 2 : 1) +
                 (is_index ? 0 : (double)p.count * sizeof(float)) +
                 (is_index || p.arg ? (double)p.count * sizeof(int64_t) : 0);
    which.extent = (double)p.elements;
    status = too_large ? bench_too_large("reduce", which.size)
                       : run_problem(machine, options, &p, &which, report);
    buffers_close(machine, p.buffers, BUFFERS);
    return status;
}

void bench_reduce_title(const machine_t *machine, const bench_options_t *options, char *title,
                        size_t size)
{
    const char *names[] = {machine->cublas ? machine->cublas->name
                           : machine->blas ? machine->blas->name
                                           : NULL,
                           machine->cub ? machine->cub->name : NULL};
    const char *between = ", against ";

    snprintf(title, size, "%s ", word_of(reduce_words, options->op));
    if (options->axis >= 0)
        append(title, size, "%s of matrices, %s-major%s",
               options->axis == TILEMM_AXIS_ROWS ? "down the rows" : "along the columns",
               word_of(layout_words, options->layout), options->arg ? ", with positions" : "");
    else if (options->segments >= 0)
        append(title, size, "of %lld segments", (long long)options->segments);
    else if (options->inc != 1)
        append(title, size, "of vectors, increment %lld", (long long)options->inc);
    else
        append(title, size, "of vectors");
    if (options->nan == TILEMM_NAN_IGNORE)
        append(title, size, ", NaN ignored");
    for (int i = 0; options->axis < 0 && options->segments < 0 && i < 2; i++)
        if (names[i]) {
            append(title, size, "%s%s", between, names[i]);
            between = " and ";
        }
}
