/* inplace_maps.c - the index maps of in-place transposition, by brute force over small shapes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "lib/transpose/inplace_view.h"

enum { MAX_SIDE = 40, MAX_SLOTS = MAX_SIDE * MAX_SIDE };

static int old[MAX_SLOTS], new[MAX_SLOTS];

static void commit(int64_t count)
{
    memcpy(old, new, (size_t)count * sizeof(old[0]));
    memset(new, -1, sizeof(new));
}

static void check_forward(const tilemm__inplace_t *view, int by_target)
{
    const int64_t m = view->m, n = view->n;
    int64_t i, j, wrong = 0;

    for (i = 0; i < m * n; i++)
        new[i] = (int)i;
    commit(m * n);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            new[i * n + j] = old[(i + tilemm__inplace_rotation(view, j)) % m * n + j];
    commit(m * n);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            if (by_target)
                new[i * n + tilemm__inplace_row_target(view, i, j)] = old[i * n + j];
            else
                new[i * n + j] = old[i * n + tilemm__inplace_row_source(view, i, j)];
    commit(m * n);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            if (by_target)
                new[tilemm__inplace_unpermuted(view, (i + m - j % m) % m) * n + j] = old[i * n + j];
            else
                new[i * n + j] = old[(tilemm__inplace_permuted(view, i) + j) % m * n + j];
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            wrong += new[j * m + i] != (int)(i * n + j);
    CHECK(!wrong, "forward %d x %d, by %s: %d wrong", (int)m, (int)n,
          by_target ? "target" : "source", (int)wrong);
}

static void check_backward(const tilemm__inplace_t *view, int by_target)
{
    const int64_t m = view->m, n = view->n;
    int64_t i, j, wrong = 0;

    for (i = 0; i < m * n; i++)
        new[i] = (int)i; /* element i of an n x m matrix */
    commit(m * n);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            if (by_target)
                new[(tilemm__inplace_permuted(view, i) + j) % m * n + j] = old[i * n + j];
            else
                new[i * n + j] = old[tilemm__inplace_unpermuted(view, (i + m - j % m) % m) * n + j];
    commit(m * n);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            new[i * n + j] = old[i * n + tilemm__inplace_row_target(view, i, j)];
    commit(m * n);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            new[(i + tilemm__inplace_rotation(view, j)) % m * n + j] = old[i * n + j];
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            wrong += new[i * n + j] != (int)(j * m + i);
    CHECK(!wrong, "backward %d x %d, by %s: %d wrong", (int)m, (int)n,
          by_target ? "target" : "source", (int)wrong);
}

/* The maps of a view that is too large to be permuted here, at random places. */
static void check_large(int64_t m, int64_t n)
{
    tilemm__inplace_t view;
    uint64_t seed = 1;
    int trial;

    tilemm__inplace_init(&view, m, n);
    CHECK(view.a * view.c == m && view.b * view.c == n, "gcd of %lld, %lld", (long long)m,
          (long long)n);
    for (trial = 0; trial < 2000; trial++) {
        int64_t i, j, to;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        i = (int64_t)((seed >> 2) % (uint64_t)m);
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        j = (int64_t)((seed >> 2) % (uint64_t)n);
        to = tilemm__inplace_permuted(&view, i);
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
    static int memory[4096];
    const int64_t end_in = tilemm__slot(total - 1, width_in, ld_in) + 1;
    const int64_t end_out = tilemm__slot(total - 1, width_out, ld_out) + 1;
    const int64_t end = (end_in > end_out ? end_in : end_out) + 3;
    static char used[4096];
    int64_t k, run, f, g, wrong = 0, differ = 0;

    memset(used, 0, sizeof(used));
    for (k = 0; k < end; k++)
        memory[k] = -(int)k - 1;
    for (k = 0; k < total; k++) {
        f = tilemm__slot(k, width_in, ld_in);
        g = tilemm__slot(k, width_out, ld_out);
        memory[f] = (int)k;
        used[f] = used[g] = 1;
        differ += f != g;
    }
    CHECK(tilemm__slots_agree(total, width_in, ld_in, width_out, ld_out) == !differ,
          "slots_agree(%d, %d, %d, %d, %d)", (int)total, (int)width_in, (int)ld_in, (int)width_out,
          (int)ld_out);
    for (k = 0; k < total; k += run) {
        run = tilemm__slot_run(k, total, width_in, width_out);
        f = tilemm__slot(k, width_in, ld_in);
        g = tilemm__slot(k, width_out, ld_out);
        if (g < f)
            memmove(memory + g, memory + f, (size_t)run * sizeof(int));
    }
    for (k = total; k > 0; k -= run) {
        run = tilemm__slot_run_back(k - 1, width_in, width_out);
        f = tilemm__slot(k - run, width_in, ld_in);
        g = tilemm__slot(k - run, width_out, ld_out);
        if (g > f)
            memmove(memory + g, memory + f, (size_t)run * sizeof(int));
    }
    for (k = 0; k < total; k++)
        wrong += memory[tilemm__slot(k, width_out, ld_out)] != (int)k;
    for (k = 0; k < end; k++)
        wrong += !used[k] && memory[k] != -(int)k - 1;
    CHECK(!wrong, "move of %d, rows %d (%d) to %d (%d): %d wrong", (int)total, (int)width_in,
          (int)ld_in, (int)width_out, (int)ld_out, (int)wrong);
}

int main(void)
{
    static const int pads[] = {0, 1, 2, 7, 16};
    int64_t m, n;
    unsigned p, q;

    for (m = 1; m <= MAX_SIDE; m++)
        for (n = 1; n <= MAX_SIDE; n++) {
            tilemm__inplace_t view;

            tilemm__inplace_init(&view, m, n);
            check_forward(&view, 0);
            check_forward(&view, 1);
            check_backward(&view, 0);
            check_backward(&view, 1);
        }
    check_large(INT64_C(3000000019), 2000000);
    check_large(INT64_C(6000000000000), 100000);
    check_large(INT64_C(1) << 40, INT64_C(1) << 22);
    check_large((INT64_C(1) << 40) + 1, INT64_C(1) << 20);
    check_large(INT64_C(1) << 20, (INT64_C(1) << 40) - 2);
    for (m = 1; m <= 24; m++)
        for (n = 1; n <= 24; n++)
            for (p = 0; p < sizeof(pads) / sizeof(pads[0]); p++)
                for (q = 0; q < sizeof(pads) / sizeof(pads[0]); q++) {
                    check_move(m * n, n, n + pads[p], m, m + pads[q]);
                    check_move(m * n, n, n + pads[p], n, n + pads[q]);
                }
    return check_exit();
}
