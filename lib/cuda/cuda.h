/* cuda.h - the CUDA backend's own state and services: device, stream, workspace, staging; and its
 * operations.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_LIB_CUDA_CUDA_H
#define TILEMM_LIB_CUDA_CUDA_H

#include <cuda_runtime_api.h>

#include "lib/internal.h"
#include "lib/plan.h"
#include "lib/traits.h"

typedef struct tilemm__cuda_buffer {
    struct tilemm__cuda_buffer *next;
    void *device;
} tilemm__cuda_buffer_t;

typedef struct {
    int device;
    cudaStream_t stream;
    cudaEvent_t moved; /* orders a new stream after the old one */
    tilemm__cuda_traits_t traits;
    void *buffer; /* workspace of the context's own, device memory */
    size_t buffer_bytes;
    void *small;     /* TILEMM__STAGE_SMALL bytes for staging */
    void *chunks[2]; /* pinned, for pageable operands: up, and down */
    void *strips;    /* of operands on other GPUs, for products that do not wait */
    size_t strips_bytes;
    void *choices;                   /* of products before (lib/sgemm/choices_cuda.h), or NULL */
    int of_several;                  /* a member of a context over several devices (multi.h), */
    int sharers;                     /* members on this device */
    int in_graph;                    /* a capture has used the buffer */
    tilemm__cuda_buffer_t *captured; /* earlier ones that captures used: kept to the end */
} tilemm__cuda_state_t;

static inline tilemm__cuda_state_t *tilemm__cuda(tilemm_t ctx)
{
    return (tilemm__cuda_state_t *)ctx->state;
}

/* ---- lib/cuda/device.c ------------------------------------------------------------------- */

/* Turn a CUDA error into a status and message: "sgemm: launch: out of memory". */
tilemm_status_t tilemm__cuda_fail(tilemm_t ctx, const char *what, int cuda_error);

/* Of a call that has failed on the way. */
#define TILEMM__UNDEFINED "what the call writes is undefined"

/* Whether this process can read the byte. It cannot where memory of the host or of a GPU was freed:
 * the driver takes both for the host's, and a copy would crash. */
int tilemm__cuda_is_readable(const void *byte);
/* The error of a copy from or to such memory, which tilemm__cuda_fail() puts in words. */
#define TILEMM__UNREADABLE cudaErrorInvalidHostPointer

/* What the calling thread had set before a call, to be set again after it: its device, and whether
 * an allocation breaks another thread's capture. enter makes the context's device current. */
typedef struct {
    int device;
    enum cudaStreamCaptureMode mode;
} tilemm__cuda_thread_t;

tilemm__cuda_thread_t tilemm__cuda_enter_device(int device);
void tilemm__cuda_leave_device(int device, tilemm__cuda_thread_t before);
tilemm__cuda_thread_t tilemm__cuda_enter(tilemm_t ctx);
/* Returns status. */
tilemm_status_t tilemm__cuda_leave(tilemm_t ctx, tilemm__cuda_thread_t before,
                                   tilemm_status_t status);

tilemm__place_t tilemm__cuda_locate(tilemm_t ctx, const void *pointer);
int tilemm__cuda_is_on_host(tilemm_t ctx, const void *pointer);
/* Whether it must be staged: it lies on the host, or on another GPU. */
int tilemm__cuda_is_far(tilemm_t ctx, const void *pointer);

/* The device's traits, capped by TILEMM_ARCH (`arch`) and by the compute capability that this build
 * has code for. */
void tilemm__cuda_read_traits(tilemm__cuda_traits_t *traits, int device, const char *arch,
                              int built);

/* What a plan for the context's device is given, with at most `workspace` bytes. */
tilemm__limits_t tilemm__cuda_limits(tilemm_t ctx, size_t workspace);

/* ---- lib/cuda/workspace.c ----------------------------------------------------------------- */

/* Up to `want` bytes of device workspace, 256-byte aligned: the user's, or the context's own, which
 * may grow (and wait for the stream). *got is less, or 0 (and NULL returned), where the user gave
 * less, memory ran out, or a capture forbids to grow. Valid until the next call. */
void *tilemm__cuda_workspace(tilemm_t ctx, size_t want, size_t *got);

/* Memory of `bytes` from the stream's pool, 256-byte aligned, for what a call must have beyond that
 * workspace, also while a graph is captured: NULL if there is none. It goes back in the order of
 * the stream. */
void *tilemm__cuda_lend(tilemm_t ctx, size_t bytes);
void tilemm__cuda_return(tilemm_t ctx, void *memory);

/* A buffer of `bytes`, at most `most`, that the context keeps, for strips and pieces of
 * what lies elsewhere: NULL if there is no memory. Calls use it in the order of the stream. */
void *tilemm__cuda_strips(tilemm_t ctx, size_t bytes, size_t most);
void tilemm__cuda_release_strips(tilemm_t ctx);
/* Release it unless the next call may have it: if it is more than a quarter of the memory. The
 * driver clears what is freed, and copies of a call that takes it again would wait for that. */
void tilemm__cuda_trim_strips(tilemm_t ctx);

/* Whether the stream is being captured in a graph. */
int tilemm__cuda_is_capturing(cudaStream_t stream);

/* ---- lib/cuda/memory.c -------------------------------------------------------------------- */

tilemm_status_t tilemm__cuda_allocate(tilemm_t ctx, tilemm_memory_t where, size_t bytes,
                                      void **memory);
tilemm_status_t tilemm__cuda_deallocate(tilemm_t ctx, tilemm_memory_t where, void *memory);
tilemm_status_t tilemm__cuda_pin(tilemm_t ctx, void *memory, size_t bytes);
tilemm_status_t tilemm__cuda_unpin(tilemm_t ctx, void *memory);
tilemm_status_t tilemm__cuda_copy(tilemm_t ctx, const tilemm__transpose_args_t *args);

/* Whether it is host memory that is not pinned: copies of it wait, or run at half the speed. */
int tilemm__cuda_is_pageable(const void *pointer);

/* Queue a copy of rows of `width` bytes between any two places; pitches are bytes of any sign. */
cudaError_t tilemm__cuda_copy_rows(void *to, int64_t pitch_to, const void *from, int64_t pitch_from,
                                   int64_t width, int64_t rows, cudaStream_t stream);

/* ---- lib/cuda/stage.c --------------------------------------------------------------------- */

/* Copies on the device of operands that lie on the host. A stage begins with a call, and enters the
 * device; operands are added, the kernels run on the device addresses, and the stage ends: results
 * are copied out, all is waited for and freed. With no host operand nothing is copied. */
enum { TILEMM__STAGE_IN = 1, TILEMM__STAGE_OUT = 2 };
enum { TILEMM__STAGE_SMALL = 64 << 10 }; /* bytes that need no allocation */

typedef struct {
    tilemm_t ctx;
    tilemm__cuda_thread_t before;
    const char *what;       /* the operation, for messages */
    tilemm_status_t status; /* the first failure, also of the work; nothing is done after it */
    int active;             /* an operand was on the host */
    size_t small_used;
    struct tilemm__stage_slab *slabs;
    struct tilemm__stage_result *results;
    struct tilemm__stage_host *hosts;
} tilemm__stage_t;

tilemm__stage_t tilemm__stage_begin(tilemm_t ctx, const char *what);

/* An operand of `batch` matrices of rows x cols elements of elem_size bytes, *ld elements from row
 * to row and *stride from matrix to matrix (each may be negative). Returns the device address of a
 * dense copy, and sets *ld and *stride to the copy's; an operand on the device stays as it is. NULL
 * after a failure. Copies elements in if flags has STAGE_IN, and out at the end if STAGE_OUT. */
void *tilemm__stage(tilemm__stage_t *stage, const void *pointer, int64_t batch, int64_t rows,
                    int64_t cols, size_t elem_size, int64_t *ld, int64_t *stride, int flags);

/* The same for a batch given by an array of pointers, on the host or the device; the matrices of an
 * array on the host may each be on either. */
void *tilemm__stage_array(tilemm__stage_t *stage, const void *const *array, int64_t batch,
                          int64_t rows, int64_t cols, size_t elem_size, int64_t *ld, int flags);

/* Have a dense matrix on the device copied out to the host at the end. */
void tilemm__stage_copy_out(tilemm__stage_t *stage, void *host, const void *device, int64_t rows,
                            int64_t cols, size_t elem_size, int64_t ld);

/* Returns stage->status. */
tilemm_status_t tilemm__stage_end(tilemm__stage_t *stage);

/* ---- the operations ----------------------------------------------------------------------- */

/* Do a product in strips, or a batch in pieces, if its operands on the host are large, or need more
 * device memory than the context may take: returns 1, and its status; else 0. */
int tilemm__cuda_pipelined_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                 tilemm_status_t *status);
/* A member's part of the product `whole`, k not 0, with operands anywhere, on other GPUs too, which
 * are peer_link times as fast to reach as the host by PCIe 5: those go through in strips. It waits
 * if any lies on the host. relay, or NULL: see relay.h. */
struct tilemm__relay;
tilemm_status_t tilemm__cuda_sgemm_part(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                        const tilemm__sgemm_args_t *whole, double peer_link,
                                        struct tilemm__relay *relay, int member);
/* The same of transposes and reductions in pieces (pieces_cuda.c); in place where that is possible.
 */
int tilemm__cuda_transpose_pieces(tilemm_t ctx, const tilemm__transpose_args_t *args,
                                  tilemm_status_t *status);
int tilemm__cuda_reduce_pieces(tilemm_t ctx, const tilemm__reduce_args_t *args,
                               tilemm_status_t *status);
/* Partial results of elements [begin, end) of the only vector of args, which lies on the host: one
 * for each TILEMM__KEPT_ELEMENTS, at their places among those of all the vector (tilemm__part_of).
 * begin is a multiple of that. */
tilemm_status_t tilemm__cuda_reduce_range(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                          int64_t begin, int64_t end, void *partials);
/* x lies on the host; offsets are those of args, where the host can read them. */
int tilemm__cuda_segments_pieces(tilemm_t ctx, const tilemm__segments_args_t *args,
                                 const int64_t *offsets, tilemm_status_t *status);
/* stage_cuda.c of each operation: operands anywhere. */
tilemm_status_t tilemm__cuda_staged_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args);
tilemm_status_t tilemm__cuda_staged_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cuda_staged_transpose_inplace(tilemm_t ctx,
                                                      const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cuda_staged_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args);
tilemm_status_t tilemm__cuda_staged_segments(tilemm_t ctx, const tilemm__segments_args_t *args);

/* run_cuda.c: device addresses only. They plan, launch on the context's stream, and neither wait
 * nor allocate but through tilemm__cuda_workspace() and tilemm__cuda_lend(). */
tilemm_status_t tilemm__cuda_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args);
size_t tilemm__cuda_sgemm_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args);
/* One product of several whose operands' planes stay in the workspace, if `kept` is not NULL; and
 * the workspace that it must have to keep them, 0 if its kernel has no planes that can stay. */
tilemm_status_t tilemm__cuda_sgemm_kept(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                        const tilemm__sgemm_kept_t *kept);
size_t tilemm__cuda_sgemm_kept_workspace(tilemm_t ctx, const tilemm__sgemm_args_t *args,
                                         const tilemm__sgemm_kept_t *kept);
tilemm_status_t tilemm__cuda_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cuda_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args);
tilemm_status_t tilemm__cuda_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args);
/* Partial results of a part of each vector: see tilemm__plan_reduce_part_cuda and tilemm__part_of.
 */
tilemm_status_t tilemm__cuda_reduce_part(tilemm_t ctx, const tilemm__reduce_args_t *args,
                                         int64_t unit, int64_t first_index, void *partials);
tilemm_status_t tilemm__cuda_reduce_segments(tilemm_t ctx, const tilemm__segments_args_t *args);

#endif
