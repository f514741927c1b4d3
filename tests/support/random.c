/* random.c - pseudo-random numbers, sizes and floats.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "random.h"

#include <math.h>
#include <string.h>

uint64_t rng_bits(rng_t *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t rng_range(rng_t *rng, int64_t low, int64_t high)
{
    return low + (int64_t)(rng_bits(rng) % (uint64_t)(high - low + 1));
}

double rng_unit(rng_t *rng)
{
    return (double)(rng_bits(rng) >> 11) * 0x1p-53;
}

void rng_bytes(rng_t *rng, void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        const uint64_t bits = rng_bits(rng);
        memcpy((unsigned char *)bytes + i, &bits, count - i < 8 ? count - i : 8);
    }
}

int64_t rng_size(rng_t *rng, int64_t most)
{
    static const int64_t edge[] = {4, 6, 8, 12, 14, 16, 24, 32, 48, 64, 96, 128, 192, 256, 288};
    const int64_t kind = rng_range(rng, 0, 9);
    int64_t size;
    if (kind == 0)
        size = rng_range(rng, 0, 3);
    else if (kind < 4)
        size = edge[rng_range(rng, 0, (int64_t)(sizeof(edge) / sizeof(edge[0])) - 1)] +
               rng_range(rng, -1, 1);
    else
        size = rng_range(rng, 0, kind < 7 && most > 64 ? 64 : most);
    return size > most ? rng_range(rng, 0, most) : size;
}

int64_t pick(int64_t below)
{
    static rng_t rng = {1};
    return rng_range(&rng, 0, below - 1);
}

int64_t pick_size(int bits)
{
    const int64_t least = INT64_C(1) << pick(bits);
    return least + pick(least);
}

size_t pick_workspace(void)
{
    return pick(4) ? SIZE_MAX : (size_t)1 << pick(32);
}

float rng_float(rng_t *rng, family_t family)
{
    double x;
    int i;
    switch (family) {
    case FAMILY_POSITIVE: return (float)rng_unit(rng);
    case FAMILY_NORMAL:
        for (x = -6, i = 0; i < 12; i++)
            x += rng_unit(rng);
        return (float)x;
    case FAMILY_WIDE:
        x = ldexp(1 + rng_unit(rng), (int)rng_range(rng, -30, 29));
        return (float)(rng_bits(rng) & 1 ? x : -x);
    case FAMILY_CANCEL:
        x = 2 * rng_unit(rng) - 1;
        if (rng_bits(rng) & 1)
            return (float)x;
        return (float)(rng_bits(rng) & 1 ? 1e4 + x : -1e4 + x);
    case FAMILY_SUBNORMAL: x = 0x1p-126 * (2 * rng_unit(rng) - 1); return (float)x;
    case FAMILY_INTEGER: return (float)rng_range(rng, -8, 8);
    default: return (float)(2 * rng_unit(rng) - 1);
    }
}
