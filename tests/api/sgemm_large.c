/* sgemm_large.c - products whose operands span more than 2^31 or 2^32 elements.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/support.h"

/* A matrix whose rows are so far apart that the last ones lie past 2^32 elements: as A, as B, as C.
 */
static void far_apart(tilemm_t ctx)
{
    enum { ROWS = 40, COLS = 7, N = 37 };
    const int64_t ld = ((int64_t)1 << 27) + 5;
    size_t bytes = sizeof(float) * (size_t)((ROWS - 1) * ld + N);
    float *big = sparse_alloc(TEST_BACKEND, bytes), *c = sparse_alloc(TEST_BACKEND, bytes);
    float a[ROWS][COLS], b[ROWS][N], got[N];
    float *near_b = sparse_alloc(TEST_BACKEND, sizeof(b));
    int i, j, p, pass;
    tilemm_status_t status;
    if (!big || !c || !near_b) {
        printf("no memory for a problem past 2^32 elements: left out\n");
    } else {
        for (i = 0; i < ROWS; i++) {
            for (p = 0; p < COLS; p++)
                a[i][p] = (float)((i * COLS + p) % 23 - 8);
            for (j = 0; j < N; j++)
                b[i][j] = (float)((i - 2 * j) % 19);
            sparse_write(TEST_BACKEND, big + i * ld, a[i], sizeof(a[i]));
        }
        sparse_write(TEST_BACKEND, near_b, b, sizeof(b));
        for (pass = 0; pass < 4; pass++) {
            /* C = A B, C = A' B, and the same as column-major products of the transposes */
            int transposed = pass & 1, m = transposed ? COLS : ROWS, k = transposed ? ROWS : COLS;
            tilemm_op_t op = transposed ? TILEMM_TRANS : TILEMM_NO_TRANS;
            if (pass < 2)
                status = tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, op, TILEMM_NO_TRANS, m, N, k, 1, big,
                                      ld, near_b, N, 0, c, ld);
            else
                status = tilemm_sgemm(ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, op, N, m, k, 1,
                                      near_b, N, big, ld, 0, c, ld);
            CHECK(status == TILEMM_SUCCESS, "past 2^32: %s", tilemm_last_error(ctx));
            CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
            for (i = 0; i < m; i++) {
                sparse_read(TEST_BACKEND, got, c + i * ld, sizeof(got));
                for (j = 0; j < N; j++) {
                    float want = 0;
                    for (p = 0; p < k; p++)
                        want += (transposed ? a[p][i] : a[i][p]) * b[p][j];
                    CHECK(got[j] == want, "past 2^32, pass %d: %s: (%d, %d) is %g, not %g", pass,
                          tilemm_last_kernel(ctx), i, j, (double)got[j], (double)want);
                }
            }
        }
    }
    sparse_free(TEST_BACKEND, big, bytes);
    sparse_free(TEST_BACKEND, c, bytes);
    sparse_free(TEST_BACKEND, near_b, sizeof(b));
}

/* A C of more than 2^31 elements, of which 400 are checked. */
static void large(tilemm_t ctx)
{
    const int64_t m = 65539, n = 32771, k = 3;
    size_t bytes_c = sizeof(float) * (size_t)(m * n);
    size_t bytes_a = sizeof(float) * (size_t)(m * k), bytes_b = sizeof(float) * (size_t)(k * n);
    float *c = sparse_alloc(TEST_BACKEND, bytes_c);
    float *a = sparse_alloc(TEST_BACKEND, bytes_a), *b = sparse_alloc(TEST_BACKEND, bytes_b);
    float *host_a = malloc(bytes_a), *host_b = malloc(bytes_b);
    rng_t rng = {77};
    int sample;
    if (!a || !b || !c || !host_a || !host_b) {
        printf("no memory for a C of more than 2^31 elements: left out\n");
    } else {
        matrix_fill(host_a, TILEMM_ROW_MAJOR, m, k, k, FAMILY_INTEGER, &rng);
        matrix_fill(host_b, TILEMM_ROW_MAJOR, k, n, n, FAMILY_INTEGER, &rng);
        sparse_write(TEST_BACKEND, a, host_a, bytes_a);
        sparse_write(TEST_BACKEND, b, host_b, bytes_b);
        CHECK(tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, k, 1, a,
                           k, b, n, 0, c, n) == TILEMM_SUCCESS,
              "large C: %s", tilemm_last_error(ctx));
        CHECK(tilemm_synchronize(ctx) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
        for (sample = 0; sample < 400; sample++) {
            int64_t i = sample < 4 ? m - 1 - sample / 2 : rng_range(&rng, 0, m - 1);
            int64_t j = sample < 4 ? (sample & 1) * (n - 1) : rng_range(&rng, 0, n - 1), p;
            float got, want = 0;
            for (p = 0; p < k; p++)
                want += host_a[i * k + p] * host_b[p * n + j];
            sparse_read(TEST_BACKEND, &got, c + i * n + j, sizeof(got));
            CHECK(got == want, "large C: (%lld, %lld) is %g, not %g", (long long)i, (long long)j,
                  (double)got, (double)want);
        }
    }
    sparse_free(TEST_BACKEND, a, bytes_a);
    sparse_free(TEST_BACKEND, b, bytes_b);
    sparse_free(TEST_BACKEND, c, bytes_c);
    free(host_a);
    free(host_b);
}

int main(void)
{
    const char *const *name;
    test_begin(TEST_BACKEND);
    for (name = test_archs(TEST_BACKEND); *name; name++) {
        tilemm_t ctx = test_context(TEST_BACKEND, *name);
        if (TEST_BACKEND == TILEMM_BACKEND_CPU)
            tilemm_set_threads(ctx, 2);
        far_apart(ctx);
        if (TEST_BACKEND == TILEMM_BACKEND_CUDA && !**name && !test_quick())
            large(ctx);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
    return check_exit();
}
