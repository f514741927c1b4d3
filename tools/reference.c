/* reference.c - OpenBLAS, cuBLAS and CUB, loaded at run time where they are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dlsym's object pointer becomes a function pointer, which POSIX allows and C does not. */
#define LOAD(function, library, symbol) (*(void **)&(function) = dlsym(library, symbol))

/* dlopen directory + below + "/" + name, if there is a directory. */
static void *open_in(const char *directory, const char *below, const char *name)
{
    char path[4096];
    if (!directory || !*directory ||
        (size_t)snprintf(path, sizeof path, "%s%s/%s", directory, below, name) >= sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

#ifndef TILEMM_REFERENCE_BLAS_FILE
#define TILEMM_REFERENCE_BLAS_FILE "" /* configure was not told which */
#endif

static void *open_blas(void)
{
    const char *wanted = getenv("TILEMM_REFERENCE_BLAS");
    if (!wanted || !*wanted)
        wanted = TILEMM_REFERENCE_BLAS_FILE;
    if (strcmp(wanted, "none") == 0)
        return NULL;
    /* Idle threads of OpenBLAS spin for 2^28 clocks, on the cores of whoever is measured next,
     * before they sleep. 2^20 (half a millisecond) bridges the time between calls as well. */
    setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
    if (*wanted)
        return dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
}

/* "OpenBLAS 0.3.21 NO_LAPACKE ... Haswell ..." and "Haswell" to "OpenBLAS 0.3.21 (Haswell)". */
static void name_blas(void *library, char *name, size_t size)
{
    char *(*get_config)(void);
    char *(*get_core)(void);
    const char *wanted = getenv("TILEMM_REFERENCE_BLAS");
    const char *config = LOAD(get_config, library, "openblas_get_config") ? get_config() : NULL;
    const char *core = LOAD(get_core, library, "openblas_get_corename") ? get_core() : NULL;
    if (config && strncmp(config, "OpenBLAS ", 9) == 0) {
        snprintf(name, size, "%.*s%s%s%s", 9 + (int)strcspn(config + 9, " "), config,
                 core ? " (" : "", core ? core : "", core ? ")" : "");
        return;
    }
    if (!wanted || !*wanted)
        wanted = "CBLAS";
    snprintf(name, size, "%s", strrchr(wanted, '/') ? strrchr(wanted, '/') + 1 : wanted);
}

static reference_blas_t blas; /* name NULL: not there */

static void load_blas(void)
{
    static char name[96];
    void *library = open_blas();
    if (!library)
        return;
    LOAD(blas.sgemm, library, "cblas_sgemm");
    LOAD(blas.somatcopy, library, "cblas_somatcopy");
    LOAD(blas.simatcopy, library, "cblas_simatcopy");
    LOAD(blas.sasum, library, "cblas_sasum");
    LOAD(blas.snrm2, library, "cblas_snrm2");
    LOAD(blas.sdot, library, "cblas_sdot");
    LOAD(blas.ssum, library, "cblas_ssum");
    LOAD(blas.isamax, library, "cblas_isamax");
    LOAD(blas.set_threads, library, "openblas_set_num_threads");
    if (!blas.sgemm || !blas.sasum || !blas.snrm2 || !blas.sdot || !blas.isamax) {
        dlclose(library);
        return;
    }
    name_blas(library, name, sizeof name);
    blas.name = name;
}

const reference_blas_t *reference_blas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_blas);
    return blas.name ? &blas : NULL;
}

enum { DEFAULT_MATH = 0, TF32_TENSOR_OP_MATH = 3 };
enum { POINTER_MODE_HOST = 0, POINTER_MODE_DEVICE = 1 };
enum { MAJOR_VERSION = 0, MINOR_VERSION = 1, PATCH_LEVEL = 2 };

/* The functions of cuBLAS in use: X(member, symbol, parameters). Operations: 0 no, 1 transposed. */
#define CUBLAS_FUNCTIONS(X)                                                                        \
    X(create, "cublasCreate_v2", (void **handle))                                                  \
    X(get_property, "cublasGetProperty", (int property, int *value))                               \
    X(set_stream, "cublasSetStream_v2", (void *handle, void *stream))                              \
    X(set_math, "cublasSetMathMode", (void *handle, int mode))                                     \
    X(set_pointer_mode, "cublasSetPointerMode_v2", (void *handle, int mode))                       \
    X(sgemm, "cublasSgemm_v2",                                                                     \
      (void *handle, int transa, int transb, int m, int n, int k, const float *alpha,              \
       const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc))    \
    X(sgemm_strided_batched, "cublasSgemmStridedBatched",                                          \
      (void *handle, int transa, int transb, int m, int n, int k, const float *alpha,              \
       const float *a, int lda, long long stride_a, const float *b, int ldb, long long stride_b,   \
       const float *beta, float *c, int ldc, long long stride_c, int batch_count))                 \
    X(sgeam, "cublasSgeam",                                                                        \
      (void *handle, int transa, int transb, int m, int n, const float *alpha, const float *a,     \
       int lda, const float *beta, const float *b, int ldb, float *c, int ldc))                    \
    X(sasum, "cublasSasum_v2", (void *handle, int n, const float *x, int incx, float *result))     \
    X(snrm2, "cublasSnrm2_v2", (void *handle, int n, const float *x, int incx, float *result))     \
    X(sdot, "cublasSdot_v2",                                                                       \
      (void *handle, int n, const float *x, int incx, const float *y, int incy, float *result))    \
    X(isamax, "cublasIsamax_v2", (void *handle, int n, const float *x, int incx, int *result))     \
    X(isamin, "cublasIsamin_v2", (void *handle, int n, const float *x, int incx, int *result))     \
    X(sgemv, "cublasSgemv_v2",                                                                     \
      (void *handle, int trans, int m, int n, const float *alpha, const float *a, int lda,         \
       const float *x, int incx, const float *beta, float *y, int incy))

static struct {
    void *handle;
#define MEMBER(name, symbol, parameters) int(*name) parameters;
    CUBLAS_FUNCTIONS(MEMBER)
} cublas;

/* name.so.13 to name.so.11, or name.so. */
static void *open_cuda_library(const char *name)
{
    static const char *const below[] = {"/lib64", "/lib", "/targets/x86_64-linux/lib",
                                        "/targets/sbsa-linux/lib"};
    static const char *const versions[] = {".13", ".12", ".11", ""};
    const char *roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    char files[4][32];
    void *library = NULL;
    for (int i = 0; i < 4; i++)
        snprintf(files[i], sizeof files[i], "%s.so%s", name, versions[i]);
    for (int i = 0; !library && i < 4; i++)
        library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
#ifdef TILEMM_CUDA_LIBDIR
    for (int i = 0; !library && i < 4; i++)
        library = open_in(TILEMM_CUDA_LIBDIR, "", files[i]);
#endif
    for (size_t r = 0; r < sizeof roots / sizeof roots[0]; r++)
        for (size_t d = 0; d < sizeof below / sizeof below[0]; d++)
            for (int i = 0; !library && i < 4; i++)
                library = open_in(roots[r], below[d], files[i]);
    return library;
}

static void *open_cublas(void)
{
    void *library = open_cuda_library("libcublas");
    if (!library) {
        /* Outside the linker's path cuBLAS finds libcublasLt only if it is loaded already. */
        open_cuda_library("libcublasLt");
        library = open_cuda_library("libcublas");
    }
    return library;
}

static int cublas_set_stream(void *stream)
{
    return cublas.set_stream(cublas.handle, stream);
}

/* The function `name` of reference_cublas_t: cuBLAS's `function` in this math and pointer mode. */
#define CALL(name, function, tf32, pointer_mode, parameters, ...)                                  \
    static int cublas_##name parameters                                                            \
    {                                                                                              \
        int status = cublas.set_math(cublas.handle, tf32 ? TF32_TENSOR_OP_MATH : DEFAULT_MATH);    \
        if (!status)                                                                               \
            status = cublas.set_pointer_mode(cublas.handle, pointer_mode);                         \
        return status ? status : cublas.function(cublas.handle, __VA_ARGS__);                      \
    }
CALL(sgemm, sgemm, tf32, POINTER_MODE_HOST,
     (int tf32, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
      const float *b, int ldb, float beta, float *c, int ldc),
     transa != 0, transb != 0, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)
CALL(sgemm_strided_batched, sgemm_strided_batched, tf32, POINTER_MODE_HOST,
     (int tf32, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
      int64_t stride_a, const float *b, int ldb, int64_t stride_b, float beta, float *c, int ldc,
      int64_t stride_c, int batch_count),
     transa != 0, transb != 0, m, n, k, &alpha, a, lda, stride_a, b, ldb, stride_b, &beta, c, ldc,
     stride_c, batch_count)
CALL(transpose, sgeam, 0, POINTER_MODE_HOST,
     (int m, int n, float alpha, const float *a, int lda, float *c, int ldc), 1, 0, m, n, &alpha, a,
     lda, &(float){0}, c, ldc, c, ldc)
CALL(sasum, sasum, 0, POINTER_MODE_DEVICE, (int n, const float *x, int incx, float *result), n, x,
     incx, result)
CALL(snrm2, snrm2, 0, POINTER_MODE_DEVICE, (int n, const float *x, int incx, float *result), n, x,
     incx, result)
CALL(sdot, sdot, 0, POINTER_MODE_DEVICE,
     (int n, const float *x, int incx, const float *y, int incy, float *result), n, x, incx, y,
     incy, result)
CALL(isamax, isamax, 0, POINTER_MODE_DEVICE, (int n, const float *x, int incx, int *result), n, x,
     incx, result)
CALL(isamin, isamin, 0, POINTER_MODE_DEVICE, (int n, const float *x, int incx, int *result), n, x,
     incx, result)
CALL(sgemv, sgemv, 0, POINTER_MODE_HOST,
     (int trans, int m, int n, const float *a, int lda, const float *x, float *y), trans != 0, m, n,
     &(float){1}, a, lda, x, 1, &(float){0}, y, 1)
#undef CALL

static const reference_cublas_t *found_cublas;

static void load_cublas(void)
{
    static char name[64];
    static const reference_cublas_t functions = {name,
                                                 cublas_set_stream,
                                                 cublas_sgemm,
                                                 cublas_sgemm_strided_batched,
                                                 cublas_transpose,
                                                 cublas_sasum,
                                                 cublas_snrm2,
                                                 cublas_sdot,
                                                 cublas_isamax,
                                                 cublas_isamin,
                                                 cublas_sgemv};
    int version[3] = {0, 0, 0};
    void *library = open_cublas();
    if (!library)
        return;
#define LOAD_MEMBER(name, symbol, parameters)                                                      \
    if (!LOAD(cublas.name, library, symbol))                                                       \
        return;
    CUBLAS_FUNCTIONS(LOAD_MEMBER)
#undef LOAD_MEMBER
    if (cublas.create(&cublas.handle) != 0)
        return;
    cublas.get_property(MAJOR_VERSION, &version[0]);
    cublas.get_property(MINOR_VERSION, &version[1]);
    cublas.get_property(PATCH_LEVEL, &version[2]);
    snprintf(name, sizeof name, "cuBLAS %d.%d.%d", version[0], version[1], version[2]);
    found_cublas = &functions;
}

const reference_cublas_t *reference_cublas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_cublas);
    return found_cublas;
}

/* The functions of cublasXt in use. */
#define CUBLASXT_FUNCTIONS(X)                                                                      \
    X(create, "cublasXtCreate", (void **handle))                                                   \
    X(select, "cublasXtDeviceSelect", (void *handle, int count, const int *devices))               \
    X(set_block, "cublasXtSetBlockDim", (void *handle, int size))                                  \
    X(sgemm, "cublasXtSgemm",                                                                      \
      (void *handle, int transa, int transb, size_t m, size_t n, size_t k, const float *alpha,     \
       const float *a, size_t lda, const float *b, size_t ldb, const float *beta, float *c,        \
       size_t ldc))

static struct {
    void *handle;
    CUBLASXT_FUNCTIONS(MEMBER)
} cublasxt;

/* A handle takes its devices once. */
static int cublasxt_select(int count, const int *devices)
{
    static int is_done, status;
    if (!is_done)
        status = cublasxt.select(cublasxt.handle, count, devices);
    is_done = 1;
    return status;
}

static int cublasxt_set_block(int size)
{
    return cublasxt.set_block(cublasxt.handle, size);
}

static int cublasxt_sgemm(int transa, int transb, size_t m, size_t n, size_t k, float alpha,
                          const float *a, size_t lda, const float *b, size_t ldb, float beta,
                          float *c, size_t ldc)
{
    return cublasxt.sgemm(cublasxt.handle, transa != 0, transb != 0, m, n, k, &alpha, a, lda, b,
                          ldb, &beta, c, ldc);
}

static const reference_cublasxt_t *found_cublasxt;

static void load_cublasxt(void)
{
    static const reference_cublasxt_t functions = {cublasxt_select, cublasxt_set_block,
                                                   cublasxt_sgemm};
    void *library = open_cublas();
    if (!library)
        return;
#define LOAD_MEMBER(name, symbol, parameters)                                                      \
    if (!LOAD(cublasxt.name, library, symbol))                                                     \
        return;
    CUBLASXT_FUNCTIONS(LOAD_MEMBER)
#undef LOAD_MEMBER
    if (cublasxt.create(&cublasxt.handle) == 0)
        found_cublasxt = &functions;
}
#undef MEMBER

const reference_cublasxt_t *reference_cublasxt(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_cublasxt);
    return found_cublasxt;
}

static reference_cub_t cub; /* likewise */

static void load_cub(void)
{
    static const char module[] = "tilemm-cub.so";
    static char name[64];
    int (*get_version)(void);
    void *library = open_in(getenv("TILEMM_MODULE_DIR"), "", module);
    /* In the folder of the program that runs: before it is installed. */
    if (!library) {
        char self[4096];
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        if (length > 0) {
            self[length] = '\0';
            *strrchr(self, '/') = '\0';
            library = open_in(self, "", module);
        }
    }
#ifdef MODULE_DIR
    if (!library)
        library = open_in(MODULE_DIR, "", module);
#endif
    if (!library)
        return;
    LOAD(cub.sum, library, "tilemm_cub_sum");
    LOAD(cub.max, library, "tilemm_cub_max");
    LOAD(cub.min, library, "tilemm_cub_min");
    LOAD(get_version, library, "tilemm_cub_version");
    if (!cub.sum || !cub.max || !cub.min || !get_version)
        return;
    const int version = get_version();
    snprintf(name, sizeof name, "CUB %d.%d.%d", version / 100000, version / 100 % 1000,
             version % 100);
    cub.name = name;
}

const reference_cub_t *reference_cub(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_cub);
    return cub.name ? &cub : NULL;
}
