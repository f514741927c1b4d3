/* api_reduce.c - fuzz target of the API: reductions, bit for bit.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "api.h"
#include "tests/support/reduction.h"

enum { MOST = 3000 };

/* Element i of these, for any op: contiguous. */
static float gathered[2][MOST];

static int is_wrong_increment(int64_t inc)
{
    return inc == 0 || inc == INT64_MIN;
}

static void check_value(tilemm_t ctx, const call_t *call, int op, int nan_ignore, int64_t n,
                        float got, int64_t at)
{
    const float want = reduce_exact_bits(op, nan_ignore, n, gathered[0], gathered[1]);
    FUZZ_CHECK(float_bits(got) == float_bits(want), "%s: result %lld is %.9g, not %.9g",
               text_of(ctx, call), (long long)at, (double)got, (double)want);
}

static void check_index(tilemm_t ctx, const call_t *call, int op, int nan_ignore, int64_t n,
                        int64_t got, int64_t at)
{
    const int64_t want = reduce_index(op, nan_ignore, n, gathered[0]);
    FUZZ_CHECK(got == want, "%s: index %lld is %lld, not %lld", text_of(ctx, call), (long long)at,
               (long long)got, (long long)want);
}

void fuzz_vector(tilemm_t ctx, bytes_t *in, int nan_ignore)
{
    enum { N, INC_X, INC_Y, NULL_X, NULL_Y, NULL_RESULT };
    static const struct {
        const char *name;
        int op;
        tilemm_status_t (*value)(tilemm_t, int64_t, const float *, int64_t, float *);
        tilemm_status_t (*index)(tilemm_t, int64_t, const float *, int64_t, int64_t *);
    } functions[] = {
        {"ssum", TILEMM_SUM, tilemm_ssum, NULL},      {"sasum", TILEMM_ASUM, tilemm_sasum, NULL},
        {"snrm2", TILEMM_NRM2, tilemm_snrm2, NULL},   {"smax", TILEMM_MAX, tilemm_smax, NULL},
        {"smin", TILEMM_MIN, tilemm_smin, NULL},      {"isamax", TILEMM_AMAX, NULL, tilemm_isamax},
        {"isamin", TILEMM_AMIN, NULL, tilemm_isamin}, {"ismax", TILEMM_MAX, NULL, tilemm_ismax},
        {"ismin", TILEMM_MIN, NULL, tilemm_ismin},    {"sdot", REDUCE_DOT, NULL, NULL}};
    const int which = next(in, 10), op = functions[which].op, dot = op == REDUCE_DOT;
    call_t call = {functions[which].name, {0}, NULL_RESULT + 1, -1};
    int64_t *v = call.v;
    v[N] = next_size(in, MOST);
    for (int i = 0; i < 2; i++) {
        v[INC_X + i] = next(in, 2) ? 1 : next(in, 3) + 1;
        place(in, &operands[i], v[N] ? (v[N] - 1) * v[INC_X + i] + 1 : 0, sizeof(float));
        fill(in, &operands[i]);
        if (next(in, 4) == 0)
            v[INC_X + i] = -v[INC_X + i];
    }
    place(in, &operands[2], 1, sizeof(int64_t));
    spoil(in, &call);
    const int64_t n = v[N];
    const use_t x = {n > 0, v[NULL_X] != 0, n, 1, v[INC_X], 1, 0, sizeof(float), 0};
    const use_t y = {n > 0 && dot, v[NULL_Y] != 0, n, 1, v[INC_Y], 1, 0, sizeof(float), 0};
    verdict_t verdict = v[NULL_RESULT] ? REFUSED : DONE;
    if (n < 0 || is_wrong_increment(v[INC_X]) || (dot && is_wrong_increment(v[INC_Y])))
        verdict = REFUSED;
    else
        verdict = worst(verdict, worst(judge_use(&x, &operands[0]), judge_use(&y, &operands[1])));
    if (verdict == BEYOND)
        return;
    const float *px = v[NULL_X] ? NULL : operands[0].pointer;
    const float *py = v[NULL_Y] ? NULL : operands[1].pointer;
    void *result = v[NULL_RESULT] ? NULL : operands[2].pointer;
    check_status(ctx, &call,
                 dot                      ? tilemm_sdot(ctx, n, px, v[INC_X], py, v[INC_Y], result)
                 : functions[which].index ? functions[which].index(ctx, n, px, v[INC_X], result)
                                          : functions[which].value(ctx, n, px, v[INC_X], result),
                 verdict);
    if (verdict != DONE)
        return;
    operand_own(&operands[2], 0, functions[which].index ? sizeof(int64_t) : sizeof(float));
    check_operands(&call);
    for (int i = 0; i < 1 + dot; i++)
        for (int64_t j = 0; j < n; j++)
            gathered[i][j] = operands[i].numbers[vector_at(n, j, v[INC_X + i])];
    if (functions[which].index) {
        int64_t index;
        memcpy(&index, operands[2].image, sizeof index);
        check_index(ctx, &call, op, nan_ignore, n, index, 0);
    } else {
        check_value(ctx, &call, op, nan_ignore, n, operands[2].numbers[0], 0);
    }
}

enum { OP, AXIS, LAYOUT, ROWS, COLS, LDA, INC_OUT, NULL_A, NULL_OUT, NULL_INDEX };

static verdict_t judge_axis(const int64_t *v, int arg, int64_t n, int64_t count)
{
    const int row_major = v[LAYOUT] == TILEMM_ROW_MAJOR;
    const int64_t lines = row_major ? v[ROWS] : v[COLS], width = row_major ? v[COLS] : v[ROWS];
    if (v[OP] < (arg ? TILEMM_MAX : TILEMM_SUM) || v[OP] > TILEMM_AMIN ||
        (v[AXIS] != TILEMM_AXIS_ROWS && v[AXIS] != TILEMM_AXIS_COLS) ||
        (!row_major && v[LAYOUT] != TILEMM_COL_MAJOR) || v[ROWS] < 0 || v[COLS] < 0 || v[LDA] < 1 ||
        v[LDA] < width || is_wrong_increment(v[INC_OUT]))
        return REFUSED;
    const use_t a = {
        n > 0 && count > 0, v[NULL_A] != 0, lines, width, v[LDA], 1, 0, sizeof(float), 0};
    const use_t out = {count > 0, v[NULL_OUT] && !arg, count, 1, v[INC_OUT], 1,
                       0,         sizeof(float),       0};
    const use_t index = {
        count > 0 && arg, v[NULL_INDEX] != 0, count, 1, v[INC_OUT], 1, 0, sizeof(int64_t), 0};
    return worst(judge_use(&a, &operands[0]),
                 worst(judge_use(&out, &operands[1]), judge_use(&index, &operands[2])));
}

void fuzz_axis(tilemm_t ctx, bytes_t *in, int nan_ignore)
{
    const int arg = next(in, 2);
    call_t call = {arg ? "sargreduce" : "sreduce", {0}, arg ? NULL_INDEX + 1 : NULL_OUT + 1, -1};
    int64_t *v = call.v;
    v[OP] = arg ? TILEMM_MAX + next(in, 4) : next(in, 9);
    v[AXIS] = next(in, 2);
    v[LAYOUT] = next_layout(in);
    v[ROWS] = next_size(in, 200);
    v[COLS] = next_size(in, 200);
    v[LDA] = matrix_ld((tilemm_layout_t)v[LAYOUT], v[ROWS], v[COLS]) + next(in, 3);
    v[INC_OUT] = next(in, 3) + 1;
    int64_t count = v[AXIS] == TILEMM_AXIS_ROWS ? v[COLS] : v[ROWS];
    place(in, &operands[0], matrix_span((tilemm_layout_t)v[LAYOUT], v[ROWS], v[COLS], v[LDA]),
          sizeof(float));
    fill(in, &operands[0]);
    place(in, &operands[1], count ? (count - 1) * v[INC_OUT] + 1 : 0, sizeof(float));
    place(in, &operands[2], count ? (count - 1) * v[INC_OUT] + 1 : 0, sizeof(int64_t));
    if (next(in, 4) == 0)
        v[INC_OUT] = -v[INC_OUT];
    spoil(in, &call);
    for (int i = OP; i <= LAYOUT; i++)
        v[i] = (int)v[i];
    const int down = v[AXIS] == TILEMM_AXIS_ROWS;
    const int64_t n = v[down ? ROWS : COLS];
    count = v[down ? COLS : ROWS];
    const verdict_t verdict = judge_axis(v, arg, n, count);
    if (verdict == BEYOND)
        return;
    const float *a = v[NULL_A] ? NULL : operands[0].pointer;
    float *out = v[NULL_OUT] ? NULL : operands[1].pointer;
    int64_t *index = v[NULL_INDEX] ? NULL : operands[2].pointer;
    const tilemm_reduce_t op = (tilemm_reduce_t)v[OP];
    const tilemm_layout_t layout = (tilemm_layout_t)v[LAYOUT];
    const tilemm_axis_t axis = (tilemm_axis_t)v[AXIS];
    check_status(
        ctx, &call,
        arg ? tilemm_sargreduce(ctx, op, axis, layout, v[ROWS], v[COLS], a, v[LDA], out, v[INC_OUT],
                                index)
            : tilemm_sreduce(ctx, op, axis, layout, v[ROWS], v[COLS], a, v[LDA], out, v[INC_OUT]),
        verdict);
    if (verdict != DONE)
        return;
    for (int64_t i = 0; i < count; i++) {
        const size_t at = (size_t)vector_at(count, i, v[INC_OUT]);
        if (out)
            operand_own(&operands[1], at * sizeof(float), sizeof(float));
        if (arg)
            operand_own(&operands[2], at * sizeof(int64_t), sizeof(int64_t));
    }
    check_operands(&call);
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = vector_at(count, i, v[INC_OUT]);
        for (int64_t j = 0; j < n; j++)
            gathered[0][j] =
                operands[0].numbers[matrix_at(layout, down ? j : i, down ? i : j, v[LDA])];
        if (out)
            check_value(ctx, &call, (int)op, nan_ignore, n, operands[1].numbers[at], i);
        if (arg) {
            int64_t got;
            memcpy(&got, operands[2].image + at * (int64_t)sizeof got, sizeof got);
            check_index(ctx, &call, (int)op, nan_ignore, n, got, i);
        }
    }
}

void fuzz_segments(tilemm_t ctx, bytes_t *in, int nan_ignore)
{
    enum { OP, SEGMENTS, NULL_X, NULL_OFFSETS, NULL_OUT, ONE_OFFSET };
    call_t call = {"sreduce_segments", {next(in, 9), next_size(in, 100)}, ONE_OFFSET + 1, -1};
    int64_t *v = call.v, offsets[101] = {0}, elements = next(in, 9);
    const int64_t segments = v[SEGMENTS], which = next(in, (int)segments + 1);
    for (int64_t s = 0; s <= segments; s++)
        offsets[s] = elements += next(in, 3) ? next(in, 6) : 0;
    place(in, &operands[0], elements, sizeof(float));
    fill(in, &operands[0]);
    v[ONE_OFFSET] = offsets[which];
    spoil(in, &call);
    v[OP] = (int)v[OP];
    offsets[which] = v[ONE_OFFSET];
    place(in, &operands[1], segments + 1, sizeof *offsets);
    memcpy(operands[1].image, offsets, sizeof *offsets * (size_t)(segments + 1));
    operand_send(&operands[1]);
    place(in, &operands[2], segments, sizeof(float));
    int is_wrong = v[OP] < TILEMM_SUM || v[OP] > TILEMM_AMIN || v[SEGMENTS] < 0;
    if (v[SEGMENTS] > segments)
        return;
    if (!is_wrong && v[SEGMENTS] > 0) {
        const int64_t last = offsets[v[SEGMENTS]];
        is_wrong = v[NULL_OFFSETS] || v[NULL_OUT] || offsets[0] < 0 ||
                   last > PTRDIFF_MAX / (int64_t)sizeof(float) || (v[NULL_X] && last > offsets[0]);
        for (int64_t s = 0; s < v[SEGMENTS]; s++)
            is_wrong |= offsets[s + 1] < offsets[s];
        if (!is_wrong && last > elements && last > offsets[0])
            return;
    }
    check_status(ctx, &call,
                 tilemm_sreduce_segments(ctx, (tilemm_reduce_t)v[OP], v[SEGMENTS],
                                         v[NULL_X] ? NULL : operands[0].pointer,
                                         v[NULL_OFFSETS] ? NULL : operands[1].pointer,
                                         v[NULL_OUT] ? NULL : operands[2].pointer),
                 is_wrong ? REFUSED : DONE);
    if (is_wrong)
        return;
    operand_own(&operands[2], 0, sizeof(float) * (size_t)v[SEGMENTS]);
    check_operands(&call);
    for (int64_t s = 0; s < v[SEGMENTS]; s++) {
        const int64_t n = offsets[s + 1] - offsets[s];
        memcpy(gathered[0], operands[0].numbers + (n ? offsets[s] : 0), sizeof(float) * (size_t)n);
        check_value(ctx, &call, (int)v[OP], nan_ignore, n, operands[2].numbers[s], s);
    }
}
