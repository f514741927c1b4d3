/* errors.c - wrong settings and questions are refused, in words that name the argument; a NULL
 * context, a NULL operand of no elements and a device pointer on the CPU never crash.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <string.h>

#include "refused.h"
#include "tools/gpu.h"

static void setting_errors(tilemm_t ctx)
{
    REFUSED(tilemm_get_backend(ctx, NULL), "get_backend: backend = NULL", "must be");
    REFUSED(tilemm_set_math(ctx, (tilemm_math_t)3), "set_math: math = 3", "must be");
    REFUSED(tilemm_set_nan_policy(ctx, (tilemm_nan_t)2), "set_nan_policy: policy = 2", "must be");
    REFUSED(tilemm_set_threads(ctx, -1), "set_threads: threads = -1", "must be at least 0");
    REFUSED(tilemm_set_workspace(ctx, NULL, 64), "set_workspace: ", "bytes = 64", "must be");
    REFUSED(tilemm_set_workspace(ctx, x, 0), "set_workspace: ", "bytes = 0", "must be");
    CHECK(tilemm_set_stream(ctx, NULL) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
    if (TEST_BACKEND == TILEMM_BACKEND_CPU) {
        CHECK(tilemm_set_stream(ctx, x) == TILEMM_NOT_SUPPORTED, "set_stream on a CPU context");
        CHECK(strstr(tilemm_last_error(ctx), "set_stream: ") &&
                  strstr(tilemm_last_error(ctx), "must be"),
              "\"%s\"", tilemm_last_error(ctx));
    } else {
        REFUSED(tilemm_set_workspace(ctx, x, sizeof(x)), "set_workspace: workspace = ", "must be");
    }
}

static void workspace_errors(tilemm_t ctx)
{
    const tilemm_layout_t row = TILEMM_ROW_MAJOR;
    const tilemm_op_t no = TILEMM_NO_TRANS;
    size_t bytes = 12345;
    REFUSED(tilemm_sgemm_workspace(ctx, (tilemm_layout_t)100, no, no, 2, 2, 2, 1, &bytes),
            "sgemm_workspace: layout = 100", "must be");
    REFUSED(tilemm_sgemm_workspace(ctx, row, (tilemm_op_t)0, no, 2, 2, 2, 1, &bytes),
            "sgemm_workspace: transa = 0", "must be");
    REFUSED(tilemm_sgemm_workspace(ctx, row, no, (tilemm_op_t)1, 2, 2, 2, 1, &bytes),
            "sgemm_workspace: transb = 1", "must be");
    REFUSED(tilemm_sgemm_workspace(ctx, row, no, no, -1, 2, 2, 1, &bytes),
            "sgemm_workspace: m = -1", "must be at least 0");
    REFUSED(tilemm_sgemm_workspace(ctx, row, no, no, 2, -2, 2, 1, &bytes),
            "sgemm_workspace: n = -2", "must be at least 0");
    REFUSED(tilemm_sgemm_workspace(ctx, row, no, no, 2, 2, -3, 1, &bytes),
            "sgemm_workspace: k = -3", "must be at least 0");
    REFUSED(tilemm_sgemm_workspace(ctx, row, no, no, 2, 2, 2, -4, &bytes),
            "sgemm_workspace: batch_count = -4", "must be at least 0");
    REFUSED(tilemm_sgemm_workspace(ctx, row, no, no, 2, 2, 2, 1, NULL),
            "sgemm_workspace: bytes = NULL", "must be");
    CHECK(bytes == 12345, "%zu", bytes);
    CHECK(tilemm_sgemm_workspace(ctx, row, no, no, 0, 5, 5, 1, &bytes) == TILEMM_SUCCESS &&
              bytes == 0,
          "%s: %zu", tilemm_last_error(ctx), bytes);
    CHECK(tilemm_sgemm_workspace(ctx, row, no, no, 2000, 2000, 2000, 1, &bytes) == TILEMM_SUCCESS,
          "%s", tilemm_last_error(ctx));
    CHECK(TEST_BACKEND == TILEMM_BACKEND_CUDA || bytes == 0, "%zu bytes on a CPU", bytes);
}

static void null_contexts(void)
{
    tilemm_backend_t backend = TILEMM_BACKEND_AUTO;
    const float *a[1] = {x};
    float *c[1] = {result};
    tilemm_layout_t row = TILEMM_ROW_MAJOR;
    tilemm_op_t no = TILEMM_NO_TRANS;
    size_t bytes = 0;
#define NO(call) CHECK((call) == TILEMM_INVALID_ARGUMENT && untouched(), "with a NULL context")
    NO(tilemm_create(NULL, TILEMM_BACKEND_CPU, 0));
    NO(tilemm_get_backend(NULL, &backend));
    NO(tilemm_set_stream(NULL, NULL));
    NO(tilemm_synchronize(NULL));
    NO(tilemm_set_math(NULL, TILEMM_MATH_FP32));
    NO(tilemm_set_nan_policy(NULL, TILEMM_NAN_IGNORE));
    NO(tilemm_set_threads(NULL, 1));
    NO(tilemm_set_workspace(NULL, NULL, 0));
    NO(tilemm_sgemm(NULL, row, no, no, 2, 2, 2, 1, x, 2, y, 2, 0, result, 2));
    NO(tilemm_sgemm_strided_batched(NULL, row, no, no, 2, 2, 2, 1, x, 2, 4, y, 2, 4, 0, result, 2,
                                    4, 2));
    NO(tilemm_sgemm_workspace(NULL, row, no, no, 2, 2, 2, 1, &bytes));
    NO(tilemm_sgemm_batched(NULL, row, no, no, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, 1));
    NO(tilemm_transpose(NULL, 2, 2, 4, x, 2, result, 2));
    NO(tilemm_transpose_strided_batched(NULL, 2, 2, 4, x, 2, 4, result, 2, 4, 2));
    NO(tilemm_transpose_inplace(NULL, 2, 2, 4, result, 2, 2));
    NO(tilemm_somatcopy(NULL, row, no, 2, 2, 1, x, 2, result, 2));
    NO(tilemm_simatcopy(NULL, row, no, 2, 2, 1, result, 2, 2));
    NO(tilemm_ssum(NULL, 2, x, 1, result));
    NO(tilemm_sasum(NULL, 2, x, 1, result));
    NO(tilemm_snrm2(NULL, 2, x, 1, result));
    NO(tilemm_smax(NULL, 2, x, 1, result));
    NO(tilemm_smin(NULL, 2, x, 1, result));
    NO(tilemm_sdot(NULL, 2, x, 1, y, 1, result));
    NO(tilemm_isamax(NULL, 2, x, 1, indices));
    NO(tilemm_isamin(NULL, 2, x, 1, indices));
    NO(tilemm_ismax(NULL, 2, x, 1, indices));
    NO(tilemm_ismin(NULL, 2, x, 1, indices));
    NO(tilemm_sreduce(NULL, TILEMM_SUM, TILEMM_AXIS_ROWS, row, 2, 2, x, 2, result, 1));
    NO(tilemm_sargreduce(NULL, TILEMM_MAX, TILEMM_AXIS_ROWS, row, 2, 2, x, 2, result, 1, indices));
    NO(tilemm_sreduce_segments(NULL, TILEMM_SUM, 1, x, offsets, result));
#undef NO
    CHECK(tilemm_destroy(NULL) == TILEMM_SUCCESS, "tilemm_destroy(NULL)");
    CHECK(tilemm_last_error(NULL) != NULL, "tilemm_last_error(NULL)");
    CHECK(tilemm_last_kernel(NULL) != NULL, "tilemm_last_kernel(NULL)");
}

/* What looks wrong and is not. */
static void allowed(tilemm_t ctx)
{
    int64_t index = 5;
    float sum = 5, most = 5;
    static const int64_t none[] = {0, 0, 0};
    float out[2] = {5, 5};
    CHECK(tilemm_ssum(ctx, 0, NULL, 1, &sum) == TILEMM_SUCCESS && sum == 0, "ssum of nothing: %s",
          tilemm_last_error(ctx));
    CHECK(tilemm_smax(ctx, 0, NULL, -3, &most) == TILEMM_SUCCESS && most < -3e38f,
          "smax of nothing: %s", tilemm_last_error(ctx));
    CHECK(tilemm_isamax(ctx, 0, NULL, 1, &index) == TILEMM_SUCCESS && index == -1,
          "isamax of nothing: %s", tilemm_last_error(ctx));
    CHECK(tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 0, 2, NULL, 2, out,
                         1) == TILEMM_SUCCESS &&
              out[0] == 0 && out[1] == 0,
          "sreduce of 0 rows: %s", tilemm_last_error(ctx));
    CHECK(tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_COLS, TILEMM_ROW_MAJOR, 0, 2, NULL, 2, NULL,
                         1) == TILEMM_SUCCESS,
          "sreduce to 0 results: %s", tilemm_last_error(ctx));
    out[0] = out[1] = 5;
    CHECK(tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, NULL, none, out) == TILEMM_SUCCESS &&
              out[0] == 0 && out[1] == 0,
          "empty segments: %s", tilemm_last_error(ctx));
    CHECK(tilemm_sreduce_segments(ctx, TILEMM_SUM, 0, NULL, NULL, NULL) == TILEMM_SUCCESS,
          "no segments: %s", tilemm_last_error(ctx));
    CHECK(tilemm_transpose(ctx, 0, 3, 4, NULL, 3, NULL, 1) == TILEMM_SUCCESS,
          "transpose of 0 rows: %s", tilemm_last_error(ctx));
    CHECK(tilemm_transpose_strided_batched(ctx, 2, 3, 4, NULL, 3, 0, NULL, 2, 0, 0) ==
              TILEMM_SUCCESS,
          "no transposes: %s", tilemm_last_error(ctx));
    CHECK(tilemm_transpose_inplace(ctx, 3, 0, 4, NULL, 1, 3) == TILEMM_SUCCESS,
          "transpose in place of 0 columns: %s", tilemm_last_error(ctx));
}

#ifdef TEST_CUDA
/* Device pointers on a CPU context are refused for each argument. */
static void device_on_cpu(void)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    void *device = gpu_malloc(4096);
    tilemm_layout_t row = TILEMM_ROW_MAJOR;
    tilemm_op_t no = TILEMM_NO_TRANS;
    CHECK(device != NULL, "gpu_malloc");
#define DEVICE(call, argument) REFUSED(call, argument, "device memory", "must be")
    DEVICE(tilemm_sgemm(ctx, row, no, no, 2, 2, 2, 1, device, 2, y, 2, 0, result, 2), ": a = ");
    DEVICE(tilemm_sgemm(ctx, row, no, no, 2, 2, 2, 1, x, 2, device, 2, 0, result, 2), ": b = ");
    DEVICE(tilemm_sgemm(ctx, row, no, no, 2, 2, 2, 1, x, 2, y, 2, 0, device, 2), ": c = ");
    DEVICE(tilemm_transpose(ctx, 2, 2, 4, device, 2, result, 2), ": src = ");
    DEVICE(tilemm_transpose(ctx, 2, 2, 4, x, 2, device, 2), ": dst = ");
    DEVICE(tilemm_transpose_inplace(ctx, 2, 2, 4, device, 2, 2), ": a = ");
    DEVICE(tilemm_somatcopy(ctx, row, no, 2, 2, 2, device, 2, result, 2), ": a = ");
    DEVICE(tilemm_somatcopy(ctx, row, no, 2, 2, 2, x, 2, device, 2), ": b = ");
    DEVICE(tilemm_ssum(ctx, 2, device, 1, result), ": x = ");
    DEVICE(tilemm_ssum(ctx, 2, x, 1, device), ": result = ");
    DEVICE(tilemm_sdot(ctx, 2, x, 1, device, 1, result), ": y = ");
    DEVICE(tilemm_isamax(ctx, 2, x, 1, device), ": index = ");
    DEVICE(tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, row, 2, 2, device, 2, result, 1),
           ": a = ");
    DEVICE(tilemm_sreduce_segments(ctx, TILEMM_SUM, 1, x, device, result), ": offsets = ");
    DEVICE(tilemm_set_workspace(ctx, device, 4096), ": workspace = ");
#undef DEVICE
    gpu_free(device);
    tilemm_destroy(ctx);
}
#endif

int main(void)
{
    tilemm_t ctx;
    float sum = 0;
    test_begin(TEST_BACKEND);
    ctx = test_context(TEST_BACKEND, "");
    prepare_arguments();
    CHECK(strcmp(tilemm_last_error(ctx), "") == 0, "a new context says \"%s\"",
          tilemm_last_error(ctx));
    CHECK(strcmp(tilemm_last_kernel(ctx), "") == 0, "a new context says \"%s\"",
          tilemm_last_kernel(ctx));
    workspace_errors(ctx);
    setting_errors(ctx);
    null_contexts();
    allowed(ctx);
#ifdef TEST_CUDA
    device_on_cpu();
#endif
    /* the message stays; the context works on */
    CHECK(tilemm_ssum(ctx, 64, x, 1, &sum) == TILEMM_SUCCESS && sum == 64, "after all errors: %s",
          tilemm_last_error(ctx));
    CHECK(strcmp(tilemm_last_error(ctx), "") != 0, "the last error is gone");
    CHECK(strcmp(tilemm_last_kernel(ctx), "") != 0, "ssum of 64 elements names no kernel");
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    return check_exit();
}
