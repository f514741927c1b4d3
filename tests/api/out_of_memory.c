/* out_of_memory.c - where memory is short, operations choose a method that needs less, or return
 * TILEMM_OUT_OF_MEMORY; the context can still be used.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { M = 300, N = 310, K = 400, ROWS = 401, COLS = 367 };

/* Static, so that it is there before memory is short. */
static float a[M * K], b[K * N], c[M * N];
static double dot[M * N], mag[M * N];
static uint32_t matrix[ROWS * COLS], saved[ROWS * COLS];
static float x[5000];

static const gemm_t gemm = {
    TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, M, N, K, 1, 0, K, N, N};

/* Check the status of an operation, for which TILEMM_OUT_OF_MEMORY may be right too. */
static int succeeded(tilemm_t ctx, tilemm_status_t status, int may_fail, const char *when,
                     const char *what)
{
    CHECK(status == TILEMM_SUCCESS || (may_fail && status == TILEMM_OUT_OF_MEMORY),
          "%s: %s: %s: %s", when, what, tilemm_status_string(status), tilemm_last_error(ctx));
    return status == TILEMM_SUCCESS;
}

/* Each operation on operands in host memory. With may_fail, TILEMM_OUT_OF_MEMORY is right too; with
 * may_not_transpose, of the transpose. Returns the number of operations that succeeded. */
static int operations(tilemm_t ctx, int may_fail, int may_not_transpose, const char *when)
{
    float sum = 0;
    int wrong = 0, done = 0;
    memset(c, 0xff, sizeof(c));
    tilemm_status_t status = gemm_call(ctx, &gemm, a, b, c);
    if (succeeded(ctx, status, may_fail, when, "sgemm")) {
        const gemm_error_t error = gemm_error(&gemm, dot, mag, c, c, 0);
        CHECK(error.outside == 0, "%s: sgemm: %s: %lld elements out of bounds", when,
              tilemm_last_kernel(ctx), (long long)error.outside);
        done++;
    }
    for (int i = 0; i < ROWS * COLS; i++)
        matrix[i] = saved[i] = (uint32_t)i * UINT32_C(2654435761);
    status = tilemm_transpose_inplace(ctx, ROWS, COLS, 4, matrix, COLS, ROWS);
    if (succeeded(ctx, status, may_fail || may_not_transpose, when, "transpose_inplace")) {
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++)
                wrong += matrix[j * ROWS + i] != saved[i * COLS + j];
        CHECK(wrong == 0, "%s: transpose_inplace: %s: %d elements wrong", when,
              tilemm_last_kernel(ctx), wrong);
        done++;
    } else {
        CHECK(memcmp(matrix, saved, sizeof(matrix)) == 0, "%s: a failure changed the matrix", when);
    }
    if (succeeded(ctx, tilemm_ssum(ctx, 5000, x, 1, &sum), may_fail, when, "ssum")) {
        const float want = reduce_exact_bits(TILEMM_SUM, 0, 5000, x, NULL);
        CHECK(sum == want, "%s: ssum: %.9g, not %.9g", when, (double)sum, (double)want);
        done++;
    }
    return done;
}

static void small_workspaces(tilemm_t ctx)
{
    static const size_t bytes[] = {1, 100, 5000, 20000, 50001, 200000};
    static operand_t workspace;
    const int is_gpu = TEST_BACKEND == TILEMM_BACKEND_CUDA;
    /* A GPU transposes in place with 64 KiB, 128 bytes for each element of the shorter side, and
     * 1/64 of the matrix. */
    const size_t enough = is_gpu ? 65536 + 128 * COLS + sizeof(matrix) / 64 + 255 : 0;
    for (int i = 0; i < 6; i++) {
        for (int offset = -1; offset < 2; offset++) {
            operand_prepare(&workspace, is_gpu ? PLACE_DEVICE : PLACE_HOST, bytes[i], offset);
            operand_send(&workspace);
            operand_own(&workspace, 0, bytes[i]);
            CHECK_OK(ctx, tilemm_set_workspace(ctx, workspace.pointer, bytes[i]));
            operations(ctx, 0, bytes[i] < enough, "small workspace");
            CHECK_OK(ctx, tilemm_set_workspace(ctx, NULL, 0));
            operand_fetch(&workspace);
            CHECK(operand_intact(&workspace), "bytes beside a workspace of %zu changed", bytes[i]);
        }
    }
    operand_free(&workspace);
    operations(ctx, 0, 0, "workspace given back");
}

#ifndef TEST_CUDA
/* An invariant product; on AMX there is one way to make it, which needs memory. */
static int invariant_product(tilemm_t ctx, int may_fail, const char *when)
{
    memset(c, 0xff, sizeof(c));
    CHECK_OK(ctx, tilemm_set_invariance(ctx, TILEMM_INVARIANT));
    const tilemm_status_t status = gemm_call(ctx, &gemm, a, b, c);
    const int done = succeeded(ctx, status, may_fail, when, "invariant sgemm");
    if (done)
        CHECK(gemm_error(&gemm, dot, mag, c, c, 0).outside == 0, "%s: invariant sgemm", when);
    else
        CHECK(strstr(tilemm_last_error(ctx), "sgemm: "), "%s", tilemm_last_error(ctx));
    CHECK_OK(ctx, tilemm_set_invariance(ctx, TILEMM_INVARIANCE_NONE));
    return done;
}

/* The process may take hardly more address space than it has: no workspace can be allocated. */
static void address_space(void)
{
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    const int is_known = statm && fscanf(statm, "%lu", &pages) == 1;
    if (statm)
        fclose(statm);
    if (!is_known || getrlimit(RLIMIT_AS, &limit)) {
        printf("no way to limit memory here: left out\n");
        return;
    }
    for (rlim_t room = 0; room <= 1 << 20; room += 256 << 10) {
        tilemm_t ctx = NULL;
        struct rlimit tight = limit;
        tight.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + room;
        if (setrlimit(RLIMIT_AS, &tight)) {
            printf("memory cannot be limited here: left out\n");
            return;
        }
        const tilemm_status_t status = tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0);
        CHECK(status == TILEMM_SUCCESS || (status == TILEMM_OUT_OF_MEMORY && !ctx),
              "tilemm_create without memory: %s", tilemm_status_string(status));
        if (ctx) {
            tilemm_set_threads(ctx, 1); /* more threads would need memory */
            operations(ctx, 0, 0, "address space used up");
            printf("%d bytes more: invariant product %s\n", (int)room,
                   invariant_product(ctx, 1, "address space used up") ? "done" : "refused");
        }
        setrlimit(RLIMIT_AS, &limit);
        if (ctx) {
            operations(ctx, 0, 0, "address space free again");
            invariant_product(ctx, 0, "address space free again");
            CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
        }
    }
}

#else
/* Nearly all of the GPU's memory is taken: host operands cannot be copied there. */
static void device_memory(tilemm_t ctx)
{
    enum { MOST = 4096 };
    static void *taken[MOST];
    size_t free_bytes = 0, total_bytes = 0;
    int count = 0;
    CHECK(gpu_memory(&free_bytes, &total_bytes) == 0, "gpu_memory");
    for (size_t part = free_bytes / 2; part >= 1 << 20; part /= 2)
        while (count < MOST && (taken[count] = gpu_malloc(part)) != NULL)
            count++;
    printf("%d of 3 operations found room\n", operations(ctx, 1, 0, "device memory used up"));
    for (int i = 0; i < count; i++)
        gpu_free(taken[i]);
    CHECK(operations(ctx, 0, 0, "device memory free again") == 3, "not all operations work");
}
#endif

int main(void)
{
    rng_t rng = {8000};
    test_begin_alone(TEST_BACKEND);
    matrix_fill(a, TILEMM_ROW_MAJOR, M, K, K, FAMILY_NORMAL, &rng);
    matrix_fill(b, TILEMM_ROW_MAJOR, K, N, N, FAMILY_NORMAL, &rng);
    matrix_fill(x, TILEMM_ROW_MAJOR, 1, 5000, 5000, FAMILY_NORMAL, &rng);
    gemm_exact(&gemm, a, b, dot, mag);
    tilemm_t ctx = test_context(TEST_BACKEND, "");
    small_workspaces(ctx);
#ifdef TEST_CUDA
    device_memory(ctx);
#else
    if (TEST_SANITIZED || test_is_run_by_another())
        printf("the address space is also that of what watches or runs this test: no limit\n");
    else
        address_space();
#endif
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    return check_exit();
}
