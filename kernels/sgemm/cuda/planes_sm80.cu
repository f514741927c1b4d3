/* planes_sm80.cu - SGEMM from FP16 planes (planes.h) by mma.sync, for compute capability 8.0.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
 *
 * A block computes a tile of BM x BN. Tiles of the planes come through a ring of stages in shared
 * memory, each BK deep, filled by cp.async. Every warp multiplies its WM x WN from there by
 * m16n8k16 products, and loads the fragments of the next ones meanwhile.
 *
 * Layout of a tile in shared memory: a row of BK halves for each line, in pieces of 16 bytes that
 * tilemm__tensor_swizzle() permutes. So ldmatrix, which reads eight rows at a time, and the copies
 * of eight neighbouring threads have no bank conflicts.
 *
 * Accuracy. The tensor core truncates as it adds. So hi hi accumulates over 32 of k, two
 * instructions, and is then added to `total` in FP32 (promotion). The cross products hi lo + lo hi
 * are smaller by 2^-11 and accumulate over all of k. lo lo (4 products) is added to them every 16
 * of k. With 1 product hi hi accumulates in the tensor core over all of k or, with PROMOTES, over
 * each TILEMM__SGEMM_PLANES_BLOCK: it truncates less than TF32, which adds eight products at a
 * time and not sixteen.
 *
 * Sums are in units of 2^(exponent of A's line + exponent of B's line), which change with every
 * block of TILEMM__SGEMM_PLANES_BLOCK of k. A thread for each line keeps its exponent and puts the
 * change in shared memory; then all threads scale their sums.
 *
 * Assumes planes filled up with zeros to multiples of 128 (m, n) and 64 (k): loads check nothing.
 * What lies outside C, and exact lines, are not stored. k / 32 < 2^31. */
#include <cuda_runtime.h>

#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/epilogue.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/shared.cuh"
#include "kernels/cuda/tile_walk.cuh"
#include "planes_sm80.cuh"

/* Compiled for the host's pass and where its instructions exist. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* ---- exponents ----------------------------------------------------------------------------- */

/* 2^e for e from -126 to 127 */
static __device__ __forceinline__ float power_of_two(int e)
{
    return __int_as_float((e + 127) << 23);
}

/* x 2^e, rounded once. x is 0 or 2^-60 to 2^62, so that e below -252 gives 0 as -252 does. */
static __device__ __forceinline__ float scale(float x, int e)
{
    e = max(-252, min(e, 254));
    return x * power_of_two(e >> 1) * power_of_two(e - (e >> 1));
}

/* The note on a line of the tile in a block of k. */
template <class S>
static __device__ __forceinline__ const unsigned *
line_note(const product_t &product, const place_t &at, unsigned line, unsigned block)
{
    const int64_t blocks = (product.k + BLOCK - 1) / BLOCK;
    const int64_t of_matrix = at.matrix * blocks + block;
    return line < S::BM
               ? product.a.notes + of_matrix * product.a.notes_pitch + at.m0 + line
               : product.b.notes + of_matrix * product.b.notes_pitch + at.n0 + (line - S::BM);
}

/* Begin with the exponents of the first block. */
template <class S>
static __device__ __forceinline__ void first_exponents(const product_t &product,
                                                       const place_t &place, shared_t<S> &shared)
{
#pragma unroll
    for (int i = 0; i < S::OWN; i++) {
        const unsigned line = threadIdx.x + i * S::THREADS;
        if (line < S::LINES)
            shared.exponents[line] =
                tilemm__sgemm_note_exponent(*line_note<S>(product, place, line, 0));
    }
}

/* Copy the notes of a block to the address `changes`. */
template <class S>
static __device__ __forceinline__ void
copy_exponents(const product_t &product, const place_t &place, unsigned changes, unsigned block)
{
#pragma unroll
    for (int i = 0; i < S::OWN; i++) {
        const unsigned line = threadIdx.x + i * S::THREADS;
        if (line < S::LINES)
            copy_async<4>(changes + line * 4, line_note<S>(product, place, line, block));
    }
}

/* Go on to the next block's exponents, and leave in `changes` by how much they differ. A block of
 * zeros keeps the exponent. Until a line's first block that is not zero its sums are zero. */
template <class S>
static __device__ __forceinline__ void change_exponents(shared_t<S> &shared)
{
#pragma unroll
    for (int i = 0; i < S::OWN; i++) {
        const unsigned line = threadIdx.x + i * S::THREADS;
        if (line < S::LINES) {
            const int before = shared.exponents[line];
            const int after = tilemm__sgemm_note_exponent((unsigned)shared.changes[line]);
            int change = 0;
            if (after != ZERO) {
                if (before != ZERO)
                    change = before - after;
                shared.exponents[line] = after;
            }
            shared.changes[line] = change;
        }
    }
}

/* At the end: lines of zeros get any exponent, and lines that are not stored NOT_STORED. */
template <class S>
static __device__ __forceinline__ void last_exponents(const product_t &product,
                                                      const place_t &place, shared_t<S> &shared)
{
#pragma unroll
    for (int i = 0; i < S::OWN; i++) {
        const unsigned line = threadIdx.x + i * S::THREADS;
        const bool of_a = line < S::BM;
        bool stored = false;
        if (of_a ? place.m0 + line < product.m
                 : line < S::LINES && place.n0 + (line - S::BM) < product.n) {
            const tilemm__sgemm_planes_operand_t &op = of_a ? product.a : product.b;
            const tilemm__sgemm_density_t &other = of_a ? *product.b.density : *product.a.density;
            const int64_t first = of_a ? place.m0 : place.n0 - S::BM;
            const unsigned cases =
                op.exact[place.matrix * tilemm__round_up(op.mn, TILEMM__SGEMM_PLANES_ALIGN_MN) +
                         first + line];
            stored = !(cases >> tilemm__sgemm_route_case(other) & 1);
            if (!stored)
                tilemm__sgemm_tell(product.routes, TILEMM__SGEMM_BY_LINES);
        }
        if (line < S::LINES)
            shared.exponents[line] = !stored                          ? NOT_STORED
                                     : shared.exponents[line] == ZERO ? 0
                                                                      : shared.exponents[line];
    }
}

/* ---- consumer ------------------------------------------------------------------------------ */

/* A warp's sums; of each product of 16 x 8 a lane has rows m and m + 8, columns n and n + 1. */
template <class S>
struct sums_t {
    float total[S::MI][S::NI][4]; /* hi hi */
    float cross[S::MI][S::NI][4]; /* hi lo + lo hi in units 2^11 times smaller; or see PROMOTES */
};

/* The fragments that are being multiplied, and the next ones. */
template <class S>
struct fragments_t {
    unsigned ah[2][4], al[2][4], bh[2][S::NI / 2][4], bl[2][S::NI / 2][4];
};

/* Load a fragment of each plane: 16 lines and 16 k from the address of the first. */
template <class LAYOUT, int PLANES>
static __device__ __forceinline__ void load_fragment(unsigned (&hi)[4], unsigned (&lo)[4],
                                                     unsigned address, int lines, int k)
{
    address = LAYOUT::further(address, lines, k);
    load_matrices(hi, address);
    if (PLANES > 1)
        load_matrices(lo, address + LAYOUT::BYTES);
}

/* Multiply 16 rows by all columns of the warp, over 16 of k: fragments number `odd`. hh has hi hi
 * of two such steps, an even and an odd one, and then goes to `total`. */
template <class S>
static __device__ __forceinline__ void
multiply_rows(float (&total)[S::NI][4], float (&cross)[S::NI][4], float (&hh)[S::NI][4],
              const fragments_t<S> &f, int odd)
{
    if (S::PRODUCTS == 1) {
#pragma unroll
        for (int j = 0; j < S::NI; j++)
            multiply(S::PROMOTES ? cross[j] : total[j], f.ah[odd], f.bh[odd][j / 2], j % 2);
    } else {
#pragma unroll
        for (int j = 0; j < S::NI; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                hh[j][e] = odd ? hh[j][e] : 0.0f;
#pragma unroll
        for (int j = 0; j < S::NI; j++)
            multiply(hh[j], f.ah[odd], f.bh[odd][j / 2], j % 2);
#pragma unroll
        for (int j = 0; j < S::NI; j++)
            multiply(cross[j], f.ah[odd], f.bl[odd][j / 2], j % 2);
#pragma unroll
        for (int j = 0; j < S::NI; j++)
            multiply(cross[j], f.al[odd], f.bh[odd][j / 2], j % 2);
        if (S::PRODUCTS > 3) {
#pragma unroll
            for (int j = 0; j < S::NI; j++) {
                float ll[4] = {};
                multiply(ll, f.al[odd], f.bl[odd][j / 2], j % 2);
#pragma unroll
                for (int e = 0; e < 4; e++)
                    cross[j][e] = fmaf(ll[e], 1.0f / 2048, cross[j][e]);
            }
        }
        if (odd) {
#pragma unroll
            for (int j = 0; j < S::NI; j++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    total[j][e] += hh[j][e];
        }
    }
}

/* Bring the sums to the next block's exponents. (m, n): the lane's first element in the tile. */
template <class S>
static __device__ __forceinline__ void scale_sums(sums_t<S> &sums, const int *changes, unsigned m,
                                                  unsigned n)
{
#pragma unroll
    for (int i = 0; i < S::MI; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int row = changes[m + i * 16 + e / 2 * 8];
#pragma unroll
            for (int j = 0; j < S::NI; j++) {
                const int change = row + changes[S::BM + n + j * 8 + e % 2];
                const float factor = power_of_two(max(-126, min(change, 127)));
                if (S::PROMOTES) {
                    sums.total[i][j][e] += sums.cross[i][j][e];
                    sums.cross[i][j][e] = 0.0f;
                }
                sums.total[i][j][e] *= factor;
                if (S::PRODUCTS > 1)
                    sums.cross[i][j][e] *= factor;
            }
        }
}

/* ---- epilogue ------------------------------------------------------------------------------ */

template <class S>
static __device__ __forceinline__ void store(const sums_t<S> &sums, const product_t &product,
                                             const place_t &place, const int *exponents, unsigned m,
                                             unsigned n)
{
    float *const c = (product.c_array ? product.c_array[place.matrix]
                                      : product.c + place.matrix * product.stride_c) +
                     (place.m0 + m) * product.ldc + place.n0 + n;
    const float alpha = product.alpha, beta = product.beta;
    const bool pairs = (((uintptr_t)c | product.ldc * 4) & 7) == 0;
#pragma unroll
    for (int i = 0; i < S::MI; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = i * 16 + half * 8, row_exponent = exponents[m + row];
            float *const to = c + row * product.ldc;
            if (row_exponent == NOT_STORED)
                continue;
#pragma unroll
            for (int j = 0; j < S::NI; j++) {
                float v[2];
                bool stored[2];
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const int exponent = exponents[S::BM + n + j * 8 + e];
                    v[e] = sums.total[i][j][half * 2 + e];
                    if (S::PROMOTES)
                        v[e] += sums.cross[i][j][half * 2 + e];
                    if (S::PRODUCTS > 1)
                        v[e] = fmaf(sums.cross[i][j][half * 2 + e], 1.0f / 2048, v[e]);
                    stored[e] = exponent != NOT_STORED;
                    v[e] = alpha * scale(v[e], row_exponent + (stored[e] ? exponent : 0));
                }
                /* v has been multiplied by alpha. */
                if (pairs && stored[0] && stored[1]) {
                    epilogue_store((float2 *)(to + j * 8), v, 1.0f, beta);
                } else {
#pragma unroll
                    for (int e = 0; e < 2; e++)
                        if (stored[e])
                            epilogue_store(to + j * 8 + e, v[e], 1.0f, beta);
                }
            }
        }
}

#endif

/* ---- kernels ------------------------------------------------------------------------------- */

/* The block's tile, in one of the batch's matrices. */
template <class S>
static __device__ __forceinline__ place_t locate(const product_t &product)
{
    const tilemm__sgemm_planes_tiles_t &tiles = product.walk.tiles;
    uint64_t tile = tiles.first + blockIdx.x, matrix = 0;
    if (product.batch_count > 1) {
        matrix = tile / (tiles.tiles_m * tiles.tiles_n);
        tile -= matrix * (tiles.tiles_m * tiles.tiles_n);
    }

    const tile_position_t<uint64_t> at = tile_walk<GROUP>(tile, tiles.tiles_m, tiles.tiles_n);

    return {(int64_t)matrix, (int64_t)at.row * S::BM, (int64_t)at.col * S::BN};
}

template <class S>
static __device__ __forceinline__ void multiply_planes(const product_t &product)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    extern __shared__ __align__(1024) unsigned char memory[];
    shared_t<S> &shared = *(shared_t<S> *)memory;
    const unsigned base = shared_address(memory);
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const place_t place = locate<S>(product);
    const tilemm__sgemm_route_t route =
        tilemm__sgemm_route(product.routes, (uint64_t)place.matrix, place.m0, place.n0);

    if (route != TILEMM__SGEMM_BY_PLANES) {
        if (threadIdx.x == 0)
            tilemm__sgemm_tell(product.routes, route);
        return;
    }
    if (threadIdx.x == 0)
        shared.place = place;

    /* Producer: start the copies of the first stages. */
    const unsigned steps =
        (unsigned)(tilemm__round_up(product.k, TILEMM__SGEMM_PLANES_ALIGN_K) / S::BK);
    producer_t<typename S::layout_a, S::BK, S::PLANES> copy_a(product.a, place.matrix, place.m0,
                                                              base);
    producer_t<typename S::layout_b, S::BK, S::PLANES> copy_b(product.b, place.matrix, place.n0,
                                                              base + S::BYTES_A);

#pragma unroll
    for (int i = 0; i < S::STAGES; i++) {
        if (i < steps) {
            copy_a.copy(i * S::STAGE);
            copy_b.copy(i * S::STAGE);
        }
        copy_async_commit();
    }
    first_exponents(product, place, shared);

    /* Consumer. (m, n): this lane's first element in the tile. */
    const unsigned warp_m = warp % (S::BM / S::WM) * S::WM, warp_n = warp / (S::BM / S::WM) * S::WN;
    const unsigned m = warp_m + lane / 4, n = warp_n + lane % 4 * 2;
    const unsigned read_a = base + S::layout_a::fragment(warp_m, lane, false);
    const unsigned read_b = base + S::BYTES_A + S::layout_b::fragment(warp_n, lane, true);
    sums_t<S> sums;
    fragments_t<S> f;
    float hh[S::NI][4];
    unsigned now = 0; /* the stage to read, in bytes */

#pragma unroll
    for (int i = 0; i < S::MI; i++)
#pragma unroll
        for (int j = 0; j < S::NI; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                sums.total[i][j][e] = sums.cross[i][j][e] = 0.0f;
    copy_async_wait<S::STAGES - 1>();
    __syncthreads();
    load_fragment<typename S::layout_a, S::PLANES>(f.ah[0], f.al[0], read_a, 0, 0);
#pragma unroll
    for (int j = 0; j < S::NI / 2; j++)
        load_fragment<typename S::layout_b, S::PLANES>(f.bh[0][j], f.bl[0][j], read_b, j, 0);

    for (unsigned step = 0;;) {
        /* A unit is 16 rows by 16 of k: an even and an odd one for each 16 rows. The fragments of B
         * for even k are loaded in the unit before they are needed, those for odd k in the first
         * unit in which their registers are free. */
#pragma unroll
        for (int unit = 0; unit < S::KI * S::MI; unit++) {
            const int next = (unit + 1) % (S::KI * S::MI), i = unit / 2 % S::MI, odd = unit % 2;
            const int next_k = next / (2 * S::MI) * 2 + (1 - odd);
            const unsigned stage = now;
            /* This stage has been read: wait for the next one, and for the other warps. */
            if (next == 0) {
                copy_async_wait<S::STAGES - 2>();
                __syncthreads();
                now = now == (S::STAGES - 1) * S::STAGE ? 0 : now + S::STAGE;
            }
            if (next % (2 * S::MI) < 2) {
#pragma unroll
                for (int j = 0; j < S::NI / 2; j++)
                    load_fragment<typename S::layout_b, S::PLANES>(
                        f.bh[1 - odd][j], f.bl[1 - odd][j], now + read_b, j, next_k);
            }
            load_fragment<typename S::layout_a, S::PLANES>(f.ah[1 - odd], f.al[1 - odd],
                                                           now + read_a, next / 2 % S::MI, next_k);
            multiply_rows<S>(sums.total[i], sums.cross[i], hh, f, odd);
            if (next == 0) {
                if (step + S::STAGES < steps) {
                    copy_a.copy(stage);
                    copy_b.copy(stage);
                }
                if (step % S::PER_BLOCK == 0 && step + S::PER_BLOCK < steps)
                    copy_exponents<S>(product, shared.place,
                                      base + S::STAGES * S::STAGE + S::LINES * 4,
                                      step / S::PER_BLOCK + 1);
                copy_async_commit();
            }
        }
        step++;
        if (step == steps)
            break;
        if (step % S::PER_BLOCK == 0) {
            change_exponents(shared);
            __syncthreads();
            scale_sums(sums, shared.changes, m, n);
        }
    }

    copy_async_wait<0>();
    __syncthreads();
    const place_t end = shared.place;

    last_exponents(product, end, shared);
    __syncthreads();
    store(sums, product, end, shared.exponents, m, n);
#endif
}

#define PLANES_SM80(name, products, m, n, k, warp_m, warp_n, stages, blocks, promotes)             \
    typedef shape_t<products, m, n, k, warp_m, warp_n, stages, promotes> name##_t;                 \
    static __global__ void __launch_bounds__(name##_t::THREADS, blocks)                            \
        name(const __grid_constant__ product_t product)                                            \
    {                                                                                              \
        multiply_planes<name##_t>(product);                                                        \
    }
TILEMM__SGEMM_PLANES_SM80_ROWS(PLANES_SM80)

/* ---- launcher ------------------------------------------------------------------------------ */

template <class S>
static int launch(void (*kernel)(product_t), const product_t *problem, cudaStream_t stream)
{
    return launch_grids(problem->blocks, 1, [=](uint64_t first, unsigned blocks) {
        product_t part = *problem;
        part.walk.tiles.first = first;
        return launch_kernel(kernel, {blocks, S::THREADS, sizeof(shared_t<S>), 1, false}, stream,
                             part);
    });
}

extern "C" int tilemm__sgemm_planes_sm80_launch(const product_t *problem, void *stream)
{
    switch (problem->variant) {
#define LAUNCH(name, ...)                                                                          \
    case TILEMM__##name: return launch<name##_t>(name, problem, (cudaStream_t)stream);
        TILEMM__SGEMM_PLANES_SM80_ROWS(LAUNCH)
    }
    return cudaErrorInvalidValue;
}
