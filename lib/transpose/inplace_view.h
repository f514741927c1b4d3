/* inplace_view.h - the constants of a transposition in place: see kernels/transpose/inplace.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_TRANSPOSE_INPLACE_VIEW_H
#define TILEMM_LIB_TRANSPOSE_INPLACE_VIEW_H

#include "kernels/transpose/inplace.h"

/* Fill in *view for m x n; both at least 1. */
void tilemm__inplace_init(tilemm__inplace_t *view, int64_t m, int64_t n);

#endif
