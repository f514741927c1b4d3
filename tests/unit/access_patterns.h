/* access_patterns.h - a table of warp accesses on which the memory model is compared with hardware.
 * The program that runs them on a GPU (access_sweep.cu) and the test (access_sweep.c) make the same
 * table, in the same order.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TESTS_UNIT_ACCESS_PATTERNS_H
#define TILEMM_TESTS_UNIT_ACCESS_PATTERNS_H

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
    int is_global; /* what is added next */
    uint32_t random;
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

/* Add the access in which lane l has element index[l], `offset` bytes further: a load and a store.
 */
static inline void pattern_add(patterns_t *p, const char *what, int elem_bytes, uint32_t active,
                               const unsigned *index, unsigned offset)
{
    for (int is_store = 0; is_store < 2; is_store++) {
        if (p->count == PATTERN_MOST)
            return;
        pattern_t *to = &p->patterns[p->count++];
        memset(to, 0, sizeof *to);
        snprintf(to->name, sizeof to->name, "%s %s %d %s", p->is_global ? "global" : "shared",
                 is_store ? "st" : "ld", elem_bytes, what);
        to->is_global = p->is_global;
        to->is_store = is_store;
        to->access.elem_bytes = elem_bytes;
        to->access.active = active;
        for (int lane = 0; lane < 32; lane++)
            to->access.addr[lane] = (uint64_t)index[lane] * (unsigned)elem_bytes + offset;
    }
}

static inline unsigned pattern_random(patterns_t *p, unsigned below)
{
    p->random = p->random * 1664525u + 1013904223u;
    return (p->random >> 8) % below;
}

static inline void pattern_strides(patterns_t *p, int elem_bytes, unsigned most)
{
    char what[40];
    unsigned index[32];
    for (unsigned stride = 1; stride <= most; stride++) {
        for (unsigned lane = 0; lane < 32; lane++)
            index[lane] = lane * stride;
        snprintf(what, sizeof what, "stride %u", stride);
        pattern_add(p, what, elem_bytes, UINT32_MAX, index, 0);
    }
}

/* Orders of one row of 32, and elements that several lanes share. */
static inline void pattern_sharing(patterns_t *p, int elem_bytes)
{
    static const char *const names[] = {
        "reversed",     "rotated by 5",  "odd multiples",   "xor 21",           "one for all",
        "pairs",        "fours",         "eights",          "halves",           "two in turn",
        "four in turn", "eight in turn", "sixteen in turn", "pairs apart by 2", "square_m",
        "square_n"};
    for (unsigned way = 0; way < sizeof names / sizeof names[0]; way++) {
        unsigned index[32];
        for (unsigned l = 0; l < 32; l++) {
            const unsigned places[] = {31 - l,
                                       (l + 5) % 32,
                                       (l * 13 + 3) % 32,
                                       l ^ 21,
                                       3,
                                       l / 2,
                                       l / 4,
                                       l / 8,
                                       l / 16,
                                       l % 2,
                                       l % 4,
                                       l % 8,
                                       l % 16,
                                       (l & 1) | (l >> 2) << 1,
                                       tilemm__square_m(l),
                                       tilemm__square_n(l)};
            index[l] = places[way];
        }
        pattern_add(p, names[way], elem_bytes, UINT32_MAX, index, 0);
    }
}

/* Elements of 8 and 16 bytes that neighbours share in part of a warp, or in two ways at once, or
 * with inactive lanes: whether a load serves two groups of lanes together. */
static inline void pattern_joining(patterns_t *p, int elem_bytes)
{
    static const char *const names[] = {"pairs in the first half",
                                        "pairs in the second half",
                                        "pairs in the first quarter",
                                        "pairs or apart by 2",
                                        "pairs, quarters apart by 2",
                                        "pairs but one",
                                        "shared apart by 4",
                                        "shared apart by 8",
                                        "shared apart by 16",
                                        "pairs reversed",
                                        "pairs, stride 2",
                                        "pairs, stride 4",
                                        "apart by 2, stride 2",
                                        "pairs at random",
                                        "apart by 2 at random"};
    static const uint32_t masks[] = {0x77777777, 0x33333333, 0x99999999, 0x0f0f0f0f,
                                     0x0000fffd, 0x55550000, 0xfffffffe, 0x00000003};
    unsigned index[32], at_random[32];
    char what[40];
    for (unsigned lane = 0; lane < 32; lane++)
        at_random[lane] = pattern_random(p, 256);
    for (unsigned way = 0; way < sizeof names / sizeof names[0]; way++) {
        for (unsigned l = 0; l < 32; l++) {
            const unsigned pair = l & ~1u, apart = l & ~2u;
            const unsigned places[] = {l < 16 ? pair : l,
                                       l < 16 ? l : pair,
                                       l < 8 ? pair : l,
                                       l < 16 ? pair : apart,
                                       l / 8 % 2 ? apart : pair,
                                       l == 5 ? 40 : pair,
                                       l & ~4u,
                                       l & ~8u,
                                       l & ~16u,
                                       31 - pair,
                                       l / 2 * 2,
                                       l / 2 * 4,
                                       (l / 4 * 2 + l % 2) * 2,
                                       at_random[l / 2],
                                       at_random[l / 4 * 2 + l % 2]};
            index[l] = places[way];
        }
        pattern_add(p, names[way], elem_bytes, UINT32_MAX, index, 0);
    }
    for (unsigned m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        for (unsigned l = 0; l < 32; l++)
            index[l] = l / 2;
        snprintf(what, sizeof what, "pairs, lanes %08x", (unsigned)masks[m]);
        pattern_add(p, what, elem_bytes, masks[m], index, 0);
        for (unsigned l = 0; l < 32; l++)
            index[l] = l;
        snprintf(what, sizeof what, "stride 1, lanes %08x", (unsigned)masks[m]);
        pattern_add(p, what, elem_bytes, masks[m], index, 0);
    }
}

static inline void pattern_randoms(patterns_t *p, int elem_bytes)
{
    static const unsigned windows[] = {16, 64, 256, 1024, 3072};
    for (unsigned w = 0; w < 5; w++) {
        char what[40];
        unsigned index[32];
        for (unsigned lane = 0; lane < 32; lane++)
            index[lane] = pattern_random(p, windows[w]);
        snprintf(what, sizeof what, "random in %u", windows[w]);
        pattern_add(p, what, elem_bytes, UINT32_MAX, index, 0);
    }
}

static inline void pattern_masks(patterns_t *p, int elem_bytes)
{
    static const uint32_t masks[] = {0x00000001, 0x80000000, 0x0000ffff, 0xffff0000, 0x55555555,
                                     0x11111111, 0x000000ff, 0x0ff00ff0, 0x00ffff00, 0x7fffffff,
                                     0x00010001, 0x13579bdf, 0xe0000007};
    static const unsigned strides[] = {1, 2};
    for (unsigned s = 0; s < 2; s++)
        for (unsigned m = 0; m < sizeof masks / sizeof masks[0]; m++) {
            char what[40];
            unsigned index[32];
            for (unsigned lane = 0; lane < 32; lane++)
                index[lane] = lane * strides[s];
            snprintf(what, sizeof what, "stride %u, lanes %08x", strides[s], (unsigned)masks[m]);
            pattern_add(p, what, elem_bytes, masks[m], index, 0);
        }
}

/* Parts of structures, and of tiles. */
static inline void pattern_structures(patterns_t *p)
{
    unsigned index[32], lanes[32];
    for (unsigned lane = 0; lane < 32; lane++)
        lanes[lane] = lane;
    for (unsigned floats = 2; floats <= 3; floats++)
        for (unsigned member = 0; member < floats; member++) {
            char what[40];
            for (unsigned lane = 0; lane < 32; lane++)
                index[lane] = lane * floats;
            snprintf(what, sizeof what, "struct of %u floats, member %u", floats, member);
            pattern_add(p, what, 4, UINT32_MAX, index, member * 4);
        }
    for (unsigned lane = 0; lane < 32; lane++)
        index[lane] = lane * 2;
    pattern_add(p, "struct of float and char: float", 4, UINT32_MAX, index, 0);
    for (unsigned lane = 0; lane < 32; lane++)
        index[lane] = lane * 8;
    pattern_add(p, "struct of float and char: char", 1, UINT32_MAX, index, 4);
    pattern_add(p, "doubles in two words: low", 4, UINT32_MAX, lanes, 0);
    pattern_add(p, "doubles in two words: high", 4, UINT32_MAX, lanes, 128);
    for (unsigned pitch = 32; pitch <= 36; pitch += 1)
        for (int elem_bytes = 1; elem_bytes <= 16; elem_bytes *= 2) {
            char what[40];
            for (unsigned lane = 0; lane < 32; lane++)
                index[lane] = lane * pitch + 5;
            snprintf(what, sizeof what, "column 5 of rows of %u", pitch);
            pattern_add(p, what, elem_bytes, UINT32_MAX, index, 0);
        }
}

/* Rows that begin at any byte of a line. */
static inline void pattern_misaligned(patterns_t *p)
{
    unsigned lanes[32];
    for (unsigned lane = 0; lane < 32; lane++)
        lanes[lane] = lane;
    for (unsigned elem_bytes = 1; elem_bytes <= 16; elem_bytes *= 2)
        for (unsigned offset = elem_bytes; offset < 128; offset += elem_bytes) {
            char what[40];
            if (elem_bytes < 4 && offset >= 32) /* the others repeat those of words */
                break;
            snprintf(what, sizeof what, "from byte %u", offset);
            pattern_add(p, what, (int)elem_bytes, UINT32_MAX, lanes, offset);
        }
}

/* Make the table. Returns the number of accesses. */
static inline int make_patterns(pattern_t *patterns)
{
    patterns_t p = {patterns, 0, 0, 1};
    for (p.is_global = 0; p.is_global < 2; p.is_global++) {
        for (int elem_bytes = 1; elem_bytes <= 16; elem_bytes *= 2) {
            pattern_strides(&p, elem_bytes, elem_bytes == 4 ? 64 : 9);
            pattern_sharing(&p, elem_bytes);
            pattern_randoms(&p, elem_bytes);
        }
        for (int elem_bytes = 4; elem_bytes <= 16; elem_bytes *= 2)
            pattern_masks(&p, elem_bytes);
        for (int elem_bytes = 8; elem_bytes <= 16 && !p.is_global; elem_bytes *= 2)
            pattern_joining(&p, elem_bytes);
        pattern_structures(&p);
        if (p.is_global)
            pattern_misaligned(&p);
    }
    return p.count;
}

#endif
