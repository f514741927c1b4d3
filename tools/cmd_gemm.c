/* cmd_gemm.c - `tilemm gemm`: the matrix product of two .npy files.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "lib/size.h"
#include "npy.h"
#include "output.h"

static const char help[] =
    "Usage: tilemm gemm A.npy B.npy -o C.npy [OPTION]...\n"
    "C = alpha op(A) op(B) + beta C, for matrices of float32 in NumPy's .npy files, in C or\n"
    "Fortran order. C is written in C order.\n"
    "\n"
    "  -o, --output C.npy         the result; with --beta, C as it was is read from it first\n"
    "      --alpha X              factor of the product (1)\n"
    "      --beta X               factor of the C that is there (0: C need not exist)\n"
    "      --trans-a              op(A) = transpose of A\n"
    "      --trans-b              op(B) = transpose of B\n"
    "      --math fp32|strict|tf32  how to compute (TILEMM_MATH, or fp32)\n"
    "      --invariance none|batch|across  what bits depend on (TILEMM_INVARIANCE)\n" NPY_FORCE_HELP
        CONTEXT_HELP "  -h, --help                 this help\n";

/* The row-major m x n floats of C, for beta. */
static int read_c(const char *path, int64_t m, int64_t n, float *c)
{
    npy_t file;
    int result = -1;
    if (npy_open(&file, path) != 0)
        return -1;
    if (npy_require_float32(&file, 2) == 0) {
        const float *from = file.data;
        result = file.shape[0] == m && file.shape[1] == n ? 0 : -1;
        if (result != 0)
            command_error("%s: is %lld x %lld, must be %lld x %lld to be added to", path,
                          (long long)file.shape[0], (long long)file.shape[1], (long long)m,
                          (long long)n);
        for (int64_t i = 0; result == 0 && i < m; i++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] = from[file.fortran_order ? i + j * m : i * n + j];
    }
    npy_close(&file);
    return result;
}

/* C = alpha op(A) op(B) + beta C, to the file `output`. */
static int multiply(tilemm_t ctx, const npy_t *a, const npy_t *b, const int trans[2], float alpha,
                    float beta, const char *output, int force)
{
    /* A Fortran-order file is the transpose in C order. */
    const tilemm_op_t transa = trans[0] != a->fortran_order ? TILEMM_TRANS : TILEMM_NO_TRANS;
    const tilemm_op_t transb = trans[1] != b->fortran_order ? TILEMM_TRANS : TILEMM_NO_TRANS;
    const int64_t m = a->shape[trans[0]], k = a->shape[!trans[0]];
    const int64_t n = b->shape[!trans[1]], k_b = b->shape[trans[1]];
    const int64_t lda = a->shape[!a->fortran_order], ldb = b->shape[!b->fortran_order];
    npy_output_t c;
    int status = EXIT_FAILED;
    if (k != k_b)
        return command_error("op(A) is %lld x %lld and op(B) is %lld x %lld: their inner sizes "
                             "differ",
                             (long long)m, (long long)k, (long long)k_b, (long long)n);
    if (npy_check_result(a, b, m, n, sizeof(float), force || beta != 0) != 0)
        return EXIT_FAILED;
    if (npy_create(&c, output, NPY_NATIVE "f4", sizeof(float), 2, (int64_t[]){m, n}) != 0)
        return EXIT_FAILED;
    if (beta == 0 || read_c(output, m, n, c.data) == 0) {
        if (tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, transa, transb, m, n, k, alpha, a->data,
                         tilemm__max(lda, 1), b->data, tilemm__max(ldb, 1), beta, c.data,
                         tilemm__max(n, 1)) != TILEMM_SUCCESS)
            command_error("%s", tilemm_last_error(ctx));
        else
            status = EXIT_OK;
    }
    return npy_finish(&c, status);
}

int command_gemm(int argc, char **argv)
{
    const char *output = NULL;
    float alpha = 1, beta = 0;
    int trans[2] = {0, 0}, force = 0;
    int math = -1, invariance = -1; /* the library's default */
    context_options_t context = {0};
    command_option_t table[] = {
        {"output", OPTION_FILE, .value = &output, .letter = 'o'},
        {"alpha", OPTION_FLOAT, .value = &alpha},
        {"beta", OPTION_FLOAT, .value = &beta},
        {"trans-a", OPTION_FLAG, .value = &trans[0]},
        {"trans-b", OPTION_FLAG, .value = &trans[1]},
        {"math", OPTION_WORD, &math, .words = math_words},
        {"invariance", OPTION_WORD, &invariance, .words = invariance_words},
        {"force", OPTION_FLAG, .value = &force},
        {"A.npy", .kind = OPTION_OPERANDS},
        CONTEXT_OPTIONS(context),
    };
    npy_t a = {0}, b = {0};
    tilemm_t ctx = NULL;
    int first, status = command_options(argc, argv, help, table, COUNT_OF(table), &first);
    if (status)
        return -1 - status;
    if (argc - first != 2)
        return command_usage_error("gemm", "takes two files, A.npy and B.npy");
    if (!output)
        return command_usage_error("gemm", "where to? -o C.npy is missing");
    status = EXIT_FAILED;
    if (output_check(output) == 0 && npy_open(&a, argv[first]) == 0 &&
        npy_open(&b, argv[first + 1]) == 0 && npy_require_float32(&a, 2) == 0 &&
        npy_require_float32(&b, 2) == 0 && (ctx = command_context(&context)) != NULL) {
        if (math >= 0)
            tilemm_set_math(ctx, (tilemm_math_t)math);
        if (invariance >= 0 &&
            tilemm_set_invariance(ctx, (tilemm_invariance_t)invariance) != TILEMM_SUCCESS)
            status = command_error("%s", tilemm_last_error(ctx));
        else
            status = multiply(ctx, &a, &b, trans, alpha, beta, output, force);
    }
    tilemm_destroy(ctx);
    npy_close(&b);
    npy_close(&a);
    return status;
}
