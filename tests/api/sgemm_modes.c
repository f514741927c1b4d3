/* sgemm_modes.c - every math mode on the GPU at sizes where tensor cores are chosen: all layouts,
 * ragged sizes and strides, batches, sizes past 2^31; gaps between the lines of C stay as they are.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "device_gemm.h"

static void try_shapes(const char *arch)
{
    static const int64_t sizes[][3] = {
        {512, 512, 512},    {1000, 999, 1001}, {260, 384, 420},   {1024, 768, 640},
        {513, 1300, 700},   {2049, 511, 1025}, {128, 4096, 2048}, {4000, 130, 3000},
        {1500, 1500, 40},   {300, 300, 9000},  {2500, 1900, 44},  {129, 65, 3000},
        {1920, 1300, 2000}, {72, 2000, 500},   {200, 136, 20000}, {516, 132, 8000},
        {3000, 16, 4000},   {12, 3300, 4100},  {5000, 29, 1000},  {32, 2100, 8000}};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, arch);
    int count = test_quick() ? 3 : (int)(sizeof(sizes) / sizeof(*sizes));

    for (int s = 0; s < count; s++)
        for (int variant = s < 10 ? 0 : 8; variant < 12; variant++) {
            /* From 8 on, rows are aligned if the sizes are. */
            int aligned = variant >= 8, pad = aligned || !(variant & 1) ? 4 : 3;
            int64_t skip = variant == 5 ? 1 : variant == 6 ? 2 : 0;
            gemm_t g = gemm_make(variant & 4 ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR,
                                 variant & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                                 variant & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS, sizes[s][0],
                                 sizes[s][1], sizes[s][2], variant == 3 ? -0.75f : 1.0f,
                                 variant % 3 == 0 ? 0.0f : 0.5f);
            gemm_set_ld(&g, pad, aligned ? 8 : pad + variant, pad + 1);
            problem_t p = make_problem(&g, variant & 1 ? FAMILY_NORMAL : FAMILY_POSITIVE, skip);
            for (int m = 0; m < MODES; m++) {
                char what[160];
                CHECK(tilemm_set_math(ctx, modes[m]) == TILEMM_SUCCESS, "set_math");
                send(&p);
                CHECK(call(ctx, &p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
                fetch(&p);
                snprintf(what, sizeof(what), "%s %s %lldx%lldx%lld variant %d (%s)", arch,
                         mode_names[m], (long long)g.m, (long long)g.n, (long long)g.k, variant,
                         tilemm_last_kernel(ctx));
                check_sample(&p, tolerance_of(modes[m], g.k), what);
                check_between(&p, what);
                CHECK(test_kernel_allowed(tilemm_last_kernel(ctx), arch), "%s", what);
            }
            free_problem(&p, skip);
        }
    tilemm_destroy(ctx);
}

/* Batches: each matrix is as accurate as a single product. */
static void try_batches(void)
{
    enum { BATCH = 5 };
    static const int64_t sizes[][3] = {
        {600, 520, 700}, {96, 80, 300}, {30, 31, 29}, {257, 129, 513}};

    for (int s = 0; s < (int)(sizeof(sizes) / sizeof(*sizes)); s++)
        for (int arrays = 0; arrays < 2; arrays++)
            for (int m = 0; m < MODES; m++) {
                gemm_t g = gemm_make(s & 1 ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR,
                                     m & 1 ? TILEMM_TRANS : TILEMM_NO_TRANS,
                                     s & 2 ? TILEMM_TRANS : TILEMM_NO_TRANS, sizes[s][0],
                                     sizes[s][1], sizes[s][2], 1.0f, 0.5f);
                gemm_set_ld(&g, 1, 0, 2);
                tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
                problem_t p[BATCH];
                float *block[3], **pointers[3];
                int64_t stride[3];
                char what[160];
                for (int x = 0; x < BATCH; x++)
                    p[x] = make_problem(&g, FAMILY_NORMAL, 0);
                p[3].host[0][matrix_at(g.layout, 2, 3, g.lda)] = INFINITY;
                for (int i = 0; i < 3; i++) {
                    stride[i] = p[0].spans[i] + 3;
                    block[i] = device_array((size_t)stride[i] * BATCH * sizeof(float));
                    pointers[i] = device_array(BATCH * sizeof(float *));
                    float *list[BATCH];
                    for (int x = 0; x < BATCH; x++) {
                        list[x] = block[i] + x * stride[i];
                        CHECK(gpu_to_device(list[x], i < 2 ? p[x].host[i] : p[x].before,
                                            (size_t)p[x].spans[i] * sizeof(float)) == 0,
                              "copy");
                    }
                    CHECK(gpu_to_device(pointers[i], list, sizeof(list)) == 0, "copy");
                }
                CHECK(tilemm_set_math(ctx, modes[m]) == TILEMM_SUCCESS, "set_math");
                CHECK((arrays
                           ? tilemm_sgemm_batched(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k,
                                                  g.alpha, (const float *const *)pointers[0], g.lda,
                                                  (const float *const *)pointers[1], g.ldb, g.beta,
                                                  pointers[2], g.ldc, BATCH)
                           : tilemm_sgemm_strided_batched(
                                 ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k, g.alpha,
                                 block[0], g.lda, stride[0], block[1], g.ldb, stride[1], g.beta,
                                 block[2], g.ldc, stride[2], BATCH)) == TILEMM_SUCCESS,
                      "%s", tilemm_last_error(ctx));
                snprintf(what, sizeof(what), "batch %lldx%lldx%lld %s %s (%s)", (long long)g.m,
                         (long long)g.n, (long long)g.k, mode_names[m],
                         arrays ? "arrays" : "strides", tilemm_last_kernel(ctx));
                for (int x = 0; x < BATCH; x++) {
                    CHECK(gpu_synchronize() == 0 &&
                              gpu_to_host(p[x].host[2], block[2] + x * stride[2],
                                          (size_t)p[x].spans[2] * sizeof(float)) == 0,
                          "copy back");
                    check_sample(&p[x], tolerance_of(modes[m], g.k), what);
                    check_between(&p[x], what);
                    free_problem(&p[x], 0);
                }
                for (int i = 0; i < 3; i++) {
                    gpu_free(block[i]);
                    gpu_free(pointers[i]);
                }
                tilemm_destroy(ctx);
            }
}

/* More than 2^31 elements of C, and rows more than 2^31 bytes apart. All rows of A are the same, so
 * that the host holds one only. */
static void try_large(void)
{
    static const struct {
        int64_t m, n, k, lda;
    } large[] = {{50000, 50000, 1000, 1000}, {40, 300, 400, (int64_t)600 << 20}};

    for (int s = 0; s < 2; s++)
        for (int mode = 0; mode < 3; mode += 2) {
            int64_t m = large[s].m, n = large[s].n, k = large[s].k, lda = large[s].lda;
            size_t free_bytes = 0, total = 0, bytes_a = (size_t)((m - 1) * lda + k) * 4;
            size_t bytes_c = (size_t)(m * n) * 4, bytes_b = (size_t)(k * n) * 4;
            gpu_memory(&free_bytes, &total);
            if (free_bytes < bytes_a + bytes_b + bytes_c + ((size_t)8 << 30)) {
                printf("no memory for %lld x %lld x %lld: left out\n", (long long)m, (long long)n,
                       (long long)k);
                continue;
            }
            tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
            float *a = device_array(bytes_a), *b = device_array(bytes_b),
                  *c = device_array(bytes_c);
            float *row = host_array(k), *column = host_array(k * n), got;
            double want = 0, magnitude = 0;
            for (int64_t i = 0; i < k; i++)
                row[i] = rng_float(&rng, FAMILY_NORMAL);
            for (int64_t i = 0; i < k; i++)
                for (int64_t j = 0; j < n; j++)
                    column[i * n + j] = (float)((i * 37 + j) % 101) - 50;
            for (int64_t i = 0; i < m; i++)
                CHECK(gpu_to_device(a + i * lda, row, (size_t)k * 4) == 0, "copy");
            CHECK(gpu_to_device(b, column, bytes_b) == 0, "copy");
            CHECK(gpu_fill_async(c, 0xff, bytes_c, NULL) == 0, "fill");
            CHECK(tilemm_set_math(ctx, modes[mode]) == TILEMM_SUCCESS, "set_math");
            CHECK(tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, m, n, k,
                               1.0f, a, lda, b, n, 0.0f, c, n) == TILEMM_SUCCESS,
                  "%s", tilemm_last_error(ctx));
            CHECK(gpu_synchronize() == 0, "synchronize");
            for (int x = 0; x < SAMPLES; x++) {
                int64_t i = x < 2 ? m - 1 : rng_range(&rng, 0, m - 1);
                int64_t j = x < 2 ? n - 1 - x : rng_range(&rng, 0, n - 1);
                want = magnitude = 0;
                for (int64_t q = 0; q < k; q++) {
                    want += (double)row[q] * (double)column[q * n + j];
                    magnitude += fabs((double)row[q] * (double)column[q * n + j]);
                }
                CHECK(gpu_to_host(&got, c + i * n + j, sizeof(got)) == 0, "copy back");
                CHECK(fabs(got - want) <= tolerance_of(modes[mode], k) * magnitude,
                      "%s %s: (%lld, %lld) is %.9g, not %.9g", mode_names[mode],
                      tilemm_last_kernel(ctx), (long long)i, (long long)j, (double)got, want);
            }
            gpu_free(a);
            gpu_free(b);
            gpu_free(c);
            free(row);
            free(column);
            tilemm_destroy(ctx);
        }
}

int main(void)
{
    test_begin(TILEMM_BACKEND_CUDA);
    for (const char *const *arch = test_archs(TILEMM_BACKEND_CUDA); *arch; arch++)
        try_shapes(*arch);
    try_batches();
    if (!test_quick())
        try_large();
    return check_exit();
}
