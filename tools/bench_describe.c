/* bench_describe.c - the machine that `tilemm bench` measures: processor, GPU, system, versions.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench_report.h"
#include "gpu.h"

#if defined __clang__
#define COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER ""
#endif

const fact_name_t fact_names[FACTS] = {
    [FACT_DATE] = {"date", 0},
    [FACT_OS] = {"os", 0},
    [FACT_OS_KERNEL] = {"os_kernel", 0},
    [FACT_CPU] = {"cpu", 0},
    [FACT_PROCESSORS] = {"processors", 1},
    [FACT_CPU_MHZ] = {"cpu_mhz", 1},
    [FACT_CPU_MAX_MHZ] = {"cpu_max_mhz", 1},
    [FACT_INSTRUCTION_SET] = {"instruction_set", 0},
    [FACT_THREADS] = {"threads", 1},
    [FACT_GPU] = {"gpu", 0},
    [FACT_GPU_CC] = {"gpu_compute_capability", 0},
    [FACT_GPU_SMS] = {"gpu_multiprocessors", 1},
    [FACT_GPU_MAX_MHZ] = {"gpu_max_mhz", 1},
    [FACT_GPU_DRIVER] = {"gpu_driver", 0},
    [FACT_TILEMM_ARCH] = {"tilemm_arch", 0},
    [FACT_LIBRARY] = {"library", 0},
    [FACT_COMPILER] = {"compiler", 0},
    [FACT_PEERS] = {"peers", 0},
};

#define SET(fact, ...) snprintf(facts[fact], sizeof facts[fact], __VA_ARGS__)

/* The rest of the first line that begins with `key`, without quotes; "" where there is none. */
static void read_line(const char *path, const char *key, char *text, size_t size)
{
    char line[256];
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    while (file && !text[0] && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) {
            const char *rest = line + strlen(key) + strspn(line + strlen(key), "\"");
            snprintf(text, size, "%.*s", (int)strcspn(rest, "\"\n"), rest);
        }
    if (file)
        fclose(file);
}

/* What the library's CPU kernels use, by the name of one: "transpose_simd_avx512_16x4x4". The call
 * is no part of the log. */
static void set_instruction_set(char facts[][FACT_SIZE])
{
    static const float source[4];
    float transposed[4];
    tilemm_t ctx = NULL;
    char *log = getenv("TILEMM_LOG") ? strdup(getenv("TILEMM_LOG")) : NULL;
    unsetenv("TILEMM_LOG");
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS &&
        tilemm_transpose(ctx, 2, 2, sizeof(float), source, 2, transposed, 2) == TILEMM_SUCCESS)
        sscanf(tilemm_last_kernel(ctx), "transpose_%*[a-z0-9]_%31[a-z0-9]",
               facts[FACT_INSTRUCTION_SET]);
    tilemm_destroy(ctx);
    if (log)
        setenv("TILEMM_LOG", log, 1);
    free(log);
}

static void describe_host(char facts[][FACT_SIZE])
{
    char clock[32];
    const char *arch = getenv("TILEMM_ARCH");
    const time_t now = time(NULL);
    struct tm tm;
    struct utsname system;
    if (gmtime_r(&now, &tm))
        strftime(facts[FACT_DATE], FACT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
    read_line("/etc/os-release", "PRETTY_NAME=", facts[FACT_OS], FACT_SIZE);
    if (uname(&system) == 0)
        SET(FACT_OS_KERNEL, "%.40s %.60s %.20s", system.sysname, system.release, system.machine);
    command_cpu_name(facts[FACT_CPU], FACT_SIZE);
    SET(FACT_PROCESSORS, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    read_line("/proc/cpuinfo", "cpu MHz\t\t: ", clock, sizeof clock);
    if (*clock)
        SET(FACT_CPU_MHZ, "%.0f", atof(clock));
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "", clock, sizeof clock);
    if (*clock)
        SET(FACT_CPU_MAX_MHZ, "%.0f", atof(clock) / 1e3);
    set_instruction_set(facts);
    SET(FACT_TILEMM_ARCH, "%s", arch ? arch : "");
    SET(FACT_LIBRARY, "libtilemm %s", tilemm_version());
    SET(FACT_COMPILER, "%s", COMPILER);
}

static void describe_gpu(char facts[][FACT_SIZE], int device)
{
    const int cuda = gpu_driver_version();
    gpu_traits_t traits;
    if (gpu_describe(device, &traits) != 0)
        return;
    SET(FACT_GPU, "%s", traits.name);
    SET(FACT_GPU_CC, "%d.%d", traits.cc_major, traits.cc_minor);
    SET(FACT_GPU_SMS, "%d", traits.sm_count);
    SET(FACT_GPU_MAX_MHZ, "%d", traits.clock_khz / 1000);
    read_line("/sys/module/nvidia/version", "", facts[FACT_GPU_DRIVER], 64);
    append(facts[FACT_GPU_DRIVER], FACT_SIZE, "%sCUDA %d.%d",
           *facts[FACT_GPU_DRIVER] ? " for " : "", cuda / 1000, cuda % 1000 / 10);
}

void report_peers(const machine_t *machine, const char *between, char *text, size_t size)
{
    const char *peers[] = {machine->blas ? machine->blas->name : NULL,
                           machine->cublas ? machine->cublas->name : NULL,
                           machine->cub ? machine->cub->name : NULL};
    for (int i = 0; i < COUNT_OF(peers); i++)
        if (peers[i])
            append(text, size, "%s%s", *text ? between : "", peers[i]);
}

void report_describe(char facts[][FACT_SIZE], const machine_t *machine, int device)
{
    if (!*facts[FACT_DATE])
        describe_host(facts);
    SET(FACT_THREADS, "%d", machine->threads);
    if (machine->on_gpu)
        describe_gpu(facts, device);
    report_peers(machine, "; ", facts[FACT_PEERS], FACT_SIZE);
}

/* Whether TILEMM_ARCH takes newer kernels from this GPU. */
static int is_capped(char facts[][FACT_SIZE])
{
    const char *arch = facts[FACT_TILEMM_ARCH];
    int major, minor;
    return strncmp(arch, "sm", 2) == 0 &&
           sscanf(facts[FACT_GPU_CC], "%d.%d", &major, &minor) == 2 &&
           atoi(arch + 2) < 10 * major + minor;
}

void report_where(char facts[][FACT_SIZE], const machine_t *machine, char *text, size_t size)
{
    if (machine->on_gpu)
        append(text, size, "%s%s%s", machine->device, is_capped(facts) ? ", kernels up to " : "",
               is_capped(facts) ? facts[FACT_TILEMM_ARCH] : "");
    else
        append(text, size, "%s%s%d thread%s, %s kernels", facts[FACT_CPU],
               *facts[FACT_CPU] ? ", " : "cpu, ", machine->threads,
               machine->threads == 1 ? "" : "s", facts[FACT_INSTRUCTION_SET]);
    append(text, size, ", %s", facts[FACT_LIBRARY]);
}
