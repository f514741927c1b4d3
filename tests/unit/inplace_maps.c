/* inplace_maps.c - the index maps of in-place transposition, by brute force over small shapes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/transpose/plan_cpu.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

enum { MAX_SIDE = 40, MAX_SLOTS = MAX_SIDE * MAX_SIDE };

static int old[MAX_SLOTS], new[MAX_SLOTS];

/* Steps 1, 2 and 3 of inplace.h as maps from a slot to a slot. */
typedef int64_t map_t(const tilemm__inplace_t *view, int64_t i, int64_t j);

static int64_t rotated(const tilemm__inplace_t *view, int64_t i, int64_t j)
{
    return (i + tilemm__inplace_rotation(view, j)) % view->m * view->n + j;
}

static int64_t row_target(const tilemm__inplace_t *view, int64_t i, int64_t j)
{
    return i * view->n + tilemm__inplace_row_target(view, i, j);
}

static int64_t row_source(const tilemm__inplace_t *view, int64_t i, int64_t j)
{
    return i * view->n + tilemm__inplace_row_source(view, i, j);
}

static int64_t permuted(const tilemm__inplace_t *view, int64_t i, int64_t j)
{
    return (tilemm__inplace_permuted(view, i) + j) % view->m * view->n + j;
}

static int64_t unpermuted(const tilemm__inplace_t *view, int64_t i, int64_t j)
{
    return tilemm__inplace_unpermuted(view, (i + view->m - j % view->m) % view->m) * view->n + j;
}

/* new(i, j) = old(map(i, j)), or, by target, new(map(i, j)) = old(i, j). */
static void step(const tilemm__inplace_t *view, map_t *map, int by_target)
{
    memset(new, -1, sizeof(new));
    for (int64_t i = 0; i < view->m; i++)
        for (int64_t j = 0; j < view->n; j++)
            if (by_target)
                new[map(view, i, j)] = old[i * view->n + j];
            else
                new[i * view->n + j] = old[map(view, i, j)];
    memcpy(old, new, (size_t)(view->m * view->n) * sizeof(old[0]));
}

/* Backward takes an n x m matrix to m x n. */
static void check_permutation(const tilemm__inplace_t *view, int backward, int by_target)
{
    const int64_t m = view->m, n = view->n;
    int wrong = 0;
    for (int k = 0; k < m * n; k++)
        old[k] = k;
    if (backward) {
        step(view, by_target ? permuted : unpermuted, by_target);
        step(view, row_target, 0);
        step(view, rotated, 1);
    } else {
        step(view, rotated, 0);
        step(view, by_target ? row_target : row_source, by_target);
        step(view, by_target ? unpermuted : permuted, by_target);
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            wrong += backward ? old[i * n + j] != j * m + i : old[j * m + i] != i * n + j;
    CHECK(!wrong, "%s %d x %d, by %s: %d wrong", backward ? "backward" : "forward", (int)m, (int)n,
          by_target ? "target" : "source", wrong);
}

/* The maps of a view that is too large to be permuted here, at random places. */
static void check_large(int64_t m, int64_t n)
{
    tilemm__inplace_t view;
    tilemm__inplace_init(&view, m, n);
    CHECK(view.a * view.c == m && view.b * view.c == n, "gcd of %lld, %lld", (long long)m,
          (long long)n);
    for (int trial = 0; trial < 2000; trial++) {
        const int64_t i = pick(m), j = pick(n);
        int64_t to = tilemm__inplace_permuted(&view, i);

        CHECK(to >= 0 && to < m && tilemm__inplace_unpermuted(&view, to) == i,
              "%lld x %lld: row %lld", (long long)m, (long long)n, (long long)i);
        to = tilemm__inplace_row_target(&view, i, j);
        CHECK(to >= 0 && to < n && tilemm__inplace_row_source(&view, i, to) == j,
              "%lld x %lld: (%lld, %lld)", (long long)m, (long long)n, (long long)i, (long long)j);
    }
}

/* The move, by runs, in memory in which every place outside the layouts is a guard. */
static void check_move(int64_t total, int64_t width_in, int64_t ld_in, int64_t width_out,
                       int64_t ld_out)
{
    enum { END = 4096 };
    static int memory[END];
    static char used[END];
    int64_t run;
    int wrong = 0, differ = 0;
    memset(used, 0, sizeof(used));
    for (int k = 0; k < END; k++)
        memory[k] = -k - 1;
    for (int k = 0; k < total; k++) {
        const int64_t f = tilemm__slot(k, width_in, ld_in);
        const int64_t g = tilemm__slot(k, width_out, ld_out);
        memory[f] = k;
        used[f] = used[g] = 1;
        differ += f != g;
    }
    CHECK(tilemm__slots_agree(total, width_in, ld_in, width_out, ld_out) == !differ,
          "slots_agree(%d, %d, %d, %d, %d)", (int)total, (int)width_in, (int)ld_in, (int)width_out,
          (int)ld_out);
    for (int64_t k = 0; k < total; k += run) {
        const int64_t f = tilemm__slot(k, width_in, ld_in);
        const int64_t g = tilemm__slot(k, width_out, ld_out);
        run = tilemm__slot_run(k, total, width_in, width_out);
        if (g < f)
            memmove(memory + g, memory + f, (size_t)run * sizeof(int));
    }
    for (int64_t k = total; k > 0; k -= run) {
        run = tilemm__slot_run_back(k - 1, width_in, width_out);
        const int64_t f = tilemm__slot(k - run, width_in, ld_in);
        const int64_t g = tilemm__slot(k - run, width_out, ld_out);
        if (g > f)
            memmove(memory + g, memory + f, (size_t)run * sizeof(int));
    }
    for (int k = 0; k < total; k++)
        wrong += memory[tilemm__slot(k, width_out, ld_out)] != k;
    for (int k = 0; k < END; k++)
        wrong += !used[k] && memory[k] != -k - 1;
    CHECK(!wrong, "move of %d, rows %d (%d) to %d (%d): %d wrong", (int)total, (int)width_in,
          (int)ld_in, (int)width_out, (int)ld_out, wrong);
}

int main(void)
{
    static const int pads[] = {0, 1, 2, 7, 16};
    for (int64_t m = 1; m <= MAX_SIDE; m++)
        for (int64_t n = 1; n <= MAX_SIDE; n++) {
            tilemm__inplace_t view;
            tilemm__inplace_init(&view, m, n);
            for (int way = 0; way < 4; way++)
                check_permutation(&view, way / 2, way % 2);
        }
    check_large(INT64_C(3000000019), 2000000);
    check_large(INT64_C(6000000000000), 100000);
    check_large(INT64_C(1) << 40, INT64_C(1) << 22);
    check_large((INT64_C(1) << 40) + 1, INT64_C(1) << 20);
    check_large(INT64_C(1) << 20, (INT64_C(1) << 40) - 2);
    for (int64_t m = 1; m <= 24; m++)
        for (int64_t n = 1; n <= 24; n++)
            for (int p = 0; p < 5; p++)
                for (int q = 0; q < 5; q++) {
                    check_move(m * n, n, n + pads[p], m, m + pads[q]);
                    check_move(m * n, n, n + pads[p], n, n + pads[q]);
                }
    return check_exit();
}
