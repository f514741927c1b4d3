/* descriptor.c - see descriptor.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "descriptor.h"

#include <limits.h>
#include <stdio.h>

/* The whole matrix. */
typedef struct {
    tilemm__dist_t rows, cols;
    int ld;
} array_t;

/* Where a descriptor of each type has its entries. */
static const struct {
    int m, n, imb, inb, mb, nb, rsrc, csrc, ld;
} places[] = {{2, 3, 4, 5, 4, 5, 6, 7, 8}, {2, 3, 4, 5, 6, 7, 8, 9, 10}};

/* Entry number `at` of the descriptor, from least to most. */
static int check_entry(const tilemm__submatrix_t *x, int at, int64_t least, int64_t most,
                       const char *what, char *text, size_t room)
{
    if (x->desc[at] >= least && x->desc[at] <= most)
        return 1;
    if (most == INT_MAX)
        snprintf(text, room, "desc%s[%d] = %d, must be at least %lld (%s)", x->name, at,
                 x->desc[at], (long long)least, what);
    else
        snprintf(text, room, "desc%s[%d] = %d, must be from %lld to %lld (%s)", x->name, at,
                 x->desc[at], (long long)least, (long long)most, what);
    return 0;
}

static int read_array(const tilemm__submatrix_t *x, const int procs[2], const int me[2], char *text,
                      size_t room, array_t *array)
{
    const int *const d = x->desc;
    if (!d) {
        snprintf(text, room, "desc%s = NULL, must be a valid pointer", x->name);
        return 0;
    }
    if (!check_entry(x, 0, 1, 2, "type", text, room))
        return 0;
    const int type = d[0] - 1;
    const int m = places[type].m, n = places[type].n, imb = places[type].imb,
              inb = places[type].inb, mb = places[type].mb, nb = places[type].nb,
              rsrc = places[type].rsrc, csrc = places[type].csrc, ld = places[type].ld;
    if (!check_entry(x, m, 0, INT_MAX, "rows", text, room) ||
        !check_entry(x, n, 0, INT_MAX, "columns", text, room) ||
        !check_entry(x, imb, 1, INT_MAX, "rows of the first block", text, room) ||
        !check_entry(x, inb, 1, INT_MAX, "columns of the first block", text, room) ||
        !check_entry(x, mb, 1, INT_MAX, "rows of a block", text, room) ||
        !check_entry(x, nb, 1, INT_MAX, "columns of a block", text, room) ||
        !check_entry(x, rsrc, 0, procs[0] - 1, "row of the grid", text, room) ||
        !check_entry(x, csrc, 0, procs[1] - 1, "column of the grid", text, room))
        return 0;
    array->rows = (tilemm__dist_t){d[m], d[imb], d[mb], procs[0], d[rsrc]};
    array->cols = (tilemm__dist_t){d[n], d[inb], d[nb], procs[1], d[csrc]};
    array->ld = d[ld];
    return !me || check_entry(x, ld, tilemm__max(1, tilemm__dist_count(&array->rows, me[0])),
                              INT_MAX, "leading dimension, of the local rows", text, room);
}

/* i, counted from 1, and `size` lines from there lie within n lines. */
static int check_lines(const tilemm__submatrix_t *x, const char *letter, int64_t i, int64_t size,
                       int64_t n, char *text, size_t room)
{
    if (i < 1)
        snprintf(text, room, "%s%s = %lld, must be at least 1", letter, x->name, (long long)i);
    else if (i > n + 1 || size > n + 1 - i)
        snprintf(text, room, "%s%s = %lld, must be at most %lld (%lld of %lld %s)", letter, x->name,
                 (long long)i, (long long)(n + 1 - size), (long long)size, (long long)n,
                 *letter == 'i' ? "rows" : "columns");
    else
        return 1;
    return 0;
}

int tilemm__view(const tilemm__submatrix_t *x, const int procs[2], const int me[2],
                 const float *array, char *text, size_t room, tilemm__view_t *view)
{
    array_t whole;
    if (!read_array(x, procs, me, text, room, &whole) ||
        !check_lines(x, "i", x->i, x->m, whole.rows.n, text, room) ||
        !check_lines(x, "j", x->j, x->n, whole.cols.n, text, room))
        return -1;
    *view = (tilemm__view_t){tilemm__dist_part(&whole.rows, x->i - 1, x->m),
                             tilemm__dist_part(&whole.cols, x->j - 1, x->n),
                             0,
                             NULL,
                             1,
                             whole.ld};
    if (!me || tilemm__view_rows(view, me) == 0 || tilemm__view_cols(view, me) == 0)
        return 0;
    if (!array || (uintptr_t)array % sizeof(float) != 0) {
        snprintf(text, room, "%s = %p, must be a pointer to this process's part", x->name,
                 (const void *)array);
        return -1;
    }
    /* Views are read or written as their user says. */
    view->at = (float *)(uintptr_t)array + tilemm__dist_before(&whole.rows, me[0], x->i - 1) +
               tilemm__dist_before(&whole.cols, me[1], x->j - 1) * whole.ld;
    return 0;
}
