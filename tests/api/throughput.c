/* throughput.c - a table of our rates and those of OpenBLAS, cuBLAS, CUB and the copy engine:
 * medians of interleaved runs. The test fails for no rate unless TILEMM_CHECK_MIN_RATIO is set:
 * then every row must reach that ratio.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/gpu.h"
#include "tools/reference.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { REPEATS = 9 };

static double min_ratio;
static int rows;

/* Seconds of each run, ours and the other library's. */
static double ours[REPEATS], theirs[REPEATS];

/* The stream and events that measure time on the GPU; NULL for the CPU. */
static void *stream, *before, *after;
static double started;

static void clock_start(void)
{
    if (stream)
        gpu_event_record(before, stream);
    started = test_seconds();
}

static double clock_stop(void)
{
    float milliseconds = 0;
    if (!stream)
        return test_seconds() - started;
    gpu_event_record(after, stream);
    gpu_event_synchronize(after);
    gpu_event_elapsed(&milliseconds, before, after);
    return 1e-3 * (double)milliseconds;
}

/* Run both in turn; the first time does not count. */
#define COMPARE(our_call, their_call)                                                              \
    for (int r = -1; r < REPEATS; r++) {                                                           \
        clock_start();                                                                             \
        our_call;                                                                                  \
        ours[r < 0 ? 0 : r] = clock_stop();                                                        \
        clock_start();                                                                             \
        their_call;                                                                                \
        theirs[r < 0 ? 0 : r] = clock_stop();                                                      \
    }

static int by_value(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

/* Print a row, for the work in one run on ctx. The name is formatted as by printf. */
static void row(tilemm_t ctx, const char *peer, double work, const char *unit, const char *format,
                ...)
{
    char name[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    if (!rows++)
        printf("%-34s %10s %10s  %-6s %6s  %s\n", "", "ours", "peer", "", "ratio", "");
    qsort(ours, REPEATS, sizeof(*ours), by_value);
    qsort(theirs, REPEATS, sizeof(*theirs), by_value);
    const double our = ours[REPEATS / 2], their = theirs[REPEATS / 2], ratio = their / our;
    printf("%-34s %10.1f %10.1f  %-6s %6.2f  %s, %s\n", name, work / our * 1e-9,
           work / their * 1e-9, unit, ratio, tilemm_last_kernel(ctx), peer);
    fflush(stdout);
    CHECK(ratio >= min_ratio, "%s: the ratio %.2f is below TILEMM_CHECK_MIN_RATIO", name, ratio);
}

static float *numbers(int64_t count)
{
    float *x = host_array(count);
    rng_t rng = {10};
    matrix_fill(x, TILEMM_ROW_MAJOR, 1, count, count, FAMILY_SIGNED, &rng);
    return x;
}

/* ---- the CPU --------------------------------------------------------------------------------- */

static void cpu(const reference_blas_t *blas)
{
    const int64_t size = test_quick() ? 200 : 1024, side = test_quick() ? 300 : 4096;
    const int64_t length = test_quick() ? 1 << 16 : 1 << 24;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const tilemm_op_t no = TILEMM_NO_TRANS;
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    float *a = numbers(size * size), *b = numbers(size * size), *c = numbers(size * size);
    float *x = numbers(length), *y = numbers(side * side), sum;
    for (int threads = 1; threads <= 2 && threads <= processors; threads++) {
        const char *plural = threads > 1 ? "s" : "";
        tilemm_set_threads(ctx, threads);
        if (blas->set_threads)
            blas->set_threads(threads);
        else if (threads > 1)
            break;
        if (blas->sgemm) {
            COMPARE(CHECK_OK(ctx, tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, no, no, size, size, size, 1,
                                               a, size, b, size, 0, c, size)),
                    blas->sgemm(TILEMM_ROW_MAJOR, no, no, (int)size, (int)size, (int)size, 1, a,
                                (int)size, b, (int)size, 0, c, (int)size));
            row(ctx, blas->name, 2.0 * (double)(size * size * size), "GF/s",
                "sgemm %d^3, %d thread%s", (int)size, threads, plural);
        }
        if (blas->somatcopy && side * side <= length) {
            COMPARE(CHECK_OK(ctx, tilemm_transpose(ctx, side, side, 4, x, side, y, side)),
                    blas->somatcopy(TILEMM_ROW_MAJOR, TILEMM_TRANS, (int)side, (int)side, 1, x,
                                    (int)side, y, (int)side));
            row(ctx, blas->name, 8.0 * (double)(side * side), "GB/s", "transpose %d^2, %d thread%s",
                (int)side, threads, plural);
        }
        if (blas->sasum) {
            COMPARE(CHECK_OK(ctx, tilemm_ssum(ctx, length, x, 1, &sum)),
                    sum = (blas->ssum ? blas->ssum : blas->sasum)((int)length, x, 1);
                    CHECK(sum == sum, "the reference's sum is NaN"));
            row(ctx, blas->name, 4.0 * (double)length, "GB/s", "sum of %lld, %d thread%s",
                (long long)length, threads, plural);
        }
    }
    tilemm_destroy(ctx);
    free(a);
    free(b);
    free(c);
    free(x);
    free(y);
}

/* ---- the GPU --------------------------------------------------------------------------------- */

static void *device_numbers(int64_t count)
{
    const int64_t part = 1 << 22;
    float *host = numbers(part), *device = gpu_malloc(sizeof(float) * (size_t)count);
    for (int64_t done = 0; device && done < count; done += part)
        gpu_to_device(device + done, host,
                      sizeof(float) * (size_t)(count - done < part ? count - done : part));
    gpu_synchronize();
    free(host);
    return device;
}

static void gpu_gemm(tilemm_t ctx, const reference_cublas_t *cublas)
{
    const int64_t size = test_quick() ? 512 : 4096;
    float *a = device_numbers(size * size), *b = device_numbers(size * size);
    float *c = device_numbers(size * size);
    cublas->set_stream(stream);
    tilemm_set_math(ctx, TILEMM_MATH_FP32_STRICT);
    for (int combination = 0; a && b && c && combination < 4; combination++) {
        const int ta = combination & 1, tb = combination >> 1;
        COMPARE(
            CHECK_OK(ctx, tilemm_sgemm(ctx, TILEMM_COL_MAJOR, ta ? TILEMM_TRANS : TILEMM_NO_TRANS,
                                       tb ? TILEMM_TRANS : TILEMM_NO_TRANS, size, size, size, 1, a,
                                       size, b, size, 0, c, size)),
            CHECK(cublas->sgemm(0, ta, tb, (int)size, (int)size, (int)size, 1, a, (int)size, b,
                                (int)size, 0, c, (int)size) == 0,
                  "cuBLAS failed"));
        row(ctx, cublas->name, 2.0 * (double)size * (double)size * (double)size, "GF/s",
            "sgemm %d^3 %c%c, strict, GPU", (int)size, ta ? 'T' : 'N', tb ? 'T' : 'N');
    }
    gpu_free(a);
    gpu_free(b);
    gpu_free(c);
}

static void gpu_transpose(tilemm_t ctx)
{
    const int64_t side = test_quick() ? 1024 : 8192;
    const size_t bytes = sizeof(float) * (size_t)(side * side);
    float *x = device_numbers(side * side), *y = gpu_malloc(bytes);
    if (x && y) {
        COMPARE(CHECK_OK(ctx, tilemm_transpose(ctx, side, side, 4, x, side, y, side)),
                gpu_copy_async(y, x, bytes, stream));
        row(ctx, "device-to-device copy", 2.0 * (double)bytes, "GB/s", "transpose %d^2, GPU",
            (int)side);
    }
    gpu_free(x);
    gpu_free(y);
}

static void gpu_sum(tilemm_t ctx, const reference_cub_t *cub)
{
    const int64_t length = test_quick() ? 1 << 22 : 1 << 28;
    float *x = device_numbers(length), *result = gpu_malloc(sizeof(float));
    size_t bytes = 0;
    CHECK(cub->sum(NULL, &bytes, x, length, result, stream) == 0, "CUB failed");
    void *workspace = gpu_malloc(bytes ? bytes : 1);
    if (x && result && workspace) {
        COMPARE(CHECK_OK(ctx, tilemm_ssum(ctx, length, x, 1, result)),
                CHECK(cub->sum(workspace, &bytes, x, length, result, stream) == 0, "CUB failed"));
        row(ctx, cub->name, 4.0 * (double)length, "GB/s", "sum of %lld, GPU", (long long)length);
    }
    gpu_free(x);
    gpu_free(result);
    gpu_free(workspace);
}

static void gpu(void)
{
    tilemm_t ctx = NULL;
    const reference_cublas_t *cublas = reference_cublas();
    const reference_cub_t *cub = reference_cub();
    if (tilemm_create(&ctx, TILEMM_BACKEND_CUDA, 0) != TILEMM_SUCCESS) {
        printf("no CUDA context: no rates on the GPU\n");
        return;
    }
    stream = gpu_stream_create();
    before = gpu_event_create();
    after = gpu_event_create();
    CHECK_OK(ctx, tilemm_set_stream(ctx, stream));
    if (cublas)
        gpu_gemm(ctx, cublas);
    else
        printf("no cuBLAS: no ratio of sgemm on the GPU\n");
    gpu_transpose(ctx);
    if (cub)
        gpu_sum(ctx, cub);
    else
        printf("no CUB module: no ratio of the sum on the GPU\n");
    tilemm_destroy(ctx);
    gpu_event_destroy(before);
    gpu_event_destroy(after);
    gpu_stream_destroy(stream);
}

int main(void)
{
    const char *limit = getenv("TILEMM_CHECK_MIN_RATIO");
    test_begin(TILEMM_BACKEND_CPU);
    if (limit && *limit) {
        char *end;
        min_ratio = strtod(limit, &end);
        if (*end || !(min_ratio >= 0)) {
            fprintf(stderr, "TILEMM_CHECK_MIN_RATIO=%s is no ratio\n", limit);
            return 1;
        }
    }
    const reference_blas_t *blas = reference_blas();
    if (blas)
        cpu(blas);
    if (gpu_open(0) == 0)
        gpu();
    if (!rows) {
        printf("skipped: no library to compare with\n");
        return check_failures ? 1 : CHECK_SKIPPED;
    }
    return check_exit();
}
