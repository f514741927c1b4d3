/* no_gpu.c - a CUDA backend without a device, for the tests whose library is the CPU's side alone.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "lib/internal.h"

#ifdef TILEMM_HAVE_CUDA
static tilemm_status_t no_device(tilemm_t ctx, int device)
{
    (void)ctx;
    (void)device;
    return TILEMM_NO_DEVICE;
}

const tilemm__backend_t tilemm__cuda_backend = {.id = TILEMM_BACKEND_CUDA, .open = no_device};
#endif
