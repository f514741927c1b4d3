/* spread.c - see spread.h. Which process has what is found here by walking blocks one by one,
 * another way than the library does.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "spread.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/program.h"

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

place_t spread_place(MPI_Comm comm, int rows, int cols, tilemm_t ctx)
{
    place_t place = {.grid = NULL};
    if (tilemm_grid_create(&place.grid, comm, rows, cols, ctx) != TILEMM_SUCCESS)
        test_give_up(tilemm_last_error(ctx));
    tilemm_grid_get(place.grid, &place.rows, &place.cols, &place.row, &place.col);
    return place;
}

/* A descriptor's numbers, of rows (side 0) or columns. */
typedef struct {
    int64_t n, first, block;
    int source;
} side_t;

static side_t side_of(const spread_t *x, int side)
{
    const int *d = x->desc;
    return d[0] == 1 ? (side_t){d[2 + side], d[4 + side], d[4 + side], d[6 + side]}
                     : (side_t){d[2 + side], d[4 + side], d[6 + side], d[8 + side]};
}

/* Which lines of the whole process `me` has. */
static int64_t *lines_of(side_t s, int procs, int me, int64_t count)
{
    int64_t *const lines = test_need(malloc((size_t)(count + 1) * sizeof *lines));
    int64_t local = 0;
    int owner = s.source;
    for (int64_t at = 0, size = least(s.first, s.n); at < s.n;
         at += size, size = least(s.block, s.n - at), owner = (owner + 1) % procs)
        for (int64_t i = at; owner == me && i < at + size; i++)
            lines[local++] = i;
    return lines;
}

static int64_t count_of(side_t s, int procs, int me)
{
    int64_t count = 0;
    int owner = s.source;
    for (int64_t at = 0, size = least(s.first, s.n); at < s.n;
         at += size, size = least(s.block, s.n - at), owner = (owner + 1) % procs)
        count += owner == me ? size : 0;
    return count;
}

int spread_inside(const spread_t *x, int64_t i, int64_t j)
{
    return i >= x->i && i < x->i + x->rows && j >= x->j && j < x->j + x->cols;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u; /* splitmix64's */
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

float spread_value(const spread_t *x, int64_t i, int64_t j)
{
    const uint64_t bits = mix(x->seed + mix((uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)j));
    return (float)((double)(bits >> 40) / (1 << 23) - 1.0);
}

/* What lies past the local rows. */
static float filler(int64_t index)
{
    return (float)(index % 1000) + 0.5f;
}

static void measure(spread_t *x, const place_t *place, int64_t more)
{
    x->local_rows = place->row < 0 ? 0 : count_of(side_of(x, 0), place->rows, place->row);
    x->local_cols = place->row < 0 ? 0 : count_of(side_of(x, 1), place->cols, place->col);
    x->ld = (x->local_rows > 0 ? x->local_rows : 1) + more;
    x->desc[x->desc[0] == 1 ? 8 : 10] = (int)x->ld;
}

spread_t spread_random(rng_t *rng, const place_t *place, int64_t rows, int64_t cols, int most_block)
{
    spread_t x = {.rows = rows, .cols = cols, .seed = rng_bits(rng)};
    const int whole = rng_range(rng, 0, 2) == 0;
    x.i = whole ? 0 : rng_range(rng, 0, 40);
    x.j = whole ? 0 : rng_range(rng, 0, 40);
    x.m = x.i + rows + (whole ? 0 : rng_range(rng, 0, 20));
    x.n = x.j + cols + (whole ? 0 : rng_range(rng, 0, 20));
    const int mb = (int)rng_range(rng, 1, most_block), nb = (int)rng_range(rng, 1, most_block);
    const int rsrc = (int)rng_range(rng, 0, place->rows - 1);
    const int csrc = (int)rng_range(rng, 0, place->cols - 1);
    const int imb = (int)rng_range(rng, 1, most_block), inb = (int)rng_range(rng, 1, most_block);
    const int type = (int)rng_range(rng, 1, 2);
    const int one[9] = {1, 7, (int)x.m, (int)x.n, mb, nb, rsrc, csrc, 0};
    const int two[11] = {2, 7, (int)x.m, (int)x.n, imb, inb, mb, nb, rsrc, csrc, 0};
    memcpy(x.desc, type == 1 ? one : two, type == 1 ? sizeof one : sizeof two);
    /* Each process its own leading dimension. */
    const int64_t more = rng_range(rng, 0, 5);
    measure(&x, place, place->row < 0 ? 0 : (more + place->row + 2 * place->col) % 6);
    return x;
}

spread_t spread_plain(const place_t *place, int64_t rows, int64_t cols, int mb, int nb,
                      uint64_t seed)
{
    spread_t x = {.rows = rows, .cols = cols, .m = rows, .n = cols, .seed = seed};
    const int desc[9] = {1, 0, (int)rows, (int)cols, mb, nb, 0, 0, 0};
    memcpy(x.desc, desc, sizeof desc);
    measure(&x, place, 0);
    return x;
}

void spread_fill(spread_t *x, const place_t *place)
{
    x->part = test_need(malloc((size_t)(x->ld * x->local_cols + 1) * sizeof *x->part));
    x->row_of = lines_of(side_of(x, 0), place->rows, place->row, x->local_rows);
    x->col_of = lines_of(side_of(x, 1), place->cols, place->col, x->local_cols);
    for (int64_t c = 0; c < x->local_cols; c++) {
        const int64_t j = x->col_of[c];
        for (int64_t r = 0; r < x->ld; r++)
            x->part[r + c * x->ld] =
                r < x->local_rows ? spread_value(x, x->row_of[r], j) : filler(r + c * x->ld);
    }
}

void spread_free(spread_t *x)
{
    free(x->part);
    free(x->row_of);
    free(x->col_of);
    x->part = NULL;
    x->row_of = x->col_of = NULL;
}

int spread_untouched(const spread_t *x)
{
    for (int64_t c = 0; c < x->local_cols; c++) {
        const int64_t j = x->col_of[c];
        for (int64_t r = 0; r < x->ld; r++) {
            const float is = x->part[r + c * x->ld];
            const int64_t i = r < x->local_rows ? x->row_of[r] : -1;
            if (i < 0 ? is != filler(r + c * x->ld)
                      : !spread_inside(x, i, j) && is != spread_value(x, i, j))
                return 0;
        }
    }
    return 1;
}

uint64_t spread_digest(const spread_t *x)
{
    uint64_t sum = 0;
    for (int64_t c = 0; c < x->local_cols; c++) {
        const int64_t j = x->col_of[c];
        for (int64_t r = 0; r < x->local_rows; r++) {
            const int64_t i = x->row_of[r];
            uint32_t bits;
            memcpy(&bits, &x->part[r + c * x->ld], sizeof bits);
            if (spread_inside(x, i, j))
                sum += mix((uint64_t)((i - x->i) * x->cols + j - x->j) << 32 | bits);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}
