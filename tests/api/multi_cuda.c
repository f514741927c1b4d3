/* multi_cuda.c - contexts over several GPUs: results are those of one GPU, wherever operands lie.
 * By default device 0 named twice and thrice; TEST_DEVICES=0,1 takes those.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

enum { MOST_MEMBERS = 8, PLACES = 3 /* host, pinned, managed; then the members' devices */ };

static tilemm_t one, all, owner[MOST_MEMBERS], cpu;
static int members;
static rng_t rng = {19};
static int brief; /* TEST_BRIEF=1: little of all, for tools that slow it down */

/* ---- matrices -------------------------------------------------------------------------------- */

typedef struct {
    int64_t rows, cols, ld;
    float *values; /* dense, on the host */
    void *memory;  /* of the call */
    tilemm_t ctx;  /* that allocated it */
} matrix_t;

static const char *place_text(int place)
{
    static char text[4][32];
    static int next;
    char *const to = text[next++ % 4];
    static const char *const names[] = {"host", "pinned", "managed"};
    if (place < PLACES)
        return names[place];
    snprintf(to, sizeof(text[0]), "member %d", place - PLACES);
    return to;
}

static void send(matrix_t *x)
{
    CHECK_OK(x->ctx, tilemm_copy_matrix(x->ctx, x->rows, x->cols, sizeof(float), x->values, x->cols,
                                        x->memory, x->ld));
    CHECK_OK(x->ctx, tilemm_synchronize(x->ctx));
}

static matrix_t make(int64_t rows, int64_t cols, int place)
{
    static const tilemm_memory_t where[] = {TILEMM_MEMORY_HOST, TILEMM_MEMORY_PINNED,
                                            TILEMM_MEMORY_MANAGED};
    matrix_t x = {.rows = rows, .cols = cols, .ctx = place < PLACES ? one : owner[place - PLACES]};
    x.values = host_array(rows * cols);
    for (int64_t i = 0; i < rows * cols; i++)
        x.values[i] = (float)(rng_unit(&rng) - 0.5);
    CHECK_OK(x.ctx, tilemm_alloc_matrix(x.ctx, place < PLACES ? where[place] : TILEMM_MEMORY_DEVICE,
                                        rows, cols, sizeof(float), &x.memory, &x.ld));
    test_need(x.memory);
    send(&x);
    return x;
}

/* What the memory holds now, dense; to be freed. */
static float *fetch(const matrix_t *x)
{
    float *values = host_array(x->rows * x->cols);
    CHECK_OK(all, tilemm_synchronize(all));
    CHECK_OK(x->ctx, tilemm_copy_matrix(x->ctx, x->rows, x->cols, sizeof(float), x->memory, x->ld,
                                        values, x->cols));
    CHECK_OK(x->ctx, tilemm_synchronize(x->ctx));
    return values;
}

static void discard(matrix_t *x)
{
    CHECK_OK(x->ctx, tilemm_free_matrix(x->ctx, x->memory));
    free(x->values);
}

static int some_place(void)
{
    return (int)rng_range(&rng, 0, PLACES + members - 1);
}

/* Elements that are not the same bits; or, where k may have been divided, that differ by more than
 * rounding. */
static int64_t differences(const float *got, const float *want, int64_t count, int same, int64_t k)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong += same ? memcmp(&got[i], &want[i], sizeof(*got)) != 0
                      : !(fabsf(got[i] - want[i]) <= 4e-7f * (float)k);
    return wrong;
}

/* ---- products -------------------------------------------------------------------------------- */

static tilemm_status_t multiply(tilemm_t ctx, int ta, int tb, int64_t k, float beta,
                                const matrix_t *a, const matrix_t *b, const matrix_t *c)
{
    return tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, ta ? TILEMM_TRANS : TILEMM_NO_TRANS,
                        tb ? TILEMM_TRANS : TILEMM_NO_TRANS, c->rows, c->cols, k, 1.25f, a->memory,
                        a->ld, b->memory, b->ld, beta, c->memory, c->ld);
}

/* Returns 1 if the bits had to be those of one device. */
static int product(int64_t m, int64_t n, int64_t k, const int place[3], int flags, size_t limit)
{
    const int ta = flags & 1, tb = flags >> 1 & 1, on_first = PLACES;
    const float beta = flags & 4 ? 0.5f : 0;
    matrix_t x[3] = {make(ta ? k : m, ta ? m : k, place[0]), make(tb ? n : k, tb ? k : n, place[1]),
                     make(m, n, place[2])};
    matrix_t y[3];
    for (int i = 0; i < 3; i++) { /* the same on one device */
        y[i] = make(x[i].rows, x[i].cols, on_first);
        memcpy(y[i].values, x[i].values, (size_t)(x[i].rows * x[i].cols) * sizeof(float));
        send(&y[i]);
    }
    const tilemm_math_t math = flags & 8 ? TILEMM_MATH_FP32 : TILEMM_MATH_FP32_STRICT;
    CHECK_OK(one, tilemm_set_math(one, math));
    CHECK_OK(all, tilemm_set_math(all, math));
    CHECK_OK(all, tilemm_set_device_memory(all, limit));
    CHECK_OK(one, multiply(one, ta, tb, k, beta, &y[0], &y[1], &y[2]));
    char kernel[64];
    snprintf(kernel, sizeof(kernel), "%s", tilemm_last_kernel(one));
    CHECK_OK(one, tilemm_synchronize(one));
    CHECK_OK(all, multiply(all, ta, tb, k, beta, &x[0], &x[1], &x[2]));
    float *want = fetch(&y[2]), *got = fetch(&x[2]);
    const int same = !limit && !strchr(kernel, '+') && strncmp(kernel, "sgemm_sk", 8) != 0;
    const int64_t wrong = differences(got, want, m * n, same, k);
    CHECK(wrong == 0, "%lldx%lldx%lld %d%d, %d members, A %s, B %s, C %s, limit %zu: %s, %s: %lld",
          (long long)m, (long long)n, (long long)k, ta, tb, members, place_text(place[0]),
          place_text(place[1]), place_text(place[2]), limit, kernel, tilemm_last_kernel(all),
          (long long)wrong);
    /* Once more: the same bits as the first time. */
    send(&x[2]);
    CHECK_OK(all, multiply(all, ta, tb, k, beta, &x[0], &x[1], &x[2]));
    float *again = fetch(&x[2]);
    CHECK(differences(again, got, m * n, 1, k) == 0, "another time other bits");
    CHECK_OK(all, tilemm_set_device_memory(all, 0));
    free(want);
    free(got);
    free(again);
    for (int i = 0; i < 3; i++) {
        discard(&x[i]);
        discard(&y[i]);
    }
    return same;
}

static void products(void)
{
    const int problems = brief ? 5 : test_quick() ? 12 : 60;
    int same = 0;
    for (int i = 0; i < problems; i++) {
        const int64_t most = brief ? 900 : i % 4 ? 3000 : 300;
        const int64_t m = rng_range(&rng, 1, most), n = rng_range(&rng, 1, most);
        const int64_t k = rng_range(&rng, 1, most);
        const int place[] = {some_place(), some_place(), some_place()};
        const size_t whole = (size_t)(m * k + k * n + m * n) * sizeof(float);
        same += product(m, n, k, place, i, i % 5 ? 0 : whole / 2 + ((size_t)4 << 20));
    }
    /* Each operand on the host, the first device and the last, however little it is worth. */
    const int places[] = {0, PLACES, PLACES + members - 1};
    for (int i = 0; i < 27; i += brief ? 4 : 1) {
        const int place[] = {places[i % 3], places[i / 3 % 3], places[i / 9]};
        same += product(350 + i, 450, 290, place, 8 + i % 8, 0);
    }
    /* Where it is worth while: what lies on one device, and on the host. */
    const int64_t side = test_quick() ? 4096 : 8192;
    for (int where = 0; where < PLACES + members && !brief; where++) {
        const int place[] = {where, where, where};
        same += product(side, side, side, place, 8, 0);
    }
    CHECK(same > problems / 10 || brief, "only %d products have bits to compare", same);
}

static void batches(void)
{
    enum { SIDE = 150, BATCH = 220 };
    const int64_t count = SIDE * SIDE;
    for (int place = 0; place < PLACES + members; place++) {
        matrix_t a = make(BATCH, count, place), b = make(BATCH, count, place);
        matrix_t c = make(BATCH, count, place), d = make(BATCH, count, place);
        const float *as[BATCH], *bs[BATCH];
        float *ds[BATCH];
        for (int i = 0; i < BATCH; i++) {
            as[i] = (float *)a.memory + i * a.ld;
            bs[i] = (float *)b.memory + i * b.ld;
            ds[i] = (float *)d.memory + i * d.ld;
        }
        CHECK_OK(all,
                 tilemm_sgemm_strided_batched(all, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_TRANS,
                                              SIDE, SIDE, SIDE, 1, a.memory, SIDE, a.ld, b.memory,
                                              SIDE, b.ld, 0, c.memory, SIDE, c.ld, BATCH));
        CHECK_OK(all,
                 tilemm_sgemm_batched(all, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_TRANS, SIDE,
                                      SIDE, SIDE, 1, as, SIDE, bs, SIDE, 0, ds, SIDE, BATCH));
        float *strided = fetch(&c), *pointers = fetch(&d);
        float *want = host_array(BATCH * count);
        CHECK_OK(cpu,
                 tilemm_sgemm_strided_batched(cpu, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_TRANS,
                                              SIDE, SIDE, SIDE, 1, a.values, SIDE, count, b.values,
                                              SIDE, count, 0, want, SIDE, count, BATCH));
        CHECK(differences(strided, want, BATCH * count, 0, SIDE) == 0, "strided, %s",
              place_text(place));
        CHECK(differences(pointers, want, BATCH * count, 0, SIDE) == 0, "pointers, %s",
              place_text(place));
        free(strided);
        free(pointers);
        free(want);
        discard(&a);
        discard(&b);
        discard(&c);
        discard(&d);
    }
}

/* ---- transposes and reductions --------------------------------------------------------------- */

static void transposes(void)
{
    const int tries = test_quick() ? 8 : 30;
    for (int t = 0; t < tries; t++) {
        const int64_t rows = rng_range(&rng, 1, 2500), cols = rng_range(&rng, 1, 2500);
        const int from = t % 2 ? some_place() : (int)rng_range(&rng, 0, 1);
        const int to = t % 2 ? some_place() : (int)rng_range(&rng, 0, 1), scaled = t % 3 == 0;
        matrix_t src = make(rows, cols, from), dst = make(cols, rows, to);
        if (scaled)
            CHECK_OK(all, tilemm_somatcopy(all, TILEMM_ROW_MAJOR, TILEMM_TRANS, rows, cols, 2,
                                           src.memory, src.ld, dst.memory, dst.ld));
        else
            CHECK_OK(all, tilemm_transpose(all, rows, cols, sizeof(float), src.memory, src.ld,
                                           dst.memory, dst.ld));
        float *got = fetch(&dst);
        int64_t wrong = 0;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++)
                wrong += got[j * rows + i] != src.values[i * cols + j] * (scaled ? 2 : 1);
        CHECK(wrong == 0, "%lldx%lld from %s to %s: %lld", (long long)rows, (long long)cols,
              place_text(from), place_text(to), (long long)wrong);
        free(got);
        discard(&dst);
        /* A copy there and a transposition in place. */
        matrix_t copy = make(rows, cols, to);
        CHECK_OK(all, tilemm_copy_matrix(all, rows, cols, sizeof(float), src.memory, src.ld,
                                         copy.memory, copy.ld));
        got = fetch(&copy);
        CHECK(differences(got, src.values, rows * cols, 1, 0) == 0, "copy from %s to %s",
              place_text(from), place_text(to));
        free(got);
        discard(&copy);
        discard(&src);
    }
}

/* The CPU's bits, which are those of every GPU. */
static void reductions(void)
{
    const int64_t rows = 3000, cols = 2048;
    const int64_t offsets[] = {7, 1000, 1000, 3000000, 4000000, rows * cols};
    enum { SEGMENTS = sizeof(offsets) / sizeof(offsets[0]) - 1 };
    for (int place = 0; place < PLACES + members; place++) {
        matrix_t x = make(rows, cols, place); /* whose rows have no gaps */
        CHECK(x.ld == cols, "ld = %lld", (long long)x.ld);
        float got = 0, want = 1, segments[2][SEGMENTS], *lines[2];
        int64_t index = 0, want_index = 1;
        for (int i = 0; i < 2; i++)
            lines[i] = host_array(rows);
        CHECK_OK(all, tilemm_ssum(all, rows * cols, x.memory, 1, &got));
        CHECK_OK(cpu, tilemm_ssum(cpu, rows * cols, x.values, 1, &want));
        CHECK(memcmp(&got, &want, sizeof(got)) == 0, "ssum, %s", place_text(place));
        CHECK_OK(all, tilemm_snrm2(all, rows * cols - 12345, x.memory, 1, &got));
        CHECK_OK(cpu, tilemm_snrm2(cpu, rows * cols - 12345, x.values, 1, &want));
        CHECK(memcmp(&got, &want, sizeof(got)) == 0, "snrm2, %s", place_text(place));
        CHECK_OK(all, tilemm_sdot(all, rows * cols, x.memory, 1, x.memory, 1, &got));
        CHECK_OK(cpu, tilemm_sdot(cpu, rows * cols, x.values, 1, x.values, 1, &want));
        CHECK(memcmp(&got, &want, sizeof(got)) == 0, "sdot, %s", place_text(place));
        CHECK_OK(all, tilemm_smin(all, rows * cols, x.memory, 1, &got));
        CHECK_OK(cpu, tilemm_smin(cpu, rows * cols, x.values, 1, &want));
        CHECK(memcmp(&got, &want, sizeof(got)) == 0, "smin, %s", place_text(place));
        CHECK_OK(all, tilemm_isamax(all, rows * cols, x.memory, 1, &index));
        CHECK_OK(cpu, tilemm_isamax(cpu, rows * cols, x.values, 1, &want_index));
        CHECK(index == want_index, "isamax, %s", place_text(place));
        for (int axis = 0; axis < 2; axis++) {
            CHECK_OK(all, tilemm_sreduce(all, TILEMM_SUM, (tilemm_axis_t)axis, TILEMM_ROW_MAJOR,
                                         rows, cols, x.memory, x.ld, lines[0], 1));
            CHECK_OK(cpu, tilemm_sreduce(cpu, TILEMM_SUM, (tilemm_axis_t)axis, TILEMM_ROW_MAJOR,
                                         rows, cols, x.values, cols, lines[1], 1));
            CHECK(differences(lines[0], lines[1], axis ? rows : cols, 1, 0) == 0,
                  "sreduce, axis %d, %s", axis, place_text(place));
        }
        CHECK_OK(all, tilemm_sreduce_segments(all, TILEMM_SUM, SEGMENTS, x.memory, offsets,
                                              segments[0]));
        CHECK_OK(cpu, tilemm_sreduce_segments(cpu, TILEMM_SUM, SEGMENTS, x.values, offsets,
                                              segments[1]));
        CHECK(memcmp(segments[0], segments[1], sizeof(segments[0])) == 0, "segments, %s",
              place_text(place));
        for (int i = 0; i < 2; i++)
            free(lines[i]);
        discard(&x);
    }
}

/* ---- streams, errors ------------------------------------------------------------------------- */

/* On a stream of the program's: what the call follows, and a capture on the first device. */
static void streams(const int *devices)
{
    enum { SIDE = 512 };
    const int place[] = {PLACES, PLACES, PLACES};
    if (gpu_open(devices[0]) != 0)
        test_give_up("gpu_open");
    void *stream = gpu_stream_create();
    CHECK(stream, "gpu_stream_create");
    CHECK_OK(all, tilemm_set_stream(all, stream));
    product(SIDE, SIDE, SIDE, place, 0, 0);
    matrix_t a = make(SIDE, SIDE, PLACES), b = make(SIDE, SIDE, PLACES),
             c = make(SIDE, SIDE, PLACES);
    CHECK_OK(all, multiply(all, 0, 0, SIDE, 0, &a, &b, &c));
    float *want = fetch(&c);
    send(&c);
    CHECK(gpu_capture_begin(stream) == 0, "gpu_capture_begin");
    CHECK_OK(all, multiply(all, 0, 0, SIDE, 0, &a, &b, &c));
    void *graph = gpu_capture_end(stream);
    CHECK(graph, "the capture was broken");
    CHECK(gpu_graph_launch(graph, stream) == 0 && gpu_stream_synchronize(stream) == 0, "graph");
    float *got = fetch(&c);
    CHECK(differences(got, want, SIDE * SIDE, 1, 0) == 0, "a graph's product");
    gpu_graph_destroy(graph);
    CHECK_OK(all, tilemm_set_stream(all, NULL));
    gpu_stream_destroy(stream);
    free(want);
    free(got);
    discard(&a);
    discard(&b);
    discard(&c);
}

static void errors(void)
{
    const int missing[] = {0, 99};
    tilemm_t ctx = NULL;
    float c[600] = {7}, *x = host_array(600 * 600);
    CHECK(tilemm_create_multi(&ctx, 2, missing) == TILEMM_NO_DEVICE && !ctx, "device 99");
    CHECK(strstr(tilemm_create_error(), "device = 99"), "%s", tilemm_create_error());
    setenv("TILEMM_DEVICES", "0,99", 1); /* CUDA is there: the list is wrong */
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) == TILEMM_NO_DEVICE && !ctx, "0,99");
    CHECK(strstr(tilemm_create_error(), "device = 99"), "%s", tilemm_create_error());
    setenv("TILEMM_DEVICES", "0,0", 1);
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 7) == TILEMM_SUCCESS, "0,0");
    tilemm_backend_t backend;
    int device = -1;
    CHECK_OK(ctx, tilemm_get_backend(ctx, &backend));
    CHECK_OK(ctx, tilemm_get_device(ctx, &device));
    CHECK(backend == TILEMM_BACKEND_CUDA && device == 0, "backend %d, device %d", (int)backend,
          device);
    tilemm_destroy(ctx);
    unsetenv("TILEMM_DEVICES");
    CHECK_OK(all, tilemm_set_device_memory(all, 1000));
    memset(x, 0, 600 * 600 * sizeof(*x));
    CHECK(tilemm_sgemm(all, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, 1, 600, 600, 1, x,
                       600, x, 600, 0, c, 600) == TILEMM_OUT_OF_MEMORY,
          "%s", tilemm_last_error(all));
    CHECK(c[0] == 7, "C was written");
    CHECK(strstr(tilemm_last_error(all), "device"), "%s", tilemm_last_error(all));
    CHECK_OK(all, tilemm_set_device_memory(all, 0));
    free(x);
}

/* Little memory on the last device, and then again enough: a status that names a device, or the
 * right result; no more. */
static void full_device(void)
{
    enum { SIDE = 2000, MOST_BLOCKS = 64 };
    const tilemm_t last = owner[members - 1];
    void *block[MOST_BLOCKS];
    int blocks = 0;
    int64_t ld, rows = (int64_t)1 << 24; /* of 256 bytes */
    matrix_t a = make(SIDE, SIDE, 0), b = make(SIDE, SIDE, 1), c = make(SIDE, SIDE, 0);
    CHECK_OK(all, multiply(all, 0, 0, SIDE, 0, &a, &b, &c));
    float *want = fetch(&c);
    const int64_t least = (int64_t)1 << (brief ? 22 : 14);
    while (rows > least && blocks < MOST_BLOCKS)
        if (tilemm_alloc_matrix(last, TILEMM_MEMORY_DEVICE, rows, 64, sizeof(float), &block[blocks],
                                &ld) == TILEMM_SUCCESS)
            blocks++;
        else
            rows /= 2;
    /* Tools need memory of their own there. */
    if (brief && blocks > 0)
        CHECK_OK(last, tilemm_free_matrix(last, block[--blocks]));
    const tilemm_status_t status = multiply(all, 0, 0, SIDE, 0, &a, &b, &c);
    CHECK(status == TILEMM_SUCCESS ||
              (status == TILEMM_OUT_OF_MEMORY && strstr(tilemm_last_error(all), "device")),
          "status %d: %s", (int)status, tilemm_last_error(all));
    if (status == TILEMM_SUCCESS) {
        float *got = fetch(&c);
        CHECK(differences(got, want, SIDE * SIDE, 0, SIDE) == 0, "little memory");
        free(got);
    }
    while (blocks > 0)
        CHECK_OK(last, tilemm_free_matrix(last, block[--blocks]));
    CHECK_OK(all, multiply(all, 0, 0, SIDE, 0, &a, &b, &c));
    float *got = fetch(&c);
    CHECK(differences(got, want, SIDE * SIDE, 1, 0) == 0, "after it");
    free(got);
    free(want);
    discard(&a);
    discard(&b);
    discard(&c);
}

/* The last device has other work: the call takes longer, and is right. */
static void busy_device(void)
{
    const int64_t side = brief ? 500 : 6000;
    const int last = PLACES + members - 1;
    const int place[] = {1, 1, 1};
    matrix_t a = make(side, side, last), c = make(side, side, last);
    for (int i = 0; i < 10; i++)
        CHECK_OK(a.ctx, multiply(a.ctx, 0, 0, side, 0, &a, &a, &c));
    product(1500, 1500, 1500, place, 0, 0);
    CHECK_OK(a.ctx, tilemm_synchronize(a.ctx));
    discard(&a);
    discard(&c);
}

/* A call again and again leaves no memory behind. */
static void leaks(void)
{
    const int place[] = {0, 1, 0};
    size_t before = 0, after = 0, total;
    for (int i = 0; i < (brief ? 3 : test_quick() ? 6 : 40); i++) {
        product(1500, 1500, 1500, place, 0, 0);
        if (i == 2)
            CHECK(gpu_memory(&before, &total) == 0, "gpu_memory");
    }
    CHECK(gpu_memory(&after, &total) == 0, "gpu_memory");
    CHECK(after + ((size_t)64 << 20) >= before, "%zu bytes free, then %zu", before, after);
}

static void try_devices(int count, const int *devices)
{
    members = count;
    CHECK(tilemm_create_multi(&all, count, devices) == TILEMM_SUCCESS, "%s", tilemm_create_error());
    one = NULL;
    CHECK(tilemm_create(&one, TILEMM_BACKEND_CUDA, devices[0]) == TILEMM_SUCCESS, "%s",
          tilemm_create_error());
    for (int i = 0; i < count; i++)
        CHECK(tilemm_create(&owner[i], TILEMM_BACKEND_CUDA, devices[i]) == TILEMM_SUCCESS, "%s",
              tilemm_create_error());
    if (!all || !one)
        test_give_up("tilemm_create");
    products();
    batches();
    transposes();
    reductions();
    streams(devices);
    errors();
    full_device();
    busy_device();
    leaks();
    CHECK(tilemm_destroy(all) == TILEMM_SUCCESS, "tilemm_destroy");
    tilemm_destroy(one);
    for (int i = 0; i < count; i++)
        tilemm_destroy(owner[i]);
}

int main(void)
{
    const char *list = getenv("TEST_DEVICES");
    int devices[MOST_MEMBERS] = {0, 0, 0}, count = 0;
    test_begin_alone(TILEMM_BACKEND_CUDA);
    brief = getenv("TEST_BRIEF") != NULL;
    CHECK(tilemm_create(&cpu, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS, "CPU");
    while (list && *list && count < MOST_MEMBERS) {
        devices[count++] = atoi(list);
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    }
    if (count > 0) {
        try_devices(count, devices);
    } else {
        try_devices(2, devices);
        try_devices(3, devices);
    }
    tilemm_destroy(cpu);
    return check_exit();
}
