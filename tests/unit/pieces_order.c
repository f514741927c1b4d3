/* pieces_order.c - transposes and reductions in pieces on a CUDA runtime of the test's own
 * (cuda_model.h): results bit by bit, no memory past the limit, nothing left behind.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_model.h"
#include "kernels/reduce/ops.h"
#include "lib/reduce/plan_pieces_cuda.h"
#include "lib/transpose/plan_pieces_cuda.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

/* Apart from the order of streams, which depends on time: the problems are the same in each run. */
static rng_t problems = {20261124};

static int64_t any(int64_t low, int64_t high)
{
    return rng_range(&problems, low, high);
}

/* ---- transposes ----------------------------------------------------------------------------- */

static void move_elements(const void *args)
{
    const tilemm__transpose_args_t *p = args;
    const size_t size = p->elem_size;
    for (int64_t b = 0; b < p->batch_count; b++)
        for (int64_t i = 0; i < p->rows; i++)
            for (int64_t j = 0; j < p->cols; j++) {
                char *to =
                    (char *)p->dst + (size_t)(b * p->stride_dst + (p->trans ? j : i) * p->ld_dst +
                                              (p->trans ? i : j)) *
                                         size;
                const char *from =
                    (const char *)p->src + (size_t)(b * p->stride_src + i * p->ld_src + j) * size;
                if (p->scaled) {
                    float x = 0;
                    if (p->alpha != 0)
                        memcpy(&x, from, sizeof(x));
                    x *= p->alpha;
                    memcpy(to, &x, sizeof(x));
                } else {
                    memcpy(to, from, size);
                }
            }
}

tilemm_status_t tilemm__cuda_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    model_call(move_elements, args, sizeof(*args));
    tilemm__set_kernel(ctx, "model");
    return TILEMM_SUCCESS;
}

static char *bytes_of(size_t bytes, int floats)
{
    char *x = model_need(malloc(bytes + 1));
    for (size_t i = 0; i < bytes; i++)
        x[i] = (char)any(-128, 127);
    for (size_t i = 0; floats && i + 4 <= bytes; i += 4) {
        const float value = (float)(rng_unit(&problems) - 0.5);
        memcpy(x + i, &value, sizeof(value));
    }
    return x;
}

static void set_operand(int i, const void *at, size_t bytes, int on_device, int pinned)
{
    model.on_device[i] = (model_operand_t){on_device ? at : NULL, bytes};
    model.pinned[i] = pinned ? at : NULL;
}

/* What moved is what the plan says: with a matrix that a batch shares, each piece once. */
static void check_moved(tilemm_t ctx, const tilemm__transpose_args_t *p, int places, int number)
{
    const tilemm__transpose_args_t normal = tilemm__transpose_normal(p);
    const tilemm__transpose_places_t at = {ctx->device_memory, places & 1, places >> 1};
    tilemm__transpose_pieces_t plan;
    CHECK(tilemm__plan_transpose_pieces(&normal, &at, &plan) == TILEMM_SUCCESS &&
              model.moved == plan.up + plan.down,
          "%d: %zu bytes moved, planned %zu + %zu", number, model.moved, plan.up, plan.down);
}

/* Returns 1 if it went through in pieces. */
static int transpose(int number)
{
    struct tilemm_context ctx = {.state = &model.state};
    tilemm__transpose_args_t p = {.rows = any(1, number % 3 ? 600 : 9),
                                  .cols = any(1, number % 4 ? 600 : 9),
                                  .elem_size = (size_t)1 << any(0, 4),
                                  .trans = number % 5 != 0,
                                  .scaled = number % 4 == 1,
                                  .alpha = number % 8 == 1 ? 0 : 1.5f,
                                  .batch_count = number % 3 ? 1 : any(1, 400)};
    const int in_place = number % 6 == 5;
    if (p.scaled)
        p.elem_size = sizeof(float);
    if (in_place) {
        p.batch_count = 1;
        p.cols = p.trans ? p.rows : p.cols;
    }
    const int64_t rows = p.trans ? p.cols : p.rows, cols = p.trans ? p.rows : p.cols;
    p.ld_src = p.cols + any(0, 1) * any(0, 5);
    p.ld_dst = in_place ? p.ld_src : cols + any(0, 1) * any(0, 5);
    p.stride_src = any(0, 6) ? p.rows * p.ld_src + any(0, 1) * any(0, 9) : 0;
    p.stride_dst = rows * p.ld_dst + any(0, 1) * any(0, 9);
    const size_t src_bytes =
        (size_t)((p.batch_count - 1) * p.stride_src + p.rows * p.ld_src) * p.elem_size;
    const size_t dst_bytes =
        (size_t)((p.batch_count - 1) * p.stride_dst + rows * p.ld_dst) * p.elem_size;
    char *src = bytes_of(src_bytes, p.scaled), *dst = in_place ? src : bytes_of(dst_bytes, 0);
    char *want = model_need(malloc(dst_bytes + 1)), *first = model_need(malloc(dst_bytes + 1));
    memcpy(want, dst, dst_bytes);
    memcpy(first, dst, dst_bytes);
    char *before = model_need(malloc(src_bytes + 1));
    memcpy(before, src, src_bytes);
    p.src = before;
    p.dst = want;
    move_elements(&p);
    p.src = src;
    p.dst = dst;
    const int places = in_place ? 3 : (int)any(1, 3);
    set_operand(0, src, src_bytes, !(places & 1), (int)any(0, 1));
    set_operand(1, dst, dst_bytes, !(places & 2), (int)any(0, 1));
    const size_t all = (size_t)(p.rows * p.cols * p.batch_count) * p.elem_size;
    const size_t host = all * (size_t)((places & 1) + (places >> 1));
    ctx.device_memory = (size_t)((double)host * (0.1 + 0.89 * rng_unit(&problems))) + 1;
    model.device_bytes = number % 7 ? (size_t)1 << 40 : ctx.device_memory / 2;
    model.most_allocated = model.moved = 0;
    tilemm_status_t status = TILEMM_INTERNAL_ERROR;
    const int ran = tilemm__cuda_transpose_pieces(&ctx, &p, &status);
    if (!ran || status != TILEMM_SUCCESS) {
        CHECK(!ran ? host <= ctx.device_memory || (p.scaled && p.alpha == 0)
                   : ctx.device_memory < 400000 && (in_place ? status == TILEMM__LEFT_TO_CPU
                                                             : status == TILEMM_OUT_OF_MEMORY),
              "%d: ran %d, status %d, %zu bytes", number, ran, (int)status, ctx.device_memory);
        CHECK(memcmp(dst, first, dst_bytes) == 0, "%d: dst was written", number);
    } else {
        if (number % 7)
            check_moved(&ctx, &p, places, number);
        CHECK(model.most_allocated <= ctx.device_memory, "%d: %zu bytes of %zu", number,
              model.most_allocated, ctx.device_memory);
        CHECK(memcmp(dst, want, dst_bytes) == 0,
              "%d: %lldx%lld of %zu, ld %lld %lld, trans %d, in place %d, batch %lld strides %lld "
              "%lld, places %d, %zu bytes of %zu",
              number, (long long)p.rows, (long long)p.cols, p.elem_size, (long long)p.ld_src,
              (long long)p.ld_dst, p.trans, in_place, (long long)p.batch_count,
              (long long)p.stride_src, (long long)p.stride_dst, places, ctx.device_memory, host);
        if (number % 3 == 0) { /* a copy that fails is a status */
            model.fail_copies_after = (int)any(0, 3);
            CHECK(tilemm__cuda_transpose_pieces(&ctx, &p, &status) &&
                      (status == TILEMM_DEVICE_FAILURE || model.fail_copies_after >= 0),
                  "%d: status %d", number, (int)status);
            model.fail_copies_after = -1;
        }
    }
    model_check_left("transpose", number);
    free(before);
    free(want);
    free(first);
    free(src);
    if (!in_place)
        free(dst);
    return ran && status == TILEMM_SUCCESS;
}

/* ---- reductions: the canonical order, plainly ----------------------------------------------- */

typedef struct {
    tilemm__sum_t sum;
    int64_t count, index;
    int32_t key;
} result_t;

/* Of elements begin ... end - 1 of a vector; indices count from element 0 of it. */
static result_t reduce(const tilemm__reduce_args_t *p, const float *x, const float *y,
                       int64_t begin, int64_t end)
{
    const tilemm__order_t order = tilemm__order_of(p->op, p->nan_ignore);
    result_t r = {.key = TILEMM__KEY_NONE};
    int64_t numbers = 0;
    tilemm__sum_t *sum = model_need(calloc((size_t)((end - begin) / 1024 + 1), sizeof(*sum)));
    for (int64_t tile = begin; tile < end; tile += 1024) {
        tilemm__sum_t lane[32] = {{0, 0}};
        for (int64_t i = tile; i < tile + 1024 && i < end; i++) {
            const float v = x[i * p->istride], w = y ? y[i * p->y_istride] : 0;
            const double term =
                tilemm__op_is_order(p->op) ? 0 : tilemm__sum_term(p->op, p->nan_ignore, v, w);
            const int32_t key = tilemm__key_of(order, tilemm__float_bits(v));
            lane[(i - tile) % 32] = tilemm__sum_add(lane[(i - tile) % 32], term);
            r.count += v == v;
            if (key > r.key) {
                r.key = key;
                r.index = i;
            }
        }
        sum[numbers++] = tilemm__fold_lanes(lane, 32);
    }
    for (; numbers > 1; numbers = (numbers + 31) / 32)
        for (int64_t i = 0; i < numbers; i += 32)
            sum[i / 32] = tilemm__fold_lanes(sum + i, (int)(numbers - i < 32 ? numbers - i : 32));
    r.sum = sum[0];
    free(sum);
    return r;
}

static void reduce_vectors(const void *args)
{
    const tilemm__reduce_args_t *p = args;
    const int counted = tilemm__sum_is_counted(p->op, p->nan_ignore);
    for (int64_t v = 0; v < p->count; v++) {
        const result_t r =
            reduce(p, p->x + v * p->vstride, p->op == TILEMM__DOT ? p->y : NULL, 0, p->n);
        if (p->out)
            p->out[v * p->out_stride] =
                tilemm__op_is_order(p->op)
                    ? tilemm__key_result(p->op, r.key)
                    : tilemm__sum_result(p->op, r.sum, counted ? r.count : p->n);
        if (p->index_out)
            p->index_out[v * p->out_stride] = tilemm__index_result(r.key, r.index);
    }
}

tilemm_status_t tilemm__cuda_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    (void)ctx;
    model_call(reduce_vectors, args, sizeof(*args));
    return TILEMM_SUCCESS;
}

typedef struct {
    tilemm__reduce_args_t args;
    int64_t unit, first_index;
    void *partials;
} part_t;

static void reduce_part(const void *args)
{
    const part_t *part = args;
    const tilemm__reduce_args_t *p = &part->args;
    const int64_t items = (p->n + part->unit - 1) / part->unit;
    const tilemm__partials_t to = tilemm__part_of(p, items * p->count, part->partials);
    for (int64_t i = 0; i < items; i++)
        for (int64_t v = 0; v < p->count; v++) {
            const int64_t end = (i + 1) * part->unit < p->n ? (i + 1) * part->unit : p->n;
            const result_t r = reduce(p, p->x + v * p->vstride, p->op == TILEMM__DOT ? p->y : NULL,
                                      i * part->unit, end);
            if (to.sums)
                to.sums[i * p->count + v] = r.sum;
            if (to.counts)
                to.counts[i * p->count + v] = r.count;
            if (to.keys)
                to.keys[i * p->count + v] = r.key;
            if (to.indices)
                to.indices[i * p->count + v] = part->first_index + r.index;
        }
}

tilemm_status_t tilemm__cuda_reduce_part(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                         int64_t unit, int64_t first_index, void *partials)
{
    const part_t part = {*args, unit, first_index, partials};
    (void)ctx;
    CHECK(first_index % unit == 0, "a part begins at %lld, unit %lld", (long long)first_index,
          (long long)unit);
    model_call(reduce_part, &part, sizeof(part));
    return TILEMM_SUCCESS;
}

static void reduce_segments(const void *args)
{
    const tilemm__segments_args_t *p = args;
    for (int64_t s = 0; s < p->segments; s++) {
        const tilemm__reduce_args_t vector = {.op = p->op,
                                              .nan_ignore = p->nan_ignore,
                                              .count = 1,
                                              .n = p->offsets[s + 1] - p->offsets[s],
                                              .x = p->x + p->offsets[s],
                                              .istride = 1,
                                              .out = p->out + s,
                                              .out_stride = 1};
        reduce_vectors(&vector);
    }
}

tilemm_status_t tilemm__cuda_reduce_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    (void)ctx;
    model_call(reduce_segments, args, sizeof(*args));
    return TILEMM_SUCCESS;
}

/* ---- reductions in pieces ------------------------------------------------------------------- */

/* Numbers that cancel, and now and then NaN. */
static float *numbers(int64_t n)
{
    float *x = model_need(malloc((size_t)n * sizeof(*x) + 1));
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)ldexp(rng_unit(&problems) - 0.5, (int)any(-20, 20));
    for (int64_t i = any(0, 5000); i < n; i += any(1, 5000))
        x[i] = NAN;
    return x;
}

static void limit_memory(tilemm_t ctx, int number, size_t bytes)
{
    ctx->device_memory = (size_t)((double)bytes * (0.1 + 0.89 * rng_unit(&problems)));
    model.device_bytes = number % 7 ? (size_t)1 << 40 : ctx->device_memory / 2;
    model.fail_pinned = number % 5 == 4 && !model.state.chunks[0] && !model.state.chunks[1];
    model.most_allocated = 0;
}

/* The results, bit by bit, and that nothing else was written. */
static void check_results(tilemm_t ctx, const char *what, int number, tilemm_status_t status,
                          const void *got, const void *want, size_t bytes)
{
    if (status == TILEMM_SUCCESS) {
        CHECK(memcmp(got, want, bytes) == 0, "%s %d: limit %zu", what, number, ctx->device_memory);
        CHECK(model.most_allocated <= ctx->device_memory, "%s %d: %zu of %zu bytes", what, number,
              model.most_allocated, ctx->device_memory);
    } else {
        CHECK(status == TILEMM_OUT_OF_MEMORY && ctx->device_memory < 900000, "%s %d: %s (%zu)",
              what, number, ctx->last_error, ctx->device_memory);
    }
}

static int reduction(int number)
{
    struct tilemm_context ctx = {.state = &model.state};
    const int kind = number % 4; /* a vector, lines, columns, a dot product */
    tilemm__reduce_args_t p = {.op = kind == 3 ? TILEMM__DOT : (int)any(TILEMM__SUM, TILEMM__AMIN),
                               .nan_ignore = (int)any(0, 1),
                               .count = 1,
                               .istride = 1,
                               .y_istride = 1,
                               .out_stride = any(0, 1)   ? 1
                                             : any(0, 1) ? -1
                                                         : 3};
    if (kind == 0 || kind == 3) {
        p.n = any(number % 8 < 4 ? 100000 : 1, 300000);
        p.istride = any(0, 2) ? 1 : any(0, 1) ? 2 : -3;
        p.y_istride = kind == 3 && any(0, 2) == 0 ? -2 : 1;
    } else if (kind == 1) {
        p.count = number % 8 == 1 ? any(1, 5) : any(1, 3000);
        p.n = number % 8 == 1 ? any(30000, 100000) : any(1, 200);
        p.vstride = p.n + any(0, 3);
    } else {
        p.count = any(1, number % 8 == 2 ? 60 : 3000);
        p.n = number % 8 == 2 ? any(1, 9000) : any(1, 150);
        p.vstride = 1;
        p.istride = p.count + any(0, 3);
    }
    const int64_t extent = (p.n - 1) * llabs(p.istride) + (p.count - 1) * llabs(p.vstride) + 1;
    const int64_t y_extent = (p.n - 1) * llabs(p.y_istride) + 1;
    const int64_t out_extent = (p.count - 1) * llabs(p.out_stride) + 1;
    float *x = numbers(extent), *y = numbers(y_extent);
    const size_t out_bytes = (size_t)out_extent * sizeof(float);
    float *out = model_need(calloc(1, out_bytes)), *want = model_need(calloc(1, out_bytes));
    int64_t *index = model_need(calloc(2, out_bytes)),
            *want_index = model_need(calloc(2, out_bytes));
    const int arg = tilemm__op_is_order(p.op) ? (int)any(0, 2) : 0; /* 1: both; 2: indices only */
    const int64_t at = p.out_stride < 0 ? out_extent - 1 : 0;
    p.x = x + (p.istride < 0 ? extent - 1 : 0);
    p.y = kind == 3 ? y + (p.y_istride < 0 ? y_extent - 1 : 0) : NULL;
    p.out = arg == 2 ? NULL : want + at;
    p.index_out = arg ? want_index + at : NULL;
    reduce_vectors(&p);
    p.out = arg == 2 ? NULL : out + at;
    p.index_out = arg ? index + at : NULL;
    const int places = kind == 3 ? (int)any(1, 7) : (int)(1 + 4 * any(0, 1)); /* x, y, out */
    set_operand(0, x, (size_t)extent * 4, !(places & 1), (int)any(0, 1));
    set_operand(1, y, (size_t)y_extent * 4, !(places & 2), (int)any(0, 1));
    set_operand(2, out, out_bytes, !(places & 4), 0);
    set_operand(3, index, 2 * out_bytes, !(places & 4), 0);
    for (int i = 0; i < 2; i++) /* the address that is asked for is element 0's */
        model.pinned[i] = model.pinned[i] ? (i ? p.y : p.x) : NULL;
    const size_t bytes =
        (size_t)(p.count * p.n) * 4 * (size_t)((places & 1) + (places >> 1 & (kind == 3)));
    limit_memory(&ctx, number, bytes);
    tilemm_status_t status = TILEMM_INTERNAL_ERROR;
    const int ran = tilemm__cuda_reduce_pieces(&ctx, &p, &status);
    CHECK(ran || bytes <= (kind == 3 ? 4u : 0u) * (size_t)p.n + ctx.device_memory, "%d did not run",
          number);
    if (ran) {
        check_results(&ctx, "reduction", number, status, out, want, out_bytes);
        if (status == TILEMM_SUCCESS)
            CHECK(memcmp(index, want_index, 2 * out_bytes) == 0, "%d: indices", number);
    }
    if (ran && status == TILEMM_SUCCESS && number % 3 == 0) {
        model.fail_copies_after = (int)any(0, 3);
        CHECK(tilemm__cuda_reduce_pieces(&ctx, &p, &status) &&
                  (status == TILEMM_DEVICE_FAILURE || model.fail_copies_after >= 0),
              "%d: status %d", number, (int)status);
        model.fail_copies_after = -1;
    }
    model_check_left("reduction", number);
    free(x);
    free(y);
    free(out);
    free(want);
    free(index);
    free(want_index);
    return ran && status == TILEMM_SUCCESS;
}

static int segments(int number)
{
    enum { MOST = 2000 };
    struct tilemm_context ctx = {.state = &model.state};
    tilemm__segments_args_t p = {.op = (int)any(TILEMM__SUM, TILEMM__AMIN),
                                 .nan_ignore = (int)any(0, 1),
                                 .segments = any(1, MOST)};
    int64_t *offsets = model_need(malloc((MOST + 1) * sizeof(*offsets)));
    offsets[0] = any(0, 100);
    for (int64_t s = 0; s < p.segments; s++)
        offsets[s + 1] = offsets[s] + (any(0, 9) ? any(0, 60) : any(0, 200) ? 0 : any(1, 400000));
    float *x = numbers(offsets[p.segments]);
    float *out = model_need(calloc(MOST, sizeof(*out))),
          *want = model_need(calloc(MOST, sizeof(*out)));
    p.x = x;
    p.offsets = offsets;
    p.out = want;
    reduce_segments(&p);
    p.out = out;
    set_operand(0, x, 1, 0, (int)any(0, 1));
    set_operand(1, offsets, (MOST + 1) * 8, (int)any(0, 1), 0);
    set_operand(2, out, MOST * 4, (int)any(0, 1), 0);
    set_operand(3, NULL, 0, 0, 0);
    limit_memory(&ctx, number, (size_t)(offsets[p.segments] - offsets[0]) * 4 + 1);
    tilemm_status_t status = TILEMM_INTERNAL_ERROR;
    const int ran = tilemm__cuda_segments_pieces(&ctx, &p, offsets, &status);
    if (ran)
        check_results(&ctx, "segments", number, status, out, want, MOST * sizeof(*out));
    model_check_left("segments", number);
    free(offsets);
    free(x);
    free(out);
    free(want);
    return ran && status == TILEMM_SUCCESS;
}

int main(void)
{
    enum { TRANSPOSES = 400, REDUCTIONS = 300, SEGMENTS = 80 };
    int done[3] = {0, 0, 0};
    model_start();
    for (int i = 0; i < REDUCTIONS; i++)
        done[1] += reduction(i);
    for (int i = 0; i < TRANSPOSES; i++)
        done[0] += transpose(i);
    for (int i = 0; i < SEGMENTS; i++)
        done[2] += segments(i);
    printf("%d transposes, %d reductions and %d of segments in pieces\n", done[0], done[1],
           done[2]);
    CHECK(done[0] > TRANSPOSES / 3 && done[1] > REDUCTIONS / 3 && done[2] > SEGMENTS / 3,
          "few were done");
    CHECK(model.faults == 0, "%d faults", model.faults);
    model_end();
    return check_exit();
}
