/* multi_speed.c - how fast two GPUs are, beside one of them and beside cublasXt, and whether their
 * results are those of one. No test of `make check`: tests/two_gpus.sh runs it. An argument is the
 * side of the products, 32768 without one.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { CUBLAS_N = 0 };

static int64_t side = 32768;
static tilemm_t first, second, both;

/* ---- cublasXt, if it is there ---------------------------------------------------------------- */

static struct {
    int (*create)(void **handle);
    int (*select)(void *handle, int count, int *devices);
    int (*block)(void *handle, int size);
    int (*pin)(void *handle, int mode);
    int (*sgemm)(void *handle, int transa, int transb, size_t m, size_t n, size_t k,
                 const float *alpha, const float *a, size_t lda, const float *b, size_t ldb,
                 const float *beta, float *c, size_t ldc);
    void *handle;
} xt;

static void *symbol(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

static void open_xt(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    const char *const home = getenv("CUDA_HOME");
    void *library = NULL;
    int devices[] = {0, 1};
    for (int i = 0; i < 6 && !library; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s%s%s",
                 i < 3  ? ""
                 : home ? home
                        : "/usr/local/cuda",
                 i < 3 ? "" : "/lib64/", names[i % 3]);
        library = dlopen(path, RTLD_NOW);
    }
    *(void **)&xt.create = symbol(library, "cublasXtCreate");
    *(void **)&xt.select = symbol(library, "cublasXtDeviceSelect");
    *(void **)&xt.block = symbol(library, "cublasXtSetBlockDim");
    *(void **)&xt.pin = symbol(library, "cublasXtSetPinningMemMode");
    *(void **)&xt.sgemm = symbol(library, "cublasXtSgemm");
    if (!xt.create || !xt.select || !xt.block || !xt.sgemm || xt.create(&xt.handle) != 0 ||
        xt.select(xt.handle, 2, devices) != 0 || xt.block(xt.handle, 8192) != 0)
        xt.handle = NULL;
    if (!xt.handle)
        printf("cublasXt is not there\n");
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef struct {
    tilemm_t ctx; /* NULL: cublasXt */
    const float *a, *b;
    float *c;
} product_t;

static void multiply(const product_t *p)
{
    const float one = 1, zero = 0;
    const size_t n = (size_t)side;
    if (p->ctx) {
        CHECK_OK(p->ctx, tilemm_sgemm(p->ctx, TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS,
                                      side, side, side, 1, p->a, side, p->b, side, 0, p->c, side));
        CHECK(gpu_stream_synchronize(NULL) == 0, "gpu_stream_synchronize");
    } else {
        CHECK(xt.sgemm(xt.handle, CUBLAS_N, CUBLAS_N, n, n, n, &one, p->a, n, p->b, n, &zero, p->c,
                       n) == 0,
              "cublasXtSgemm");
    }
}

/* The best of three, after one that is not counted: TFLOP/s. */
static double speed(const product_t *p, int runs)
{
    double best = 0;
    for (int i = 0; i <= runs; i++) {
        const double begin = test_seconds();
        multiply(p);
        const double now = test_seconds() - begin;
        if ((i > 0 || runs == 0) && (best == 0 || now < best))
            best = now;
    }
    return 2 * (double)side * (double)side * (double)side / best * 1e-12;
}

static void report(const char *work, double value, const char *unit, double goal, double beside,
                   const char *what)
{
    printf("| %s | %.1f %s |", work, value, unit);
    if (beside > 0)
        printf(" %.1f %s, %.2f |", beside, what, value / beside);
    else
        printf(" |");
    if (goal > 0)
        printf(" %.1f%s |\n", goal, value >= goal ? "" : " (below)");
    else
        printf(" |\n");
    fflush(stdout);
}

static float *allocate(tilemm_t ctx, tilemm_memory_t where, int64_t rows, int64_t cols)
{
    void *matrix = NULL;
    int64_t ld = 0;
    CHECK_OK(ctx, tilemm_alloc_matrix(ctx, where, rows, cols, sizeof(float), &matrix, &ld));
    CHECK(ld == cols, "ld = %lld", (long long)ld);
    return test_need(matrix);
}

/* Random numbers, the same again from a block on. */
static void fill(float *x, int64_t count)
{
    enum { BLOCK = (1 << 22) + 13 };
    rng_t rng = {3};
    for (int64_t i = 0; i < count && i < BLOCK; i++)
        x[i] = (float)(rng_unit(&rng) - 0.5);
    for (int64_t i = BLOCK; i < count; i += BLOCK)
        memcpy(x + i, x, (size_t)(count - i < BLOCK ? count - i : BLOCK) * sizeof(*x));
}

static void to_device(tilemm_t ctx, const float *from, float *to)
{
    CHECK_OK(ctx, tilemm_copy_matrix(ctx, side, side, sizeof(float), from, side, to, side));
    CHECK_OK(ctx, tilemm_synchronize(ctx));
}

/* What a call that fails leaves there is no result. */
static void poison(float *host, float *device)
{
    memset(host, 0xff, (size_t)(side * side) * sizeof(*host));
    to_device(first, host, device);
}

/* Elements here and there of two results on the host. */
static void compare(const char *what, const float *got, const float *want)
{
    int wrong = 0;
    for (int64_t i = 0; i < 100000; i++) {
        const int64_t at = i * 7919977 % (side * side);
        wrong += memcmp(&got[at], &want[at], sizeof(*got)) != 0;
    }
    CHECK(wrong == 0, "%s: %d of 100000 elements are not those of one GPU", what, wrong);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void products(float *pinned, float *want)
{
    const int64_t count = side * side;
    float *a = pinned, *b = pinned + count, *c = pinned + 2 * count;
    const product_t of_one = {first, a, b, c}, of_both = {both, a, b, c}, of_xt = {NULL, a, b, c};
    const double single = speed(&of_one, 1);
    memcpy(want, c, (size_t)count * sizeof(*c));
    report("pinned, one GPU", single, "TF/s", 0, 0, "");
    const double other = xt.handle ? speed(&of_xt, 1) : 0;
    memset(c, 0xff, (size_t)count * sizeof(*c));
    report("pinned, two GPUs", speed(&of_both, 3), "TF/s", 330, other, "cublasXt");
    compare("pinned", c, want);
    /* Pageable: the same numbers elsewhere. */
    float *pageable = host_array(3 * count);
    memcpy(pageable, pinned, 2 * (size_t)count * sizeof(*pageable));
    memset(pageable + 2 * count, 0xff, (size_t)count * sizeof(*pageable));
    const product_t far = {both, pageable, pageable + count, pageable + 2 * count};
    report("pageable, two GPUs", speed(&far, 2), "TF/s", 200, 0, "");
    compare("pageable", pageable + 2 * count, want);
    free(pageable);
}

static void resident(const float *pinned, float *want)
{
    const int64_t count = side * side;
    float *x[2][3];
    for (int device = 0; device < 2; device++)
        for (int i = 0; i < 3; i++)
            x[device][i] = allocate(device ? second : first, TILEMM_MEMORY_DEVICE, side, side);
    for (int device = 0; device < 2; device++)
        for (int i = 0; i < 2; i++)
            to_device(device ? second : first, pinned + i * count, x[device][i]);
    float *got = host_array(count);
    const product_t one = {first, x[0][0], x[0][1], x[0][2]};
    const double single = speed(&one, 3);
    report("on device 0, one GPU", single, "TF/s", 0, 0, "");
    to_device(first, x[0][2], want);
    poison(got, x[0][2]);
    const product_t both_of_first = {both, x[0][0], x[0][1], x[0][2]};
    report("on device 0, two GPUs", speed(&both_of_first, 3), "TF/s", 1.75 * single, single, "one");
    to_device(first, x[0][2], got);
    compare("on device 0", got, want);
    poison(got, x[0][2]);
    const product_t spread = {both, x[0][0], x[1][1], x[0][2]};
    report("A, C on device 0, B on 1", speed(&spread, 3), "TF/s", 1.9 * single, single, "one");
    to_device(first, x[0][2], got);
    compare("spread", got, want);
    /* A transposition where it lies. */
    double best = 1e9;
    for (int i = 0; i < 4; i++) {
        const double begin = test_seconds();
        CHECK_OK(both,
                 tilemm_transpose(both, side, side, sizeof(float), x[0][0], side, x[0][2], side));
        CHECK_OK(both, tilemm_synchronize(both));
        best = test_seconds() - begin < best ? test_seconds() - begin : best;
    }
    report("transpose on device 0", 8 * (double)count / best * 1e-9, "GB/s", 0, 0, "");
    /* A batch of 128 x 128 x 128. */
    const int64_t batch = count / (128 * 128) < 8192 ? count / (128 * 128) : 8192;
    best = 1e9;
    for (int i = 0; i < 4; i++) {
        const double begin = test_seconds();
        CHECK_OK(both, tilemm_sgemm_strided_batched(both, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS,
                                                    TILEMM_NO_TRANS, 128, 128, 128, 1, x[0][0], 128,
                                                    128 * 128, x[0][1], 128, 128 * 128, 0, x[0][2],
                                                    128, 128 * 128, batch));
        CHECK_OK(both, tilemm_synchronize(both));
        best = test_seconds() - begin < best ? test_seconds() - begin : best;
    }
    report("batch of 128 on device 0", 2 * 128. * 128 * 128 * (double)batch / best * 1e-12, "TF/s",
           0, 0, "");
    for (int device = 0; device < 2; device++)
        for (int i = 0; i < 3; i++)
            CHECK_OK(device ? second : first,
                     tilemm_free_matrix(device ? second : first, x[device][i]));
    free(got);
}

static void sums(const float *x, int64_t count)
{
    float of_one = 0, of_both = 1;
    double one = 1e9, two = 1e9;
    for (int i = 0; i < 3; i++) {
        double begin = test_seconds();
        /* By parts that fit one GPU's memory the bits would be others: the same call. */
        CHECK_OK(first, tilemm_ssum(first, count, x, 1, &of_one));
        one = test_seconds() - begin < one ? test_seconds() - begin : one;
        begin = test_seconds();
        CHECK_OK(both, tilemm_ssum(both, count, x, 1, &of_both));
        two = test_seconds() - begin < two ? test_seconds() - begin : two;
    }
    const double bytes = 4 * (double)count * 1e-9;
    report("sum, pinned, two GPUs", bytes / two, "GB/s", 95, bytes / one, "one");
    CHECK(memcmp(&of_one, &of_both, sizeof(of_one)) == 0, "%a, must be %a", (double)of_both,
          (double)of_one);
}

int main(int argc, char **argv)
{
    static const int devices[] = {0, 1};
    test_begin(TILEMM_BACKEND_CUDA);
    if (gpu_count() < 2) {
        printf("skipped: %d GPU\n", gpu_count());
        return CHECK_SKIPPED;
    }
    if (argc > 1)
        side = atoll(argv[1]) / 64 * 64;
    if (side < 64 || tilemm_create(&first, TILEMM_BACKEND_CUDA, 0) != TILEMM_SUCCESS ||
        tilemm_create(&second, TILEMM_BACKEND_CUDA, 1) != TILEMM_SUCCESS ||
        tilemm_create_multi(&both, 2, devices) != TILEMM_SUCCESS)
        test_give_up(side < 64 ? "the side must be at least 64" : tilemm_create_error());
    open_xt();
    const int64_t floats = 4 * side * side; /* 2^32 for 32768 */
    float *pinned = allocate(first, TILEMM_MEMORY_PINNED, floats / 64, 64);
    float *want = host_array(side * side);
    fill(pinned, floats);
    printf("| n = %lld | | beside | goal |\n|---|---|---|---|\n", (long long)side);
    products(pinned, want);
    resident(pinned, want);
    sums(pinned, floats);
    CHECK_OK(first, tilemm_free_matrix(first, pinned));
    free(want);
    tilemm_destroy(both);
    tilemm_destroy(second);
    tilemm_destroy(first);
    return check_exit();
}
