/* host.c - see host.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif

#include "host.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <sys/syscall.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#if defined(__x86_64__) || defined(__i386__)

enum { AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25 }; /* CPUID 7, edx */

static unsigned extended_features(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) ? d : 0;
}

void host_features(char *text, size_t size)
{
    const unsigned amx = extended_features();
    size_t used = 0;
    text[0] = '\0';
    __builtin_cpu_init();
#define FEATURE(name, has)                                                                         \
    if ((has) && used < size)                                                                      \
        used += (size_t)snprintf(text + used, size - used, "%s" name, used ? " " : "");
#define SUPPORTED(name) FEATURE(name, __builtin_cpu_supports(name))
    SUPPORTED("sse4.2")
    SUPPORTED("avx")
    SUPPORTED("avx2")
    SUPPORTED("fma")
    SUPPORTED("avx512f")
    SUPPORTED("avx512bw")
    SUPPORTED("avx512dq")
    SUPPORTED("avx512vl")
    SUPPORTED("avx512vnni")
    FEATURE("amx-tile", amx & AMX_TILE)
    FEATURE("amx-bf16", amx & AMX_BF16)
    FEATURE("amx-int8", amx & AMX_INT8)
#undef SUPPORTED
#undef FEATURE
}

/* As lib/cpu/features.c does: the kernel saves the tiles (XGETBV), and lends them on request. */
host_amx_t host_amx(void)
{
    enum { TILE_CONFIG_DATA = 0x60000, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d, low, high;
    const unsigned features = extended_features();
    if (!(features & AMX_TILE) || !(features & AMX_BF16) || !__get_cpuid(1, &a, &b, &c, &d) ||
        !(c & bit_OSXSAVE))
        return AMX_NONE;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & TILE_CONFIG_DATA) != TILE_CONFIG_DATA)
        return AMX_NO_KERNEL;
#ifdef SYS_arch_prctl
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0 ? AMX_READY : AMX_REFUSED;
#else
    return AMX_NO_KERNEL;
#endif
}

#else

void host_features(char *text, size_t size)
{
#ifdef __aarch64__
    const unsigned long capabilities = getauxval(AT_HWCAP);
    snprintf(text, size, "%s%s", capabilities & 1ul << 1 ? "asimd" : "",
             capabilities & 1ul << 22 ? " sve" : "");
#else
    snprintf(text, size, "not known on this architecture");
#endif
}

host_amx_t host_amx(void)
{
    return AMX_NONE;
}

#endif

int host_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus > 0 && cpus < INT_MAX ? (int)cpus : 1;
}

int host_threads(void)
{
    static const char *const variables[] = {"TILEMM_NUM_THREADS", "OMP_NUM_THREADS"};
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(variables[i]);
        long number = value ? strtol(value, NULL, 10) : 0;
        if (number > 0 && number <= 65536)
            return (int)number;
    }
    return host_processors();
}

static FILE *open_below(const char *root, const char *path)
{
    char name[PATH_MAX];
    return (size_t)snprintf(name, sizeof name, "%s%s", root, path) < sizeof name ? fopen(name, "r")
                                                                                 : NULL;
}

/* The number behind `key` in a file of lines, or the file's only number where key is "". Without
 * one: UINT64_MAX. */
static uint64_t read_number(const char *root, const char *path, const char *key)
{
    char line[256];
    unsigned long long value;
    uint64_t number = UINT64_MAX;
    FILE *file = open_below(root, path);
    while (file && number == UINT64_MAX && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%llu", &value) == 1)
            number = value;
    if (file)
        fclose(file);
    return number;
}

uint64_t host_memory(const char *root)
{
    const uint64_t kib = read_number(root, "/proc/meminfo", "MemTotal:");
    return kib == UINT64_MAX ? kib : kib * 1024;
}

uint64_t host_free_memory(const char *root)
{
    static const char *const groups[2][4] = {
        /* limit, usage, statistics and what can be reclaimed: version 2, version 1 */
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat",
         "inactive_file "},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory/memory.stat",
         "total_inactive_file "},
    };
    uint64_t room = read_number(root, "/proc/meminfo", "MemAvailable:");
    if (room != UINT64_MAX)
        room *= 1024;
    for (int i = 0; i < 2; i++) {
        const uint64_t limit = read_number(root, groups[i][0], "");
        const uint64_t usage = read_number(root, groups[i][1], "");
        const uint64_t reclaimable = read_number(root, groups[i][2], groups[i][3]);
        const uint64_t used =
            reclaimable == UINT64_MAX ? usage : usage - (reclaimable < usage ? reclaimable : usage);
        if (limit != UINT64_MAX && usage != UINT64_MAX && (used > limit || limit - used < room))
            room = used > limit ? 0 : limit - used;
    }
    return room;
}

/* The lesser of `least` and the limit of a group of version 2: "max 100000", "150000 100000". */
static double limit_of(const char *root, const char *group, double least)
{
    char path[PATH_MAX];
    double quota, period;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    FILE *file = open_below(root, path);
    const int count = file ? fscanf(file, "%lf %lf", &quota, &period) : 0;
    if (file)
        fclose(file);
    return count == 2 && period > 0 && (least == 0 || quota / period < least) ? quota / period
                                                                              : least;
}

double host_cpu_limit(const char *root)
{
    char line[PATH_MAX];
    double limit = 0;
    /* This process's control group and the groups around it; in a container its own may be the
     * outermost. */
    FILE *file = open_below(root, "/proc/self/cgroup");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::/", 4) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        for (char *slash = line + strlen(line); slash; slash = strrchr(line + 3, '/')) {
            *slash = '\0';
            limit = limit_of(root, line + 3, limit);
        }
    }
    if (file)
        fclose(file);
    limit = limit_of(root, "", limit);
    const uint64_t quota = read_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "");
    const uint64_t period = read_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "");
    /* Version 1 writes -1 for no limit. */
    if (limit == 0 && quota < INT64_MAX && period > 0 && period < INT64_MAX)
        limit = (double)quota / (double)period;
    return limit;
}

int host_has_nvidia(const char *root)
{
    char path[PATH_MAX];
    int found = 0;
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices", root);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder)) != NULL;) {
        char file[512];
        unsigned vendor = 0, class = 0;
        for (int i = 0; i < 2; i++) {
            snprintf(file, sizeof file, "/sys/bus/pci/devices/%s/%s", entry->d_name,
                     i ? "class" : "vendor");
            FILE *text = open_below(root, file);
            if (text && fscanf(text, "%x", i ? &class : &vendor) != 1)
                vendor = 0;
            if (text)
                fclose(text);
        }
        found = vendor == 0x10de && class >> 16 == 0x03; /* a display or 3D controller */
    }
    if (folder)
        closedir(folder);
    snprintf(path, sizeof path, "%s/dev/nvidia0", root);
    return found || access(path, F_OK) == 0;
}
