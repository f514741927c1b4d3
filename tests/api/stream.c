/* stream.c - calls on the user's stream: asynchronous calls, a change of streams, and CUDA graphs
 * that are captured once and replayed on changed inputs.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { M = 200, N = 150, K = 170, ROWS = 123, COLS = 87, LENGTH = 100003, SEGMENTS = 40 };

static const gemm_t gemm = {
    TILEMM_COL_MAJOR, TILEMM_TRANS, TILEMM_NO_TRANS, M, N, K, 1.5f, 0, K, K, M};

/* Inputs, then results, each aligned like an allocation. */
typedef struct {
    _Alignas(256) float a[M * K];
    _Alignas(256) float b[K * N];
    _Alignas(256) float x[LENGTH];
    _Alignas(256) float inplace[ROWS * COLS];
    _Alignas(256) int64_t offsets[SEGMENTS + 1];
    _Alignas(256) float c[M * N];
    _Alignas(256) float transposed[ROWS * COLS];
    _Alignas(256) float sums[8];
    _Alignas(256) float segment_sums[SEGMENTS];
    _Alignas(256) int64_t indices[2];
} arrays_t;

static arrays_t host, *device;
static double dot[M * N], mag[M * N];

/* New inputs on the device; results are filled with NaN. */
static void renew(rng_t *rng)
{
    memset(&host, 0xff, sizeof(host));
    matrix_fill(host.a, TILEMM_COL_MAJOR, K, M, K, FAMILY_NORMAL, rng);
    matrix_fill(host.b, TILEMM_COL_MAJOR, K, N, K, FAMILY_NORMAL, rng);
    matrix_fill(host.x, TILEMM_ROW_MAJOR, 1, LENGTH, LENGTH, FAMILY_NORMAL, rng);
    memcpy(host.inplace, host.x, sizeof(host.inplace));
    for (int s = 0; s <= SEGMENTS; s++)
        host.offsets[s] = (int64_t)s * s * 50;
    CHECK(gpu_to_device(device, &host, sizeof(host)) == 0, "copy");
    CHECK(gpu_synchronize() == 0, "gpu_synchronize");
}

/* Queue every kind of operation, without waiting. */
static void queue(tilemm_t ctx)
{
    CHECK_OK(ctx, gemm_call(ctx, &gemm, device->a, device->b, device->c));
    CHECK_OK(ctx, tilemm_transpose(ctx, ROWS, COLS, 4, device->x, COLS, device->transposed, ROWS));
    CHECK_OK(ctx, tilemm_transpose_inplace(ctx, ROWS, COLS, 4, device->inplace, COLS, ROWS));
    CHECK_OK(ctx, tilemm_ssum(ctx, LENGTH, device->x, 1, device->sums));
    CHECK_OK(ctx, tilemm_snrm2(ctx, LENGTH, device->x, 1, device->sums + 1));
    CHECK_OK(ctx, tilemm_sdot(ctx, 5000, device->x, 1, device->x + 5000, 2, device->sums + 2));
    CHECK_OK(ctx, tilemm_smax(ctx, LENGTH, device->x, -1, device->sums + 3));
    CHECK_OK(ctx, tilemm_sreduce(ctx, TILEMM_ASUM, TILEMM_AXIS_COLS, TILEMM_ROW_MAJOR, 4, 2000,
                                 device->x, 2001, device->sums + 4, 1));
    CHECK_OK(ctx, tilemm_isamax(ctx, LENGTH, device->x, 1, device->indices));
    CHECK_OK(ctx, tilemm_ismin(ctx, 777, device->x, 3, device->indices + 1));
    CHECK_OK(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, SEGMENTS, device->x, device->offsets,
                                          device->segment_sums));
}

static void same(float got, int op, int64_t n, const float *x, const float *y, const char *when,
                 const char *what)
{
    const float want = reduce_exact_bits(op, 0, n, x, y);
    CHECK(float_bits(got) == float_bits(want), "%s: %s: %.9g, not %.9g", when, what, (double)got,
          (double)want);
}

static void verify(const char *when)
{
    static float every_third[777], odd[5000], reversed[LENGTH];
    const float *x = host.x;
    int wrong = 0, wrong_inplace = 0;
    CHECK(gpu_to_host(&host.inplace, &device->inplace, sizeof(host.inplace)) == 0, "copy");
    CHECK(gpu_to_host(&host.c, &device->c, sizeof(host) - offsetof(arrays_t, c)) == 0, "copy");
    gemm_exact(&gemm, host.a, host.b, dot, mag);
    const gemm_error_t error = gemm_error(&gemm, dot, mag, host.c, host.c, 0);
    CHECK(error.outside == 0, "%s: sgemm: %lld elements out of bounds", when,
          (long long)error.outside);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLS; j++) {
            wrong += host.transposed[j * ROWS + i] != x[i * COLS + j];
            wrong_inplace += host.inplace[j * ROWS + i] != x[i * COLS + j];
        }
    }
    CHECK(wrong == 0, "%s: transpose: %d elements wrong", when, wrong);
    CHECK(wrong_inplace == 0, "%s: transpose_inplace: %d elements wrong", when, wrong_inplace);
    for (int i = 0; i < 777; i++)
        every_third[i] = x[3 * i];
    for (int i = 0; i < 5000; i++)
        odd[i] = x[5000 + 2 * i];
    for (int i = 0; i < LENGTH; i++)
        reversed[i] = x[LENGTH - 1 - i];
    same(host.sums[0], TILEMM_SUM, LENGTH, x, NULL, when, "ssum");
    same(host.sums[1], TILEMM_NRM2, LENGTH, x, NULL, when, "snrm2");
    same(host.sums[2], REDUCE_DOT, 5000, x, odd, when, "sdot");
    same(host.sums[3], TILEMM_MAX, LENGTH, reversed, NULL, when, "smax");
    for (int i = 0; i < 4; i++)
        same(host.sums[4 + i], TILEMM_ASUM, 2000, x + 2001 * i, NULL, when, "sreduce");
    for (int i = 0; i < SEGMENTS; i++)
        same(host.segment_sums[i], TILEMM_SUM, host.offsets[i + 1] - host.offsets[i],
             x + host.offsets[i], NULL, when, "sreduce_segments");
    CHECK(host.indices[0] == reduce_index(TILEMM_AMAX, 0, LENGTH, x), "%s: isamax: %lld", when,
          (long long)host.indices[0]);
    CHECK(host.indices[1] == reduce_index(TILEMM_MIN, 0, 777, every_third), "%s: ismin: %lld", when,
          (long long)host.indices[1]);
}

/* A context on a new stream, and its end. */
static tilemm_t open_stream(void **stream)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    *stream = gpu_stream_create();
    CHECK(*stream, "gpu_stream_create");
    CHECK_OK(ctx, tilemm_set_stream(ctx, *stream));
    void *set = NULL;
    CHECK_OK(ctx, tilemm_get_stream(ctx, &set));
    CHECK(set == *stream, "the stream is %p, not %p", set, *stream);
    return ctx;
}

static void close_stream(tilemm_t ctx, void *stream)
{
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    gpu_stream_destroy(stream);
}

/* Capture every kind of operation. */
static void *capture(tilemm_t ctx, void *stream, const char *when)
{
    CHECK(gpu_capture_begin(stream) == 0, "gpu_capture_begin");
    queue(ctx);
    void *graph = gpu_capture_end(stream);
    CHECK(graph != NULL, "something broke the capture %s", when);
    return graph;
}

/* Replay it on new inputs. */
static void replay(void *graph, void *stream, rng_t *rng, const char *when)
{
    renew(rng);
    CHECK(gpu_graph_launch(graph, stream) == 0, "gpu_graph_launch");
    CHECK(gpu_stream_synchronize(stream) == 0, "gpu_stream_synchronize");
    verify(when);
}

/* Waiting for the user's stream is enough. After a change of streams, work on the second waits for
 * work on the first. */
static void streams(rng_t *rng)
{
    void *first, *second = gpu_stream_create();
    tilemm_t ctx = open_stream(&first);
    CHECK(second, "gpu_stream_create");
    for (int round = 0; round < 3; round++) {
        renew(rng);
        CHECK_OK(ctx, tilemm_set_stream(ctx, first));
        queue(ctx);
        CHECK(gpu_stream_synchronize(first) == 0, "gpu_stream_synchronize");
        verify("on a stream");

        renew(rng);
        queue(ctx);
        CHECK_OK(ctx, tilemm_set_stream(ctx, second));
        /* reads what the first stream writes */
        CHECK_OK(ctx, tilemm_ssum(ctx, ROWS * COLS, device->transposed, 1, device->sums));
        CHECK_OK(ctx, tilemm_synchronize(ctx));
        CHECK(gpu_to_host(&host, device, sizeof(host)) == 0, "copy");
        same(host.sums[0], TILEMM_SUM, ROWS * COLS, host.transposed, NULL,
             "after a change of streams", "ssum");

        renew(rng);
        CHECK_OK(ctx, tilemm_set_stream(ctx, NULL));
        queue(ctx);
        CHECK_OK(ctx, tilemm_synchronize(ctx));
        verify("on the default stream");
    }
    close_stream(ctx, first);
    gpu_stream_destroy(second);
}

static void graphs(rng_t *rng)
{
    void *stream;
    tilemm_t ctx = open_stream(&stream);
    float sum = 0;
    renew(rng);
    queue(ctx); /* allocates the workspace */
    CHECK_OK(ctx, tilemm_synchronize(ctx));
    verify("before the capture");
    void *graph = capture(ctx, stream, "of a warm context");
    for (int i = 0; graph && i < 3; i++)
        replay(graph, stream, rng, "replayed");
    if (graph)
        gpu_graph_destroy(graph);
    /* and again without a graph, host results too */
    renew(rng);
    queue(ctx);
    CHECK_OK(ctx, tilemm_ssum(ctx, LENGTH, device->x, 1, &sum));
    same(sum, TILEMM_SUM, LENGTH, host.x, NULL, "to the host", "ssum");
    CHECK_OK(ctx, tilemm_synchronize(ctx));
    verify("after the graph");
    close_stream(ctx, stream);
}

/* The workspace that a new context has is enough for these sizes, so even its first call can be
 * captured. */
static void cold_capture(rng_t *rng)
{
    void *stream;
    tilemm_t ctx = open_stream(&stream);
    void *graph = capture(ctx, stream, "of a cold context");
    if (graph) {
        replay(graph, stream, rng, "captured cold");
        gpu_graph_destroy(graph);
    }
    close_stream(ctx, stream);
}

/* A call on device operands returns before its work is done. */
static void asynchronous(void)
{
    const int64_t n = test_quick() ? 4096 : 8192;
    void *stream;
    tilemm_t ctx = open_stream(&stream);
    float *x = gpu_malloc((size_t)(n * n) * sizeof *x);
    float *y = gpu_malloc((size_t)(n * n) * sizeof *y);
    if (!x || !y) {
        printf("no GPU memory for %lld^2: left out\n", (long long)n);
    } else {
        gpu_fill_async(x, 0x3c, (size_t)(n * n) * sizeof *x, stream);
        for (int round = 0; round < 2; round++) { /* the first loads code */
            gpu_stream_synchronize(stream);
            double start = test_seconds();
            CHECK_OK(ctx, tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, n,
                                       n, n, 1, x, n, x, n, 0, y, n));
            double queued = test_seconds() - start;
            gpu_stream_synchronize(stream);
            double done = test_seconds() - start;
            CHECK(round == 0 || queued < done / 2, "returned after %g s of %g s", queued, done);
        }
    }
    close_stream(ctx, stream);
    gpu_free(x);
    gpu_free(y);
}

/* A graph keeps its workspace when a later call needs a larger one. */
static void growth_after_capture(rng_t *rng)
{
    const int64_t rows = 20011, cols = 12007;
    void *stream;
    tilemm_t ctx = open_stream(&stream);
    renew(rng);
    queue(ctx);
    CHECK(gpu_stream_synchronize(stream) == 0, "warm up");
    void *graph = capture(ctx, stream, "before growth");
    void *large = gpu_malloc((size_t)rows * (size_t)cols * 16);
    if (large)
        CHECK_OK(ctx, tilemm_transpose_inplace(ctx, rows, cols, 16, large, cols, rows));
    replay(graph, stream, rng, "replayed after growth");
    gpu_graph_destroy(graph);
    close_stream(ctx, stream);
    gpu_free(large);
}

int main(void)
{
    rng_t rng = {9000};
    test_begin(TILEMM_BACKEND_CUDA);
    device = device_array(sizeof(*device));
    streams(&rng);
    graphs(&rng);
    cold_capture(&rng);
    asynchronous();
    if (!test_quick()) /* a matrix of 4 GB, whose workspace is larger than the first one */
        growth_after_capture(&rng);
    gpu_free(device);
    return check_exit();
}
