/* inplace_view.c - see inplace_view.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "inplace_view.h"

static int64_t gcd(int64_t x, int64_t y)
{
    while (y) {
        const int64_t rest = x % y;

        x = y;
        y = rest;
    }
    return x;
}

/* The inverse of x mod m by the extended Euclidean algorithm; x and m coprime. 0 for m = 1. */
static int64_t inverse(int64_t x, int64_t m)
{
    int64_t r0 = m, r1 = x % m, t0 = 0, t1 = 1;

    while (r1) {
        const int64_t q = r0 / r1, r2 = r0 - q * r1, t2 = t0 - q * t1;

        r0 = r1;
        r1 = r2;
        t0 = t1;
        t1 = t2;
    }
    return t0 < 0 ? t0 + m : t0;
}

void tilemm__inplace_init(tilemm__inplace_t *view, int64_t m, int64_t n)
{
    view->m = m;
    view->n = n;
    view->c = gcd(m, n);
    view->a = m / view->c;
    view->b = n / view->c;
    view->a_inv = inverse(view->a, view->b);
    view->b_inv = inverse(view->b, view->a);
}
