/* multi_order.c - contexts over several GPUs on a simulated CUDA runtime (simulated_cuda.h): parts
 * of products on their devices' streams and threads, ordered by events with the context's stream.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "simulated_multi.h"

/* ---- products ------------------------------------------------------------------------------- */

/* An operand: its values, and the memory of the call. */
typedef struct {
    int64_t rows, cols, ld, count;
    float *values, *memory;
    int place;
} operand_t;

static operand_t operand(int64_t rows, int64_t cols, int place)
{
    operand_t x = {.rows = rows, .cols = cols, .ld = cols + rng_range(&problems, 0, 3)};
    x.place = place;
    x.count = rows * x.ld;
    x.values = need(malloc((size_t)x.count * sizeof(float)));
    x.memory = need(malloc((size_t)x.count * sizeof(float)));
    fill(x.values, x.count);
    set_place(x.memory, (size_t)x.count * sizeof(float), place);
    return x;
}

/* The values come late to a device: the stream has them queued when the call is made. */
static void send(const operand_t *x)
{
    const size_t bytes = (size_t)x->count * sizeof(float);
    if (x->place < 0) {
        memcpy(x->memory, x->values, bytes);
        return;
    }
    memset(x->memory, 0xff, bytes);
    simulated_copy(NULL, x->memory, x->values, bytes);
}

static void discard(operand_t *x)
{
    free(x->values);
    free(x->memory);
}

static int some_place(int kind, const int *devices, int count)
{
    switch (kind) {
    case 0: return PAGEABLE;
    case 1: return PINNED;
    case 2: return MANAGED;
    default: return devices[rng_range(&problems, 0, count - 1)];
    }
}

/* A product, twice: the second adds to the first. Returns how many members had a part. */
static int product(struct tilemm_context *ctx, int i, const int *devices, int count)
{
    const int64_t most = i % 3 ? 400 : 90;
    tilemm__sgemm_args_t p = {.m = rng_range(&problems, 1, most),
                              .n = rng_range(&problems, 1, most),
                              .k = rng_range(&problems, 1, i % 7 ? 60 : 700),
                              .trans_a = (int)rng_range(&problems, 0, 1),
                              .trans_b = (int)rng_range(&problems, 0, 1),
                              .alpha = 2,
                              .beta = 1,
                              .batch_count = 1};
    operand_t x[3];
    const int on_devices = i % 2, one = (int)rng_range(&problems, 0, 1);
    const int home = devices[rng_range(&problems, 0, count - 1)];
    int place[3];
    for (int o = 0; o < 3; o++)
        place[o] =
            on_devices && one && (o != 0 || i % 4 == 1)
                ? home
                : some_place(on_devices ? 3 : (int)rng_range(&problems, 0, 3), devices, count);
    forget_places();
    x[0] = operand(p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, place[0]);
    x[1] = operand(p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, place[1]);
    x[2] = operand(p.m, p.n, place[2]);
    p.lda = x[0].ld;
    p.ldb = x[1].ld;
    p.ldc = x[2].ld;
    for (int o = 0; o < 3; o++)
        send(&x[o]);
    float *want = need(malloc((size_t)x[2].count * sizeof(float)));
    memcpy(want, x[2].values, (size_t)x[2].count * sizeof(float));
    p.a = x[0].values;
    p.b = x[1].values;
    p.c = want;
    multiply(&p);
    multiply(&p);
    p.a = x[0].memory;
    p.b = x[1].memory;
    p.c = x[2].memory;
    ctx->device_memory = i % 5 ? 0 : (size_t)(p.m + p.n) * (size_t)(p.k + 70) * 8 + 300000;
    for (int run = 0; run < 2; run++)
        CHECK(ctx->backend->sgemm(ctx, &p) == TILEMM_SUCCESS, "%d: %s", i, ctx->last_error);
    /* The context's stream alone is waited for: all the others' work is ordered before its end. */
    cudaStreamSynchronize(tilemm__cuda(tilemm__multi(ctx)->member[0].ctx)->stream);
    const int64_t wrong = differences(x[2].memory, want, x[2].count);
    CHECK(wrong == 0, "%d: %lldx%lldx%lld %d%d, %d members, places %d %d %d: %lld of C", i,
          (long long)p.m, (long long)p.n, (long long)p.k, p.trans_a, p.trans_b, count, place[0],
          place[1], place[2], (long long)wrong);
    CHECK(!*tilemm__multi(ctx)->member[0].ctx->variant, "a kernel is left chosen");
    int places[3], used;
    tilemm__multi_sgemm_plan_t plan;
    for (int o = 0; o < 3; o++)
        places[o] = tilemm__multi_place(ctx, x[o].memory);
    tilemm__plan_multi_sgemm(&p, &tilemm__multi(ctx)->devices, places, &plan);
    used = plan.used;
    CHECK(ctx->backend->synchronize(ctx) == TILEMM_SUCCESS, "%s", ctx->last_error);
    free(want);
    for (int o = 0; o < 3; o++)
        discard(&x[o]);
    forget();
    return used + 100 * plan.relay;
}

static void products(void)
{
    enum { PRODUCTS = 180 };
    int divided = 0, relayed = 0;
    for (int i = 0; i < PRODUCTS; i++) {
        struct tilemm_context ctx;
        int devices[6];
        const int count = (int)rng_range(&problems, 2, 6), most = (int)rng_range(&problems, 0, 2);
        for (int d = 0; d < count; d++)
            devices[d] = (int)rng_range(&problems, 0, most);
        open_context(&ctx, count, devices);
        if (i % 6 == 0) /* as with TILEMM_PEER=0 */
            tilemm__multi(&ctx)->devices.peers = 0;
        const int used = product(&ctx, i, devices, count);
        divided += used % 100 > 1;
        relayed += used >= 100;
        close_context(&ctx);
    }
    CHECK(simulated.kept > 0, "nothing stayed prepared");
    CHECK(divided > PRODUCTS / 3 && relayed > PRODUCTS / 10, "%d divided, %d relayed", divided,
          relayed);
}

/* A copy that fails is a status that names a device; the context is lost, and nothing is left. */
static void failures(void)
{
    static const int devices[] = {1, 2};
    enum { SIDE = 300, COUNT = SIDE * SIDE };
    float *x = need(calloc(3 * COUNT, sizeof(float)));
    int failed = 0;
    for (int i = 0; i < 24; i++) {
        struct tilemm_context ctx;
        forget_places();
        set_place(x, 3 * COUNT * sizeof(float), i % 3 == 0 ? PAGEABLE : i % 3 == 1 ? PINNED : 1);
        if (i % 3 == 2) /* from device 1 to device 2, and back */
            forget_places(), set_place(x, COUNT * sizeof(float), 1),
                set_place(x + COUNT, 2 * COUNT * sizeof(float), 2);
        open_context(&ctx, 2, devices);
        const tilemm__sgemm_args_t p = {.m = SIDE,
                                        .n = SIDE,
                                        .k = SIDE,
                                        .alpha = 1,
                                        .a = x,
                                        .b = x + COUNT,
                                        .c = x + 2 * COUNT,
                                        .lda = SIDE,
                                        .ldb = SIDE,
                                        .ldc = SIDE,
                                        .batch_count = 1};
        simulated.fail_copies_after = i / 3;
        const tilemm_status_t status = ctx.backend->sgemm(&ctx, &p);
        simulated.fail_copies_after = -1;
        failed += status != TILEMM_SUCCESS;
        if (status != TILEMM_SUCCESS) {
            CHECK(status == TILEMM_DEVICE_FAILURE && (strstr(ctx.last_error, "sgemm: device 1: ") ||
                                                      strstr(ctx.last_error, "sgemm: device 2: ")),
                  "%d: %s", i, ctx.last_error);
            CHECK(ctx.backend->sgemm(&ctx, &p) == TILEMM_DEVICE_FAILURE &&
                      strstr(ctx.last_error, "the context is lost"),
                  "%d: %s", i, ctx.last_error);
        }
        close_context(&ctx);
    }
    CHECK(failed > 12, "%d failures", failed);
    /* Too little memory leaves the context as it was. */
    struct tilemm_context ctx;
    tilemm__sgemm_args_t p = {.m = SIDE, .n = SIDE, .k = SIDE, .alpha = 1, .batch_count = 1};
    p.a = p.b = p.c = x;
    p.lda = p.ldb = p.ldc = SIDE;
    forget_places();
    open_context(&ctx, 2, devices);
    ctx.device_memory = 1000;
    CHECK(ctx.backend->sgemm(&ctx, &p) == TILEMM_OUT_OF_MEMORY &&
              strstr(ctx.last_error, "sgemm: device 1: 1000 bytes"),
          "%s", ctx.last_error);
    ctx.device_memory = 0;
    CHECK(ctx.backend->sgemm(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
    close_context(&ctx);
    free(x);
}

/* Rates; and devices that cannot be opened. */
static void contexts(void)
{
    static const int alike[] = {0, 1, 0}, unlike[] = {0, SLOW, 1}, missing[] = {0, 9};
    struct tilemm_context ctx;
    simulated.slow_device = SLOW;
    open_context(&ctx, 3, alike);
    CHECK(tilemm__multi(&ctx)->devices.rate[1] == 1.0 && tilemm__multi(&ctx)->devices.peers,
          "rate");
    CHECK(tilemm__cuda(tilemm__multi(&ctx)->member[0].ctx)->sharers == 2, "sharers");
    ctx.device_memory = 1001;
    CHECK(tilemm__multi_begin(&ctx) == TILEMM_SUCCESS, "%s", ctx.last_error);
    CHECK(tilemm__multi(&ctx)->member[2].ctx->device_memory == 500 &&
              tilemm__multi(&ctx)->member[1].ctx->device_memory == 1001,
          "memory of two members of one device");
    close_context(&ctx);
    open_context(&ctx, 3, unlike);
    CHECK(tilemm__multi(&ctx)->devices.rate[0] == 1.0 &&
              tilemm__multi(&ctx)->devices.rate[1] == 0.5 &&
              tilemm__multi(&ctx)->devices.rate[2] == 1.0,
          "rates %g %g %g", tilemm__multi(&ctx)->devices.rate[0],
          tilemm__multi(&ctx)->devices.rate[1], tilemm__multi(&ctx)->devices.rate[2]);
    close_context(&ctx);
    ctx = (struct tilemm_context){.no_peers = 1};
    CHECK(tilemm__multi_open(&ctx, 3, alike) == TILEMM_SUCCESS &&
              !tilemm__multi(&ctx)->devices.peers,
          "TILEMM_PEER=0");
    close_context(&ctx);
    ctx = (struct tilemm_context){.last_kernel = ""};
    CHECK(tilemm__multi_open(&ctx, 2, missing) == TILEMM_NO_DEVICE && !ctx.state &&
              strstr(ctx.last_error, "device = 9"),
          "%s", ctx.last_error);
    CHECK(simulated.allocations == 0, "%d streams, events and buffers are left",
          simulated.allocations);
}

int main(void)
{
    contexts();
    products();
    failures();
    CHECK(simulated.faults == 0, "%d faults", simulated.faults);
    return check_exit();
}
