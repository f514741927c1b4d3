/* pieces.c - transposes and reductions of host operands that go through a GPU's memory in pieces:
 * the bits of the same call with its operands on the device, under any limit of memory, from pinned
 * and pageable memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

typedef struct {
    size_t bytes;
    int pinned;
    void *host, *device; /* the device has what the host has at first */
} array_t;

/* Floats, some of them NaN; or the bytes of such. */
static array_t make(size_t bytes, int nans, rng_t *rng)
{
    array_t x = {bytes, (int)rng_range(rng, 0, 1), NULL, NULL};
    x.host = test_need(x.pinned ? gpu_malloc_host(bytes + 16) : malloc(bytes + 16));
    x.device = test_need(gpu_malloc(bytes + 16));
    for (size_t i = 0; i + 4 <= bytes + 4; i += 4) {
        float value = (float)ldexp(rng_unit(rng) - 0.5, (int)rng_range(rng, -20, 20));
        if (nans && rng_range(rng, 0, 100000) == 0)
            value = NAN;
        memcpy((char *)x.host + i, &value, sizeof(value));
    }
    CHECK(gpu_to_device(x.device, x.host, bytes) == 0, "copy");
    return x;
}

static void discard(array_t *x)
{
    gpu_free(x->device);
    if (x->pinned)
        gpu_free_host(x->host);
    else
        free(x->host);
}

/* The host has the device's bytes. */
static void compare(const char *what, int i, tilemm_t ctx, const array_t *x)
{
    char *want = test_need(malloc(x->bytes + 1));
    CHECK(gpu_to_host(want, x->device, x->bytes) == 0, "copy");
    CHECK(memcmp(want, x->host, x->bytes) == 0, "%s %d: %s", what, i, tilemm_last_kernel(ctx));
    free(want);
}

static size_t limit_of(size_t bytes, rng_t *rng)
{
    return (size_t)((double)bytes * (0.05 + 0.9 * rng_unit(rng))) + ((size_t)1 << 20);
}

/* The call with operands on the device, then on the host under a limit. */
#define BOTH(ctx, limit, on_device, on_host)                                                       \
    do {                                                                                           \
        CHECK_OK(ctx, tilemm_set_device_memory(ctx, 0));                                           \
        CHECK_OK(ctx, on_device);                                                                  \
        CHECK_OK(ctx, tilemm_set_device_memory(ctx, limit));                                       \
        CHECK_OK(ctx, on_host);                                                                    \
    } while (0)

static void transpose(tilemm_t ctx, rng_t *rng, int i)
{
    const int64_t rows = rng_range(rng, 1, i % 5 ? 3000 : 6),
                  cols = rng_range(rng, 1, i % 7 ? 3000 : 6);
    const size_t size = (size_t)1 << rng_range(rng, 0, 4);
    const int64_t batch = i % 4 ? 1 : rng_range(rng, 1, 12);
    const int64_t ld_src = cols + rng_range(rng, 0, 3), ld_dst = rows + rng_range(rng, 0, 3);
    const int64_t stride_src = rows * ld_src + rng_range(rng, 0, 9);
    const int64_t stride_dst = cols * ld_dst + rng_range(rng, 0, 9);
    array_t src = make((size_t)(batch * stride_src) * size, 0, rng);
    array_t dst = make((size_t)(batch * stride_dst) * size, 0, rng);
    const int places = (int)rng_range(rng, 1, 3);
    BOTH(ctx, limit_of(2 * src.bytes, rng),
         tilemm_transpose_strided_batched(ctx, rows, cols, size, src.device, ld_src, stride_src,
                                          dst.device, ld_dst, stride_dst, batch),
         tilemm_transpose_strided_batched(ctx, rows, cols, size, src.host, ld_src, stride_src,
                                          dst.host, ld_dst, stride_dst, batch));
    compare("transpose", i, ctx, &dst);
    /* One of them on the device. */
    memset(dst.host, 0, dst.bytes);
    CHECK(gpu_to_device(dst.device, dst.host, dst.bytes) == 0, "copy");
    CHECK_OK(ctx,
             tilemm_transpose_strided_batched(ctx, rows, cols, size, src.host, ld_src, stride_src,
                                              dst.host, ld_dst, stride_dst, batch));
    CHECK_OK(ctx, tilemm_transpose_strided_batched(
                      ctx, rows, cols, size, places & 1 ? src.host : src.device, ld_src, stride_src,
                      dst.device, ld_dst, stride_dst, batch));
    compare("transpose to the device", i, ctx, &dst);
    discard(&src);
    discard(&dst);
}

static void scaled(tilemm_t ctx, rng_t *rng, int i)
{
    const int64_t rows = rng_range(rng, 1, 2500), cols = rng_range(rng, 1, 2500);
    const tilemm_op_t op = i % 2 ? TILEMM_TRANS : TILEMM_NO_TRANS;
    const float alpha = i % 5 ? 1.7f : 0.0f;
    const int64_t lda = cols + rng_range(rng, 0, 3);
    const int64_t ldb = (i % 2 ? rows : cols) + rng_range(rng, 0, 3);
    array_t a = make((size_t)(rows * lda) * 4, 0, rng);
    array_t b = make((size_t)((i % 2 ? cols : rows) * ldb) * 4, 0, rng);
    BOTH(ctx, limit_of(2 * a.bytes, rng),
         tilemm_somatcopy(ctx, TILEMM_ROW_MAJOR, op, rows, cols, alpha, a.device, lda, b.device,
                          ldb),
         tilemm_somatcopy(ctx, TILEMM_ROW_MAJOR, op, rows, cols, alpha, a.host, lda, b.host, ldb));
    compare("somatcopy", i, ctx, &b);
    discard(&a);
    discard(&b);
}

/* Squares in pieces; other matrices, where they do not fit, by the CPU. */
static void in_place(tilemm_t ctx, rng_t *rng, int i)
{
    const int64_t rows = rng_range(rng, 1, 2500);
    const int64_t cols = i % 2 ? rows : rng_range(rng, 1, 2500);
    const int64_t ld_in = cols + rng_range(rng, 0, 3);
    const int64_t ld_out = i % 2 ? ld_in : rows + rng_range(rng, 0, 3);
    const size_t size = (size_t)1 << rng_range(rng, 0, 4);
    const int64_t extent = rows * ld_in > cols * ld_out ? rows * ld_in : cols * ld_out;
    array_t a = make((size_t)extent * size, 0, rng);
    BOTH(ctx, limit_of(a.bytes, rng),
         tilemm_transpose_inplace(ctx, rows, cols, size, a.device, ld_in, ld_out),
         tilemm_transpose_inplace(ctx, rows, cols, size, a.host, ld_in, ld_out));
    /* What lies between the rows is nobody's. */
    char *want = test_need(malloc(a.bytes + 1));
    CHECK(gpu_to_host(want, a.device, a.bytes) == 0, "copy");
    int64_t wrong = 0;
    for (int64_t r = 0; r < cols; r++)
        wrong += memcmp(want + (size_t)(r * ld_out) * size,
                        (char *)a.host + (size_t)(r * ld_out) * size, (size_t)rows * size) != 0;
    CHECK(wrong == 0, "in place %d: %lldx%lld of %zu, %s: %lld rows", i, (long long)rows,
          (long long)cols, size, tilemm_last_kernel(ctx), (long long)wrong);
    free(want);
    discard(&a);
}

static void whole_vectors(tilemm_t ctx, rng_t *rng, int i)
{
    const int64_t n = rng_range(rng, 1, 6000000), inc = i % 3 ? 1 : rng_range(rng, 0, 1) ? 3 : -2;
    array_t x = make((size_t)(n * llabs(inc)) * 4, i % 4 == 0, rng);
    array_t y = make((size_t)(n * llabs(inc)) * 4, 0, rng);
    float got[7] = {0}, want[7] = {0};
    int64_t index[2] = {0}, want_index[2] = {0};
    CHECK_OK(ctx, tilemm_set_nan_policy(ctx, i % 2 ? TILEMM_NAN_IGNORE : TILEMM_NAN_PROPAGATE));
    for (int host = 0; host < 2; host++) {
        const float *const v = host ? x.host : x.device;
        const float *const w = host ? y.host : y.device;
        float *const to = host ? got : want;
        int64_t *const at = host ? index : want_index;
        CHECK_OK(ctx, tilemm_set_device_memory(ctx, host ? limit_of(x.bytes, rng) : 0));
        CHECK_OK(ctx, tilemm_ssum(ctx, n, v, inc, &to[0]));
        CHECK_OK(ctx, tilemm_sasum(ctx, n, v, inc, &to[1]));
        CHECK_OK(ctx, tilemm_snrm2(ctx, n, v, inc, &to[2]));
        CHECK_OK(ctx, tilemm_sdot(ctx, n, v, inc, w, inc, &to[3]));
        CHECK_OK(ctx, tilemm_smax(ctx, n, v, inc, &to[4]));
        CHECK_OK(ctx, tilemm_smin(ctx, n, v, inc, &to[5]));
        CHECK_OK(ctx, tilemm_sdot(ctx, n, x.device, inc, w, inc, &to[6]));
        CHECK_OK(ctx, tilemm_isamax(ctx, n, v, inc, &at[0]));
        CHECK_OK(ctx, tilemm_ismin(ctx, n, v, inc, &at[1]));
    }
    CHECK(memcmp(got, want, sizeof(got)) == 0 && memcmp(index, want_index, sizeof(index)) == 0,
          "%d: %lld elements, increment %lld: sum %a %a, index %lld %lld", i, (long long)n,
          (long long)inc, (double)got[0], (double)want[0], (long long)index[0],
          (long long)want_index[0]);
    discard(&x);
    discard(&y);
}

static void by_axis(tilemm_t ctx, rng_t *rng, int i)
{
    const int64_t rows = rng_range(rng, 1, i % 5 ? 3000 : 400000);
    const int64_t cols = rng_range(rng, 1, i % 5 ? 2000 : 9), lda = cols + rng_range(rng, 0, 3);
    const tilemm_axis_t axis = i % 2 ? TILEMM_AXIS_ROWS : TILEMM_AXIS_COLS;
    const int64_t count = i % 2 ? cols : rows, inc = rng_range(rng, 1, 2);
    const tilemm_reduce_t op = (tilemm_reduce_t)rng_range(rng, TILEMM_SUM, TILEMM_AMIN);
    array_t a = make((size_t)(rows * lda) * 4, i % 4 == 0, rng);
    array_t out = make((size_t)(count * inc) * 4, 0, rng),
            index = make((size_t)(count * inc) * 8, 0, rng);
    CHECK_OK(ctx, tilemm_set_nan_policy(ctx, i % 3 ? TILEMM_NAN_IGNORE : TILEMM_NAN_PROPAGATE));
    BOTH(
        ctx, limit_of(a.bytes, rng),
        tilemm_sreduce(ctx, op, axis, TILEMM_ROW_MAJOR, rows, cols, a.device, lda, out.device, inc),
        tilemm_sreduce(ctx, op, axis, TILEMM_ROW_MAJOR, rows, cols, a.host, lda, out.host, inc));
    compare("by axis", i, ctx, &out);
    BOTH(ctx, limit_of(a.bytes, rng),
         tilemm_sargreduce(ctx, TILEMM_AMAX, axis, TILEMM_ROW_MAJOR, rows, cols, a.device, lda,
                           out.device, inc, index.device),
         tilemm_sargreduce(ctx, TILEMM_AMAX, axis, TILEMM_ROW_MAJOR, rows, cols, a.host, lda,
                           out.host, inc, index.host));
    compare("arg by axis", i, ctx, &out);
    compare("index by axis", i, ctx, &index);
    /* Results on the device, the matrix on the host. */
    CHECK_OK(ctx, tilemm_sreduce(ctx, op, axis, TILEMM_ROW_MAJOR, rows, cols, a.host, lda, out.host,
                                 inc));
    CHECK_OK(ctx, tilemm_sreduce(ctx, op, axis, TILEMM_ROW_MAJOR, rows, cols, a.host, lda,
                                 out.device, inc));
    compare("by axis to the device", i, ctx, &out);
    discard(&a);
    discard(&out);
    discard(&index);
}

static void by_segment(tilemm_t ctx, rng_t *rng, int i)
{
    const int64_t segments = rng_range(rng, 1, 3000);
    array_t offsets = make((size_t)(segments + 1) * 8, 0, rng);
    int64_t *const at = offsets.host;
    at[0] = 5;
    for (int64_t s = 0; s < segments; s++)
        at[s + 1] =
            at[s] + (rng_range(rng, 0, 300) ? rng_range(rng, 0, 500) : rng_range(rng, 0, 900000));
    CHECK(gpu_to_device(offsets.device, offsets.host, offsets.bytes) == 0, "copy");
    array_t x = make((size_t)at[segments] * 4, i % 4 == 0, rng);
    array_t out = make((size_t)segments * 4, 0, rng);
    const tilemm_reduce_t op = (tilemm_reduce_t)rng_range(rng, TILEMM_SUM, TILEMM_AMIN);
    BOTH(ctx, limit_of(x.bytes, rng),
         tilemm_sreduce_segments(ctx, op, segments, x.device, offsets.device, out.device),
         tilemm_sreduce_segments(ctx, op, segments, x.host, i % 2 ? at : offsets.device, out.host));
    compare("by segment", i, ctx, &out);
    discard(&x);
    discard(&offsets);
    discard(&out);
}

/* Too little memory is a status; in place the CPU does it. */
static void too_little(tilemm_t ctx)
{
    enum { SIDE = 600 };
    float *x = test_need(calloc((size_t)SIDE * SIDE, sizeof(float)));
    float *y = test_need(calloc((size_t)SIDE * SIDE, sizeof(float))), sum = 7;
    x[1] = 3;
    y[0] = 5;
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, 1000));
    CHECK(tilemm_transpose(ctx, SIDE, SIDE, 4, x, SIDE, y, SIDE) == TILEMM_OUT_OF_MEMORY &&
              y[0] == 5 && strstr(tilemm_last_error(ctx), "1000 bytes"),
          "transpose: %s", tilemm_last_error(ctx));
    CHECK(tilemm_ssum(ctx, (int64_t)SIDE * SIDE, x, 1, &sum) == TILEMM_OUT_OF_MEMORY && sum == 7 &&
              strstr(tilemm_last_error(ctx), "1000 bytes"),
          "sum: %s", tilemm_last_error(ctx));
    CHECK_OK(ctx, tilemm_transpose_inplace(ctx, SIDE, SIDE, 4, x, SIDE, SIDE));
    CHECK(x[SIDE] == 3 && x[1] == 0, "in place by the CPU");
    x[SIDE] = 0;
    x[1] = 3;
    CHECK_OK(ctx, tilemm_transpose_inplace(ctx, SIDE / 2, SIDE, 4, x, SIDE, SIDE / 2));
    CHECK(x[SIDE / 2] == 3 && x[1] == 0, "in place by the CPU, a rectangle");
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, 0));
    free(x);
    free(y);
}

int main(void)
{
    const int problems = test_quick() ? 12 : 60;
    rng_t rng = {5};
    size_t before = 0, after = 0, total;
    test_begin_alone(TILEMM_BACKEND_CUDA);
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    for (int i = 0; i < problems; i++) {
        transpose(ctx, &rng, i);
        scaled(ctx, &rng, i);
        in_place(ctx, &rng, i);
        whole_vectors(ctx, &rng, i);
        by_axis(ctx, &rng, i);
        by_segment(ctx, &rng, i);
        if (i == problems / 2)
            CHECK(gpu_memory(&before, &total) == 0, "gpu_memory");
    }
    too_little(ctx);
    CHECK(gpu_memory(&after, &total) == 0, "gpu_memory");
    CHECK(after + ((size_t)64 << 20) >= before, "%zu bytes free, then %zu", before, after);
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    return check_exit();
}
