/* cmd_doctor.c - `tilemm doctor`: what this machine has, what would make it faster, what to type.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "gpu.h"
#include "host.h"
#include "info.h"
#include "reference.h"
#include "topics.h"

static const char help[] =
    "Usage: tilemm doctor\n"
    "Print what this machine has, as 'tilemm info' does, with threads, memory and the CUDA\n"
    "toolkit; then what makes libtilemm slower than it could be here or is broken, and for each\n"
    "what to type. Notes are of what does not make it slower.\n"
    "\n"
    "  -h, --help                 this help\n"
    "\n"
    "Exit status: 0 nothing found, or notes alone; 3 findings; 1 and 2 as of every verb.\n";

#if defined TILEMM_HAVE_CUDA
#define ARCHS TILEMM_CUDA_ARCHS
#else
#define ARCHS "" /* a module that was built elsewhere is not known */
#endif

static int findings, notes;

/* Print a finding, or a note, and what to type. */
__attribute__((format(printf, 3, 4))) static void find(int *count, const char *type,
                                                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("\n%-17s", count == &notes ? "note" : "FINDING");
    vprintf(format, arguments);
    printf("\n  type           %s\n", type);
    va_end(arguments);
    ++*count;
}

static int is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* "sudo apt install NAME", as this distribution spells it. */
static const char *install(const char *debian, const char *fedora, const char *other)
{
    static char text[160];
    if (access("/usr/bin/apt-get", X_OK) == 0)
        snprintf(text, sizeof text, "sudo apt install %s", debian);
    else if (access("/usr/bin/dnf", X_OK) == 0)
        snprintf(text, sizeof text, "sudo dnf install %s", fedora);
    else
        snprintf(text, sizeof text, "%s", other);
    return text;
}

/* The first nvcc in a list of folders with colons between them, to path. */
static int find_nvcc(const char *folders, const char *below, char *path, size_t size)
{
    while (folders && *folders) {
        const int length = (int)strcspn(folders, ":");
        snprintf(path, size, "%.*s%s/nvcc", length, folders, below);
        if (length && access(path, X_OK) == 0)
            return 1;
        folders += length + (folders[length] == ':');
    }
    return 0;
}

static void print_host(void)
{
    const double gib = 1 << 30, limit = host_cpu_limit("");
    char nvcc[4096];
    printf("threads          %d by default, on %d processor%s", host_threads(), host_processors(),
           host_processors() == 1 ? "" : "s");
    if (limit > 0)
        printf(", the control group lends the time of %.3g", limit);
    putchar('\n');
    printf("memory           %.1f GiB free of %.1f GiB\n", (double)host_free_memory("") / gib,
           (double)host_memory("") / gib);
    const int found = find_nvcc(getenv("CUDA_HOME"), "/bin", nvcc, sizeof nvcc) ||
                      find_nvcc(getenv("CUDA_PATH"), "/bin", nvcc, sizeof nvcc) ||
                      find_nvcc(getenv("PATH"), "", nvcc, sizeof nvcc) ||
                      find_nvcc("/usr/local/cuda", "/bin", nvcc, sizeof nvcc);
    printf("toolkit          %s\n", found ? nvcc : "no nvcc, which only building for GPUs needs");
}

static void check_environment(void)
{
    char type[160];
    for (int i = 0; i < VARIABLES_OF_LIBRARY; i++) {
        const char *why = info_refusal(i);
        snprintf(type, sizeof type, "unset %s", variables[i].name);
        if (why)
            find(&findings, type, "the library refuses to work: %s", why);
    }
}

static void check_tuning(void)
{
    const char *why = info_unusable(TILEMM_BACKEND_CPU, 0), *from = info_tuning();
    if (!findings && why) /* no variable's fault */
        find(&findings, "tilemm tune", "the library refuses to work: %s", why);
    else if (strncmp(from, "built in;", 9) == 0)
        find(&notes, "tilemm tune", "the file of tuning is left aside: %s", from + 10);
}

/* The kernel of a product on the CPU, to name; "" where there is none. */
static void name_kernel(char *name, size_t size)
{
    enum { N = 512 }; /* enough for AMX */
    tilemm_t ctx = NULL;
    float *a = calloc(2 * N * N, sizeof *a);
    *name = '\0';
    if (a && tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS &&
        tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, N, N, N, 1, a, N, a,
                     N, 0, a + N * N, N) == TILEMM_SUCCESS)
        snprintf(name, size, "%s", tilemm_last_kernel(ctx));
    tilemm_destroy(ctx);
    free(a);
}

static void check_arch(void)
{
    const char *arch = getenv("TILEMM_ARCH");
    char capped[128], kernel[128];
    gpu_traits_t t;
    if (!is_set("TILEMM_ARCH"))
        return;
    char *value = strdup(arch);
    name_kernel(capped, sizeof capped);
    unsetenv("TILEMM_ARCH");
    name_kernel(kernel, sizeof kernel);
    if (value && *capped && strcmp(capped, kernel) != 0)
        find(&findings, "unset TILEMM_ARCH",
             "TILEMM_ARCH=%s: products on the CPU take %s, without it %s", value, capped, kernel);
    for (int i = 0; value && strncmp(value, "sm", 2) == 0 && i < gpu_count(); i++)
        if (gpu_describe(i, &t) == 0 && atoi(value + 2) < t.cc_major * 10 + t.cc_minor)
            find(&findings, "unset TILEMM_ARCH",
                 "TILEMM_ARCH=%s: GPU %d, of compute capability %d.%d, takes older kernels", value,
                 i, t.cc_major, t.cc_minor);
    if (value)
        setenv("TILEMM_ARCH", value, 1);
    free(value);
}

static void check_threads(void)
{
    const char *variable = is_set("TILEMM_NUM_THREADS") ? "TILEMM_NUM_THREADS" : "OMP_NUM_THREADS";
    const int threads = host_threads(), processors = host_processors();
    const double limit = host_cpu_limit("");
    char type[80];
    snprintf(type, sizeof type, "unset %s", variable);
    if (threads < processors && (limit == 0 || threads < limit))
        find(&findings, type, "%s=%d: %d processors could compute", variable, threads, processors);
    else if (threads > processors)
        find(&findings, type, "%s=%d: threads take turns on %d processor%s", variable, threads,
             processors, processors == 1 ? "" : "s");
    if (limit > 0 && ceil(limit) < threads) {
        snprintf(type, sizeof type, "export TILEMM_NUM_THREADS=%d", (int)ceil(limit));
        find(&findings, type, "the control group lends the time of %.3g processors to %d threads",
             limit, threads);
    }
}

static void check_instructions(void)
{
    const host_amx_t amx = host_amx();
    char features[256];
    struct utsname system = {0};
    uname(&system);
    host_features(features, sizeof features);
#ifndef TILEMM_HAVE_AVX2
    if (strstr(features, "avx2"))
        find(&findings, "./configure CC=gcc && make && sudo make install",
             "the processor has AVX2, and this build no kernels for it");
#endif
#ifndef TILEMM_HAVE_AVX512
    if (strstr(features, "avx512f"))
        find(&findings, "./configure CC=gcc && make && sudo make install",
             "the processor has AVX-512, and this build no kernels for it");
#endif
#ifndef TILEMM_HAVE_AMX
    if (amx != AMX_NONE)
        find(&findings, "./configure CC=gcc-13 && make && sudo make install",
             "the processor has AMX, and this build no kernels for it: its compiler knew none");
#endif
    if (amx == AMX_NO_KERNEL)
        find(&findings, install("linux-image-amd64", "kernel", "uname -r"),
             "the processor has AMX, and the system does not save its registers: Linux %s, 5.16 "
             "is needed, and a hypervisor that passes AMX on",
             system.release);
    else if (amx == AMX_REFUSED)
        find(&findings, "docker run --security-opt seccomp=unconfined ...",
             "the processor has AMX, and the system does not lend it to this process "
             "(arch_prctl ARCH_REQ_XCOMP_PERM): a container's filter forbids it");
}

/* What helps against one of the library's reasons. */
static const char *remedy(const char *why, const gpu_traits_t *t)
{
    static char text[160];
    if (strstr(why, "not installed") || strstr(why, "cannot be loaded") || strstr(why, "is of") ||
        strstr(why, "no module")) {
        static const char build[] = "./configure --with-cuda && make && sudo make install";
        return strstr(why, "/usr/lib") ? install("libtilemm-cuda0", "libtilemm-cuda", build)
                                       : build;
    }
    if (strstr(why, "no kernel image") || strstr(why, "invalid device function")) {
        snprintf(text, sizeof text,
                 "./configure --with-cuda-arch=%d%s && make && sudo make install",
                 t->cc_major * 10 + t->cc_minor, t->cc_major == 9 ? "a" : "");
        return text;
    }
    if (strstr(why, "insufficient"))
        return install("nvidia-driver", "akmod-nvidia", "https://www.nvidia.com/drivers");
    return "nvidia-smi";
}

/* Whether this build has code for a compute capability: of "80,90a,ptx90" the first is for 8.0 to
 * 8.9. 9.0 has kernels that need 90a. */
static int has_code(int cc)
{
    const char *at = ARCHS;
    int found = !*at;
    while (*at) {
        char *end;
        const long number = strtol(at, &end, 10);
        found |= number / 10 == cc / 10 && number <= cc && (cc != 90 || *end == 'a');
        at = end + strcspn(end, ",");
        at += *at == ',';
    }
    return found;
}

static void check_gpu(int device)
{
    gpu_traits_t t;
    const char *why = info_unusable(TILEMM_BACKEND_CUDA, device);
    if (gpu_describe(device, &t) != 0)
        return;
    if (why)
        find(&findings, remedy(why, &t), "GPU %d, %s, is not used: %s", device, t.name, why);
    else if (!has_code(t.cc_major * 10 + t.cc_minor))
        find(&findings, remedy("no kernel image", &t),
             "GPU %d, %s: this build has code for %s, not for its compute capability %d.%d", device,
             t.name, ARCHS, t.cc_major, t.cc_minor);
}

static void check_gpus(void)
{
    const int count = gpu_count();
    const char *wanted = getenv("TILEMM_BACKEND");
    for (int i = 0; i < count; i++)
        check_gpu(i);
    if (count && wanted && strcmp(wanted, "cpu") == 0)
        find(&findings, "unset TILEMM_BACKEND", "TILEMM_BACKEND=cpu: no GPU is used");
    if (count || !host_has_nvidia(""))
        return;
    if (getenv("CUDA_VISIBLE_DEVICES"))
        find(&findings, "unset CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES=%s hides the GPU",
             getenv("CUDA_VISIBLE_DEVICES"));
    else
        find(&findings, install("nvidia-driver", "akmod-nvidia", "https://www.nvidia.com/drivers"),
             "a GPU of NVIDIA's is here, and cannot be used: %s", gpu_error());
}

static void check_peers(void)
{
    const char *blas = getenv("TILEMM_REFERENCE_BLAS");
    if (!reference_blas())
        find(&notes,
             blas && *blas ? "unset TILEMM_REFERENCE_BLAS"
                           : install("libopenblas0", "openblas-threads",
                                     "export TILEMM_REFERENCE_BLAS=/path/of/libopenblas.so.0"),
             "no BLAS to compare with: 'tilemm bench' measures libtilemm alone%s%s%s",
             blas && *blas ? " (TILEMM_REFERENCE_BLAS=" : "", blas ? blas : "",
             blas && *blas ? ")" : "");
    if (gpu_count() > 0 && gpu_open(0) == 0 && !reference_cublas())
        find(&notes, "export CUDA_HOME=/path/of/the/toolkit",
             "no cuBLAS to compare with on the GPU");
}

int command_doctor(int argc, char **argv)
{
    int first;
    const int status = command_options(argc, argv, help, NULL, 0, &first);
    if (status)
        return -1 - status;
    if (first < argc)
        return command_usage_error("doctor", "takes no arguments");
    info_machine();
    print_host();
    info_environment();
    check_environment();
    check_tuning();
    if (!findings) { /* else the library cannot be asked */
        check_arch();
        check_gpus();
    }
    check_threads();
    check_instructions();
    check_peers();
    printf("\n%d finding%s, %d note%s\n", findings, findings == 1 ? "" : "s", notes,
           notes == 1 ? "" : "s");
    return findings ? EXIT_FINDINGS : EXIT_OK;
}
