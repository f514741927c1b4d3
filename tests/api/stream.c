/* stream.c - calls on the user's stream: asynchronous calls, a change of streams, and CUDA graphs
 * that are captured once and replayed on changed inputs.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { M = 200, N = 150, K = 170, ROWS = 123, COLS = 87, LENGTH = 100003, SEGMENTS = 40 };

static const gemm_t gemm = {
    TILEMM_COL_MAJOR, TILEMM_TRANS, TILEMM_NO_TRANS, M, N, K, 1.5f, 0, K, K, M};

/* Arrays on the device, and below those on the host to compare with. */
static struct {
    float *a, *b, *c, *x, *transposed, *inplace, *sums, *segment_sums;
    int64_t *indices, *offsets;
} device;

static float a[M * K], b[K * N], c[M * N], x[LENGTH], transposed[ROWS * COLS], inplace[ROWS * COLS];
static float sums[8], segment_sums[SEGMENTS];
static double dot[M * N], mag[M * N];
static int64_t indices[2], offsets[SEGMENTS + 1];

static void allocate_all(void)
{
    int s;
    device.a = device_array(sizeof(a));
    device.b = device_array(sizeof(b));
    device.c = device_array(sizeof(c));
    device.x = device_array(sizeof(x));
    device.transposed = device_array(sizeof(transposed));
    device.inplace = device_array(sizeof(inplace));
    device.sums = device_array(sizeof(sums));
    device.segment_sums = device_array(sizeof(segment_sums));
    device.indices = device_array(sizeof(indices));
    device.offsets = device_array(sizeof(offsets));
    for (s = 0; s <= SEGMENTS; s++)
        offsets[s] = (int64_t)s * s * 50;
    CHECK(gpu_to_device(device.offsets, offsets, sizeof(offsets)) == 0, "copy");
}

static void free_all(void)
{
    gpu_free(device.a);
    gpu_free(device.b);
    gpu_free(device.c);
    gpu_free(device.x);
    gpu_free(device.transposed);
    gpu_free(device.inplace);
    gpu_free(device.sums);
    gpu_free(device.segment_sums);
    gpu_free(device.indices);
    gpu_free(device.offsets);
}

/* New inputs on the device; results are filled with NaN. */
static void renew(rng_t *rng)
{
    matrix_fill(a, TILEMM_COL_MAJOR, K, M, K, FAMILY_NORMAL, rng);
    matrix_fill(b, TILEMM_COL_MAJOR, K, N, K, FAMILY_NORMAL, rng);
    matrix_fill(x, TILEMM_ROW_MAJOR, 1, LENGTH, LENGTH, FAMILY_NORMAL, rng);
    CHECK(gpu_to_device(device.a, a, sizeof(a)) == 0, "copy");
    CHECK(gpu_to_device(device.b, b, sizeof(b)) == 0, "copy");
    CHECK(gpu_to_device(device.x, x, sizeof(x)) == 0, "copy");
    CHECK(gpu_to_device(device.inplace, x, sizeof(inplace)) == 0, "copy");
    gpu_fill_async(device.c, 0xff, sizeof(c), NULL);
    gpu_fill_async(device.transposed, 0xff, sizeof(transposed), NULL);
    gpu_fill_async(device.sums, 0xff, sizeof(sums), NULL);
    gpu_fill_async(device.segment_sums, 0xff, sizeof(segment_sums), NULL);
    gpu_fill_async(device.indices, 0xff, sizeof(indices), NULL);
    CHECK(gpu_synchronize() == 0, "gpu_synchronize");
}

/* Queue every kind of operation, without waiting. */
static void queue(tilemm_t ctx)
{
#define DO(call) CHECK((call) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx))
    DO(tilemm_sgemm(ctx, gemm.layout, gemm.transa, gemm.transb, M, N, K, gemm.alpha, device.a,
                    gemm.lda, device.b, gemm.ldb, 0, device.c, gemm.ldc));
    DO(tilemm_transpose(ctx, ROWS, COLS, 4, device.x, COLS, device.transposed, ROWS));
    DO(tilemm_transpose_inplace(ctx, ROWS, COLS, 4, device.inplace, COLS, ROWS));
    DO(tilemm_ssum(ctx, LENGTH, device.x, 1, device.sums));
    DO(tilemm_snrm2(ctx, LENGTH, device.x, 1, device.sums + 1));
    DO(tilemm_sdot(ctx, 5000, device.x, 1, device.x + 5000, 2, device.sums + 2));
    DO(tilemm_smax(ctx, LENGTH, device.x, -1, device.sums + 3));
    DO(tilemm_sreduce(ctx, TILEMM_ASUM, TILEMM_AXIS_COLS, TILEMM_ROW_MAJOR, 4, 2000, device.x, 2001,
                      device.sums + 4, 1));
    DO(tilemm_isamax(ctx, LENGTH, device.x, 1, device.indices));
    DO(tilemm_ismin(ctx, 777, device.x, 3, device.indices + 1));
    DO(tilemm_sreduce_segments(ctx, TILEMM_SUM, SEGMENTS, device.x, device.offsets,
                               device.segment_sums));
#undef DO
}

static void same(float got, float want, const char *when, const char *what)
{
    CHECK(float_bits(got) == float_bits(want), "%s: %s: %.9g, not %.9g", when, what, (double)got,
          (double)want);
}

static void verify(const char *when)
{
    static float every_third[777], odd[5000], reversed[LENGTH];
    gemm_error_t error;
    int i, j, wrong = 0, wrong_inplace = 0;
    CHECK(gpu_to_host(c, device.c, sizeof(c)) == 0, "copy");
    CHECK(gpu_to_host(transposed, device.transposed, sizeof(transposed)) == 0, "copy");
    CHECK(gpu_to_host(inplace, device.inplace, sizeof(inplace)) == 0, "copy");
    CHECK(gpu_to_host(sums, device.sums, sizeof(sums)) == 0, "copy");
    CHECK(gpu_to_host(segment_sums, device.segment_sums, sizeof(segment_sums)) == 0, "copy");
    CHECK(gpu_to_host(indices, device.indices, sizeof(indices)) == 0, "copy");
    gemm_exact(&gemm, a, b, dot, mag);
    error = gemm_error(&gemm, dot, mag, c, c, 0);
    CHECK(error.outside == 0, "%s: sgemm: %lld elements out of bounds", when,
          (long long)error.outside);
    for (i = 0; i < ROWS; i++) {
        for (j = 0; j < COLS; j++) {
            wrong += transposed[j * ROWS + i] != x[i * COLS + j];
            wrong_inplace += inplace[j * ROWS + i] != x[i * COLS + j];
        }
    }
    CHECK(wrong == 0, "%s: transpose: %d elements wrong", when, wrong);
    CHECK(wrong_inplace == 0, "%s: transpose_inplace: %d elements wrong", when, wrong_inplace);
    for (i = 0; i < 777; i++)
        every_third[i] = x[3 * i];
    for (i = 0; i < 5000; i++)
        odd[i] = x[5000 + 2 * i];
    for (i = 0; i < LENGTH; i++)
        reversed[i] = x[LENGTH - 1 - i];
    same(sums[0], reduce_exact_bits(TILEMM_SUM, 0, LENGTH, x, NULL), when, "ssum");
    same(sums[1], reduce_exact_bits(TILEMM_NRM2, 0, LENGTH, x, NULL), when, "snrm2");
    same(sums[2], reduce_exact_bits(REDUCE_DOT, 0, 5000, x, odd), when, "sdot");
    same(sums[3], reduce_exact_bits(TILEMM_MAX, 0, LENGTH, reversed, NULL), when, "smax");
    for (i = 0; i < 4; i++)
        same(sums[4 + i], reduce_exact_bits(TILEMM_ASUM, 0, 2000, x + 2001 * i, NULL), when,
             "sreduce");
    for (i = 0; i < SEGMENTS; i++)
        same(segment_sums[i],
             reduce_exact_bits(TILEMM_SUM, 0, offsets[i + 1] - offsets[i], x + offsets[i], NULL),
             when, "sreduce_segments");
    CHECK(indices[0] == reduce_index(TILEMM_AMAX, 0, LENGTH, x), "%s: isamax: %lld", when,
          (long long)indices[0]);
    CHECK(indices[1] == reduce_index(TILEMM_MIN, 0, 777, every_third), "%s: ismin: %lld", when,
          (long long)indices[1]);
}

/* Waiting for the user's stream is enough. After a change of streams, work on the second waits for
 * work on the first. */
static void streams(rng_t *rng)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *first = gpu_stream_create(), *second = gpu_stream_create();
    int round;
    CHECK(first && second, "gpu_stream_create");
    for (round = 0; round < 3; round++) {
        renew(rng);
        CHECK(tilemm_set_stream(ctx, first) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        queue(ctx);
        CHECK(gpu_stream_synchronize(first) == 0, "gpu_stream_synchronize");
        verify("on a stream");

        renew(rng);
        queue(ctx);
        CHECK(tilemm_set_stream(ctx, second) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        /* reads what the first stream writes */
        CHECK(tilemm_ssum(ctx, ROWS * COLS, device.transposed, 1, device.sums) == TILEMM_SUCCESS,
              "%s", tilemm_last_error(ctx));
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        CHECK(gpu_to_host(sums, device.sums, sizeof(sums)) == 0, "copy");
        CHECK(gpu_to_host(transposed, device.transposed, sizeof(transposed)) == 0, "copy");
        same(sums[0], reduce_exact_bits(TILEMM_SUM, 0, ROWS * COLS, transposed, NULL),
             "after a change of streams", "ssum");

        renew(rng);
        CHECK(tilemm_set_stream(ctx, NULL) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        queue(ctx);
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        verify("on the default stream");
    }
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    gpu_stream_destroy(first);
    gpu_stream_destroy(second);
}

static void graphs(rng_t *rng)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *stream = gpu_stream_create(), *graph;
    int replay;
    float host = 0;
    CHECK(tilemm_set_stream(ctx, stream) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    renew(rng);
    queue(ctx); /* allocates the workspace */
    CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    verify("before the capture");
    CHECK(gpu_capture_begin(stream) == 0, "gpu_capture_begin");
    queue(ctx);
    graph = gpu_capture_end(stream);
    CHECK(graph != NULL, "something broke the capture");
    for (replay = 0; graph && replay < 3; replay++) {
        renew(rng);
        CHECK(gpu_graph_launch(graph, stream) == 0, "gpu_graph_launch");
        CHECK(gpu_stream_synchronize(stream) == 0, "gpu_stream_synchronize");
        verify("replayed");
    }
    if (graph)
        gpu_graph_destroy(graph);
    /* and again without a graph, host results too */
    renew(rng);
    queue(ctx);
    CHECK(tilemm_ssum(ctx, LENGTH, device.x, 1, &host) == TILEMM_SUCCESS, "%s",
          tilemm_last_error(ctx));
    same(host, reduce_exact_bits(TILEMM_SUM, 0, LENGTH, x, NULL), "to the host", "ssum");
    CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    verify("after the graph");
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    gpu_stream_destroy(stream);
}

/* The workspace that a new context has is enough for these sizes, so even its first call can be
 * captured. */
static void cold_capture(rng_t *rng)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *stream = gpu_stream_create(), *graph;
    CHECK(tilemm_set_stream(ctx, stream) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    renew(rng);
    CHECK(gpu_capture_begin(stream) == 0, "gpu_capture_begin");
    queue(ctx);
    graph = gpu_capture_end(stream);
    CHECK(graph != NULL, "something broke the capture of a cold context");
    if (graph) {
        CHECK(gpu_graph_launch(graph, stream) == 0, "gpu_graph_launch");
        CHECK(gpu_stream_synchronize(stream) == 0, "gpu_stream_synchronize");
        verify("captured cold");
        gpu_graph_destroy(graph);
    }
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    gpu_stream_destroy(stream);
}

/* A call on device operands returns before its work is done. */
static void asynchronous(void)
{
    const int64_t n = test_quick() ? 2048 : 8192;
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *stream = gpu_stream_create();
    float *x = gpu_malloc((size_t)(n * n) * sizeof *x),
          *y = gpu_malloc((size_t)(n * n) * sizeof *y);
    if (!x || !y || !stream) {
        printf("no GPU memory for %lld^2: left out\n", (long long)n);
    } else {
        gpu_fill_async(x, 0x3c, (size_t)(n * n) * sizeof *x, stream);
        CHECK(tilemm_set_stream(ctx, stream) == TILEMM_SUCCESS, "set_stream");
        for (int round = 0; round < 2; round++) { /* the first loads code */
            gpu_stream_synchronize(stream);
            double start = test_seconds();
            CHECK(tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, n, n, n, 1,
                               x, n, x, n, 0, y, n) == TILEMM_SUCCESS,
                  "%s", tilemm_last_error(ctx));
            double queued = test_seconds() - start;
            gpu_stream_synchronize(stream);
            double done = test_seconds() - start;
            CHECK(round == 0 || queued < done / 2, "returned after %g s of %g s", queued, done);
        }
    }
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "destroy");
    gpu_free(x);
    gpu_free(y);
    gpu_stream_destroy(stream);
}

/* A graph keeps its workspace when a later call needs a larger one. */
static void growth_after_capture(rng_t *rng)
{
    const int64_t rows = 20011, cols = 12007;
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *stream = gpu_stream_create(), *graph;
    CHECK(tilemm_set_stream(ctx, stream) == TILEMM_SUCCESS, "set_stream");
    renew(rng);
    queue(ctx);
    CHECK(gpu_stream_synchronize(stream) == 0, "warm up");
    CHECK(gpu_capture_begin(stream) == 0, "begin");
    queue(ctx);
    graph = gpu_capture_end(stream);
    CHECK(graph != NULL, "end");
    void *large = gpu_malloc((size_t)rows * (size_t)cols * 16);
    if (large)
        CHECK(tilemm_transpose_inplace(ctx, rows, cols, 16, large, cols, rows) == TILEMM_SUCCESS,
              "%s", tilemm_last_error(ctx));
    renew(rng);
    CHECK(gpu_graph_launch(graph, stream) == 0 && gpu_stream_synchronize(stream) == 0, "replay");
    verify("replay after growth");
    gpu_graph_destroy(graph);
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "destroy");
    gpu_free(large);
    gpu_stream_destroy(stream);
}

int main(void)
{
    rng_t rng = {9000};
    test_begin(TILEMM_BACKEND_CUDA);
    allocate_all();
    streams(&rng);
    graphs(&rng);
    cold_capture(&rng);
    asynchronous();
    if (!test_quick()) /* a matrix of 4 GB, whose workspace is larger than the first one */
        growth_after_capture(&rng);
    free_all();
    return check_exit();
}
