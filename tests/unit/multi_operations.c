/* multi_operations.c - batches, transposes and reductions of contexts over several GPUs on a
 * simulated CUDA runtime (simulated_cuda.h): how they are divided, and that the parts make the
 * whole.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "kernels/reduce/ops.h"
#include "simulated_multi.h"
#include "simulated_reduce.h"

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
            one.batch_count = 1;
            a[i] = one.a += i * COUNT;
            b[i] = one.b += i * COUNT;
            c[i] = p.c + i * COUNT;
            one.c = want + i * COUNT;
            multiply(&one);
        }
        forget_places();
        if (kind == 1)
            set_place(x, 3 * BATCH * COUNT * sizeof(*x), 1);
        if (kind == 2)
            set_place(x, BATCH * COUNT * sizeof(*x), 0),
                set_place(x + BATCH * COUNT, 2 * BATCH * COUNT * sizeof(*x), 1);
        if (arrays) {
            p.a = p.b = p.c = NULL;
            p.stride_a = p.stride_b = p.stride_c = 0;
            p.a_array = a;
            p.b_array = b;
            p.c_array = c;
        }
        memset(simulated.ran_on, 0, sizeof(simulated.ran_on));
        open_context(&ctx, 3, devices);
        CHECK(ctx.backend->sgemm(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        cudaStreamSynchronize(NULL);
        const int64_t wrong = differences(x + 2 * BATCH * COUNT, want, BATCH * COUNT);
        CHECK(wrong == 0, "kind %d: %lld of C", kind, (long long)wrong);
        if (kind == 0 || arrays)
            CHECK(simulated.ran_on[0] == 2 && simulated.ran_on[1] == 1,
                  "kind %d: %d on device 0, %d on 1", kind, simulated.ran_on[0],
                  simulated.ran_on[1]);
        if (kind == 1)
            CHECK(simulated.ran_on[0] == 0 && simulated.ran_on[1] == 1, "%d on device 0, %d on 1",
                  simulated.ran_on[0], simulated.ran_on[1]);
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
        forget_places();
        memset(simulated.ran_on, 0, sizeof(simulated.ran_on));
        memset(dst, 0xff, ROWS * COLS * sizeof(*dst));
        open_context(&ctx, 2, devices);
        CHECK(ctx.backend->transpose(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        for (int64_t b = 0; b < batch; b++)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < cols; j++)
                    wrong +=
                        dst[b * p.stride_dst + (trans ? j * p.ld_dst + i : i * p.ld_dst + j)] !=
                        src[b * p.stride_src + i * p.ld_src + j];
        CHECK(wrong == 0 && simulated.ran_on[0] == 1 && simulated.ran_on[2] == 1,
              "way %d: %lld wrong, %d and %d", way, (long long)wrong, simulated.ran_on[0],
              simulated.ran_on[2]);
        /* What lies on a device is done there. */
        set_place(dst, ROWS * COLS * sizeof(*dst), 2);
        CHECK(ctx.backend->transpose(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        CHECK(ctx.backend->copy(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        CHECK(simulated.ran_on[0] == 1 && simulated.ran_on[2] == 3, "%d and %d",
              simulated.ran_on[0], simulated.ran_on[2]);
        /* Device 1 is not the context's. */
        set_place(src, ROWS * COLS * sizeof(*src), 1);
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
    forget_places();
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
        memset(simulated.ran_on, 0, sizeof(simulated.ran_on));
        CHECK(ctx.backend->reduce(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
        for (int64_t v = 0; v < count; v++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += (double)x[v * p.vstride + i * p.istride];
            wrong += out[count - 1 - v] != (float)sum;
        }
        CHECK(wrong == 0 && simulated.ran_on[1] == 1 && simulated.ran_on[2] == 2,
              "down %d: %lld wrong, %d and %d", down, (long long)wrong, simulated.ran_on[1],
              simulated.ran_on[2]);
    }
    int64_t offsets[SEGMENTS + 1] = {5}, wrong = 0;
    for (int s = 1; s <= SEGMENTS; s++)
        offsets[s] = s == SEGMENTS ? ROWS * COLS
                     : s % 7       ? offsets[s - 1] + rng_range(&problems, 0, 6500)
                                   : offsets[s - 1];
    const tilemm__segments_args_t p = {
        .op = TILEMM__SUM, .segments = SEGMENTS, .x = x, .offsets = offsets, .out = out};
    memset(simulated.ran_on, 0, sizeof(simulated.ran_on));
    CHECK(ctx.backend->reduce_segments(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
    for (int s = 0; s < SEGMENTS; s++) {
        double sum = 0;
        for (int64_t i = offsets[s]; i < offsets[s + 1]; i++)
            sum += (double)x[i];
        wrong += out[s] != (float)sum;
    }
    CHECK(wrong == 0 && simulated.ran_on[1] + simulated.ran_on[2] == 3,
          "%lld segments are wrong, %d and %d parts", (long long)wrong, simulated.ran_on[1],
          simulated.ran_on[2]);
    close_context(&ctx);
    free(x);
    free(out);
}

/* One vector among several devices: the bits that it has in one piece. */
static void vectors(void)
{
    static const int devices[] = {0, 1};
    enum { UNIT = 1 << 20, MOST = 5 * UNIT / 2 }; /* a vector is divided at such a place */
    float *x = need(malloc(MOST * sizeof(*x))), *y = need(malloc(MOST * sizeof(*y)));
    for (int64_t i = 0; i < MOST; i++) {
        x[i] = rng_float(&problems, FAMILY_WIDE);
        y[i] = rng_float(&problems, FAMILY_NORMAL);
    }
    for (int op = TILEMM__SUM; op <= TILEMM__DOT; op++)
        for (int nan = op % 2; nan < 2; nan += 2) {
            struct tilemm_context ctx;
            float value = 0, want = 1;
            int64_t index = 7, want_index = 8;
            const int is_order = tilemm__op_is_order(op);
            tilemm__reduce_args_t p = {.op = op,
                                       .nan_ignore = nan,
                                       .count = 1,
                                       .n = MOST - rng_range(&problems, 0, UNIT),
                                       .x = x,
                                       .istride = 1,
                                       .y = op == TILEMM__DOT ? y : NULL,
                                       .y_istride = 1,
                                       .out = &value,
                                       .index_out = is_order ? &index : NULL,
                                       .out_stride = 1};
            x[p.n / 2] = x[p.n - 5] = nan ? NAN : 1e10f;
            forget_places();
            set_place(x, MOST * sizeof(*x), op % 2 ? PINNED : PAGEABLE);
            tilemm__reduce_args_t at_once = p;
            at_once.out = &want;
            at_once.index_out = is_order ? &want_index : NULL;
            reduce_vectors(&at_once);
            memset(simulated.ran_on, 0, sizeof(simulated.ran_on));
            open_context(&ctx, 2, devices);
            ctx.device_memory = op % 3 ? 0 : 16 << 20;
            CHECK(ctx.backend->reduce(&ctx, &p) == TILEMM_SUCCESS, "%s", ctx.last_error);
            CHECK(memcmp(&value, &want, sizeof(want)) == 0, "op %d, %lld elements: %a, must be %a",
                  op, (long long)p.n, (double)value, (double)want);
            CHECK(!is_order || index == want_index, "op %d: index %lld, must be %lld", op,
                  (long long)index, (long long)want_index);
            CHECK(simulated.ran_on[0] > 0 && simulated.ran_on[1] > 0, "%d on device 0, %d on 1",
                  simulated.ran_on[0], simulated.ran_on[1]);
            close_context(&ctx);
            x[p.n / 2] = x[p.n - 5] = 0.5f;
        }
    free(x);
    free(y);
}

int main(void)
{
    batches();
    moves();
    reductions();
    vectors();
    CHECK(simulated.faults == 0, "%d faults", simulated.faults);
    return check_exit();
}
