/* check.c - checks of arguments that entry points share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdio.h>

#include "internal.h"
#include "size.h"

int tilemm__check_context(tilemm_t ctx)
{
    if (!ctx)
        return 0;
    ctx->last_kernel = "";
    ctx->looked = 0;
    return 1;
}

int tilemm__check_at_least(tilemm_t ctx, const char *where, const char *name, int64_t value,
                           int64_t least)
{
    return value >= least || tilemm__refuse(ctx, "%s: %s = %lld, must be at least %lld", where,
                                            name, (long long)value, (long long)least);
}

int tilemm__check_layout(tilemm_t ctx, const char *where, tilemm_layout_t layout)
{
    return layout == TILEMM_ROW_MAJOR || layout == TILEMM_COL_MAJOR ||
           tilemm__refuse(
               ctx, "%s: layout = %d, must be TILEMM_ROW_MAJOR (101) or TILEMM_COL_MAJOR (102)",
               where, (int)layout);
}

int tilemm__check_op(tilemm_t ctx, const char *where, const char *name, tilemm_op_t op)
{
    return op == TILEMM_NO_TRANS || op == TILEMM_TRANS ||
           tilemm__refuse(ctx, "%s: %s = %d, must be TILEMM_NO_TRANS (111) or TILEMM_TRANS (112)",
                          where, name, (int)op);
}

int tilemm__check_increment(tilemm_t ctx, const char *where, const char *name, int64_t increment)
{
    return (increment != 0 && increment != INT64_MIN) ||
           tilemm__refuse(ctx, "%s: %s = %lld, must %s", where, name, (long long)increment,
                          increment ? "have an absolute value in int64_t" : "not be 0");
}

int tilemm__check_pointer(tilemm_t ctx, const char *where, const char *name, const void *pointer,
                          size_t alignment)
{
    if (!pointer)
        return tilemm__refuse(ctx, "%s: %s = NULL, must be a valid pointer", where, name);
    if (!tilemm__is_multiple((uintptr_t)pointer, alignment))
        return tilemm__refuse(ctx, "%s: %s = %p, must be aligned to %zu bytes", where, name,
                              pointer, alignment);
    return ctx->backend->id != TILEMM_BACKEND_CPU ||
           ctx->backend->locate(ctx, pointer) != TILEMM__DEVICE ||
           tilemm__refuse(
               ctx, "%s: %s = %p is in device memory, must be in host memory on a CPU context",
               where, name, pointer);
}

/* |count - 1| * |step| + more, or -1 where that does not fit. */
static int64_t span(int64_t count, int64_t step, int64_t more)
{
    int64_t result;
    if (count <= 0)
        return 0;
    if (count == 1)
        return more;
    if (step < 0 && __builtin_sub_overflow((int64_t)0, step, &step))
        return -1;
    if (more < 0 || __builtin_mul_overflow(count - 1, step, &result) ||
        __builtin_add_overflow(result, more, &result))
        return -1;
    return result;
}

int tilemm__check_ld(tilemm_t ctx, const char *where, const char *ld_name, int64_t width,
                     int64_t ld, const char *note)
{
    const int64_t least = width > 1 ? width : 1;
    return ld >= least || tilemm__refuse(ctx, "%s: %s = %lld, must be at least %lld (%s)", where,
                                         ld_name, (long long)ld, (long long)least, note);
}

int tilemm__check_span(tilemm_t ctx, const char *where, const char *name, const char *ld_name,
                       int64_t rows, int64_t width, int64_t ld, int64_t batch, int64_t stride,
                       size_t elem_size)
{
    const int64_t elements = span(batch, stride, span(rows, ld, width));
    if (elements >= 0 && (uint64_t)elements <= PTRDIFF_MAX / elem_size)
        return 1;
    char apart[64] = "";
    if (batch > 1)
        snprintf(apart, sizeof apart, ", %lld matrices %lld apart", (long long)batch,
                 (long long)stride);
    return tilemm__refuse(
        ctx,
        "%s: %s, %lld x %lld with %s = %lld%s, must span at most %lld elements, which is the "
        "address space",
        where, name, (long long)rows, (long long)width, ld_name, (long long)ld, apart,
        (long long)(PTRDIFF_MAX / elem_size));
}

int tilemm__check_offsets(tilemm_t ctx, int64_t segments, const int64_t *offsets)
{
    const int64_t most = PTRDIFF_MAX / (int64_t)sizeof(float);
    int64_t least = 0;
    for (int64_t s = 0; s <= segments; least = offsets[s++])
        if (offsets[s] < least) {
            char name[40];
            snprintf(name, sizeof name, "offsets[%lld]", (long long)s);
            return tilemm__check_at_least(ctx, "sreduce_segments", name, offsets[s], least);
        }
    return least <= most ||
           tilemm__refuse(ctx, "sreduce_segments: offsets[%lld] = %lld, must be at most %lld",
                          (long long)segments, (long long)least, (long long)most);
}
