/* backend.c - the CUDA backend: device, stream, workspace; operands that lie on the host are
 * staged around the operations, which see device memory only.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "kernels/cuda/probe.h"
#include "kernels/sgemm/cuda/planes.h"

/* The workspace that a context starts with, so that a first call can be captured in a graph. */
enum { FIRST_WORKSPACE = 32 << 20 };

tilemm_status_t tilemm__cuda_fail(tilemm_t ctx, const char *what, int cuda_error)
{
    tilemm_status_t status =
        cuda_error == cudaErrorMemoryAllocation ? TILEMM_OUT_OF_MEMORY : TILEMM_DEVICE_FAILURE;
    (void)cudaGetLastError(); /* not the next call's error */
    return tilemm__fail(ctx, status, "%s: %s", what, cudaGetErrorString((cudaError_t)cuda_error));
}

/* What the calling thread had set before a call, to be set again after it. */
typedef struct {
    int device;
    enum cudaStreamCaptureMode mode;
} thread_t;

static thread_t enter_device(int device)
{
    thread_t before = {-1, cudaStreamCaptureModeRelaxed};
    if (cudaGetDevice(&before.device) != cudaSuccess)
        before.device = -1;
    if (before.device != device)
        cudaSetDevice(device);
    /* So that an allocation does not break the capture of another thread. */
    cudaThreadExchangeStreamCaptureMode(&before.mode);
    (void)cudaGetLastError();
    return before;
}

static void leave_device(int device, thread_t before)
{
    cudaThreadExchangeStreamCaptureMode(&before.mode);
    if (before.device >= 0 && before.device != device)
        cudaSetDevice(before.device);
}

static thread_t enter(tilemm_t ctx)
{
    return enter_device(tilemm__cuda(ctx)->device);
}

static tilemm_status_t leave(tilemm_t ctx, thread_t before, tilemm_status_t status)
{
    leave_device(tilemm__cuda(ctx)->device, before);
    return status;
}

tilemm__place_t tilemm__cuda_locate(tilemm_t ctx, const void *pointer)
{
    struct cudaPointerAttributes attributes;
    cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        /* On a lost device every question fails. Then nothing may be read on the host; the kernel
         * that is launched instead reports the loss. */
        return error == cudaErrorInvalidValue ? TILEMM__HOST : TILEMM__DEVICE;
    }
    if (attributes.type == cudaMemoryTypeManaged)
        return TILEMM__MANAGED;
    if (attributes.type != cudaMemoryTypeDevice)
        return TILEMM__HOST;
    return attributes.device == tilemm__cuda(ctx)->device ? TILEMM__DEVICE : TILEMM__ELSEWHERE;
}

static int is_on_host(tilemm_t ctx, const void *pointer)
{
    return tilemm__cuda_locate(ctx, pointer) == TILEMM__HOST;
}

static int attribute(enum cudaDeviceAttr which, int device)
{
    int value = 0;
    (void)cudaDeviceGetAttribute(&value, which, device);
    return value;
}

static void read_traits(tilemm__cuda_traits_t *traits, int device, const char *arch, int built)
{
    struct cudaDeviceProp properties;
    memset(traits, 0, sizeof *traits);
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
        size_t length = strnlen(properties.name, sizeof traits->name - 1);
        memcpy(traits->name, properties.name, length);
        traits->memory_bytes = properties.totalGlobalMem;
    }
    traits->cc = attribute(cudaDevAttrComputeCapabilityMajor, device) * 10 +
                 attribute(cudaDevAttrComputeCapabilityMinor, device);
    if (!strncmp(arch, "sm", 2) && atoi(arch + 2) < traits->cc)
        traits->cc = atoi(arch + 2);
    /* What the kernels do was settled when they were compiled: nothing of 8.0 or 9.0 in code for
     * less. */
    if (traits->cc >= 90 && built < 90)
        traits->cc = 80;
    if (traits->cc >= 80 && built < 80)
        traits->cc = 75;
    if (traits->cc == 90 && !tilemm__sgemm_planes_sm90_is_built())
        traits->cc = 80; /* built for sm_90, whose kernels are those of sm_80 */
    traits->sm_count = attribute(cudaDevAttrMultiProcessorCount, device);
    traits->max_threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
    traits->shared_per_block = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    traits->shared_per_sm = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    traits->l2_bytes = (size_t)attribute(cudaDevAttrL2CacheSize, device);
}

static void release(tilemm__cuda_state_t *state)
{
    if (state->moved)
        cudaEventDestroy(state->moved);
    while (state->captured) {
        tilemm__cuda_buffer_t *next = state->captured->next;
        cudaFree(state->captured->device);
        free(state->captured);
        state->captured = next;
    }
    cudaFree(state->buffer);
    cudaFree(state->small);
    free(state);
}

static tilemm_status_t open_device(tilemm_t ctx, tilemm__cuda_state_t *state)
{
    int built = 0;
    cudaError_t error = cudaSetDevice(state->device);
    if (error == cudaSuccess)
        error = (cudaError_t)tilemm__cuda_probe(&built);
    if (error != cudaSuccess) { /* no such device, or this build has no code for it */
        tilemm__cuda_fail(ctx, "create", error);
        return error == cudaErrorMemoryAllocation ? TILEMM_OUT_OF_MEMORY : TILEMM_NO_DEVICE;
    }
    read_traits(&state->traits, state->device, ctx->arch, built);
    error = cudaEventCreateWithFlags(&state->moved, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaMalloc(&state->small, TILEMM__STAGE_SMALL);
    if (error != cudaSuccess)
        return tilemm__cuda_fail(ctx, "create", error);
    if (cudaMalloc(&state->buffer, FIRST_WORKSPACE) == cudaSuccess)
        state->buffer_bytes = FIRST_WORKSPACE;
    else
        (void)cudaGetLastError(); /* the methods that need none will have to do */
    return TILEMM_SUCCESS;
}

static tilemm_status_t cuda_open(tilemm_t ctx, int device)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    if (error != cudaSuccess || device >= count)
        return TILEMM_NO_DEVICE;
    tilemm__cuda_state_t *state = calloc(1, sizeof *state);
    if (!state)
        return TILEMM_OUT_OF_MEMORY;
    thread_t before = enter_device(device);
    state->device = device;
    tilemm_status_t status = open_device(ctx, state);
    if (status == TILEMM_SUCCESS)
        ctx->state = state;
    else
        release(state);
    leave_device(device, before);
    return status;
}

static tilemm_status_t cuda_close(tilemm_t ctx)
{
    thread_t before = enter(ctx);
    /* The whole device: the user may have destroyed the stream already. */
    tilemm_status_t status =
        cudaDeviceSynchronize() == cudaSuccess ? TILEMM_SUCCESS : TILEMM_DEVICE_FAILURE;
    int device = tilemm__cuda(ctx)->device;
    release(tilemm__cuda(ctx));
    (void)cudaGetLastError();
    leave_device(device, before);
    return status;
}

static tilemm_status_t cuda_synchronize(tilemm_t ctx)
{
    thread_t before = enter(ctx);
    cudaError_t error = cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
    return leave(ctx, before,
                 error == cudaSuccess ? TILEMM_SUCCESS
                                      : tilemm__cuda_fail(ctx, "synchronize", error));
}

static int is_capturing(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaError_t error = cudaStreamIsCapturing(stream, &status);
    (void)cudaGetLastError();
    /* The legacy stream cannot be asked while another stream captures. */
    return error == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone;
}

static tilemm_status_t cuda_set_stream(tilemm_t ctx, void *stream)
{
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    thread_t before = enter(ctx);
    cudaError_t error = cudaSuccess;
    /* The workspace is shared: new work waits for old. A capture cannot wait for what is outside
     * it; there the program orders its streams itself. */
    if (state->stream != (cudaStream_t)stream && !is_capturing(state->stream) &&
        !is_capturing((cudaStream_t)stream)) {
        error = cudaEventRecord(state->moved, state->stream);
        if (error == cudaSuccess)
            error = cudaStreamWaitEvent((cudaStream_t)stream, state->moved, 0);
    }
    if (error == cudaSuccess)
        state->stream = (cudaStream_t)stream;
    return leave(ctx, before,
                 error == cudaSuccess ? TILEMM_SUCCESS
                                      : tilemm__cuda_fail(ctx, "set_stream", error));
}

/* Take a larger buffer, if there is one. The old one is kept if a graph's replays go on using it.
 */
static void grow(tilemm__cuda_state_t *state, size_t bytes)
{
    tilemm__cuda_buffer_t *kept = NULL;
    void *larger = NULL;
    if (state->in_graph && !(kept = malloc(sizeof *kept)))
        return;
    if (cudaMalloc(&larger, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        free(kept);
        return;
    }
    if (kept) {
        *kept = (tilemm__cuda_buffer_t){state->captured, state->buffer};
        state->captured = kept;
    } else {
        cudaFree(state->buffer); /* waits until nothing uses it */
    }
    state->buffer = larger;
    state->buffer_bytes = bytes;
    state->in_graph = 0;
}

void *tilemm__cuda_workspace(tilemm_t ctx, size_t want, size_t *got)
{
    enum { ALIGNMENT = 256 };
    tilemm__cuda_state_t *state = tilemm__cuda(ctx);
    if (ctx->workspace) {
        size_t skip = -(uintptr_t)ctx->workspace % ALIGNMENT;
        *got = ctx->workspace_bytes > skip ? ctx->workspace_bytes - skip : 0;
        return *got ? (char *)ctx->workspace + skip : NULL;
    }
    int capturing = is_capturing(state->stream);
    if (want > state->buffer_bytes && !capturing)
        grow(state, want);
    state->in_graph |= capturing;
    *got = state->buffer_bytes;
    return state->buffer;
}

int tilemm__cuda_is_capturing(tilemm_t ctx)
{
    return is_capturing(tilemm__cuda(ctx)->stream);
}

static tilemm_status_t staged_sgemm(tilemm_t ctx, const tilemm__sgemm_args_t *args)
{
    tilemm__sgemm_args_t p = *args;
    tilemm__stage_t stage;
    thread_t before = enter(ctx);
    int flags_c = TILEMM__STAGE_OUT | (p.beta ? TILEMM__STAGE_IN : 0);
    int64_t rows_a = p.trans_a ? p.k : p.m, cols_a = p.trans_a ? p.m : p.k;
    int64_t rows_b = p.trans_b ? p.n : p.k, cols_b = p.trans_b ? p.k : p.n;
    tilemm__stage_begin(&stage, ctx, "sgemm");
    if (p.c_array) {
        p.c_array = (float *const *)tilemm__stage_array(&stage, (const void *const *)p.c_array,
                                                        p.batch_count, p.m, p.n, sizeof(float),
                                                        &p.ldc, flags_c);
        if (p.k > 0) {
            p.a_array = (const float *const *)tilemm__stage_array(
                &stage, (const void *const *)p.a_array, p.batch_count, rows_a, cols_a,
                sizeof(float), &p.lda, TILEMM__STAGE_IN);
            p.b_array = (const float *const *)tilemm__stage_array(
                &stage, (const void *const *)p.b_array, p.batch_count, rows_b, cols_b,
                sizeof(float), &p.ldb, TILEMM__STAGE_IN);
        }
    } else {
        p.c = tilemm__stage(&stage, p.c, p.batch_count, p.m, p.n, sizeof(float), &p.ldc,
                            &p.stride_c, flags_c);
        if (p.k > 0) {
            p.a = tilemm__stage(&stage, p.a, p.batch_count, rows_a, cols_a, sizeof(float), &p.lda,
                                &p.stride_a, TILEMM__STAGE_IN);
            p.b = tilemm__stage(&stage, p.b, p.batch_count, rows_b, cols_b, sizeof(float), &p.ldb,
                                &p.stride_b, TILEMM__STAGE_IN);
        }
    }
    tilemm_status_t status = stage.status;
    if (status == TILEMM_SUCCESS)
        status = tilemm__cuda_sgemm(ctx, &p);
    return leave(ctx, before, tilemm__stage_end(&stage, status));
}

static tilemm_status_t staged_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    tilemm__transpose_args_t p = *args;
    tilemm__stage_t stage;
    thread_t before = enter(ctx);
    tilemm__stage_begin(&stage, ctx, "transpose");
    if (!p.scaled || p.alpha != 0.0f)
        p.src = tilemm__stage(&stage, p.src, p.batch_count, p.rows, p.cols, p.elem_size, &p.ld_src,
                              &p.stride_src, TILEMM__STAGE_IN);
    p.dst = tilemm__stage(&stage, p.dst, p.batch_count, p.trans ? p.cols : p.rows,
                          p.trans ? p.rows : p.cols, p.elem_size, &p.ld_dst, &p.stride_dst,
                          TILEMM__STAGE_OUT);
    tilemm_status_t status = stage.status;
    if (status == TILEMM_SUCCESS)
        status = tilemm__cuda_transpose(ctx, &p);
    return leave(ctx, before, tilemm__stage_end(&stage, status));
}

static tilemm_status_t staged_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    tilemm__transpose_args_t p = *args;
    tilemm__stage_t stage;
    int64_t no_stride = 0;
    thread_t before = enter(ctx);
    tilemm__stage_begin(&stage, ctx, "transpose");
    p.dst = tilemm__stage(&stage, p.dst, 1, p.rows, p.cols, p.elem_size, &p.ld_src, &no_stride,
                          TILEMM__STAGE_IN);
    p.src = p.dst;
    if (p.dst != args->dst) /* dense on the device, where the two layouts take the same room */
        p.ld_dst = p.trans ? p.rows : p.cols;
    tilemm_status_t status = stage.status;
    if (status == TILEMM_SUCCESS)
        status = tilemm__cuda_transpose_inplace(ctx, &p);
    if (status == TILEMM_SUCCESS && p.dst != args->dst)
        tilemm__stage_copy_out(&stage, args->dst, p.dst, p.trans ? p.cols : p.rows, p.ld_dst,
                               p.elem_size, args->ld_dst);
    return leave(ctx, before, tilemm__stage_end(&stage, status));
}

static tilemm_status_t staged_reduce(tilemm_t ctx, const tilemm__reduce_args_t *args)
{
    tilemm__reduce_args_t p = *args;
    tilemm__stage_t stage;
    int64_t no_stride = 0, out_stride = p.out_stride;
    if (p.out && p.index_out && is_on_host(ctx, p.out) != is_on_host(ctx, p.index_out)) {
        /* Both results share a stride, which staging changes: one after the other. */
        p.index_out = NULL;
        tilemm_status_t status = staged_reduce(ctx, &p);
        p = *args;
        p.out = NULL;
        return status == TILEMM_SUCCESS ? staged_reduce(ctx, &p) : status;
    }
    thread_t before = enter(ctx);
    tilemm__stage_begin(&stage, ctx, "reduce");
    if (p.n > 0 && p.count > 1 && p.vstride == 1)
        p.x = tilemm__stage(&stage, p.x, 1, p.n, p.count, sizeof(float), &p.istride, &no_stride,
                            TILEMM__STAGE_IN);
    else if (p.n > 0 && p.count > 1)
        p.x = tilemm__stage(&stage, p.x, 1, p.count, p.n, sizeof(float), &p.vstride, &no_stride,
                            TILEMM__STAGE_IN);
    else if (p.n > 0)
        p.x = tilemm__stage(&stage, p.x, 1, p.n, 1, sizeof(float), &p.istride, &no_stride,
                            TILEMM__STAGE_IN);
    if (p.n > 0 && p.op == TILEMM__DOT)
        p.y = tilemm__stage(&stage, p.y, 1, p.n, 1, sizeof(float), &p.y_istride, &no_stride,
                            TILEMM__STAGE_IN);
    p.out = tilemm__stage(&stage, p.out, 1, p.count, 1, sizeof(float), &out_stride, &no_stride,
                          TILEMM__STAGE_OUT);
    if (p.index_out) {
        out_stride = args->out_stride;
        p.index_out = tilemm__stage(&stage, p.index_out, 1, p.count, 1, sizeof(int64_t),
                                    &out_stride, &no_stride, TILEMM__STAGE_OUT);
    }
    p.out_stride = out_stride;
    tilemm_status_t status = stage.status;
    if (status == TILEMM_SUCCESS)
        status = tilemm__cuda_reduce(ctx, &p);
    return leave(ctx, before, tilemm__stage_end(&stage, status));
}

/* x on the host: its extent stands in the offsets, which may lie on the device. */
static const float *stage_segments(tilemm__stage_t *stage, const tilemm__segments_args_t *p)
{
    tilemm_t ctx = stage->ctx;
    const int64_t *offsets = p->offsets;
    int64_t *copy = NULL;
    if (!is_on_host(ctx, p->x)) { /* as it is, or refused */
        int64_t ld = 1, stride = 0;
        return tilemm__stage(stage, p->x, 1, 1, 1, sizeof(float), &ld, &stride, 0);
    }
    if (!is_on_host(ctx, offsets)) {
        size_t bytes = ((size_t)p->segments + 1) * sizeof *copy;
        if (!(copy = malloc(bytes))) {
            stage->status = tilemm__fail(ctx, TILEMM_OUT_OF_MEMORY, "reduce: host memory ran out");
            return NULL;
        }
        cudaError_t error = cudaMemcpyAsync(copy, offsets, bytes, cudaMemcpyDeviceToHost,
                                            tilemm__cuda(ctx)->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(tilemm__cuda(ctx)->stream);
        if (error != cudaSuccess)
            stage->status = tilemm__cuda_fail(ctx, "reduce", error);
        offsets = copy;
    }
    const float *x = p->x;
    if (stage->status == TILEMM_SUCCESS) {
        int64_t first = INT64_MAX, last = 0;
        for (int64_t s = 0; s < p->segments; s++) { /* offsets on the device may decrease */
            if (offsets[s] < 0 || offsets[s] >= offsets[s + 1])
                continue;
            first = offsets[s] < first ? offsets[s] : first;
            last = offsets[s + 1] > last ? offsets[s + 1] : last;
        }
        int64_t n = last - first, ld = n, stride = 0;
        if (last > 0) {
            const float *staged = tilemm__stage(stage, x + first, 1, 1, n, sizeof(float), &ld,
                                                &stride, TILEMM__STAGE_IN);
            /* Offsets count from x, which has no place on the device if first is not 0. */
            x = (const float *)((uintptr_t)staged - (uintptr_t)first * sizeof(float));
        }
    }
    free(copy);
    return x;
}

static tilemm_status_t staged_segments(tilemm_t ctx, const tilemm__segments_args_t *args)
{
    tilemm__segments_args_t p = *args;
    tilemm__stage_t stage;
    int64_t ld = p.segments + 1, no_stride = 0;
    thread_t before = enter(ctx);
    tilemm__stage_begin(&stage, ctx, "reduce");
    if (p.x)
        p.x = stage_segments(&stage, &p);
    p.offsets = tilemm__stage(&stage, p.offsets, 1, 1, p.segments + 1, sizeof(int64_t), &ld,
                              &no_stride, TILEMM__STAGE_IN);
    ld = p.segments;
    p.out = tilemm__stage(&stage, p.out, 1, 1, p.segments, sizeof(float), &ld, &no_stride,
                          TILEMM__STAGE_OUT);
    tilemm_status_t status = stage.status;
    if (status == TILEMM_SUCCESS)
        status = tilemm__cuda_reduce_segments(ctx, &p);
    return leave(ctx, before, tilemm__stage_end(&stage, status));
}

const tilemm__backend_t tilemm__cuda_backend = {
    .id = TILEMM_BACKEND_CUDA,
    .locate = tilemm__cuda_locate,
    .open = cuda_open,
    .close = cuda_close,
    .synchronize = cuda_synchronize,
    .set_stream = cuda_set_stream,
    .sgemm = staged_sgemm,
    .sgemm_workspace = tilemm__cuda_sgemm_workspace,
    .transpose = staged_transpose,
    .transpose_inplace = staged_transpose_inplace,
    .reduce = staged_reduce,
    .reduce_segments = staged_segments,
};
