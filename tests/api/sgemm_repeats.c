/* sgemm_repeats.c - the same product again on the GPU: with less workspace, 100 times, and replayed
 * from a CUDA graph, in every math mode.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "device_gemm.h"

/* Less workspace than a plan would like: other plans, the same product. */
static void try_workspaces(void)
{
    static const size_t bytes[] = {0, 1000, 100000, 1 << 20, 3 << 20, 8 << 20, 20 << 20};
    gemm_t g =
        gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_TRANS, 1000, 900, 3000, 1.5f, 0.5f);
    tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
    void *workspace = device_array(20 << 20);
    gemm_set_ld(&g, 0, 0, 1);
    problem_t p = make_problem(&g, FAMILY_NORMAL, 0);
    p.host[0][matrix_at(g.layout, 77, 2500, g.lda)] =
        1e25f; /* an exact line in a late range of k */

    for (int m = 0; m < MODES; m++)
        for (int s = 0; s < (int)(sizeof(bytes) / sizeof(*bytes)); s++) {
            char what[160];
            size_t wanted = 0;
            CHECK(tilemm_set_math(ctx, modes[m]) == TILEMM_SUCCESS, "set_math");
            CHECK(tilemm_sgemm_workspace(ctx, g.layout, g.transa, g.transb, g.m, g.n, g.k, 1,
                                         &wanted) == TILEMM_SUCCESS,
                  "%s", tilemm_last_error(ctx));
            CHECK(wanted <= (size_t)64 << 20, "%zu bytes", wanted);
            CHECK(tilemm_set_workspace(ctx, bytes[s] ? workspace : NULL, bytes[s]) ==
                      TILEMM_SUCCESS,
                  "set_workspace");
            send(&p);
            CHECK(call(ctx, &p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
            fetch(&p);
            snprintf(what, sizeof(what), "%s with %zu bytes (%s)", mode_names[m], bytes[s],
                     tilemm_last_kernel(ctx));
            check_sample(&p, tolerance_of(modes[m], g.k), what);
            check_element(&p, 77, 5, tolerance_of(modes[m], g.k), what);
            check_between(&p, what);
        }
    free_problem(&p, 0);
    gpu_free(workspace);
    tilemm_destroy(ctx);
}

/* The same bits over 100 runs, and when a graph is replayed. */
static void try_repeats(void)
{
    static const int64_t sizes[][3] = {{1025, 1000, 1500}, {300, 260, 5000}, {128, 128, 20000},
                                       {2000, 10, 3000},   {9, 2500, 700},   {200, 200, 200}};
    int runs = test_quick() ? 5 : 100;

    for (int s = 0; s < (int)(sizeof(sizes) / sizeof(*sizes)); s++) {
        gemm_t g = gemm_make(TILEMM_COL_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, sizes[s][0],
                             sizes[s][1], sizes[s][2], 1.0f, 0.0f);
        problem_t p = make_problem(&g, FAMILY_NORMAL, 0);
        float *first = host_array(p.spans[2]);
        p.host[0][5] = 1e28f; /* an exact line too */
        for (int m = 0; m < MODES; m++) {
            tilemm_t ctx = test_context(TILEMM_BACKEND_CUDA, "");
            void *stream = gpu_stream_create();
            CHECK(tilemm_set_math(ctx, modes[m]) == TILEMM_SUCCESS, "set_math");
            for (int run = 0; run < runs; run++) {
                if (run == 0)
                    send(&p);
                CHECK(call(ctx, &p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
                fetch(&p);
                if (run == 0)
                    memcpy(first, p.host[2], (size_t)p.spans[2] * sizeof(float));
                CHECK(!memcmp(first, p.host[2], (size_t)p.spans[2] * sizeof(float)),
                      "%s %s: run %d differs", mode_names[m], tilemm_last_kernel(ctx), run);
            }
            CHECK(tilemm_set_stream(ctx, stream) == TILEMM_SUCCESS, "set_stream");
            CHECK(gpu_capture_begin(stream) == 0, "capture");
            CHECK(call(ctx, &p) == TILEMM_SUCCESS, "%s", tilemm_last_error(ctx));
            void *graph = gpu_capture_end(stream);
            CHECK(graph, "%s: the capture was broken", tilemm_last_kernel(ctx));
            for (int run = 0; graph && run < 3; run++) {
                send(&p);
                CHECK(gpu_graph_launch(graph, stream) == 0, "replay");
                fetch(&p);
                CHECK(!memcmp(first, p.host[2], (size_t)p.spans[2] * sizeof(float)),
                      "%s %s: replay %d differs", mode_names[m], tilemm_last_kernel(ctx), run);
            }
            tilemm_destroy(ctx);
            gpu_graph_destroy(graph);
            gpu_stream_destroy(stream);
        }
        free(first);
        free_problem(&p, 0);
    }
}

int main(void)
{
    test_begin(TILEMM_BACKEND_CUDA);
    try_workspaces();
    try_repeats();
    return check_exit();
}
