/* sgemm_data.c - products in FP32 mode of every family of data, captured into CUDA graphs: a graph
 * is right for data that came into its buffers later, whatever they are, and has the bits of a
 * call.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tools/data.h"
#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

/* Operands of every family on the device, the buffers of the products, and the results of calls. */
typedef struct {
    gemm_t gemm;
    size_t bytes_a, bytes_b, bytes_c;
    float *data_a[DATA_FAMILIES], *data_b[DATA_FAMILIES];
    float *a, *b, *c;
    float *want[DATA_FAMILIES], *got; /* on the host */
    tilemm_t ctx;
    void *stream;
} problem_t;

static const char *text(const problem_t *p, int family)
{
    static char line[256];
    snprintf(line, sizeof line, "%s, %s, %s", data_text((data_t)family), gemm_text(&p->gemm),
             tilemm_last_kernel(p->ctx));
    return line;
}

static void call(problem_t *p)
{
    CHECK_OK(p->ctx, gemm_call(p->ctx, &p->gemm, p->a, p->b, p->c));
}

/* Put a family's data into the buffers, and NaN into C. */
static void load(problem_t *p, int family)
{
    CHECK(gpu_copy_async(p->a, p->data_a[family], p->bytes_a, p->stream) == 0, "copy");
    CHECK(gpu_copy_async(p->b, p->data_b[family], p->bytes_b, p->stream) == 0, "copy");
    CHECK(gpu_fill_async(p->c, 0xff, p->bytes_c, p->stream) == 0, "fill");
}

static void fetch(problem_t *p, float *to)
{
    CHECK(gpu_stream_synchronize(p->stream) == 0, "gpu_stream_synchronize");
    CHECK(gpu_to_host(to, p->c, p->bytes_c) == 0, "copy");
    CHECK(gpu_synchronize() == 0, "gpu_synchronize");
}

static void same_bits(problem_t *p, int family, const char *what, int captured_with)
{
    fetch(p, p->got);
    CHECK(memcmp(p->got, p->want[family], p->bytes_c) == 0, "%s: other bits %s, captured with %s",
          text(p, family), what, data_text((data_t)captured_with));
}

/* The result of a call, element by element against FP64. Quick tests look at a few rows. */
static void check_call(problem_t *p, int family, const float *a, const float *b)
{
    const gemm_t *g = &p->gemm;
    const int64_t rows = test_quick() ? 40 : g->m;
    gemm_t some = gemm_make(TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, g->transb, rows, g->n, g->k, 1, 0);
    float *lines = host_array(rows * g->k), *c = host_array(rows * g->n);
    double *exact = test_need(malloc((size_t)(rows * g->n) * 2 * sizeof(double)));
    double *magnitude = exact + rows * g->n;
    if (g->layout == TILEMM_COL_MAJOR) /* B as it is stored */
        some.transb = g->transb == TILEMM_TRANS ? TILEMM_NO_TRANS : TILEMM_TRANS;
    some.ldb = g->ldb;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = i * (g->m - 1) / (rows - 1);
        for (int64_t l = 0; l < g->k; l++)
            lines[i * g->k + l] = a[gemm_at_a(g, row, l)];
        for (int64_t j = 0; j < g->n; j++)
            c[i * g->n + j] = p->want[family][matrix_at(g->layout, row, j, g->ldc)];
    }
    gemm_exact(&some, lines, b, exact, magnitude);
    const gemm_error_t e = gemm_error(&some, exact, magnitude, NULL, c, 0);
    CHECK(e.outside == 0 && e.worst <= gemm_tolerance(TILEMM_MATH_FP32, g->k),
          "%s: %lld wrong, at %lld, %lld: %g, not %g; error %.2e", text(p, family),
          (long long)e.outside, (long long)e.i, (long long)e.j, e.got, e.want, e.worst);
    free(lines);
    free(c);
    free(exact);
}

static void open_problem(problem_t *p, int bits, const int64_t size[3])
{
    const gemm_t *g = &p->gemm;
    memset(p, 0, sizeof *p);
    p->gemm = gemm_by_bits(bits, size, 1, 0);
    p->bytes_a = (size_t)gemm_span_a(g) * sizeof(float);
    p->bytes_b = (size_t)gemm_span_b(g) * sizeof(float);
    p->bytes_c = (size_t)gemm_span_c(g) * sizeof(float);
    p->a = device_array(p->bytes_a);
    p->b = device_array(p->bytes_b);
    p->c = device_array(p->bytes_c);
    p->got = host_array(gemm_span_c(g));
    p->ctx = test_context(TILEMM_BACKEND_CUDA, "");
    p->stream = gpu_stream_create();
    CHECK(p->stream, "gpu_stream_create");
    CHECK_OK(p->ctx, tilemm_set_stream(p->ctx, p->stream));
}

/* Make a family's data and the result of a call on them. One kernel takes all families. */
static void add_family(problem_t *p, int family, char *kernel, size_t room)
{
    const gemm_t *g = &p->gemm;
    float *a = host_array(gemm_span_a(g)), *b = host_array(gemm_span_b(g));
    data_fill((data_t)family, 0, 1, g->m, g->k, a, gemm_at_a(g, 1, 0), gemm_at_a(g, 0, 1));
    data_fill((data_t)family, 1, 1, g->n, g->k, b, gemm_at_b(g, 0, 1), gemm_at_b(g, 1, 0));
    p->data_a[family] = device_array(p->bytes_a);
    p->data_b[family] = device_array(p->bytes_b);
    p->want[family] = host_array(gemm_span_c(g));
    CHECK(gpu_to_device(p->data_a[family], a, p->bytes_a) == 0, "copy");
    CHECK(gpu_to_device(p->data_b[family], b, p->bytes_b) == 0, "copy");
    CHECK(gpu_synchronize() == 0, "gpu_synchronize");
    load(p, family);
    call(p);
    fetch(p, p->want[family]);
    if (!*kernel)
        snprintf(kernel, room, "%s", tilemm_last_kernel(p->ctx));
    CHECK(strcmp(kernel, tilemm_last_kernel(p->ctx)) == 0, "%s: not %s", text(p, family), kernel);
    check_call(p, family, a, b);
    free(a);
    free(b);
}

/* Capture a product with one family's data in its buffers, and replay it on all others' and, again
 * and again, on its own. */
static void replay(problem_t *p, int family)
{
    load(p, family);
    CHECK(gpu_stream_synchronize(p->stream) == 0, "gpu_stream_synchronize");
    CHECK(gpu_capture_begin(p->stream) == 0, "gpu_capture_begin");
    call(p);
    void *graph = gpu_capture_end(p->stream);
    CHECK(graph, "%s: something broke the capture", text(p, family));
    for (int other = 0; graph && other < DATA_FAMILIES; other++) {
        load(p, other);
        CHECK(gpu_graph_launch(graph, p->stream) == 0, "gpu_graph_launch");
        same_bits(p, other, "replayed", family);
    }
    for (int run = 0; graph && run < (test_quick() ? 5 : 100); run++) {
        load(p, family);
        if (run % 5 == 4)
            call(p);
        else
            CHECK(gpu_graph_launch(graph, p->stream) == 0, "gpu_graph_launch");
        same_bits(p, family, run % 5 == 4 ? "in a call" : "replayed", family);
    }
    if (graph)
        gpu_graph_destroy(graph);
}

static void close_problem(problem_t *p)
{
    CHECK(tilemm_destroy(p->ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    gpu_stream_destroy(p->stream);
    for (int family = 0; family < DATA_FAMILIES; family++) {
        gpu_free(p->data_a[family]);
        gpu_free(p->data_b[family]);
        free(p->want[family]);
    }
    gpu_free(p->a);
    gpu_free(p->b);
    gpu_free(p->c);
    free(p->got);
}

int main(void)
{
    /* The GPU's kernels that split operands themselves, aligned and not; then its planes. */
    static const struct {
        int bits;
        int64_t size[3];
    } products[] = {{0, {300, 500, 400}},
                    {COL_MAJOR, {768, 768, 768}},
                    {TRANS_A, {301, 499, 401}},
                    {TRANS_A | TRANS_B, {1100, 700, 900}}};
    test_begin(TILEMM_BACKEND_CUDA);
    for (int i = 0; i < (int)(sizeof products / sizeof *products); i++) {
        problem_t p;
        char kernel[128] = "";
        open_problem(&p, products[i].bits, products[i].size);
        for (int family = 0; family < DATA_FAMILIES; family++)
            add_family(&p, family, kernel, sizeof kernel);
        printf("%s: %s\n", gemm_text(&p.gemm), kernel);
        for (int family = 0; family < DATA_FAMILIES; family++)
            replay(&p, family);
        close_problem(&p);
    }
    return check_exit();
}
