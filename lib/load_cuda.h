/* load_cuda.h - the CUDA backend: in a module of its own, which is loaded when it is first wanted,
 * so that the library itself links nothing of CUDA. A static library holds the backend itself.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_LOAD_CUDA_H
#define TILEMM_LIB_LOAD_CUDA_H

#include "backend.h"

/* What the module exports, under the name tilemm_cuda_module. The first member stays the first. */
typedef struct {
    const char *build; /* TILEMM__BUILD of lib/build_id.h: must be the library's */
    const tilemm__backend_t *backend;
} tilemm__module_t;

/* The CUDA backend. NULL if there is none: then *why says so, in words that stay. */
const tilemm__backend_t *tilemm__load_cuda(const char **why);

#endif
