/* internal.h - the context, and what the parts of lib/ share.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_INTERNAL_H
#define TILEMM_LIB_INTERNAL_H

#include "backend.h"
#include "tilemm.h"

#define TILEMM__PRINTF(string, first) __attribute__((format(printf, string, first)))

/* Memory that a context has allocated (lib/memory.c), or pinned. */
typedef struct tilemm__holding {
    struct tilemm__holding *next;
    void *memory;
    tilemm_memory_t where;
    int registered;
} tilemm__holding_t;

struct tilemm_context {
    const tilemm__backend_t *backend;
    void *state;  /* the backend's own */
    int device;   /* the CUDA device's ordinal; -1 on a CPU context */
    void *stream; /* tilemm_set_stream */
    tilemm_math_t math;
    tilemm_invariance_t invariance;
    tilemm_nan_t nan_policy;
    int threads;      /* tilemm_set_threads; 0: the default */
    int env_threads;  /* TILEMM_NUM_THREADS; 0 if unset */
    int env_log;      /* TILEMM_LOG */
    int no_peers;     /* TILEMM_PEER=0 */
    tilemm_log_t log; /* takes each call's line; NULL: nobody does */
    void *log_user;
    int looked;          /* the CPU backend: for the GPU's driver, in this operation */
    char arch[16];       /* TILEMM_ARCH, or "" */
    char timeline[1024]; /* TILEMM_TIMELINE: a file's name, or "" */
    char variant[64];    /* TILEMM_VARIANT, or "": the kernels that plans may choose */
    void *workspace;     /* the user's, or NULL */
    size_t workspace_bytes;
    size_t device_memory; /* tilemm_set_device_memory; 0: what is free */
    tilemm__holding_t *holdings;
    const char *last_kernel; /* static, or kernel_text */
    char kernel_text[64];
    char last_error[256];
};

/* Store the message and return status: "return tilemm__fail(ctx, TILEMM_..., "sgemm: ...")". */
tilemm_status_t tilemm__fail(tilemm_t ctx, tilemm_status_t status, const char *format, ...)
    TILEMM__PRINTF(3, 4);
/* The same for an invalid argument, found by a check: 0. */
#define tilemm__refuse(ctx, ...) (tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT, __VA_ARGS__), 0)

/* Store the name of the kernel that does the main work. */
void tilemm__set_kernel(tilemm_t ctx, const char *name);
/* The same, and faster, for a text that stays: a static one, or kernel_text. */
void tilemm__set_kernel_name(tilemm_t ctx, const char *name);

/* Give one line to ctx->log, if there is one: "tilemm bench ... --backend cpu". */
void tilemm__log(tilemm_t ctx, const char *format, ...) TILEMM__PRINTF(2, 3);

/* lib/memory.c: release what the context holds. */
void tilemm__release_holdings(tilemm_t ctx);

static inline int tilemm__is_elem_size(size_t elem_size)
{
    return elem_size > 0 && elem_size <= 16 && (elem_size & (elem_size - 1)) == 0;
}

/* lib/check.c: checks of arguments. Each returns 1, or 0 once the message is stored. `where` is the
 * operation's name. */

/* Not NULL (for which there is no message). Where an operation begins: forgets the last kernel. */
int tilemm__check_context(tilemm_t ctx);

int tilemm__check_at_least(tilemm_t ctx, const char *where, const char *name, int64_t value,
                           int64_t least);
int tilemm__check_layout(tilemm_t ctx, const char *where, tilemm_layout_t layout);
int tilemm__check_op(tilemm_t ctx, const char *where, const char *name, tilemm_op_t op);
int tilemm__check_increment(tilemm_t ctx, const char *where, const char *name, int64_t increment);
/* Not NULL, a multiple of `alignment`, and on a CPU context not on a device. */
int tilemm__check_pointer(tilemm_t ctx, const char *where, const char *name, const void *pointer,
                          size_t alignment);
/* ld >= width and >= 1. note explains the width, as in "row-major, NO_TRANS, k = 8". */
int tilemm__check_ld(tilemm_t ctx, const char *where, const char *ld_name, int64_t width,
                     int64_t ld, const char *note);
/* All addresses of batch matrices of rows x width elements, stride apart, lie within a ptrdiff_t
 * of bytes. For operands that are used. */
int tilemm__check_span(tilemm_t ctx, const char *where, const char *name, const char *ld_name,
                       int64_t rows, int64_t width, int64_t ld, int64_t batch, int64_t stride,
                       size_t elem_size);
/* Offsets of segments that the host can read: none negative, none below the one before. */
int tilemm__check_offsets(tilemm_t ctx, int64_t segments, const int64_t *offsets);

#endif
