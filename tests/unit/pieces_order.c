/* pieces_order.c - transposes and reductions in pieces on a CUDA runtime of the test's own
 * (simulated_cuda.h): results bit by bit, no memory past the limit, nothing left behind.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/reduce/ops.h"
#include "lib/reduce/plan_pieces_cuda.h"
#include "lib/transpose/plan_pieces_cuda.h"
#include "simulated_cuda.h"
#include "simulated_reduce.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

/* Apart from the order of streams, which depends on time: the problems are the same in each run. */
static rng_t problems = {20261124};

static tilemm__cuda_state_t state = {.sharers = 1};

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
    simulated_call(tilemm__cuda(ctx)->stream, move_elements, args, sizeof(*args));
    tilemm__set_kernel(ctx, "model");
    return TILEMM_SUCCESS;
}

static char *bytes_of(size_t bytes, int floats)
{
    char *x = need(malloc(bytes + 1));
    for (size_t i = 0; i < bytes; i++)
        x[i] = (char)any(-128, 127);
    for (size_t i = 0; floats && i + 4 <= bytes; i += 4) {
        const float value = (float)(rng_unit(&problems) - 0.5);
        memcpy(x + i, &value, sizeof(value));
    }
    return x;
}

static void set_operand(const void *at, size_t bytes, int on_device, int pinned)
{
    set_place(at, bytes, on_device ? state.device : pinned ? PINNED : PAGEABLE);
}

/* What moved is what the plan says: with a matrix that a batch shares, each piece once. */
static void check_moved(tilemm_t ctx, const tilemm__transpose_args_t *p, int places, int number)
{
    const tilemm__transpose_args_t normal = tilemm__transpose_normal(p);
    const tilemm__transpose_places_t at = {ctx->device_memory, places & 1, places >> 1};
    tilemm__transpose_pieces_t plan;
    CHECK(tilemm__plan_transpose_pieces(&normal, &at, &plan) == TILEMM_SUCCESS &&
              simulated.moved == plan.up + plan.down,
          "%d: %zu bytes moved, planned %zu + %zu", number, simulated.moved, plan.up, plan.down);
}

/* Returns 1 if it went through in pieces. */
static int transpose(int number)
{
    struct tilemm_context ctx = {.state = &state};
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
    char *want = need(malloc(dst_bytes + 1)), *first = need(malloc(dst_bytes + 1));
    memcpy(want, dst, dst_bytes);
    memcpy(first, dst, dst_bytes);
    char *before = need(malloc(src_bytes + 1));
    memcpy(before, src, src_bytes);
    p.src = before;
    p.dst = want;
    move_elements(&p);
    p.src = src;
    p.dst = dst;
    const int places = in_place ? 3 : (int)any(1, 3);
    set_operand(src, src_bytes, !(places & 1), (int)any(0, 1));
    set_operand(dst, dst_bytes, !(places & 2), (int)any(0, 1));
    const size_t all = (size_t)(p.rows * p.cols * p.batch_count) * p.elem_size;
    const size_t host = all * (size_t)((places & 1) + (places >> 1));
    ctx.device_memory = (size_t)((double)host * (0.1 + 0.89 * rng_unit(&problems))) + 1;
    simulated.device_bytes = number % 7 ? (size_t)1 << 40 : ctx.device_memory / 2;
    simulated.most_allocated = simulated.moved = 0;
    if (number % 5 == 1)
        snprintf(ctx.timeline, sizeof(ctx.timeline), "pieces_order.%d.csv", (int)getpid());
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
        if (*ctx.timeline) {
            double work[4];
            read_timeline(ctx.timeline, work);
            CHECK(work[0] + work[3] == (double)simulated.moved,
                  "%d: %g bytes up and %g down of %zu", number, work[0], work[3], simulated.moved);
            *ctx.timeline = 0;
        }
        CHECK(simulated.most_allocated <= ctx.device_memory, "%d: %zu bytes of %zu", number,
              simulated.most_allocated, ctx.device_memory);
        CHECK(memcmp(dst, want, dst_bytes) == 0,
              "%d: %lldx%lld of %zu, ld %lld %lld, trans %d, in place %d, batch %lld strides %lld "
              "%lld, places %d, %zu bytes of %zu",
              number, (long long)p.rows, (long long)p.cols, p.elem_size, (long long)p.ld_src,
              (long long)p.ld_dst, p.trans, in_place, (long long)p.batch_count,
              (long long)p.stride_src, (long long)p.stride_dst, places, ctx.device_memory, host);
        if (number % 3 == 0) { /* a copy that fails is a status */
            simulated.fail_copies_after = (int)any(0, 3);
            CHECK(tilemm__cuda_transpose_pieces(&ctx, &p, &status) &&
                      (status == TILEMM_DEVICE_FAILURE || simulated.fail_copies_after >= 0),
                  "%d: status %d", number, (int)status);
            simulated.fail_copies_after = -1;
        }
    }
    check_left(&ctx, "transpose", number);
    free(before);
    free(want);
    free(first);
    free(src);
    if (!in_place)
        free(dst);
    return ran && status == TILEMM_SUCCESS;
}

/* ---- reductions in pieces ------------------------------------------------------------------- */

/* Numbers that cancel, and now and then NaN. */
static float *numbers(int64_t n)
{
    float *x = need(malloc((size_t)n * sizeof(*x) + 1));
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)ldexp(rng_unit(&problems) - 0.5, (int)any(-20, 20));
    for (int64_t i = any(0, 5000); i < n; i += any(1, 5000))
        x[i] = NAN;
    return x;
}

static void limit_memory(tilemm_t ctx, int number, size_t bytes)
{
    ctx->device_memory = (size_t)((double)bytes * (0.1 + 0.89 * rng_unit(&problems)));
    simulated.device_bytes = number % 7 ? (size_t)1 << 40 : ctx->device_memory / 2;
    simulated.fail_pinned = number % 5 == 4 && !state.chunks[0] && !state.chunks[1];
    simulated.most_allocated = 0;
}

/* The results, bit by bit, and that nothing else was written. */
static void check_results(tilemm_t ctx, const char *what, int number, tilemm_status_t status,
                          const void *got, const void *want, size_t bytes)
{
    if (status == TILEMM_SUCCESS) {
        CHECK(memcmp(got, want, bytes) == 0, "%s %d: limit %zu", what, number, ctx->device_memory);
        CHECK(simulated.most_allocated <= ctx->device_memory, "%s %d: %zu of %zu bytes", what,
              number, simulated.most_allocated, ctx->device_memory);
    } else {
        CHECK(status == TILEMM_OUT_OF_MEMORY && ctx->device_memory < 900000, "%s %d: %s (%zu)",
              what, number, ctx->last_error, ctx->device_memory);
    }
}

static int reduction(int number)
{
    struct tilemm_context ctx = {.state = &state};
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
    float *out = need(calloc(1, out_bytes)), *want = need(calloc(1, out_bytes));
    int64_t *index = need(calloc(2, out_bytes)), *want_index = need(calloc(2, out_bytes));
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
    set_operand(x, (size_t)extent * 4, !(places & 1), (int)any(0, 1));
    set_operand(y, (size_t)y_extent * 4, !(places & 2), (int)any(0, 1));
    set_operand(out, out_bytes, !(places & 4), 0);
    set_operand(index, 2 * out_bytes, !(places & 4), 0);
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
        simulated.fail_copies_after = (int)any(0, 3);
        CHECK(tilemm__cuda_reduce_pieces(&ctx, &p, &status) &&
                  (status == TILEMM_DEVICE_FAILURE || simulated.fail_copies_after >= 0),
              "%d: status %d", number, (int)status);
        simulated.fail_copies_after = -1;
    }
    check_left(&ctx, "reduction", number);
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
    struct tilemm_context ctx = {.state = &state};
    tilemm__segments_args_t p = {.op = (int)any(TILEMM__SUM, TILEMM__AMIN),
                                 .nan_ignore = (int)any(0, 1),
                                 .segments = any(1, MOST)};
    int64_t *offsets = need(malloc((MOST + 1) * sizeof(*offsets)));
    offsets[0] = any(0, 100);
    for (int64_t s = 0; s < p.segments; s++)
        offsets[s + 1] = offsets[s] + (any(0, 9) ? any(0, 60) : any(0, 200) ? 0 : any(1, 400000));
    float *x = numbers(offsets[p.segments]);
    float *out = need(calloc(MOST, sizeof(*out))), *want = need(calloc(MOST, sizeof(*out)));
    p.x = x;
    p.offsets = offsets;
    p.out = want;
    reduce_segments(&p);
    p.out = out;
    set_operand(x, 1, 0, (int)any(0, 1));
    set_operand(offsets, (MOST + 1) * 8, (int)any(0, 1), 0);
    set_operand(out, MOST * 4, (int)any(0, 1), 0);
    limit_memory(&ctx, number, (size_t)(offsets[p.segments] - offsets[0]) * 4 + 1);
    tilemm_status_t status = TILEMM_INTERNAL_ERROR;
    const int ran = tilemm__cuda_segments_pieces(&ctx, &p, offsets, &status);
    if (ran)
        check_results(&ctx, "segments", number, status, out, want, MOST * sizeof(*out));
    check_left(&ctx, "segments", number);
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
    state.traits = simulated_traits();
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
    CHECK(simulated.faults == 0, "%d faults", simulated.faults);
    free(state.chunks[0]);
    free(state.chunks[1]);
    return check_exit();
}
