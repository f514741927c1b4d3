/* inplace_view.c - see inplace_view.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "inplace_view.h"

/* By the extended Euclidean algorithm. x is always {r, s, t} with r = s m + t n, and likewise y. In
 * the end r is the greatest common divisor c, and s a + t b = 1: the inverses are s and t. */
void tilemm__inplace_init(tilemm__inplace_t *view, int64_t m, int64_t n)
{
    int64_t x[3] = {m, 1, 0}, y[3] = {n, 0, 1};

    while (y[0]) {
        const int64_t quotient = x[0] / y[0];

        for (int i = 0; i < 3; i++) {
            const int64_t rest = x[i] - quotient * y[i];

            x[i] = y[i];
            y[i] = rest;
        }
    }
    *view = (tilemm__inplace_t){.m = m, .n = n, .a = m / x[0], .b = n / x[0], .c = x[0]};
    view->a_inv = x[1] < 0 ? x[1] + view->b : x[1];
    view->b_inv = x[2] < 0 ? x[2] + view->a : x[2];
}
