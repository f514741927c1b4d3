/* api.c - fuzz target of the API on the CPU: decoding, judging, products.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "api.h"

#include <math.h>

operand_t operands[OPERANDS];
static operand_t workspace;
static long calls[2]; /* of each verdict */

static void print_calls(void)
{
    printf("%ld calls were done, %ld refused\n", calls[DONE], calls[REFUSED]);
}

int64_t next_size(bytes_t *in, int most)
{
    const int byte = next(in, 256);
    return byte < 192 ? byte % 20 : byte < 224 ? byte % 2 : byte % 16 * most / 15;
}

void spoil(bytes_t *in, call_t *call)
{
    static const int64_t values[] = {-1,
                                     0,
                                     1,
                                     2,
                                     3,
                                     100,
                                     101,
                                     102,
                                     111,
                                     112,
                                     113,
                                     INT64_MIN,
                                     INT64_MAX,
                                     INT64_MAX / 4,
                                     INT64_C(1) << 31,
                                     INT64_C(1) << 32,
                                     INT64_MIN / 2,
                                     INT64_C(1) << 62,
                                     -20,
                                     1000};
    enum { VALUES = sizeof values / sizeof *values };
    const int which = next(in, 4 * call->count / 3 + 1), how = next(in, VALUES + 4);
    call->spoilt = which < call->count ? which : -1;
    if (which >= call->count)
        return;
    int64_t *v = &call->v[which];
    *v = how < VALUES        ? values[how]
         : how == VALUES     ? *v + 1
         : how == VALUES + 1 ? *v - 1
         : how == VALUES + 2 ? -*v
                             : *v;
}

void place(bytes_t *in, operand_t *operand, int64_t count, size_t size)
{
    const int where = next(in, 5);
    operand_prepare(operand, PLACE_HOST, (size_t)count * size,
                    where ? (where - 1) * (int64_t)(size == 16 ? 8 : size) : -1);
    operand_send(operand);
}

void fill(bytes_t *in, operand_t *operand)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e18f, 1e-40f};
    const int family = next(in, FAMILY_COUNT);
    const int64_t count = (int64_t)(operand->bytes / sizeof(float));
    for (int64_t i = 0; i < count; i++)
        operand->numbers[i] = rng_float(&in->rng, (family_t)family);
    if (count && next(in, 4) == 3)
        operand->numbers[rng_range(&in->rng, 0, count - 1)] = special[next(in, 7)];
    operand_send(operand);
}

/* 128 bits hold what 64 bits overflow. */
verdict_t judge_use(const use_t *use, const operand_t *operand)
{
    const __int128 one = 1;
    if (!use->is_used)
        return DONE;
    const __int128 ld = use->ld < 0 ? -(one * use->ld) : use->ld;
    const __int128 apart = use->stride < 0 ? -(one * use->stride) : use->stride;
    const __int128 lines = use->width + (use->lines - one) * ld;
    if (use->is_null || (lines + (use->batch - one) * apart) * use->size > PTRDIFF_MAX)
        return REFUSED;
    const __int128 last = use->first + (use->batch - one) * use->stride;
    const __int128 low = last < use->first ? last : use->first;
    const __int128 high = last < use->first ? use->first : last;
    return low >= 0 && (high + lines) * use->size <= operand->bytes ? DONE : BEYOND;
}

const char *text_of(tilemm_t ctx, const call_t *call)
{
    static char text[600];
    size_t used = (size_t)snprintf(text, sizeof text, "%s(", call->name);
    for (int i = 0; i < call->count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", i ? ", " : "",
                                 (long long)call->v[i]);
    snprintf(text + used, sizeof text - used, "), argument %d spoilt: %s, %s", (int)call->spoilt,
             tilemm_last_kernel(ctx), tilemm_last_error(ctx));
    return text;
}

void check_status(tilemm_t ctx, const call_t *call, tilemm_status_t status, verdict_t verdict)
{
    const char *text = text_of(ctx, call);
    calls[verdict]++;
    FUZZ_CHECK(status == (verdict == DONE ? TILEMM_SUCCESS : TILEMM_INVALID_ARGUMENT), "%s: %s",
               text, tilemm_status_string(status));
    if (verdict == DONE)
        return;
    FUZZ_CHECK(strncmp(tilemm_last_error(ctx), call->name, strlen(call->name)) == 0 &&
                   strstr(tilemm_last_error(ctx), "must "),
               "%s", text);
    check_operands(call);
}

void check_operands(const call_t *call)
{
    for (int i = 0; i < OPERANDS; i++)
        if (operands[i].pointer) {
            operand_fetch(&operands[i]);
            FUZZ_CHECK(operand_intact(&operands[i]), "%s: operand %d was changed outside",
                       call->name, i);
        }
}

/* clang-format off */
enum { LAYOUT, TRANSA, TRANSB, M, N, K, LDA, LDB, LDC, NULL_A, NULL_B, NULL_C,
       BATCH, STRIDE_A, STRIDE_B, STRIDE_C };
/* clang-format on */
enum { PLAIN, STRIDED, ARRAYS };

static int is_enum(int64_t value, int first, int second)
{
    return (int)value == first || (int)value == second;
}

/* What is wrong whatever the operands are. */
static int wrong_values(const gemm_t *g, const call_t *c)
{
    if (!is_enum(c->v[LAYOUT], TILEMM_ROW_MAJOR, TILEMM_COL_MAJOR) ||
        !is_enum(c->v[TRANSA], TILEMM_NO_TRANS, TILEMM_TRANS) ||
        !is_enum(c->v[TRANSB], TILEMM_NO_TRANS, TILEMM_TRANS) || g->m < 0 || g->n < 0 || g->k < 0 ||
        c->v[BATCH] < 0)
        return 1;
    const int a_rows = gemm_layout(g, g->transa) == TILEMM_ROW_MAJOR;
    const int b_rows = gemm_layout(g, g->transb) == TILEMM_ROW_MAJOR;
    const int64_t a = a_rows ? g->k : g->m, b = b_rows ? g->n : g->k;
    const int64_t least = g->layout == TILEMM_ROW_MAJOR ? g->n : g->m;
    return g->lda < 1 || g->lda < a || g->ldb < 1 || g->ldb < b || g->ldc < 1 || g->ldc < least;
}

static verdict_t judge_sgemm(const gemm_t *g, const call_t *c, const int64_t first[3])
{
    const int64_t batch = c->v[BATCH];
    if (wrong_values(g, c))
        return REFUSED;
    const int nothing = !g->m || !g->n || !batch, reads = !nothing && g->k && g->alpha != 0;
    const int a_rows = gemm_layout(g, g->transa) == TILEMM_ROW_MAJOR;
    const int b_rows = gemm_layout(g, g->transb) == TILEMM_ROW_MAJOR;
    const int c_rows = g->layout == TILEMM_ROW_MAJOR;
    const use_t uses[] = {{reads, c->v[NULL_A] != 0, a_rows ? g->m : g->k, a_rows ? g->k : g->m,
                           g->lda, batch, c->v[STRIDE_A], sizeof(float), first[0]},
                          {reads, c->v[NULL_B] != 0, b_rows ? g->k : g->n, b_rows ? g->n : g->k,
                           g->ldb, batch, c->v[STRIDE_B], sizeof(float), first[1]},
                          {!nothing, c->v[NULL_C] != 0, c_rows ? g->m : g->n, c_rows ? g->n : g->m,
                           g->ldc, batch, c->v[STRIDE_C], sizeof(float), first[2]}};
    verdict_t verdict = DONE;
    for (int i = 0; i < 3; i++)
        verdict = worst(verdict, judge_use(&uses[i], &operands[i]));
    const int64_t apart = c->v[STRIDE_C];
    if (verdict == DONE && !nothing && batch > 1 && apart < gemm_span_c(g) &&
        -apart < gemm_span_c(g))
        verdict = BEYOND; /* results that overlap */
    return verdict;
}

static gemm_t gemm_of(const call_t *c, float alpha, float beta)
{
    return (gemm_t){(tilemm_layout_t)c->v[LAYOUT],
                    (tilemm_op_t)c->v[TRANSA],
                    (tilemm_op_t)c->v[TRANSB],
                    c->v[M],
                    c->v[N],
                    c->v[K],
                    alpha,
                    beta,
                    c->v[LDA],
                    c->v[LDB],
                    c->v[LDC]};
}

static tilemm_status_t call_sgemm(tilemm_t ctx, int how, const gemm_t *g, const call_t *call,
                                  const int64_t first[3])
{
    enum { MOST = 8 };
    const float *a[MOST], *b[MOST];
    float *c[MOST];
    const float *a0 = call->v[NULL_A] ? NULL : (const float *)operands[0].pointer + first[0];
    const float *b0 = call->v[NULL_B] ? NULL : (const float *)operands[1].pointer + first[1];
    float *c0 = call->v[NULL_C] ? NULL : (float *)operands[2].pointer + first[2];
    const int64_t batch = call->v[BATCH];
    if (how == PLAIN)
        return gemm_call(ctx, g, a0, b0, c0);
    if (how == STRIDED)
        return gemm_call_strided(ctx, g, a0, call->v[STRIDE_A], b0, call->v[STRIDE_B], c0,
                                 call->v[STRIDE_C], batch);
    for (int64_t i = 0; i < batch && i < MOST; i++) {
        a[i] = a0 ? a0 + i * call->v[STRIDE_A] : NULL;
        b[i] = b0 ? b0 + i * call->v[STRIDE_B] : NULL;
        c[i] = c0 ? c0 + i * call->v[STRIDE_C] : NULL;
    }
    return gemm_call_batched(ctx, g, a0 ? a : NULL, b0 ? b : NULL, c0 ? c : NULL, batch);
}

static void check_products(tilemm_t ctx, const gemm_t *g, const call_t *call,
                           const int64_t first[3], double input_error)
{
    gemm_t read = *g; /* A and B are not, if alpha is 0 */
    read.k = g->alpha != 0 ? g->k : 0;
    if (!g->m || !g->n || !call->v[BATCH])
        return;
    double *exact = test_need(malloc(2 * sizeof *exact * (size_t)(g->m * g->n)));
    for (int64_t i = 0; i < call->v[BATCH]; i++) {
        const int64_t c = first[2] + i * call->v[STRIDE_C];
        const int64_t a = read.k ? first[0] + i * call->v[STRIDE_A] : 0;
        const int64_t b = read.k ? first[1] + i * call->v[STRIDE_B] : 0;
        gemm_exact(&read, operands[0].numbers + a, operands[1].numbers + b, exact,
                   exact + g->m * g->n);
        const gemm_error_t error =
            gemm_error(&read, exact, exact + g->m * g->n, operands[2].sent + c,
                       operands[2].numbers + c, input_error);
        FUZZ_CHECK(error.outside == 0, "%s: matrix %lld, (%lld, %lld) is %.9g, not %.9g +- %.3g",
                   text_of(ctx, call), (long long)i, (long long)error.i, (long long)error.j,
                   error.got, error.want, error.bound);
    }
    free(exact);
}

void fuzz_sgemm(tilemm_t ctx, bytes_t *in)
{
    static const char *const names[] = {"sgemm", "sgemm_strided_batched", "sgemm_batched"};
    static const float factors[] = {1, 0, -1, 2.5f};
    static const tilemm_math_t modes[] = {TILEMM_MATH_FP32_STRICT, TILEMM_MATH_FP32,
                                          TILEMM_MATH_TF32};
    const int how = next(in, 3), mode = next(in, 3);
    call_t call = {names[how], {next_layout(in), next_op(in), next_op(in)}, STRIDE_C + 1, -1};
    for (int i = M; i <= K; i++)
        call.v[i] = next_size(in, 90);
    gemm_t g = gemm_of(&call, factors[next(in, 4)], factors[next(in, 4)]);
    gemm_set_ld(&g, next(in, 3), next(in, 3), next(in, 3));
    call.v[LDA] = g.lda;
    call.v[LDB] = g.ldb;
    call.v[LDC] = g.ldc;
    call.v[BATCH] = how == PLAIN ? 1 : next(in, 5);
    int64_t first[3] = {0};
    const int64_t span[] = {gemm_span_a(&g), gemm_span_b(&g), gemm_span_c(&g)};
    for (int i = 0; i < 3; i++) {
        const int kind = how == PLAIN ? 0 : next(in, 4);
        const int64_t stride = kind == 3 && i < 2 ? 0 : span[i] + kind % 2;
        place(in, &operands[i], span[i] + stride * (call.v[BATCH] ? call.v[BATCH] - 1 : 0),
              sizeof(float));
        fill(in, &operands[i]);
        call.v[STRIDE_A + i] = kind == 2 ? -stride : stride;
        first[i] = kind == 2 && call.v[BATCH] ? stride * (call.v[BATCH] - 1) : 0;
    }
    if (how == PLAIN) /* which has neither batch nor strides */
        call.count = BATCH;
    const int64_t batch = call.v[BATCH];
    spoil(in, &call);
    g = gemm_of(&call, g.alpha, g.beta);
    const verdict_t verdict = judge_sgemm(&g, &call, first);
    if (verdict == BEYOND || (how == ARRAYS && (call.v[BATCH] > batch || call.spoilt >= STRIDE_A)))
        return; /* arrays have no strides to be judged */
    FUZZ_CHECK(tilemm_set_math(ctx, modes[mode]) == TILEMM_SUCCESS, "math");
    check_status(ctx, &call, call_sgemm(ctx, how, &g, &call, first), verdict);
    if (verdict != DONE)
        return;
    for (int64_t i = 0; i < call.v[BATCH] && g.m && g.n; i++)
        matrix_own(&operands[2], sizeof(float), first[2] + i * call.v[STRIDE_C], g.layout, g.m, g.n,
                   g.ldc);
    check_operands(&call);
    check_products(ctx, &g, &call, first, modes[mode] == TILEMM_MATH_TF32 ? 0x1p-9 : 0);
}

/* Settings that are wrong are refused, and change nothing. */
static void fuzz_settings(tilemm_t ctx, bytes_t *in)
{
    const int value = next(in, 256) - 128;
    const tilemm_layout_t layout = next_layout(in);
    const tilemm_op_t transa = next_op(in), transb = next_op(in);
    call_t call = {"sgemm_workspace", {0}, 4, -1};
    size_t bytes = 77;
    for (int i = 0; i < 4; i++)
        call.v[i] = next_size(in, 100000);
    spoil(in, &call);
    const int64_t *v = call.v;
    const int is_right = v[0] >= 0 && v[1] >= 0 && v[2] >= 0 && v[3] >= 0;
    FUZZ_CHECK((tilemm_set_math(ctx, (tilemm_math_t)value) == TILEMM_SUCCESS) ==
                   (value >= 0 && value <= TILEMM_MATH_TF32),
               "math %d", value);
    FUZZ_CHECK((tilemm_set_nan_policy(ctx, (tilemm_nan_t)value) == TILEMM_SUCCESS) ==
                   (value >= 0 && value <= TILEMM_NAN_IGNORE),
               "NaN policy %d", value);
    FUZZ_CHECK((tilemm_set_threads(ctx, value) == TILEMM_SUCCESS) == (value >= 0), "threads %d",
               value);
    FUZZ_CHECK(tilemm_set_workspace(ctx, NULL, 5) == TILEMM_INVALID_ARGUMENT &&
                   tilemm_set_workspace(ctx, &bytes, 0) == TILEMM_INVALID_ARGUMENT,
               "a workspace");
    FUZZ_CHECK(
        tilemm_sgemm_workspace(ctx, layout, transa, transb, v[0], v[1], v[2], v[3], &bytes) ==
            (is_right ? TILEMM_SUCCESS : TILEMM_INVALID_ARGUMENT),
        "%s", text_of(ctx, &call));
    FUZZ_CHECK(bytes == (is_right ? 0 : 77), "%s: %zu bytes", text_of(ctx, &call), bytes);
}

/* A context of each instruction set, in the state that the bytes ask for. */
static tilemm_t begin(bytes_t *in, int *nan_ignore)
{
    static tilemm_t contexts[8];
    static const size_t sizes[] = {0, 1, 64, 1000, 5000, 100000};
    int count = 0;
    const char *const *archs = test_archs(TILEMM_BACKEND_CPU);
    if (!contexts[0]) {
        test_begin(TILEMM_BACKEND_CPU);
        atexit(print_calls);
    }
    for (; archs[count]; count++)
        if (!contexts[count])
            contexts[count] = test_context(TILEMM_BACKEND_CPU, archs[count]);
    tilemm_t ctx = contexts[next(in, count)];
    const size_t bytes = sizes[next(in, 6)];
    *nan_ignore = next(in, 2);
    tilemm_set_threads(ctx, 1 + next(in, 3));
    tilemm_set_nan_policy(ctx, *nan_ignore ? TILEMM_NAN_IGNORE : TILEMM_NAN_PROPAGATE);
    operand_prepare(&workspace, PLACE_HOST, bytes, next(in, 3) - 1);
    operand_send(&workspace);
    operand_own(&workspace, 0, bytes);
    FUZZ_CHECK(tilemm_set_workspace(ctx, bytes ? workspace.pointer : NULL, bytes) == TILEMM_SUCCESS,
               "workspace");
    return ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes_t in = {data, data + size, {1}};
    int nan_ignore;
    tilemm_t ctx = begin(&in, &nan_ignore);
    for (int left = 4; left > 0 && in.at < in.end; left--) {
        const int which = next(&in, 8);
        for (int i = 0; i < OPERANDS; i++)
            operand_prepare(&operands[i], PLACE_HOST, 0, 0), operand_send(&operands[i]);
        in.rng.state = (uint64_t)next(&in, 256) + 1;
        switch (which) {
        case 0:
        case 1: fuzz_sgemm(ctx, &in); break;
        case 2: fuzz_transpose(ctx, &in); break;
        case 3: fuzz_vector(ctx, &in, nan_ignore); break;
        case 4: fuzz_axis(ctx, &in, nan_ignore); break;
        case 5: fuzz_segments(ctx, &in, nan_ignore); break;
        case 6: fuzz_model(&in); break;
        default: fuzz_settings(ctx, &in); left = 0; /* they may have changed */
        }
    }
    operand_fetch(&workspace);
    FUZZ_CHECK(operand_intact(&workspace), "bytes beside the workspace were written");
    tilemm_set_workspace(ctx, NULL, 0);
    return 0;
}
