/* rectangular.cu - the steps of a transpose in place that is not square: permutations of
 * the m x n view of a matrix by columns, rows and runs, and the move from one leading dimension to
 * another. inplace.h has the maps and says why they add up to a transpose.
 *
 * Assumes: compute capability 7.5 or later; m >= n; sizes above 0; elements aligned to themselves,
 * those of 16 bytes to 8.
 *
 * Every kernel works on one stream in the order of its launches. Where a kernel writes the matrix
 * and reads it too, each element that a block writes was read before by that block, or by a thread
 * that owns it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "tile.cuh"

enum { THREADS = TILEMM__TRANSPOSE_THREADS, TOGETHER = 8 };

static __host__ __device__ __forceinline__ uint64_t blocks_for(int64_t size, int64_t each)
{
    return ((uint64_t)size + (uint64_t)each - 1) / (uint64_t)each;
}

/* Run `call` with `element` as the type of elements of `size` bytes. */
#define FOR_ELEMENT(size, call)                                                                    \
    switch (size) {                                                                                \
    case 1: {                                                                                      \
        typedef uint8_t element;                                                                   \
        call;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    case 2: {                                                                                      \
        typedef uint16_t element;                                                                  \
        call;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    case 4: {                                                                                      \
        typedef uint32_t element;                                                                  \
        call;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    case 8: {                                                                                      \
        typedef uint2 element;                                                                     \
        call;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    case 16: {                                                                                     \
        typedef tilemm__pair element;                                                              \
        call;                                                                                      \
        break;                                                                                     \
    }                                                                                              \
    default: return (int)cudaErrorInvalidValue;                                                    \
    }

/* ---- columns, between the matrix and the workspace ------------------------------------------ */

/* A warp has 32 rows of `lanes` columns. Lane l works out where row l comes from, for all. Warps
 * of a block have rows that follow each other: rotated rows that one reads are near the next's. */
template <typename element>
static __global__ void __launch_bounds__(THREADS)
    columns(const tilemm__transpose_columns_t p, int lanes)
{
    const element *in = (const element *)p.in;
    element *out = (element *)p.out;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int x = lane % lanes, y = lane / lanes, step = 32 / lanes;
    const uint64_t down = blocks_for(p.view.m, THREADS), across = blocks_for(p.width, lanes);

    for (uint64_t t = blockIdx.x; t < down * across; t += gridDim.x) {
        const uint64_t strip = t / down;
        const int64_t row = (int64_t)(t - strip * down) * THREADS + warp * 32;
        const int64_t col = (int64_t)strip * lanes + x;
        int64_t shift = 0, source = 0;

        if (p.source == TILEMM__COLUMNS_PERMUTED || p.source == TILEMM__COLUMNS_UNPERMUTED) {
            if (row + lane < p.view.m)
                source = p.source == TILEMM__COLUMNS_PERMUTED
                             ? tilemm__inplace_permuted(&p.view, row + lane)
                             : tilemm__inplace_unpermuted(&p.view, row + lane);
        } else {
            source = row + lane;
            if (p.source != TILEMM__COLUMNS_SAME)
                shift = (p.first + col) / p.div % p.view.m;
            if (p.source == TILEMM__COLUMNS_DOWN && shift)
                shift = p.view.m - shift;
        }
        for (int first = 0; first < lanes; first += TOGETHER) {
            element v[TOGETHER];

#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                const int r = (first + k) * step + y;
                int64_t from = __shfl_sync(0xffffffff, source, r & 31) + shift;

                if (from >= p.view.m)
                    from -= p.view.m;
                v[k] = element();
                if (first + k < lanes && row + r < p.view.m && col < p.width)
                    v[k] = in[from * p.ld_in + col];
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; k++) {
                const int r = (first + k) * step + y;

                if (first + k < lanes && row + r < p.view.m && col < p.width)
                    out[(row + r) * p.ld_out + col] = v[k];
            }
        }
    }
}

int tilemm__launch_transpose_columns(const tilemm__transpose_columns_t *p, void *stream)
{
    int lanes = 32;
    unsigned grid;

    while (lanes > 1 && lanes / 2 >= p->width)
        lanes /= 2;
    grid = grid_for(blocks_for(p->view.m, THREADS) * blocks_for(p->width, lanes));
    FOR_ELEMENT(p->elem_size,
                (columns<element><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*p, lanes)));
    return (int)cudaGetLastError();
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* What tilemm__inplace_row_target computes, for n < 2^31, with few wide divisions: i mod n and
 * m mod n are known. */
static __device__ __forceinline__ uint32_t row_target(const tilemm__inplace_t *view, int64_t i,
                                                      uint32_t i_mod_n, uint32_t m_mod_n,
                                                      uint32_t j)
{
    const uint32_t n = (uint32_t)view->n, q = j / (uint32_t)view->b; /* below c <= n */
    const int64_t row = i + q;
    /* (row mod m) mod n; a row past the end comes back as one below c. */
    const uint64_t start = row < view->m ? (uint64_t)i_mod_n + q : (uint64_t)(row - view->m);
    const uint64_t sum = start + (uint64_t)j * m_mod_n;

    return (sum >> 32) == 0 ? (uint32_t)sum % n : (uint32_t)(sum % n);
}

template <typename element>
static __global__ void __launch_bounds__(1024) rows(const tilemm__transpose_rows_t p)
{
    extern __shared__ __align__(16) unsigned char storage[];
    element *shared = (element *)storage;
    const uint32_t n = (uint32_t)p.view.n, m_mod_n = (uint32_t)(p.view.m % p.view.n);
    const uint64_t blocks = blocks_for(p.view.m, p.rows_per_block);

    for (uint64_t t = blockIdx.x; t < blocks; t += gridDim.x) {
        const int64_t first = (int64_t)t * p.rows_per_block, left = p.view.m - first;
        const uint32_t count =
            left < p.rows_per_block ? (uint32_t)left : (uint32_t)p.rows_per_block;
        element *a = (element *)p.a + first * p.ld;

        if (t != blockIdx.x)
            __syncthreads();
        for (uint32_t e = threadIdx.x; e < count * n; e += blockDim.x) {
            const uint32_t r = e / n, j = e - r * n;
            uint32_t to = j;

            if (p.forward)
                to = row_target(&p.view, first + r, (uint32_t)((first + r) % n), m_mod_n, j);
            shared[tilemm__inplace_element(r, to, n)] = a[r * p.ld + j];
        }
        __syncthreads();
        for (uint32_t e = threadIdx.x; e < count * n; e += blockDim.x) {
            const uint32_t r = e / n, j = e - r * n;
            uint32_t from = j;

            if (!p.forward)
                from = row_target(&p.view, first + r, (uint32_t)((first + r) % n), m_mod_n, j);
            a[r * p.ld + j] = shared[tilemm__inplace_element(r, from, n)];
        }
    }
}

template <typename element>
static cudaError_t run_rows(const tilemm__transpose_rows_t *p, cudaStream_t stream)
{
    const int64_t elements = p->rows_per_block * p->view.n;
    const size_t bytes = (size_t)elements * sizeof(element);
    const unsigned grid = grid_for(blocks_for(p->view.m, p->rows_per_block));
    int threads = 64;

    if (bytes > 48 * 1024) {
        const cudaError_t error = cudaFuncSetAttribute(
            rows<element>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);

        if (error != cudaSuccess)
            return error;
    }
    while (threads < 1024 && threads * 8 < elements)
        threads *= 2;
    rows<element><<<grid, threads, bytes, stream>>>(*p);
    return cudaGetLastError();
}

int tilemm__launch_transpose_rows(const tilemm__transpose_rows_t *p, void *stream)
{
    cudaError_t error = cudaSuccess;

    FOR_ELEMENT(p->elem_size, (error = run_rows<element>(p, (cudaStream_t)stream)));
    return (int)error;
}

template <typename element>
static __global__ void __launch_bounds__(THREADS) long_rows(const tilemm__transpose_long_rows_t p)
{
    const element *in = (const element *)p.in;
    element *out = (element *)p.out;
    const uint64_t across = blocks_for(p.view.n, THREADS), blocks = across * (uint64_t)p.count;

    for (uint64_t t = blockIdx.x; t < blocks; t += gridDim.x) {
        const int64_t r = (int64_t)(t / across);
        const int64_t j = (int64_t)(t - (uint64_t)r * across) * THREADS + threadIdx.x;

        if (j < p.view.n) {
            const int64_t to = tilemm__inplace_row_target(&p.view, p.first + r, j);

            if (p.forward)
                out[r * p.ld_out + to] = in[r * p.ld_in + j];
            else
                out[r * p.ld_out + j] = in[r * p.ld_in + to];
        }
    }
}

int tilemm__launch_transpose_long_rows(const tilemm__transpose_long_rows_t *p, void *stream)
{
    const unsigned grid = grid_for(blocks_for(p->view.n, THREADS) * (uint64_t)p->count);

    FOR_ELEMENT(p->elem_size, (long_rows<element><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*p)));
    return (int)cudaGetLastError();
}

/* ---- columns, with no workspace ------------------------------------------------------------- */

/* Rotating a column up by r is reversing it, and then its first m - r and its last r elements.
 * Each thread swaps one pair of one column. */
template <typename element>
static __global__ void __launch_bounds__(THREADS)
    reverse(const tilemm__transpose_rotate_t p, bool parts, int lanes)
{
    const int x = threadIdx.x % lanes, y = threadIdx.x / lanes;
    const uint64_t across = blocks_for(p.n, lanes);
    const uint64_t blocks = across * blocks_for(p.m / 2 + 1, THREADS / lanes);

    for (uint64_t t = blockIdx.x; t < blocks; t += gridDim.x) {
        const uint64_t line = t / across;
        const int64_t j = (int64_t)(t - line * across) * lanes + x;
        int64_t pair = (int64_t)line * (THREADS / lanes) + y, begin = 0, end = p.m;

        if (j >= p.n)
            continue;
        if (parts) {
            int64_t r = j / p.div % p.m;

            if (!p.up && r)
                r = p.m - r;
            if (pair < (p.m - r) / 2) {
                end = p.m - r;
            } else {
                pair -= (p.m - r) / 2;
                begin = p.m - r;
            }
        }
        if (pair < (end - begin) / 2) {
            element *low = (element *)p.a + ((begin + pair) * p.ld + j);
            element *high = (element *)p.a + ((end - 1 - pair) * p.ld + j);
            const element v = *low;

            *low = *high;
            *high = v;
        }
    }
}

int tilemm__launch_transpose_rotate(const tilemm__transpose_rotate_t *p, void *stream)
{
    int lanes = 32;
    unsigned grid;

    while (lanes > 1 && lanes / 2 >= p->n)
        lanes /= 2;
    grid = grid_for(blocks_for(p->n, lanes) * blocks_for(p->m / 2 + 1, THREADS / lanes));
    for (int parts = 0; parts < 2; parts++) {
        cudaError_t error;

        FOR_ELEMENT(p->elem_size, (reverse<element><<<grid, THREADS, 0, (cudaStream_t)stream>>>(
                                      *p, parts != 0, lanes)));
        error = cudaGetLastError();
        if (error != cudaSuccess)
            return (int)error;
    }
    return (int)cudaSuccess;
}

static __device__ __forceinline__ int64_t cycle_next(const tilemm__transpose_cycles_t *p, int64_t i)
{
    return p->forward ? tilemm__inplace_permuted(&p->view, i)
                      : tilemm__inplace_unpermuted(&p->view, i);
}

/* Each thread looks whether one row is the lowest of its cycle, which is nothing but arithmetic.
 * The rows that are are then walked by the whole block, for WIDTH columns. */
template <typename element>
static __global__ void __launch_bounds__(THREADS) cycles(const tilemm__transpose_cycles_t p)
{
    enum { COLUMNS = 4, WIDTH = THREADS * COLUMNS };
    __shared__ int64_t leaders[THREADS];
    __shared__ int count;
    element *a = (element *)p.a;
    const uint64_t down = blocks_for(p.view.m, THREADS), across = blocks_for(p.view.n, WIDTH);

    for (uint64_t t = blockIdx.x; t < down * across; t += gridDim.x) {
        const uint64_t strip = t / down;
        const int64_t row = (int64_t)(t - strip * down) * THREADS + threadIdx.x;
        const int64_t col = (int64_t)strip * WIDTH + threadIdx.x;

        __syncthreads();
        if (threadIdx.x == 0)
            count = 0;
        __syncthreads();
        if (row < p.view.m) {
            int64_t i = cycle_next(&p, row);

            if (i != row) {
                while (i > row)
                    i = cycle_next(&p, i);
                if (i == row)
                    leaders[atomicAdd(&count, 1)] = row;
            }
        }
        __syncthreads();
        for (int k = 0; k < count; k++) {
            const int64_t leader = leaders[k];
            int64_t i = leader, next = cycle_next(&p, i);
            element saved[COLUMNS];

#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                saved[c] = element();
                if (col + c * THREADS < p.view.n)
                    saved[c] = a[i * p.ld + col + c * THREADS];
            }
            while (next != leader) {
                element v[COLUMNS];

#pragma unroll
                for (int c = 0; c < COLUMNS; c++) {
                    v[c] = element();
                    if (col + c * THREADS < p.view.n)
                        v[c] = a[next * p.ld + col + c * THREADS];
                }
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) {
                    if (col + c * THREADS < p.view.n)
                        a[i * p.ld + col + c * THREADS] = v[c];
                }
                i = next;
                next = cycle_next(&p, i);
            }
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                if (col + c * THREADS < p.view.n)
                    a[i * p.ld + col + c * THREADS] = saved[c];
            }
        }
    }
}

int tilemm__launch_transpose_cycles(const tilemm__transpose_cycles_t *p, void *stream)
{
    const unsigned grid =
        grid_for(blocks_for(p->view.m, THREADS) * blocks_for(p->view.n, 4 * THREADS));

    FOR_ELEMENT(p->elem_size, (cycles<element><<<grid, THREADS, 0, (cudaStream_t)stream>>>(*p)));
    return (int)cudaGetLastError();
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* Block by block, a slice of every run comes into shared memory and goes back to its run's new
 * place; slices are independent of each other. */
template <typename element>
static __global__ void __launch_bounds__(512) runs(const tilemm__transpose_runs_t p)
{
    extern __shared__ __align__(16) unsigned char storage[];
    element *shared = (element *)storage;
    const uint64_t blocks = blocks_for(p.length, p.slice);
    const int number = (int)(p.chunks * p.n);
    const int x = threadIdx.x % p.slice, y = threadIdx.x / p.slice, step = blockDim.x / p.slice;
    /* Run u is (i, j) of a matrix that is `wide` wide, and goes to j * high + i. */
    const int wide = (int)(p.forward ? p.n : p.chunks), high = number / wide;

    for (uint64_t t = blockIdx.x; t < blocks; t += gridDim.x) {
        const int64_t at = (int64_t)t * p.slice + x;

        if (t != blockIdx.x)
            __syncthreads();
        if (at < p.length) {
            for (int first = y; first < number; first += step * TOGETHER) {
                element v[TOGETHER];

#pragma unroll
                for (int k = 0; k < TOGETHER; k++) {
                    const int u = first + k * step;

                    v[k] = element();
                    if (u < number)
                        v[k] = ((const element *)p.a)[tilemm__slot(u * p.length + at, p.n, p.ld)];
                }
#pragma unroll
                for (int k = 0; k < TOGETHER; k++) {
                    const int u = first + k * step, i = u / wide, to = (u - i * wide) * high + i;

                    if (u < number)
                        shared[tilemm__run_element(to, x, p.slice)] = v[k];
                }
            }
        }
        __syncthreads();
        if (at < p.length) {
            for (int u = y; u < number; u += step)
                ((element *)p.a)[tilemm__slot(u * p.length + at, p.n, p.ld)] =
                    shared[tilemm__run_element(u, x, p.slice)];
        }
    }
}

template <typename element>
static cudaError_t run_runs(const tilemm__transpose_runs_t *p, cudaStream_t stream)
{
    const int64_t elements = p->chunks * p->n * p->slice;
    const size_t bytes = (size_t)elements * sizeof(element);
    const unsigned grid = grid_for(blocks_for(p->length, p->slice));

    if (bytes > 48 * 1024) {
        const cudaError_t error = cudaFuncSetAttribute(
            runs<element>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);

        if (error != cudaSuccess)
            return error;
    }
    runs<element><<<grid, elements >= 8192 ? 512 : THREADS, bytes, stream>>>(*p);
    return cudaGetLastError();
}

int tilemm__launch_transpose_runs(const tilemm__transpose_runs_t *p, void *stream)
{
    cudaError_t error = cudaSuccess;

    FOR_ELEMENT(p->elem_size, (error = run_runs<element>(p, (cudaStream_t)stream)));
    return (int)error;
}

/* ---- the move ------------------------------------------------------------------------------- */

/* Why an interval of slots may be moved at once, and intervals one after the other, is shown in
 * inplace.h: what falls never lands on what rises or stays, nor on what falls and has a higher
 * number, but for those of its own interval, which are safe in the workspace by then; what rises
 * likewise, seen from the other end. Each slot's class is worked out again from its number, so
 * that nothing needs to be remembered but the elements. */
typedef struct {
    int64_t from, to;
} step_t;

static __device__ __forceinline__ step_t step_of(const tilemm__transpose_move_t *p, int64_t k)
{
    step_t step;

    step.from = tilemm__slot(k, p->width_in, p->ld_in);
    step.to = tilemm__slot(k, p->width_out, p->ld_out);
    return step;
}

static __device__ __forceinline__ bool moves(step_t step, bool rising)
{
    return rising ? step.to > step.from : step.to < step.from;
}

template <typename element>
static __global__ void __launch_bounds__(THREADS, 4)
    gather(const tilemm__transpose_move_t p, int64_t begin, int64_t end, bool rising,
           element *__restrict__ workspace)
{
    const element *__restrict__ a = (const element *)p.a;
    const int64_t stride = (int64_t)gridDim.x * THREADS;

    for (int64_t k = begin + (int64_t)blockIdx.x * THREADS + threadIdx.x; k < end; k += stride) {
        const step_t step = step_of(&p, k);

        if (moves(step, rising))
            workspace[k - begin] = a[step.from];
    }
}

template <typename element>
static __global__ void __launch_bounds__(THREADS, 4)
    scatter(const tilemm__transpose_move_t p, int64_t begin, int64_t end, bool rising,
            const element *__restrict__ workspace)
{
    element *__restrict__ a = (element *)p.a;
    const int64_t stride = (int64_t)gridDim.x * THREADS;

    for (int64_t k = begin + (int64_t)blockIdx.x * THREADS + threadIdx.x; k < end; k += stride) {
        const step_t step = step_of(&p, k);

        if (moves(step, rising))
            a[step.to] = workspace[k - begin];
    }
}

template <typename element>
static void run_move(const tilemm__transpose_move_t *p, int64_t begin, int64_t end, bool rising,
                     void *workspace, cudaStream_t stream)
{
    const unsigned grid = grid_for(blocks_for(end - begin, THREADS));

    gather<element><<<grid, THREADS, 0, stream>>>(*p, begin, end, rising, (element *)workspace);
    scatter<element>
        <<<grid, THREADS, 0, stream>>>(*p, begin, end, rising, (const element *)workspace);
}

int tilemm__launch_transpose_move(const tilemm__transpose_move_t *p, int64_t begin, int64_t end,
                                  int rising, void *workspace, void *stream)
{
    FOR_ELEMENT(p->elem_size,
                (run_move<element>(p, begin, end, rising != 0, workspace, (cudaStream_t)stream)));
    return (int)cudaGetLastError();
}

/* One block, with what its threads hold in registers as the workspace. */
enum { ALONE = 1024, HELD = 8 };

template <typename element>
static __global__ void __launch_bounds__(ALONE) move_alone(const tilemm__transpose_move_t p)
{
    element *a = (element *)p.a;
    const int64_t each = ALONE * HELD, intervals = (p.total + each - 1) / each;

    for (int64_t t = 0; t < 2 * intervals; t++) {
        const bool rising = t >= intervals;
        const int64_t begin = (rising ? 2 * intervals - 1 - t : t) * each + threadIdx.x;
        element v[HELD];

#pragma unroll
        for (int h = 0; h < HELD; h++) {
            const int64_t k = begin + h * ALONE;

            v[h] = element();
            if (k < p.total) {
                const step_t step = step_of(&p, k);

                if (moves(step, rising))
                    v[h] = a[step.from];
            }
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < HELD; h++) {
            const int64_t k = begin + h * ALONE;

            if (k < p.total) {
                const step_t step = step_of(&p, k);

                if (moves(step, rising))
                    a[step.to] = v[h];
            }
        }
        __syncthreads();
    }
}

int tilemm__launch_transpose_move_alone(const tilemm__transpose_move_t *p, void *stream)
{
    FOR_ELEMENT(p->elem_size, (move_alone<element><<<1, ALONE, 0, (cudaStream_t)stream>>>(*p)));
    return (int)cudaGetLastError();
}
