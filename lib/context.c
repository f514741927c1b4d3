/* context.c - contexts: create, settings, destroy.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for secure_getenv */
#endif

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "load_cuda.h"
#include "plan_multi.h"

#define STRINGIZE_(x) #x
#define STRINGIZE(x) STRINGIZE_(x)

const char *tilemm_version(void)
{
    return STRINGIZE(TILEMM_VERSION_MAJOR) "." STRINGIZE(TILEMM_VERSION_MINOR) "." STRINGIZE(
        TILEMM_VERSION_PATCH);
}

/* The value of an environment variable; NULL if it is unset or empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int arch_is_known(const char *arch)
{
    static const char *const names[] = {"generic", "neon", "avx2", "avx512", "amx"};
    char *end;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(arch, names[i]))
            return 1;
    /* sm80 and the like; sm90a is sm90 */
    if (strncmp(arch, "sm", 2) || arch[2] < '1' || arch[2] > '9')
        return 0;
    const long number = strtol(arch + 2, &end, 10);
    return number >= 10 && number <= 999 && !strcmp(end, *end == 'a' ? "a" : "");
}

/* Each reads a variable, which may be unset or empty. They return 0 if its value means nothing: no
 * whole number from least to most, or a text too long. */
static int read_number(const char *name, long least, long most, int *number)
{
    const char *text = variable(name);
    char *end;
    if (!text)
        return 1;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        return 0;
    *number = (int)value;
    return 1;
}

static int read_text(const char *name, size_t size, char *text)
{
    const char *value = variable(name);
    return !value || (size_t)snprintf(text, size, "%s", value) < size;
}

/* One of three words: its number. */
static int read_word(const char *name, const char *const words[3], int *number)
{
    const char *value = variable(name);
    for (int i = 0; value && i < 3; i++)
        if (!strcmp(value, words[i])) {
            *number = i;
            return 1;
        }
    return !value;
}

/* The devices of TILEMM_DEVICES, numbers separated by commas; 0 if it is not set, -1 if its value
 * means nothing. */
static int read_devices(int devices[TILEMM__MOST_DEVICES])
{
    const char *at = variable("TILEMM_DEVICES");
    int count = 0;
    while (at) {
        char *end;
        errno = 0;
        const long number = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
        if (number < 0 || number > INT_MAX || errno || count == TILEMM__MOST_DEVICES ||
            (*end && *end != ','))
            return -1;
        devices[count++] = (int)number;
        at = *end ? end + 1 : NULL;
    }
    return count;
}

/* Why this thread's last tilemm_create failed. */
static _Thread_local char create_error[1024];

TILEMM__PRINTF(2, 3)
static tilemm_status_t refuse(tilemm_status_t status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(create_error, sizeof create_error, format, list);
    va_end(list);
    return status;
}

/* A variable whose value means nothing. */
static tilemm_status_t refuse_variable(const char *name, const char *must)
{
    return refuse(TILEMM_INVALID_ARGUMENT, "create: %s = %s, must be %s", name, getenv(name), must);
}

/* The context's settings as the environment has them. */
static tilemm_status_t read_environment(tilemm_t ctx)
{
    if (!read_number("TILEMM_LOG", 0, 1, &ctx->env_log))
        return refuse_variable("TILEMM_LOG", "0 or 1");
    if (!read_number("TILEMM_NUM_THREADS", 1, 65536, &ctx->env_threads))
        return refuse_variable("TILEMM_NUM_THREADS", "from 1 to 65536");
    /* In the order of tilemm_math_t and tilemm_invariance_t. */
    static const char *const maths[] = {"fp32", "strict", "tf32"};
    static const char *const invariances[] = {"none", "batch", "across"};
    int math = 0, invariance = 0;
    if (!read_word("TILEMM_MATH", maths, &math))
        return refuse_variable("TILEMM_MATH", "fp32, strict or tf32");
    if (!read_word("TILEMM_INVARIANCE", invariances, &invariance))
        return refuse_variable("TILEMM_INVARIANCE", "none, batch or across");
    ctx->math = (tilemm_math_t)math;
    ctx->invariance = (tilemm_invariance_t)invariance;
    if (!read_text("TILEMM_ARCH", sizeof ctx->arch, ctx->arch) ||
        (*ctx->arch && !arch_is_known(ctx->arch)))
        return refuse_variable("TILEMM_ARCH", "generic, neon, avx2, avx512, amx, or like sm80");
    if (!read_text("TILEMM_VARIANT", sizeof ctx->variant, ctx->variant))
        return refuse_variable("TILEMM_VARIANT", "the beginning of a kernel's name");
    int peers = 1;
    if (!read_number("TILEMM_PEER", 0, 1, &peers))
        return refuse_variable("TILEMM_PEER", "0 or 1");
    ctx->no_peers = !peers;
    /* A program with more rights than its user writes to no file of the user's choice. */
    if (secure_getenv("TILEMM_TIMELINE") &&
        !read_text("TILEMM_TIMELINE", sizeof ctx->timeline, ctx->timeline))
        return refuse_variable("TILEMM_TIMELINE", "a file's name of at most 1023 characters");
    return TILEMM_SUCCESS;
}

/* On one device, or on several. */
static tilemm_status_t open_backend(tilemm_t ctx, const tilemm__backend_t *backend, int count,
                                    const int *devices)
{
    ctx->backend = backend;
    ctx->device = backend->id == TILEMM_BACKEND_CUDA ? devices[0] : -1;
    tilemm_status_t status =
        count > 1 ? backend->open_multi(ctx, count, devices) : backend->open(ctx, devices[0]);
    if (status != TILEMM_SUCCESS)
        refuse(status, "%s", *ctx->last_error ? ctx->last_error : tilemm_status_string(status));
    ctx->last_error[0] = '\0';
    return status;
}

static tilemm_status_t open_cuda(tilemm_t ctx, int count, const int *devices)
{
    const char *why;
    if (ctx->invariance == TILEMM_INVARIANT_ACROSS)
        return refuse(
            TILEMM_NOT_SUPPORTED,
            "create: TILEMM_INVARIANCE = across, must be none or batch on a CUDA context");
    const tilemm__backend_t *cuda = tilemm__load_cuda(&why);
    return cuda ? open_backend(ctx, cuda, count, devices)
                : refuse(TILEMM_NO_DEVICE, "create: %s", why);
}

/* Whether CUDA works, and the list of devices is what is wrong. */
static int is_cuda_usable(tilemm_t ctx)
{
    const int first = 0;
    char why[sizeof create_error];
    memcpy(why, create_error, sizeof why);
    const int usable = open_cuda(ctx, 1, &first) == TILEMM_SUCCESS;
    if (usable)
        (void)ctx->backend->close(ctx);
    memcpy(create_error, why, sizeof why);
    return usable;
}

/* The backend that the caller and TILEMM_BACKEND ask for. */
static tilemm_status_t choose_backend(tilemm_backend_t *backend)
{
    if (*backend != TILEMM_BACKEND_AUTO && *backend != TILEMM_BACKEND_CPU &&
        *backend != TILEMM_BACKEND_CUDA)
        return refuse(TILEMM_INVALID_ARGUMENT,
                      "create: backend = %d, must be TILEMM_BACKEND_AUTO (0), TILEMM_BACKEND_CPU "
                      "(1) or TILEMM_BACKEND_CUDA (2)",
                      (int)*backend);
    const char *value = variable("TILEMM_BACKEND");
    if (value) {
        const int cpu = !strcmp(value, "cpu"), gpu = !strcmp(value, "cuda");
        if (!cpu && !gpu && strcmp(value, "auto"))
            return refuse_variable("TILEMM_BACKEND", "auto, cpu or cuda");
        if (*backend == TILEMM_BACKEND_AUTO && (cpu || gpu))
            *backend = cpu ? TILEMM_BACKEND_CPU : TILEMM_BACKEND_CUDA;
    }
    return TILEMM_SUCCESS;
}

/* devices are not looked at for the CPU; `listed`: they are those of TILEMM_DEVICES. */
static tilemm_status_t create(tilemm_t *out, tilemm_backend_t backend, int count,
                              const int *devices, int listed)
{
    for (int i = 0; i < count && backend != TILEMM_BACKEND_CPU; i++)
        if (devices[i] < 0) {
            char index[16] = "";
            if (count > 1)
                snprintf(index, sizeof index, "s[%d]", i);
            return refuse(TILEMM_INVALID_ARGUMENT, "create: device%s = %d, must be at least 0",
                          index, devices[i]);
        }
    tilemm_t ctx = calloc(1, sizeof *ctx);
    if (!ctx)
        return refuse(TILEMM_OUT_OF_MEMORY, "create: out of memory");
    ctx->last_kernel = "";
    tilemm_status_t status = read_environment(ctx);
    if (status == TILEMM_SUCCESS) {
        if (backend != TILEMM_BACKEND_CPU)
            status = open_cuda(ctx, count, devices);
        if (backend == TILEMM_BACKEND_CPU ||
            (backend == TILEMM_BACKEND_AUTO && status != TILEMM_SUCCESS &&
             !(listed && is_cuda_usable(ctx))))
            status = open_backend(ctx, &tilemm__cpu_backend, 1, devices);
    }
    if (status != TILEMM_SUCCESS) {
        free(ctx);
        return status;
    }
    create_error[0] = '\0'; /* CUDA may have said why it cannot be used */
    tilemm_set_log(ctx, NULL, NULL);
    *out = ctx;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_create(tilemm_t *out, tilemm_backend_t backend, int device)
{
    int devices[TILEMM__MOST_DEVICES], count = 0;
    const int automatic = backend == TILEMM_BACKEND_AUTO;
    create_error[0] = '\0';
    if (!out)
        return refuse(TILEMM_INVALID_ARGUMENT, "create: ctx = NULL, must be a valid pointer");
    *out = NULL;
    tilemm_status_t status = choose_backend(&backend);
    if (status != TILEMM_SUCCESS)
        return status;
    if (automatic && (count = read_devices(devices)) < 0)
        return refuse_variable("TILEMM_DEVICES",
                               "at most 64 numbers of devices, separated by commas");
    return count > 0 ? create(out, backend, count, devices, 1)
                     : create(out, backend, 1, &device, 0);
}

tilemm_status_t tilemm_create_multi(tilemm_t *out, int count, const int *devices)
{
    create_error[0] = '\0';
    if (!out)
        return refuse(TILEMM_INVALID_ARGUMENT, "create: ctx = NULL, must be a valid pointer");
    *out = NULL;
    if (count < 1 || count > TILEMM__MOST_DEVICES)
        return refuse(TILEMM_INVALID_ARGUMENT, "create: count = %d, must be from 1 to %d", count,
                      (int)TILEMM__MOST_DEVICES);
    if (!devices)
        return refuse(TILEMM_INVALID_ARGUMENT, "create: devices = NULL, must be a valid pointer");
    return create(out, TILEMM_BACKEND_CUDA, count, devices, 0);
}

const char *tilemm_create_error(void)
{
    return create_error;
}

tilemm_status_t tilemm_destroy(tilemm_t ctx)
{
    if (!ctx)
        return TILEMM_SUCCESS;
    /* Queued work may use what is released. Its failure is what close() reports. */
    if (ctx->holdings)
        (void)ctx->backend->synchronize(ctx);
    tilemm__release_holdings(ctx);
    tilemm_status_t status = ctx->backend->close(ctx);
    free(ctx);
    return status;
}

/* Where a getter stores its value. It is no operation: the last kernel stays. */
static int check_result(tilemm_t ctx, const char *where, const char *name, const void *result,
                        size_t alignment)
{
    if (!ctx)
        return 0;
    ctx->looked = 0;
    return tilemm__check_pointer(ctx, where, name, result, alignment);
}

#define GETTER(name, type, result, value)                                                          \
    tilemm_status_t tilemm_##name(tilemm_t ctx, type *result)                                      \
    {                                                                                              \
        if (!check_result(ctx, #name, #result, result, _Alignof(type)))                            \
            return TILEMM_INVALID_ARGUMENT;                                                        \
        *result = value;                                                                           \
        return TILEMM_SUCCESS;                                                                     \
    }
GETTER(get_backend, tilemm_backend_t, backend, ctx->backend->id)
GETTER(get_device, int, device, ctx->device)
GETTER(get_stream, void *, cuda_stream, ctx->stream)
GETTER(get_math, tilemm_math_t, math, ctx->math)
GETTER(get_invariance, tilemm_invariance_t, invariance, ctx->invariance)
GETTER(get_nan_policy, tilemm_nan_t, policy, ctx->nan_policy)
GETTER(get_device_memory, size_t, bytes, ctx->device_memory)
GETTER(get_threads, int, threads, ctx->backend->threads ? ctx->backend->threads(ctx) : ctx->threads)

tilemm_status_t tilemm_get_workspace(tilemm_t ctx, void **workspace, size_t *bytes)
{
    static const char where[] = "get_workspace";
    if (!check_result(ctx, where, "workspace", workspace, _Alignof(void *)) ||
        !check_result(ctx, where, "bytes", bytes, _Alignof(size_t)))
        return TILEMM_INVALID_ARGUMENT;
    *workspace = ctx->workspace;
    *bytes = ctx->workspace_bytes;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_set_stream(tilemm_t ctx, void *cuda_stream)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    const tilemm_status_t status = ctx->backend->set_stream(ctx, cuda_stream);
    if (status == TILEMM_SUCCESS)
        ctx->stream = cuda_stream;
    return status;
}

tilemm_status_t tilemm_synchronize(tilemm_t ctx)
{
    return ctx ? ctx->backend->synchronize(ctx) : TILEMM_INVALID_ARGUMENT;
}

tilemm_status_t tilemm_set_math(tilemm_t ctx, tilemm_math_t math)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    if (math != TILEMM_MATH_FP32 && math != TILEMM_MATH_FP32_STRICT && math != TILEMM_MATH_TF32)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "set_math: math = %d, must be TILEMM_MATH_FP32 (0), "
                            "TILEMM_MATH_FP32_STRICT (1) or TILEMM_MATH_TF32 (2)",
                            (int)math);
    ctx->math = math;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_set_invariance(tilemm_t ctx, tilemm_invariance_t invariance)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    if (invariance != TILEMM_INVARIANCE_NONE && invariance != TILEMM_INVARIANT &&
        invariance != TILEMM_INVARIANT_ACROSS)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "set_invariance: invariance = %d, must be TILEMM_INVARIANCE_NONE (0), "
                            "TILEMM_INVARIANT (1) or TILEMM_INVARIANT_ACROSS (2)",
                            (int)invariance);
    if (invariance == TILEMM_INVARIANT_ACROSS && ctx->backend->id == TILEMM_BACKEND_CUDA)
        return tilemm__fail(ctx, TILEMM_NOT_SUPPORTED,
                            "set_invariance: invariance = %d, must be TILEMM_INVARIANCE_NONE (0) "
                            "or TILEMM_INVARIANT (1) on a CUDA context",
                            (int)invariance);
    ctx->invariance = invariance;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_set_nan_policy(tilemm_t ctx, tilemm_nan_t policy)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    if (policy != TILEMM_NAN_PROPAGATE && policy != TILEMM_NAN_IGNORE)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "set_nan_policy: policy = %d, must be TILEMM_NAN_PROPAGATE (0) or "
                            "TILEMM_NAN_IGNORE (1)",
                            (int)policy);
    ctx->nan_policy = policy;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_set_threads(tilemm_t ctx, int threads)
{
    if (!ctx || !tilemm__check_at_least(ctx, "set_threads", "threads", threads, 0))
        return TILEMM_INVALID_ARGUMENT;
    ctx->threads = threads;
    return TILEMM_SUCCESS;
}

tilemm_status_t tilemm_set_workspace(tilemm_t ctx, void *workspace, size_t bytes)
{
    if (!ctx)
        return TILEMM_INVALID_ARGUMENT;
    if (!workspace != !bytes)
        return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                            "set_workspace: workspace = %p with bytes = %zu, must be both NULL "
                            "and 0 or neither",
                            workspace, bytes);
    if (workspace) {
        ctx->looked = 0;
        tilemm__place_t place = ctx->backend->locate(ctx, workspace);
        int cpu = ctx->backend->id == TILEMM_BACKEND_CPU;
        if (cpu ? place == TILEMM__DEVICE : place == TILEMM__HOST || place == TILEMM__ELSEWHERE)
            return tilemm__fail(ctx, TILEMM_INVALID_ARGUMENT,
                                "set_workspace: workspace = %p is in %s memory, must be in %s "
                                "memory",
                                workspace, place == TILEMM__HOST ? "host" : "device",
                                cpu ? "host" : "the context's device's");
    }
    tilemm_status_t status = ctx->backend->synchronize(ctx);
    if (status != TILEMM_SUCCESS)
        return status;
    ctx->workspace = workspace;
    ctx->workspace_bytes = bytes;
    return TILEMM_SUCCESS;
}
