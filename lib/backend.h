/* backend.h - the one interface that a backend fills.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_BACKEND_H
#define TILEMM_LIB_BACKEND_H

#include "kernels/args.h"
#include "tilemm.h"

/* Where memory is; ELSEWHERE is another GPU than the context's. */
typedef enum { TILEMM__HOST, TILEMM__DEVICE, TILEMM__MANAGED, TILEMM__ELSEWHERE } tilemm__place_t;

/* Entry points check arguments and bring problems to the form of kernels/args.h; the backend finds
 * out where pointers lie, plans, stages and runs. A function that does not return TILEMM_SUCCESS
 * has set the context's message (tilemm__fail). */
typedef struct tilemm__backend {
    tilemm_backend_t id;
    tilemm__place_t (*locate)(tilemm_t ctx, const void *pointer);
    tilemm_status_t (*open)(tilemm_t ctx, int device); /* fills ctx->state */
    /* The same over several devices; sets ctx->backend too. NULL: there are none. */
    tilemm_status_t (*open_multi)(tilemm_t ctx, int count, const int *devices);
    tilemm_status_t (*close)(tilemm_t ctx);
    tilemm_status_t (*synchronize)(tilemm_t ctx);
    tilemm_status_t (*set_stream)(tilemm_t ctx, void *stream);
    int (*threads)(tilemm_t ctx);        /* in use; NULL: the number that was set has no effect */
    const char *(*tuning)(tilemm_t ctx); /* as tilemm_tuning(); NULL: there is none */
    tilemm_status_t (*sgemm)(tilemm_t ctx, const tilemm__sgemm_args_t *args);
    /* The bytes of workspace with which it runs at its best, whatever the addresses. */
    size_t (*sgemm_workspace)(tilemm_t ctx, const tilemm__sgemm_args_t *args);
    tilemm_status_t (*transpose)(tilemm_t ctx, const tilemm__transpose_args_t *args);
    tilemm_status_t (*transpose_inplace)(tilemm_t ctx, const tilemm__transpose_args_t *args);
    tilemm_status_t (*reduce)(tilemm_t ctx, const tilemm__reduce_args_t *args);
    tilemm_status_t (*reduce_segments)(tilemm_t ctx, const tilemm__segments_args_t *args);
    /* Matrices that keep their layout: trans and scaled are 0. NULL: as a transpose. */
    tilemm_status_t (*copy)(tilemm_t ctx, const tilemm__transpose_args_t *args);
    /* Memory other than the host's own, and host memory pinned. NULL: there is none. */
    tilemm_status_t (*allocate)(tilemm_t ctx, tilemm_memory_t where, size_t bytes, void **memory);
    tilemm_status_t (*deallocate)(tilemm_t ctx, tilemm_memory_t where, void *memory);
    tilemm_status_t (*pin)(tilemm_t ctx, void *memory, size_t bytes);
    tilemm_status_t (*unpin)(tilemm_t ctx, void *memory);
    /* NULL, or: do a single product, transposition or reduction of a vector with increments of 1 if
     * it is small, and return 1; else 0. Where operands lie and reach is not checked (quick.h). */
    int (*sgemm_small)(tilemm_t ctx, const tilemm__sgemm_args_t *args);
    int (*transpose_small)(tilemm_t ctx, const tilemm__transpose_args_t *args);
    int (*reduce_small)(tilemm_t ctx, const tilemm__reduce_args_t *args);
} tilemm__backend_t;

extern const tilemm__backend_t tilemm__cpu_backend;

/* The one symbol through which the library reaches its CUDA side, by lib/load_cuda.h. */
extern const tilemm__backend_t tilemm__cuda_backend;

#endif
