/* bench_transpose.c - `tilemm bench transpose`: next to OpenBLAS or cuBLAS, and to a plain copy.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "gpu.h"

/* One row of a suite: batch matrices of rows x cols, and the ratios that are aimed at: to a copy of
 * the same bytes and to the peer (0: none). */
typedef struct {
    int64_t rows, cols, elem_size, batch;
    int in_place;
    double of_copy, of_peer;
} row_t;

static const row_t h200[] = {
    {4096, 4096, 4, 1, 0, 0.95, 1.05},   {8192, 8192, 4, 1, 0, 1.0, 1.05},
    {16384, 16384, 4, 1, 0, 1.0, 1.05},  {32768, 32768, 4, 1, 0, 1.0, 1.05},
    {16385, 16383, 4, 1, 0, 0.95, 1.05}, {1048576, 128, 4, 1, 0, 0.95, 1.05},
    {128, 1048576, 4, 1, 0, 0.95, 1.05}, {65536, 31, 4, 1, 0, 0.8, 1.05},
    {16384, 16384, 1, 1, 0, 0.9, 0},     {16384, 16384, 2, 1, 0, 0.95, 0},
    {16384, 16384, 8, 1, 0, 1.0, 0},     {16384, 16384, 16, 1, 0, 1.0, 0},
    {64, 64, 4, 1, 0, 0, 1.0},           {128, 128, 4, 1, 0, 0, 1.0},
    {256, 256, 4, 1, 0, 0, 1.0},         {512, 512, 4, 1, 0, 0, 1.0},
    {1024, 1024, 4, 1, 0, 0, 1.0},       {32, 32, 4, 65536, 0, 0.9, 0},
    {3, 5, 4, 65536, 0, 0.7, 0},         {16384, 16384, 4, 1, 1, 0.95, 0},
    {16384, 12289, 4, 1, 1, 0.5, 0},     {12289, 16384, 4, 1, 1, 0.5, 0},
};

/* On the CPU, one thread. To another place OpenBLAS is to be beaten by as much only where it falls
 * below a third of a copy: see goal_of. */
static const row_t cpu[] = {
    {1024, 1024, 4, 1, 0, 0.8, 4.0}, {2048, 2048, 4, 1, 0, 0.8, 4.0},
    {4096, 4096, 4, 1, 0, 0.8, 4.0}, {8192, 8192, 4, 1, 0, 0.8, 4.0},
    {3000, 5008, 4, 1, 0, 0.8, 4.0}, {3001, 5003, 4, 1, 0, 0.8, 4.0},
    {4096, 4096, 1, 1, 0, 0, 0},     {4096, 4096, 2, 1, 0, 0, 0},
    {4096, 4096, 8, 1, 0, 0, 0},     {4096, 4096, 16, 1, 0, 0, 0},
    {64, 64, 4, 1, 0, 0, 1.0},       {256, 256, 4, 1, 0, 0, 1.0},
    {1024, 1024, 4, 1, 1, 0, 5.0},   {4096, 4096, 4, 1, 1, 0, 5.0},
    {8192, 8192, 4, 1, 1, 0, 5.0},   {4096, 3073, 4, 1, 1, 0, 0},
};

typedef struct {
    int64_t rows, cols, batch;
    size_t elem_size;
    int no_trans, scaled, in_place;
    float alpha;
    int64_t ld_src, ld_dst, stride_src, stride_dst, first_src, first_dst; /* elements */
    size_t copy_bytes;
    buffer_t src, dst; /* in place: the matrix as it was, and where the work happens */
} problem_t;

enum { TAG_TRANSPOSES, TAG_COPIES };

/* ---- contenders ------------------------------------------------------------------------------ */

static const void *src_of(const machine_t *machine, const problem_t *p)
{
    return (const char *)buffer_use(machine, &p->src) + (size_t)p->first_src * p->elem_size;
}

static void *dst_of(const machine_t *machine, const problem_t *p)
{
    return (char *)buffer_use(machine, &p->dst) + (size_t)p->first_dst * p->elem_size;
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

static int run_copy(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;

    if (machine->on_gpu)
        return check_peer("a copy on the device", gpu_copy_async(p->dst.device, p->src.device,
                                                                 p->copy_bytes, machine->stream));
    memcpy(p->dst.host, p->src.host, p->copy_bytes);
    return 0;
}

/* Before work in place: the matrix as it was. Its bytes are at most those of dst. */
static int restore(const machine_t *machine, void *problem)
{
    const problem_t *p = problem;

    if (machine->on_gpu)
        return check_peer("a copy on the device", gpu_copy_async(p->dst.device, p->src.device,
                                                                 p->src.bytes, machine->stream));
    memcpy(p->dst.host, p->src.host, p->src.bytes);
    return 0;
}

static int fits_int(const problem_t *p)
{
    const int64_t all[] = {p->rows, p->cols, p->ld_src, p->ld_dst};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i] > INT_MAX || all[i] < 1)
            return 0;
    return p->elem_size == sizeof(float);
}

/* ---- errors -----------------------------------------------------------------------------------
 */

/* Of a large matrix only so many elements, all of some rows, are looked at. */
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

static int check(const machine_t *machine, contender_t *contender, problem_t *p)
{
    const char *src = (const char *)p->src.host + (size_t)p->first_src * p->elem_size;
    const char *dst = (const char *)p->dst.host + (size_t)p->first_dst * p->elem_size;
    int64_t wrong = 0;

    if (buffer_poison(machine, &p->dst) != 0 || (p->in_place && restore(machine, p) != 0) ||
        run_once(machine, contender, p) != 0 || buffer_fetch(machine, &p->dst) != 0)
        return -1;
    if (contender->tag == TAG_COPIES)
        return 0;
    for (int64_t i = 0; i < p->batch; i++)
        wrong += count_wrong_matrix(p, src + i * p->stride_src * (int64_t)p->elem_size,
                                    dst + i * p->stride_dst * (int64_t)p->elem_size);
    contender->error = (double)wrong;
    return 0;
}

/* ---- a problem ----------------------------------------------------------------------------------
 */

static int64_t given(int64_t value, int64_t otherwise)
{
    return value == NOT_GIVEN ? otherwise : value;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

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
    p->ld_src = given(o->ld_src, p->cols > 1 ? p->cols : 1);
    p->ld_dst = given(o->ld_dst, out_cols > 1 ? out_cols : 1);
    if (multiply_sizes(p->rows, p->ld_src, &src_packed) != 0 ||
        multiply_sizes(out_rows, p->ld_dst, &dst_packed) != 0)
        src_packed = dst_packed = -1;
    p->stride_src = given(o->stride_src, src_packed);
    p->stride_dst = given(o->stride_dst, dst_packed);
    src = batch_span(p->rows, p->cols, p->ld_src, p->stride_src, p->batch, &p->first_src);
    dst = batch_span(out_rows, out_cols, p->ld_dst, p->stride_dst, p->batch, &p->first_dst);
    if (src_packed < 0 || src < 0 || dst < 0)
        return command_error("transpose: %lld x %lld is too large", (long long)p->rows,
                             (long long)p->cols);
    p->src.bytes = (size_t)src * p->elem_size;
    p->dst.bytes = (size_t)(p->in_place && src > dst ? src : dst) * p->elem_size;
    p->copy_bytes = least((size_t)p->rows * (size_t)p->cols * (size_t)p->batch * p->elem_size,
                          least(p->src.bytes, p->dst.bytes));
    return EXIT_OK;
}

/* Random elements: a period that is prime, again and again, so that large matrices do not take
 * longer to fill than to transpose, and still no element that is out of place goes unseen. */
static void fill_source(problem_t *p)
{
    const size_t period = least(p->src.bytes, (size_t)16777213 * p->elem_size);
    char *bytes = p->src.host;

    if (p->elem_size == sizeof(float)) /* the peers' elements are floats, and not every pattern */
        fill_normal(p->src.host, period / sizeof(float), 21);
    else
        fill_bytes(bytes, period, 21);
    for (size_t done = period; done < p->src.bytes; done += period)
        memcpy(bytes + done, bytes, least(period, p->src.bytes - done));
}

/* What is aimed at beside one contender; the last one is the copy. */
static double goal_of(const machine_t *machine, const row_t *row, const contender_t *contender,
                      const contender_t *copy)
{
    if (contender->tag == TAG_COPIES)
        return row->of_copy;
    if (!machine->on_gpu && !row->in_place && row->of_copy > 0 &&
        contender->median < 3 * copy->median)
        return 0;
    return row->of_peer;
}

/* A row gives a label and goals; NULL where there is no suite. */
static int measure_problem(const machine_t *machine, const bench_options_t *options,
                           const bench_size_t *size, const row_t *row, problem_t *p,
                           report_t *report)
{
    const buffer_t *buffers[] = {&p->src, &p->dst};
    contender_t contenders[MAX_CONTENDERS] = {{.name = "tilemm", .run = run_ours}};
    bench_case_t which = {.verb = "transpose",
                          .unit = "GB/s",
                          .error_kind = "elements that are wrong",
                          .error_is_count = 1,
                          .extent_name = "square root of elements"};
    int count = 1, failed = 0;

    if (shape_problem(p, options, size) != EXIT_OK || machine_has_room(machine, buffers, 2) != 0)
        return EXIT_FAILED;
    snprintf(which.size, sizeof which.size, "%lldx%lld", (long long)p->rows, (long long)p->cols);
    if (row)
        snprintf(which.size + strlen(which.size), sizeof which.size - strlen(which.size),
                 " of %lld bytes%s", (long long)row->elem_size, row->in_place ? " in place" : "");
    if (row && row->batch != 1)
        snprintf(which.size + strlen(which.size), sizeof which.size - strlen(which.size), " x %lld",
                 (long long)row->batch);
    which.work = 2 * (double)p->rows * (double)p->cols * (double)p->batch * (double)p->elem_size;
    which.extent = sqrt((double)p->rows * (double)p->cols);
    report_progress(report, "transpose %s: data", which.size);
    if (buffer_open(machine, &p->src) || buffer_open(machine, &p->dst))
        return EXIT_FAILED;
    fill_source(p);
    if (buffer_send(machine, &p->src) != 0)
        return EXIT_FAILED;

    if (machine->cublas && fits_int(p) && !p->in_place && !p->no_trans && !(row && p->batch != 1)) {
        contenders[count].name = "cublasSgeam";
        contenders[count++].run = run_cublas;
    }
    /* OpenBLAS's simatcopy runs over the end of its buffer where it moves lines apart or together
     * without a transpose (seen in 0.3.21). */
    if (machine->blas && fits_int(p) && p->batch > 0 &&
        (p->in_place ? machine->blas->simatcopy && !(p->no_trans && p->ld_src != p->ld_dst)
                     : machine->blas->somatcopy != NULL)) {
        contenders[count].name = p->in_place ? "simatcopy" : "somatcopy";
        contenders[count++].run = run_openblas;
    }
    /* Work in place goes on with what the last run left, which is a matrix as good as any; but
     * values that are scaled again and again would end as infinities or zeros. */
    for (int i = 0; i < count; i++)
        if (p->in_place && p->scaled && fabsf(p->alpha) != 1)
            contenders[i].restore = restore;
    if (options->vs != VS_NONE && p->copy_bytes) {
        contenders[count].name = machine->on_gpu ? "device copy" : "memcpy";
        contenders[count].tag = TAG_COPIES;
        contenders[count].error = (double)NAN;
        contenders[count].work = 2 * (double)p->copy_bytes;
        contenders[count++].run = run_copy;
    }
    report_progress(report, "transpose %s: errors", which.size);
    for (int i = 0; !failed && i < count; i++)
        failed = check(machine, &contenders[i], p);
    report_progress(report, "transpose %s: times", which.size);
    if (failed || measure(machine, contenders, count, p, options->reps) != 0)
        return EXIT_FAILED;
    for (int i = 1; row && i < count; i++) {
        const double goal = goal_of(machine, row, &contenders[i], &contenders[count - 1]);

        if (goal > 0)
            snprintf(contenders[i].kernel, sizeof contenders[i].kernel, "goal %.2f: %s", goal,
                     contenders[i].median >= goal * contenders[0].median ? "met" : "missed");
    }
    report_case(report, &which, contenders, count);
    return EXIT_OK;
}

int bench_transpose(const machine_t *machine, const bench_options_t *options, report_t *report)
{
    const char *peer = machine->blas     ? machine->blas->name
                       : machine->cublas ? machine->cublas->name
                                         : NULL;
    char extra[96] = "";
    int status = EXIT_OK;

    if (options->scaled || options->no_trans)
        snprintf(extra, sizeof extra, "%s, alpha %g", options->no_trans ? ", not transposed" : "",
                 (double)options->alpha);
    if (options->batch != 1)
        snprintf(extra + strlen(extra), sizeof extra - strlen(extra), ", batch of %lld",
                 (long long)options->batch);
    if (options->elem_size != sizeof(float))
        peer = NULL;
    report_table(report, machine, "transpose%s, %lld-byte elements%s%s%s",
                 options->in_place ? " in place" : "", (long long)options->elem_size, extra,
                 peer ? ", against " : "", peer ? peer : "");
    for (int i = 0; status == EXIT_OK && i < options->size_count; i++) {
        problem_t problem = {0};
        status = measure_problem(machine, options, &options->sizes[i], NULL, &problem, report);
        buffer_close(&problem.src);
        buffer_close(&problem.dst);
    }
    return status;
}

static const row_t *find_suite(const char *name, size_t *count)
{
    const int is_cpu = strcmp(name, "cpu") == 0;

    *count = is_cpu ? sizeof cpu / sizeof cpu[0] : sizeof h200 / sizeof h200[0];
    return is_cpu ? cpu : strcmp(name, "h200") == 0 ? h200 : NULL;
}

int bench_transpose_has_suite(const char *name)
{
    size_t count;

    return find_suite(name, &count) != NULL;
}

int bench_transpose_suite(const machine_t *machine, const bench_options_t *options,
                          report_t *report)
{
    const char *peer = machine->blas     ? machine->blas->name
                       : machine->cublas ? machine->cublas->name
                                         : NULL;
    int status = EXIT_OK;
    size_t count;
    const row_t *rows = find_suite(options->suite, &count);

    report_table(report, machine, "transpose, suite %s%s%s", options->suite,
                 peer ? ", against " : "", peer ? peer : "");
    for (size_t i = 0; status == EXIT_OK && i < count; i++) {
        const row_t *row = &rows[i];
        const bench_size_t size = {2, {row->rows, row->cols, 0}};
        bench_options_t one = *options;
        problem_t problem = {0};

        one.elem_size = row->elem_size;
        one.batch = row->batch;
        one.in_place = row->in_place;
        status = measure_problem(machine, &one, &size, row, &problem, report);
        buffer_close(&problem.src);
        buffer_close(&problem.dst);
    }
    return status;
}
