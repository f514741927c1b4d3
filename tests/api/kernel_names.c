/* kernel_names.c - every GPU kernel runs under the name that the library reports. Each call is
 * captured in a CUDA graph, and the driver tells the names of the graph's kernels. All of them must
 * be rows of variants.h, and tilemm_last_kernel() up to a '+' must be one of them. Random calls are
 * planned freely, then with TILEMM_VARIANT set to each row in turn: each row must be launched.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include "kernels/reduce/variants.h"
#include "kernels/sgemm/variants.h"
#include "kernels/transpose/variants.h"
#include "random_calls.h"
#include "tests/support/check.h"
#include "tests/support/graph.h"
#include "tests/support/support.h"
#include "tools/gpu.h"

#ifndef TILEMM_CUDA_ARCHS
#define TILEMM_CUDA_ARCHS ""
#endif

enum { MOST_ROWS = 512, WORKSPACE_BYTES = 256 << 20 };

#define ROW_NAME(name, ...) #name,
#define STRING(name) #name
#define EXPANDED_STRING(name) STRING(name)
#define TRANSPOSE_ROW_NAME(method, tag, ...) EXPANDED_STRING(TILEMM__TRANSPOSE_NAME(method, tag)),
static const char *const sgemm_rows[] = {TILEMM__SGEMM_CUDA_ROWS(ROW_NAME)};
static const char *const transpose_rows[] = {TILEMM__TRANSPOSE_ROWS(TRANSPOSE_ROW_NAME)};
static const char *const reduce_rows[] = {TILEMM__REDUCE_ROWS(ROW_NAME)};

static int device_cc;

/* Whether the row can run on this device: the device is new enough, the row was built, and the
 * instructions of SGEMM's rows for 9.0 (wgmma) are those of 9.0 alone. */
static int can_run(const char *row)
{
    const char *arch = strstr(row, "_sm");
    const int sm = arch ? atoi(arch + 3) : 0;
    if (sm == 90 && device_cc == 90)
        return strstr(TILEMM_CUDA_ARCHS, "90a") != NULL;
    return sm <= device_cc && !(sm == 90 && !strncmp(row, "sgemm_", 6));
}

typedef struct {
    const char *name;
    const char *const *rows;
    size_t row_count;
    tilemm_status_t (*call)(tilemm_t ctx, rng_t *rng);
    int may_lack_memory; /* in place: not every workspace is enough */
} operation_t;

#define ROWS(rows) rows, sizeof rows / sizeof *rows
static const operation_t operations[] = {{"sgemm", ROWS(sgemm_rows), call_sgemm, 0},
                                         {"transpose", ROWS(transpose_rows), call_transpose, 1},
                                         {"reduce", ROWS(reduce_rows), call_reduce, 0}};

static const char *const *rows;
static int row_count;
static int launched[MOST_ROWS]; /* the row has been in a graph */
static void *stream, *workspace;

static int find_row(const char *name)
{
    for (int r = 0; r < row_count; r++)
        if (!strcmp(rows[r], name))
            return r;
    return -1;
}

/* Check the names of a graph's kernels; `reported` must be one of them. */
static void check_graph(void *graph, const char *reported, const char *when)
{
    char(*names)[KERNEL_NAME];
    size_t count;
    int found = 0;
    const int error = graph_kernels(graph, &names, &count);
    CHECK(!error, "%s: %s: the driver does not name a kernel: error %d", when, call_text, error);
    for (size_t i = 0; i < count; i++) {
        const int row = find_row(names[i]);
        CHECK(row >= 0, "%s: %s: the kernel %s is not a row", when, call_text, names[i]);
        if (row >= 0)
            launched[row] = 1;
        found |= !strcmp(names[i], reported);
    }
    CHECK(found || (!count && find_row(reported) < 0), "%s: %s: %s is none of the %zu kernels",
          when, call_text, reported, count); /* a call may have nothing to do */
    free(names);
}

/* Capture the call of a seed, and check its names. Returns the row that the library reports, or -1
 * if there is none. */
static int capture(tilemm_t ctx, const operation_t *operation, uint64_t seed, const char *when)
{
    static const size_t sizes[] = {1 << 20, 8 << 20, WORKSPACE_BYTES};
    rng_t rng = {seed};
    tilemm_invariance_t invariance;
    void *graph;
    int row = -1;
    CHECK_OK(ctx, tilemm_set_workspace(ctx, workspace, sizes[rng_range(&rng, 0, 2)]));
    CHECK(gpu_capture_begin(stream) == 0, "%s: no capture", when);
    const tilemm_status_t status = operation->call(ctx, &rng);
    const int error = graph_capture_end(stream, &graph);
    CHECK(!error && graph, "%s: %s: the capture was broken: error %d", when, call_text, error);
    tilemm_get_invariance(ctx, &invariance);
    CHECK(status == TILEMM_SUCCESS ||
              (status == TILEMM_OUT_OF_MEMORY &&
               (operation->may_lack_memory || invariance != TILEMM_INVARIANCE_NONE)),
          "%s: %s: %s", when, call_text, tilemm_last_error(ctx));
    if (graph && status == TILEMM_SUCCESS) {
        const char *kernel = tilemm_last_kernel(ctx);
        char reported[KERNEL_NAME];
        snprintf(reported, sizeof reported, "%.*s", (int)strcspn(kernel, "+"), kernel);
        check_graph(graph, reported, when);
        row = find_row(reported);
    }
    graph_free(graph);
    return row;
}

/* A context on the stream that prefers the rows whose names begin with `variant`. */
static tilemm_t open_context(const char *arch, const char *variant)
{
    tilemm_t ctx = test_context_of(TILEMM_BACKEND_CUDA, arch, variant);
    CHECK_OK(ctx, tilemm_set_stream(ctx, stream));
    return ctx;
}

/* TILEMM_ARCH of the contexts: older kernels are chosen where newer ones are not allowed. */
static const char *const archs[] = {"", "sm80", "sm75"};
enum { ARCHS = 3 };

/* Plan random calls freely. chosen[arch][row] is the seed of the first call that chose the row. */
static void run_freely(const operation_t *operation, uint64_t (*chosen)[MOST_ROWS])
{
    for (int a = 0; a < ARCHS; a++) {
        const int count = (a ? 200 : 800) / (test_quick() ? 4 : 1);
        tilemm_t ctx = open_context(archs[a], "");
        for (int i = 0; i < count; i++) {
            const uint64_t seed = (uint64_t)(a * 100000 + i + 1);
            const int row = capture(ctx, operation, seed, archs[a]);
            CHECK(test_kernel_allowed(tilemm_last_kernel(ctx), archs[a]), "%s: %s: %s", archs[a],
                  call_text, tilemm_last_kernel(ctx));
            if (row >= 0 && !chosen[a][row])
                chosen[a][row] = seed;
        }
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
}

/* Ask for one row. A call that chose it freely must choose it now; if the row has never been
 * launched, try calls until one launches it. */
static void run_forced(const operation_t *operation, int row, uint64_t (*chosen)[MOST_ROWS])
{
    const char *variant = rows[row];
    for (int a = 0; a < ARCHS; a++) {
        if (launched[row] && !chosen[a][row])
            continue;
        tilemm_t ctx = open_context(archs[a], variant);
        if (chosen[a][row]) {
            capture(ctx, operation, chosen[a][row], variant);
            CHECK(!strncmp(tilemm_last_kernel(ctx), variant, strlen(variant)),
                  "TILEMM_VARIANT=%s: %s: %s is chosen, though that row can do it", variant,
                  call_text, tilemm_last_kernel(ctx));
        }
        for (int i = 0; i < 30000 && !launched[row]; i++)
            capture(ctx, operation, (uint64_t)(1000000 + i), variant);
        CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    }
}

static void check_operation(const operation_t *operation)
{
    static uint64_t chosen[ARCHS][MOST_ROWS];
    int reached = 0, excused = 0;
    memset(chosen, 0, sizeof chosen);
    memset(launched, 0, sizeof launched);
    rows = operation->rows;
    row_count = (int)operation->row_count;
    if (row_count > MOST_ROWS)
        test_give_up("more rows than MOST_ROWS");
    run_freely(operation, chosen);
    for (int r = 0; r < row_count; r++) {
        if (!can_run(rows[r])) {
            excused++;
            continue;
        }
        run_forced(operation, r, chosen);
        CHECK(launched[r], "%s: no call launched it", rows[r]);
        reached += launched[r];
    }
    printf("%s: %d of %d rows launched, %d cannot run here\n", operation->name, reached, row_count,
           excused);
}

int main(void)
{
    gpu_traits_t traits;
    test_begin(TILEMM_BACKEND_CUDA);
    if (graph_open() != 0) {
        printf("skipped: the driver does not tell the names of kernels\n");
        return CHECK_SKIPPED;
    }
    CHECK(gpu_describe(0, &traits) == 0, "gpu_describe");
    device_cc = traits.cc_major * 10 + traits.cc_minor;
    operands = device_array(OPERAND_BYTES);
    workspace = device_array(WORKSPACE_BYTES);
    stream = gpu_stream_create();
    CHECK(stream, "gpu_stream_create");
    for (size_t i = 0; stream && i < sizeof operations / sizeof *operations; i++)
        check_operation(&operations[i]);
    gpu_stream_destroy(stream);
    gpu_free(workspace);
    gpu_free(operands);
    return check_exit();
}
