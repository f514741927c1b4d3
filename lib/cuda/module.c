/* module.c - what the module exports: see lib/load_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lib/build_id.h"
#include "lib/load_cuda.h"

const tilemm__module_t tilemm_cuda_module = {.build = TILEMM__BUILD,
                                             .backend = &tilemm__cuda_backend};
