/* multi_order.c - a context over several GPUs on a simulated CUDA runtime (simulated_cuda.h): parts
 * on their devices' streams and threads, ordered by events with the context's stream.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "lib/cuda/multi.h"
#include "lib/reduce/divide_cuda.h"
#include "simulated_cuda.h"

enum { DEVICES = 4, SLOW = 3 /* a device of another model, of half the rate */ };

/* ---- what else multi.c calls ---------------------------------------------------------------- */

static int ran_on[DEVICES];

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    const int place = place_at(pointer);
    memset(attributes, 0, sizeof(*attributes));
    attributes->type = place >= 0          ? cudaMemoryTypeDevice
                       : place == MANAGED  ? cudaMemoryTypeManaged
                       : place == PAGEABLE ? cudaMemoryTypeUnregistered
                                           : cudaMemoryTypeHost;
    attributes->device = place >= 0 ? place : 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    (void)device;
    (void)peer;
    *can = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer;
    (void)flags;
    return cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

/* Of the last product. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    (void)begin;
    (void)end;
    *milliseconds = sgemm_device == SLOW ? 2.05f : 1.0f;
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    (void)memory;
    (void)value;
    (void)bytes;
    (void)stream;
    return cudaSuccess;
}

tilemm__cuda_thread_t tilemm__cuda_enter_device(int device)
{
    return (tilemm__cuda_thread_t){device, cudaStreamCaptureModeRelaxed};
}

void tilemm__cuda_leave_device(int device, tilemm__cuda_thread_t before)
{
    (void)device;
    (void)before;
}

void tilemm__set_kernel(tilemm_t ctx, const char *name)
{
    snprintf(ctx->kernel_text, sizeof(ctx->kernel_text), "%s", name);
    ctx->last_kernel = ctx->kernel_text;
}

static void note(tilemm_t ctx)
{
    pthread_mutex_lock(&lock);
    ran_on[tilemm__cuda(ctx)->device]++;
    pthread_mutex_unlock(&lock);
}

static int is_on_host(const void *pointer)
{
    return place_at(pointer) == PAGEABLE || place_at(pointer) == PINNED;
}

/* Matrices of a batch on the device are queued; those on the host are done at once. */
tilemm_status_t tilemm__cuda_staged_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    note(ctx);
    for (int64_t i = 0; i < args->batch_count; i++) {
        tilemm__sgemm_args_t one = *args;
        one.a = args->a_array ? args->a_array[i] : args->a + i * args->stride_a;
        one.b = args->b_array ? args->b_array[i] : args->b + i * args->stride_b;
        one.c = args->c_array ? args->c_array[i] : args->c + i * args->stride_c;
        (void)tilemm__cuda_sgemm(ctx, &one);
        if (is_on_host(one.a) || is_on_host(one.b) || is_on_host(one.c))
            cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
    }
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_staged_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    note(ctx);
    for (int64_t b = 0; b < args->batch_count; b++)
        for (int64_t i = 0; i < args->rows; i++)
            for (int64_t j = 0; j < args->cols; j++)
                ((float *)args->dst)[b * args->stride_dst +
                                     (args->trans ? j * args->ld_dst + i : i * args->ld_dst + j)] =
                    ((const float *)args->src)[b * args->stride_src + i * args->ld_src + j];
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_staged_transpose_inplace(tilemm_t ctx,
                                                      const tilemm__transpose_args_t *args)
{
    (void)args;
    note(ctx);
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_copy(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    (void)args;
    note(ctx);
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_staged_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    note(ctx);
    for (int64_t v = 0; v < args->count; v++) {
        double sum = 0;
        for (int64_t i = 0; i < args->n; i++)
            sum += (double)args->x[v * args->vstride + i * args->istride];
        args->out[v * args->out_stride] = (float)sum;
    }
    return TILEMM_SUCCESS;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)kind;
    LOCKED(
        queue(stream, (work_t){.kind = COPY, .to = to, .from = from, .width = bytes, .rows = 1}));
}

/* The sum of a vector in the canonical order (kernels/reduce/layout.h). */
static tilemm__sum_t canonical_sum(const tilemm__reduce_args_t *p, int64_t vector, int64_t *count)
{
    int64_t m = tilemm__tile_count(p->n);
    tilemm__sum_t *sums = need(calloc((size_t)m, sizeof(*sums))), lanes[TILEMM__TILE_LANES];
    *count = 0;
    for (int64_t t = 0; t < m; t++) {
        memset(lanes, 0, sizeof(lanes));
        for (int64_t e = 0; e < TILEMM__TILE_ELEMS && t * TILEMM__TILE_ELEMS + e < p->n; e++) {
            const int64_t i = t * TILEMM__TILE_ELEMS + e;
            const float x = p->x[vector * p->vstride + i * p->istride];
            const float y = p->op == TILEMM__DOT ? p->y[i * p->y_istride] : 0;
            lanes[e % 32] =
                tilemm__sum_add(lanes[e % 32], tilemm__sum_term(p->op, p->nan_ignore, x, y));
            *count += x == x;
        }
        sums[t] = tilemm__fold_lanes(lanes, TILEMM__TILE_LANES);
    }
    for (; m > 1; m = tilemm__fold_count(m))
        for (int64_t i = 0; i < m; i += TILEMM__TILE_LANES)
            sums[i / 32] = tilemm__fold_lanes(sums + i, m - i < 32 ? (int)(m - i) : 32);
    const tilemm__sum_t sum = sums[0];
    free(sums);
    return sum;
}

static void canonical_key(const tilemm__reduce_args_t *p, int64_t vector, int32_t *key,
                          int64_t *index)
{
    const tilemm__order_t order = tilemm__order_of(p->op, p->nan_ignore);
    *key = TILEMM__KEY_NONE;
    *index = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const float x = p->x[vector * p->vstride + i * p->istride];
        const int32_t now = tilemm__key_of(order, tilemm__float_bits(x));
        if (tilemm__key_wins(now, i, *key, *index)) {
            *key = now;
            *index = i;
        }
    }
}

typedef struct {
    tilemm__reduce_args_t args;
    tilemm__partials_t to;
} reduction_t;

static void reduce_now(void *data)
{
    const reduction_t *const r = data;
    const tilemm__reduce_args_t *const p = &r->args;
    for (int64_t v = 0; v < p->count; v++)
        if (tilemm__op_is_order(p->op)) {
            int32_t key;
            int64_t index;
            canonical_key(p, v, &key, &index);
            p->out[v * p->out_stride] = tilemm__key_result(p->op, key);
            p->index_out[v * p->out_stride] = tilemm__index_result(key, index);
        } else {
            int64_t count;
            r->to.sums[v] = canonical_sum(p, v, &count);
            if (tilemm__sum_is_counted(p->op, p->nan_ignore))
                r->to.counts[v] = count;
        }
}

tilemm_status_t tilemm__cuda_partial_sums(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                          const tilemm__partials_t *sums)
{
    reduction_t *const r = need(malloc(sizeof(*r)));
    *r = (reduction_t){*args, *sums};
    note(ctx);
    pthread_mutex_lock(&lock);
    queue(tilemm__cuda(ctx)->stream, (work_t){.kind = CALL, .call = reduce_now, .data = r});
    pthread_mutex_unlock(&lock);
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    const tilemm__partials_t none = {NULL, NULL, NULL, NULL};
    return tilemm__cuda_partial_sums(ctx, args, &none);
}

tilemm_status_t tilemm__cuda_staged_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    note(ctx);
    for (int64_t s = 0; s < args->segments; s++) {
        double sum = 0;
        for (int64_t i = args->offsets[s]; i < args->offsets[s + 1]; i++)
            sum += (double)args->x[i];
        args->out[s] = (float)sum;
    }
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_allocate(tilemm_t ctx, tilemm_memory_t where, size_t bytes,
                                      void **memory)
{
    (void)where;
    (void)bytes;
    *memory = NULL;
    return tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "alloc_matrix: out of memory");
}

tilemm_status_t tilemm__cuda_deallocate(tilemm_t ctx, tilemm_memory_t where, void *memory)
{
    (void)ctx;
    (void)where;
    (void)memory;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_pin(tilemm_t ctx, void *memory, size_t bytes)
{
    (void)ctx;
    (void)memory;
    (void)bytes;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm__cuda_unpin(tilemm_t ctx, void *memory)
{
    (void)ctx;
    (void)memory;
    return TILEMM_SUCCESS;
}

static tilemm_status_t open_device(tilemm_t ctx, int device)
{
    if (device >= DEVICES)
        return tilemm__fail(ctx, TILEMM_NO_DEVICE, "create: device = %d, must be less than %d",
                            device, (int)DEVICES);
    tilemm__cuda_state_t *state = need(calloc(1, sizeof(*state)));
    state->device = device;
    state->sharers = 1;
    state->traits = simulated_traits();
    if (device == SLOW)
        state->traits.sm_count /= 2;
    ctx->state = state;
    return TILEMM_SUCCESS;
}

static tilemm_status_t close_device(tilemm_t ctx)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    cudaFree(state->strips);
    free(state->chunks[0]);
    free(state->chunks[1]);
    free(state);
    return TILEMM_SUCCESS;
}

static tilemm_status_t synchronize(tilemm_t ctx)
{
    cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
    return TILEMM_SUCCESS;
}

static tilemm_status_t set_stream(tilemm_t ctx, void *stream)
{
    tilemm__cuda(ctx)->stream = stream;
    return TILEMM_SUCCESS;
}

const tilemm__backend_t tilemm__cuda_backend = {.id = TILEMM_BACKEND_CUDA,
                                                .locate = tilemm__cuda_locate,
                                                .open = open_device,
                                                .open_multi = tilemm__multi_open,
                                                .close = close_device,
                                                .synchronize = synchronize,
                                                .set_stream = set_stream};

/* ---- contexts ------------------------------------------------------------------------------- */

static rng_t problems = {19};

static void open_context(struct tilemm_context *ctx, int count, const int *devices)
{
    *ctx = (struct tilemm_context){.math = TILEMM_MATH_FP32_STRICT, .last_kernel = ""};
    CHECK(tilemm__multi_open(ctx, count, devices) == TILEMM_SUCCESS, "%s", ctx->last_error);
    tilemm__multi(ctx)->devices.start = 0; /* small problems are divided too */
}

static void close_context(struct tilemm_context *ctx)
{
    CHECK(ctx->backend->synchronize(ctx) == TILEMM_SUCCESS, "%s", ctx->last_error);
    CHECK(ctx->backend->close(ctx) == TILEMM_SUCCESS, "close");
    CHECK(allocations == 0, "%d streams, events and buffers are left", allocations);
    forget();
}

/* ---- products ------------------------------------------------------------------------------- */

static void fill(float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)rng_range(&problems, -4, 4);
}

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
    add_area(x.memory, (size_t)x.count * sizeof(float), place);
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
    pthread_mutex_lock(&lock);
    queue(NULL, (work_t){.kind = COPY,
                         .to = (char *)x->memory,
                         .from = (const char *)x->values,
                         .width = bytes,
                         .rows = 1});
    pthread_mutex_unlock(&lock);
}

static void discard(operand_t *x)
{
    free(x->values);
    free(x->memory);
}

static int64_t differences(const float *got, const float *want, int64_t count)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong += memcmp(&got[i], &want[i], sizeof(*got)) != 0;
    return wrong;
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
    area_count = 0;
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
        area_count = 0;
        add_area(x, 3 * COUNT * sizeof(float), i % 3 == 0 ? PAGEABLE : i % 3 == 1 ? PINNED : 1);
        if (i % 3 == 2) /* from device 1 to device 2, and back */
            area_count = 0, add_area(x, COUNT * sizeof(float), 1),
            add_area(x + COUNT, 2 * COUNT * sizeof(float), 2);
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
        fail_copies_after = i / 3;
        const tilemm_status_t status = ctx.backend->sgemm(&ctx, &p);
        fail_copies_after = -1;
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
    area_count = 0;
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

/* ---- batches, transposes, reductions -------------------------------------------------------- */

static void batches(void)
{
    static const int devices[] = {0, 1, 0};
    enum { SIDE = 9, BATCH = 300, COUNT = SIDE * SIDE };
    float *x = need(malloc(3 * BATCH * COUNT * sizeof(*x)));
    float *want = need(malloc(BATCH * COUNT * sizeof(*want)));
    const float *a[BATCH], *b[BATCH];
    float *c[BATCH];
    for (int kind = 0; kind < 4; kind++) { /* host, one device, several devices; arrays */
        struct tilemm_context ctx;
        const int arrays = kind == 3;
        tilemm__sgemm_args_t p = {.m = SIDE,
                                  .n = SIDE,
                                  .k = SIDE,
                                  .alpha = 1,
                                  .a = x,
                                  .b = x + BATCH * COUNT,
                                  .c = x + 2 * BATCH * COUNT,
                                  .lda = SIDE,
                                  .ldb = SIDE,
                                  .ldc = SIDE,
                                  .stride_a = COUNT,
                                  .stride_b = COUNT,
                                  .stride_c = COUNT,
                                  .batch_count = BATCH};
        fill(x, 3 * BATCH * COUNT);
        for (int i = 0; i < BATCH; i++) {
            tilemm__sgemm_args_t one = p;
            a[i] = one.a += i * COUNT;
            b[i] = one.b += i * COUNT;
            c[i] = p.c + i * COUNT;
            one.c = want + i * COUNT;
            multiply(&one);
        }
        area_count = 0;
        if (kind == 1)
            add_area(x, 3 * BATCH * COUNT * sizeof(*x), 1);
        if (kind == 2)
            add_area(x, BATCH * COUNT * sizeof(*x), 0),
                add_area(x + BATCH * COUNT, 2 * BATCH * COUNT * sizeof(*x), 1);
        if (arrays) {
            p.a = p.b = p.c = NULL;
            p.stride_a = p.stride_b = p.stride_c = 0;
            p.a_array = a;
            p.b_array = b;
            p.c_array = c;
        }
        memset(ran_on, 0, sizeof(ran_on));
        open_context(&ctx, 3, devices);
        CHECK(ctx.backend->sgemm(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        cudaStreamSynchronize(NULL);
        const int64_t wrong = differences(x + 2 * BATCH * COUNT, want, BATCH * COUNT);
        CHECK(wrong == 0, "kind %d: %lld of C", kind, (long long)wrong);
        if (kind == 0 || arrays)
            CHECK(ran_on[0] == 2 && ran_on[1] == 1, "kind %d: %d on device 0, %d on 1", kind,
                  ran_on[0], ran_on[1]);
        if (kind == 1)
            CHECK(ran_on[0] == 0 && ran_on[1] == 1, "%d on device 0, %d on 1", ran_on[0],
                  ran_on[1]);
        close_context(&ctx);
    }
    free(x);
    free(want);
}

static void moves(void)
{
    static const int devices[] = {0, 2};
    enum { ROWS = 700, COLS = 333 };
    float *src = need(malloc(ROWS * COLS * sizeof(*src)));
    float *dst = need(malloc(ROWS * COLS * sizeof(*dst)));
    fill(src, ROWS * COLS);
    for (int way = 0; way < 8; way++) {
        struct tilemm_context ctx;
        const int trans = way & 1, wide = way >> 1 & 1, batch = way >> 2 ? 5 : 1;
        const int64_t rows = (wide ? COLS : ROWS) / batch, cols = wide ? ROWS : COLS;
        const tilemm__transpose_args_t p = {.rows = rows,
                                            .cols = cols,
                                            .elem_size = sizeof(float),
                                            .trans = trans,
                                            .src = src,
                                            .dst = dst,
                                            .ld_src = cols,
                                            .ld_dst = trans ? rows : cols,
                                            .stride_src = rows * cols,
                                            .stride_dst = rows * cols,
                                            .batch_count = batch};
        int64_t wrong = 0;
        area_count = 0;
        memset(ran_on, 0, sizeof(ran_on));
        memset(dst, 0xff, ROWS * COLS * sizeof(*dst));
        open_context(&ctx, 2, devices);
        CHECK(ctx.backend->transpose(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        for (int64_t b = 0; b < batch; b++)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < cols; j++)
                    wrong +=
                        dst[b * p.stride_dst + (trans ? j * p.ld_dst + i : i * p.ld_dst + j)] !=
                        src[b * p.stride_src + i * p.ld_src + j];
        CHECK(wrong == 0 && ran_on[0] == 1 && ran_on[2] == 1, "way %d: %lld wrong, %d and %d", way,
              (long long)wrong, ran_on[0], ran_on[2]);
        /* What lies on a device is done there. */
        add_area(dst, ROWS * COLS * sizeof(*dst), 2);
        CHECK(ctx.backend->transpose(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        CHECK(ctx.backend->copy(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        CHECK(ran_on[0] == 1 && ran_on[2] == 3, "%d and %d", ran_on[0], ran_on[2]);
        /* Device 1 is not the context's. */
        add_area(src, ROWS * COLS * sizeof(*src), 1);
        CHECK(ctx.backend->transpose(&ctx, &p) == TILEMM_INVALID_ARGUMENT &&
                  strstr(ctx.last_error, "device 1"),
              "%s", ctx.last_error);
        close_context(&ctx);
    }
    free(src);
    free(dst);
}

static void reductions(void)
{
    static const int devices[] = {2, 1, 2};
    enum { ROWS = 640, COLS = 500, SEGMENTS = 97 };
    float *x = need(malloc(ROWS * COLS * sizeof(*x))), *out = need(malloc(ROWS * sizeof(*out)));
    struct tilemm_context ctx;
    fill(x, ROWS * COLS);
    area_count = 0;
    open_context(&ctx, 3, devices);
    for (int down = 0; down < 2; down++) {
        const int64_t count = down ? COLS : ROWS, n = down ? ROWS : COLS;
        const tilemm__reduce_args_t p = {.op = TILEMM__SUM,
                                         .count = count,
                                         .n = n,
                                         .x = x,
                                         .istride = down ? COLS : 1,
                                         .vstride = down ? 1 : COLS,
                                         .out = out + count - 1,
                                         .out_stride = -1};
        int64_t wrong = 0;
        memset(ran_on, 0, sizeof(ran_on));
        CHECK(ctx.backend->reduce(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        for (int64_t v = 0; v < count; v++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += (double)x[v * p.vstride + i * p.istride];
            wrong += out[count - 1 - v] != (float)sum;
        }
        CHECK(wrong == 0 && ran_on[1] == 1 && ran_on[2] == 2, "down %d: %lld wrong, %d and %d",
              down, (long long)wrong, ran_on[1], ran_on[2]);
    }
    int64_t offsets[SEGMENTS + 1] = {5}, wrong = 0;
    for (int s = 1; s <= SEGMENTS; s++)
        offsets[s] = s == SEGMENTS ? ROWS * COLS
                     : s % 7       ? offsets[s - 1] + rng_range(&problems, 0, 6500)
                                   : offsets[s - 1];
    const tilemm__segments_args_t p = {
        .op = TILEMM__SUM, .segments = SEGMENTS, .x = x, .offsets = offsets, .out = out};
    memset(ran_on, 0, sizeof(ran_on));
    CHECK(ctx.backend->reduce_segments(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
    for (int s = 0; s < SEGMENTS; s++) {
        double sum = 0;
        for (int64_t i = offsets[s]; i < offsets[s + 1]; i++)
            sum += (double)x[i];
        wrong += out[s] != (float)sum;
    }
    CHECK(wrong == 0 && ran_on[1] + ran_on[2] == 3, "%lld segments are wrong, %d and %d parts",
          (long long)wrong, ran_on[1], ran_on[2]);
    close_context(&ctx);
    free(x);
    free(out);
}

/* One vector among several devices: the bits that it has in one piece. */
static void vectors(void)
{
    static const int devices[] = {0, 1};
    enum { MOST = 5 * TILEMM__REDUCE_UNIT / 2 };
    float *x = need(malloc(MOST * sizeof(*x))), *y = need(malloc(MOST * sizeof(*y)));
    for (int64_t i = 0; i < MOST; i++) {
        x[i] = rng_float(&problems, FAMILY_WIDE);
        y[i] = rng_float(&problems, FAMILY_NORMAL);
    }
    for (int op = TILEMM__SUM; op <= TILEMM__DOT; op++)
        for (int nan = op % 2; nan < 2; nan += 2) {
            struct tilemm_context ctx;
            float value = 0, want;
            int64_t index = 7, want_index, count;
            int32_t key;
            const int is_order = tilemm__op_is_order(op);
            tilemm__reduce_args_t p = {.op = op,
                                       .nan_ignore = nan,
                                       .count = 1,
                                       .n = MOST - rng_range(&problems, 0, TILEMM__REDUCE_UNIT),
                                       .x = x,
                                       .istride = 1,
                                       .y = op == TILEMM__DOT ? y : NULL,
                                       .y_istride = 1,
                                       .out = &value,
                                       .index_out = is_order ? &index : NULL,
                                       .out_stride = 1};
            x[p.n / 2] = x[p.n - 5] = nan ? NAN : 1e10f;
            area_count = 0;
            add_area(x, MOST * sizeof(*x), op % 2 ? PINNED : PAGEABLE);
            if (is_order) {
                canonical_key(&p, 0, &key, &want_index);
                want = tilemm__key_result(op, key);
            } else {
                const tilemm__sum_t sum = canonical_sum(&p, 0, &count);
                want = tilemm__sum_result(op, sum, tilemm__sum_is_counted(op, nan) ? count : p.n);
            }
            memset(ran_on, 0, sizeof(ran_on));
            open_context(&ctx, 2, devices);
            ctx.device_memory = op % 3 ? 0 : 16 << 20;
            CHECK(ctx.backend->reduce(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
            CHECK(memcmp(&value, &want, sizeof(want)) == 0, "op %d, %lld elements: %a, must be %a",
                  op, (long long)p.n, (double)value, (double)want);
            CHECK(!is_order || index == want_index, "op %d: index %lld, must be %lld", op,
                  (long long)index, (long long)want_index);
            CHECK(ran_on[0] > 0 && ran_on[1] > 0, "%d on device 0, %d on 1", ran_on[0], ran_on[1]);
            close_context(&ctx);
            x[p.n / 2] = x[p.n - 5] = 0.5f;
        }
    free(x);
    free(y);
}

/* Rates; and devices that cannot be opened. */
static void contexts(void)
{
    static const int alike[] = {0, 1, 0}, unlike[] = {0, SLOW, 1}, missing[] = {0, 9};
    struct tilemm_context ctx;
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
    CHECK(allocations == 0, "%d streams, events and buffers are left", allocations);
}

int main(void)
{
    contexts();
    products();
    failures();
    batches();
    moves();
    reductions();
    vectors();
    return check_exit();
}
