/* lost_device.c - after a kernel has faulted, calls return a status and do not crash. On a GPU.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

int main(void)
{
    test_begin(TILEMM_BACKEND_CUDA);
    static const int twice[] = {0, 0};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, ""), several = NULL;
    CHECK(tilemm_create_multi(&several, 2, twice) == TILEMM_SUCCESS, "%s", tilemm_create_error());
    float *few = gpu_malloc(1024), *result = gpu_malloc(sizeof *result), host[4] = {1, 2, 3, 4};
    int64_t *offsets = gpu_malloc(2 * sizeof *offsets);
    if (!few || !result || !offsets) {
        printf("skipped: no GPU memory\n");
        return CHECK_SKIPPED;
    }

    /* x is far shorter than n: the kernel reads unmapped addresses. */
    tilemm_status_t status = tilemm_ssum(ctx, (int64_t)1 << 40, few, 1, result);
    CHECK(status == TILEMM_SUCCESS || status == TILEMM_DEVICE_FAILURE, "queued: %d", (int)status);
    status = tilemm_synchronize(ctx);
    CHECK(status == TILEMM_DEVICE_FAILURE, "synchronize: %d", (int)status);
    CHECK(strlen(tilemm_last_error(ctx)) > 0, "no message");

    /* Every call fails with that status now, wherever its operands are. */
    CHECK(tilemm_ssum(ctx, 4, few, 1, result) == TILEMM_DEVICE_FAILURE, "device operands");
    CHECK(tilemm_ssum(ctx, 4, host, 1, &host[3]) == TILEMM_DEVICE_FAILURE, "host operands");
    CHECK(tilemm_transpose(ctx, 2, 2, 4, few, 2, few + 64, 2) == TILEMM_DEVICE_FAILURE,
          "transpose");
    CHECK(tilemm_sreduce_segments(ctx, TILEMM_SUM, 1, few, offsets, result) ==
              TILEMM_DEVICE_FAILURE,
          "segments");
    CHECK(tilemm_sgemm_batched(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 2, 2, 2, 1,
                               (const float *const *)few, 2, (const float *const *)few, 2, 0,
                               (float *const *)few, 2, 1) == TILEMM_DEVICE_FAILURE,
          "arrays of pointers on the device");
    CHECK(tilemm_destroy(ctx) == TILEMM_DEVICE_FAILURE, "destroy");

    /* A context over several devices says which, and stays lost. */
    CHECK(tilemm_synchronize(several) == TILEMM_DEVICE_FAILURE, "synchronize");
    CHECK(strstr(tilemm_last_error(several), "device 0"), "%s", tilemm_last_error(several));
    CHECK(tilemm_ssum(several, 4, host, 1, &host[3]) == TILEMM_DEVICE_FAILURE, "host operands");
    CHECK(strstr(tilemm_last_error(several), "lost"), "%s", tilemm_last_error(several));
    CHECK(tilemm_destroy(several) == TILEMM_DEVICE_FAILURE, "destroy");

    /* A CPU context still works. */
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS, "CPU context");
    CHECK(tilemm_ssum(ctx, 3, host, 1, &host[3]) == TILEMM_SUCCESS && host[3] == 6, "CPU sum");
    tilemm_destroy(ctx);
    return check_exit();
}
