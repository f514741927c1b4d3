/* quick.h - how entry points begin, so that a small problem is done before its call takes time.
 *
 * 1. Checks of what is passed by value, compiled in: a comparison each, and a call that finds the
 *    words only where it fails.
 * 2. Where there are single matrices or vectors, and aligned, the backend's ..._small (backend.h),
 *    which does the problem if it is small. For vectors it comes first: it takes less than 1 lets
 *    pass.
 * 3. Out of line: checks of operands, which ask where memory is; the log; the backend's function,
 *    which makes a plan.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_QUICK_H
#define TILEMM_LIB_QUICK_H

#include "internal.h"

/* Entry points whose first two steps are compiled in. */
#define TILEMM__QUICK static inline __attribute__((always_inline))
/* Their third. */
#define TILEMM__LONG static __attribute__((noinline))

/* Each returns 1, or 0 once the message is stored. */

TILEMM__QUICK int tilemm__is_at_least(tilemm_t ctx, const char *where, const char *name,
                                      int64_t value, int64_t least)
{
    return value >= least || tilemm__check_at_least(ctx, where, name, value, least);
}

TILEMM__QUICK int tilemm__is_layout(tilemm_t ctx, const char *where, tilemm_layout_t layout)
{
    return layout == TILEMM_ROW_MAJOR || layout == TILEMM_COL_MAJOR ||
           tilemm__check_layout(ctx, where, layout);
}

TILEMM__QUICK int tilemm__is_op(tilemm_t ctx, const char *where, const char *name, tilemm_op_t op)
{
    return op == TILEMM_NO_TRANS || op == TILEMM_TRANS || tilemm__check_op(ctx, where, name, op);
}

#endif
