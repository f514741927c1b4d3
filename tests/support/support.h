/* support.h - what the tests share: random data, operands with fences and guards in every kind of
 * memory, contexts, and the results that an operation must have.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_SUPPORT_SUPPORT_H
#define TILEMM_TESTS_SUPPORT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "tilemm.h"

/* Each test of an operation is built twice: as it is, and with TEST_CUDA for a CUDA context. */
#ifdef TEST_CUDA
#define TEST_BACKEND TILEMM_BACKEND_CUDA
#else
#define TEST_BACKEND TILEMM_BACKEND_CPU
#endif

#if defined(__SANITIZE_ADDRESS__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

/* ---- the program ------------------------------------------------------------------------- */

/* Forget the user's TILEMM_* settings. For the CUDA backend, exit with 77 where there is no GPU
 * or the library was built without CUDA. */
void test_begin(tilemm_backend_t backend);

/* Whether TILEMM_TEST_QUICK=1 asks for the small sweeps, for emulators. */
int test_quick(void);

/* A context with TILEMM_ARCH = arch ("" for none); ends the program if there is none. */
tilemm_t test_context(tilemm_backend_t backend, const char *arch);

/* The values of TILEMM_ARCH to try: "" first; the list ends with NULL. */
const char *const *test_archs(tilemm_backend_t backend);

/* Whether the kernel named is one that the cap allows. */
int test_kernel_allowed(const char *kernel, const char *arch);

/* Seconds on a clock that only goes forward. */
double test_seconds(void);

/* ---- random numbers: the same in every run ------------------------------------------------ */

typedef struct {
    uint64_t state;
} rng_t;

uint64_t rng_bits(rng_t *rng);
int64_t rng_range(rng_t *rng, int64_t low, int64_t high); /* low <= result <= high */
double rng_unit(rng_t *rng);                              /* in [0, 1) */
void rng_bytes(rng_t *rng, void *bytes, size_t count);

/* A size from 0 to most: 0, 1, the edges of tiles and others. */
int64_t rng_size(rng_t *rng, int64_t most);

typedef enum {
    FAMILY_SIGNED = 0, /* uniform in [-1, 1] */
    FAMILY_POSITIVE,   /* uniform in [0, 1] */
    FAMILY_NORMAL,
    FAMILY_WIDE,   /* magnitudes from 2^-30 to 2^30 */
    FAMILY_CANCEL, /* large values that nearly cancel among small ones */
    FAMILY_SUBNORMAL,
    FAMILY_INTEGER, /* -8 to 8: sums are exact */
    FAMILY_COUNT
} family_t;

float rng_float(rng_t *rng, family_t family);

/* ---- memory ---------------------------------------------------------------------------------- */

typedef enum { PLACE_HOST = 0, PLACE_DEVICE, PLACE_MANAGED, PLACE_PINNED, PLACE_COUNT } place_t;

const char *place_name(place_t place);

/* Host for a CPU context, mostly the device for a CUDA context. */
place_t rng_place(rng_t *rng, tilemm_backend_t backend);

enum { GUARD_BYTES = 256 };

/* Memory for one argument. Zero it, and use it as often as you like. In host memory there are
 * pages that cannot be accessed before and behind; guard bytes are on both sides where they fit.
 * The test works on the image, the library on what pointer points to. */
typedef struct {
    unsigned char *image;
    float *numbers; /* the image as floats */
    void *pointer;
    size_t bytes;
    place_t place;
    size_t guard_before, guard_after, capacity;
    unsigned char *store, *saved, *owned, *memory;
    struct {
        unsigned char *memory;
        size_t capacity;
    } region[PLACE_COUNT];
} operand_t;

/* Make room for `bytes` bytes at `offset` bytes behind an address that is aligned to 256; or, if
 * offset is negative, with the last byte before a page that cannot be accessed (host memory).
 * All bytes of the image are 0xff then: NaN. */
void operand_prepare(operand_t *operand, place_t place, size_t bytes, int64_t offset);

/* A random offset for operand_prepare that keeps the alignment. */
int64_t rng_offset(rng_t *rng, size_t alignment);

/* Bring the image to the memory. What the library may write is nothing, until owned. */
void operand_send(operand_t *operand);
void operand_own(operand_t *operand, size_t first_byte, size_t bytes);

/* Bring the memory back to the image; on the GPU, wait for all work before. */
void operand_fetch(operand_t *operand);

/* Whether all bytes that the library may not write, guards too, are as they were sent. */
int operand_intact(const operand_t *operand);

void operand_free(operand_t *operand);

/* Memory for tests past 2^31 elements: sparse on the host, zeroed. NULL where it cannot be had. */
void *sparse_alloc(tilemm_backend_t backend, size_t bytes);
void sparse_free(tilemm_backend_t backend, void *memory, size_t bytes);
void sparse_write(tilemm_backend_t backend, void *to, const void *from, size_t bytes);
void sparse_read(tilemm_backend_t backend, void *to, const void *from, size_t bytes);

/* ---- matrices ----------------------------------------------------------------------------------
 */

static inline int64_t matrix_at(tilemm_layout_t layout, int64_t i, int64_t j, int64_t ld)
{
    return layout == TILEMM_ROW_MAJOR ? i * ld + j : i + j * ld;
}

/* The least leading dimension. */
int64_t matrix_ld(tilemm_layout_t layout, int64_t rows, int64_t cols);

/* The elements from the first to the last of the matrix. */
int64_t matrix_span(tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld);

void matrix_fill(float *x, tilemm_layout_t layout, int64_t rows, int64_t cols, int64_t ld,
                 family_t family, rng_t *rng);
void matrix_own(operand_t *operand, size_t elem_size, int64_t first, tilemm_layout_t layout,
                int64_t rows, int64_t cols, int64_t ld);

/* ---- SGEMM -------------------------------------------------------------------------------------
 */

typedef struct {
    tilemm_layout_t layout;
    tilemm_op_t transa, transb;
    int64_t m, n, k;
    float alpha, beta;
    int64_t lda, ldb, ldc;
} gemm_t;

/* Set the leading dimensions to the least plus a pad. */
void gemm_set_ld(gemm_t *gemm, int64_t pad_a, int64_t pad_b, int64_t pad_c);

/* The elements that A, B and C span. */
int64_t gemm_span_a(const gemm_t *gemm);
int64_t gemm_span_b(const gemm_t *gemm);
int64_t gemm_span_c(const gemm_t *gemm);

void gemm_fill_a(const gemm_t *gemm, float *a, family_t family, rng_t *rng);
void gemm_fill_b(const gemm_t *gemm, float *b, family_t family, rng_t *rng);

/* In FP64: dot = op(A) op(B) and mag = |op(A)| |op(B)|, both m x n, row-major. */
void gemm_exact(const gemm_t *gemm, const float *a, const float *b, double *dot, double *mag);

/* The bound. Each of the k products passes through at most k roundings, and 2 more, as the term
 * beta C does, where alpha is not 1 or -1 or beta is not 0. So, with u = 2^-24, for every element
 *     |error| <= (k + 2) u (|alpha| (|A||B|) + |beta C|)  (and k + 2 roundings of subnormals).
 * Inputs that were rounded themselves (TF32) add input_error times the same sum. Elements that
 * must be NaN or infinite must be just that. */
typedef struct {
    int64_t outside; /* elements that break the bound */
    int64_t i, j;    /* the first of them */
    double got, want, bound;
    double worst;    /* largest |error| / (|alpha| (|A||B|) + |beta C|) */
    double half_ulp; /* largest half ulp of a result, in the same measure */
} gemm_error_t;

gemm_error_t gemm_error(const gemm_t *gemm, const double *dot, const double *mag,
                        const float *c_before, const float *c, double input_error);

/* The same by OpenBLAS (CPU) or cuBLAS (CUDA), on arrays in host memory. 0, or -1 where there is
 * none. */
int gemm_reference(tilemm_backend_t backend, const gemm_t *gemm, const float *a, const float *b,
                   float *c);

/* ---- reductions ---------------------------------------------------------------------------------
 */

/* tilemm_reduce_t goes on with the product of two vectors. */
enum { REDUCE_DOT = TILEMM_AMIN + 1 };

const char *reduce_name(int op);

/* Element i of a vector with BLAS's increment. */
static inline int64_t vector_at(int64_t n, int64_t i, int64_t inc)
{
    return inc > 0 ? i * inc : (n - 1 - i) * -inc;
}

/* What the library promises for n elements that stand side by side: the canonical order, in the
 * plainest code. */
float reduce_exact_bits(int op, int nan_ignore, int64_t n, const float *x, const float *y);
int64_t reduce_index(int op, int nan_ignore, int64_t n, const float *x);

/* Fill n elements that lie `stride` apart so that the order of additions shows in the bits of op's
 * result: large pairs that cancel, whose rounding is all that is left; or, where nothing cancels,
 * two crumbs that decide a tie in FP32 only if they meet each other before the large element. */
void reduce_fill_order(int op, float *x, int64_t n, int64_t stride, rng_t *rng);

/* The exact sum (SUM, ASUM, SUMSQ, DOT) rounded to FP64, and the sum of the terms' magnitudes,
 * by an integer accumulator as wide as all floats' products. No NaN or Inf. */
double reduce_exact(int op, int64_t n, const float *x, const float *y, double *magnitude);

uint32_t float_bits(float value);
float float_ulp(float value);

/* Call the library's vector function for op: ssum, sasum, snrm2, smax, smin, sdot, or, where it
 * has none, tilemm_sreduce. */
tilemm_status_t reduce_call(tilemm_t ctx, int op, int64_t n, const float *x, int64_t incx,
                            const float *y, int64_t incy, float *result);

#endif
