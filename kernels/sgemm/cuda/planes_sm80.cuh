/* planes_sm80.cuh - the shapes of planes_sm80.cu, its shared memory, its instructions, and the
 * producer that copies planes to shared memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CUDA_PLANES_SM80_CUH
#define TILEMM_KERNELS_SGEMM_CUDA_PLANES_SM80_CUH

#include <cuda_runtime.h>

#include "kernels/cuda/mma.cuh"
#include "kernels/size.h"
#include "planes.h"

typedef tilemm__sgemm_planes_product_t product_t;

enum {
    GROUP = 8,  /* rows of tiles in a group of the tile walk */
    PIECE = 16, /* bytes that one thread copies, and a row of ldmatrix */
    BLOCK = TILEMM__SGEMM_PLANES_BLOCK,
    ZERO = TILEMM__SGEMM_PLANES_ZERO,
    NOT_STORED = ZERO /* at the end: the exponent of an exact line, and beyond the last */
};

/* ---- shapes -------------------------------------------------------------------------------- */

/* The tile of one plane of an operand: LINES (of m or n) x BK. */
template <int LINES, int BK, int THREADS>
struct layout_t {
    static const int ROW = BK * 2; /* bytes */
    static const int BYTES = LINES * BK * 2;
    static const int PIECES = BYTES / PIECE / THREADS; /* of a thread */
    static const int STEP = THREADS / (ROW / PIECE);   /* rows from one to the next */
    static_assert(ROW == 64 || ROW == 128, "what tilemm__tensor_swizzle() knows");
    static_assert(PIECES > 0 && PIECES * THREADS * PIECE == BYTES, "equal shares");
    static_assert(STEP % 8 == 0, "a thread's pieces are swizzled alike");

    /* The byte to which this thread's first piece goes; the others follow every STEP rows. */
    static __device__ __forceinline__ unsigned copy_to(unsigned thread)
    {
        const unsigned row = thread / (ROW / PIECE), piece = thread % (ROW / PIECE);
        return row * ROW + (piece ^ tilemm__tensor_swizzle(row, ROW / PIECE)) * PIECE;
    }

    /* The half from which it comes, counted from the tile's first. */
    static __device__ __forceinline__ int64_t copy_from(unsigned thread, int64_t pitch)
    {
        return thread / (ROW / PIECE) * pitch + thread % (ROW / PIECE) * (PIECE / 2);
    }

    /* This lane's address in ldmatrix for the fragment of 16 lines from `line` on by 16 of k: four
     * matrices of 8 x 8. Of A the first two are lines 0..7 and 8..15 at k 0..7. Of B they are
     * k 0..7 and 8..15 of lines 0..7: each of two instructions has its half in neighbouring
     * registers. */
    static __device__ __forceinline__ unsigned fragment(unsigned line, unsigned lane, bool is_b)
    {
        const unsigned row = lane % 8, odd = lane / 8 % 2, last = lane / 16;
        const unsigned lines = is_b ? last : odd, k = is_b ? odd : last;
        return (line + lines * 8 + row) * ROW +
               (k ^ tilemm__tensor_swizzle(row, ROW / PIECE)) * PIECE;
    }

    /* The address of the fragment `lines` times 16 lines and `k` times 16 of k further on, within
     * a warp's part. A step along k changes only bits that are 0 in the piece's number before the
     * swizzle, so that it is an exclusive or. */
    static __device__ __forceinline__ unsigned further(unsigned address, int lines, int k)
    {
        return (address ^ (k * 2 * PIECE)) + lines * 16 * ROW;
    }
};

/* A row of variants.h, and what follows from it. */
template <int PRODUCTS_, int BM_, int BN_, int BK_, int WM_, int WN_, int STAGES_, bool PROMOTES_>
struct shape_t {
    static const int PRODUCTS = PRODUCTS_, BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_;
    static const int STAGES = STAGES_;
    static const bool PROMOTES = PROMOTES_; /* 1 product: a block of k accumulates in `cross` */
    static const int PLANES = PRODUCTS > 1 ? 2 : 1;
    static const int THREADS = BM / WM * (BN / WN) * 32;
    static const int MI = WM / 16, NI = WN / 8, KI = BK / 16; /* products of a warp, a k-step */
    static const int PER_BLOCK = BLOCK / BK;                  /* k-steps with one exponent */
    static const int LINES = BM + BN;                         /* A's, then B's */
    static const int OWN = (LINES + THREADS - 1) / THREADS;   /* lines of a thread, at most */
    typedef layout_t<BM, BK, THREADS> layout_a;
    typedef layout_t<BN, BK, THREADS> layout_b;
    static const unsigned BYTES_A = PLANES * layout_a::BYTES; /* of a stage */
    static const unsigned STAGE = BYTES_A + PLANES * layout_b::BYTES;
    static_assert(BM % WM == 0 && BN % WN == 0 && WM % 16 == 0 && WN % 16 == 0, "whole products");
    static_assert(WM <= 64 && WN <= 64 && (WM & (WM - 1)) == 0 && (WN & (WN - 1)) == 0,
                  "layout_t::further");
    static_assert(TILEMM__SGEMM_PLANES_ALIGN_MN % BM == 0, "whole tiles of A's planes");
    static_assert(TILEMM__SGEMM_PLANES_ALIGN_MN % BN == 0, "whole tiles of B's planes");
    static_assert(TILEMM__SGEMM_PLANES_ALIGN_K % BK == 0 && BLOCK % BK == 0, "whole k-steps");
    static_assert(BK % 32 == 0, "fragments alternate between two sets of registers");
    static_assert(STAGES >= 2, "one is multiplied, one is filled");
};

/* The place of a tile of C. */
struct place_t {
    int64_t matrix, m0, n0;
};

/* Dynamic shared memory. */
template <class S>
struct shared_t {
    unsigned char stages[S::STAGES * S::STAGE];
    int exponents[S::LINES]; /* of the sums; at the end NOT_STORED where nothing is stored */
    int changes[S::LINES];   /* the next block's notes, then by how much exponents differ */
    place_t place;           /* here, since it is needed rarely and registers are scarce */
};

/* Compiled for the host's pass and where its instructions exist. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* ---- instructions -------------------------------------------------------------------------- */

/* As copy_async<16>(), with a hint to bring 128 bytes to the L2 cache. */
static __device__ __forceinline__ void copy_piece(unsigned to, const void *from)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" : : "r"(to), "l"(from));
}

/* Load four 8 x 8 matrices; lane i has the address of row i % 8 of matrix i / 8. */
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
    const unsigned of_half[2] = {b[half * 2], b[half * 2 + 1]};
    mma_fp16(sum, a, of_half);
}

/* ---- producer ------------------------------------------------------------------------------ */

/* Copies one operand's tiles, step after step. */
template <class LAYOUT, int BK, int PLANES>
struct producer_t {
    const unsigned short *from;
    int64_t pitch, to_lo;
    unsigned to;

    __device__ __forceinline__ producer_t(const tilemm__sgemm_planes_operand_t &operand,
                                          int64_t matrix, int64_t line, unsigned address)
    {
        const int64_t lines = tilemm__round_up(operand.mn, TILEMM__SGEMM_PLANES_ALIGN_MN);
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

#endif /* instructions exist */

#endif
