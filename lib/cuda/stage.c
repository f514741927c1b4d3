/* stage.c - staging: copies on the device of operands that lie on the host.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

/* Device memory, from which operands take their share. */
struct tilemm__stage_slab {
    struct tilemm__stage_slab *next;
    char *device;
    size_t bytes, used;
};

/* The user's matrices, `stride` bytes apart, of rows of `width` bytes, `ld` bytes apart: on the
 * host or (in a batch of pointers with others on the host) on the device. Their copy is dense. */
typedef struct {
    char *user;
    int on_device;
    int64_t batch, rows, width, ld, stride;
} matrix_t;

static matrix_t matrix_of(const void *user, int64_t rows, int64_t cols, size_t elem_size,
                          int64_t ld)
{
    const int64_t size = (int64_t)elem_size;
    return (matrix_t){(char *)(uintptr_t)user,  0, 1, rows, cols * size,
                      rows > 1 ? ld * size : 0, 0};
}

/* What is to be copied out at the end. */
struct tilemm__stage_result {
    struct tilemm__stage_result *next;
    const char *device;
    matrix_t matrix;
};

/* Host memory that lasts to the end: copies read and write it, and the lists above lie in it. */
struct tilemm__stage_host {
    struct tilemm__stage_host *next;
    max_align_t data[];
};

enum { ALIGNMENT = 256, SLAB_BYTES = 4 << 20 };

/* Rows narrower than this are gathered by the CPU: the copy engine takes them one by one. */
enum { NARROW_BYTES = 64 };

/* The copy engine's largest distance between rows. */
static const int64_t max_pitch = INT32_MAX;

static int failed(tilemm__stage_t *stage, cudaError_t error)
{
    if (error != cudaSuccess && stage->status == TILEMM_SUCCESS)
        stage->status = tilemm__cuda_fail(stage->ctx, stage->what, error);
    return stage->status != TILEMM_SUCCESS;
}

static void *host_malloc(tilemm__stage_t *stage, size_t bytes)
{
    struct tilemm__stage_host *block = malloc(sizeof *block + bytes);
    if (!block) {
        stage->status =
            tilemm__fail(stage->ctx, TILEMM_OUT_OF_MEMORY, "%s: host memory ran out", stage->what);
        return NULL;
    }
    block->next = stage->hosts;
    stage->hosts = block;
    return block->data;
}

static void *device_malloc(tilemm__stage_t *stage, size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes <= TILEMM__STAGE_SMALL - stage->small_used) {
        stage->small_used += bytes;
        return (char *)tilemm__cuda(stage->ctx)->small + stage->small_used - bytes;
    }
    struct tilemm__stage_slab *slab = stage->slabs;
    if (!slab || bytes > slab->bytes - slab->used) {
        const size_t size = bytes > SLAB_BYTES ? bytes : SLAB_BYTES;
        void *device = NULL;
        slab = host_malloc(stage, sizeof *slab);
        if (!slab || failed(stage, cudaMalloc(&device, size)))
            return NULL;
        *slab = (struct tilemm__stage_slab){stage->slabs, device, size, 0};
        stage->slabs = slab;
    }
    slab->used += bytes;
    return slab->device + slab->used - bytes;
}

/* Move a matrix between its place on the host and dense host memory. */
static void pack(const matrix_t *m, char *dense, int out)
{
    for (int64_t b = 0; b < m->batch; b++)
        for (int64_t r = 0; r < m->rows; r++, dense += m->width) {
            char *row = m->user + b * m->stride + r * m->ld;
            memcpy(out ? row : dense, out ? dense : row, (size_t)m->width);
        }
}

/* Bring a matrix to fewer, longer rows where its memory allows. */
static void merge_rows(matrix_t *m)
{
    if (m->rows == 1 || m->ld == m->width) { /* each matrix is one piece */
        m->width *= m->rows;
        m->rows = m->batch;
        m->ld = m->stride;
        m->batch = 1;
    } else if (m->batch > 1 && m->stride == m->rows * m->ld) { /* one rhythm throughout */
        m->rows *= m->batch;
        m->batch = 1;
    }
    if (m->batch == 1 && m->ld == m->width) {
        m->width *= m->rows;
        m->rows = 1;
    }
}

/* Copy between the user's matrix and its dense copy on the device. */
static void copy(tilemm__stage_t *stage, matrix_t m, char *device, int out)
{
    cudaStream_t stream = tilemm__cuda(stage->ctx)->stream;
    const enum cudaMemcpyKind kind = cudaMemcpyDefault; /* as the addresses say */
    merge_rows(&m);
    const size_t width = (size_t)m.width;
    const char *const last = m.user + (m.batch - 1) * m.stride + (m.rows - 1) * m.ld + m.width - 1;
    if (!m.on_device && !(tilemm__cuda_is_readable(m.user) && tilemm__cuda_is_readable(last))) {
        (void)failed(stage, TILEMM__UNREADABLE);
        return;
    }
    if (m.rows > 1 && m.width < NARROW_BYTES && !m.on_device) {
        const size_t bytes = (size_t)(m.batch * m.rows) * width;
        char *dense = host_malloc(stage, bytes);
        if (!dense)
            return;
        if (!out)
            pack(&m, dense, 0);
        cudaError_t error =
            cudaMemcpyAsync(out ? dense : device, out ? device : dense, bytes, kind, stream);
        if (out && error == cudaSuccess)
            error = cudaStreamSynchronize(stream);
        if (!failed(stage, error) && out)
            pack(&m, dense, 1);
        return;
    }
    /* Rows may overlap, in a batch whose stride is small; the copy engine refuses that. */
    const int at_once = m.rows > 1 && m.ld >= m.width && m.ld <= max_pitch;
    const size_t height = at_once ? (size_t)m.rows : 1, pitch = (size_t)m.ld;
    for (int64_t b = 0; b < m.batch; b++)
        for (int64_t r = 0; r < m.rows; r += (int64_t)height, device += height * width) {
            char *user = m.user + b * m.stride + r * m.ld;
            char *to = out ? user : device, *from = out ? device : user;
            if (failed(stage,
                       at_once ? cudaMemcpy2DAsync(to, out ? pitch : width, from,
                                                   out ? width : pitch, width, height, kind, stream)
                               : cudaMemcpyAsync(to, from, width, kind, stream)))
                return;
        }
}

static void add_result(tilemm__stage_t *stage, const matrix_t *matrix, const void *device)
{
    struct tilemm__stage_result *result = host_malloc(stage, sizeof *result);
    if (!result)
        return;
    *result = (struct tilemm__stage_result){stage->results, device, *matrix};
    stage->results = result;
}

/* The first operand on the host: the call will wait, which a capture cannot. A call that is refused
 * leaves the capture as it is. */
static int activate(tilemm__stage_t *stage)
{
    if (stage->status == TILEMM_SUCCESS && !stage->active) {
        stage->active = !tilemm__cuda_is_capturing(tilemm__cuda(stage->ctx)->stream);
        if (!stage->active)
            stage->status =
                tilemm__fail(stage->ctx, TILEMM_NOT_SUPPORTED,
                             "%s: operands on the host cannot be captured in a graph", stage->what);
    }
    return stage->status == TILEMM_SUCCESS;
}

/* Where the pointer lies; ELSEWHERE only if it may lie there. */
static tilemm__place_t place_of(tilemm__stage_t *stage, const void *pointer)
{
    tilemm__place_t place = tilemm__cuda_locate(stage->ctx, pointer);
    if (place == TILEMM__ELSEWHERE && !tilemm__cuda(stage->ctx)->of_several &&
        stage->status == TILEMM_SUCCESS)
        stage->status = tilemm__fail(stage->ctx, TILEMM_INVALID_ARGUMENT,
                                     "%s: %p is in the memory of another GPU, must be in that of "
                                     "the context's or in host memory",
                                     stage->what, pointer);
    return place;
}

/* Whether the GPU can use it as it is. */
static int is_usable(tilemm__place_t place)
{
    return place == TILEMM__DEVICE || place == TILEMM__MANAGED;
}

static void *stage_matrix(tilemm__stage_t *stage, const matrix_t *matrix, int flags)
{
    char *device = device_malloc(stage, (size_t)(matrix->batch * matrix->rows * matrix->width));
    if (!device)
        return NULL;
    if (flags & TILEMM__STAGE_IN)
        copy(stage, *matrix, device, 0);
    if (flags & TILEMM__STAGE_OUT)
        add_result(stage, matrix, device);
    return stage->status == TILEMM_SUCCESS ? device : NULL;
}

tilemm__stage_t tilemm__stage_begin(tilemm_t ctx, const char *what)
{
    return (tilemm__stage_t){.ctx = ctx, .before = tilemm__cuda_enter(ctx), .what = what};
}

void *tilemm__stage(tilemm__stage_t *stage, const void *pointer, int64_t batch, int64_t rows,
                    int64_t cols, size_t elem_size, int64_t *ld, int64_t *stride, int flags)
{
    if (!pointer || stage->status != TILEMM_SUCCESS)
        return NULL;
    const tilemm__place_t place = place_of(stage, pointer);
    if (is_usable(place))
        return (void *)(uintptr_t)pointer;
    if (!activate(stage))
        return NULL;
    const int once = *stride == 0; /* the same matrix for the whole batch */
    matrix_t matrix = matrix_of(pointer, rows, cols, elem_size, *ld);
    matrix.on_device = place == TILEMM__ELSEWHERE;
    if (batch > 1 && !once) {
        matrix.batch = batch;
        matrix.stride = *stride * (int64_t)elem_size;
    }
    *ld = cols;
    *stride = once ? 0 : rows * cols;
    return stage_matrix(stage, &matrix, flags);
}

void *tilemm__stage_array(tilemm__stage_t *stage, const void *const *array, int64_t batch,
                          int64_t rows, int64_t cols, size_t elem_size, int64_t *ld, int flags)
{
    if (stage->status != TILEMM_SUCCESS)
        return NULL;
    if (is_usable(place_of(stage, array)))
        return (void *)(uintptr_t)array;
    if (!activate(stage))
        return NULL;
    const size_t bytes = (size_t)batch * sizeof *array;
    const void **addresses = host_malloc(stage, bytes);
    unsigned char *on_device = addresses ? host_malloc(stage, (size_t)batch) : NULL;
    void *device = on_device ? device_malloc(stage, bytes) : NULL;
    if (!device)
        return NULL;
    int any_on_host = 0;
    for (int64_t i = 0; i < batch; i++) {
        addresses[i] = array[i];
        const tilemm__place_t place = place_of(stage, array[i]);
        on_device[i] = place != TILEMM__HOST;
        any_on_host |= !is_usable(place);
    }
    if (stage->status != TILEMM_SUCCESS)
        return NULL;
    /* One leading dimension serves all matrices: all are copied, or none. */
    for (int64_t i = 0; any_on_host && i < batch; i++) {
        matrix_t matrix = matrix_of(array[i], rows, cols, elem_size, *ld);
        matrix.on_device = on_device[i];
        if (!(addresses[i] = stage_matrix(stage, &matrix, flags)))
            return NULL;
    }
    if (any_on_host)
        *ld = cols;
    failed(stage, cudaMemcpyAsync(device, addresses, bytes, cudaMemcpyHostToDevice,
                                  tilemm__cuda(stage->ctx)->stream));
    return stage->status == TILEMM_SUCCESS ? device : NULL;
}

void tilemm__stage_copy_out(tilemm__stage_t *stage, void *host, const void *device, int64_t rows,
                            int64_t cols, size_t elem_size, int64_t ld)
{
    const matrix_t matrix = matrix_of(host, rows, cols, elem_size, ld);
    add_result(stage, &matrix, device);
}

tilemm_status_t tilemm__stage_end(tilemm__stage_t *stage)
{
    if (!stage->active)
        return tilemm__cuda_leave(stage->ctx, stage->before, stage->status);
    for (const struct tilemm__stage_result *result = stage->results; result; result = result->next)
        if (stage->status == TILEMM_SUCCESS)
            copy(stage, result->matrix, (char *)(uintptr_t)result->device, 1);
    /* Also after a failure: copies that are under way use the memory that is freed here. */
    failed(stage, cudaStreamSynchronize(tilemm__cuda(stage->ctx)->stream));
    for (const struct tilemm__stage_slab *slab = stage->slabs; slab; slab = slab->next)
        cudaFree(slab->device);
    for (struct tilemm__stage_host *block = stage->hosts; block;) {
        struct tilemm__stage_host *next = block->next;
        free(block);
        block = next;
    }
    return tilemm__cuda_leave(stage->ctx, stage->before, stage->status);
}
