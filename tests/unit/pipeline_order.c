/* pipeline_order.c - the pipeline of SGEMM on a simulated CUDA runtime (simulated_cuda.h).
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sgemm/plan_pipeline.h"
#include "simulated_cuda.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

static tilemm__cuda_state_t state = {.traits.sm_count = 132, .sharers = 1};

/* ---- products ------------------------------------------------------------------------------- */

/* Apart from the order of streams, which depends on time: the products are the same in each run. */
static rng_t problems = {20261123};

enum { FLOAT_BYTES = sizeof(float) };

/* op is m x n or n x m; the memory is longer than it must be. */
static float *matrix(int64_t rows, int64_t ld)
{
    float *x = need(malloc((size_t)(rows * ld) * sizeof(*x)));
    for (int64_t i = 0; i < rows * ld; i++)
        x[i] = (float)rng_range(&problems, -4, 4);
    return x;
}

/* A workspace of the user's, which may be too small for what could stay in it. */
static void give_workspace(tilemm_t ctx, int i)
{
    static _Alignas(256) char workspace[48 << 20];
    ctx->workspace = workspace;
    ctx->workspace_bytes = i % 6 ? sizeof(workspace) : (size_t)rng_range(&problems, 0, 300000);
}

/* All of the product's work is in its timeline. */
static void check_timeline(const char *path, const tilemm__sgemm_args_t *p, int places)
{
    double work[4];
    read_timeline(path, work);
    const double bytes[] = {(double)p->m * (double)p->k * FLOAT_BYTES,
                            (double)p->k * (double)p->n * FLOAT_BYTES,
                            (double)p->m * (double)p->n * FLOAT_BYTES};
    double up = p->beta != 0 && (places & 4) ? bytes[2] : 0;
    for (int o = 0; o < 2; o++)
        up += places >> o & 1 ? bytes[o] : 0;
    CHECK(work[0] + work[1] >= up, "%g of %g bytes up", work[0] + work[1], up);
    CHECK(work[2] == 2 * (double)p->m * (double)p->n * (double)p->k, "%g operations", work[2]);
    CHECK(work[3] == (places & 4 ? bytes[2] : 0), "%g bytes down", work[3]);
}

/* What moved is what the plan says: C goes up only if it is added to. */
static void check_moved(tilemm_t ctx, const tilemm__sgemm_args_t *p, int places, int i)
{
    const tilemm__pipeline_places_t at = {.memory = ctx->device_memory,
                                          .sm_count = state.traits.sm_count,
                                          .on_host = {places & 1, places >> 1 & 1, places >> 2}};
    tilemm__pipeline_plan_t plan;
    CHECK(tilemm__plan_pipeline(p, &at, &plan) == TILEMM_SUCCESS &&
              simulated.moved == plan.up + plan.down,
          "%d: beta %g, places %d: %zu bytes moved, planned %zu + %zu", i, (double)p->beta, places,
          simulated.moved, plan.up, plan.down);
}

/* Now and then a context finds no pinned memory for its chunks, and does without. */
static void set_pinned(int i)
{
    simulated.fail_pinned = i % 11 == 3;
    for (int way = 0; way < 2 && simulated.fail_pinned; way++) {
        free(state.chunks[way]);
        state.chunks[way] = NULL;
    }
}

static int refused;     /* since k would have to be divided */
static int keep_strips; /* calls whose strips stay allocated */

/* Integers: every order of additions has the same sum. */
static int product(int i)
{
    enum { MOST = 500 };
    struct tilemm_context ctx = {.state = &state,
                                 .math = TILEMM_MATH_FP32_STRICT,
                                 .invariance = i % 3 ? TILEMM_INVARIANCE_NONE : TILEMM_INVARIANT};
    tilemm__sgemm_args_t p = {.m = rng_range(&problems, 1, i % 5 ? MOST : 40),
                              .n = rng_range(&problems, 1, MOST),
                              .k = rng_range(&problems, 1, i % 7 ? 60 : 4000),
                              .trans_a = (int)rng_range(&problems, 0, 1),
                              .trans_b = (int)rng_range(&problems, 0, 1),
                              .alpha = 2,
                              .beta = (float)rng_range(&problems, 0, 1),
                              .batch_count = 1};
    const int64_t rows_a = p.trans_a ? p.k : p.m, rows_b = p.trans_b ? p.n : p.k;
    p.lda = (p.trans_a ? p.m : p.k) + rng_range(&problems, 0, 3);
    p.ldb = (p.trans_b ? p.k : p.n) + rng_range(&problems, 0, 3);
    p.ldc = p.n + rng_range(&problems, 0, 3);
    float *a = matrix(rows_a, p.lda), *b = matrix(rows_b, p.ldb), *c = matrix(p.m, p.ldc);
    const size_t c_bytes = (size_t)(p.m * p.ldc) * sizeof(*c);
    float *want = need(malloc(c_bytes));
    const int places = (int)rng_range(&problems, 1, 7), pinned = (int)rng_range(&problems, 0, 7);
    const float *const operands[] = {a, b, c};
    const size_t spans[] = {(size_t)(rows_a * p.lda), (size_t)(rows_b * p.ldb),
                            (size_t)(p.m * p.ldc)};
    const int64_t elements[] = {p.m * p.k, p.k * p.n, p.m * p.n};
    size_t host = 0;
    for (int o = 0; o < 3; o++) {
        set_place(operands[o], spans[o] * sizeof(float),
                  !(places >> o & 1) ? state.device
                  : pinned >> o & 1  ? PINNED
                                     : PAGEABLE);
        host += places >> o & 1 ? (size_t)elements[o] * sizeof(float) : 0;
    }
    memcpy(want, c, c_bytes);
    p.a = a;
    p.b = b;
    p.c = want;
    multiply(&p);
    if (p.beta == 0) /* is not read */
        for (int64_t r = 0; r < p.m; r++)
            for (int64_t j = 0; j < p.n; j++)
                c[r * p.ldc + j] = NAN;
    p.c = c;
    ctx.device_memory = (size_t)((double)host * (0.3 + 0.69 * rng_unit(&problems)));
    simulated.device_bytes =
        i % 4 ? (size_t)1 << 40 : ctx.device_memory / 2; /* less than it seemed */
    if (i % 2)
        snprintf(ctx.timeline, sizeof(ctx.timeline), "pipeline_order.%d.csv", (int)getpid());
    tilemm_status_t status = TILEMM_INTERNAL_ERROR;
    give_workspace(&ctx, i);
    set_pinned(i);
    simulated.most_allocated = simulated.moved = simulated.direct = 0;
    CHECK(tilemm__cuda_pipelined_sgemm(&ctx, &p, &status), "no pipeline");
    CHECK(simulated.most_allocated <= ctx.device_memory, "%zu bytes of %zu",
          simulated.most_allocated, ctx.device_memory);
    CHECK(simulated.direct == 0 || simulated.fail_pinned, "%zu bytes not by chunks",
          simulated.direct);
    if (status == TILEMM_SUCCESS) {
        int64_t wrong = 0;
        for (int64_t at = 0; at < p.m * p.ldc; at++)
            wrong += memcmp(&c[at], &want[at], sizeof(*c)) != 0;
        CHECK(wrong == 0,
              "%d: %lldx%lldx%lld %d%d, beta %g, places %d, pinned %d, %zu of %zu bytes: %lld of C",
              i, (long long)p.m, (long long)p.n, (long long)p.k, p.trans_a, p.trans_b,
              (double)p.beta, places, pinned, ctx.device_memory, host, (long long)wrong);
        if (i % 4)
            check_moved(&ctx, &p, places, i);
        if (*ctx.timeline)
            check_timeline(ctx.timeline, &p, places);
    } else {
        /* An invariant product needs all of k at once. */
        const int divides_k = strstr(ctx.last_error, "invariant") != NULL;
        refused += divides_k;
        CHECK(
            status == TILEMM_OUT_OF_MEMORY &&
                (divides_k ? ctx.invariance != TILEMM_INVARIANCE_NONE : ctx.device_memory < 400000),
            "%d: %s (%zu)", i, ctx.last_error, ctx.device_memory);
    }
    /* A copy that fails is a status, and nothing is left behind. */
    if (i % 3 == 0 && status == TILEMM_SUCCESS) {
        simulated.fail_copies_after = (int)rng_range(&problems, 0, 3);
        CHECK(tilemm__cuda_pipelined_sgemm(&ctx, &p, &status) &&
                  ((status == TILEMM_DEVICE_FAILURE && strstr(ctx.last_error, "is undefined")) ||
                   simulated.fail_copies_after >= 0),
              "%d: status %d: %s", i, (int)status, ctx.last_error);
        simulated.fail_copies_after = -1;
        CHECK(status == TILEMM_SUCCESS || !*ctx.timeline || access(ctx.timeline, F_OK) != 0,
              "%d: the timeline of a call that failed", i);
        if (*ctx.timeline)
            remove(ctx.timeline);
    }
    CHECK(!*ctx.variant, "%s", ctx.variant);
    keep_strips += state.strips_bytes > 0;
    check_left(&ctx, "product", i);
    free(a);
    free(b);
    free(c);
    free(want);
    return status == TILEMM_SUCCESS;
}

/* op(A) lies on the device, and op(B) comes in slices: op(A) is prepared once. */
static void slices(void)
{
    struct tilemm_context ctx = {.state = &state, .math = TILEMM_MATH_FP32_STRICT};
    tilemm__sgemm_args_t p = {.m = 513,
                              .n = 8200,
                              .k = 33,
                              .trans_b = 1,
                              .alpha = 2,
                              .lda = 33,
                              .ldb = 33,
                              .ldc = 8200,
                              .batch_count = 1};
    float *const a = matrix(p.m, p.lda), *const b = matrix(p.n, p.ldb);
    float *const c = matrix(p.m, p.ldc), *const want = matrix(p.m, p.ldc);
    tilemm_status_t status = TILEMM_INTERNAL_ERROR;
    const int kept = simulated.kept;
    int64_t wrong = 0;
    p.a = a;
    p.b = b;
    p.c = want;
    multiply(&p);
    p.c = c;
    set_place(a, (size_t)(p.m * p.lda) * sizeof(*a), state.device);
    give_workspace(&ctx, 1);
    CHECK(tilemm__cuda_pipelined_sgemm(&ctx, &p, &status) && status == TILEMM_SUCCESS, "%s",
          ctx.last_error);
    for (int64_t at = 0; at < p.m * p.ldc; at++)
        wrong += c[at] != want[at];
    CHECK(wrong == 0, "%lld of C", (long long)wrong);
    CHECK(simulated.kept - kept >= 2 * p.m, "%d lines stayed prepared", simulated.kept - kept);
    check_left(&ctx, "slices", 0);
    free(a);
    free(b);
    free(c);
    free(want);
}

/* A batch under a limit: in pieces, and product by product where not even one fits. */
static int batch(int i)
{
    struct tilemm_context ctx = {.state = &state, .math = TILEMM_MATH_FP32_STRICT};
    tilemm__sgemm_args_t p = {.m = rng_range(&problems, 1, i % 3 ? 60 : 8),
                              .n = rng_range(&problems, 1, i % 3 ? 60 : 8),
                              .k = rng_range(&problems, 1, 40),
                              .trans_a = (int)rng_range(&problems, 0, 1),
                              .trans_b = (int)rng_range(&problems, 0, 1),
                              .alpha = 2,
                              .beta = (float)rng_range(&problems, 0, 1),
                              .batch_count = rng_range(&problems, 2, 60)};
    const int64_t rows_a = p.trans_a ? p.k : p.m, rows_b = p.trans_b ? p.n : p.k;
    const int gaps = i % 2 ? 3 : 0;
    p.lda = (p.trans_a ? p.m : p.k) + rng_range(&problems, 0, gaps);
    p.ldb = (p.trans_b ? p.k : p.n) + rng_range(&problems, 0, gaps);
    p.ldc = p.n + rng_range(&problems, 0, gaps);
    p.stride_a = pick(4) ? rows_a * p.lda + rng_range(&problems, 0, gaps) : 0;
    p.stride_b = pick(4) ? rows_b * p.ldb + rng_range(&problems, 0, gaps) : 0;
    p.stride_c = p.m * p.ldc + rng_range(&problems, 0, gaps);
    const int64_t spans[] = {rows_a * p.lda + (p.batch_count - 1) * p.stride_a,
                             rows_b * p.ldb + (p.batch_count - 1) * p.stride_b,
                             p.batch_count * p.stride_c};
    float *const a = matrix(1, spans[0]), *const b = matrix(1, spans[1]);
    float *const c = matrix(1, spans[2]), *const want = matrix(1, spans[2]);
    const float *const operands[] = {a, b, c};
    const int64_t item[] = {p.m * p.k, p.k * p.n, p.m * p.n};
    const int64_t count[] = {p.stride_a ? p.batch_count : 1, p.stride_b ? p.batch_count : 1,
                             p.batch_count};
    const int places = (int)rng_range(&problems, 1, 7), pinned = (int)rng_range(&problems, 0, 7);
    size_t host = 0;
    int done = 0;
    for (int o = 0; o < 3; o++) {
        set_place(operands[o], (size_t)spans[o] * sizeof(float),
                  !(places >> o & 1) ? state.device
                  : pinned >> o & 1  ? PINNED
                                     : PAGEABLE);
        host += places >> o & 1 ? (size_t)(item[o] * count[o]) * sizeof(float) : 0;
    }
    memcpy(want, c, (size_t)spans[2] * sizeof(*c));
    p.a = a;
    p.b = b;
    p.c = want;
    multiply(&p);
    p.c = c;
    ctx.device_memory = (size_t)((double)host * (0.02 + 0.97 * rng_unit(&problems)));
    simulated.device_bytes =
        i % 4 ? (size_t)1 << 40 : ctx.device_memory / 2; /* less than it seemed */
    give_workspace(&ctx, i);
    set_pinned(i);
    simulated.most_allocated = simulated.moved = 0;
    for (int run = 0; run < 2; run++) {
        tilemm_status_t status = TILEMM_INTERNAL_ERROR;
        /* The second: a copy that fails is a status, and nothing is left behind. */
        simulated.fail_copies_after = run ? (int)rng_range(&problems, 0, 3) : -1;
        CHECK(tilemm__cuda_pipelined_sgemm(&ctx, &p, &status), "no pieces");
        CHECK(simulated.most_allocated <= ctx.device_memory, "%zu bytes of %zu",
              simulated.most_allocated, ctx.device_memory);
        if (run) {
            CHECK(status == TILEMM_DEVICE_FAILURE || status == TILEMM_OUT_OF_MEMORY ||
                      simulated.fail_copies_after >= 0,
                  "%d: status %d", i, (int)status);
        } else if (status == TILEMM_SUCCESS) {
            int64_t wrong = 0;
            done = 1;
            for (int64_t at = 0; at < spans[2]; at++)
                wrong += memcmp(&c[at], &want[at], sizeof(*c)) != 0;
            CHECK(wrong == 0,
                  "%d: %lld of %lldx%lldx%lld, beta %g, places %d, pinned %d, %zu of %zu bytes: "
                  "%lld of C",
                  i, (long long)p.batch_count, (long long)p.m, (long long)p.n, (long long)p.k,
                  (double)p.beta, places, pinned, ctx.device_memory, host, (long long)wrong);
            /* Each matrix once, and C's only if they are added to. */
            const size_t c_up = p.beta != 0 && places & 4 ? (size_t)(item[2] * count[2]) : 0;
            CHECK(i % 4 == 0 || simulated.moved == host + c_up * sizeof(float),
                  "%d: beta %g: %zu bytes moved, not %zu and %zu of C", i, (double)p.beta,
                  simulated.moved, host, c_up * sizeof(float));
        } else {
            CHECK(status == TILEMM_OUT_OF_MEMORY && ctx.device_memory < 200000, "%d: %s (%zu)", i,
                  ctx.last_error, ctx.device_memory);
        }
        simulated.fail_copies_after = -1;
        CHECK(!*ctx.variant, "%s", ctx.variant);
        check_left(&ctx, "batch", i);
        if (status != TILEMM_SUCCESS && !run)
            break;
    }
    free(a);
    free(b);
    free(c);
    free(want);
    return done;
}

int main(void)
{
    enum { PRODUCTS = 300 };
    int done = 0;
    state.traits = simulated_traits();
    for (int i = 0; i < PRODUCTS; i++)
        done += product(i);
    CHECK(done > PRODUCTS / 3, "only %d products were done", done);
    CHECK(refused > 0, "no invariant product was refused");
    CHECK(keep_strips > 0, "no strips stay allocated");
    slices();
    CHECK(simulated.kept > PRODUCTS * 64, "only %d lines stayed prepared", simulated.kept);
    done = 0;
    for (int i = 0; i < PRODUCTS; i++)
        done += batch(i);
    CHECK(done > PRODUCTS / 3, "only %d batches were done", done);
    CHECK(simulated.faults == 0, "%d faults", simulated.faults);
    free(state.chunks[0]);
    free(state.chunks[1]);
    return check_exit();
}
