/* bench_transpose.c - `tilemm bench transpose`: next to OpenBLAS or cuBLAS, and to a plain copy.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "gpu.h"

enum { SRC, DST, BUFFERS }; /* in place: the matrix as it was, and where the work happens */
enum { TAG_TRANSPOSES, TAG_COPIES };

static int run_ours(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const bench_options_t *o = p->options;
    const tilemm_op_t op = o->no_trans ? TILEMM_NO_TRANS : TILEMM_TRANS;
    const buffer_t *from = &p->buffers[SRC], *to = &p->buffers[DST];
    const void *src = buffer_use(from);
    void *dst = buffer_use(to);
    const tilemm_t ctx = machine->ctx;
    const size_t bytes = from->elem_size;
    tilemm_status_t status;
    if (p->scaled && o->in_place)
        status = tilemm_simatcopy(ctx, TILEMM_ROW_MAJOR, op, p->m, p->n, o->alpha, dst, from->ld,
                                  to->ld);
    else if (p->scaled)
        status = tilemm_somatcopy(ctx, TILEMM_ROW_MAJOR, op, p->m, p->n, o->alpha, src, from->ld,
                                  dst, to->ld);
    else if (o->in_place)
        status = tilemm_transpose_inplace(ctx, p->m, p->n, bytes, dst, from->ld, to->ld);
    else if (o->batch != 1)
        status = tilemm_transpose_strided_batched(ctx, p->m, p->n, bytes, src, from->ld,
                                                  from->stride, dst, to->ld, to->stride, o->batch);
    else
        status = tilemm_transpose(ctx, p->m, p->n, bytes, src, from->ld, dst, to->ld);
    return check_ours(machine, status);
}

static int run_openblas(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const bench_options_t *o = p->options;
    const int op = o->no_trans ? TILEMM_NO_TRANS : TILEMM_TRANS, m = (int)p->m, n = (int)p->n;
    const buffer_t *from = &p->buffers[SRC], *to = &p->buffers[DST];
    for (int64_t i = 0; i < o->batch; i++)
        if (o->in_place)
            machine->blas->simatcopy(TILEMM_ROW_MAJOR, op, m, n, o->alpha, buffer_matrix(to, 0),
                                     (int)from->ld, (int)to->ld);
        else
            machine->blas->somatcopy(TILEMM_ROW_MAJOR, op, m, n, o->alpha, buffer_matrix(from, i),
                                     (int)from->ld, buffer_matrix(to, i), (int)to->ld);
    return 0;
}

/* Row-major cols x rows is column-major rows x cols. */
static int run_cublas(const machine_t *machine, void *problem)
{
    const bench_problem_t *p = problem;
    const buffer_t *from = &p->buffers[SRC], *to = &p->buffers[DST];
    const float *src = buffer_use(from);
    float *dst = buffer_use(to);
    int status = 0;
    for (int64_t i = 0; status == 0 && i < p->options->batch; i++)
        status = machine->cublas->transpose((int)p->m, (int)p->n, p->options->alpha,
                                            src + i * from->stride, (int)from->ld,
                                            dst + i * to->stride, (int)to->ld);
    return check_peer(machine->cublas->name, status);
}

static int copy(const machine_t *machine, const bench_problem_t *p, size_t bytes)
{
    const buffer_t *src = &p->buffers[SRC], *dst = &p->buffers[DST];
    if (dst->device)
        return check_peer("a copy on the device",
                          gpu_copy_async(dst->device, src->device, bytes, machine->stream));
    memcpy(dst->host, src->host, bytes);
    return 0;
}

static int run_copy(const machine_t *machine, void *problem)
{
    return copy(machine, problem, ((const bench_problem_t *)problem)->copy_bytes);
}

/* Before work in place: the matrix as it was, which has at most the bytes of dst. */
static int restore(const machine_t *machine, void *problem)
{
    return copy(machine, problem, ((const bench_problem_t *)problem)->buffers[SRC].bytes);
}

/* The elements of one matrix that are not where they belong, block by block for the caches' sake;
 * of a larger matrix about CHECKED elements, in blocks of whole rows, are checked. Inlined for each
 * element size, so that memcmp is one comparison. */
static inline __attribute__((always_inline)) int64_t
count_wrong(const bench_problem_t *p, const char *src, const char *dst, size_t elem_size)
{
    enum { BLOCK = 64, CHECKED = 1 << 26 };
    const int64_t step = BLOCK * (1 + p->m * p->n / CHECKED);
    const int64_t ld = p->buffers[SRC].ld, ld_dst = p->buffers[DST].ld;
    int64_t wrong = 0;
    for (int64_t i0 = 0; i0 < p->m; i0 += step)
        for (int64_t j0 = 0; j0 < p->n; j0 += BLOCK)
            for (int64_t i = i0; i < i0 + BLOCK && i < p->m; i++)
                for (int64_t j = j0; j < j0 + BLOCK && j < p->n; j++)
                    wrong += memcmp(src + (size_t)(i * ld + j) * elem_size,
                                    dst + (size_t)(j * ld_dst + i) * elem_size, elem_size) != 0;
    return wrong;
}

static int64_t count_wrong_scaled(const bench_problem_t *p, const float *src, const float *dst)
{
    const float alpha = p->options->alpha;
    const int64_t ld = p->buffers[SRC].ld, ld_dst = p->buffers[DST].ld;
    int64_t wrong = 0;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            const float want = alpha == 0 ? 0 : alpha * src[i * ld + j];
            const float got = dst[p->options->no_trans ? i * ld_dst + j : j * ld_dst + i];
            wrong += !(got == want || (isnan(got) && isnan(want)));
        }
    return wrong;
}

static int64_t count_wrong_matrix(const bench_problem_t *p, const void *src, const void *dst)
{
    if (p->scaled)
        return count_wrong_scaled(p, src, dst);
    switch (p->options->elem_size) {
    case 1: return count_wrong(p, src, dst, 1);
    case 2: return count_wrong(p, src, dst, 2);
    case 4: return count_wrong(p, src, dst, 4);
    case 8: return count_wrong(p, src, dst, 8);
    default: return count_wrong(p, src, dst, 16);
    }
}

static int check(const machine_t *machine, contender_t *contender, void *problem)
{
    const bench_problem_t *p = problem;
    const buffer_t *src = &p->buffers[SRC], *dst = &p->buffers[DST];
    int64_t wrong = 0;
    if (buffer_poison(machine, dst) != 0 ||
        (p->options->in_place && restore(machine, problem) != 0) ||
        run_once(machine, contender, problem) != 0 || buffer_fetch(machine, dst) != 0)
        return -1;
    if (contender->tag == TAG_COPIES)
        return 0;
    for (int64_t i = 0; i < p->options->batch; i++)
        wrong += count_wrong_matrix(p, buffer_matrix(src, i), buffer_matrix(dst, i));
    contender->error = (double)wrong;
    return 0;
}

static int shape(bench_problem_t *p, const bench_size_t *size)
{
    const bench_options_t *o = p->options;
    const size_t elem_size = (size_t)o->elem_size, room = sizeof p->which.size;
    const int64_t rows = size->dim[0], cols = size->dim[1];
    buffer_t *src = &p->buffers[SRC], *dst = &p->buffers[DST];
    append(p->which.size, room, "%lldx%lld", (long long)rows, (long long)cols);
    if (o->suite)
        append(p->which.size, room, " of %d bytes%s", o->elem_size, o->in_place ? " in place" : "");
    if (o->suite && o->batch != 1)
        append(p->which.size, room, " x %lld", (long long)o->batch);
    if (o->suite)
        append_memory(o, p->which.size, room);
    p->which.work = 2 * (double)rows * (double)cols * (double)o->batch * (double)elem_size;
    p->which.extent = sqrt((double)rows * (double)cols);
    p->m = rows;
    p->n = cols;
    p->scaled = o->scaled || o->no_trans;
    if (buffer_shape(src, rows, cols, o->ld[SRC], o->stride[SRC], o->batch, elem_size) != 0 ||
        buffer_shape(dst, o->no_trans ? rows : cols, o->no_trans ? cols : rows, o->ld[DST],
                     o->stride[DST], o->batch, elem_size) != 0)
        return -1;
    if (o->in_place && src->bytes > dst->bytes)
        dst->bytes = src->bytes;
    p->copy_bytes = (size_t)tilemm__clamp(p->which.work / 2, 0,
                                          tilemm__min((int64_t)src->bytes, (int64_t)dst->bytes));
    return 0;
}

/* Random elements, repeated with a prime period: large matrices are filled quickly, and an element
 * in a wrong place still differs from what belongs there. */
static int fill(const machine_t *machine, bench_problem_t *p)
{
    const buffer_t *src = &p->buffers[SRC];
    const int64_t count = (int64_t)src->bytes;
    const int64_t period = tilemm__min(count, 16777213 * (int64_t)src->elem_size);
    char *bytes = src->host;
    if (src->elem_size == sizeof(float)) /* the peers' elements are floats, and not every pattern */
        fill_normal(src->host, (size_t)period / sizeof(float), 21);
    else
        fill_bytes(bytes, (size_t)period, 21);
    for (int64_t done = period; done < count; done += period)
        memcpy(bytes + done, bytes, (size_t)tilemm__min(period, count - done));
    return buffer_send(machine, src);
}

static void add_contenders(const machine_t *machine, bench_problem_t *p)
{
    const bench_options_t *o = p->options;
    const int64_t ld = p->buffers[SRC].ld, ld_dst = p->buffers[DST].ld;
    const int64_t sizes[] = {p->m, p->n, ld, ld_dst};
    const int fits = fit_int(sizes, 4) && o->elem_size == sizeof(float);
    add_contender(p, "tilemm", run_ours);
    if (machine->cublas && !is_on_host(o->memory) && fits && !o->in_place && !o->no_trans &&
        !(o->suite && o->batch != 1))
        add_contender(p, "cublasSgeam", run_cublas)->goal = o->goal;
    /* OpenBLAS's simatcopy runs over the end of its buffer where it moves lines apart or together
     * without a transpose (seen in 0.3.21). */
    if (machine->blas && fits && o->batch > 0 &&
        (o->in_place ? machine->blas->simatcopy && !(o->no_trans && ld != ld_dst)
                     : machine->blas->somatcopy != NULL))
        add_contender(p, o->in_place ? "simatcopy" : "somatcopy", run_openblas)->goal = o->goal;
    /* Work in place goes on with what the last run left, which is as good a matrix; but values
     * that are scaled again and again would end as infinities or zeros. */
    for (int i = 0; i < p->count; i++)
        if (o->in_place && p->scaled && fabsf(o->alpha) != 1)
            p->contenders[i].restore = restore;
    if (o->vs != VS_NONE && p->copy_bytes && !is_on_host(o->memory)) {
        contender_t *copies =
            add_contender(p, machine->on_gpu ? "device copy" : "memcpy", run_copy);
        copies->tag = TAG_COPIES;
        copies->error = (double)NAN;
        copies->work = 2 * (double)p->copy_bytes;
        copies->goal = o->bytes_goal;
    }
}

/* All of it goes up, and comes down. */
static int find_bound(const machine_t *machine, const bench_problem_t *p, bench_bound_t *bound)
{
    (void)machine;
    bound->up = bound->down = p->which.work / 2;
    return 0;
}

/* On the CPU, out of place, the goal beside OpenBLAS holds only where OpenBLAS falls below a third
 * of a copy. */
static void adjust_goals(const machine_t *machine, bench_problem_t *p)
{
    const bench_options_t *o = p->options;
    for (int i = 1; i < p->count - 1; i++)
        if (!machine->on_gpu && !o->in_place && o->bytes_goal > 0 &&
            p->contenders[i].median < 3 * p->contenders[p->count - 1].median)
            p->contenders[i].goal = 0;
}

static void title(const machine_t *machine, const bench_options_t *options, char *text, size_t size)
{
    append(text, size, "transpose%s, %d-byte elements", options->in_place ? " in place" : "",
           options->elem_size);
    if (options->scaled || options->no_trans)
        append(text, size, "%s, alpha %g", options->no_trans ? ", not transposed" : "",
               (double)options->alpha);
    if (options->batch != 1)
        append(text, size, ", batch of %lld", (long long)options->batch);
    append_memory(options, text, size);
    if (options->elem_size == sizeof(float) && !is_on_host(options->memory))
        append_peer(machine, text, size);
}

const bench_work_t bench_transpose = {.which = {"transpose", "GB/s", "elements that are wrong",
                                                "square root of elements", .error_is_count = 1},
                                      "transpose",
                                      BUFFERS,
                                      title,
                                      shape,
                                      fill,
                                      add_contenders,
                                      check,
                                      adjust_goals,
                                      find_bound};
