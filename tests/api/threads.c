/* threads.c - two contexts on two threads at once give the results that each gives alone.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { SIZE = 150, LENGTH = 70000 };

/* The work of one thread, and a digest of its results. */
typedef struct {
    tilemm_backend_t backend;
    uint64_t seed;
    int rounds;
    pthread_barrier_t *start;
    uint64_t digest;
    int failures;
    char message[160];
} work_t;

static uint64_t fold(uint64_t digest, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    while (count--)
        digest = (digest ^ *from++) * UINT64_C(0x100000001b3);
    return digest;
}

static void *worker(void *argument)
{
    work_t *work = argument;
    rng_t rng = {work->seed};
    const size_t matrix = sizeof(float) * SIZE * SIZE;
    float *a = test_need(malloc(matrix)), *b = test_need(malloc(matrix));
    float *c = test_need(malloc(matrix)), *x = test_need(malloc(sizeof(float) * LENGTH)), sum = 0;
    tilemm_t ctx = NULL;
    int failures = 0;
    if (work->backend == TILEMM_BACKEND_CUDA)
        gpu_open(0);
    if (tilemm_create(&ctx, work->backend, 0) != TILEMM_SUCCESS)
        test_give_up("tilemm_create failed on a thread");
    work->digest = 0;
    if (work->start)
        pthread_barrier_wait(work->start);
    tilemm_set_threads(ctx, 2);
    for (int round = 0; round < work->rounds; round++) {
        const int64_t m = rng_range(&rng, 1, SIZE), n = rng_range(&rng, 1, SIZE);
        const int64_t k = rng_range(&rng, 1, SIZE);
        int64_t index = -1;
        matrix_fill(a, TILEMM_ROW_MAJOR, SIZE, SIZE, SIZE, FAMILY_NORMAL, &rng);
        matrix_fill(b, TILEMM_ROW_MAJOR, SIZE, SIZE, SIZE, FAMILY_NORMAL, &rng);
        matrix_fill(x, TILEMM_ROW_MAJOR, 1, LENGTH, LENGTH, FAMILY_NORMAL, &rng);
        memset(c, 0, matrix);
        failures += tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_TRANS, m, n, k, 1,
                                 a, SIZE, b, SIZE, 0, c, SIZE) != TILEMM_SUCCESS;
        work->digest = fold(work->digest, c, matrix);
        failures += tilemm_transpose(ctx, m, n, 4, a, SIZE, c, SIZE) != TILEMM_SUCCESS;
        work->digest = fold(work->digest, c, matrix);
        failures += tilemm_transpose_inplace(ctx, m, n, 4, b, n, m) != TILEMM_SUCCESS;
        work->digest = fold(work->digest, b, sizeof(float) * (size_t)(m * n));
        failures += tilemm_ssum(ctx, LENGTH, x, 1, &sum) != TILEMM_SUCCESS;
        failures += tilemm_isamax(ctx, LENGTH, x, 1, &index) != TILEMM_SUCCESS;
        work->digest = fold(work->digest, &sum, sizeof(sum));
        work->digest = fold(work->digest, &index, sizeof(index));
        /* an error in one context must not show in the other */
        if (round % 3 == (int)(work->seed % 3))
            failures += tilemm_ssum(ctx, -1, x, 1, &sum) != TILEMM_INVALID_ARGUMENT;
    }
    snprintf(work->message, sizeof(work->message), "%s", tilemm_last_error(ctx));
    work->failures = failures + (tilemm_destroy(ctx) != TILEMM_SUCCESS);
    free(a);
    free(b);
    free(c);
    free(x);
    return NULL;
}

static void check_work(const work_t work[2], const uint64_t alone[2], const char *when)
{
    for (int i = 0; i < 2; i++) {
        CHECK(work[i].failures == 0, "%s: %s", when, work[i].message);
        CHECK(work[i].digest == alone[i], "other results %s than alone", when);
    }
}

/* Each alone, then both at once. */
static void pair(tilemm_backend_t first, tilemm_backend_t second, uint64_t seed)
{
    const int rounds = test_quick() ? 3 : 15;
    work_t work[2] = {{.backend = first, .seed = seed, .rounds = rounds},
                      {.backend = second, .seed = seed + 1, .rounds = rounds}};
    uint64_t alone[2];
    pthread_barrier_t start;
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        worker(&work[i]);
        CHECK(work[i].failures == 0, "alone: %s", work[i].message);
        alone[i] = work[i].digest;
    }
    CHECK(alone[0] != alone[1], "both did the same");
    pthread_barrier_init(&start, NULL, 2);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 2; i++) {
            work[i].start = &start;
            if (pthread_create(&thread[i], NULL, worker, &work[i]))
                test_give_up("pthread_create failed");
        }
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
        check_work(work, alone, "together");
    }
    pthread_barrier_destroy(&start);
#ifdef _OPENMP
    /* in an OpenMP team of the program, so that the library's threads are nested */
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int i = 0; i < 2; i++) {
        work[i].start = NULL;
        worker(&work[i]);
    }
    check_work(work, alone, "in an OpenMP team");
#endif
}

int main(void)
{
    test_begin(TEST_BACKEND);
    pair(TEST_BACKEND, TEST_BACKEND, 1);
    if (TEST_BACKEND != TILEMM_BACKEND_CPU)
        pair(TILEMM_BACKEND_CPU, TEST_BACKEND, 5);
    return check_exit();
}
