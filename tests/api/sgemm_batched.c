/* sgemm_batched.c - batched products against FP64: positive, negative and zero strides, gaps, and
 * arrays of pointers in any order and kind of memory; nothing outside the results is written. And
 * GPU kernels that are chosen for large work only, forced on small.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include "guarded_gemm.h"
#include "lib/size.h"

enum { BATCH = 5, MOST = 400 };

static operand_t arrays[3];

static gemm_t random_gemm(rng_t *rng, int64_t most)
{
    static const float factors[] = {1, -1, 2.5f, 0};
    int bits = 0;
    for (int bit = 1; bit < 8; bit *= 2)
        bits |= rng_bits(rng) & 1 ? 0 : bit;
    const int64_t size[] = {rng_size(rng, most), rng_size(rng, most), rng_size(rng, most)};
    const float alpha = factors[rng_range(rng, 0, 7) % 4], beta = factors[rng_range(rng, 0, 3)];
    gemm_t g = gemm_by_bits(bits, size, alpha, beta);
    gemm_set_ld(&g, rng_range(rng, 0, 2), rng_range(rng, 0, 2), rng_range(rng, 0, 2));
    return g;
}

/* Prepare an array of `batch` pointers into an operand: matrix i begins at element first[i]. An
 * array in device memory must hold addresses that the GPU can read. */
static void point(operand_t *array, const operand_t *to, const int64_t *first, int64_t batch,
                  rng_t *rng)
{
    place_t place = rng_place(rng, TEST_BACKEND);
    if (to->place == PLACE_HOST || to->place == PLACE_PINNED)
        place = place == PLACE_PINNED ? PLACE_PINNED : PLACE_HOST;
    operand_prepare(array, place, sizeof(float *) * (size_t)batch, 0);
    for (int64_t i = 0; i < batch; i++) {
        const float *pointer = (const float *)to->pointer + first[i];
        memcpy(array->image + sizeof(pointer) * (size_t)i, &pointer, sizeof(pointer));
    }
    operand_send(array);
}

enum { PACKED = -2 };

/* A batch, by strides or by arrays of pointers, of operands that lie each `skip` floats behind an
 * aligned address, or ANYWHERE; PACKED: aligned, and matrices without gaps between them. */
static void run(tilemm_t ctx, const gemm_t *g, tilemm_math_t math, int64_t batch, int by_arrays,
                int skip, rng_t *rng)
{
    const int64_t span[] = {gemm_span_a(g), gemm_span_b(g), gemm_span_c(g)};
    const family_t family = by_arrays ? FAMILY_SIGNED : FAMILY_NORMAL;
    const int reads = g->alpha != 0 && g->k > 0;
    operand_t *const operand[] = {&A, &B, &C};
    int64_t stride[3], count[3], first[3][MOST];
    tilemm_status_t status;
    char name[100];
    for (int o = 0; o < 3; o++) {
        stride[o] = o == 2 || rng_range(rng, 0, 3) ? span[o] + rng_range(rng, 0, 5) : 0;
        if (o == 0 && rng_range(rng, 0, 3) == 0) /* inputs may overlap */
            stride[o] /= 3;
        if (skip == PACKED)
            stride[o] = span[o];
        count[o] = span[o] ? (batch - 1) * stride[o] + span[o] : 0;
        const int backwards = skip != PACKED && rng_range(rng, 0, 2) == 0;
        for (int64_t i = 0; i < batch; i++) {
            int64_t at = backwards ? batch - 1 - i : i;
            if (by_arrays && o == 0) /* in any order, and repeated */
                at = rng_range(rng, 0, batch - 1);
            first[o][i] = span[o] ? at * stride[o] : 0;
        }
        if (backwards)
            stride[o] = -stride[o];
    }
    place_operands(count, skip == PACKED ? 0 : skip, rng);
    for (int64_t i = 0; i < batch; i++) {
        gemm_fill_a(g, A.numbers + first[0][i], family, rng);
        gemm_fill_b(g, B.numbers + first[1][i], family, rng);
        if (g->beta != 0)
            matrix_fill(C.numbers + first[2][i], g->layout, g->m, g->n, g->ldc, family, rng);
    }
    if (batch == BATCH && g->m > 2 && g->k > 3) /* which leaves the other matrices alone */
        A.numbers[first[0][3] + gemm_at_a(g, 2, 3)] = INFINITY;
    for (int o = 0; o < 3; o++) {
        operand_send(operand[o]);
        if (by_arrays)
            point(&arrays[o], operand[o], first[o], batch, rng);
    }
    for (int64_t i = 0; i < batch; i++)
        matrix_own(&C, sizeof(float), first[2][i], g->layout, g->m, g->n, g->ldc);
    if (by_arrays)
        status = gemm_call_batched(ctx, g, reads ? arrays[0].pointer : NULL,
                                   reads ? arrays[1].pointer : NULL, arrays[2].pointer, batch);
    else
        status = gemm_call_strided(ctx, g, reads ? (float *)A.pointer + first[0][0] : NULL,
                                   stride[0], reads ? (float *)B.pointer + first[1][0] : NULL,
                                   stride[1], (float *)C.pointer + first[2][0], stride[2], batch);
    snprintf(name, sizeof(name), "batch %lld %s %lld %lld %lld, math %d", (long long)batch,
             by_arrays ? "arrays" : "strides", (long long)stride[0], (long long)stride[1],
             (long long)stride[2], (int)math);
    finish(ctx, g, status, name);
    for (int o = 0; by_arrays && o < 3; o++)
        check_intact(&arrays[o], what, "an array");
    double *exact = test_need(malloc(sizeof(double) * (size_t)(2 * g->m * g->n + 1)));
    for (int64_t i = 0; i < batch && C.bytes; i++) {
        const double worst =
            check_product(g, math, first[0][i], first[1][i], first[2][i], exact).worst;
        CHECK(worst <= gemm_tolerance(math, g->k), "%s: matrix %lld: worst error %.3g", what,
              (long long)i, worst);
    }
    free(exact);
}

static void random_batches(tilemm_t ctx, int rounds, int by_arrays, rng_t *rng)
{
    while (rounds--) {
        int64_t batch = by_arrays ? rng_range(rng, 1, 12) : rng_range(rng, 0, 9);
        gemm_t g = random_gemm(rng, by_arrays ? 60 : batch > 4 ? 40 : 100);
        if (batch == 0) { /* many small ones */
            batch = test_quick() ? 50 : MOST;
            g.m %= 9;
            g.n %= 9;
            g.k %= 9;
            gemm_set_ld(&g, 0, 1, 0);
        }
        run(ctx, &g, TILEMM_MATH_FP32, batch, by_arrays, ANYWHERE, rng);
    }
}

/* Every math mode at sizes where tensor cores are chosen. */
static void math_modes(tilemm_t ctx, rng_t *rng)
{
    static const int64_t size[][3] = {
        {600, 520, 700}, {96, 80, 300}, {30, 31, 29}, {257, 129, 513}};
    for (int s = 0; s < 4; s++)
        for (int mode = 0; mode < MODES; mode++)
            for (int by_arrays = 0; by_arrays < 2; by_arrays++) {
                const int bits = s % 2 * COL_MAJOR + mode % 2 * TRANS_A + s / 2 * TRANS_B;
                gemm_t g = gemm_by_bits(bits, size[s], 1.0f, 0.5f);
                gemm_set_ld(&g, 1, 0, 2);
                tilemm_set_math(ctx, modes[mode]);
                run(ctx, &g, modes[mode], BATCH, by_arrays, ANYWHERE, rng);
            }
    tilemm_set_math(ctx, TILEMM_MATH_FP32);
}

/* Aligned operands, some of matrices that follow each other backwards: the copy engine cannot read
 * those, nor write them. */
static void aligned_batches(tilemm_t ctx, rng_t *rng)
{
    for (int i = 0; i < (test_quick() ? 36 : 150); i++) {
        const int64_t size[] = {4 * rng_range(rng, 1, 60), 4 * rng_range(rng, 1, 60),
                                4 * rng_range(rng, 8, 60)};
        const gemm_t g = gemm_by_bits(i % 8, size, 1.0f, i % 5 ? 0.0f : 0.5f);
        tilemm_set_math(ctx, modes[i % MODES]);
        run(ctx, &g, modes[i % MODES], rng_range(rng, 2, 5), 0, 0, rng);
    }
    tilemm_set_math(ctx, TILEMM_MATH_FP32);
}

/* Kernels that are chosen for many or for large matrices only: tiles that fit, on any sizes; skinny
 * products with many rows to a block, which need a longer k; and tensor cores, of
 * operands that are not aligned from copies or as they are, where the largest tile that needs
 * copies has room to store from up to k = 64. */
static const char *const rare[] = {
    "sgemm_fitted_sm80_4x4",
    "sgemm_fitted_sm80_8x8",
    "sgemm_skinny_sm75_1024x2",
    "sgemm_skinny_sm75_1024x4",
    "sgemm_skinny_sm75_256x2",
    "sgemm_skinny_sm75_256x4",
    "sgemm_skinny_sm75_128x2",
    "sgemm_skinny_sm75_64x1",
    "sgemm_skinny_sm75_128x1_long",
    "sgemm_fused_sm90_64x128x32",
    "sgemm_fused_sm90_32x256x32",
    "sgemm_fused_sm90_64x64x32",
    "sgemm_fused_sm90_128x64x32",
    "sgemm_fused_sm90_128x128x32",
    "sgemm_fused_sm90_192x64x32",
    "sgemm_fused_sm90_64x192x32",
    "sgemm_unaligned_sm90_64x64",
    "sgemm_unaligned_sm90_128x64",
    "sgemm_unaligned_sm90_128x128",
    "sgemm_short_sm80_128x128",
    "sgemm_short_sm80_64x128",
    "sgemm_short_sm80_128x64",
    "sgemm_short_sm80_128x32",
    "sgemm_short_sm80_32x64",
    "sgemm_short_sm80_16x256",
    "sgemm_short_sm80_4x256",
    "sgemm_short_sm80_32x32",
    "sgemm_short_sm80_16x64",
    "sgemm_short_sm80_4x64",
    "sgemm_short_tf32_sm80_128",
    "sgemm_short_tf32_sm80_64",
    "sgemm_short_tf32_sm80_32",
    "sgemm_tf32_sm90_64x128x32_pair",
    "sgemm_tf32_sm90_128x64x32_p",
    "sgemm_tf32_sm90_128x192x32_nt",
    "sgemm_tf32_sm90_192x128x32_nn",
    "sgemm_tf32_sm90_128x128x32_nt",
    "sgemm_tf32_sm90_64x64x32_tn",
    "sgemm_tf32_sm90_128x32x32_tn",
    "sgemm_tf32_sm90_128x64x32_tn",
    "sgemm_tf32_sm90_128x128x32_tn",
    "sgemm_tf32_sm90_128x192x32_tn",
    "sgemm_tf32_sm90_128x256x32_tn",
    "sgemm_tf32_unaligned_sm90_128x64",
    "sgemm_tf32_unaligned_sm90_128x128",
    "sgemm_tf32_unaligned_sm90_32x128",
    "sgemm_vector_sm75_4_k_aligned",
    "sgemm_vector_sm75_8_k",
    "sgemm_vector_sm75_32_k",
    "sgemm_vector_sm75_256_k",
    "sgemm_vector_sm75_1024_k",
    "sgemm_vector_sm75_8_m",
    "sgemm_vector_sm75_16_m",
    "sgemm_vector_sm75_32_m",
    "sgemm_vector_sm75_64_m",
    "sgemm_vector_sm75_128_m",
    "sgemm_vector_sm75_512_m_aligned",
    "sgemm_vector_sm75_32x2_k",
    "sgemm_vector_sm75_32x4_k",
    "sgemm_vector_sm75_256x2_k",
    "sgemm_vector_sm75_256x4_k",
    "sgemm_vector_sm75_256x8_k",
    "sgemm_vector_sm75_8x4_m",
    "sgemm_vector_sm75_32x2_m",
    "sgemm_vector_sm75_128x4_m",
    "sgemm_slicek_sm80_32x32",
    "sgemm_slicek_sm80_16x32",
    "sgemm_slicek_sm80_8x32",
    "sgemm_slicek_sm80_4x32",
    "sgemm_slicek_sm80_32x64",
    "sgemm_slicek_sm80_16x64",
    "sgemm_slicek_sm80_8x64",
};

static void rare_kernels(rng_t *rng)
{
    int hopper = 0;
    for (int v = 0; v < (int)(sizeof rare / sizeof *rare); v++) {
        tilemm_t ctx = test_context_of(TEST_BACKEND, "", rare[v]);
        const int is_192 = strstr(rare[v], "fused_sm90_192x64") != NULL ||
                           strstr(rare[v], "fused_sm90_64x192") != NULL;
        /* Its blocks add up C', which most of these store by columns. */
        const int adds_up = is_192 || strstr(rare[v], "fused_sm90_64x128") != NULL ||
                            strstr(rare[v], "fused_sm90_32x256") != NULL;
        int taken = 0, clusters = 0;
        for (int i = 0; i < (test_quick() ? 16 : 60); i++) {
            const int is_fitted = strstr(rare[v], "fitted") != NULL;
            const int is_skinny = strstr(rare[v], "skinny") != NULL;
            gemm_t g = random_gemm(rng, is_fitted ? 150 : 300);
            if (is_skinny) { /* few columns, or few rows */
                *(i % 2 ? &g.m : &g.n) = strstr(rare[v], "x1")   ? 1
                                         : strstr(rare[v], "x2") ? 2
                                                                 : rng_range(rng, 3, 4);
                g.k += 256;
                if (strstr(rare[v], "_long") && i % 16 > 13) { /* several pieces of k to a block */
                    g.k += 2000000;
                    g.m = tilemm__min(g.m, 9);
                    g.n = tilemm__min(g.n, 9);
                }
                gemm_set_ld(&g, i % 3, i % 4, i % 2);
            }
            const int is_slicek = strstr(rare[v], "slicek") != NULL;
            const int is_short = is_slicek || strstr(rare[v], "short") != NULL;
            const int is_vector = strstr(rare[v], "vector") != NULL;
            const int is_tf32 = strstr(rare[v], "tf32_sm90") != NULL;
            const int is_unaligned = strstr(rare[v], "tf32_unaligned") != NULL;
            /* Of several tiles, which the copy engine may store. */
            const int has_tiles = (is_tf32 || is_unaligned || is_192) && i % 4 == 1;
            /* Every other long product lies anywhere, in a batch. */
            const int aligned = (is_vector && (i % 4 == 2 || i % 16 == 3 || i % 16 == 7)) ||
                                (has_tiles && !is_unaligned);
            if (is_vector) {
                const int columns = strstr(rare[v], "x2_")   ? 2
                                    : strstr(rare[v], "x4_") ? rng_range(rng, 3, 4)
                                    : strstr(rare[v], "x8_") ? rng_range(rng, 5, 8)
                                                             : 1;
                *(i % 2 ? &g.m : &g.n) = columns;
                g.k += g.k == 0;
                g.alpha += g.alpha == 0; /* or no kernel multiplies */
                if (i % 8 == 3) {        /* clusters */
                    g.n = rng_range(rng, columns, 100);
                    g.k += rng_range(rng, 3000, 12000);
                } else if (i % 8 == 7) { /* more parts of k than a cluster has blocks */
                    g.n = rng_range(rng, columns, columns + 3);
                    g.k += rng_range(rng, 20000, 200000);
                }
                if (columns > 1 && i % 4 == 2) { /* the matrix lies as the kernel reads it */
                    const int along_k = rare[v][strlen(rare[v]) - 1] == 'k';
                    g.layout = TILEMM_ROW_MAJOR;
                    g.transa = along_k ? TILEMM_NO_TRANS : TILEMM_TRANS;
                    g.transb = TILEMM_TRANS;
                    g.m = rng_range(rng, columns, 300);
                    g.n = columns;
                    if (strstr(rare[v], "_256x") && i % 8 == 6) { /* a vector, and few rows */
                        g.m = i % 16 == 6 ? columns : 1;
                        g.n = i % 16 == 6 ? 1 : columns;
                        g.k += i / 8 % 2 * rng_range(rng, 3000, 200000);
                    }
                }
                gemm_set_ld(&g, i % 3, i % 4, i % 2);
                if (aligned) {
                    g.lda = tilemm__round_up(g.lda, 4);
                    g.ldb = tilemm__round_up(g.ldb, 4);
                }
            } else if (!is_fitted && !is_skinny && i % 2) {
                g.k = (is_short ? 1 : 32) + g.k % 33;
                gemm_set_ld(&g, i % 3, i % 4, i % 5);
            }
            if (has_tiles) {
                const char *const name = rare[v];
                g.m = rng_range(rng, 40, 150) * 4;
                g.n = rng_range(rng, 40, 150) * 4;
                g.k = rng_range(rng, 8, 100) * 4;
                g.layout = TILEMM_ROW_MAJOR;
                const int trans_a = is_tf32 ? name[strlen(name) - 2] == 't' : i / 4 % 2;
                const int trans_b = is_tf32 ? name[strlen(name) - 1] == 't' : i / 8 % 2;
                g.transa = trans_a ? TILEMM_TRANS : TILEMM_NO_TRANS;
                g.transb = trans_b ? TILEMM_TRANS : TILEMM_NO_TRANS;
                g.beta = i % 8 == 1 ? 0.0f : g.beta;
                if (i == 1) { /* more tiles than multiprocessors, and a step that is not whole */
                    g.m = 1700;
                    g.n = 3000;
                    g.k = 40;
                }
                gemm_set_ld(&g, i % 3 * 4 + is_unaligned, i % 8 * 4 + is_unaligned, i % 5 * 4);
            }
            if (is_slicek && i % 4 == 2) { /* more stages than there is room for, and clusters */
                g.k += rng_range(rng, 300, 3000);
                gemm_set_ld(&g, i % 3, i % 8, i % 5);
            }
            const int may_be_cluster = adds_up && i % 4 == 2;
            if (may_be_cluster) {
                g.m = rng_range(rng, 416, 448) + is_192 * 80;
                g.n = rng_range(rng, 416, 448) + is_192 * 80;
                g.k = rng_range(rng, 224, 296) - is_192 * 32;
                gemm_set_ld(&g, i % 3, i % 8, i % 5);
            }
            const int is_narrow = is_unaligned && i == 2;
            if (is_narrow) { /* by the narrow tiles, a cluster that adds up columns */
                g = gemm_by_bits(TRANS_B, (const int64_t[]){767, 737, 1018}, 1.0f, 0.0f);
                gemm_set_ld(&g, 0, 0, 1);
            }
            /* Matrices of odd sizes without gaps: every fourth one is equally far from a multiple
             * of 16 bytes. */
            const int is_uneven = strstr(rare[v], "unaligned_sm90") && i % 4 == 3;
            if (is_uneven) {
                g.m |= 1;
                g.n |= 1;
                g.k = 33 + g.k / 2 * 2;
                gemm_set_ld(&g, 0, 0, 0);
            }
            const tilemm_math_t math =
                strstr(rare[v], "tf32")
                    ? TILEMM_MATH_TF32
                    : modes[is_fitted || is_skinny || ((is_short || is_vector) && i % 4)];
            tilemm_set_math(ctx, math);
            const int alone = aligned || has_tiles || may_be_cluster || is_narrow;
            const int64_t least = is_uneven ? 5 : 1, most = is_uneven ? 9 : 4;
            const int skip = is_uneven ? PACKED : aligned ? 0 : ANYWHERE;
            run(ctx, &g, math, alone ? 1 : rng_range(rng, least, most), !is_uneven && i % 5 == 4,
                skip, rng);
            taken += !strncmp(tilemm_last_kernel(ctx), rare[v], strlen(rare[v]));
            clusters += strstr(tilemm_last_kernel(ctx), "+cluster") != NULL;
        }
        CHECK(!taken || !adds_up || clusters > 0, "%s: no cluster", rare[v]);
        hopper |= taken > 0 && strstr(rare[v], "fused_sm90") != NULL;
        const int of_hopper = is_192 || strstr(rare[v], "tf32_unaligned") || strstr(rare[v], "_tn");
        CHECK(taken > 0 || !(strstr(rare[v], "sm75") || (hopper && of_hopper)), "%s: never taken",
              rare[v]);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
}

/* Sums of few outer products, by each depth: aligned and not, in few tiles, and in so many below
 * each other, side by side and in batches that blocks go from tile to tile. */
static void outer_products(rng_t *rng)
{
    static const int depths[] = {0, 4, 8, 16, 24};
    enum { DEPTHS = sizeof depths / sizeof *depths };
    for (int d = 1; d < DEPTHS; d++) {
        char name[40];
        snprintf(name, sizeof name, "sgemm_outer_sm80_%d", depths[d]);
        tilemm_t ctx = test_context_of(TEST_BACKEND, "", name);
        int meant = 0, taken = 0, aligned = 0;
        for (int i = 0; i < (test_quick() ? 16 : 64); i++) {
            const int is_tall = i % 16 == 7, is_wide = i % 16 == 15, is_whole = i % 4 == 1;
            const int unit = is_whole ? 4 : 1, gap = is_whole ? 0 : ANYWHERE;
            const int64_t rows = is_tall ? 300000 : rng_range(rng, is_wide ? 700 : 1, 800);
            const int64_t columns = is_tall   ? rng_range(rng, 5, 12)
                                    : is_wide ? rng_range(rng, 1025, 1200)
                                              : rng_range(rng, 1, 300);
            const int64_t batch = is_whole || is_tall ? 1 : is_wide ? 4 : rng_range(rng, 1, 4);
            const tilemm_math_t math = modes[i % MODES];
            gemm_t g = random_gemm(rng, 300);
            *(g.layout == TILEMM_ROW_MAJOR ? &g.m : &g.n) = tilemm__round_up(rows, unit);
            *(g.layout == TILEMM_ROW_MAJOR ? &g.n : &g.m) = tilemm__round_up(columns, unit);
            g.k = tilemm__round_up(rng_range(rng, depths[d - 1] + 1, depths[d]), i % 3 ? unit : 4);
            gemm_set_ld(&g, i % 3 * unit, i % 4 * unit, i % 5 * unit);
            tilemm_set_math(ctx, math);
            run(ctx, &g, math, batch, i % 5 == 4 && unit == 1, gap, rng);
            meant += g.alpha != 0;
            taken += !strncmp(tilemm_last_kernel(ctx), name, strlen(name));
            aligned += strstr(tilemm_last_kernel(ctx), "_aligned") != NULL;
        }
        CHECK(taken == 0 || (2 * taken > meant && aligned > 0),
              "%s: taken %d times of %d, %d aligned", name, taken, meant, aligned);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
}

/* Batches of small matrices without gaps, in whole groups and not; the kernel for them takes all
 * but where k is a multiple of four. */
static void packed_batches(rng_t *rng)
{
    tilemm_t ctx = test_context_of(TEST_BACKEND, "", "sgemm_packed_sm90_4x4");
    for (int i = 0; i < (test_quick() ? 40 : 200); i++) {
        const int64_t most = i % 4 ? 30 : 70;
        const int64_t size[] = {rng_range(rng, 1, most), rng_range(rng, 1, most),
                                rng_range(rng, 0, most / 4) * 4 + rng_range(rng, 1, 3)};
        const gemm_t g = gemm_by_bits(i % 8, size, i % 3 ? 1.0f : -0.5f, i % 5 ? 0.0f : 0.5f);
        tilemm_set_math(ctx, modes[i % MODES]);
        run(ctx, &g, modes[i % MODES], rng_range(rng, 2, test_quick() ? 50 : MOST), 0, PACKED, rng);
    }
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
}

/* A batch of none succeeds; a batch gives the same bits in every run. */
static void edges(tilemm_t ctx, rng_t *rng)
{
    const gemm_t g = gemm_by_bits(0, (const int64_t[]){33, 17, 65}, 1, 0);
    const int64_t count[] = {8 * gemm_span_a(&g), 8 * gemm_span_b(&g), 8 * gemm_span_c(&g)};
    CHECK_OK(ctx, gemm_call_strided(ctx, &g, NULL, 0, NULL, 0, NULL, 0, 0));
    CHECK_OK(ctx, gemm_call_batched(ctx, &g, NULL, NULL, NULL, 0));
    place_operands(count, ANYWHERE, rng);
    matrix_fill(A.numbers, TILEMM_ROW_MAJOR, 1, count[0], 1, FAMILY_NORMAL, rng);
    matrix_fill(B.numbers, TILEMM_ROW_MAJOR, 1, count[1], 1, FAMILY_NORMAL, rng);
    send(&g);
    float *first = host_array(count[2]);
    for (int again = 0; again < 3; again++) {
        tilemm_set_threads(ctx, again + 1);
        operand_resend(&C);
        CHECK_OK(ctx, gemm_call_strided(ctx, &g, A.pointer, count[0] / 8, B.pointer, count[1] / 8,
                                        C.pointer, count[2] / 8, 8));
        CHECK_OK(ctx, tilemm_synchronize(ctx));
        operand_fetch(&C);
        if (again == 0)
            memcpy(first, C.image, C.bytes);
        CHECK(memcmp(first, C.image, C.bytes) == 0, "other bits on call %d", again);
    }
    tilemm_set_threads(ctx, 2);
    free(first);
}

int main(void)
{
    rng_t rng = {2000};
    tilemm_t ctx = NULL;
    test_begin(TEST_BACKEND);
    while ((ctx = next_arch(ctx, TEST_BACKEND, 2)) != NULL) {
        const int rounds = test_quick() ? 12 : *arch ? 60 : 200;
        random_batches(ctx, rounds, 0, &rng);
        random_batches(ctx, rounds, 1, &rng);
        if (!*arch && (TEST_BACKEND == TILEMM_BACKEND_CUDA || !test_quick()))
            math_modes(ctx, &rng);
        if (!*arch && TEST_BACKEND == TILEMM_BACKEND_CUDA)
            aligned_batches(ctx, &rng);
        edges(ctx, &rng);
    }
    if (TEST_BACKEND == TILEMM_BACKEND_CUDA) {
        rare_kernels(&rng);
        outer_products(&rng);
        packed_batches(&rng);
    }
    free_operands();
    for (int o = 0; o < 3; o++)
        operand_free(&arrays[o]);
    return check_exit();
}
