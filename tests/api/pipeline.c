/* pipeline.c - products that go through a GPU's memory in strips: the bits of the same product with
 * its operands on the device, under any limit of memory, from pinned and pageable memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { MOST = 2600 };

typedef struct {
    int64_t rows, cols, ld;
    size_t bytes;
    float *host, *device; /* the device has what the host had at first */
    int pinned;
} matrix_t;

static matrix_t make(int64_t rows, int64_t cols, int pinned, rng_t *rng)
{
    const int64_t ld = cols + rng_range(rng, 0, 5);
    matrix_t x = {rows, cols, ld, (size_t)(rows * ld) * sizeof(float), NULL, NULL, pinned};
    x.host = test_need(pinned ? gpu_malloc_host(x.bytes) : malloc(x.bytes));
    x.device = test_need(gpu_malloc(x.bytes));
    for (int64_t i = 0; i < rows * ld; i++)
        x.host[i] = (float)(rng_unit(rng) - 0.5);
    CHECK(gpu_to_device(x.device, x.host, x.bytes) == 0, "copy");
    return x;
}

static void discard(matrix_t *x)
{
    gpu_free(x->device);
    if (x->pinned)
        gpu_free_host(x->host);
    else
        free(x->host);
}

/* Elements of C, and what lies between its rows, that are not as the resident product left them;
 * where k was divided, that differ by more than rounding. */
static int64_t differences(const matrix_t *c, const float *got, const float *want, int same,
                           int64_t k)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->ld && i * c->ld + j < c->rows * c->ld; j++) {
            const float g = got[i * c->ld + j], w = want[i * c->ld + j];
            if (same || j >= c->cols)
                wrong += memcmp(&g, &w, sizeof(g)) != 0;
            else
                wrong += !(fabsf(g - w) <= 4e-7f * (float)k);
        }
    return wrong;
}

/* One problem. Returns 1 if its bits had to be the resident product's. */
static int product(tilemm_t ctx, rng_t *rng, int i)
{
    const int64_t m = rng_range(rng, 1, MOST), n = rng_range(rng, 1, MOST);
    const int64_t k = rng_range(rng, 1, MOST);
    const int ta = (int)rng_range(rng, 0, 1), tb = (int)rng_range(rng, 0, 1);
    const float beta = i % 3 ? 0 : 0.5f, alpha = 1.25f;
    const int places = (int)rng_range(rng, 1, 7), pinned = (int)rng_range(rng, 0, 7);
    const size_t whole = (size_t)(m * k + k * n + m * n) * sizeof(float);
    const size_t limit = (size_t)((double)whole * (0.2 + rng_unit(rng))) + ((size_t)2 << 20);
    matrix_t a = make(ta ? k : m, ta ? m : k, pinned & 1, rng);
    matrix_t b = make(tb ? n : k, tb ? k : n, pinned >> 1 & 1, rng);
    matrix_t c = make(m, n, pinned >> 2 & 1, rng);
    float *first = test_need(malloc(c.bytes)), *want = test_need(malloc(c.bytes));
    if (beta == 0) /* is not read */
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < n; j++)
                c.host[r * c.ld + j] = NAN;
    memcpy(first, c.host, c.bytes);
    CHECK(gpu_to_device(c.device, c.host, c.bytes) == 0, "copy");
    const tilemm_op_t op_a = ta ? TILEMM_TRANS : TILEMM_NO_TRANS;
    const tilemm_op_t op_b = tb ? TILEMM_TRANS : TILEMM_NO_TRANS;
    CHECK_OK(ctx, tilemm_set_math(ctx, i % 2 ? TILEMM_MATH_FP32 : TILEMM_MATH_FP32_STRICT));
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, 0));
    CHECK_OK(ctx, tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, op_a, op_b, m, n, k, alpha, a.device, a.ld,
                               b.device, b.ld, beta, c.device, c.ld));
    char resident[64];
    snprintf(resident, sizeof(resident), "%s", tilemm_last_kernel(ctx));
    CHECK(gpu_to_host(want, c.device, c.bytes) == 0, "copy");
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, limit));
    for (int run = 0; run < 2; run++) {
        const int on_host = places & 4;
        CHECK(gpu_to_device(c.device, first, c.bytes) == 0, "copy");
        memcpy(c.host, first, c.bytes);
        CHECK_OK(ctx,
                 tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, op_a, op_b, m, n, k, alpha,
                              places & 1 ? a.host : a.device, a.ld, places & 2 ? b.host : b.device,
                              b.ld, beta, on_host ? c.host : c.device, c.ld));
        if (!on_host)
            CHECK(gpu_to_host(c.host, c.device, c.bytes) == 0, "copy");
        /* A resident product that divides k has bits of its own; so has k that was divided here. */
        const int same = run == 1 || (!strchr(resident, '+') && strncmp(resident, "sgemm_sk", 8));
        const int64_t wrong = differences(&c, c.host, want, same, k);
        CHECK(wrong == 0,
              "%d: run %d, %lldx%lldx%lld %d%d, places %d, pinned %d, limit %zu of %zu: %s, "
              "resident %s: %lld elements",
              i, run, (long long)m, (long long)n, (long long)k, ta, tb, places, pinned, limit,
              whole, tilemm_last_kernel(ctx), resident, (long long)wrong);
        memcpy(want, c.host, c.bytes); /* the second run must have the same bits */
    }
    free(first);
    free(want);
    discard(&a);
    discard(&b);
    discard(&c);
    return !strchr(resident, '+');
}

/* A batch under a limit, beside the same on the device. */
static void batch(tilemm_t ctx, rng_t *rng, int i)
{
    enum { SIDE = 150 };
    const int64_t m = rng_range(rng, 1, SIDE), n = rng_range(rng, 1, SIDE);
    const int64_t k = rng_range(rng, 1, SIDE), count = rng_range(rng, 2, 300);
    const int ta = (int)rng_range(rng, 0, 1), tb = (int)rng_range(rng, 0, 1);
    const int shared = i % 5 == 0, places = (int)rng_range(rng, 1, 7);
    const int pinned = (int)rng_range(rng, 0, 7);
    const float beta = i % 3 ? 0 : 0.5f;
    const int64_t rows_a = ta ? k : m, rows_b = tb ? n : k;
    matrix_t a = make(count * rows_a, ta ? m : k, pinned & 1, rng);
    matrix_t b = make((shared ? 1 : count) * rows_b, tb ? k : n, pinned >> 1 & 1, rng);
    matrix_t c = make(count * m, n, pinned >> 2 & 1, rng);
    const int64_t stride_a = rows_a * a.ld, stride_b = shared ? 0 : rows_b * b.ld;
    const tilemm_op_t op_a = ta ? TILEMM_TRANS : TILEMM_NO_TRANS;
    const tilemm_op_t op_b = tb ? TILEMM_TRANS : TILEMM_NO_TRANS;
    float *want = test_need(malloc(c.bytes)), *first = test_need(malloc(c.bytes));
    memcpy(first, c.host, c.bytes);
    CHECK_OK(ctx, tilemm_set_math(ctx, i % 2 ? TILEMM_MATH_FP32 : TILEMM_MATH_FP32_STRICT));
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, 0));
    CHECK_OK(ctx, tilemm_sgemm_strided_batched(ctx, TILEMM_ROW_MAJOR, op_a, op_b, m, n, k, 1.25f,
                                               a.device, a.ld, stride_a, b.device, b.ld, stride_b,
                                               beta, c.device, c.ld, m * c.ld, count));
    char resident[64];
    snprintf(resident, sizeof(resident), "%s", tilemm_last_kernel(ctx));
    CHECK(gpu_to_host(want, c.device, c.bytes) == 0, "copy");
    CHECK(gpu_to_device(c.device, first, c.bytes) == 0, "copy");
    const size_t limit = (a.bytes + b.bytes + c.bytes) / (size_t)rng_range(rng, 2, 12) + 400000;
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, limit));
    const int on_host = places & 4;
    CHECK_OK(ctx, tilemm_sgemm_strided_batched(ctx, TILEMM_ROW_MAJOR, op_a, op_b, m, n, k, 1.25f,
                                               places & 1 ? a.host : a.device, a.ld, stride_a,
                                               places & 2 ? b.host : b.device, b.ld, stride_b, beta,
                                               on_host ? c.host : c.device, c.ld, m * c.ld, count));
    if (!on_host)
        CHECK(gpu_to_host(c.host, c.device, c.bytes) == 0, "copy");
    /* Tiles that fit the matrices, and those of several to a block, are for whole batches. */
    const int same = !strchr(resident, '+') && !strcmp(resident, tilemm_last_kernel(ctx));
    const int64_t wrong = differences(&c, c.host, want, same, k);
    CHECK(wrong == 0,
          "%d: %lld of %lldx%lldx%lld %d%d, places %d, pinned %d, limit %zu: %s, resident %s: %lld "
          "elements",
          i, (long long)count, (long long)m, (long long)n, (long long)k, ta, tb, places, pinned,
          limit, tilemm_last_kernel(ctx), resident, (long long)wrong);
    free(want);
    free(first);
    discard(&a);
    discard(&b);
    discard(&c);
}

/* Too little memory for any tile is a status, and C as it was. */
static void too_little(tilemm_t ctx)
{
    enum { SIDE = 600 };
    float *x = test_need(calloc(SIDE * SIDE, sizeof(float))), c[SIDE] = {7};
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, 1000));
    CHECK(tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 1, SIDE, SIDE, 1, x,
                       SIDE, x, SIDE, 0, c, SIDE) == TILEMM_OUT_OF_MEMORY,
          "1000 bytes");
    CHECK(strstr(tilemm_last_error(ctx), "1000 bytes"), "%s", tilemm_last_error(ctx));
    CHECK(c[0] == 7, "C was written");
    CHECK_OK(ctx, tilemm_set_device_memory(ctx, 0));
    free(x);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A file that cannot be written is no failure. In one that can stand all steps, in the time of the
 * call. */
static void timeline(void)
{
    enum { SIDE = 2000, UP, COMPUTE, DOWN, LANES };
    static const char *const lanes[LANES] = {[UP] = "up", [COMPUTE] = "compute", [DOWN] = "down"};
    static const char *const files[] = {"no/such/folder.csv", "pipeline.csv"};
    const double slack = 2e-3; /* seconds, of the device's clock beside the host's */
    rng_t rng = {6};
    matrix_t a = make(SIDE, SIDE, 1, &rng), b = make(SIDE, SIDE, 0, &rng);
    matrix_t c = make(SIDE, SIDE, 1, &rng);
    double begin = 0, end = 0, work[LANES] = {0};
    char line[256];
    for (int i = 0; i < 2; i++) {
        setenv("TILEMM_TIMELINE", files[i], 1);
        tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
        CHECK_OK(ctx, tilemm_set_device_memory(ctx, (size_t)16 << 20));
        begin = now();
        CHECK_OK(ctx, tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, SIDE,
                                   SIDE, SIDE, 1, a.host, a.ld, b.host, b.ld, 0, c.host, c.ld));
        end = now();
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
    unsetenv("TILEMM_TIMELINE");
    FILE *file = fopen(files[1], "r");
    CHECK(file && fgets(line, sizeof line, file), "no timeline");
    while (file && fgets(line, sizeof line, file)) {
        double first, last, amount;
        char name[16];
        int device, lane = UP;
        CHECK(sscanf(line, "%d,%15[^,],%lf,%lf,%lf", &device, name, &first, &last, &amount) == 5,
              "%s", line);
        while (lane < DOWN && strcmp(name, lanes[lane]) != 0)
            lane++;
        CHECK(strcmp(name, lanes[lane]) == 0, "%s", line);
        CHECK(first >= begin - slack && last <= end + slack && first <= last, "%f to %f: %s", begin,
              end, line);
        work[lane] += amount;
    }
    CHECK(work[COMPUTE] == 2.0 * SIDE * SIDE * SIDE, "%g operations", work[COMPUTE]);
    CHECK(work[DOWN] == 4.0 * SIDE * SIDE && work[UP] >= 8.0 * SIDE * SIDE, "%g bytes up, %g down",
          work[UP], work[DOWN]);
    if (file)
        fclose(file);
    remove(files[1]);
    discard(&a);
    discard(&b);
    discard(&c);
}

int main(void)
{
    const int problems = test_quick() ? 40 : 200;
    rng_t rng = {5};
    size_t before = 0, after = 0, total;
    int same = 0;
    test_begin_alone(TILEMM_BACKEND_CUDA);
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    for (int i = 0; i < problems; i++) {
        same += product(ctx, &rng, i);
        if (i == problems / 2)
            CHECK(gpu_memory(&before, &total) == 0, "gpu_memory");
    }
    CHECK(same >= problems / 10, "only %d of %d products have bits to compare", same, problems);
    printf("%d of %d products have the resident product's bits\n", same, problems);
    for (int i = 0; i < problems; i++)
        batch(ctx, &rng, i);
    too_little(ctx);
    CHECK(gpu_memory(&after, &total) == 0, "gpu_memory");
    CHECK(after + ((size_t)64 << 20) >= before, "%zu bytes free, then %zu", before, after);
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    timeline();
    return check_exit();
}
