/* host.c - what the command reads of a machine: limits of control groups, memory, GPUs on the bus.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tools/host.h"

static char root[] = "/tmp/tilemm-host-XXXXXX";

/* A file below the root, with its folders. */
static void put(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", name);
}

#define CHECK_LIMIT(wanted)                                                                        \
    CHECK(host_cpu_limit(root) == (wanted), "limit %g, must be %g", host_cpu_limit(root),          \
          (double)(wanted))

int main(void)
{
    char command[128];
    if (!mkdtemp(root)) {
        perror(root);
        return 1;
    }
    CHECK_LIMIT(0);
    CHECK(host_memory(root) == UINT64_MAX && host_free_memory(root) == UINT64_MAX, "no /proc");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    CHECK_LIMIT(0);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
    CHECK_LIMIT(2.5);
    put("/proc/self/cgroup", "3:memory:/other\n0::/user/session\n");
    put("/sys/fs/cgroup/user/session/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/user/cpu.max", "400000 100000\n");
    CHECK_LIMIT(4);
    put("/sys/fs/cgroup/user/session/cpu.max", "150000 100000\n");
    CHECK_LIMIT(1.5);
    put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    CHECK_LIMIT(0.5);

    put("/proc/meminfo", "MemTotal: 2048 kB\nMemAvailable: 1024 kB\n");
    CHECK(host_memory(root) == 2048 * 1024, "memory");
    CHECK(host_free_memory(root) == 1024 * 1024, "free memory");
    put("/sys/fs/cgroup/memory.max", "500000\n");
    put("/sys/fs/cgroup/memory.current", "300000\n");
    put("/sys/fs/cgroup/memory.stat", "anon 5\ninactive_file 100000\n");
    CHECK(host_free_memory(root) == 300000, "free memory of a group");

    CHECK(!host_has_nvidia(root), "no GPU");
    put("/sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n");
    put("/sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n"); /* its sound */
    put("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
    put("/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
    CHECK(!host_has_nvidia(root), "another's GPU");
    put("/sys/bus/pci/devices/0000:02:00.0/vendor", "0x10de\n");
    put("/sys/bus/pci/devices/0000:02:00.0/class", "0x030200\n");
    CHECK(host_has_nvidia(root), "a GPU");
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(system(command) == 0, "%s", command);
    return check_exit();
}
