/* multiply.c - see multiply.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "multiply.h"

#include "lib/size.h"

tilemm_status_t tilemm__multiply(tilemm_grid_t grid, int64_t m, int64_t n, int64_t k, float alpha,
                                 const tilemm__panel_t *x, const tilemm__panel_t *y, float beta,
                                 const tilemm__panel_t *z, tilemm__travel_t *const polled[2])
{
    /* Slices of columns: messages go on every few milliseconds. Slices are larger than what the
     * CPU's plan takes for a small product. A GPU's products are only queued: there is one. */
    enum { MOST_SLICES = 8, LEAST_ELEMENTS = 1 << 20, LEAST_COLS = 64 };
    const double flops = 2.0 * (double)m * (double)n * (double)k, slice_flops = 1 << 30;
    const int64_t wanted =
        polled && !grid->cuda ? tilemm__clamp(flops / slice_flops, 1, MOST_SLICES) : 1;
    const int64_t slices =
        tilemm__max(1, tilemm__min(wanted, tilemm__min(m * n / LEAST_ELEMENTS, n / LEAST_COLS)));
    const int64_t step = tilemm__max(1, tilemm__div_up(n, slices));
    const int down = z->rs == 1;
    const int x_down = x->rs == 1, y_down = y->rs == 1;
    /* A leading dimension passes over a line; where there is one line, it may not have. */
    const int64_t ldx = tilemm__max(x_down ? x->cs : x->rs, tilemm__max(1, x_down ? m : k));
    const int64_t ldy = tilemm__max(y_down ? y->cs : y->rs, tilemm__max(1, y_down ? k : n));
    const int64_t ldz = tilemm__max(down ? z->cs : z->rs, tilemm__max(1, down ? m : n));
    const double begin = MPI_Wtime();
    for (int64_t j = 0; j < n; j += step) {
        const int64_t some = tilemm__min(step, n - j);
        const tilemm_status_t status =
            tilemm_sgemm(grid->ctx, down ? TILEMM_COL_MAJOR : TILEMM_ROW_MAJOR,
                         x_down == down ? TILEMM_NO_TRANS : TILEMM_TRANS,
                         y_down == down ? TILEMM_NO_TRANS : TILEMM_TRANS, m, some, k, alpha, x->at,
                         ldx, k > 0 ? y->at + j * y->cs : NULL, ldy, beta, z->at + j * z->cs, ldz);
        if (status != TILEMM_SUCCESS)
            return tilemm__passed(grid, status);
        for (int i = 0; polled && i < 2; i++)
            tilemm__travel_poll(polled[i]);
    }
    tilemm__step(grid, "compute", begin, flops);
    return TILEMM_SUCCESS;
}
