/* data.c - data for operands.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define NAME(value, name, text) name,
#define TEXT(value, name, text) text,

const char *data_name(data_t family)
{
    static const char *const names[] = {DATA_SUITE(NAME) DATA_OTHERS(NAME)};
    return names[family];
}

const char *data_text(data_t family)
{
    static const char *const texts[] = {DATA_SUITE(TEXT) DATA_OTHERS(TEXT)};
    return texts[family];
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

enum { TABLE = 65536 };
static float table[TABLE];

static void make_table(void)
{
    uint64_t state = 1;
    for (int i = 0; i < TABLE; i += 2) {
        double u = ((double)(next_random(&state) >> 11) + 0.5) / 9007199254740992.0;
        double angle =
            6.283185307179586 * ((double)(next_random(&state) >> 11) / 9007199254740992.0);
        double radius = sqrt(-2 * log(u));
        table[i] = (float)(radius * cos(angle));
        table[i + 1] = (float)(radius * sin(angle));
    }
}

static void need_table(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_table);
}

/* A value is 0.8 times one and 0.6 times another entry of a table of normal numbers: it is normal
 * again, takes 2^32 different values, and is made as fast as memory takes it. */
static float normal(uint64_t bits)
{
    return 0.8f * table[bits & 0xffff] + 0.6f * table[bits >> 16 & 0xffff];
}

void fill_normal(float *x, size_t count, uint64_t seed)
{
    uint64_t state = seed;
    need_table();
    for (size_t i = 0; i < count; i += 2) {
        const uint64_t bits = next_random(&state);
        x[i] = normal(bits);
        if (i + 1 < count)
            x[i + 1] = normal(bits >> 32);
    }
}

void fill_bytes(void *x, size_t bytes, uint64_t seed)
{
    unsigned char *at = x;
    uint64_t state = seed;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t bits = next_random(&state);
        memcpy(at + i, &bits, bytes - i < 8 ? bytes - i : 8);
    }
}

/* x times a power of two with an exponent from -most to most, by 32 random bits. */
static float spread(float x, uint32_t bits, int most)
{
    return ldexpf(x, (int)(bits % (2u * (unsigned)most + 1)) - most);
}

/* Nonzeros per thousand. */
static uint32_t density(data_t family)
{
    switch (family) {
    case DATA_SPARSE_0_5:
    case DATA_BOTH_0_5: return 5;
    case DATA_SPARSE_1:
    case DATA_BOTH_1: return 10;
    case DATA_SPARSE_3:
    case DATA_BOTH_3: return 30;
    case DATA_SPARSE_10:
    case DATA_BOTH_10: return 100;
    default: return 200;
    }
}

/* An element by 64 random bits: the lower half is that of a normal number. */
static float element(data_t family, int of_b, uint64_t bits, int64_t line, int64_t p, int64_t k)
{
    enum { BLOCK = 128, RARE = 199 /* lines from one that is singled out to the next */ };
    const uint32_t more = (uint32_t)(bits >> 32);
    const float x = normal(bits);
    switch (family) {
    case DATA_UNIFORM: return (float)(more >> 8) * 0x1p-24f;
    case DATA_SYMMETRIC: return (float)(more >> 8) * 0x1p-23f - 1;
    case DATA_WIDE: return spread(x, more, 40);
    case DATA_WIDE_20: return spread(x, more, 20);
    case DATA_WIDE_60: return spread(x, more, 60) * (of_b ? 0x1p-20f : 0x1p-10f);
    case DATA_WIDE_LINES: return ldexpf(x, (int)(line * 5 % 81) - 40);
    case DATA_OUTLIERS_100: return more % 100 ? x : x * 0x1p20f;
    case DATA_OUTLIERS_1000: return more % 1000 ? x : x * 0x1p20f;
    case DATA_OUTLIERS_HUGE: return more % 4000 ? x : x * 0x1p60f;
    case DATA_HUGE_IN_LINE: return p == (line * 7 + 3) % k ? x * 0x1p40f : x;
    case DATA_HUGE_LINES: return line % RARE ? x : x * 0x1p40f;
    case DATA_LOGNORMAL: return (more & 1 ? 1.0f : -1.0f) * expf(4 * x);
    case DATA_CAUCHY: return x / fmaxf(fabsf(normal(more)), 0x1p-20f);
    case DATA_PERMUTATION: return of_b ? x : p == line * 7919 % k ? 1.0f : 0.0f;
    case DATA_DIAGONAL: return of_b || p == line ? x : 0.0f;
    case DATA_SPARSE_0_5:
    case DATA_SPARSE_1:
    case DATA_SPARSE_3:
    case DATA_SPARSE_10:
    case DATA_SPARSE_20: return of_b || more % 1000 < density(family) ? x : 0.0f;
    case DATA_BOTH_0_5:
    case DATA_BOTH_1:
    case DATA_BOTH_3:
    case DATA_BOTH_10:
    case DATA_BOTH_20: return more % 1000 < density(family) ? x : 0.0f;
    case DATA_ZERO_BLOCKS: return (line / BLOCK * 3 + p / BLOCK) * 5 % 8 < 4 ? x : 0.0f;
    case DATA_ZERO_STRIPS: return p / BLOCK >> of_b & 1 ? 0.0f : x;
    case DATA_RELU: return fmaxf(x, 0);
    case DATA_TINY: return of_b ? x : x * 0x1p-120f;
    case DATA_SOFTMAX: return of_b ? x : expf(16 * x - 64);
    case DATA_WIDE_120: return of_b ? x : spread(x, more, 120);
    case DATA_HUGE: return x * 0x1p58f;
    case DATA_BYTES: return (float)(more >> 24);
    case DATA_EQUAL: return 0.3f;
    case DATA_INF_NAN:
        if (line % RARE || p != (line * 7 + 3) % k)
            return x;
        return line / RARE % 2 ? (float)NAN : copysignf(HUGE_VALF, x);
    case DATA_WIDE_ROWS: return of_b ? x : line % 7 ? spread(x, more, 120) : x * 0x1p-110f;
    case DATA_WIDE_PERMUTED:
        return of_b ? (p == line * 7919 % k ? 1.0f : 0.0f) : spread(x, more, 110);
    case DATA_TINY_DECIDES: return p != k / 2 ? x : (of_b ? 0x1p45f : 0x1p-32f) * (1 + fabsf(x));
    case DATA_SUBNORMAL: return ldexpf(x, of_b ? 100 : -133);
    case DATA_NEAR_OVERFLOW:
        return ldexpf((float)(more >> 8) * 0x1p-23f - 1, of_b ? 64 - (int)log2((double)k) : 62);
    case DATA_OVERFLOW: return x * (p == k / 3 && line % 3 == 0 ? 0x1p85f : 0x1p20f);
    case DATA_WIDE_STEPS: return ldexpf(x, ((int)(p * 7919 % 121) - 60) * (of_b ? -1 : 1));
    case DATA_HUGE_AND_TINY: /* one in 97 of one line in 16 */
        return ldexpf(x, line % 16 == 3 && p % 97 == 5 ? (of_b ? 58 : 64) : of_b ? -80 : -30);
    case DATA_INTEGERS: return (float)(int)(more % 4097) - 2048;
    default: return x;
    }
}

/* Random bits by place. */
static uint64_t bits_at(uint64_t start, int64_t line, int64_t p, int64_t k)
{
    uint64_t state = start + (uint64_t)(line * k + p) * 0x9e3779b97f4a7c15u;
    return next_random(&state);
}

void data_fill(data_t family, int of_b, uint64_t seed, int64_t lines, int64_t k, float *x,
               int64_t line_step, int64_t step)
{
    const int by_lines = step <= line_step; /* in the order of memory */
    const int64_t outer = by_lines ? lines : k, inner = by_lines ? k : lines, half = k / 2;
    uint64_t state = seed * 2 + (uint64_t)(of_b != 0);
    const uint64_t start = next_random(&state);
    need_table();
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < inner; j++) {
            const int64_t line = by_lines ? i : j, p = by_lines ? j : i;
            const uint64_t bits = bits_at(start, line, p, k);
            float value = element(family, of_b, bits, line, p, k);
            /* The second half of k nearly cancels the first. */
            if (family == DATA_CANCELLATION && p >= half && p < 2 * half) {
                value = normal(bits_at(start, line, p - half, k));
                value *= of_b ? -1 - 0x1p-14f * normal(bits) : 1;
            }
            x[line * line_step + p * step] = value;
        }
}
