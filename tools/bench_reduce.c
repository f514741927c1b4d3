/* bench_reduce.c - `tilemm bench reduce`: vectors, axes and segments, next to OpenBLAS, cuBLAS,
 * CUB.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "bench.h"

enum { X, Y, OUT, POSITIONS, OFFSETS, SCRATCH, ONES, WORKSPACE, BUFFERS };

/* What a contender computes, and where it leaves it. */
enum { TAG_UNCHECKED = 0, TAG_FLOATS = 0x100, TAG_POSITIONS = 0x200, TAG_INT_FROM_1 = 0x300 };
enum { TAG_KIND = 0xf00, TAG_OPERATION = 0xff };

static int run_ours(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const bench_options_t *o = p->options;
    const tilemm_t ctx = machine->ctx;
    const tilemm_reduce_t op = reduce_value_op(o->op);
    const tilemm_axis_t axis = (tilemm_axis_t)o->axis;
    const tilemm_layout_t layout = (tilemm_layout_t)o->layout;
    const float *x = buffer_use(&p->buffers[X]), *y = buffer_use(&p->buffers[Y]);
    float *out = buffer_use(&p->buffers[OUT]);
    int64_t *positions = buffer_use(&p->buffers[POSITIONS]);
    const int64_t n = p->n, inc = o->inc, lda = p->buffers[X].ld;
    tilemm_status_t status;
    if (o->segments >= 0)
        status =
            tilemm_sreduce_segments(ctx, op, o->segments, x, buffer_use(&p->buffers[OFFSETS]), out);
    else if (p->arg)
        status = tilemm_sargreduce(ctx, op, axis, layout, p->m, n, x, lda, out, 1, positions);
    else if (o->axis >= 0)
        status = tilemm_sreduce(ctx, op, axis, layout, p->m, n, x, lda, out, 1);
    else
        switch (o->op) {
        case TILEMM_SUM: status = tilemm_ssum(ctx, n, x, inc, out); break;
        case TILEMM_ASUM: status = tilemm_sasum(ctx, n, x, inc, out); break;
        case TILEMM_NRM2: status = tilemm_snrm2(ctx, n, x, inc, out); break;
        case TILEMM_MAX: status = tilemm_smax(ctx, n, x, inc, out); break;
        case TILEMM_MIN: status = tilemm_smin(ctx, n, x, inc, out); break;
        case REDUCE_DOT: status = tilemm_sdot(ctx, n, x, inc, y, o->inc_y, out); break;
        case REDUCE_IMAX: status = tilemm_ismax(ctx, n, x, inc, positions); break;
        case REDUCE_IMIN: status = tilemm_ismin(ctx, n, x, inc, positions); break;
        case REDUCE_IAMAX: status = tilemm_isamax(ctx, n, x, inc, positions); break;
        case REDUCE_IAMIN: status = tilemm_isamin(ctx, n, x, inc, positions); break;
        default: /* no function for vectors: reduced as a column, whose lda is |inc| */
            status =
                tilemm_sreduce(ctx, op, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, n, 1, x, lda, out, 1);
        }
    return check_ours(machine, status);
}

static int run_openblas(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const reference_blas_t *blas = machine->blas;
    const float *x = p->buffers[X].host, *y = p->buffers[Y].host;
    const int n = (int)p->n, inc = (int)p->options->inc, inc_y = (int)p->options->inc_y;
    float *out = p->buffers[OUT].host;
    switch (p->blas_op) {
    case TILEMM_SUM: *out = blas->ssum(n, x, inc); break;
    case TILEMM_ASUM: *out = blas->sasum(n, x, inc); break;
    case TILEMM_NRM2: *out = blas->snrm2(n, x, inc); break;
    case REDUCE_DOT: *out = blas->sdot(n, x, inc, y, inc_y); break;
    default: *(int64_t *)p->buffers[POSITIONS].host = (int64_t)blas->isamax(n, x, inc);
    }
    return 0;
}

static int run_cublas(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const reference_cublas_t *cublas = machine->cublas;
    const float *x = p->buffers[X].device, *y = p->buffers[Y].device;
    const int n = (int)p->n, inc = (int)p->options->inc, inc_y = (int)p->options->inc_y;
    float *out = p->buffers[OUT].device;
    switch (p->options->op) {
    case TILEMM_ASUM: return check_peer("cublasSasum", cublas->sasum(n, x, inc, out));
    case TILEMM_NRM2: return check_peer("cublasSnrm2", cublas->snrm2(n, x, inc, out));
    case REDUCE_DOT: return check_peer("cublasSdot", cublas->sdot(n, x, inc, y, inc_y, out));
    case TILEMM_AMIN:
    case REDUCE_IAMIN:
        return check_peer("cublasIsamin", cublas->isamin(n, x, inc, p->buffers[POSITIONS].device));
    default:
        return check_peer("cublasIsamax", cublas->isamax(n, x, inc, p->buffers[POSITIONS].device));
    }
}

/* Sums by axis: the matrix, whose lines are cuBLAS's columns, times a vector of ones. */
static int run_sgemv(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const buffer_t *x = &p->buffers[X];
    const int across =
        (p->options->axis == TILEMM_AXIS_ROWS) == (p->options->layout == TILEMM_ROW_MAJOR);
    return check_peer("cublasSgemv",
                      machine->cublas->sgemv(!across, (int)x->length, (int)x->lines, x->device,
                                             (int)x->ld, p->buffers[ONES].device,
                                             p->buffers[OUT].device));
}

static int run_cub(const machine_t *machine, void *problem)
{
    bench_problem_t *p = problem;
    const reference_cub_t *cub = machine->cub;
    return check_peer("CUB", (p->options->op == TILEMM_SUM ? cub->sum
                              : p->options->op == TILEMM_MAX
                                  ? cub->max
                                  : cub->min)(p->buffers[WORKSPACE].device, &p->workspace_bytes,
                                              p->buffers[X].device, p->n, p->buffers[OUT].device,
                                              machine->stream));
}

/* The sum of all elements: what reading them takes. */
static int run_full_sum(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    return check_ours(machine, tilemm_ssum(machine->ctx, p->elements, buffer_use(&p->buffers[X]), 1,
                                           buffer_use(&p->buffers[SCRATCH])));
}

/* The peers that do the same, or the like of it (`by`): for a vector that is walked forwards. */
static void add_peers(const machine_t *machine, bench_problem_t *p)
{
    static const struct {
        int op, by;
        const char *openblas, *cublas, *cub;
    } peers[] = {
        {TILEMM_SUM, TILEMM_SUM, "OpenBLAS ssum", NULL, "CUB Sum"},
        {TILEMM_MAX, TILEMM_MAX, NULL, NULL, "CUB Max"},
        {TILEMM_MIN, TILEMM_MIN, NULL, NULL, "CUB Min"},
        {TILEMM_ASUM, TILEMM_ASUM, "OpenBLAS sasum", "cublasSasum", NULL},
        {TILEMM_NRM2, TILEMM_NRM2, "OpenBLAS snrm2", "cublasSnrm2", NULL},
        {REDUCE_DOT, REDUCE_DOT, "OpenBLAS sdot", "cublasSdot", NULL},
        {REDUCE_IAMAX, REDUCE_IAMAX, "OpenBLAS isamax", "cublasIsamax", NULL},
        {REDUCE_IAMIN, REDUCE_IAMIN, NULL, "cublasIsamin", NULL},
        {TILEMM_AMAX, REDUCE_IAMAX, NULL, "cublasIsamax", NULL},
        {TILEMM_AMIN, REDUCE_IAMIN, NULL, "cublasIsamin", NULL},
        {REDUCE_IMAX, REDUCE_IAMAX, NULL, "cublasIsamax", NULL},
        {REDUCE_IMIN, REDUCE_IAMAX, NULL, "cublasIsamax", NULL},
    };
    const bench_options_t *o = p->options;
    const int vector = o->axis < 0 && o->segments < 0 && p->n > 0 && o->inc > 0 && o->inc_y > 0;
    const int64_t sizes[] = {p->n, o->inc, o->inc_y};
    const int fits = fit_int(sizes, 3);
    const reference_blas_t *blas = machine->blas;
    /* Magnitudes are added where OpenBLAS has no sum. */
    p->blas_op = o->op == TILEMM_SUM && blas && !blas->ssum ? TILEMM_ASUM : o->op;
    for (int i = 0; vector && i < COUNT_OF(peers); i++) {
        const int is_index = reduce_is_index(peers[i].by);
        if (peers[i].op != o->op)
            continue;
        if (machine->cub && o->inc == 1 && peers[i].cub)
            add_contender(p, peers[i].cub, run_cub)->tag = TAG_FLOATS | o->op;
        if (machine->cublas && fits && peers[i].cublas)
            add_contender(p, peers[i].cublas, run_cublas)->tag =
                (is_index ? TAG_INT_FROM_1 : TAG_FLOATS) | peers[i].by;
        if (blas && fits && peers[i].openblas)
            add_contender(p, p->blas_op == o->op ? peers[i].openblas : "OpenBLAS sasum",
                          run_openblas)
                ->tag = (is_index ? TAG_POSITIONS : TAG_FLOATS) | p->blas_op;
    }
}

typedef struct {
    double value;
    int64_t position;
} exact_t;

/* A sum in two doubles: what rounding loses is summed too. */
static double exact_sum(int op, int64_t n, const float *x, int64_t stride, const float *y,
                        int64_t y_stride)
{
    double sum = 0, lost = 0;
    for (int64_t i = 0; i < n; i++) {
        const double e = (double)x[i * stride];
        const double term = op == TILEMM_ASUM                         ? fabs(e)
                            : op == TILEMM_SUMSQ || op == TILEMM_NRM2 ? e * e
                            : op == REDUCE_DOT                        ? e * (double)y[i * y_stride]
                                                                      : e;
        const double next = sum + term, part = next - sum;
        lost += (sum - (next - part)) + (term - part);
        sum = next;
    }
    sum += lost;
    return op == TILEMM_NRM2 ? sqrt(sum) : op == TILEMM_MEAN ? sum / (double)n : sum;
}

static exact_t exact_extreme(int op, int64_t n, const float *x, int64_t stride)
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
static exact_t exact_result(const bench_problem_t *p, int op, int64_t v)
{
    const bench_options_t *o = p->options;
    const float *x = p->buffers[X].host, *y = p->buffers[Y].host;
    const int64_t *offsets = p->buffers[OFFSETS].host, lda = p->buffers[X].ld;
    int64_t n = p->n, stride = o->inc;
    if (o->segments >= 0) {
        x += offsets[v];
        n = offsets[v + 1] - offsets[v];
        stride = 1;
    } else if (o->axis >= 0) {
        const int down = o->axis == TILEMM_AXIS_ROWS;
        const int across = down == (o->layout == TILEMM_ROW_MAJOR);
        n = down ? p->m : p->n;
        stride = across ? lda : 1;
        x += v * (across ? 1 : lda);
    } else {
        if (stride < 0 && n)
            x += (n - 1) * -stride;
        if (op == REDUCE_DOT && o->inc_y < 0 && n)
            y += (n - 1) * -o->inc_y;
    }
    if (op > TILEMM_MEAN && op != REDUCE_DOT)
        return exact_extreme(op, n, x, stride);
    return (exact_t){exact_sum(op, n, x, stride, y, o->inc_y), -1};
}

static double relative_error(double got, double exact)
{
    if (got == exact || (isnan(got) && isnan(exact)))
        return 0;
    return isfinite(got) && exact != 0 ? fabs(got - exact) / fabs(exact) : HUGE_VAL;
}

/* The largest error of some results, the first and last among them. */
static double largest_error(const bench_problem_t *p, int tag)
{
    const int64_t each = p->results ? p->elements / p->results : 0;
    const double affordable = (1 << 27) / (double)tilemm__max(each, 1);
    const int64_t checked = tilemm__min(p->results, tilemm__clamp(affordable, 2, INT64_MAX));
    const int kind = tag & TAG_KIND;
    double worst = 0;
    for (int64_t i = 0; kind != TAG_UNCHECKED && i < checked; i++) {
        const int64_t v = spread(i, checked, p->results);
        const exact_t exact = exact_result(p, tag & TAG_OPERATION, v);
        const void *at = p->buffers[POSITIONS].host;
        const int64_t position =
            kind == TAG_INT_FROM_1 ? ((const int *)at)[v] - 1 : ((const int64_t *)at)[v];
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
    const bench_problem_t *p = problem;
    const buffer_t *out = &p->buffers[OUT], *positions = &p->buffers[POSITIONS];
    if (buffer_poison(machine, out) != 0 || buffer_poison(machine, positions) != 0 ||
        run_once(machine, contender, problem) != 0 || buffer_fetch(machine, out) != 0 ||
        buffer_fetch(machine, positions) != 0)
        return -1;
    contender->error = largest_error(p, contender->tag);
    return 0;
}

static int shape(bench_problem_t *p, const bench_size_t *size)
{
    const bench_options_t *o = p->options;
    const int by_axis = o->axis >= 0, is_index = reduce_is_index(o->op);
    const int row_major = o->layout == TILEMM_ROW_MAJOR;
    char *text = p->which.size;
    const size_t room = sizeof p->which.size;
    int too_large = 0;
    p->m = size->dim[0];
    p->n = size->dim[by_axis ? 1 : 0];
    p->arg = by_axis && (o->arg || is_index);
    p->results = o->segments >= 0 ? o->segments : 1;
    p->elements = p->n;
    if (by_axis) {
        p->results = o->axis == TILEMM_AXIS_ROWS ? p->n : p->m;
        too_large = multiply_sizes(p->m, p->n, &p->elements);
    }
    if (o->suite)
        append(text, room, "%s%s%s", o->arg ? "arg" : "", word_of(reduce_words, o->op),
               o->axis == TILEMM_AXIS_ROWS   ? " rows"
               : o->axis == TILEMM_AXIS_COLS ? " cols"
                                             : "");
    if (o->segments >= 0 && o->suite)
        append(text, room, ", %lld segments", (long long)o->segments);
    append(text, room, "%s%lld", o->suite ? " " : "", (long long)p->m);
    if (by_axis)
        append(text, room, "x%lld", (long long)p->n);
    if (o->suite)
        append_memory(o, text, room);
    p->which.work = (double)p->elements * sizeof(float) * (o->op == REDUCE_DOT ? 2 : 1) +
                    (is_index ? 0 : (double)p->results * sizeof(float)) +
                    (is_index || p->arg ? (double)p->results * sizeof(int64_t) : 0);
    p->which.extent = (double)p->elements;

    if (too_large || p->results > PTRDIFF_MAX / 64 ||
        (by_axis ? buffer_shape(&p->buffers[X], row_major ? p->m : p->n, row_major ? p->n : p->m,
                                o->ld[0], 0, 1, sizeof(float))
                 : buffer_shape(&p->buffers[X], p->n, 1, o->inc < 0 ? -o->inc : o->inc, 0, 1,
                                sizeof(float))) ||
        (o->op == REDUCE_DOT &&
         buffer_shape(&p->buffers[Y], p->n, 1, o->inc_y < 0 ? -o->inc_y : o->inc_y, 0, 1,
                      sizeof(float))))
        return -1;
    p->buffers[X].seed = 31;
    p->buffers[Y].seed = 32;
    p->buffers[OUT].bytes = (size_t)p->results * sizeof(float);
    p->buffers[POSITIONS].bytes = (size_t)p->results * sizeof(int64_t);
    p->buffers[SCRATCH].bytes = sizeof(float);
    p->buffers[ONES].bytes = by_axis ? (size_t)tilemm__max(p->m, p->n) * sizeof(float) : 0;
    p->buffers[OFFSETS].bytes = o->segments >= 0 ? (size_t)(o->segments + 1) * sizeof(int64_t) : 0;
    return 0;
}

/* Segments of equal length, the first ones longer by one element where they do not divide n; and
 * the memory that CUB says it needs. */
static int fill(const machine_t *machine, bench_problem_t *p)
{
    const int64_t segments = p->options->segments;
    int64_t *offsets = p->buffers[OFFSETS].host;
    for (int64_t i = 0; i <= segments; i++) /* no product that could overflow */
        offsets[i] = segments ? p->n / segments * i + tilemm__min(i, p->n % segments) : 0;
    if (segments >= 0 && buffer_send(machine, &p->buffers[OFFSETS]) != 0)
        return -1;
    float *ones = p->buffers[ONES].host;
    for (size_t i = 0; i < p->buffers[ONES].bytes / sizeof *ones; i++)
        ones[i] = 1;
    if (p->options->axis >= 0 && buffer_send(machine, &p->buffers[ONES]) != 0)
        return -1;
    if (!machine->cub || is_on_host(p->options->memory))
        return 0;
    if ((p->options->op == TILEMM_SUM || p->options->op == TILEMM_MAX ||
         p->options->op == TILEMM_MIN) &&
        run_cub(machine, p) != 0)
        return -1;
    p->buffers[WORKSPACE].bytes = p->workspace_bytes;
    return buffer_open(machine, &p->buffers[WORKSPACE]);
}

static void add_contenders(const machine_t *machine, bench_problem_t *p)
{
    const bench_options_t *o = p->options;
    const int of_vector = o->axis < 0;
    add_contender(p, "tilemm", run_ours)->tag =
        (reduce_is_index(o->op) && of_vector ? TAG_POSITIONS : TAG_FLOATS) | o->op;
    if (is_on_host(o->memory))
        return;
    add_peers(machine, p);
    if (machine->cublas && o->axis >= 0 && o->op == TILEMM_SUM &&
        fit_int((const int64_t[]){p->m, p->n, p->buffers[X].ld}, 3))
        add_contender(p, "cublasSgemv", run_sgemv)->tag = TAG_FLOATS + TILEMM_SUM;
    if (p->count > 1)
        p->contenders[1].goal = o->goal;
    if (o->suite && (!of_vector || o->segments >= 0)) {
        contender_t *all = add_contender(p, "tilemm, sum all", run_full_sum);
        all->tag = TAG_UNCHECKED;
        all->goal = o->bytes_goal;
    }
}

/* The elements go up, the results come down. */
static int find_bound(const machine_t *machine, const bench_problem_t *p, bench_bound_t *bound)
{
    (void)machine;
    bound->up = (double)p->elements * sizeof(float) * (p->options->op == REDUCE_DOT ? 2 : 1);
    bound->down = p->which.work - bound->up;
    return 0;
}

static void title(const machine_t *machine, const bench_options_t *options, char *text, size_t size)
{
    const char *names[] = {machine->cublas ? machine->cublas->name
                           : machine->blas ? machine->blas->name
                                           : NULL,
                           machine->cub ? machine->cub->name : NULL};
    const char *between = ", against ";
    append(text, size, "%s ", word_of(reduce_words, options->op));
    if (options->axis >= 0)
        append(text, size, "%s of matrices, %s-major%s",
               options->axis == TILEMM_AXIS_ROWS ? "down the rows" : "along the columns",
               word_of(layout_words, options->layout), options->arg ? ", with positions" : "");
    else if (options->segments >= 0)
        append(text, size, "of %lld segments", (long long)options->segments);
    else if (options->inc != 1)
        append(text, size, "of vectors, increment %lld", (long long)options->inc);
    else
        append(text, size, "of vectors");
    if (options->nan == TILEMM_NAN_IGNORE)
        append(text, size, ", NaN ignored");
    append_memory(options, text, size);
    for (int i = 0;
         options->axis < 0 && options->segments < 0 && !is_on_host(options->memory) && i < 2; i++)
        if (names[i]) {
            append(text, size, "%s%s", between, names[i]);
            between = " and ";
        }
}

const bench_work_t bench_reduce = {
    .which = {"reduce", "GB/s", "relative error", "elements", .size = ""},
    "reductions",
    WORKSPACE,
    title,
    shape,
    fill,
    add_contenders,
    check,
    NULL,
    find_bound};
