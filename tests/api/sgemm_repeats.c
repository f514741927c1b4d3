/* sgemm_repeats.c - the same product again on the GPU: with less workspace, 100 times, and replayed
 * from a CUDA graph, in every math mode.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "guarded_gemm.h"
#include "tools/gpu.h"

static rng_t rng = {20261121};

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
    test_begin(TILEMM_BACKEND_CUDA);
    try_workspaces();
    try_repeats();
    free_operands();
    return check_exit();
}
