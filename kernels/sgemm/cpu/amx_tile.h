/* amx_tile.h - the tile instructions that the AMX kernels use; or, with TILEMM_AMX_EMULATED, the
 * same in C, for tests on machines without them.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_KERNELS_SGEMM_CPU_AMX_TILE_H
#define TILEMM_KERNELS_SGEMM_CPU_AMX_TILE_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { TILE_ROWS = 16, TILE_ROW_BYTES = 64, TILE_BYTES = TILE_ROWS * TILE_ROW_BYTES };

#ifndef TILEMM_AMX_EMULATED
#define TILE_EMULATED 0

/* Palette 1: eight registers, here all of 16 rows of 64 bytes. A constant, as GCC 12 takes the
 * instruction to read eight bytes of it, and would not store all of a variable. */
static const struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_configuration __attribute__((aligned(64))) = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};
_Static_assert(sizeof tile_configuration == 64, "what the instruction reads");

static void tile_begin(void)
{
    _tile_loadconfig(&tile_configuration);
}

static void tile_end(void)
{
    _tile_release();
}

#define TILE_ZERO(t) _tile_zero(t)
#define TILE_LOAD(t, from) _tile_loadd(t, from, TILE_ROW_BYTES)
#define TILE_STORE(t, to) _tile_stored(t, to, TILE_ROW_BYTES)
#define TILE_MULTIPLY(c, a, b) _tile_dpbf16ps(c, a, b)

#else
#define TILE_EMULATED 1

static _Thread_local float tile_registers[8][TILE_ROWS][16];
/* Multiplying without a configuration is a fault, as it is in hardware. */
static _Thread_local int tile_configured;

static void tile_begin(void)
{
    tile_configured = 1;
    memset(tile_registers, 0, sizeof tile_registers);
}

static void tile_end(void)
{
    tile_configured = 0;
}

static inline void tile_move(void *to, const void *from)
{
    if (!tile_configured)
        __builtin_trap();
    memcpy(to, from, TILE_BYTES);
}

/* The two BF16 numbers of each of 16 words, as floats; subnormal ones are 0 of their sign. */
static inline __m512 tile_flushed(__m512i bits)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f800000), sign = _mm512_set1_epi32(INT32_MIN);
    return _mm512_castsi512_ps(
        _mm512_mask_and_epi32(bits, _mm512_testn_epi32_mask(bits, exponent), bits, sign));
}

static inline __m512 tile_upper(__m512i pairs)
{
    return tile_flushed(_mm512_and_si512(pairs, _mm512_set1_epi32((int)0xffff0000)));
}

static inline __m512 tile_lower(__m512i pairs)
{
    return tile_flushed(_mm512_slli_epi32(pairs, 16));
}

/* TDPBF16PS as Intel's manual has it (Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2): for each row two sums, of the lower and of the upper numbers of the pairs, by FP32
 * fused multiply-adds that start from 0, then the two together, then on top of C. Rounded to
 * nearest even; subnormal inputs and results are 0. */
static __attribute__((noinline)) void tile_multiply(int c, int a, int b)
{
    if (!tile_configured)
        __builtin_trap();
    for (int i = 0; i < TILE_ROWS; i++) {
        __m512 lower = _mm512_setzero_ps(), upper = lower, sum;
        for (int q = 0; q < 16; q++) {
            const __m512i x = _mm512_set1_epi32(((const int32_t *)tile_registers[a][i])[q]);
            const __m512i y = _mm512_loadu_si512(tile_registers[b][q]);
            lower = tile_flushed(
                _mm512_castps_si512(_mm512_fmadd_ps(tile_lower(x), tile_lower(y), lower)));
            upper = tile_flushed(
                _mm512_castps_si512(_mm512_fmadd_ps(tile_upper(x), tile_upper(y), upper)));
        }
        sum = tile_flushed(_mm512_castps_si512(_mm512_add_ps(lower, upper)));
        sum = _mm512_add_ps(tile_flushed(_mm512_loadu_si512(tile_registers[c][i])), sum);
        _mm512_storeu_ps(tile_registers[c][i], tile_flushed(_mm512_castps_si512(sum)));
    }
}

#define TILE_ZERO(t) memset(tile_registers[t], 0, TILE_BYTES)
#define TILE_LOAD(t, from) tile_move(tile_registers[t], from)
#define TILE_STORE(t, to) tile_move(to, tile_registers[t])
#define TILE_MULTIPLY(c, a, b) tile_multiply(c, a, b)

#endif

#endif
