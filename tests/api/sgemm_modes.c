/* sgemm_modes.c - every math mode on the GPU at sizes where tensor cores are chosen: all layouts;
 * rows and columns that the planes of split precision cannot carry (Inf, NaN, magnitudes far apart,
 * subnormals), which are as accurate as all others; the same product again with less workspace,
 * 100 times, and replayed from a CUDA graph.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "guarded_gemm.h"
#include "tools/gpu.h"

enum { SEED = 20261121 };
static rng_t rng = {SEED};

/* All layouts, ragged sizes and strides; gaps between the lines of C stay as they are. */
static void try_sizes(tilemm_t ctx)
{
    static rng_t size_rng = {SEED};
    static const int64_t sizes[][3] = {
        {512, 512, 512},    {1000, 999, 1001}, {260, 384, 420},   {1024, 768, 640},
        {513, 1300, 700},   {2049, 511, 1025}, {128, 4096, 2048}, {4000, 130, 3000},
        {1500, 1500, 40},   {300, 300, 9000},  {2500, 1900, 44},  {129, 65, 3000},
        {1920, 1300, 2000}, {72, 2000, 500},   {200, 136, 20000}, {516, 132, 8000},
        {3000, 16, 4000},   {12, 3300, 4100},  {5000, 29, 1000},  {32, 2100, 8000}};
    const int count = test_quick() ? 3 : (int)(sizeof(sizes) / sizeof(*sizes));
    for (int s = 0; s < count; s++)
        for (int variant = s < 10 ? 0 : 8; variant < 12; variant++) {
            /* From 8 on, rows are aligned if the sizes are. */
            int aligned = variant >= 8, pad = aligned || !(variant & 1) ? 4 : 3;
            const int bits = variant % 4 * TRANS_A + variant / 4 % 2 * COL_MAJOR;
            gemm_t g = gemm_by_bits(bits, sizes[s], variant == 3 ? -0.75f : 1.0f,
                                    variant % 3 == 0 ? 0.0f : 0.5f);
            gemm_set_ld(&g, pad, aligned ? 8 : pad + variant, pad + 1);
            prepare(&g, variant & 1 ? FAMILY_NORMAL : FAMILY_POSITIVE,
                    variant == 5 || variant == 6 ? variant - 4 : 0, &size_rng);
            send(&g);
            for (int m = 0; m < MODES; m++) {
                run_mode(ctx, &g, m, "");
                check_sample(&g, gemm_tolerance(modes[m], g.k), &size_rng);
            }
        }
}

/* Prepare a row-major product without padding, transposed by the bits of `transposed`, alpha 1. */
static gemm_t make(int transposed, const int64_t size[3], float beta)
{
    const gemm_t g = gemm_by_bits(transposed % 4 * TRANS_A, size, 1.0f, beta);
    prepare(&g, FAMILY_NORMAL, 0, &rng);
    return g;
}

/* One element of A, of B or of both is special. It must have the effect that IEEE arithmetic gives
 * it; all other results must be as accurate as without it. */
static void try_special_elements(tilemm_t ctx)
{
    static const float specials[] = {INFINITY, -INFINITY, NAN, 1e30f, 1e-30f, 3e38f, 1e-42f};
    static const int64_t sizes[][3] = {{700, 650, 1100}, {384, 420, 1000}};
    const int64_t row = 137, col = 401, at = 555;
    for (int s = 0; s < (int)(sizeof(specials) / sizeof(*specials)); s++)
        for (int side = 0; side < 6; side++) {
            const int small = side >= 3; /* and the rows are aligned */
            const float special = specials[s];
            gemm_t g = gemm_by_bits(s % 4 + (side % 3 == 1 ? TRANS_B : 0), sizes[small], 1.0f,
                                    s % 2 ? 0.25f : 0.0f);
            gemm_set_ld(&g, small ? 4 : 1, small ? 8 : 2, 3);
            prepare(&g, FAMILY_NORMAL, 0, &rng);
            if (side % 3 != 1)
                A.numbers[gemm_at_a(&g, row, at)] = special;
            if (side % 3 != 0)
                B.numbers[gemm_at_b(&g, at, col)] = special;
            if (side % 3 == 2 && fabsf(special) < 1) /* multiply it by a huge one */
                B.numbers[gemm_at_b(&g, at, col)] = 1e30f;
            send(&g);
            for (int m = 0; m < MODES; m++) {
                const double tolerance = gemm_tolerance(modes[m], g.k);
                char name[40];
                snprintf(name, sizeof(name), "%g on side %d", (double)special, side);
                run_mode(ctx, &g, m, name);
                /* With 3e38 a sum may overflow at any step: its row and column are not checked. */
                if (!isfinite(special) || fabsf(special) < 1e38f) {
                    for (int64_t x = 0; x < 40; x++) {
                        check_element(&g, row, x * g.n / 40, tolerance);
                        check_element(&g, x * g.m / 40, col, tolerance);
                    }
                    if (side % 3 == 2)
                        check_element(&g, row, col, tolerance);
                }
                for (int x = 0; x < SAMPLES; x++) {
                    int64_t i = rng_range(&rng, 0, g.m - 1), j = rng_range(&rng, 0, g.n - 1);
                    if (i != row && j != col)
                        check_element(&g, i, j, tolerance);
                }
            }
        }
}

/* Other lines that planes cannot carry: small elements where the other operand is sparse, blocks of
 * k whose magnitudes lie far apart, sums of few products. beta C must be added once. */
static void try_mixed_magnitudes(tilemm_t ctx)
{
    for (int s = 0; s < 6; s++) {
        const gemm_t g = make(s, (const int64_t[]){600, 520, 1300}, 3.0f);
        for (int64_t i = 0; i < g.m; i += 7)
            for (int64_t q = 0; q < g.k; q++) {
                float *x = &A.numbers[gemm_at_a(&g, i, q)];
                if (s < 2 && q % 100 == 50)
                    *x *= 1e-12f; /* loses bits next to its neighbours */
                else if (s == 2 || s == 3)
                    *x = q < 512 ? *x * 1e14f : *x;
                else if (s > 3)
                    *x = q % 190 == 3 ? *x : 0.0f;
            }
        for (int64_t j = 0; j < g.n && s < 2; j += 11) /* sparse: one large, the others small */
            for (int64_t q = 0; q < g.k; q++)
                B.numbers[gemm_at_b(&g, q, j)] *= q % 100 == 50 ? 1e12f : 1.0f;
        send(&g);
        for (int m = 0; m < MODES; m++) {
            const double tolerance = gemm_tolerance(modes[m], g.k);
            run_mode(ctx, &g, m, "mixed magnitudes");
            check_sample(&g, tolerance, &rng);
            for (int64_t x = 0; x < 40; x++) {
                check_element(&g, x * 14, x * 11, tolerance);
                check_element(&g, x * 14 + 1, x * 11, tolerance);
                check_element(&g, x * 14, x * 11 + 1, tolerance);
            }
        }
    }
}

/* Rows whose only number is so small that its upper plane is zero, among ordinary rows. It is
 * multiplied by huge numbers, so the results are ordinary. TF32 has multiples of 2^-136: of its
 * kernels one that it holds is asked. */
static void try_lone_subnormals(tilemm_t ctx)
{
    static const int64_t sizes[][3] = {{512, 512, 512}, {700, 600, 96}, {1024, 1024, 1024}};
    for (int s = 0; s < 24; s++) {
        const float lone = s % 2 ? 0x1.4p-130f : 0x1.4p-140f;
        const gemm_t g = make(s / 2, sizes[s / 8], 0.0f);
        for (int64_t i = 0; i < g.m; i += 5)
            for (int64_t q = 0; q < g.k; q++)
                A.numbers[gemm_at_a(&g, i, q)] = q == 41 ? lone : 0.0f;
        for (int64_t j = 0; j < g.n; j++)
            B.numbers[gemm_at_b(&g, 41, j)] *= 0x1p100f;
        send(&g);
        for (int m = 0; m < MODES; m++) {
            if (modes[m] == TILEMM_MATH_TF32 && lone < 0x1p-136f)
                continue;
            run_mode(ctx, &g, m, "lone subnormals");
            for (int64_t x = 0; x < 100; x++) {
                check_element(&g, x * 5, x * 3, gemm_tolerance(modes[m], g.k));
                check_element(&g, x * 5 + 1, x * 3, gemm_tolerance(modes[m], g.k));
            }
        }
    }
}

/* Less workspace than a plan would like: other plans, the same product. */
static void try_workspaces(void)
{
    static const size_t bytes[] = {0, 1000, 100000, 1 << 20, 3 << 20, 8 << 20, 20 << 20};
    gemm_t g = gemm_by_bits(TRANS_B, (const int64_t[]){1000, 900, 3000}, 1.5f, 0.5f);
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *workspace = device_array(20 << 20);
    gemm_set_ld(&g, 0, 0, 1);
    prepare(&g, FAMILY_NORMAL, 0, &rng);
    A.numbers[gemm_at_a(&g, 77, 2500)] = 1e25f; /* an exact line in a late range of k */
    send(&g);
    for (int m = 0; m < MODES; m++)
        for (int s = 0; s < (int)(sizeof(bytes) / sizeof(*bytes)); s++) {
            char name[40];
            size_t wanted = 0;
            CHECK_OK(ctx, tilemm_set_math(ctx, modes[m]));
            CHECK_OK(ctx, tilemm_sgemm_workspace(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k,
                                                 1, &wanted));
            CHECK(wanted <= (size_t)64 << 20, "%zu bytes", wanted);
            CHECK_OK(ctx, tilemm_set_workspace(ctx, bytes[s] ? workspace : NULL, bytes[s]));
            snprintf(name, sizeof(name), "with %zu bytes", bytes[s]);
            run_mode(ctx, &g, m, name);
            check_sample(&g, gemm_tolerance(modes[m], g.k), &rng);
            check_element(&g, 77, 5, gemm_tolerance(modes[m], g.k));
        }
    gpu_free(workspace);
    tilemm_destroy(ctx);
}

/* The same bits over 100 runs, and when a graph is replayed. */
static void try_repeats(void)
{
    static const int64_t sizes[][3] = {{1025, 1000, 1500}, {300, 260, 5000}, {128, 128, 20000},
                                       {2000, 10, 3000},   {9, 2500, 700},   {200, 200, 200}};
    const int runs = test_quick() ? 5 : 100;
    for (int s = 0; s < (int)(sizeof(sizes) / sizeof(*sizes)); s++) {
        const gemm_t g = gemm_by_bits(COL_MAJOR, sizes[s], 1.0f, 0.0f);
        prepare(&g, FAMILY_NORMAL, 0, &rng);
        A.numbers[5] = 1e28f; /* an exact line too */
        send(&g);
        float *first = host_array(gemm_span_c(&g));
        for (int m = 0; m < MODES; m++) {
            tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
            void *stream = gpu_stream_create();
            run_mode(ctx, &g, m, "first");
            memcpy(first, C.image, C.bytes);
            for (int run = 1; run < runs; run++) {
                CHECK_OK(ctx, call(ctx, &g));
                operand_fetch(&C);
                CHECK(!memcmp(first, C.image, C.bytes), "%s: run %d differs", what, run);
            }
            CHECK_OK(ctx, tilemm_set_stream(ctx, stream));
            CHECK(gpu_capture_begin(stream) == 0, "capture");
            CHECK_OK(ctx, call(ctx, &g));
            void *graph = gpu_capture_end(stream);
            CHECK(graph, "%s: the capture was broken", what);
            for (int run = 0; graph && run < 3; run++) {
                operand_resend(&C);
                CHECK(gpu_graph_launch(graph, stream) == 0, "replay");
                operand_fetch(&C);
                CHECK(!memcmp(first, C.image, C.bytes), "%s: replay %d differs", what, run);
            }
            tilemm_destroy(ctx);
            gpu_graph_destroy(graph);
            gpu_stream_destroy(stream);
        }
        free(first);
    }
}

int main(void)
{
    tilemm_t ctx = NULL;
    test_begin(TILEMM_BACKEND_CUDA);
    try_workspaces();
    try_repeats();
    rng.state = SEED;
    while ((ctx = next_arch(ctx, TILEMM_BACKEND_CUDA, 0)) != NULL) {
        try_sizes(ctx);
        try_special_elements(ctx);
        try_mixed_magnitudes(ctx);
        try_lone_subnormals(ctx);
    }
    free_operands();
    return check_exit();
}
