/* cmd_gemm.c - `tilemm gemm`: the matrix product of two .npy files.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "npy.h"

typedef struct {
    const char *a, *b, *c;
    float alpha, beta;
    int trans_a, trans_b;
    int math; /* -1: the library's default */
    context_options_t context;
} gemm_options_t;

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
    "      --math fp32|strict|tf32  how to compute (TILEMM_MATH, or fp32)\n" CONTEXT_HELP
    "  -h, --help                 this help\n";

/* Returns 0, or -1 - the status to exit with. */
static int read_options(int argc, char **argv, gemm_options_t *o)
{
    command_option_t table[] = {
        {"output", OPTION_TEXT, &o->c, .letter = 'o'},
        {"alpha", OPTION_FLOAT, &o->alpha, .takes = "a number"},
        {"beta", OPTION_FLOAT, &o->beta, .takes = "a number"},
        {"trans-a", OPTION_FLAG, .value = &o->trans_a},
        {"trans-b", OPTION_FLAG, .value = &o->trans_b},
        {"math", OPTION_WORD, &o->math, .words = math_words},
        CONTEXT_OPTIONS(o->context),
    };
    int first,
        status = command_options(argc, argv, help, table, sizeof table / sizeof table[0], &first);

    if (status)
        return status;
    if (argc - first != 2)
        return -1 - command_usage_error("gemm", "takes two files, A.npy and B.npy");
    if (!o->c)
        return -1 - command_usage_error("gemm", "where to? -o C.npy is missing");
    o->a = argv[first];
    o->b = argv[first + 1];
    return 0;
}

/* The row-major m x n floats of C, for beta. */
static int read_c(const char *path, int64_t m, int64_t n, float *c)
{
    npy_t file;
    int result = -1;

    if (npy_open(&file, path) != 0)
        return -1;
    if (npy_require_float32(&file, 2, 2) == 0) {
        if (file.shape[0] != m || file.shape[1] != n) {
            command_error("%s: is %lld x %lld, must be %lld x %lld to be added to", path,
                          (long long)file.shape[0], (long long)file.shape[1], (long long)m,
                          (long long)n);
        } else {
            const float *from = file.data;
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < n; j++)
                    c[i * n + j] = from[file.fortran_order ? i + j * m : i * n + j];
            result = 0;
        }
    }
    npy_close(&file);
    return result;
}

static int multiply(tilemm_t ctx, const gemm_options_t *options, const npy_t *a, const npy_t *b)
{
    /* A Fortran-order file is the transpose in C order. */
    const tilemm_op_t transa =
        options->trans_a != a->fortran_order ? TILEMM_TRANS : TILEMM_NO_TRANS;
    const tilemm_op_t transb =
        options->trans_b != b->fortran_order ? TILEMM_TRANS : TILEMM_NO_TRANS;
    const int64_t m = a->shape[options->trans_a], k = a->shape[!options->trans_a];
    const int64_t n = b->shape[!options->trans_b], k_b = b->shape[options->trans_b];
    const int64_t lda = a->shape[!a->fortran_order], ldb = b->shape[!b->fortran_order];
    const int64_t shape[2] = {m, n};
    char descr[4] = {npy_native_order(), 'f', '4', '\0'};
    size_t bytes;
    float *c;
    int status = EXIT_FAILED;

    if (k != k_b)
        return command_error("op(A) is %lld x %lld and op(B) is %lld x %lld: their inner sizes "
                             "differ",
                             (long long)m, (long long)k, (long long)k_b, (long long)n);
    if (__builtin_mul_overflow((size_t)m, (size_t)n, &bytes) ||
        __builtin_mul_overflow(bytes, sizeof(float), &bytes) || bytes > PTRDIFF_MAX)
        return command_error("a result of %lld x %lld is too large", (long long)m, (long long)n);
    c = malloc(bytes ? bytes : 1);
    if (!c)
        return command_error("no memory for a result of %lld x %lld (%zu bytes)", (long long)m,
                             (long long)n, bytes);
    if (options->beta == 0 || read_c(options->c, m, n, c) == 0) {
        if (tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, transa, transb, m, n, k, options->alpha, a->data,
                         lda > 1 ? lda : 1, b->data, ldb > 1 ? ldb : 1, options->beta, c,
                         n > 1 ? n : 1) != TILEMM_SUCCESS)
            command_error("%s", tilemm_last_error(ctx));
        else if (npy_write(options->c, descr, sizeof(float), 2, shape, c) == 0)
            status = EXIT_OK;
    }
    free(c);
    return status;
}

int command_gemm(int argc, char **argv)
{
    gemm_options_t options = {.alpha = 1, .math = -1};
    npy_t a, b;
    tilemm_t ctx;
    int status = read_options(argc, argv, &options);

    if (status)
        return -1 - status;
    if (npy_check_output(options.c) != 0)
        return EXIT_FAILED;
    if (npy_open(&a, options.a) != 0)
        return EXIT_FAILED;
    status = EXIT_FAILED;
    if (npy_open(&b, options.b) == 0) {
        if (npy_require_float32(&a, 2, 2) == 0 && npy_require_float32(&b, 2, 2) == 0) {
            ctx = command_context(&options.context);
            if (ctx) {
                if (options.math >= 0)
                    tilemm_set_math(ctx, (tilemm_math_t)options.math);
                status = multiply(ctx, &options, &a, &b);
                tilemm_destroy(ctx);
            }
        }
        npy_close(&b);
    }
    npy_close(&a);
    return status;
}
