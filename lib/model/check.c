/* check.c - what is wrong with an access, or with a compute capability, that the model refuses.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "tilemm.h"

/* In tilemm_model_check alone. */
#define refuse(...) (snprintf(message, size, __VA_ARGS__), TILEMM_INVALID_ARGUMENT)

tilemm_status_t tilemm_model_check(int cc, const tilemm_warp_access_t *access, char *message,
                                   size_t size)
{
    if (size > 0)
        message[0] = '\0';
    if (cc < 10)
        return refuse("cc = %d, must be 10 (compute capability 1.0) or more", cc);
    if (!access)
        return refuse("access is NULL");
    const int width = access->elem_bytes;
    if (width != 1 && width != 2 && width != 4 && width != 8 && width != 16)
        return refuse("elem_bytes = %d, must be 1, 2, 4, 8 or 16", width);
    for (int lane = 0; lane < 32; lane++)
        if (access->active >> lane & 1 && access->addr[lane] % (unsigned)width)
            return refuse("addr[%d] = %" PRIu64 ", must be a multiple of elem_bytes = %d", lane,
                          access->addr[lane], width);
    return TILEMM_SUCCESS;
}
