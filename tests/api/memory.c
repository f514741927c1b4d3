/* memory.c - matrices that a context allocates, memory that it pins, and copies between any two
 * kinds of memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum {
    MOST_ROWS = 70,
    MOST_COLS = 300,
    MOST_BATCH = 3,
    CUDA = TEST_BACKEND == TILEMM_BACKEND_CUDA
};

static const size_t sizes[] = {1, 2, 4, 8, 16};
static unsigned char image[MOST_BATCH * (MOST_ROWS + 1) * 16 * (MOST_COLS + 9)];
static unsigned char before[sizeof(image)], after[sizeof(image)];

/* Whether the call fails so, with words that name the argument. */
static void refused(tilemm_t ctx, tilemm_status_t got, tilemm_status_t want, const char *word)
{
    CHECK(got == want, "%s: %s: %s", word, tilemm_status_string(got), tilemm_last_error(ctx));
    CHECK(strstr(tilemm_last_error(ctx), word), "\"%s\" does not name %s", tilemm_last_error(ctx),
          word);
}

static void errors(tilemm_t ctx)
{
    void *matrix = &matrix, *const mark = matrix;
    int64_t ld = 7;
    float x[4] = {0};
    const tilemm_memory_t host = TILEMM_MEMORY_HOST;
    refused(ctx, tilemm_alloc_matrix(ctx, host, 1, 1, 4, NULL, &ld), TILEMM_INVALID_ARGUMENT,
            "matrix");
    CHECK(matrix == mark, "written");
    refused(ctx, tilemm_alloc_matrix(ctx, host, 1, 1, 4, &matrix, NULL), TILEMM_INVALID_ARGUMENT,
            "ld");
    refused(ctx, tilemm_alloc_matrix(ctx, host, -1, 1, 4, &matrix, &ld), TILEMM_INVALID_ARGUMENT,
            "rows = -1");
    refused(ctx, tilemm_alloc_matrix(ctx, host, 1, -5, 4, &matrix, &ld), TILEMM_INVALID_ARGUMENT,
            "cols = -5");
    refused(ctx, tilemm_alloc_matrix(ctx, host, 1, 1, 3, &matrix, &ld), TILEMM_INVALID_ARGUMENT,
            "elem_size = 3");
    refused(ctx, tilemm_alloc_matrix(ctx, (tilemm_memory_t)9, 1, 1, 4, &matrix, &ld),
            TILEMM_INVALID_ARGUMENT, "where = 9");
    refused(ctx, tilemm_alloc_matrix(ctx, host, INT64_MAX / 8, 64, 4, &matrix, &ld),
            TILEMM_INVALID_ARGUMENT, "matrix");
    refused(ctx, tilemm_alloc_matrix(ctx, host, 1, INT64_MAX, 1, &matrix, &ld),
            TILEMM_INVALID_ARGUMENT, "cols");
    if (!TEST_SANITIZED) /* which ends a program that asks for so much */
        refused(ctx, tilemm_alloc_matrix(ctx, host, (int64_t)1 << 40, 4096, 4, &matrix, &ld),
                TILEMM_OUT_OF_MEMORY, "alloc_matrix");
    CHECK(matrix == NULL && ld == 7, "a failed call has left %p and %lld", matrix, (long long)ld);
    refused(ctx, tilemm_free_matrix(ctx, x), TILEMM_INVALID_ARGUMENT, "matrix");
    refused(ctx, tilemm_unregister_host(ctx, x), TILEMM_INVALID_ARGUMENT, "memory");
    refused(ctx, tilemm_copy_matrix(ctx, 2, 2, 4, x, 1, x + 2, 2), TILEMM_INVALID_ARGUMENT,
            "ld_src = 1");
    refused(ctx, tilemm_copy_matrix(ctx, 2, 2, 4, x, 2, NULL, 2), TILEMM_INVALID_ARGUMENT, "dst");
    refused(ctx, tilemm_copy_matrix(ctx, 2, 2, 5, x, 2, x, 2), TILEMM_INVALID_ARGUMENT,
            "elem_size = 5");
    CHECK_OK(ctx, tilemm_copy_matrix(ctx, 0, 2, 4, NULL, 2, NULL, 2));
    CHECK_OK(ctx, tilemm_free_matrix(ctx, NULL));
    CHECK(tilemm_free_matrix(NULL, x) == TILEMM_INVALID_ARGUMENT, "no context");
    CHECK(tilemm_alloc_matrix(NULL, host, 1, 1, 4, &matrix, &ld) == TILEMM_INVALID_ARGUMENT,
          "no context");
    if (CUDA) {
        refused(ctx, tilemm_register_host(ctx, NULL, 8), TILEMM_INVALID_ARGUMENT, "memory");
        refused(ctx, tilemm_register_host(ctx, x, 0), TILEMM_INVALID_ARGUMENT, "bytes");
        return;
    }
    for (int where = TILEMM_MEMORY_PINNED; where <= TILEMM_MEMORY_MANAGED; where++)
        refused(ctx, tilemm_alloc_matrix(ctx, (tilemm_memory_t)where, 1, 1, 4, &matrix, &ld),
                TILEMM_NOT_SUPPORTED, "where");
    refused(ctx, tilemm_register_host(ctx, x, sizeof(x)), TILEMM_NOT_SUPPORTED, "register_host");
}

static void *allocate(tilemm_t ctx, int where, int64_t rows, int64_t cols, size_t size, int64_t *ld)
{
    void *matrix = NULL;
    CHECK_OK(ctx, tilemm_alloc_matrix(ctx, (tilemm_memory_t)where, rows, cols, size, &matrix, ld));
    CHECK(matrix && (uintptr_t)matrix % 256 == 0, "kind %d: at %p", where, matrix);
    CHECK(*ld >= cols && (size_t)*ld * size % (CUDA ? 256 : 64) == 0, "kind %d: ld = %lld", where,
          (long long)*ld);
    return matrix;
}

/* A matrix goes from the program's memory through two kinds of memory and back into a frame, of
 * which nothing else changes. */
static void round_trip(tilemm_t ctx, int first, int second, rng_t *rng)
{
    const size_t size = sizes[rng_range(rng, 0, 4)];
    const int64_t rows = rng_range(rng, 1, MOST_ROWS), cols = rng_range(rng, 1, MOST_COLS);
    const int64_t batch = rng_range(rng, 1, MOST_BATCH), gap = rng_range(rng, 0, 9);
    const int64_t width = cols + gap, stride = width * (rows + rng_range(rng, 0, 1));
    int64_t ld_1, ld_2;
    int wrong = 0;
    void *one = allocate(ctx, first, rows * batch, cols, size, &ld_1);
    void *two = allocate(ctx, second, rows * batch, cols, size, &ld_2);
    rng_bytes(rng, image, sizeof(image));
    rng_bytes(rng, before, sizeof(before));
    memcpy(after, before, sizeof(before));
    CHECK_OK(ctx, tilemm_copy_matrix_strided_batched(ctx, rows, cols, size, image, width, stride,
                                                     one, ld_1, ld_1 * rows, batch));
    CHECK_OK(ctx, tilemm_copy_matrix(ctx, rows * batch, cols, size, one, ld_1, two, ld_2));
    CHECK_OK(ctx, tilemm_synchronize(ctx));
    CHECK_OK(ctx, tilemm_copy_matrix_strided_batched(ctx, rows, cols, size, two, ld_2, ld_2 * rows,
                                                     after, width, stride, batch));
    for (int64_t b = 0; b < batch; b++)
        for (int64_t r = 0; r < rows; r++) {
            const size_t at = (size_t)(b * stride + r * width) * size;
            wrong += memcmp(after + at, image + at, (size_t)cols * size) != 0;
            memcpy(after + at, before + at, (size_t)cols * size);
        }
    CHECK(wrong == 0, "kinds %d and %d, %lld x %lld of %zu: %d rows are wrong", first, second,
          (long long)rows, (long long)cols, size, wrong);
    CHECK(memcmp(after, before, sizeof(before)) == 0, "kinds %d and %d: bytes outside", first,
          second);
    CHECK_OK(ctx, tilemm_free_matrix(ctx, one));
    CHECK_OK(ctx, tilemm_free_matrix(ctx, two));
    CHECK(tilemm_free_matrix(ctx, two) == TILEMM_INVALID_ARGUMENT, "freed twice");
}

static void empty(tilemm_t ctx)
{
    int64_t ld = 0;
    void *matrix = allocate(ctx, TILEMM_MEMORY_HOST, 0, 5, 4, &ld);
    CHECK_OK(ctx, tilemm_free_matrix(ctx, matrix));
    matrix = allocate(ctx, TILEMM_MEMORY_HOST, 5, 0, 4, &ld);
    CHECK(ld >= 1, "ld = %lld", (long long)ld);
    CHECK_OK(ctx, tilemm_free_matrix(ctx, matrix));
}

static void setting(tilemm_t ctx)
{
    size_t bytes = 1;
    CHECK_OK(ctx, tilemm_get_device_memory(ctx, &bytes));
    CHECK(bytes == 0, "%zu at the start", bytes);
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, (size_t)3 << 30));
    CHECK_OK(ctx, tilemm_get_device_memory(ctx, &bytes));
    CHECK(bytes == (size_t)3 << 30, "%zu", bytes);
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, 0));
    refused(ctx, tilemm_get_device_memory(ctx, NULL), TILEMM_INVALID_ARGUMENT, "bytes");
    CHECK(tilemm_set_device_memory(NULL, 0) == TILEMM_INVALID_ARGUMENT, "no context");
}

/* On a GPU: memory of the program is pinned and let go; device memory comes back. */
static void registered(tilemm_t ctx)
{
    enum { BYTES = 1 << 20, CALLS = 1000 };
    size_t free_before = 0, free_after = 0, total;
    int64_t ld;
    float *memory = test_need(aligned_alloc(4096, BYTES)), sum = 0;
    for (int i = 0; i < BYTES / 4; i++)
        memory[i] = 1;
    CHECK_OK(ctx, tilemm_register_host(ctx, memory, BYTES));
    refused(ctx, tilemm_register_host(ctx, memory, BYTES), TILEMM_INVALID_ARGUMENT, "memory");
    CHECK_OK(ctx, tilemm_ssum(ctx, BYTES / 4, memory, 1, &sum));
    CHECK(sum == BYTES / 4, "sum %g", (double)sum);
    CHECK_OK(ctx, tilemm_unregister_host(ctx, memory));
    refused(ctx, tilemm_unregister_host(ctx, memory), TILEMM_INVALID_ARGUMENT, "memory");
    void *matrix = allocate(ctx, TILEMM_MEMORY_DEVICE, 100, 100, 4, &ld);
    CHECK_OK(ctx, tilemm_free_matrix(ctx, matrix));
    CHECK(gpu_memory(&free_before, &total) == 0, "gpu_memory");
    for (int i = 0; i < CALLS; i++) {
        matrix = NULL;
        CHECK_OK(ctx, tilemm_alloc_matrix(ctx, TILEMM_MEMORY_DEVICE, 1000, 1000, 4, &matrix, &ld));
        CHECK_OK(ctx, tilemm_free_matrix(ctx, matrix));
    }
    CHECK(gpu_memory(&free_after, &total) == 0, "gpu_memory");
    CHECK(free_before == free_after, "%zu bytes free, then %zu", free_before, free_after);
    free(memory);
}

int main(void)
{
    rng_t rng = {19};
    const int kinds = CUDA ? TILEMM_MEMORY_MANAGED + 1 : 1;
    test_begin_alone(TEST_BACKEND);
    tilemm_t ctx = test_context(TEST_BACKEND, "");
    int64_t ld;
    errors(ctx);
    empty(ctx);
    setting(ctx);
    for (int i = 0; i < (CUDA ? 10 : 200); i++)
        for (int pair = 0; pair < kinds * kinds; pair++)
            round_trip(ctx, pair / kinds, pair % kinds, &rng);
    if (CUDA)
        registered(ctx);
    for (int where = 0; where < kinds; where++) /* what is left is freed with the context */
        allocate(ctx, where, 20, 30, 8, &ld);
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    return check_exit();
}
