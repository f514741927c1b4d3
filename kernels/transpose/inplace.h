/* inplace.h - where elements go when a rectangular matrix is transposed in place: index functions
 * in C99 and CUDA, shared by both backends.
 *
 * A matrix of rows x cols with leading dimension ld_in becomes cols x rows with ld_out. The slots
 * of the input are L_in(k) = tilemm__slot(k, cols, ld_in), those of the output L_out(k) =
 * tilemm__slot(k, rows, ld_out), 0 <= k < rows * cols. There are two steps:
 *
 *   - The permutation takes element k of the transposed, packed matrix to slot k, within one
 * layout. It views the slots as m x n, m >= n: rows >= cols (tilemm__inplace_forward): the input
 * slots, m = rows, n = cols, "forward" (known as C2R); then the move; rows < cols: the move first;
 * then the output slots, m = cols, n = rows, "backward" (R2C: the inverse of forward, which takes m
 * x n to n x m).
 *   - The move takes slot k from L_in(k) to L_out(k), see tilemm__slot_run.
 *
 * Nothing outside the two layouts is read or written.
 *
 * The GPU permutes by slabs and runs, see cuda/slabs.cu, and moves between its two passes. The CPU
 * permutes as Catanzaro, Keller and Garland do, "A Decomposition for In-place Matrix
 * Transposition", PPoPP 2014. With c = gcd(m, n), a = m / c, b = n / c:
 *
 *   forward:   1. rotate columns:   new(i, j) = old((i + rotation(j)) mod m, j); none if c == 1
 *              2. shuffle each row: new(i, row_target(i, j)) = old(i, j), or
 *                                   new(i, j) = old(i, row_source(i, j))
 *              3. shuffle columns:  new(i, j) = old((permuted(i) + j) mod m, j), that is, rotate
 *                                   column j by j, then new row i = old row permuted(i), or
 *                                   new(unpermuted((i - j) mod m), j) = old(i, j)
 *   backward:  3. new((permuted(i) + j) mod m, j) = old(i, j), or
 *                 new(i, j) = old(unpermuted((i - j) mod m), j): permute rows, then rotate back
 *              2. new(i, j) = old(i, row_target(i, j))
 *              1. new(i, j) = old((i - rotation(j)) mod m, j)
 *
 * Why it works. The element from (i, j) belongs in slot j m + i: column (i + j m) mod n, row
 * (i + j m) / n. Within a row those columns collide: j m mod n takes only the multiples of c, each
 * c times, at j, j + b, j + 2 b, ...; step 1 brings elements of c consecutive old rows to these c
 * places, so that their columns differ. Step 2 then moves all to their columns, step 3 to their
 * rows: new (i, j) is slot k = i n + j, element (k mod m, k / m), which step 1 has left in row (k
 * mod m - (k / m) / b) mod m; and k / (m b) = (i n + j) / (a n) = i / a.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_TRANSPOSE_INPLACE_H
#define TILEMM_KERNELS_TRANSPOSE_INPLACE_H

#include <stdint.h>

#include "layout.h"

typedef struct {
    int64_t m, n;    /* the view */
    int64_t a, b, c; /* c = gcd(m, n), m = a c, n = b c */
    int64_t a_inv;   /* a a_inv = 1 (mod b) */
    int64_t b_inv;   /* b b_inv = 1 (mod a) */
} tilemm__inplace_t;

/* Whether to permute forward, in the input slots, before the move. */
TILEMM__LAYOUT int tilemm__inplace_forward(int64_t rows, int64_t cols)
{
    return rows >= cols;
}

/* x y mod m, for 0 <= x, y < m. */
TILEMM__LAYOUT int64_t tilemm__mulmod(int64_t x, int64_t y, int64_t m)
{
    int64_t sum = 0;
    if (m <= INT64_C(0x80000000))
        return x * y % m;
    for (; y; y >>= 1) {
        if (y & 1)
            sum = sum >= m - x ? sum - (m - x) : sum + x;
        x = x >= m - x ? x - (m - x) : x + x;
    }
    return sum;
}

/* The rows by which step 1 rotates column j up (forward). */
TILEMM__LAYOUT int64_t tilemm__inplace_rotation(const tilemm__inplace_t *view, int64_t j)
{
    return j / view->b;
}

/* The column to which step 2 takes the element in row i, column j. */
TILEMM__LAYOUT int64_t tilemm__inplace_row_target(const tilemm__inplace_t *view, int64_t i,
                                                  int64_t j)
{
    int64_t row = i + j / view->b;
    if (row >= view->m)
        row -= view->m;
    return (row + j * view->m) % view->n;
}

/* Its inverse: the column in row i that step 2 takes to column j. */
TILEMM__LAYOUT int64_t tilemm__inplace_row_source(const tilemm__inplace_t *view, int64_t i,
                                                  int64_t j)
{
    /* Column q b + t goes to (i + q) mod m + c (a t mod b), mod n. Mod c that is i + q, as c
     * divides m and n: this gives q, and the rest t. */
    const int64_t c = view->c, n = view->n;
    const int64_t q = (j % c - i % c + c) % c;
    int64_t row = i + q;
    if (row >= view->m)
        row -= view->m;
    return q * view->b + tilemm__mulmod((j - row % n + n) % n / c, view->a_inv % view->b, view->b);
}

/* The row that step 3, after column j has been rotated up by j, brings to row i. */
TILEMM__LAYOUT int64_t tilemm__inplace_permuted(const tilemm__inplace_t *view, int64_t i)
{
    /* (i n - i / a) mod m; with i = h a + t this is (t n - h) mod m, since a n = b m. */
    const int64_t h = i / view->a, t = i - h * view->a;
    const int64_t row = t * view->n % view->m - h;
    return row < 0 ? row + view->m : row;
}

/* Its inverse: the row to which row i is brought. */
TILEMM__LAYOUT int64_t tilemm__inplace_unpermuted(const tilemm__inplace_t *view, int64_t i)
{
    /* Row h a + t takes (c (b t mod a) - h) mod m: h is -i mod c, and the remainder gives t. */
    const int64_t h = (view->c - i % view->c) % view->c;
    return h * view->a +
           tilemm__mulmod((i + h) % view->m / view->c, view->b_inv % view->a, view->a);
}

/* The offset of slot k, in elements, in a layout whose rows have `width` elements. */
TILEMM__LAYOUT int64_t tilemm__slot(int64_t k, int64_t width, int64_t ld)
{
    const int64_t row = k / width;
    return row * ld + (k - row * width);
}

/* The move. f(k) = L_in(k) and g(k) = L_out(k) both rise strictly with k. Slot k falls if
 * g(k) < f(k), and rises if g(k) > f(k). Slots that fall are moved in ascending order, slots that
 * rise in descending order; the two classes in any order, or at the same time. Nothing is lost.
 * Proof: let k write to g(k) = f(l), where slot l is to be read.
 *   k falls: f(l) = g(k) < f(k), so l < k, so g(l) < g(k) = f(l): l falls too, and was moved
 * before. k rises: f(l) > f(k), so l > k, so g(l) > g(k) = f(l): l rises too, and was moved before.
 * So neither class writes where the other is read, nor where a slot stays. Likewise an interval of
 * k may be moved at once, by reading all slots that fall (rise) in it before writing any, intervals
 * in ascending (descending) order.
 *
 * tilemm__slot_run: how many slots, from k on, are consecutive in both layouts, and so have the
 * same g - f; tilemm__slot_run_back: up to and with k. */
TILEMM__LAYOUT int64_t tilemm__slot_run(int64_t k, int64_t total, int64_t width_in,
                                        int64_t width_out)
{
    const int64_t in = width_in - k % width_in, out = width_out - k % width_out;
    const int64_t run = in < out ? in : out;
    return run < total - k ? run : total - k;
}

TILEMM__LAYOUT int64_t tilemm__slot_run_back(int64_t k, int64_t width_in, int64_t width_out)
{
    const int64_t in = k % width_in + 1, out = k % width_out + 1;
    return in < out ? in : out;
}

/* Whether there is nothing to move: L_in(k) = L_out(k) for all k < total. */
TILEMM__LAYOUT int tilemm__slots_agree(int64_t total, int64_t width_in, int64_t ld_in,
                                       int64_t width_out, int64_t ld_out)
{
    /* A layout of one row has no gaps. */
    const int packed_in = ld_in == width_in || total <= width_in;
    const int packed_out = ld_out == width_out || total <= width_out;
    return (packed_in && packed_out) || (width_in == width_out && ld_in == ld_out);
}

#endif
