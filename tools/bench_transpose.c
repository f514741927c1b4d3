/* bench_transpose.c - `tilemm bench transpose`: next to OpenBLAS or cuBLAS, and to a plain copy.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "gpu.h"

enum { SRC, DST, BUFFERS };

typedef struct {
    int64_t rows, cols, batch;
    size_t elem_size;
    int no_trans, scaled, in_place;
    float alpha;
    int64_t ld_src, ld_dst, stride_src, stride_dst, first_src, first_dst; /* elements */
    size_t copy_bytes;
    buffer_t buffers[BUFFERS]; /* in place: the matrix as it was, and where the work happens */
} problem_t;

enum { TAG_TRANSPOSES, TAG_COPIES };

/* ---- contenders ------------------------------------------------------------------------------ */

static const void *src_of(const machine_t *machine, const problem_t *p)
{
    return (const char *)buffer_use(machine, &p->buffers[SRC]) +
           (size_t)p->first_src * p->elem_size;
}

static void *dst_of(const machine_t *machine, const problem_t *p)
{
    return (char *)buffer_use(machine, &p->buffers[DST]) + (size_t)p->first_dst * p->elem_size;
}

static int run_ours(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const tilemm_op_t op = p->no_trans ? TILEMM_NO_TRANS : TILEMM_TRANS;
    const void *src = src_of(machine, p);
    void *dst = dst_of(machine, p);
    tilemm_status_t status;

    if (p->scaled && p->in_place)
        status = tilemm_simatcopy(machine->ctx, TILEMM_ROW_MAJOR, op, p->rows, p->cols, p->alpha,
                                  dst, p->ld_src, p->ld_dst);
    else if (p->scaled)
        status = tilemm_somatcopy(machine->ctx, TILEMM_ROW_MAJOR, op, p->rows, p->cols, p->alpha,
                                  src, p->ld_src, dst, p->ld_dst);
    else if (p->in_place)
        status = tilemm_transpose_inplace(machine->ctx, p->rows, p->cols, p->elem_size, dst,
                                          p->ld_src, p->ld_dst);
    else if (p->batch != 1)
        status = tilemm_transpose_strided_batched(machine->ctx, p->rows, p->cols, p->elem_size, src,
                                                  p->ld_src, p->stride_src, dst, p->ld_dst,
                                                  p->stride_dst, p->batch);
    else
        status = tilemm_transpose(machine->ctx, p->rows, p->cols, p->elem_size, src, p->ld_src, dst,
                                  p->ld_dst);
    return check_ours(machine, status);
}

static int run_openblas(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const int op = p->no_trans ? TILEMM_NO_TRANS : TILEMM_TRANS;
    const float *src = src_of(machine, p);
    float *dst = dst_of(machine, p);

    for (int64_t i = 0; i < p->batch; i++)
        if (p->in_place)
            machine->blas->simatcopy(TILEMM_ROW_MAJOR, op, (int)p->rows, (int)p->cols, p->alpha,
                                     dst, (int)p->ld_src, (int)p->ld_dst);
        else
            machine->blas->somatcopy(TILEMM_ROW_MAJOR, op, (int)p->rows, (int)p->cols, p->alpha,
                                     src + i * p->stride_src, (int)p->ld_src,
                                     dst + i * p->stride_dst, (int)p->ld_dst);
    return 0;
}

/* Row-major cols x rows is column-major rows x cols. */
static int run_cublas(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    const float *src = src_of(machine, p);
    float *dst = dst_of(machine, p);

    for (int64_t i = 0; i < p->batch; i++)
        if (check_peer(machine->cublas->name,
                       machine->cublas->transpose((int)p->rows, (int)p->cols, p->alpha,
                                                  src + i * p->stride_src, (int)p->ld_src,
                                                  dst + i * p->stride_dst, (int)p->ld_dst)) != 0)
            return -1;
    return 0;
}

static int copy(const machine_t *machine, const problem_t *p, size_t bytes)
{
    const buffer_t *src = &p->buffers[SRC], *dst = &p->buffers[DST];

    if (machine->on_gpu)
        return check_peer("a copy on the device",
                          gpu_copy_async(dst->device, src->device, bytes, machine->stream));
    memcpy(dst->host, src->host, bytes);
    return 0;
}

static int run_copy(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return copy(machine, p, p->copy_bytes);
}

/* Before work in place: the matrix as it was, which has at most the bytes of dst. */
static int restore(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;
    return copy(machine, p, p->buffers[SRC].bytes);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Of a larger matrix about this number of elements, in blocks of whole rows, is checked. */
static const int64_t checked_elements = INT64_C(1) << 26;

/* The elements of one matrix that are not where they belong, block by block for the caches' sake.
 * Inlined for each element size, so that memcmp is one comparison. */
static inline __attribute__((always_inline)) int64_t
count_wrong(const problem_t *p, const char *src, const char *dst, size_t elem_size)
{
    enum { BLOCK = 64 };
    const int64_t step = BLOCK * (1 + p->rows * p->cols / checked_elements);
    int64_t wrong = 0;

    for (int64_t i0 = 0; i0 < p->rows; i0 += step)
        for (int64_t j0 = 0; j0 < p->cols; j0 += BLOCK)
            for (int64_t i = i0; i < i0 + BLOCK && i < p->rows; i++)
                for (int64_t j = j0; j < j0 + BLOCK && j < p->cols; j++) {
                    const int64_t to = p->no_trans ? i * p->ld_dst + j : j * p->ld_dst + i;
                    wrong += memcmp(src + (size_t)(i * p->ld_src + j) * elem_size,
                                    dst + (size_t)to * elem_size, elem_size) != 0;
                }
    return wrong;
}

static int64_t count_wrong_scaled(const problem_t *p, const void *src_bytes, const void *dst_bytes)
{
    const float *src = src_bytes, *dst = dst_bytes;
    int64_t wrong = 0;

    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->cols; j++) {
            const float want = p->alpha == 0 ? 0 : p->alpha * src[i * p->ld_src + j];
            const float got = dst[p->no_trans ? i * p->ld_dst + j : j * p->ld_dst + i];
            wrong += !(got == want || (isnan(got) && isnan(want)));
        }
    return wrong;
}

static int64_t count_wrong_matrix(const problem_t *p, const char *src, const char *dst)
{
    if (p->scaled)
        return count_wrong_scaled(p, src, dst);
    switch (p->elem_size) {
    case 1: return count_wrong(p, src, dst, 1);
    case 2: return count_wrong(p, src, dst, 2);
    case 4: return count_wrong(p, src, dst, 4);
    case 8: return count_wrong(p, src, dst, 8);
    default: return count_wrong(p, src, dst, 16);
    }
}

static int check(const machine_t *machine, contender_t *contender, void *problem)
{
    const problem_t *p = problem;
    const char *src = (const char *)p->buffers[SRC].host + (size_t)p->first_src * p->elem_size;
    const char *dst = (const char *)p->buffers[DST].host + (size_t)p->first_dst * p->elem_size;
    int64_t wrong = 0;

    if (buffer_poison(machine, &p->buffers[DST]) != 0 ||
        (p->in_place && restore(machine, problem) != 0) ||
        run_once(machine, contender, problem) != 0 || buffer_fetch(machine, &p->buffers[DST]) != 0)
        return -1;
    if (contender->tag == TAG_COPIES)
        return 0;
    for (int64_t i = 0; i < p->batch; i++)
        wrong += count_wrong_matrix(p, src + i * p->stride_src * (int64_t)p->elem_size,
                                    dst + i * p->stride_dst * (int64_t)p->elem_size);
    contender->error = (double)wrong;
    return 0;
}

/* ---- a problem ------------------------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
    return (size_t)tilemm__min((int64_t)a, (int64_t)b);
}

/* Returns 0, or -1 where the matrices are too large. */
static int shape_problem(problem_t *p, const bench_options_t *o, const bench_size_t *size)
{
    int64_t src, dst, src_packed, dst_packed, out_rows, out_cols;

    p->rows = size->dim[0];
    p->cols = size->dims == 2 ? size->dim[1] : size->dim[0];
    p->batch = o->batch;
    p->elem_size = (size_t)o->elem_size;
    p->no_trans = o->no_trans;
    p->scaled = o->scaled || o->no_trans;
    p->in_place = o->in_place;
    p->alpha = o->alpha;
    out_rows = p->no_trans ? p->rows : p->cols;
    out_cols = p->no_trans ? p->cols : p->rows;
    p->ld_src = given(o->ld_src, tilemm__max(p->cols, 1));
    p->ld_dst = given(o->ld_dst, tilemm__max(out_cols, 1));
    if (multiply_sizes(p->rows, p->ld_src, &src_packed) != 0 ||
        multiply_sizes(out_rows, p->ld_dst, &dst_packed) != 0)
        return -1;
    p->stride_src = given(o->stride_src, src_packed);
    p->stride_dst = given(o->stride_dst, dst_packed);
    src = batch_span(p->rows, p->cols, p->ld_src, p->stride_src, p->batch, &p->first_src);
    dst = batch_span(out_rows, out_cols, p->ld_dst, p->stride_dst, p->batch, &p->first_dst);
    if (src < 0 || dst < 0)
        return -1;
    p->buffers[SRC].bytes = (size_t)src * p->elem_size;
    p->buffers[DST].bytes = (size_t)(p->in_place && src > dst ? src : dst) * p->elem_size;
    p->copy_bytes = least((size_t)p->rows * (size_t)p->cols * (size_t)p->batch * p->elem_size,
                          least(p->buffers[SRC].bytes, p->buffers[DST].bytes));
    return 0;
}

/* Random elements, repeated with a prime period: large matrices are filled quickly, and an element
 * in a wrong place still differs from what belongs there. */
static void fill_source(problem_t *p)
{
    const buffer_t *src = &p->buffers[SRC];
    const size_t period = least(src->bytes, (size_t)16777213 * p->elem_size);
    char *bytes = src->host;

    if (p->elem_size == sizeof(float)) /* the peers' elements are floats, and not every pattern */
        fill_normal(src->host, period / sizeof(float), 21);
    else
        fill_bytes(bytes, period, 21);
    for (size_t done = period; done < src->bytes; done += period)
        memcpy(bytes + done, bytes, least(period, src->bytes - done));
}

static int add_contenders(const machine_t *machine, const bench_options_t *options,
                          const problem_t *p, contender_t *contenders)
{
    const int64_t sizes[] = {p->rows, p->cols, p->ld_src, p->ld_dst};
    const int fits = fit_int(sizes, 4) && p->elem_size == sizeof(float);
    contender_t *copy;
    int count = 0;

    add_contender(contenders, &count, "tilemm", run_ours);
    if (machine->cublas && fits && !p->in_place && !p->no_trans &&
        !(options->suite && p->batch != 1))
        add_contender(contenders, &count, "cublasSgeam", run_cublas)->goal = options->goal;
    /* OpenBLAS's simatcopy runs over the end of its buffer where it moves lines apart or together
     * without a transpose (seen in 0.3.21). */
    if (machine->blas && fits && p->batch > 0 &&
        (p->in_place ? machine->blas->simatcopy && !(p->no_trans && p->ld_src != p->ld_dst)
                     : machine->blas->somatcopy != NULL))
        add_contender(contenders, &count, p->in_place ? "simatcopy" : "somatcopy", run_openblas)
            ->goal = options->goal;
    /* Work in place goes on with what the last run left, which is as good a matrix; but values
     * that are scaled again and again would end as infinities or zeros. */
    for (int i = 0; i < count; i++)
        if (p->in_place && p->scaled && fabsf(p->alpha) != 1)
            contenders[i].restore = restore;
    if (options->vs != VS_NONE && p->copy_bytes) {
        copy =
            add_contender(contenders, &count, machine->on_gpu ? "device copy" : "memcpy", run_copy);
        copy->tag = TAG_COPIES;
        copy->error = (double)NAN;
        copy->work = 2 * (double)p->copy_bytes;
        copy->goal = options->copy_goal;
    }
    return count;
}

static int run_problem(const machine_t *machine, const bench_options_t *options, problem_t *p,
                       const bench_case_t *which, report_t *report)
{
    contender_t contenders[MAX_CONTENDERS];
    int count;

    report_progress(report, "transpose %s: data", which->size);
    if (buffers_open(machine, p->buffers, BUFFERS) != 0)
        return EXIT_FAILED;
    fill_source(p);
    if (buffer_send(machine, &p->buffers[SRC]) != 0)
        return EXIT_FAILED;
    count = add_contenders(machine, options, p, contenders);
    if (bench_measure(machine, options, which, contenders, count, check, p, report) != EXIT_OK)
        return EXIT_FAILED;
    /* On the CPU, out of place, the goal beside OpenBLAS holds only where OpenBLAS falls below a
     * third of a copy. */
    for (int i = 1; i < count - 1; i++)
        if (!machine->on_gpu && !p->in_place && options->copy_goal > 0 &&
            contenders[i].median < 3 * contenders[count - 1].median)
            contenders[i].goal = 0;
    report_case(report, which, contenders, count);
    return EXIT_OK;
}

int bench_transpose(const machine_t *machine, const bench_options_t *options,
                    const bench_size_t *size, report_t *report)
{
    problem_t p = {0};
    bench_case_t which = {.verb = "transpose",
                          .unit = "GB/s",
                          .error_kind = "elements that are wrong",
                          .error_is_count = 1,
                          .extent_name = "square root of elements"};
    const int too_large = shape_problem(&p, options, size);
    int status;

    append(which.size, sizeof which.size, "%lldx%lld", (long long)p.rows, (long long)p.cols);
    if (options->suite)
        append(which.size, sizeof which.size, " of %d bytes%s", options->elem_size,
               p.in_place ? " in place" : "");
    if (options->suite && p.batch != 1)
        append(which.size, sizeof which.size, " x %lld", (long long)p.batch);
    which.work = 2 * (double)p.rows * (double)p.cols * (double)p.batch * (double)p.elem_size;
    which.extent = sqrt((double)p.rows * (double)p.cols);
    status = too_large ? bench_too_large("transpose", which.size)
                       : run_problem(machine, options, &p, &which, report);
    buffers_close(machine, p.buffers, BUFFERS);
    return status;
}

void bench_transpose_title(const machine_t *machine, const bench_options_t *options, char *title,
                           size_t size)
{
    char against[128] = "";

    if (options->elem_size == sizeof(float))
        bench_against(machine, against, sizeof against);
    snprintf(title, size, "transpose%s, %d-byte elements", options->in_place ? " in place" : "",
             options->elem_size);
    if (options->scaled || options->no_trans)
        append(title, size, "%s, alpha %g", options->no_trans ? ", not transposed" : "",
               (double)options->alpha);
    if (options->batch != 1)
        append(title, size, ", batch of %lld", (long long)options->batch);
    append(title, size, "%s", against);
}
