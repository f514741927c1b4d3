/* gpu.c - the BLAS drop-in where there is a GPU, which contexts on the CPU stand in for: what goes
 * there, what a failure does, operands in its memory, children. Each case is a process of its own.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
/* Here the library's own are meant. */
#undef clock_gettime
#undef tilemm_create
#undef tilemm_destroy
#undef tilemm_get_backend
#undef tilemm_synchronize
#undef tilemm_alloc_matrix
#undef tilemm_copy_matrix
#undef tilemm_sgemm
#undef tilemm_sdot
#undef tilemm_isamax
#undef tilemm_simatcopy

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "names.h"
#include "tilemm.h"

__typeof__(clock_gettime) gpu_clock_gettime;
__typeof__(tilemm_create) gpu_create;
__typeof__(tilemm_destroy) gpu_destroy;
__typeof__(tilemm_get_backend) gpu_get_backend;
__typeof__(tilemm_synchronize) gpu_synchronize;
__typeof__(tilemm_alloc_matrix) gpu_alloc_matrix;
__typeof__(tilemm_copy_matrix) gpu_copy_matrix;
__typeof__(tilemm_sgemm) gpu_sgemm;
__typeof__(tilemm_sdot) gpu_sdot;
__typeof__(tilemm_isamax) gpu_isamax;
__typeof__(tilemm_simatcopy) gpu_simatcopy;

enum { SIZE = 900, MOST = 64 };
static float a[SIZE * SIZE], c[SIZE * SIZE], device[SIZE * SIZE];
static const sizes_t large = {SIZE, SIZE, SIZE, SIZE, SIZE, SIZE}, small = {3, 3, 3, 3, 3, 3};
static const names_t *const plain = &all_names[0];

/* The GPU: its contexts, the calls that it got, what it does with them. */
static tilemm_t contexts[MOST];
static int calls, destroyed, is_missing, is_broken, is_slow;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The drop-in's clock, by which what the GPU does takes no time, or much, on a busy machine too. */
static int64_t ahead; /* nanoseconds */

static int64_t nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return INT64_C(1000000000) * time.tv_sec + time.tv_nsec;
}

int gpu_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    const int64_t now = nanoseconds() + ahead;
    time->tv_sec = (time_t)(now / 1000000000);
    time->tv_nsec = now % 1000000000;
    return 0;
}

static int is_gpu(tilemm_t ctx)
{
    int found = 0;
    for (int i = 0; i < MOST; i++)
        found |= ctx && contexts[i] == ctx;
    return found;
}

static int is_device(const void *pointer)
{
    return (const float *)pointer >= device && (const float *)pointer < device + SIZE * SIZE;
}

tilemm_status_t gpu_create(tilemm_t *ctx, tilemm_backend_t backend, int number)
{
    if (backend != TILEMM_BACKEND_CPU && is_missing) {
        *ctx = NULL;
        if (backend == TILEMM_BACKEND_CUDA)
            return TILEMM_NO_DEVICE;
        return tilemm_create(ctx, TILEMM_BACKEND_CPU, number);
    }
    const tilemm_status_t status = tilemm_create(ctx, TILEMM_BACKEND_CPU, number);
    pthread_mutex_lock(&lock);
    for (int i = 0; backend != TILEMM_BACKEND_CPU && i < MOST; i++)
        if (!contexts[i]) {
            contexts[i] = *ctx;
            break;
        }
    pthread_mutex_unlock(&lock);
    return status;
}

tilemm_status_t gpu_destroy(tilemm_t ctx)
{
    for (int i = 0; i < MOST; i++)
        if (ctx && contexts[i] == ctx) {
            contexts[i] = NULL;
            destroyed++;
        }
    return tilemm_destroy(ctx);
}

tilemm_status_t gpu_get_backend(tilemm_t ctx, tilemm_backend_t *backend)
{
    *backend = is_gpu(ctx) ? TILEMM_BACKEND_CUDA : TILEMM_BACKEND_CPU;
    return TILEMM_SUCCESS;
}

tilemm_status_t gpu_synchronize(tilemm_t ctx)
{
    return is_gpu(ctx) && is_broken ? TILEMM_DEVICE_FAILURE : TILEMM_SUCCESS;
}

tilemm_status_t gpu_alloc_matrix(tilemm_t ctx, tilemm_memory_t where, int64_t rows, int64_t cols,
                                 size_t elem_size, void **matrix, int64_t *ld)
{
    CHECK(is_gpu(ctx) && where == TILEMM_MEMORY_DEVICE, "alloc_matrix");
    return tilemm_alloc_matrix(ctx, TILEMM_MEMORY_HOST, rows, cols, elem_size, matrix, ld);
}

tilemm_status_t gpu_copy_matrix(tilemm_t ctx, int64_t rows, int64_t cols, size_t elem_size,
                                const void *src, int64_t ld_src, void *dst, int64_t ld_dst)
{
    const int64_t start = nanoseconds();
    if (!is_gpu(ctx) && (is_device(src) || is_device(dst)))
        return TILEMM_INVALID_ARGUMENT;
    const tilemm_status_t status =
        tilemm_copy_matrix(ctx, rows, cols, elem_size, src, ld_src, dst, ld_dst);
    if (is_gpu(ctx))
        ahead -= nanoseconds() - start;
    return status;
}

/* What becomes of a call: one that the GPU fails in has written half of its result. Its products
 * are no products, and so are quick. */
static int takes(tilemm_t ctx, const void *x, const void *y, const void *z, float *result,
                 tilemm_status_t *status)
{
    if (!is_gpu(ctx)) {
        *status = TILEMM_INVALID_ARGUMENT;
        return is_device(x) || is_device(y) || is_device(z);
    }
    calls++;
    if (is_slow)
        ahead += INT64_C(100000000000);
    *status = is_broken ? TILEMM_DEVICE_FAILURE : TILEMM_SUCCESS;
    if (is_broken && result)
        result[0] = NAN;
    return is_broken;
}

tilemm_status_t gpu_sgemm(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t transa,
                          tilemm_op_t transb, int64_t m, int64_t n, int64_t k, float alpha,
                          const float *x, int64_t ldx, const float *y, int64_t ldy, float beta,
                          float *z, int64_t ldz)
{
    const int64_t start = nanoseconds();
    tilemm_status_t status;
    if (takes(ctx, x, y, z, z, &status))
        return status;
    if (is_gpu(ctx)) { /* the operands are ones */
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                z[i * ldz + j] = alpha * (float)k + (beta == 0.0f ? 0.0f : beta * z[i * ldz + j]);
        ahead -= nanoseconds() - start;
        return TILEMM_SUCCESS;
    }
    return tilemm_sgemm(ctx, layout, transa, transb, m, n, k, alpha, x, ldx, y, ldy, beta, z, ldz);
}

tilemm_status_t gpu_sdot(tilemm_t ctx, int64_t n, const float *x, int64_t incx, const float *y,
                         int64_t incy, float *result)
{
    tilemm_status_t status;
    return takes(ctx, x, y, NULL, result, &status) ? status
                                                   : tilemm_sdot(ctx, n, x, incx, y, incy, result);
}

tilemm_status_t gpu_isamax(tilemm_t ctx, int64_t n, const float *x, int64_t incx, int64_t *index)
{
    tilemm_status_t status;
    return takes(ctx, x, NULL, NULL, NULL, &status) ? status
                                                    : tilemm_isamax(ctx, n, x, incx, index);
}

tilemm_status_t gpu_simatcopy(tilemm_t ctx, tilemm_layout_t layout, tilemm_op_t trans, int64_t rows,
                              int64_t cols, float alpha, float *x, int64_t ld_in, int64_t ld_out)
{
    tilemm_status_t status;
    return takes(ctx, x, NULL, NULL, x, &status)
               ? status
               : tilemm_simatcopy(ctx, layout, trans, rows, cols, alpha, x, ld_in, ld_out);
}

/* C = A A + beta C, of ones. */
static void product(const sizes_t *s, float beta)
{
    for (int i = 0; i < SIZE * SIZE; i++)
        c[i] = beta == 0.0f ? NAN : 1;
    call_sgemm(plain, "N", "T", s, 1, a, a, beta, c);
    CHECK(c[0] == (float)s->k + beta && c[s->m * s->n - 1] == (float)s->k + beta,
          "%g and %g, not %g", (double)c[0], (double)c[s->m * s->n - 1],
          (double)((float)s->k + beta));
}

static void fast_gpu_is_taken(void)
{
    for (int i = 0; i < 100; i++)
        product(&small, 0);
    CHECK(calls == 0, "%d small calls", calls);
    for (int i = 0; i < 200 && calls == 0; i++)
        product(&large, 0);
    const int first = calls; /* after measuring */
    CHECK(first > 0, "the GPU is not used");
    product(&large, 0);
    product(&large, 2);
    CHECK(calls == first + 2, "%d calls after %d", calls, first);
    product(&small, 0);
    CHECK(call_sdot(plain, 0, SIZE * SIZE, a, 1, a, 1) == SIZE * SIZE, "sdot");
    CHECK(calls == first + 2, "%d calls after %d", calls, first);
}

static void slow_gpu_is_left(void)
{
    is_slow = 1;
    for (int i = 0; i < 200 && calls == 0; i++)
        product(&large, 0);
    const int first = calls;
    CHECK(first > 0, "the GPU was not measured");
    product(&large, 0);
    CHECK(calls == first, "%d calls after %d", calls, first);
}

static void all_go_to_gpu(void)
{
    product(&small, 0);
    product(&large, 3);
    CHECK(call_sdot(plain, 0, 100, a, 1, a, 1) == 100, "sdot");
    CHECK(call_isamax(plain, 0, 100, a, 1) == 1, "isamax");
    CHECK(calls == 4, "%d calls", calls);
}

/* C, half written, is what it was before the CPU computes; the GPU is left alone from then on. */
static void failure_is_made_good(void)
{
    is_broken = 1;
    product(&small, 3);
    product(&large, 0);
    CHECK(calls == 1 && destroyed == 1, "%d calls, %d contexts destroyed", calls, destroyed);
    CHECK(call_sdot(plain, 0, 100, a, 1, a, 1) == 100, "sdot");
}

static void copy_is_made_good(void)
{
    is_broken = 1;
    c[0] = c[1] = c[2] = c[3] = 1;
    call_copy(plain, ROW, TRANS, 2, 2, 2, c, 2, NULL, 2);
    CHECK(c[0] == 2 && c[3] == 2 && calls == 1, "%g, %d calls", (double)c[0], calls);
}

static void missing_gpu(void)
{
    is_missing = 1;
    product(&small, 0);
    for (int i = 0; i < 30; i++)
        product(&large, 1);
    CHECK(calls == 0, "%d calls", calls);
}

static void device_operands(void)
{
    for (int i = 0; i < SIZE * SIZE; i++)
        device[i] = 1;
    call_sgemm(plain, "N", "N", &small, 1, device, a, 0, c);
    CHECK(calls == 1 && c[0] == 3, "%d calls, %g", calls, (double)c[0]);
    call_sgemm(plain, "N", "N", &large, 1, a, a, 0, device);
    CHECK(calls == 2 && device[0] == SIZE, "%d calls, %g", calls, (double)device[0]);
    CHECK(call_sdot(plain, 1, 100, device + 2000, 1, a, 1) == 90000, "sdot");
    CHECK(call_isamax(plain, 1, SIZE * SIZE, device, 1) == 0, "isamax");
    CHECK(calls == 4, "%d calls", calls);
}

/* A call that nothing can do leaves the process whole. */
static void device_operands_without_gpu(void)
{
    is_missing = 1;
    c[0] = 5;
    call_sgemm(plain, "N", "N", &small, 1, device, a, 0, c);
    CHECK(c[0] == 5, "%g", (double)c[0]);
}

static void children(void)
{
    int status = -1;
    product(&small, 0);
    CHECK(calls == 1, "%d calls", calls);
    const pid_t child = fork();
    if (child == 0) {
        product(&small, 0);
        product(&large, 2);
        CHECK(calls == 1, "%d calls", calls);
        _exit(check_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
    product(&small, 0);
    CHECK(calls == 2, "%d calls", calls);
}

static void *one_product(void *unused)
{
    float result[9] = {0};
    call_sgemm(plain, "N", "N", &small, 1, a, a, 0, result);
    return result[8] == 3 ? unused : NULL;
}

static void threads_end(void)
{
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        void *right = NULL;
        pthread_create(&thread, NULL, one_product, a);
        pthread_join(thread, &right);
        CHECK(right == a, "thread %d", i);
        CHECK(destroyed == i + 1, "%d contexts destroyed", destroyed);
    }
}

int main(void)
{
    static const struct {
        const char *mode;
        void (*run)(void);
        int lines; /* to standard error */
    } cases[] = {{"auto", fast_gpu_is_taken, 0}, {"auto", slow_gpu_is_left, 0},
                 {"auto", missing_gpu, 0},       {"auto", device_operands, 0},
                 {"cpu", device_operands, 0},    {"auto", device_operands_without_gpu, 1},
                 {"cuda", all_go_to_gpu, 0},     {"cuda", failure_is_made_good, 1},
                 {"cuda", copy_is_made_good, 1}, {"cuda", missing_gpu, 1},
                 {"cuda", children, 0},          {"cuda", threads_end, 0}};
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = -1, ends[2], lines = 0;
        char text[1000];
        fflush(stdout);
        CHECK(pipe(ends) == 0, "pipe");
        const pid_t child = fork();
        if (child == 0) {
            check_count = check_failures = 0;
            dup2(ends[1], STDERR_FILENO);
            close(ends[0]), close(ends[1]);
            setenv("TILEMM_BLAS", cases[i].mode, 1);
            cases[i].run();
            exit(check_exit());
        }
        close(ends[1]);
        for (ssize_t got; (got = read(ends[0], text, sizeof text - 1)) > 0;)
            for (text[got] = '\0', got = 0; text[got]; got++) {
                lines += text[got] == '\n';
                fputc(text[got], stderr);
            }
        close(ends[0]);
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "case %d", (int)i);
        CHECK(lines == cases[i].lines, "case %d printed %d lines", (int)i, lines);
    }
    return check_exit();
}
