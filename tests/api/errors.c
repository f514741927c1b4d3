/* errors.c - wrong settings and questions are refused, in words that name the argument; a NULL
 * context, a NULL operand of no elements and a device pointer on the CPU never crash.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "refused.h"
#include "tools/gpu.h"

static void setting_errors(tilemm_t ctx)
{
    void *workspace = y;
    size_t bytes = 7;
    REFUSED(tilemm_get_backend(ctx, NULL), "get_backend: backend = NULL", "must be");
    REFUSED(tilemm_get_device(ctx, NULL), "get_device: device = NULL", "must be");
    REFUSED(tilemm_get_stream(ctx, NULL), "get_stream: cuda_stream = NULL", "must be");
    REFUSED(tilemm_get_math(ctx, NULL), "get_math: math = NULL", "must be");
    REFUSED(tilemm_get_nan_policy(ctx, NULL), "get_nan_policy: policy = NULL", "must be");
    REFUSED(tilemm_get_threads(ctx, NULL), "get_threads: threads = NULL", "must be");
    REFUSED(tilemm_get_threads(ctx, shifted(x, 2)), "get_threads: threads = 0x", "aligned to 4");
    REFUSED(tilemm_get_stream(ctx, shifted(x, 4)), "get_stream: cuda_stream = 0x", "aligned to 8");
    REFUSED(tilemm_get_workspace(ctx, NULL, &bytes), "get_workspace: workspace = NULL", "must be");
    REFUSED(tilemm_get_workspace(ctx, &workspace, NULL), "get_workspace: bytes = NULL", "must be");
    CHECK(workspace == y && bytes == 7, "get_workspace has stored something");
    REFUSED(tilemm_set_math(ctx, (tilemm_math_t)3), "set_math: math = 3", "must be");
    REFUSED(tilemm_set_nan_policy(ctx, (tilemm_nan_t)2), "set_nan_policy: policy = 2", "must be");
    REFUSED(tilemm_set_threads(ctx, -1), "set_threads: threads = -1", "must be at least 0");
    REFUSED(tilemm_set_workspace(ctx, NULL, 64), "set_workspace: ", "bytes = 64", "must be");
    REFUSED(tilemm_set_workspace(ctx, x, 0), "set_workspace: ", "bytes = 0", "must be");
    CHECK_OK(ctx, tilemm_set_stream(ctx, NULL));
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
#define W(layout, transa, transb, m, n, k, batch_count, bytes, ...)                                \
    REFUSED(tilemm_sgemm_workspace(ctx, layout, transa, transb, m, n, k, batch_count, bytes),      \
            "sgemm_workspace: ", __VA_ARGS__)
    W((tilemm_layout_t)100, no, no, 2, 2, 2, 1, &bytes, "layout = 100", "must be");
    W(row, (tilemm_op_t)0, no, 2, 2, 2, 1, &bytes, "transa = 0", "must be");
    W(row, no, (tilemm_op_t)1, 2, 2, 2, 1, &bytes, "transb = 1", "must be");
    W(row, no, no, -1, 2, 2, 1, &bytes, "m = -1", "must be at least 0");
    W(row, no, no, 2, -2, 2, 1, &bytes, "n = -2", "must be at least 0");
    W(row, no, no, 2, 2, -3, 1, &bytes, "k = -3", "must be at least 0");
    W(row, no, no, 2, 2, 2, -4, &bytes, "batch_count = -4", "must be at least 0");
    W(row, no, no, 2, 2, 2, 1, NULL, "bytes = NULL", "must be");
    W(row, no, no, 2, 2, 2, 1, shifted(indices, 4), "bytes = 0x", "must be aligned to 8 bytes");
#undef W
    CHECK(bytes == 12345, "%zu", bytes);
    CHECK_OK(ctx, tilemm_sgemm_workspace(ctx, row, no, no, 0, 5, 5, 1, &bytes));
    CHECK(bytes == 0, "%zu bytes for 0 rows", bytes);
    CHECK_OK(ctx, tilemm_sgemm_workspace(ctx, row, no, no, 2000, 2000, 2000, 1, &bytes));
    CHECK(TEST_BACKEND == TILEMM_BACKEND_CUDA || bytes == 0, "%zu bytes on a CPU", bytes);
}

static void null_contexts(void)
{
    tilemm_backend_t backend;
    tilemm_math_t math;
    tilemm_nan_t policy;
    int number;
    void *pointer;
    size_t bytes;
#define NO(call) CHECK((call) == TILEMM_INVALID_ARGUMENT && untouched(), "with a NULL context")
    NO(tilemm_create(NULL, TILEMM_BACKEND_CPU, 0));
    NO(tilemm_get_backend(NULL, &backend));
    NO(tilemm_get_device(NULL, &number));
    NO(tilemm_get_stream(NULL, &pointer));
    NO(tilemm_get_math(NULL, &math));
    NO(tilemm_get_nan_policy(NULL, &policy));
    NO(tilemm_get_threads(NULL, &number));
    NO(tilemm_get_workspace(NULL, &pointer, &bytes));
    NO(tilemm_set_log(NULL, NULL, NULL));
    NO(tilemm_set_stream(NULL, NULL));
    NO(tilemm_synchronize(NULL));
    NO(tilemm_set_math(NULL, TILEMM_MATH_FP32));
    NO(tilemm_set_nan_policy(NULL, TILEMM_NAN_IGNORE));
    NO(tilemm_set_threads(NULL, 1));
    NO(tilemm_set_workspace(NULL, NULL, 0));
    NO(tilemm_sgemm_workspace(NULL, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 2, 2, 2, 1,
                              &bytes));
    EVERY_OPERATION(NO, NULL);
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
    CHECK_OK(ctx, tilemm_ssum(ctx, 0, shifted(x, 1), 1, &sum));
    CHECK_OK(ctx, tilemm_smax(ctx, 0, NULL, -3, &most));
    CHECK_OK(ctx, tilemm_isamax(ctx, 0, NULL, 1, &index));
    CHECK(sum == 0 && most < -3e38f && index == -1, "of nothing: sum %g, max %g, index %lld",
          (double)sum, (double)most, (long long)index);
    CHECK_OK(ctx, tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, 0, 2, NULL, 2,
                                 out, 1));
    CHECK(out[0] == 0 && out[1] == 0, "sreduce of 0 rows");
    CHECK_OK(ctx, tilemm_sreduce(ctx, TILEMM_SUM, TILEMM_AXIS_COLS, TILEMM_ROW_MAJOR, 0, 2, NULL, 2,
                                 NULL, 1));
    out[0] = out[1] = 5;
    CHECK_OK(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, 2, NULL, none, out));
    CHECK(out[0] == 0 && out[1] == 0, "empty segments");
    CHECK_OK(ctx, tilemm_sreduce_segments(ctx, TILEMM_SUM, 0, NULL, NULL, NULL));
    CHECK_OK(ctx, tilemm_transpose(ctx, 0, 3, 4, shifted(x, 1), 3, shifted(y, 2), 1));
    CHECK_OK(ctx, tilemm_transpose_strided_batched(ctx, 2, 3, 4, NULL, 3, 0, NULL, 2, 0, 0));
    CHECK_OK(ctx, tilemm_transpose_inplace(ctx, 3, 0, 4, NULL, 1, 3));
}

#ifdef TEST_CUDA
/* Device pointers on a CPU context are refused for each argument. */
static void device_on_cpu(void)
{
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    void *device = device_array(4096);
    const tilemm_layout_t row = TILEMM_ROW_MAJOR;
    const tilemm_op_t no = TILEMM_NO_TRANS;
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
    DEVICE(tilemm_get_threads(ctx, device), ": threads = ");
#undef DEVICE
    gpu_free(device);
    tilemm_destroy(ctx);
}
#endif

int main(void)
{
    float sum = 0;
    test_begin(TEST_BACKEND);
    tilemm_t ctx = test_context(TEST_BACKEND, "");
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
    CHECK_OK(ctx, tilemm_ssum(ctx, 64, x, 1, &sum));
    CHECK(sum == 64, "the sum is %g after all errors", (double)sum);
    CHECK(strcmp(tilemm_last_error(ctx), "") != 0, "the last error is gone");
    CHECK(strcmp(tilemm_last_kernel(ctx), "") != 0, "ssum of 64 elements names no kernel");
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    return check_exit();
}
