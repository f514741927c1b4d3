/* support.c - what the tests share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tools/gpu.h"
#include "tools/reference.h"

static void give_up(const char *what)
{
    fprintf(stderr, "tests: %s\n", what);
    exit(1);
}

static void *need(void *memory)
{
    if (!memory)
        give_up("out of memory");
    return memory;
}

/* ---- the program ------------------------------------------------------------------------- */

void test_begin(tilemm_backend_t backend)
{
    tilemm_t ctx;
    tilemm_status_t status;
    unsetenv("TILEMM_BACKEND");
    unsetenv("TILEMM_ARCH");
    unsetenv("TILEMM_NUM_THREADS");
    unsetenv("TILEMM_MATH");
    unsetenv("TILEMM_LOG");
    if (backend != TILEMM_BACKEND_CUDA)
        return;
    if (gpu_open(0)) {
        printf("skipped: %s\n", gpu_error());
        exit(77);
    }
    status = tilemm_create(&ctx, backend, 0);
#ifndef TILEMM_HAVE_CUDA
    if (status == TILEMM_NO_DEVICE) {
        printf("skipped: the library was built without CUDA\n");
        exit(77);
    }
#endif
    if (status != TILEMM_SUCCESS) {
        fprintf(stderr, "a GPU is there, but tilemm_create says: %s\n",
                tilemm_status_string(status));
        exit(1);
    }
    tilemm_destroy(ctx);
}

int test_quick(void)
{
    const char *quick = getenv("TILEMM_TEST_QUICK");
    return quick && strcmp(quick, "1") == 0;
}

tilemm_t test_context(tilemm_backend_t backend, const char *arch)
{
    tilemm_t ctx = NULL;
    tilemm_status_t status;
    if (arch[0])
        setenv("TILEMM_ARCH", arch, 1);
    else
        unsetenv("TILEMM_ARCH");
    status = tilemm_create(&ctx, backend, 0);
    unsetenv("TILEMM_ARCH");
    if (status != TILEMM_SUCCESS || !ctx) {
        fprintf(stderr, "tilemm_create with TILEMM_ARCH=%s: %s\n", arch,
                tilemm_status_string(status));
        exit(1);
    }
    return ctx;
}

const char *const *test_archs(tilemm_backend_t backend)
{
    static const char *const cuda[] = {"", "sm80", "sm90", NULL};
#if defined(__x86_64__) || defined(__i386__)
    static const char *const cpu[] = {"", "generic", "avx2", "avx512", "amx", NULL};
#elif defined(__aarch64__)
    static const char *const cpu[] = {"", "generic", "neon", NULL};
#else
    static const char *const cpu[] = {"", "generic", NULL};
#endif
    return backend == TILEMM_BACKEND_CUDA ? cuda : cpu;
}

int test_kernel_allowed(const char *kernel, const char *arch)
{
    if (strcmp(arch, "generic") == 0)
        return !strstr(kernel, "avx") && !strstr(kernel, "neon") && !strstr(kernel, "amx");
    if (strcmp(arch, "avx2") == 0)
        return !strstr(kernel, "avx512") && !strstr(kernel, "amx");
    if (strcmp(arch, "avx512") == 0)
        return !strstr(kernel, "amx");
    if (strcmp(arch, "sm80") == 0)
        return !strstr(kernel, "sm86") && !strstr(kernel, "sm89") && !strstr(kernel, "sm90") &&
               !strstr(kernel, "sm1");
    if (strcmp(arch, "sm90") == 0)
        return !strstr(kernel, "sm1");
    return 1;
}

double test_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- random numbers ---------------------------------------------------------------------- */

uint64_t rng_bits(rng_t *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t rng_range(rng_t *rng, int64_t low, int64_t high)
{
    return low + (int64_t)(rng_bits(rng) % (uint64_t)(high - low + 1));
}

double rng_unit(rng_t *rng)
{
    return (double)(rng_bits(rng) >> 11) * 0x1p-53;
}

void rng_bytes(rng_t *rng, void *bytes, size_t count)
{
    unsigned char *to = bytes;
    while (count) {
        uint64_t bits = rng_bits(rng);
        size_t part = count < 8 ? count : 8;
        memcpy(to, &bits, part);
        to += part;
        count -= part;
    }
}

int64_t rng_size(rng_t *rng, int64_t most)
{
    static const int64_t edge[] = {4, 6, 8, 12, 14, 16, 24, 32, 48, 64, 96, 128, 192, 256, 288};
    int64_t size;
    switch (rng_range(rng, 0, 9)) {
    case 0: size = rng_range(rng, 0, 3); break;
    case 1:
    case 2:
    case 3:
        size = edge[rng_range(rng, 0, (int64_t)(sizeof(edge) / sizeof(edge[0])) - 1)] +
               rng_range(rng, -1, 1);
        break;
    case 4:
    case 5:
    case 6: size = rng_range(rng, 0, most < 64 ? most : 64); break;
    default: size = rng_range(rng, 0, most);
    }
    return size > most ? rng_range(rng, 0, most) : size;
}

float rng_float(rng_t *rng, family_t family)
{
    double x;
    int i;
    switch (family) {
    case FAMILY_POSITIVE: return (float)rng_unit(rng);
    case FAMILY_NORMAL:
        for (x = -6, i = 0; i < 12; i++)
            x += rng_unit(rng);
        return (float)x;
    case FAMILY_WIDE:
        x = ldexp(1 + rng_unit(rng), (int)rng_range(rng, -30, 29));
        return (float)(rng_bits(rng) & 1 ? x : -x);
    case FAMILY_CANCEL:
        x = 2 * rng_unit(rng) - 1;
        if (rng_bits(rng) & 1)
            return (float)x;
        return (float)(rng_bits(rng) & 1 ? 1e4 + x : -1e4 + x);
    case FAMILY_SUBNORMAL: x = 0x1p-126 * (2 * rng_unit(rng) - 1); return (float)x;
    case FAMILY_INTEGER: return (float)rng_range(rng, -8, 8);
    default: return (float)(2 * rng_unit(rng) - 1);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

const char *place_name(place_t place)
{
    static const char *const name[] = {"host", "device", "managed", "pinned"};
    return name[place];
}

place_t rng_place(rng_t *rng, tilemm_backend_t backend)
{
    if (backend != TILEMM_BACKEND_CUDA || rng_range(rng, 0, 5) == 0)
        return PLACE_HOST;
    switch (rng_range(rng, 0, 9)) {
    case 0: return PLACE_MANAGED;
    case 1: return PLACE_PINNED;
    default: return PLACE_DEVICE;
    }
}

/* Host memory between two pages that cannot be accessed. */
static unsigned char *fenced_alloc(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *all =
        mmap(NULL, bytes + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    if (mprotect(all, page, PROT_NONE) || mprotect(all + page + bytes, page, PROT_NONE))
        give_up("mprotect failed");
    return all + page;
}

static void fenced_free(unsigned char *memory, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(memory - page, bytes + 2 * page);
}

static void region_free(operand_t *operand, place_t place)
{
    unsigned char *memory = operand->region[place].memory;
    if (!memory)
        return;
    if (place == PLACE_HOST)
        fenced_free(memory, operand->region[place].capacity);
    else if (place == PLACE_PINNED)
        gpu_free_host(memory);
    else
        gpu_free(memory);
    operand->region[place].memory = NULL;
    operand->region[place].capacity = 0;
}

static void region_grow(operand_t *operand, place_t place, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (operand->region[place].capacity >= bytes)
        return;
    region_free(operand, place);
    bytes = (bytes + bytes / 4 + page - 1) / page * page;
    operand->region[place].memory = need(place == PLACE_HOST      ? fenced_alloc(bytes)
                                         : place == PLACE_DEVICE  ? gpu_malloc(bytes)
                                         : place == PLACE_MANAGED ? gpu_malloc_managed(bytes)
                                                                  : gpu_malloc_host(bytes));
    operand->region[place].capacity = bytes;
}

static size_t whole(const operand_t *operand)
{
    return operand->guard_before + operand->bytes + operand->guard_after;
}

void operand_prepare(operand_t *operand, place_t place, size_t bytes, int64_t offset)
{
    size_t total;
    operand->place = place;
    operand->bytes = bytes;
    operand->guard_before = GUARD_BYTES + (offset > 0 ? (size_t)offset : 0);
    operand->guard_after = place == PLACE_HOST && offset < 0 ? 0 : GUARD_BYTES;
    total = whole(operand);
    region_grow(operand, place, total);
    operand->memory = operand->region[place].memory;
    if (!operand->guard_after)
        operand->memory += operand->region[place].capacity - total;
    operand->pointer = operand->memory + operand->guard_before;
    if (operand->capacity < total) {
        free(operand->store);
        free(operand->saved);
        free(operand->owned);
        operand->capacity = total + total / 4;
        operand->store = need(malloc(operand->capacity));
        operand->saved = need(malloc(operand->capacity));
        operand->owned = need(malloc(operand->capacity));
    }
    memset(operand->store, 0xff, total);
    operand->image = operand->store + operand->guard_before;
    operand->numbers = (void *)operand->image;
}

int64_t rng_offset(rng_t *rng, size_t alignment)
{
    return rng_range(rng, 0, 2) == 0 ? -1 : (int64_t)alignment * rng_range(rng, 0, 3);
}

void operand_send(operand_t *operand)
{
    size_t total = whole(operand);
    memcpy(operand->saved, operand->store, total);
    memset(operand->owned, 0, total);
    if (operand->place == PLACE_DEVICE) {
        if (gpu_to_device(operand->memory, operand->store, total))
            give_up("copy to the device failed");
        gpu_synchronize();
    } else {
        memcpy(operand->memory, operand->store, total);
    }
}

void operand_own(operand_t *operand, size_t first_byte, size_t bytes)
{
    if (first_byte + bytes > operand->bytes)
        give_up("a test owns more than its operand has");
    memset(operand->owned + operand->guard_before + first_byte, 1, bytes);
}

void operand_fetch(operand_t *operand)
{
    size_t total = whole(operand);
    if (operand->place == PLACE_DEVICE) {
        if (gpu_synchronize() || gpu_to_host(operand->store, operand->memory, total))
            give_up("copy from the device failed");
    } else {
        if (operand->place == PLACE_MANAGED && gpu_synchronize())
            give_up("the device failed");
        memcpy(operand->store, operand->memory, total);
    }
}

int operand_intact(const operand_t *operand)
{
    size_t i, total = whole(operand);
    unsigned char changed = 0;
    for (i = 0; i < total; i++)
        changed |= (unsigned char)((operand->store[i] ^ operand->saved[i]) &
                                   (unsigned char)(operand->owned[i] - 1));
    return !changed;
}

void operand_free(operand_t *operand)
{
    int place;
    for (place = 0; place < PLACE_COUNT; place++)
        region_free(operand, (place_t)place);
    free(operand->store);
    free(operand->saved);
    free(operand->owned);
    memset(operand, 0, sizeof(*operand));
}

void *sparse_alloc(tilemm_backend_t backend, size_t bytes)
{
    void *memory;
    if (backend == TILEMM_BACKEND_CUDA) {
        memory = gpu_malloc(bytes);
        if (memory && gpu_fill_async(memory, 0, bytes, NULL))
            give_up("filling device memory failed");
        gpu_synchronize();
        return memory;
    }
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void sparse_free(tilemm_backend_t backend, void *memory, size_t bytes)
{
    if (backend == TILEMM_BACKEND_CUDA)
        gpu_free(memory);
    else if (memory)
        munmap(memory, bytes);
}

void sparse_write(tilemm_backend_t backend, void *to, const void *from, size_t bytes)
{
    if (backend != TILEMM_BACKEND_CUDA)
        memcpy(to, from, bytes);
    else if (gpu_to_device(to, from, bytes) || gpu_synchronize())
        give_up("copy to the device failed");
}

void sparse_read(tilemm_backend_t backend, void *to, const void *from, size_t bytes)
{
    if (backend != TILEMM_BACKEND_CUDA)
        memcpy(to, from, bytes);
    else if (gpu_synchronize() || gpu_to_host(to, from, bytes))
        give_up("copy from the device failed");
}

/* ---- matrices ----------------------------------------------------------------------------------
 */

int64_t matrix_ld(tilemm_layout_t layout, int64_t rows, int64_t cols)
{
    int64_t ld = layout == TILEMM_ROW_MAJOR ? cols : rows;
    return ld > 0 ? ld : 1;
}

int64_t matrix_span(tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld)
{
    return rows && cols ? matrix_at(layout, rows - 1, cols - 1, ld) + 1 : 0;
}

void matrix_fill(float *x, tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld,
                 family_t family, rng_t *rng)
{
    int64_t i, j;
    for (i = 0; i < rows; i++)
        for (j = 0; j < cols; j++)
            x[matrix_at(layout, i, j, ld)] = rng_float(rng, family);
}

void matrix_own(operand_t *operand, size_t elem_size, int64_t first, tilemm_layout_t layout,
                int64_t rows, int64_t cols, int64_t ld)
{
    int64_t line, lines = layout == TILEMM_ROW_MAJOR ? rows : cols;
    int64_t length = layout == TILEMM_ROW_MAJOR ? cols : rows;
    for (line = 0; length && line < lines; line++)
        operand_own(operand, (size_t)(first + line * ld) * elem_size, (size_t)length * elem_size);
}

/* ---- SGEMM -------------------------------------------------------------------------------------
 */

static int64_t rows_of(tilemm_op_t trans, int64_t rows, int64_t cols)
{
    return trans == TILEMM_TRANS ? cols : rows;
}

void gemm_set_ld(gemm_t *g, int64_t pad_a, int64_t pad_b, int64_t pad_c)
{
    g->lda = pad_a +
             matrix_ld(g->layout, rows_of(g->transa, g->m, g->k), rows_of(g->transa, g->k, g->m));
    g->ldb = pad_b +
             matrix_ld(g->layout, rows_of(g->transb, g->k, g->n), rows_of(g->transb, g->n, g->k));
    g->ldc = pad_c + matrix_ld(g->layout, g->m, g->n);
}

int64_t gemm_span_a(const gemm_t *g)
{
    return matrix_span(g->layout, rows_of(g->transa, g->m, g->k), rows_of(g->transa, g->k, g->m),
                       g->lda);
}

int64_t gemm_span_b(const gemm_t *g)
{
    return matrix_span(g->layout, rows_of(g->transb, g->k, g->n), rows_of(g->transb, g->n, g->k),
                       g->ldb);
}

int64_t gemm_span_c(const gemm_t *g)
{
    return matrix_span(g->layout, g->m, g->n, g->ldc);
}

void gemm_fill_a(const gemm_t *g, float *a, family_t family, rng_t *rng)
{
    matrix_fill(a, g->layout, rows_of(g->transa, g->m, g->k), rows_of(g->transa, g->k, g->m),
                g->lda, family, rng);
}

void gemm_fill_b(const gemm_t *g, float *b, family_t family, rng_t *rng)
{
    matrix_fill(b, g->layout, rows_of(g->transb, g->k, g->n), rows_of(g->transb, g->n, g->k),
                g->ldb, family, rng);
}

static int64_t at(tilemm_layout_t layout, tilemm_op_t trans, int64_t i, int64_t j, int64_t ld)
{
    return trans == TILEMM_TRANS ? matrix_at(layout, j, i, ld) : matrix_at(layout, i, j, ld);
}

void gemm_exact(const gemm_t *g, const float *a, const float *b, double *dot, double *mag)
{
    double *line = need(malloc(sizeof(double) * (size_t)(g->n ? g->n : 1)));
    int64_t i, j, p;
    for (i = 0; i < g->m * g->n; i++)
        dot[i] = mag[i] = 0;
    for (p = 0; p < g->k; p++) {
        for (j = 0; j < g->n; j++)
            line[j] = b[at(g->layout, g->transb, p, j, g->ldb)];
        for (i = 0; i < g->m; i++) {
            double x = a[at(g->layout, g->transa, i, p, g->lda)];
            double *restrict d = dot + i * g->n, *restrict s = mag + i * g->n;
            for (j = 0; j < g->n; j++) {
                double product = x * line[j];
                d[j] += product;
                s[j] += fabs(product);
            }
        }
    }
    free(line);
}

gemm_error_t gemm_error(const gemm_t *g, const double *dot, const double *mag,
                        const float *c_before, const float *c, double input_error)
{
    gemm_error_t error = {0, -1, -1, 0, 0, 0, 0, 0};
    int reads_ab = g->alpha != 0 && g->k > 0;
    double roundings = (double)g->k + (fabs((double)g->alpha) != 1 || g->beta != 0 ? 2 : 0);
    int64_t i, j;
    for (i = 0; i < g->m; i++) {
        for (j = 0; j < g->n; j++) {
            int64_t e = matrix_at(g->layout, i, j, g->ldc);
            double old = g->beta != 0 ? (double)g->beta * c_before[e] : 0;
            double want = (reads_ab ? (double)g->alpha * dot[i * g->n + j] : 0) + old;
            double scale = (reads_ab ? fabs((double)g->alpha) * mag[i * g->n + j] : 0) + fabs(old);
            double got = c[e], bound = 0;
            int right;
            if (isnan(want)) {
                right = isnan(got);
            } else if (isinf((float)want)) {
                right = got == (float)want;
            } else {
                double off = fabs(got - want);
                bound = (roundings * 0x1p-24 + input_error) * scale +
                        roundings * (1 + fabs((double)g->alpha)) * 0x1p-149;
                right = off <= bound;
                if (scale > 0x1p-100) {
                    error.worst = fmax(error.worst, off / scale);
                    error.half_ulp = fmax(error.half_ulp, fabs(want) / scale * 0x1p-24);
                }
            }
            if (!right && error.outside++ == 0) {
                error.i = i;
                error.j = j;
                error.got = got;
                error.want = want;
                error.bound = bound;
            }
        }
    }
    return error;
}

/* cuBLAS on copies of the arrays in device memory. */
static int gemm_cublas(const gemm_t *g, const float *a, const float *b, float *c)
{
    const reference_cublas_t *cublas = reference_cublas();
    size_t bytes_a = sizeof(float) * (size_t)gemm_span_a(g);
    size_t bytes_b = sizeof(float) * (size_t)gemm_span_b(g);
    size_t bytes_c = sizeof(float) * (size_t)gemm_span_c(g);
    int ta = g->transa == TILEMM_TRANS, tb = g->transb == TILEMM_TRANS;
    float *da, *db, *dc;
    int failed;
    if (!cublas)
        return -1;
    da = gpu_malloc(bytes_a);
    db = gpu_malloc(bytes_b);
    dc = gpu_malloc(bytes_c);
    failed = !da || !db || !dc || gpu_to_device(da, a, bytes_a) || gpu_to_device(db, b, bytes_b) ||
             gpu_to_device(dc, c, bytes_c) || cublas->set_stream(NULL);
    if (!failed && g->layout == TILEMM_COL_MAJOR)
        failed = cublas->sgemm(0, ta, tb, (int)g->m, (int)g->n, (int)g->k, g->alpha, da,
                               (int)g->lda, db, (int)g->ldb, g->beta, dc, (int)g->ldc);
    else if (!failed)
        failed = cublas->sgemm(0, tb, ta, (int)g->n, (int)g->m, (int)g->k, g->alpha, db,
                               (int)g->ldb, da, (int)g->lda, g->beta, dc, (int)g->ldc);
    failed = failed || gpu_synchronize() || gpu_to_host(c, dc, bytes_c);
    gpu_free(da);
    gpu_free(db);
    gpu_free(dc);
    return failed ? -1 : 0;
}

int gemm_reference(tilemm_backend_t backend, const gemm_t *g, const float *a, const float *b,
                   float *c)
{
    const reference_blas_t *blas;
    if (!g->m || !g->n || !g->k)
        return -1;
    if (backend == TILEMM_BACKEND_CUDA)
        return gemm_cublas(g, a, b, c);
    blas = reference_blas();
    if (!blas || !blas->sgemm)
        return -1;
    blas->sgemm(g->layout, g->transa, g->transb, (int)g->m, (int)g->n, (int)g->k, g->alpha, a,
                (int)g->lda, b, (int)g->ldb, g->beta, c, (int)g->ldc);
    return 0;
}

/* ---- reductions ---------------------------------------------------------------------------------
 */

const char *reduce_name(int op)
{
    static const char *const name[] = {"sum", "asum", "sumsq", "nrm2", "mean",
                                       "max", "min",  "amax",  "amin", "dot"};
    return name[op];
}

uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

float float_ulp(float value)
{
    float magnitude = fabsf(value);
    if (magnitude >= 0x1.fffffep127f)
        return 0x1p104f;
    return nextafterf(magnitude, INFINITY) - magnitude;
}

/* A sum and what its roundings lost. */
typedef struct {
    double sum, lost;
} pair_t;

static pair_t pair_add(pair_t a, pair_t b)
{
    /* volatile: no compiler may take the error of a sum for 0 */
    volatile double sum = a.sum + b.sum, part = sum - a.sum, rest = sum - part;
    volatile double error = a.sum - rest;
    pair_t result;
    error = error + (b.sum - part);
    result.sum = sum;
    result.lost = (a.lost + b.lost) + error;
    return result;
}

/* Fold up to 32 numbers by halves. */
static pair_t fold(const pair_t *value, int64_t count)
{
    pair_t lane[32] = {{0, 0}};
    int half, l;
    memcpy(lane, value, sizeof(*lane) * (size_t)count);
    for (half = 16; half; half /= 2)
        for (l = 0; l < half; l++)
            lane[l] = pair_add(lane[l], lane[l + half]);
    return lane[0];
}

/* The canonical order, for terms that have been computed. */
static pair_t tile_sum(const pair_t *term, int64_t count)
{
    pair_t lane[32] = {{0, 0}};
    int64_t e;
    for (e = 0; e < count; e++)
        lane[e % 32] = pair_add(lane[e % 32], term[e]);
    return fold(lane, 32);
}

/* The sum of the sums of tiles. */
static pair_t canonical_sum(pair_t *sum, int64_t count)
{
    int64_t i;
    for (; count > 1; count = (count + 31) / 32)
        for (i = 0; i < count; i += 32)
            sum[i / 32] = fold(sum + i, count - i < 32 ? count - i : 32);
    return sum[0];
}

static double term_of(int op, int nan_ignore, float x, const float *y, int64_t i)
{
    double term = x;
    if (op == TILEMM_ASUM)
        term = fabs(term);
    else if (op == TILEMM_SUMSQ || op == TILEMM_NRM2)
        term = term * term;
    else if (op == REDUCE_DOT)
        term = term * (double)y[i];
    return nan_ignore && isnan(term) ? 0 : term;
}

static float sum_exact_bits(int op, int nan_ignore, int64_t n, const float *x, const float *y)
{
    int64_t tiles = n ? (n + 1023) / 1024 : 1, tile, e, numbers = 0;
    pair_t *sums = need(malloc(sizeof(pair_t) * (size_t)(tiles + 1))), total;
    pair_t term[1024];
    double result;
    for (tile = 0; tile < tiles; tile++) {
        int64_t first = tile * 1024, count = n - first < 1024 ? n - first : 1024;
        for (e = 0; e < count; e++) {
            term[e].sum = term_of(op, nan_ignore, x[first + e], y, first + e);
            term[e].lost = 0;
            numbers += !isnan(x[first + e]);
        }
        sums[tile] = tile_sum(term, count);
    }
    total = canonical_sum(sums, tiles);
    result = isfinite(total.sum) ? total.sum + total.lost : total.sum;
    free(sums);
    if (op == TILEMM_NRM2)
        result = sqrt(result);
    if (op == TILEMM_MEAN)
        result = result / (double)(nan_ignore ? numbers : n);
    return isnan(result) ? NAN : (float)result;
}

/* Whether a is ahead of b for op: -0 is before +0. */
static int is_ahead(int op, float a, float b)
{
    if (op == TILEMM_AMAX || op == TILEMM_AMIN) {
        a = fabsf(a);
        b = fabsf(b);
    }
    if (op == TILEMM_MIN || op == TILEMM_AMIN)
        return a < b || (a == b && signbit(a) && !signbit(b));
    return a > b || (a == b && !signbit(a) && signbit(b));
}

int64_t reduce_index(int op, int nan_ignore, int64_t n, const float *x)
{
    int64_t i, best = -1;
    for (i = 0; i < n; i++) {
        if (isnan(x[i])) {
            if (!nan_ignore)
                return i;
        } else if (best < 0 || is_ahead(op, x[i], x[best])) {
            best = i;
        }
    }
    return best;
}

float reduce_exact_bits(int op, int nan_ignore, int64_t n, const float *x, const float *y)
{
    int64_t best;
    float value;
    if (op < TILEMM_MAX || op == REDUCE_DOT) {
        value = sum_exact_bits(op, nan_ignore, n, x, y);
    } else {
        best = reduce_index(op, nan_ignore, n, x);
        if (best >= 0)
            value = op >= TILEMM_AMAX ? fabsf(x[best]) : x[best];
        else
            value = op == TILEMM_AMAX ? 0.0f : op == TILEMM_MAX ? -INFINITY : INFINITY;
    }
    if (isnan(value)) {
        uint32_t bits = UINT32_C(0x7fc00000);
        memcpy(&value, &bits, sizeof(value));
    }
    return value;
}

void reduce_fill_order(int op, float *x, int64_t n, int64_t stride, rng_t *rng)
{
    int squares = op == TILEMM_SUMSQ || op == TILEMM_NRM2;
    int64_t i, at[4];
    int p, q, low;
    if (n < 4)
        return;
    if (op == TILEMM_ASUM || squares) {
        const double value[4] = {1, 0x1p-24, 0.75 * 0x1p-53, 0.75 * 0x1p-53};
        for (i = 0; i < n; i++)
            x[i * stride] = 0;
        for (p = 0; p < 4; p++) {
            do {
                at[p] = rng_range(rng, 0, n - 1);
                for (q = 0; q < p && at[q] != at[p]; q++)
                    continue;
            } while (q < p);
            x[at[p] * stride] =
                (float)((squares ? sqrt(value[p]) : value[p]) * (rng_bits(rng) & 1 ? 1 : -1));
        }
        return;
    }
    /* Large values that cancel, so far above the result that even what is lost loses some; or,
     * every other time, near enough that nothing of the result is. */
    low = rng_bits(rng) & 1 ? 20 : 75;
    for (i = 0; i < n; i++)
        x[i * stride] = rng_float(rng, FAMILY_SIGNED);
    for (i = 0; i < n / 2; i++) {
        float value = (float)ldexp(1 + rng_unit(rng), low + (int)rng_range(rng, 0, 40));
        int64_t j = n - 1 - i; /* halves are mirrored: no pair meets before the last fold */
        x[i * stride] = i & 1 ? value : -value;
        x[j * stride] = i & 1 ? -value : value;
    }
}

/* 24 digits of 32 bits from 2^-320 on, kept as signed sums: room for 2^30 terms. */
enum { ACC_DIGITS = 24, ACC_LOW = -320 };

static void acc_add(int64_t *digit, double term)
{
    int exponent, shift;
    uint64_t mantissa;
    double fraction = frexp(fabs(term), &exponent);
    int64_t sign = term < 0 ? -1 : 1;
    if (term == 0)
        return;
    mantissa = (uint64_t)ldexp(fraction, 53);
    exponent += -53 - ACC_LOW;
    while (exponent < 0) { /* a float's product ends at 2^-298: these bits are zero */
        mantissa >>= 1;
        exponent++;
    }
    shift = exponent % 32;
    exponent /= 32;
    digit[exponent] += sign * (int64_t)((mantissa << shift) & UINT32_MAX);
    mantissa >>= 32 - shift;
    digit[exponent + 1] += sign * (int64_t)(mantissa & UINT32_MAX);
    digit[exponent + 2] += sign * (int64_t)(mantissa >> 32);
}

static double acc_value(int64_t *digit)
{
    double value = 0;
    int d, sign = 1;
    int64_t carry = 0;
    for (;;) {
        for (carry = 0, d = 0; d < ACC_DIGITS; d++) {
            int64_t all = digit[d] + carry;
            int64_t low = (int64_t)((uint64_t)all & UINT32_MAX);
            carry = (all - low) / ((int64_t)1 << 32);
            digit[d] = low;
        }
        if (carry >= 0)
            break;
        for (d = 0; d < ACC_DIGITS; d++) /* negative: the magnitude instead */
            digit[d] = -digit[d];
        digit[ACC_DIGITS - 1] -= carry * ((int64_t)1 << 32);
        sign = -1;
    }
    for (d = ACC_DIGITS - 1; d >= 0; d--)
        value += ldexp((double)digit[d], 32 * d + ACC_LOW);
    return sign * value;
}

double reduce_exact(int op, int64_t n, const float *x, const float *y, double *magnitude)
{
    int64_t sum[ACC_DIGITS] = {0}, i;
    double all = 0;
    for (i = 0; i < n; i++) {
        double term = term_of(op, 0, x[i], y, i);
        acc_add(sum, term);
        all += fabs(term);
    }
    *magnitude = all;
    return acc_value(sum);
}

tilemm_status_t reduce_call(tilemm_t ctx, int op, int64_t n, const float *x, int64_t incx,
                            const float *y, int64_t incy, float *result)
{
    switch (op) {
    case TILEMM_SUM: return tilemm_ssum(ctx, n, x, incx, result);
    case TILEMM_ASUM: return tilemm_sasum(ctx, n, x, incx, result);
    case TILEMM_NRM2: return tilemm_snrm2(ctx, n, x, incx, result);
    case TILEMM_MAX: return tilemm_smax(ctx, n, x, incx, result);
    case TILEMM_MIN: return tilemm_smin(ctx, n, x, incx, result);
    case REDUCE_DOT: return tilemm_sdot(ctx, n, x, incx, y, incy, result);
    default: /* a column, so incx must be positive */
        return tilemm_sreduce(ctx, (tilemm_reduce_t)op, TILEMM_AXIS_ROWS, TILEMM_ROW_MAJOR, n, 1, x,
                              incx, result, 1);
    }
}
