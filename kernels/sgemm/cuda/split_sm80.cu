/* split_sm80.cu - SGEMM from FP16 planes (sgemm_split.h) by mma.sync, for sm_80 and later.
 *
 * A block computes a tile of BM x BN. Tiles of the planes come through a ring of stages in shared
 * memory, filled by cp.async, each BK deep; every warp multiplies its own WM x WN from there with
 * m16n8k16 products, and loads the fragments for the next ones while it does.
 *
 * Layout of a tile in shared memory, in pieces of 16 bytes: a row of BK halves for each line. A
 * piece's place in its row is its number xor'd with the row's number, so that the eight rows that
 * ldmatrix reads at a time lie in eight different groups of banks; and so do the pieces that eight
 * neighbouring threads copy.
 *
 * Accuracy. The tensor core truncates as it adds, so hi hi is accumulated over 32 of k only, two
 * instructions, and then added to ordinary FP32 registers, `total`. The cross products,
 * hi lo + lo hi, are smaller by 2^-11 and accumulate over all of k. lo lo (4 products) is added to
 * them from a fresh accumulator for each 16 of k. With 1 product hi hi accumulates in the tensor
 * core over all of k or, where that is long, over each TILEMM__SPLIT_BLOCK: its truncation is less
 * than that of TF32, which adds eight products at a time and not sixteen.
 *
 * total and cross are in units of 2^(the exponent of A's line + that of B's). Where a block of
 * TILEMM__SPLIT_BLOCK of k begins they are brought to its unit: one thread for each line knows the
 * unit and puts the change in shared memory.
 *
 * Assumes planes filled up with zeros to multiples of 128 (m, n) and 64 (k): loads check nothing.
 * What lies outside C, and the lines that are left alone, are not stored. k / 32 < 2^31.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>

#include "split.h"

enum {
    GROUP = 8,          /* tiles are walked in groups of so many rows, to find B in L2 */
    PIECE = 16,         /* bytes that one thread copies, and a row of ldmatrix */
    LONG_SINGLE = 8192, /* with 1 product and a longer k, blocks of k are added in registers */
    NOT_STORED = TILEMM__SPLIT_ZERO
};

/* ---- tiles --------------------------------------------------------------------------------- */

template <int BM_, int BN_, int WM_, int WN_, int BK_, int STAGES_, int BLOCKS_,
          bool BLOCK_SUMS_ = false>
struct tile {
    static const int BM = BM_, BN = BN_, WM = WM_, WN = WN_, BK = BK_, STAGES = STAGES_;
    static const int BLOCKS = BLOCKS_;          /* on a multiprocessor, as far as registers go */
    static const bool BLOCK_SUMS = BLOCK_SUMS_; /* 1 product: promote where a block of k ends */
    static const int THREADS = BM / WM * (BN / WN) * 32;
    static_assert(BM % WM == 0 && BN % WN == 0 && WM % 16 == 0 && WN % 16 == 0, "");
    static_assert(WM <= 64 && WN <= 64 && (WM & (WM - 1)) == 0 && (WN & (WN - 1)) == 0,
                  "layout::further");
    static_assert(TILEMM__SPLIT_ALIGN_MN % BM == 0 && TILEMM__SPLIT_ALIGN_MN % BN == 0, "");
    static_assert(TILEMM__SPLIT_ALIGN_K % BK == 0 && TILEMM__SPLIT_BLOCK % BK == 0, "");
    static_assert(BK % 32 == 0, "fragments are loaded by turns into two places");
    static_assert(STAGES >= 2, "");
};

/* Where a tile of C lies. */
struct place {
    int64_t matrix, m0, n0;
};

/* The stages, two words for each line, and the place. */
template <class TILE>
static constexpr int shared_bytes(int products)
{
    return TILE::STAGES * (TILE::BM + TILE::BN) * TILE::BK * 2 * (products > 1 ? 2 : 1) +
           (TILE::BM + TILE::BN) * 8 + (int)sizeof(place);
}

/* What follows is compiled for the host's pass and where its instructions are. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* ---- instructions -------------------------------------------------------------------------- */

static __device__ __forceinline__ void copy_piece(unsigned to, const void *from)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" : : "r"(to), "l"(from));
}

static __device__ __forceinline__ void copy_word(unsigned to, const void *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(to), "l"(from));
}

static __device__ __forceinline__ void copy_commit(void)
{
    asm volatile("cp.async.commit_group;");
}

/* Wait until all but the last PENDING groups of copies have come. */
template <int PENDING>
static __device__ __forceinline__ void copy_wait(void)
{
    asm volatile("cp.async.wait_group %0;" : : "n"(PENDING) : "memory");
}

/* Four 8 x 8 matrices; lane i has the address of row i % 8 of matrix i / 8. */
static __device__ __forceinline__ void load_matrices(unsigned (&x)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address));
}

/* sum += a b; a is 16 x 16, b the left or the right half (16 x 8) of a fragment of 16 x 16. */
static __device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4],
                                                const unsigned (&b)[4], int half)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[half * 2]),
                   "r"(b[half * 2 + 1]));
}

/* ---- layout -------------------------------------------------------------------------------- */

/* The tile of one plane of an operand: LINES (of m or n) x BK. */
template <int LINES, int BK, int THREADS>
struct layout {
    static const int ROW = BK * 2; /* bytes */
    static const int BYTES = LINES * BK * 2;
    static const int PIECES = BYTES / PIECE / THREADS; /* of a thread */
    static const int STEP = THREADS / (ROW / PIECE);   /* rows from one to the next */
    static_assert(ROW == 64 || ROW == 128, "what tilemm__tensor_swizzle() knows");
    static_assert(PIECES > 0 && PIECES * THREADS * PIECE == BYTES, "equal shares");
    static_assert(STEP % 8 == 0, "a thread's pieces are swizzled alike");

    /* Where this thread's first piece goes; the others follow at STEP ROW. */
    static __device__ __forceinline__ unsigned copy_to(unsigned thread)
    {
        const unsigned row = thread / (ROW / PIECE), piece = thread % (ROW / PIECE);

        return row * ROW + (piece ^ tilemm__tensor_swizzle(row, ROW / PIECE)) * PIECE;
    }

    /* Where it comes from, in halves from the tile's first. */
    static __device__ __forceinline__ int64_t copy_from(unsigned thread, int64_t pitch)
    {
        return thread / (ROW / PIECE) * pitch + thread % (ROW / PIECE) * (PIECE / 2);
    }

    /* This lane's address for the fragment of 16 lines from `line` on and 16 of k: four matrices,
     * the first two for lines 0..7 and 8..15 at k 0..7 (as an instruction wants A), or for k 0..7
     * and 8..15 of lines 0..7 (as two want B, each its half in neighbouring registers). */
    static __device__ __forceinline__ unsigned fragment(unsigned line, unsigned lane, bool is_b)
    {
        const unsigned row = lane % 8, odd = lane / 8 % 2, last = lane / 16;
        const unsigned lines = is_b ? last : odd, k = is_b ? odd : last;

        return (line + lines * 8 + row) * ROW +
               (k ^ tilemm__tensor_swizzle(row, ROW / PIECE)) * PIECE;
    }

    /* That of the fragment 16 lines and 16 k further, where 16 lines is less than a warp's share.
     * The part of the step that lies within a row changes only bits that are 0 in the piece's
     * number before the swizzle: it is xor'd. */
    static __device__ __forceinline__ unsigned further(unsigned address, int lines, int k)
    {
        return (address ^ (k * 2 * PIECE)) + lines * 16 * ROW;
    }
};

static __host__ __device__ __forceinline__ int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

/* ---- producer ------------------------------------------------------------------------------ */

/* Copies one operand's tiles, step after step. */
template <class LAYOUT, int BK, int PLANES>
struct producer {
    const unsigned short *from;
    int64_t pitch, to_lo;
    unsigned to;

    __device__ __forceinline__ producer(const tilemm__split_operand_t &operand, int64_t matrix,
                                        int64_t line, unsigned address)
    {
        const int64_t lines = round_up(operand.mn, TILEMM__SPLIT_ALIGN_MN);

        pitch = operand.pitch;
        to_lo = PLANES > 1 ? operand.lo - operand.hi : 0;
        from = operand.hi + (matrix * lines + line) * pitch + LAYOUT::copy_from(threadIdx.x, pitch);
        to = address + LAYOUT::copy_to(threadIdx.x);
    }

    __device__ __forceinline__ void copy(unsigned stage)
    {
#pragma unroll
        for (int i = 0; i < LAYOUT::PIECES; i++) {
            const unsigned short *const p = from + i * LAYOUT::STEP * pitch;

            copy_piece(to + stage + i * LAYOUT::STEP * LAYOUT::ROW, p);
            if (PLANES > 1)
                copy_piece(to + stage + LAYOUT::BYTES + i * LAYOUT::STEP * LAYOUT::ROW, p + to_lo);
        }
        from += BK;
    }
};

/* ---- consumer ------------------------------------------------------------------------------ */

/* A fragment of the tile of each plane: 16 lines and 16 k from the address of the first. */
template <class LAYOUT, int PLANES>
static __device__ __forceinline__ void load_fragment(unsigned (&hi)[4], unsigned (&lo)[4],
                                                     unsigned address, int lines, int k)
{
    address = LAYOUT::further(address, lines, k);
    load_matrices(hi, address);
    if (PLANES > 1)
        load_matrices(lo, address + LAYOUT::BYTES);
}

template <int NI>
static __device__ __forceinline__ void promote(float (&total)[NI][4], const float (&sum)[NI][4])
{
#pragma unroll
    for (int j = 0; j < NI; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            total[j][e] += sum[j][e];
}

/* ---- units --------------------------------------------------------------------------------- */

/* 2^e for e from -126 to 127 */
static __device__ __forceinline__ float power_of_two(int e)
{
    return __int_as_float((e + 127) << 23);
}

/* x 2^e, rounded once. x is 0 or 2^-60 to 2^62, so that beyond -252 the result is 0 either way. */
static __device__ __forceinline__ float scale(float x, int e)
{
    e = max(-252, min(e, 254));
    return x * power_of_two(e >> 1) * power_of_two(e - (e >> 1));
}

/* The exponent in that block of k of a line of the tile: of A's, then of B's. */
template <int BM>
static __device__ __forceinline__ const int *line_exponent(const tilemm__split_product_t &product,
                                                           const place &at, unsigned line,
                                                           unsigned block)
{
    const int64_t blocks = (product.k + TILEMM__SPLIT_BLOCK - 1) / TILEMM__SPLIT_BLOCK;
    const int64_t of_matrix = at.matrix * blocks + block;

    return line < BM
               ? product.a.exponents + of_matrix * round_up(product.m, TILEMM__SPLIT_ALIGN_MN) +
                     at.m0 + line
               : product.b.exponents + of_matrix * round_up(product.n, TILEMM__SPLIT_ALIGN_MN) +
                     at.n0 + (line - BM);
}

#endif

/* ---- the kernel ---------------------------------------------------------------------------- */

template <class TILE, int PRODUCTS>
static __global__ void __launch_bounds__(TILE::THREADS, TILE::BLOCKS)
    sgemm_split_sm80(const __grid_constant__ tilemm__split_product_t product, uint64_t first,
                     uint64_t tiles_m, uint64_t tiles_n)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const int BM = TILE::BM, BN = TILE::BN, WM = TILE::WM, WN = TILE::WN, BK = TILE::BK;
    const int STAGES = TILE::STAGES, THREADS = TILE::THREADS;
    const int PLANES = PRODUCTS > 1 ? 2 : 1;
    const bool APART = PRODUCTS == 1 && TILE::BLOCK_SUMS; /* a block's sums, in cross */
    const int MI = WM / 16, NI = WN / 8, KI = BK / 16, PER_BLOCK = TILEMM__SPLIT_BLOCK / BK;
    typedef layout<BM, BK, THREADS> layout_a;
    typedef layout<BN, BK, THREADS> layout_b;
    const int BYTES_A = layout_a::BYTES, BYTES_B = layout_b::BYTES;
    const unsigned STAGE = PLANES * (BYTES_A + BYTES_B);
    extern __shared__ __align__(1024) unsigned char shared[];
    /* For each line of A and of B: the exponent of its sums, and what comes to the next block's:
     * its exponent, then by how much it differs. */
    int *const units = (int *)(shared + STAGES * STAGE), *const changes = units + BM + BN;
    place *const where = (place *)(changes + BM + BN);
    const unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    /* Which tile, which matrix. */
    uint64_t tile = first + blockIdx.x, matrix = 0;

    if (product.batch_count > 1) {
        matrix = tile / (tiles_m * tiles_n);
        tile -= matrix * (tiles_m * tiles_n);
    }

    const uint64_t group = tile / (GROUP * tiles_n);
    const uint64_t in_group = tile - group * (GROUP * tiles_n);
    const uint64_t rows = min((uint64_t)GROUP, tiles_m - group * GROUP);
    const uint64_t tile_n = in_group / rows;
    const place begin = {(int64_t)matrix, (int64_t)(group * GROUP + in_group - tile_n * rows) * BM,
                         (int64_t)tile_n * BN};

    /* It is needed rarely, and registers are short. */
    if (threadIdx.x == 0)
        *where = begin;

    /* Producer: the first stages are on their way. */
    const unsigned steps = (unsigned)(round_up(product.k, TILEMM__SPLIT_ALIGN_K) / BK);
    producer<layout_a, BK, PLANES> copy_a(product.a, begin.matrix, begin.m0, base);
    producer<layout_b, BK, PLANES> copy_b(product.b, begin.matrix, begin.n0,
                                          base + PLANES * BYTES_A);
    unsigned now = 0; /* the stage to read, in bytes */

#pragma unroll
    for (int i = 0; i < STAGES; i++) {
        if (i < steps) {
            copy_a.copy(i * STAGE);
            copy_b.copy(i * STAGE);
        }
        copy_commit();
    }

    /* The lines of the tile whose units this thread sees to: A's, then B's. */
    const int OWN = (BM + BN + THREADS - 1) / THREADS;

#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const unsigned line = threadIdx.x + i * THREADS;

        if (line < BM + BN)
            units[line] = *line_exponent<BM>(product, begin, line, 0);
    }

    /* Consumer. This lane's elements: rows m and m + 8, columns n and n + 1 of each product. */
    const unsigned warp_m = warp % (BM / WM) * WM, warp_n = warp / (BM / WM) * WN;
    const unsigned m = warp_m + lane / 4, n = warp_n + lane % 4 * 2;
    const unsigned read_a = base + layout_a::fragment(warp_m, lane, false);
    const unsigned read_b = base + PLANES * BYTES_A + layout_b::fragment(warp_n, lane, true);
    float total[MI][NI][4], cross[MI][NI][4];
    unsigned step = 0;

#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                total[i][j][e] = cross[i][j][e] = 0.0f;

    /* The fragments that are being multiplied, and the next ones. */
    unsigned ah[2][4], al[2][4], bh[2][NI / 2][4], bl[2][NI / 2][4];

    copy_wait<STAGES - 1>();
    __syncthreads();
    load_fragment<layout_a, PLANES>(ah[0], al[0], read_a, 0, 0);
#pragma unroll
    for (int j = 0; j < NI / 2; j++)
        load_fragment<layout_b, PLANES>(bh[0][j], bl[0][j], read_b, j, 0);

    float hh[NI][4];

    for (;;) {
#pragma unroll
        for (int unit = 0; unit < KI * MI; unit++) {
            /* Two steps of 16 of k for each 16 rows. The fragments of B for even k are loaded in
             * the unit before they are needed, those for odd k in the first where they are free. */
            const int next = (unit + 1) % (KI * MI), i = unit / 2 % MI, odd = unit % 2;
            const int next_k = next / (2 * MI) * 2 + (1 - odd);
            const unsigned stage = now;

            /* This stage has been read: wait for the next one, and for the other warps. */
            if (next == 0) {
                copy_wait<STAGES - 2>();
                __syncthreads();
                now = now == (STAGES - 1) * STAGE ? 0 : now + STAGE;
            }
            if (next % (2 * MI) < 2) {
#pragma unroll
                for (int j = 0; j < NI / 2; j++)
                    load_fragment<layout_b, PLANES>(bh[1 - odd][j], bl[1 - odd][j], now + read_b, j,
                                                    next_k);
            }
            load_fragment<layout_a, PLANES>(ah[1 - odd], al[1 - odd], now + read_a, next / 2 % MI,
                                            next_k);

            if (PRODUCTS == 1) {
#pragma unroll
                for (int j = 0; j < NI; j++)
                    multiply(APART ? cross[i][j] : total[i][j], ah[odd], bh[odd][j / 2], j % 2);
            } else {
#pragma unroll
                for (int j = 0; j < NI; j++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        hh[j][e] = odd ? hh[j][e] : 0.0f;
#pragma unroll
                for (int j = 0; j < NI; j++)
                    multiply(hh[j], ah[odd], bh[odd][j / 2], j % 2);
#pragma unroll
                for (int j = 0; j < NI; j++)
                    multiply(cross[i][j], ah[odd], bl[odd][j / 2], j % 2);
#pragma unroll
                for (int j = 0; j < NI; j++)
                    multiply(cross[i][j], al[odd], bh[odd][j / 2], j % 2);
                if (PRODUCTS > 3) {
#pragma unroll
                    for (int j = 0; j < NI; j++) {
                        float ll[4] = {};

                        multiply(ll, al[odd], bl[odd][j / 2], j % 2);
#pragma unroll
                        for (int e = 0; e < 4; e++)
                            cross[i][j][e] = fmaf(ll[e], 1.0f / 2048, cross[i][j][e]);
                    }
                }

                if (odd)
                    promote(total[i], hh);
            }

            if (next == 0) {
                if (step + STAGES < steps) {
                    copy_a.copy(stage);
                    copy_b.copy(stage);
                }
                if (step % PER_BLOCK == 0 && step + PER_BLOCK < steps) {
#pragma unroll
                    for (int o = 0; o < OWN; o++) {
                        const unsigned line = threadIdx.x + o * THREADS;

                        if (line < BM + BN)
                            copy_word(
                                base + STAGES * STAGE + (BM + BN + line) * 4,
                                line_exponent<BM>(product, *where, line, step / PER_BLOCK + 1));
                    }
                }
                copy_commit();
            }
        }
        step++;
        if (step == steps)
            break;
        if (step % PER_BLOCK != 0)
            continue;

            /* Bring the sums to the next block's unit. Until this line's first block that is not
             * zero they are zero. */
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const unsigned line = threadIdx.x + i * THREADS;

            if (line < BM + BN) {
                const int before = units[line], after = changes[line];
                int change = 0;

                if (after != TILEMM__SPLIT_ZERO) {
                    if (before != TILEMM__SPLIT_ZERO)
                        change = before - after;
                    units[line] = after;
                }
                changes[line] = change;
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int row = changes[m + i * 16 + e / 2 * 8];

#pragma unroll
                for (int j = 0; j < NI; j++) {
                    const int change = row + changes[BM + n + j * 8 + e % 2];
                    const float factor = power_of_two(max(-126, min(change, 127)));

                    if (APART) {
                        total[i][j][e] += cross[i][j][e];
                        cross[i][j][e] = 0.0f;
                    }
                    total[i][j][e] *= factor;
                    if (PRODUCTS > 1)
                        cross[i][j][e] *= factor;
                }
            }
    }

    /* Epilogue: the units, or that a line is not stored. */
    copy_wait<0>();
    __syncthreads();

    const int64_t of = where->matrix, m0 = where->m0, n0 = where->n0;

#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const unsigned line = threadIdx.x + i * THREADS;
        bool stored = false;

        if (line < BM ? m0 + line < product.m : line < BM + BN && n0 + (line - BM) < product.n) {
            const tilemm__split_state_t *const state =
                line < BM ? product.a.states + of * round_up(product.m, TILEMM__SPLIT_ALIGN_MN) +
                                m0 + line
                          : product.b.states + of * round_up(product.n, TILEMM__SPLIT_ALIGN_MN) +
                                n0 + (line - BM);

            stored = !tilemm__split_is_left(
                *state, line < BM ? *product.b.sparse : *product.a.sparse, PRODUCTS == 1);
            if (!stored)
                *(volatile unsigned *)product.left = 1;
        }
        if (line < BM + BN)
            units[line] = !stored                             ? NOT_STORED
                          : units[line] == TILEMM__SPLIT_ZERO ? 0
                                                              : units[line];
    }
    __syncthreads();

    float *const c = (product.c_array ? product.c_array[of] : product.c + of * product.stride_c) +
                     (m0 + m) * product.ldc + n0 + n;
    const float alpha = product.alpha, beta = product.beta;
    const bool pairs = (((uintptr_t)c | product.ldc * 4) & 7) == 0;

#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = i * 16 + half * 8, row_unit = units[m + row];
            float *const to = c + row * product.ldc;

            if (row_unit == NOT_STORED)
                continue;
#pragma unroll
            for (int j = 0; j < NI; j++) {
                float v[2];
                bool stored[2];

#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const int col_unit = units[BM + n + j * 8 + e];

                    v[e] = total[i][j][half * 2 + e];
                    if (APART)
                        v[e] += cross[i][j][half * 2 + e];
                    if (PRODUCTS > 1)
                        v[e] = fmaf(cross[i][j][half * 2 + e], 1.0f / 2048, v[e]);
                    stored[e] = col_unit != NOT_STORED;
                    v[e] = alpha * scale(v[e], row_unit + (stored[e] ? col_unit : 0));
                }
                if (pairs && stored[0] && stored[1]) {
                    float2 *const pair = (float2 *)(to + j * 8);

                    if (beta != 0.0f) {
                        const float2 old = *pair;

                        v[0] = fmaf(beta, old.x, v[0]);
                        v[1] = fmaf(beta, old.y, v[1]);
                    }
                    *pair = make_float2(v[0], v[1]);
                } else {
#pragma unroll
                    for (int e = 0; e < 2; e++)
                        if (stored[e]) {
                            if (beta != 0.0f)
                                v[e] = fmaf(beta, to[j * 8 + e], v[e]);
                            to[j * 8 + e] = v[e];
                        }
                }
            }
        }
#endif
}

/* ---- launchers ----------------------------------------------------------------------------- */

template <class TILE, int PRODUCTS>
static int launch(const tilemm__split_product_t *product, cudaStream_t stream)
{
    const uint64_t tiles_m = (product->m + TILE::BM - 1) / TILE::BM;
    const uint64_t tiles_n = (product->n + TILE::BN - 1) / TILE::BN;
    const uint64_t all = tiles_m * tiles_n * product->batch_count;
    const int bytes = shared_bytes<TILE>(PRODUCTS);
    cudaError_t error = cudaFuncSetAttribute(sgemm_split_sm80<TILE, PRODUCTS>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);

    for (uint64_t first = 0; error == cudaSuccess && first < all;) {
        const uint64_t most = 1u << 30; /* the grid's limit is twice that */
        const unsigned blocks = (unsigned)(all - first < most ? all - first : most);

        sgemm_split_sm80<TILE, PRODUCTS>
            <<<blocks, TILE::THREADS, bytes, stream>>>(*product, first, tiles_m, tiles_n);
        error = cudaGetLastError();
        first += blocks;
    }
    return error;
}

static uint64_t rounds(const tilemm__split_product_t *product, int64_t side, int processors)
{
    const uint64_t tiles_m = (product->m + side - 1) / side,
                   tiles_n = (product->n + side - 1) / side;

    return (tiles_m * tiles_n * product->batch_count + processors - 1) / processors;
}

/* Whether tiles of 64 x 64 are done sooner than those of 128 x 128. One takes some 1.2 quarters of
 * the other's time. */
static bool small_is_better(const tilemm__split_product_t *product, int processors)
{
    return rounds(product, 64, processors) * 6 < rounds(product, 128, processors) * 20;
}

extern "C" int tilemm__sgemm_split_sm80_launch(const tilemm__split_product_t *product,
                                               void *stream_)
{
    /* Stages for 99 KiB of shared memory, which every device has, or deeper ones for 227. */
    typedef tile<128, 128, 64, 32, 32, 3, 1> large;
    typedef tile<128, 128, 64, 32, 64, 3, 1> large_deep;
    typedef tile<64, 64, 32, 32, 32, 3, 2> small;
    typedef tile<64, 64, 32, 32, 64, 3, 2> small_deep;
    typedef tile<128, 128, 64, 64, 32, 3, 2> single;
    typedef tile<128, 128, 64, 64, 64, 3, 2> single_deep;
    typedef tile<128, 128, 64, 32, 32, 3, 1, true> single_long;
    const cudaStream_t stream = (cudaStream_t)stream_;
    int device, major, processors, shared;
    cudaError_t error = cudaGetDevice(&device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess)
        return error;
    if (major < 8)
        return cudaErrorNotSupported;

    const bool deep = shared >= shared_bytes<large_deep>(3);

    switch (product->products) {
    case 1:
        if (product->k > LONG_SINGLE)
            return launch<single_long, 1>(product, stream);
        return deep ? launch<single_deep, 1>(product, stream) : launch<single, 1>(product, stream);
    case 3:
        if (small_is_better(product, processors))
            return deep ? launch<small_deep, 3>(product, stream)
                        : launch<small, 3>(product, stream);
        return deep ? launch<large_deep, 3>(product, stream) : launch<large, 3>(product, stream);
    case 4: return launch<small, 4>(product, stream);
    default: return cudaErrorInvalidValue;
    }
}
