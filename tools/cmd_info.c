/* cmd_info.c - `tilemm info`: what this build and this machine can do.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "host.h"
#include "info.h"
#include "reference.h"
#include "topics.h"

static const char help[] =
    "Usage: tilemm info\n"
    "Print the version, the backends and whether they can be used, the devices and their\n"
    "traits, the kernels that are compiled in, the libraries that benchmarks compare with, and\n"
    "the environment variables in force.\n"
    "\n"
    "  -h, --help                 this help\n";

static void print_cpu(void)
{
    char name[256];
    command_cpu_name(name, sizeof name);
    printf("CPU              %s%s%ld online\n", name, *name ? ", " : "",
           sysconf(_SC_NPROCESSORS_ONLN));
    /* As plans see them: what the C library tells may count all caches of a kind as one. */
    tilemm_t ctx = NULL;
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS) {
        const char *const line = strstr(tilemm_tuning(ctx), "\ncache-sizes ");
        long l1, l2, l3;
        if (line && sscanf(line, " cache-sizes %ld %ld %ld", &l1, &l2, &l3) == 3)
            printf("  caches         L1d %ld KiB, L2 %ld KiB, L3 %ld KiB\n", l1 / 1024, l2 / 1024,
                   l3 / 1024);
    }
    tilemm_destroy(ctx);
}

static void print_features(void)
{
    char text[256];
    host_features(text, sizeof text);
    printf("  features       %s\n", text);
}

const char *info_unusable(tilemm_backend_t backend, int device)
{
    tilemm_t ctx = NULL;
    const int failed = tilemm_create(&ctx, backend, device) != TILEMM_SUCCESS;
    tilemm_destroy(ctx);
    return failed ? tilemm_create_error() : NULL;
}

/* "usable", or why not. */
static const char *usable(tilemm_backend_t backend, int device)
{
    static char text[1100];
    const char *why = info_unusable(backend, device);
    snprintf(text, sizeof text, "%susable%s%s", why ? "not " : "", why ? ": " : "", why ? why : "");
    return text;
}

const char *info_tuning(void)
{
    static char text[1100];
    tilemm_t ctx = NULL;
    *text = '\0';
    if (tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS) {
        const char *remark = strstr(tilemm_tuning(ctx), "\n# ");
        if (remark)
            snprintf(text, sizeof text, "%.*s", (int)strcspn(remark + 3, "\n"), remark + 3);
    }
    tilemm_destroy(ctx);
    return text;
}

static void print_backends(void)
{
    tilemm_backend_t chosen;
    tilemm_t ctx = NULL;
    const tilemm_status_t status = tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0);
    printf("backend cpu      %s\n", usable(TILEMM_BACKEND_CPU, 0));
    printf("backend cuda     %s\n", usable(TILEMM_BACKEND_CUDA, 0));
    if (status == TILEMM_SUCCESS)
        tilemm_get_backend(ctx, &chosen);
    printf("backend auto     %s\n", status == TILEMM_SUCCESS ? word_of(backend_words, chosen)
                                                             : tilemm_status_string(status));
    tilemm_destroy(ctx);
}

static void print_kernels(void)
{
    printf("CPU kernels      generic");
#ifdef TILEMM_HAVE_NEON
    printf(" neon");
#endif
#ifdef TILEMM_HAVE_AVX2
    printf(" avx2");
#endif
#ifdef TILEMM_HAVE_AVX512
    printf(" avx512");
#ifdef TILEMM_HAVE_AMX
    printf(" amx");
#endif
#endif
#ifdef TILEMM_CUDA_ARCHS
    printf("\nCUDA kernels     %s", TILEMM_CUDA_ARCHS);
#endif
    printf("\nCPU tuning       %s\n", *info_tuning() ? info_tuning() : "cannot be read");
}

static void print_gpus(void)
{
    const int count = gpu_count();
    gpu_traits_t t;
    if (!count) {
        printf("GPU              none%s%s\n", *gpu_error() ? ": " : "", gpu_error());
        return;
    }
    printf("CUDA driver      for CUDA %d.%d\n", gpu_driver_version() / 1000,
           gpu_driver_version() % 1000 / 10);
    for (int i = 0; i < count; i++) {
        if (gpu_describe(i, &t) != 0) {
            printf("GPU %-12d the driver does not describe it\n", i);
            continue;
        }
        printf("GPU %-12d %s, compute capability %d.%d, %s\n", i, t.name, t.cc_major, t.cc_minor,
               usable(TILEMM_BACKEND_CUDA, i));
        printf("  traits         %d SMs of %d threads at up to %.2f GHz, %.1f GiB memory, %.1f MiB "
               "L2,\n                 shared memory %d KiB an SM, %d KiB a block\n",
               t.sm_count, t.max_threads_per_sm, t.clock_khz / 1e6,
               (double)t.memory_bytes / 1073741824, t.l2_bytes / 1048576.0, t.shared_per_sm / 1024,
               t.shared_per_block / 1024);
    }
}

static void print_peers(void)
{
    const reference_blas_t *blas = reference_blas();
    const reference_cub_t *cub = reference_cub();
    const reference_cublas_t *cublas =
        gpu_count() > 0 && gpu_open(0) == 0 ? reference_cublas() : NULL;
    printf("compares with    %s, %s, %s\n", blas ? blas->name : "no OpenBLAS",
           cublas ? cublas->name : "no cuBLAS", cub ? cub->name : "no CUB");
}

/* Asked of the library with the other variables out of the way. */
const char *info_refusal(int which)
{
    char *values[VARIABLES_OF_LIBRARY] = {0};
    tilemm_t ctx = NULL;
    if (which >= VARIABLES_OF_LIBRARY || !getenv(variables[which].name))
        return NULL;
    for (int i = 0; i < VARIABLES_OF_LIBRARY; i++)
        if (i != which && getenv(variables[i].name)) {
            values[i] = strdup(getenv(variables[i].name));
            unsetenv(variables[i].name);
        }
    const int is_tuning = strcmp(variables[which].name, "TILEMM_TUNING") == 0;
    /* Only AUTO looks at TILEMM_DEVICES, and TILEMM_BACKEND is for it. */
    const int for_auto = which == 0 || strcmp(variables[which].name, "TILEMM_DEVICES") == 0;
    if (!is_tuning) /* the user's own file may be refused, too */
        setenv("TILEMM_TUNING", "none", 1);
    const tilemm_status_t status =
        tilemm_create(&ctx, for_auto ? TILEMM_BACKEND_AUTO : TILEMM_BACKEND_CPU, 0);
    tilemm_destroy(ctx);
    if (!is_tuning)
        unsetenv("TILEMM_TUNING");
    for (int i = 0; i < VARIABLES_OF_LIBRARY; i++)
        if (values[i]) {
            setenv(variables[i].name, values[i], 1);
            free(values[i]);
        }
    return status == TILEMM_INVALID_ARGUMENT ? tilemm_create_error() : NULL;
}

void info_environment(void)
{
    int any = 0;
    for (int i = 0; i < VARIABLES; i++)
        if (getenv(variables[i].name)) {
            any = 1;
            printf("environment      %s=%s%s\n", variables[i].name, getenv(variables[i].name),
                   info_refusal(i) ? "  (the library refuses this value)" : "");
        }
    if (!any)
        puts("environment      no variable that matters is set");
}

void info_machine(void)
{
    printf("tilemm           %d.%d.%d, library %s\n", TILEMM_VERSION_MAJOR, TILEMM_VERSION_MINOR,
           TILEMM_VERSION_PATCH, tilemm_version());
    print_backends();
    print_kernels();
    print_cpu();
    print_features();
    print_gpus();
    print_peers();
}

int command_info(int argc, char **argv)
{
    int first;
    int status = command_options(argc, argv, help, NULL, 0, &first);
    if (status)
        return -1 - status;
    if (first < argc)
        return command_usage_error("info", "takes no arguments");
    info_machine();
    info_environment();
    for (int i = 0; i < VARIABLES_OF_LIBRARY; i++)
        if (info_refusal(i))
            status = command_error("%s", info_refusal(i));
    const char *why = info_unusable(TILEMM_BACKEND_CPU, 0);
    if (status == EXIT_OK && why) /* the user's own file of tuning */
        status = command_error("%s", why);
    return status;
}
