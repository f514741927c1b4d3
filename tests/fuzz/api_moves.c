/* api_moves.c - fuzz target of the API: transposes, scaled copies and the memory model.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "api.h"

enum { PLAIN, STRIDED, IN_PLACE, COPY, COPY_IN_PLACE };
enum { ROWS, COLS, LD_SRC, LD_DST, NULL_SRC, NULL_DST, SIZE, BATCH, STRIDE_SRC, STRIDE_DST };
enum { LAYOUT = SIZE, TRANS }; /* of copies, in their place */

/* The call in row-major terms. */
typedef struct {
    int how, in_place, scaled, trans;
    int64_t rows, cols, out_rows, out_cols, ld_src, ld_dst, batch, stride_src, stride_dst;
    size_t size;
    float alpha;
    int64_t first_src, first_dst;
} moves_t;

static moves_t moves_of(int how, const call_t *c, float alpha)
{
    const int scaled = how >= COPY, swap = scaled && c->v[LAYOUT] == TILEMM_COL_MAJOR;
    moves_t m = {.how = how,
                 .in_place = how == IN_PLACE || how == COPY_IN_PLACE,
                 .scaled = scaled,
                 .trans = !scaled || c->v[TRANS] == TILEMM_TRANS,
                 .rows = c->v[swap ? COLS : ROWS],
                 .cols = c->v[swap ? ROWS : COLS],
                 .ld_src = c->v[LD_SRC],
                 .ld_dst = c->v[LD_DST],
                 .batch = how == STRIDED ? c->v[BATCH] : 1,
                 .stride_src = how == STRIDED ? c->v[STRIDE_SRC] : 0,
                 .stride_dst = how == STRIDED ? c->v[STRIDE_DST] : 0,
                 .size = scaled ? sizeof(float) : (size_t)c->v[SIZE],
                 .alpha = alpha};
    m.out_rows = m.trans ? m.cols : m.rows;
    m.out_cols = m.trans ? m.rows : m.cols;
    return m;
}

static verdict_t judge(const moves_t *m, const call_t *c)
{
    const size_t s = m->size;
    const int nothing = !m->rows || !m->cols || !m->batch;
    if ((m->scaled && ((c->v[LAYOUT] != TILEMM_ROW_MAJOR && c->v[LAYOUT] != TILEMM_COL_MAJOR) ||
                       (c->v[TRANS] != TILEMM_NO_TRANS && c->v[TRANS] != TILEMM_TRANS))) ||
        (s != 1 && s != 2 && s != 4 && s != 8 && s != 16) || m->rows < 0 || m->cols < 0 ||
        m->batch < 0 || m->ld_src < 1 || m->ld_src < m->cols || m->ld_dst < 1 ||
        m->ld_dst < m->out_cols)
        return REFUSED;
    const int reads = !nothing && (!m->scaled || m->alpha != 0);
    use_t src = {reads,         c->v[m->in_place ? NULL_DST : NULL_SRC] != 0,
                 m->rows,       m->cols,
                 m->ld_src,     m->batch,
                 m->stride_src, s,
                 m->first_src};
    const use_t dst = {!nothing, c->v[NULL_DST] != 0, m->out_rows, m->out_cols, m->ld_dst,
                       m->batch, m->stride_dst,       s,           m->first_dst};
    const operand_t *from = &operands[m->in_place ? 1 : 0];
    verdict_t verdict = worst(judge_use(&src, from), judge_use(&dst, &operands[1]));
    src.is_used = !nothing && m->in_place; /* the memory must hold both */
    if (verdict == DONE && judge_use(&src, from) != DONE)
        verdict = BEYOND;
    if (verdict != DONE || nothing || m->batch == 1)
        return verdict;
    const int64_t all = matrix_span(TILEMM_ROW_MAJOR, m->out_rows, m->out_cols,
                                    m->ld_dst); /* results must not overlap */
    return m->stride_dst < all && -m->stride_dst < all ? BEYOND : DONE;
}

/* src and dst: where the first matrices begin. */
static tilemm_status_t run(tilemm_t ctx, const moves_t *m, const call_t *c, const void *src,
                           void *dst)
{
    const int64_t *v = c->v;
    const tilemm_layout_t layout = (tilemm_layout_t)v[LAYOUT];
    const tilemm_op_t trans = (tilemm_op_t)v[TRANS];
    src = v[NULL_SRC] ? NULL : src;
    dst = v[NULL_DST] ? NULL : dst;
    switch (m->how) {
    case PLAIN:
        return tilemm_transpose(ctx, v[ROWS], v[COLS], m->size, src, v[LD_SRC], dst, v[LD_DST]);
    case STRIDED:
        return tilemm_transpose_strided_batched(ctx, v[ROWS], v[COLS], m->size, src, v[LD_SRC],
                                                v[STRIDE_SRC], dst, v[LD_DST], v[STRIDE_DST],
                                                v[BATCH]);
    case IN_PLACE:
        return tilemm_transpose_inplace(ctx, v[ROWS], v[COLS], m->size, dst, v[LD_SRC], v[LD_DST]);
    case COPY:
        return tilemm_somatcopy(ctx, layout, trans, v[ROWS], v[COLS], m->alpha, src, v[LD_SRC], dst,
                                v[LD_DST]);
    default:
        return tilemm_simatcopy(ctx, layout, trans, v[ROWS], v[COLS], m->alpha, dst, v[LD_SRC],
                                v[LD_DST]);
    }
}

static int is_moved(const moves_t *m, const unsigned char *x, const unsigned char *y)
{
    float from, to;
    if (!m->scaled || m->alpha == 1)
        return memcmp(x, y, m->size) == 0;
    memcpy(&to, y, sizeof to);
    if (m->alpha == 0) /* x is not read, and need not be there */
        return to == 0;
    memcpy(&from, x, sizeof from);
    return m->alpha * from == to || (from != from && to != to);
}

static void check_moved(tilemm_t ctx, const moves_t *m, const call_t *c)
{
    const operand_t *from = &operands[m->in_place ? 1 : 0];
    const unsigned char *src = (const unsigned char *)from->sent, *dst = operands[1].image;
    const int reads = !m->scaled || m->alpha != 0;
    for (int64_t b = 0; b < m->batch; b++)
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < m->cols; j++) {
                const int64_t in = reads ? m->first_src + b * m->stride_src + i * m->ld_src + j : 0;
                const int64_t out = m->first_dst + b * m->stride_dst +
                                    (m->trans ? j * m->ld_dst + i : i * m->ld_dst + j);
                FUZZ_CHECK(is_moved(m, src + in * (int64_t)m->size, dst + out * (int64_t)m->size),
                           "%s: matrix %lld, (%lld, %lld)", text_of(ctx, c), (long long)b,
                           (long long)i, (long long)j);
            }
}

/* Room for all matrices; the element at which the first begins. */
static int64_t place_all(bytes_t *in, int which, int64_t span, int64_t batch, size_t size,
                         int64_t *stride, int may_repeat)
{
    const int kind = batch == 1 ? 0 : next(in, 4);
    const int64_t step = kind == 3 && may_repeat ? 0 : span + kind % 2;
    const int64_t rest = step * (batch > 0 ? batch - 1 : 0);
    place(in, &operands[which], span + rest, size);
    for (size_t i = 0; i < operands[which].bytes; i++)
        operands[which].image[i] = (unsigned char)rng_bits(&in->rng);
    if (size == sizeof(float) && next(in, 2))
        fill(in, &operands[which]);
    operand_send(&operands[which]);
    *stride = kind == 2 ? -step : step;
    return kind == 2 ? rest : 0;
}

void fuzz_transpose(tilemm_t ctx, bytes_t *in)
{
    static const char *const names[] = {"transpose", "transpose_strided_batched",
                                        "transpose_inplace", "somatcopy", "simatcopy"};
    static const int counts[] = {SIZE + 1, STRIDE_DST + 1, SIZE + 1, TRANS + 1, TRANS + 1};
    static const float alphas[] = {1, 0, -1, 2.5f};
    const int how = next(in, 5);
    const float alpha = alphas[next(in, 4)];
    call_t call = {names[how], {next_size(in, 120), next_size(in, 120)}, counts[how], -1};
    if (how >= COPY) {
        call.v[LAYOUT] = next_layout(in);
        call.v[TRANS] = next_op(in);
    } else {
        call.v[SIZE] = 1 << next(in, 5);
        call.v[BATCH] = how == STRIDED ? next(in, 5) : 1;
    }
    moves_t m = moves_of(how, &call, alpha);
    call.v[LD_SRC] = matrix_ld(TILEMM_ROW_MAJOR, m.rows, m.cols) + next(in, 3);
    call.v[LD_DST] = matrix_ld(TILEMM_ROW_MAJOR, m.out_rows, m.out_cols) + next(in, 3);
    const int64_t spans[] = {matrix_span(TILEMM_ROW_MAJOR, m.rows, m.cols, call.v[LD_SRC]),
                             matrix_span(TILEMM_ROW_MAJOR, m.out_rows, m.out_cols, call.v[LD_DST])};
    int64_t first[2] = {0}, strides[2] = {0};
    if (m.in_place) {
        place_all(in, 1, spans[spans[1] > spans[0]], 1, m.size, &strides[1], 0);
    } else {
        first[0] = place_all(in, 0, spans[0], m.batch, m.size, &strides[0], 1);
        first[1] = place_all(in, 1, spans[1], m.batch, m.size, &strides[1], 0);
    }
    if (how == STRIDED) {
        call.v[STRIDE_SRC] = strides[0];
        call.v[STRIDE_DST] = strides[1];
    }
    const char *src = (const char *)operands[0].pointer + first[0] * (int64_t)m.size;
    char *dst = (char *)operands[1].pointer + first[1] * (int64_t)m.size;
    const size_t size = m.size;
    spoil(in, &call);
    m = moves_of(how, &call, alpha);
    m.first_src = first[0];
    m.first_dst = first[1];
    const verdict_t verdict = judge(&m, &call);
    if (verdict == BEYOND || (verdict == DONE && m.size != size)) /* which has other places */
        return;
    check_status(ctx, &call, run(ctx, &m, &call, src, dst), verdict);
    if (verdict != DONE || !m.rows || !m.cols || !m.batch)
        return;
    for (int64_t b = 0; b < m.batch; b++)
        matrix_own(&operands[1], m.size, first[1] + b * m.stride_dst, TILEMM_ROW_MAJOR, m.out_rows,
                   m.out_cols, m.ld_dst);
    if (m.in_place)
        matrix_own(&operands[1], m.size, 0, TILEMM_ROW_MAJOR, m.rows, m.cols, m.ld_src);
    check_operands(&call);
    check_moved(ctx, &m, &call);
}

/* The functions agree on what is an access, and on its cost. */
void fuzz_model(bytes_t *in)
{
    tilemm_warp_access_t access = {1 << next(in, 6), UINT32_MAX, {0}};
    const int cc = next(in, 256), step = next(in, 9), is_store = next(in, 2), l1 = next(in, 2);
    const uint64_t base = next(in, 8) ? (uint64_t)next(in, 256) * 4 : UINT64_MAX - 300;
    if (next(in, 4) == 0)
        access.active = (uint32_t)rng_bits(&in->rng);
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] =
            base + (uint64_t)((step < 6 ? lane * step : next(in, 64)) * access.elem_bytes) +
            (next(in, 100) == 99);
    char message[200];
    tilemm_shared_cost_t cost, load;
    tilemm_global_cost_t global;
    tilemm_bank_use_t uses[TILEMM_MODEL_MOST_USES];
    tilemm_transaction_t moved[32];
    int use_count, moved_count;
    const tilemm_status_t status = tilemm_model_check(cc, &access, message, sizeof message);
    FUZZ_CHECK(tilemm_model_shared(cc, &access, &cost) == status &&
                   tilemm_model_shared_load(cc, &access, &load) == status &&
                   tilemm_model_global(cc, l1, is_store, &access, &global) == status &&
                   tilemm_model_banks(cc, is_store, &access, uses, &use_count) == status &&
                   tilemm_model_transactions(cc, l1, is_store, &access, moved, &moved_count) ==
                       status &&
                   (status == TILEMM_SUCCESS) == !*message,
               "cc %d: %s", cc, message);
    if (status != TILEMM_SUCCESS)
        return;
    FUZZ_CHECK(cost.conflicts == cost.wavefronts - cost.ideal && cost.conflicts >= 0 &&
                   load.wavefronts <= cost.wavefronts,
               "cc %d: %d wavefronts, %d ideal, %d conflicts", cc, cost.wavefronts, cost.ideal,
               cost.conflicts);
    FUZZ_CHECK(use_count >= 0 && use_count <= TILEMM_MODEL_MOST_USES && moved_count >= 0 &&
                   moved_count <= 32 && moved_count == global.transactions,
               "cc %d: %d uses, %d transactions", cc, use_count, moved_count);
    const tilemm_tile_access_t walk = {1 << next(in, 7), 1 << next(in, 7), 1 << next(in, 5)};
    tilemm_tile_layout_t best;
    const int rows = next(in, 40), cols = next(in, 40), swizzle = next(in, 2);
    if (tilemm_model_best_padding(cc, rows, cols, access.elem_bytes, &walk, 1, swizzle, &best) ==
        TILEMM_SUCCESS)
        FUZZ_CHECK(best.pitch >= cols && best.conflicts >= 0 &&
                       tilemm_model_tile_index(&best, rows - 1, 0) < (int64_t)rows * best.pitch,
                   "cc %d: tile of %d x %d", cc, rows, cols);
}
