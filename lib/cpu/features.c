/* features.c - what the CPU has: instruction sets (CPUID and XGETBV on x86) and caches.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#ifdef TILEMM_HAVE_AMX
#include <pthread.h>
#include <sys/syscall.h>
#endif

#include "cpu.h"

static const char *const isa_names[TILEMM__ISA_COUNT] = {
    [TILEMM__ISA_GENERIC] = "generic", [TILEMM__ISA_NEON] = "neon", [TILEMM__ISA_AVX2] = "avx2",
    [TILEMM__ISA_AVX512] = "avx512",   [TILEMM__ISA_AMX] = "amx",
};

#if defined(__x86_64__) || defined(__i386__)

/* Which register files the operating system saves; XGETBV of register 0. */
static unsigned enabled_state(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

#if defined(TILEMM_HAVE_AMX) && !defined(TILEMM_AMX_EMULATED)
static int tiles_granted;

/* Linux lends a process the tile registers when it asks, once for all its threads. */
static void ask_for_tiles(void)
{
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    tiles_granted = syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

/* Tiles of BF16 as the kernels want them, and the system's leave to use them. */
static int has_tiles(unsigned state)
{
    enum { TILE_CONFIG_DATA = 0x60000, TILE = 1 << 24, BF16 = 1 << 22 };
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned a, b, c, d;
    if ((state & TILE_CONFIG_DATA) != TILE_CONFIG_DATA ||
        !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & TILE) || !(d & BF16))
        return 0;
    /* Palette 1: at least 8 registers of 16 rows of 64 bytes. */
    if (!__get_cpuid_count(0x1d, 1, &a, &b, &c, &d) || (b & 0xffff) < 64 || b >> 16 < 8 ||
        (c & 0xffff) < 16)
        return 0;
    pthread_once(&once, ask_for_tiles);
    return tiles_granted;
}
#else
static int has_tiles(unsigned state)
{
    (void)state;
    return 1; /* emulated, or not compiled in */
}
#endif

static int cpu_has(tilemm__isa_t isa)
{
    enum { XMM_YMM = 0x6, OPMASK_ZMM = 0xe0 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX) || !(c & bit_FMA))
        return 0;
    unsigned state = enabled_state();
    if ((state & XMM_YMM) != XMM_YMM || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2))
        return 0;
    if (isa == TILEMM__ISA_AVX2)
        return 1;
    unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    if ((isa != TILEMM__ISA_AVX512 && isa != TILEMM__ISA_AMX) ||
        (state & OPMASK_ZMM) != OPMASK_ZMM || (b & avx512) != avx512)
        return 0;
    return isa == TILEMM__ISA_AVX512 || has_tiles(state);
}

static void read_name(char *name, size_t size)
{
    unsigned words[13] = {0};
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            words[0] = 0;
    snprintf(name, size, "%s", words[0] ? (const char *)words : "x86");
}

#else

static int cpu_has(tilemm__isa_t isa)
{
    return isa == TILEMM__ISA_NEON; /* a part of aarch64; elsewhere not compiled in */
}

static void read_name(char *name, size_t size)
{
#ifdef __aarch64__
    snprintf(name, size, "aarch64");
#else
    snprintf(name, size, "generic");
#endif
}

#endif

/* The text of one of Linux's files about CPU 0's caches; "" if it is not there. */
static const char *read_cache_file(int index, const char *name, char text[32])
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, 32, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* The bytes of a data cache as Linux tells; or as the C library does, which may count all caches of
 * a kind as one; or `otherwise`. */
static size_t cache_bytes(int level, int sysconf_name, size_t otherwise)
{
    for (int index = 0; index < 8; index++) {
        char text[32];
        if (atoi(read_cache_file(index, "level", text)) != level ||
            !strncmp(read_cache_file(index, "type", text), "Instruction", 11))
            continue;
        const long kib = atol(read_cache_file(index, "size", text));
        if (kib > 0)
            return (size_t)kib * 1024;
    }
    const long known = sysconf_name >= 0 ? sysconf(sysconf_name) : 0;
    return known > 0 ? (size_t)known : otherwise;
}

#ifndef _SC_LEVEL1_DCACHE_SIZE
#define _SC_LEVEL1_DCACHE_SIZE -1
#define _SC_LEVEL2_CACHE_SIZE -1
#define _SC_LEVEL3_CACHE_SIZE -1
#endif

void tilemm__cpu_read_traits(tilemm__cpu_traits_t *traits, const char *arch)
{
    memset(traits, 0, sizeof *traits);
    read_name(traits->name, sizeof traits->name);

    /* A name of another machine's instruction set caps nothing here. */
    int cap = TILEMM__ISA_COUNT - 1;
    for (int isa = 0; isa < TILEMM__ISA_COUNT; isa++)
        if (!strcmp(arch, isa_names[isa]) && (isa == TILEMM__ISA_GENERIC || cpu_has(isa)))
            cap = isa;
    for (int isa = 0; isa <= cap; isa++)
        if (tilemm__cpu_kernels_for(isa) && (isa == TILEMM__ISA_GENERIC || cpu_has(isa)))
            traits->isa = isa;

    traits->l1d_bytes = cache_bytes(1, _SC_LEVEL1_DCACHE_SIZE, 32 * 1024);
    traits->l2_bytes = cache_bytes(2, _SC_LEVEL2_CACHE_SIZE, 512 * 1024);
    traits->l3_bytes = cache_bytes(3, _SC_LEVEL3_CACHE_SIZE, traits->l2_bytes);
}
