/* reference.h - the libraries that libtilemm is compared with, loaded at run time.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_REFERENCE_H
#define TILEMM_TOOLS_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/* OpenBLAS (or, where TILEMM_REFERENCE_BLAS names another file, that CBLAS). The layout and
 * transposes take CBLAS values, which are libtilemm's. ssum, the copies and set_threads are NULL
 * where the library lacks them. blas_int is the library's 32-bit int. */
typedef struct {
    const char *name; /* "OpenBLAS 0.3.21 (Haswell)" or the file's name */
    void (*sgemm)(int layout, int transa, int transb, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*somatcopy)(int layout, int trans, int rows, int cols, float alpha, const float *a,
                      int lda, float *b, int ldb);
    void (*simatcopy)(int layout, int trans, int rows, int cols, float alpha, float *a, int lda,
                      int ldb);
    float (*sasum)(int n, const float *x, int incx);
    float (*snrm2)(int n, const float *x, int incx);
    float (*sdot)(int n, const float *x, int incx, const float *y, int incy);
    float (*ssum)(int n, const float *x, int incx);
    size_t (*isamax)(int n, const float *x, int incx);
    void (*set_threads)(int threads);
} reference_blas_t;

/* The loaded library, or NULL where there is none. Loaded once. */
const reference_blas_t *reference_blas(void);

/* cuBLAS. Column-major, transposes by flag, device pointers; alpha, beta and results on the host
 * or (device_results) on the device. Return 0 or cuBLAS's status. tf32: allow TF32 math. */
typedef struct {
    const char *name; /* "cuBLAS 13.1.0" */
    int (*set_stream)(void *stream);
    int (*sgemm)(int tf32, int transa, int transb, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc);
    int (*sgemm_strided_batched)(int tf32, int transa, int transb, int m, int n, int k, float alpha,
                                 const float *a, int lda, int64_t stride_a, const float *b, int ldb,
                                 int64_t stride_b, float beta, float *c, int ldc, int64_t stride_c,
                                 int batch_count);
    /* c (m x n) = alpha op(a), by cublasSgeam */
    int (*transpose)(int m, int n, float alpha, const float *a, int lda, float *c, int ldc);
    int (*sasum)(int n, const float *x, int incx, float *result_on_device);
    int (*snrm2)(int n, const float *x, int incx, float *result_on_device);
    int (*sdot)(int n, const float *x, int incx, const float *y, int incy, float *result_on_device);
    int (*isamax)(int n, const float *x, int incx, int *result_on_device); /* 1-based */
    int (*isamin)(int n, const float *x, int incx, int *result_on_device);
    /* y = op(a) x, a being m x n */
    int (*sgemv)(int trans, int m, int n, const float *a, int lda, const float *x, float *y);
} reference_cublas_t;

/* The loaded library with a handle on the current device (after gpu_open), or NULL. */
const reference_cublas_t *reference_cublas(void);

/* cublasXt, cuBLAS's product of matrices on the host, of any size; likewise. FP32 alone. */
typedef struct {
    int (*select)(int count, const int *devices); /* the first call counts */
    int (*set_block)(int size);                   /* of the square tiles that go up */
    int (*sgemm)(int transa, int transb, size_t m, size_t n, size_t k, float alpha, const float *a,
                 size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc);
} reference_cublasxt_t;

/* The loaded library with a handle, or NULL. Memory is pinned by nobody but the caller. */
const reference_cublasxt_t *reference_cublasxt(void);

/* CUB's DeviceReduce, in a module of our own that is built where nvcc is. */
typedef struct {
    const char *name; /* "CUB 3.0.0" */
    /* Sum, maximum or minimum of n floats on the device into *result on the device, on stream. With
     * workspace NULL stores the bytes of workspace that are needed. Returns 0 or a CUDA error. */
    int (*sum)(void *workspace, size_t *workspace_bytes, const float *x, int64_t n, float *result,
               void *stream);
    int (*max)(void *workspace, size_t *workspace_bytes, const float *x, int64_t n, float *result,
               void *stream);
    int (*min)(void *workspace, size_t *workspace_bytes, const float *x, int64_t n, float *result,
               void *stream);
} reference_cub_t;

/* The module, looked for in TILEMM_MODULE_DIR, beside the program, and where it is installed; or
 * NULL. */
const reference_cub_t *reference_cub(void);

#endif
