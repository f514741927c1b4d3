/* access_patterns.h - a table of warp accesses on which the memory model is compared with hardware.
 * The program that runs them on a GPU (access_sweep.cu) and the test (access_sweep.c) make the same
 * table, in the same order.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_ACCESS_PATTERNS_H
#define TILEMM_TESTS_UNIT_ACCESS_PATTERNS_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernels/sgemm/layout.h"
#include "kernels/transpose/layout.h"
#include "kernels/reduce/layout.h"
#include "tilemm.h"

enum {
    PATTERN_MOST = 2048,
    PATTERN_MOST_BYTES = 48 * 1024 /* all addresses are below: every GPU's blocks may have this */
};

typedef struct {
    char name[64];
    int is_global, is_store;
    tilemm_warp_access_t access;
} pattern_t;

typedef struct {
    pattern_t *patterns; /* room for PATTERN_MOST */
    int count;
    int is_global, elem_bytes; /* of what is added next */
    uint32_t random;
    unsigned index[32]; /* of each lane's element in what is added next */
} patterns_t;

/* Identifies the access that a measurement belongs to. */
static inline uint32_t pattern_hash(const pattern_t *pattern)
{
    uint32_t hash = 2166136261u;
    for (int lane = 0; lane < 32; lane++) {
        const uint32_t active = pattern->access.active >> lane & 1;
        const uint32_t value = active ? (uint32_t)pattern->access.addr[lane] + 1 : 0;
        for (int byte = 0; byte < 4; byte++)
            hash = (hash ^ (value >> byte * 8 & 255)) * 16777619u;
    }
    return (hash ^ (uint32_t)pattern->access.elem_bytes) * 16777619u;
}

/* Add the access in which each active lane has the element of its index, `offset` bytes further: a
 * load and a store. The name is formatted as by printf. */
static inline void pattern_add(patterns_t *p, uint32_t active, unsigned offset, const char *format,
                               ...)
{
    char what[40];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (int is_store = 0; is_store < 2 && p->count < PATTERN_MOST; is_store++) {
        pattern_t *to = &p->patterns[p->count++];
        memset(to, 0, sizeof *to);
        snprintf(to->name, sizeof to->name, "%s %s %d %s", p->is_global ? "global" : "shared",
                 is_store ? "st" : "ld", p->elem_bytes, what);
        to->is_global = p->is_global;
        to->is_store = is_store;
        to->access.elem_bytes = p->elem_bytes;
        to->access.active = active;
        for (int lane = 0; lane < 32; lane++)
            to->access.addr[lane] = (uint64_t)p->index[lane] * (unsigned)p->elem_bytes + offset;
    }
}

/* The same, for lane l the element of the index `element`, an expression of l. */
#define ADD_SOME(p, active, offset, element, ...)                                                  \
    do {                                                                                           \
        for (unsigned l = 0; l < 32; l++)                                                          \
            (p)->index[l] = (element);                                                             \
        pattern_add(p, active, offset, __VA_ARGS__);                                               \
    } while (0)

/* The same, with all lanes active and no offset. */
#define ADD(p, element, ...) ADD_SOME(p, UINT32_MAX, 0, element, __VA_ARGS__)

static inline unsigned pattern_random(patterns_t *p, unsigned below)
{
    p->random = p->random * 1664525u + 1013904223u;
    return (p->random >> 8) % below;
}

/* Orders of one row of 32, and elements that several lanes share. */
static inline void pattern_sharing(patterns_t *p)
{
    ADD(p, 31 - l, "reversed");
    ADD(p, (l + 5) % 32, "rotated by 5");
    ADD(p, (l * 13 + 3) % 32, "odd multiples");
    ADD(p, l ^ 21, "xor 21");
    ADD(p, 3, "one for all");
    ADD(p, l / 2, "pairs");
    ADD(p, l / 4, "fours");
    ADD(p, l / 8, "eights");
    ADD(p, l / 16, "halves");
    ADD(p, l % 2, "two in turn");
    ADD(p, l % 4, "four in turn");
    ADD(p, l % 8, "eight in turn");
    ADD(p, l % 16, "sixteen in turn");
    ADD(p, (l & 1) | (l >> 2) << 1, "pairs apart by 2");
    ADD(p, tilemm__square_m(l), "square_m");
    ADD(p, tilemm__square_n(l), "square_n");
}

/* Elements of 8 and 16 bytes that neighbours share in part of a warp, or in two ways at once, or
 * with inactive lanes: whether a load serves two groups of lanes together. */
static inline void pattern_joining(patterns_t *p)
{
    static const uint32_t masks[] = {0x77777777, 0x33333333, 0x99999999, 0x0f0f0f0f,
                                     0x0000fffd, 0x55550000, 0xfffffffe, 0x00000003};
    unsigned at_random[32];
    for (unsigned lane = 0; lane < 32; lane++)
        at_random[lane] = pattern_random(p, 256);
    ADD(p, l < 16 ? l & ~1u : l, "pairs in the first half");
    ADD(p, l < 16 ? l : l & ~1u, "pairs in the second half");
    ADD(p, l < 8 ? l & ~1u : l, "pairs in the first quarter");
    ADD(p, l < 16 ? l & ~1u : l & ~2u, "pairs or apart by 2");
    ADD(p, l / 8 % 2 ? l & ~2u : l & ~1u, "pairs, quarters apart by 2");
    ADD(p, l == 5 ? 40 : l & ~1u, "pairs but one");
    ADD(p, l & ~4u, "shared apart by 4");
    ADD(p, l & ~8u, "shared apart by 8");
    ADD(p, l & ~16u, "shared apart by 16");
    ADD(p, 31 - (l & ~1u), "pairs reversed");
    ADD(p, l / 2 * 2, "pairs, stride 2");
    ADD(p, l / 2 * 4, "pairs, stride 4");
    ADD(p, (l / 4 * 2 + l % 2) * 2, "apart by 2, stride 2");
    ADD(p, at_random[l / 2], "pairs at random");
    ADD(p, at_random[l / 4 * 2 + l % 2], "apart by 2 at random");
    for (unsigned m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        ADD_SOME(p, masks[m], 0, l / 2, "pairs, lanes %08x", (unsigned)masks[m]);
        ADD_SOME(p, masks[m], 0, l, "stride 1, lanes %08x", (unsigned)masks[m]);
    }
}

static inline void pattern_masks(patterns_t *p)
{
    static const uint32_t masks[] = {0x00000001, 0x80000000, 0x0000ffff, 0xffff0000, 0x55555555,
                                     0x11111111, 0x000000ff, 0x0ff00ff0, 0x00ffff00, 0x7fffffff,
                                     0x00010001, 0x13579bdf, 0xe0000007};
    for (unsigned stride = 1; stride <= 2; stride++)
        for (unsigned m = 0; m < sizeof masks / sizeof masks[0]; m++)
            ADD_SOME(p, masks[m], 0, l * stride, "stride %u, lanes %08x", stride,
                     (unsigned)masks[m]);
}

/* Parts of structures, and of tiles. */
static inline void pattern_structures(patterns_t *p)
{
    p->elem_bytes = 4;
    for (unsigned floats = 2; floats <= 3; floats++)
        for (unsigned member = 0; member < floats; member++)
            ADD_SOME(p, UINT32_MAX, member * 4, l * floats, "struct of %u floats, member %u",
                     floats, member);
    ADD(p, l * 2, "struct of float and char: float");
    p->elem_bytes = 1;
    ADD_SOME(p, UINT32_MAX, 4, l * 8, "struct of float and char: char");
    p->elem_bytes = 4;
    ADD(p, l, "doubles in two words: low");
    ADD_SOME(p, UINT32_MAX, 128, l, "doubles in two words: high");
    for (unsigned pitch = 32; pitch <= 36; pitch++)
        for (p->elem_bytes = 1; p->elem_bytes <= 16; p->elem_bytes *= 2)
            ADD(p, l * pitch + 5, "column 5 of rows of %u", pitch);
}

/* Rows that begin at any byte of a line. Offsets from 32 on add nothing below 4 bytes. */
static inline void pattern_misaligned(patterns_t *p)
{
    for (p->elem_bytes = 1; p->elem_bytes <= 16; p->elem_bytes *= 2) {
        const unsigned bytes = (unsigned)p->elem_bytes;
        for (unsigned offset = bytes; offset < (bytes < 4 ? 32 : 128); offset += bytes)
            ADD_SOME(p, UINT32_MAX, offset, l, "from byte %u", offset);
    }
}

/* Make the table. Returns the number of accesses. */
static inline int make_patterns(pattern_t *patterns)
{
    static const unsigned windows[] = {16, 64, 256, 1024, 3072};
    patterns_t p = {patterns, 0, 0, 0, 1, {0}};
    for (p.is_global = 0; p.is_global < 2; p.is_global++) {
        for (p.elem_bytes = 1; p.elem_bytes <= 16; p.elem_bytes *= 2) {
            for (unsigned stride = 1; stride <= (p.elem_bytes == 4 ? 64 : 9); stride++)
                ADD(&p, l * stride, "stride %u", stride);
            pattern_sharing(&p);
            for (unsigned w = 0; w < sizeof windows / sizeof windows[0]; w++)
                ADD(&p, pattern_random(&p, windows[w]), "random in %u", windows[w]);
        }
        for (p.elem_bytes = 4; p.elem_bytes <= 16; p.elem_bytes *= 2)
            pattern_masks(&p);
        for (p.elem_bytes = 8; p.elem_bytes <= 16 && !p.is_global; p.elem_bytes *= 2)
            pattern_joining(&p);
        pattern_structures(&p);
        if (p.is_global)
            pattern_misaligned(&p);
    }
    return p.count;
}

#undef ADD
#undef ADD_SOME

#endif
