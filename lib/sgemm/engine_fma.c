/* engine_fma.c - panels of floats, multiplied by the instruction set's tile.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include "lib/size.h"

typedef tilemm__sgemm_product_t product_t;
typedef tilemm__sgemm_block_t block_t;

/* Whether `count` columns can be read as vectors where they lie. */
static int is_direct(const product_t *x, int64_t count)
{
    return x->plan->direct && (x->tile->masks || count == x->tile->nr || count == x->tile->vector);
}

/* Panel number q of Ms, and of Ns, of k steps each. */
static float *ms_at(const product_t *x, int64_t q, int64_t k)
{
    return (float *)(void *)x->ms + q * x->tile->mr * k;
}

static float *ns_at(const product_t *x, int64_t q, int64_t k)
{
    return (float *)(void *)x->ns + q * x->tile->nr * k;
}

static void pack_ms(const product_t *x, const block_t *at, int64_t first, int64_t end)
{
    const int64_t mr = x->tile->mr;
    if (x->plan->in_place)
        return;
    for (int64_t q = first; q < end; q++)
        x->tile->pack_ms(at->k, (int)tilemm__min(mr, at->m - q * mr),
                         tilemm__sgemm_a_at(x, at->i + q * mr, at->p), x->lda, x->a_along_k,
                         ms_at(x, q, at->k));
}

/* Where B is read directly, a last panel that is not whole vectors lies first. */
static void pack_ns(const product_t *x, const block_t *at, int64_t first, int64_t end)
{
    const int64_t nr = x->tile->nr;
    if (x->plan->direct) {
        if (is_direct(x, at->n - (end - 1) * nr))
            return;
        first = end - 1;
    }
    for (int64_t q = first; q < end; q++)
        x->tile->pack_ns(at->k, (int)tilemm__min(nr, at->n - q * nr),
                         tilemm__sgemm_b_at(x, at->p, at->j + q * nr), x->ldb, x->b_along_k,
                         ns_at(x, x->plan->direct ? 0 : q, at->k));
}

/* Where a block of k is a part of a chain: the sum of row i and column j of a block. */
static float *chain_at(const product_t *x, const block_t *at, int64_t i, int64_t j)
{
    return (float *)(void *)x->ms + (at->i + i) * x->plan->n_panel + j;
}

/* Chains that are done are added to C, or become C. */
static void add_chains(const product_t *x, const block_t *at, int64_t i0, int64_t m, int64_t j0,
                       int64_t n)
{
    const float one = 1;
    for (int64_t i = i0; i < i0 + m; i++) {
        const float *const from = chain_at(x, at, i, j0);
        float *const c = x->c + (at->i + i) * x->rs_c + (at->j + j0) * x->cs_c;
        if (at->p < x->plan->chain)
            for (int64_t j = 0; j < n; j++)
                c[j * x->cs_c] = from[j];
        else if (x->cs_c == 1)
            x->tile->times_vector(1, n, &one, from, n, 0, c);
        else
            for (int64_t j = 0; j < n; j++)
                c[j * x->cs_c] += from[j];
    }
}

/* Ns panels, and for each of them Ms panels, a tile each. */
static void multiply(const product_t *x, const block_t *at, int64_t i0, int64_t j0)
{
    const int64_t mr = x->tile->mr, nr = x->tile->nr;
    const int64_t j1 = tilemm__min(at->n, j0 + x->plan->n_part);
    tilemm__sgemm_strip_t strip = {
        .k = at->k,
        .chain = x->plan->chain,
        .ms = ms_at(x, i0 / mr, at->k),
        .row_ms = at->k,
        .ld_ms = mr,
        .m = tilemm__min(at->m - i0, x->plan->m_part),
        .rows = (int)mr,
        .alpha = x->alpha,
        .beta = tilemm__sgemm_beta(x, at),
        .rs_c = x->rs_c,
        .cs_c = x->cs_c,
    };
    if (x->plan->in_place) {
        /* Of one height; and not too many rows: lines far apart may all be of one set of L1, and
         * short ones end before they are followed. */
        enum { SHORT = 32, FEW = 6, SOME = 8, MANY = 12 };
        const int is_tall = at->n <= x->tile->vector;
        const int rows = is_tall ? MANY : at->k <= SHORT ? FEW : SOME;
        const int64_t most =
            x->plan->direct ? mr : tilemm__min(is_tall ? x->tile->tall : x->tile->mr, rows);
        strip.ms = tilemm__sgemm_a_at(x, at->i + i0, at->p);
        strip.row_ms = x->a_along_k ? x->lda : 1;
        strip.ld_ms = x->lda;
        strip.along_k = x->a_along_k;
        strip.rows = (int)tilemm__div_up(strip.m, tilemm__div_up(strip.m, most));
    }
    const int chains = tilemm__sgemm_cpu_keeps_chains(x->plan);
    if (x->plan->in_order && at->p > 0 && at->k > strip.chain) {
        strip.c_first = 1;
        strip.beta = 0;
    }
    if (chains) {
        strip.goes_on = at->p % x->plan->chain != 0;
        strip.beta = 0;
        strip.rs_c = x->plan->n_panel;
        strip.cs_c = 1;
    }
    for (int64_t j = j0; j < j1; j += nr) {
        strip.n = (int)tilemm__min(nr, at->n - j);
        strip.ns = ns_at(x, x->plan->direct ? 0 : j / nr, at->k);
        strip.ld_ns = nr;
        strip.ahead = 64 * nr; /* Ns comes from L3 */
        strip.c =
            chains ? chain_at(x, at, i0, j) : x->c + (at->i + i0) * x->rs_c + (at->j + j) * x->cs_c;
        if (is_direct(x, strip.n)) {
            strip.ns = x->b + at->p * x->ldb + at->j + j;
            strip.ld_ns = x->ldb;
            /* A stream goes along the rows of B, whose pages the tile is in already. */
            strip.ahead = x->plan->stream ? TILEMM__SGEMM_STREAM_AHEAD : 8 * x->ldb;
        } else if (chains) {
            strip.n = (int)nr; /* packed, and so are its chains */
        }
        x->tile->strip(&strip);
    }
    if (chains && ((at->p + at->k) % x->plan->chain == 0 || at->p + at->k == x->k))
        add_chains(x, at, i0, strip.m, j0, j1 - j0);
}

const tilemm__sgemm_engine_t tilemm__sgemm_engine_fma = {pack_ms, pack_ns, multiply};
