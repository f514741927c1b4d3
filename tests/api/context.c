/* context.c - contexts: creation and its errors, the environment, settings, status strings, the
 * version.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gpu.h"
#include "tests/support/check.h"
#include "tests/support/support.h"

/* The status of tilemm_create with the variable set. */
static tilemm_status_t create_with(const char *variable, const char *value,
                                   tilemm_backend_t backend)
{
    tilemm_t ctx = (tilemm_t)&ctx; /* not NULL */
    setenv(variable, value, 1);
    const tilemm_status_t status = tilemm_create(&ctx, backend, 0);
    unsetenv(variable);
    CHECK((status == TILEMM_SUCCESS) == (ctx != NULL), "%s=%s: %s, but the context is %sNULL",
          variable, value, tilemm_status_string(status), ctx ? "not " : "");
    if (ctx)
        tilemm_destroy(ctx);
    return status;
}

static void environment(void)
{
    static const char *const bad[][2] = {
        {"TILEMM_ARCH", "foo"},       {"TILEMM_ARCH", "sm"},
        {"TILEMM_NUM_THREADS", "-1"}, {"TILEMM_NUM_THREADS", "two"},
        {"TILEMM_NUM_THREADS", "2x"}, {"TILEMM_MATH", "x"},
        {"TILEMM_MATH", "FP64"},      {"TILEMM_NUM_THREADS", "99999999999999999999"},
        {"TILEMM_PEER", "2"},         {"TILEMM_PEER", "yes"},
        {"TILEMM_INVARIANCE", "x"}};
    static const char *const lists[] = {
        "x", "0,", ",0", "0,,1", "-1", "0 1", "0;1", "0,1x", "99999999999999999999"};
    static const char *const good[][2] = {
        {"TILEMM_ARCH", "generic"},  {"TILEMM_ARCH", "avx2"},
        {"TILEMM_ARCH", "avx512"},   {"TILEMM_ARCH", "neon"},
        {"TILEMM_ARCH", "amx"},      {"TILEMM_ARCH", "sm80"},
        {"TILEMM_ARCH", "sm90"},     {"TILEMM_NUM_THREADS", "1"},
        {"TILEMM_NUM_THREADS", "3"}, {"TILEMM_MATH", "fp32"},
        {"TILEMM_MATH", "strict"},   {"TILEMM_MATH", "tf32"},
        {"TILEMM_BACKEND", "cpu"},   {"TILEMM_LOG", "0"},
        {"TILEMM_ARCH", ""},         {"TILEMM_NUM_THREADS", ""},
        {"TILEMM_VARIANT", "sgemm"}, {"TILEMM_PEER", "0"},
        {"TILEMM_PEER", "1"},        {"TILEMM_INVARIANCE", "batch"},
        {"TILEMM_DEVICES", "none"} /* of AUTO alone */};
    char long_name[100] = "";
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(create_with(bad[i][0], bad[i][1], TILEMM_BACKEND_CPU) == TILEMM_INVALID_ARGUMENT,
              "%s=%s", bad[i][0], bad[i][1]);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(create_with(good[i][0], good[i][1], TILEMM_BACKEND_CPU) == TILEMM_SUCCESS, "%s=%s",
              good[i][0], good[i][1]);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        CHECK(create_with("TILEMM_DEVICES", lists[i], TILEMM_BACKEND_AUTO) ==
                  TILEMM_INVALID_ARGUMENT,
              "TILEMM_DEVICES=%s", lists[i]);
        CHECK(strstr(tilemm_create_error(), "numbers of devices, separated by commas"), "%s",
              tilemm_create_error());
    }
    CHECK(create_with("TILEMM_DEVICES", "", TILEMM_BACKEND_AUTO) == TILEMM_SUCCESS, "empty list");
    setenv("TILEMM_BACKEND", "cpu", 1);
    CHECK(create_with("TILEMM_DEVICES", "0,1", TILEMM_BACKEND_AUTO) == TILEMM_SUCCESS, "the CPU");
    unsetenv("TILEMM_BACKEND");
    memset(long_name, 'x', sizeof(long_name) - 1);
    CHECK(create_with("TILEMM_VARIANT", long_name, TILEMM_BACKEND_CPU) == TILEMM_INVALID_ARGUMENT,
          "TILEMM_VARIANT of 99 characters");
    char long_file[1025] = "";
    memset(long_file, 'x', sizeof(long_file) - 1);
    CHECK(create_with("TILEMM_TIMELINE", long_file, TILEMM_BACKEND_CPU) == TILEMM_INVALID_ARGUMENT,
          "TILEMM_TIMELINE of 1024 characters");
    CHECK(create_with("TILEMM_TIMELINE", long_file + 1, TILEMM_BACKEND_CPU) == TILEMM_SUCCESS,
          "TILEMM_TIMELINE of 1023 characters");
    CHECK(create_with("TILEMM_BACKEND", "x", TILEMM_BACKEND_AUTO) == TILEMM_INVALID_ARGUMENT,
          "TILEMM_BACKEND=x");
    /* the variable decides for AUTO only, even where there is a GPU */
    for (int is_auto = 0; is_auto < 2; is_auto++) {
        tilemm_t ctx = NULL;
        tilemm_backend_t backend = TILEMM_BACKEND_AUTO;
        setenv("TILEMM_BACKEND", is_auto ? "cpu" : "cuda", 1);
        CHECK(tilemm_create(&ctx, is_auto ? TILEMM_BACKEND_AUTO : TILEMM_BACKEND_CPU, 0) ==
                  TILEMM_SUCCESS,
              "the CPU by TILEMM_BACKEND or in spite of it");
        CHECK_OK(ctx, tilemm_get_backend(ctx, &backend));
        CHECK(backend == TILEMM_BACKEND_CPU, "a CPU context has backend %d", (int)backend);
        tilemm_destroy(ctx);
    }
    unsetenv("TILEMM_BACKEND");
}

static void backends(void)
{
    tilemm_t ctx = NULL;
    tilemm_backend_t backend = TILEMM_BACKEND_AUTO;
    CHECK(tilemm_create(&ctx, (tilemm_backend_t)3, 0) == TILEMM_INVALID_ARGUMENT && !ctx,
          "backend 3");
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_CUDA, -1) == TILEMM_INVALID_ARGUMENT && !ctx,
          "device -1");
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_CUDA, 12345) == TILEMM_NO_DEVICE && !ctx,
          "device 12345");
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_CPU, -1) == TILEMM_SUCCESS && ctx,
          "the CPU's device is not looked at");
    tilemm_destroy(ctx);
    ctx = NULL;
    const tilemm_status_t status = tilemm_create(&ctx, TILEMM_BACKEND_CUDA, 0);
    if (gpu_open(0) != 0)
        CHECK(status == TILEMM_NO_DEVICE && !ctx, "CUDA without a GPU: %s",
              tilemm_status_string(status));
    if (status == TILEMM_SUCCESS)
        tilemm_destroy(ctx);
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) == TILEMM_SUCCESS && ctx, "AUTO");
    CHECK_OK(ctx, tilemm_get_backend(ctx, &backend));
    CHECK(backend == (status == TILEMM_SUCCESS ? TILEMM_BACKEND_CUDA : TILEMM_BACKEND_CPU),
          "AUTO gives backend %d", (int)backend);
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    setenv("TILEMM_BACKEND", "cuda", 1);
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) == status, "TILEMM_BACKEND=cuda");
    if (ctx)
        tilemm_destroy(ctx);
    unsetenv("TILEMM_BACKEND");
}

/* What tilemm_create_error says of each failure, after "create: ". */
static const struct {
    const char *variable, *value; /* NULL: none */
    int backend, device;
    const char *says; /* NULL: no device, in different words */
} failures[] = {
    {"TILEMM_MATH", "fp31", TILEMM_BACKEND_CPU, 0,
     "TILEMM_MATH = fp31, must be fp32, strict or tf32"},
    {"TILEMM_LOG", "2", TILEMM_BACKEND_CPU, 0, "TILEMM_LOG = 2, must be 0 or 1"},
    {"TILEMM_NUM_THREADS", "0", TILEMM_BACKEND_CPU, 0,
     "TILEMM_NUM_THREADS = 0, must be from 1 to 65536"},
    {"TILEMM_ARCH", "avx3", TILEMM_BACKEND_CPU, 0,
     "TILEMM_ARCH = avx3, must be generic, neon, avx2, avx512, amx, or like sm80"},
    {"TILEMM_BACKEND", "gpu", TILEMM_BACKEND_AUTO, 0,
     "TILEMM_BACKEND = gpu, must be auto, cpu or cuda"},
    {NULL, NULL, 7, 0,
     "backend = 7, must be TILEMM_BACKEND_AUTO (0), TILEMM_BACKEND_CPU (1) or "
     "TILEMM_BACKEND_CUDA (2)"},
    {NULL, NULL, TILEMM_BACKEND_AUTO, -1, "device = -1, must be at least 0"},
    {NULL, NULL, TILEMM_BACKEND_CUDA, 1000000, NULL},
};

/* Another thread has failures of its own: nothing at first, and then not that of this one. */
static void *ask_another_thread(void *unused)
{
    tilemm_t ctx;
    (void)unused;
    CHECK(strcmp(tilemm_create_error(), "") == 0, "another thread: '%s'", tilemm_create_error());
    CHECK(tilemm_create(&ctx, (tilemm_backend_t)9, 0) == TILEMM_INVALID_ARGUMENT, "backend 9");
    CHECK(strstr(tilemm_create_error(), "backend = 9"), "'%s'", tilemm_create_error());
    return NULL;
}

static void create_errors(void)
{
    const tilemm_status_t invalid = tilemm_create(NULL, TILEMM_BACKEND_CPU, 0);
    pthread_t thread;
    tilemm_t ctx;
    CHECK(invalid == TILEMM_INVALID_ARGUMENT &&
              strcmp(tilemm_create_error(), "create: ctx = NULL, must be a valid pointer") == 0,
          "'%s'", tilemm_create_error());
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        if (failures[i].variable)
            setenv(failures[i].variable, failures[i].value, 1);
        const tilemm_status_t status =
            tilemm_create(&ctx, (tilemm_backend_t)failures[i].backend, failures[i].device);
        const char *said = tilemm_create_error(), *says = failures[i].says;
        CHECK(status == (says ? TILEMM_INVALID_ARGUMENT : TILEMM_NO_DEVICE) && !ctx, "%zu: %s", i,
              tilemm_status_string(status));
        CHECK(strncmp(said, "create: ", 8) == 0 && (says ? strcmp(said + 8, says) == 0 : said[8]),
              "%zu: '%s'", i, said);
        if (failures[i].variable)
            unsetenv(failures[i].variable);
    }
    char before[256];
    snprintf(before, sizeof before, "%s", tilemm_create_error());
    CHECK(pthread_create(&thread, NULL, ask_another_thread, NULL) == 0, "a thread");
    pthread_join(thread, NULL);
    CHECK(strcmp(tilemm_create_error(), before) == 0, "'%s' was '%s'", tilemm_create_error(),
          before);
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) == TILEMM_SUCCESS, "'%s'",
          tilemm_create_error());
    CHECK(strcmp(tilemm_create_error(), "") == 0, "after a success: '%s'", tilemm_create_error());
    tilemm_destroy(ctx);
}

static void texts(void)
{
    char version[64];
    for (int s = TILEMM_SUCCESS; s <= TILEMM_INTERNAL_ERROR; s++) {
        const char *text = tilemm_status_string((tilemm_status_t)s);
        CHECK(text && text[0], "status %d has no string", s);
        for (int t = 0; text && t < s; t++)
            CHECK(strcmp(text, tilemm_status_string((tilemm_status_t)t)) != 0,
                  "status %d and %d are both \"%s\"", s, t, text);
    }
    CHECK(tilemm_status_string((tilemm_status_t)1000) != NULL, "status 1000");
    CHECK(tilemm_status_string((tilemm_status_t)-1) != NULL, "status -1");
    CHECK(strcmp(tilemm_status_string(TILEMM_INVALID_ARGUMENT), "invalid argument") == 0, "\"%s\"",
          tilemm_status_string(TILEMM_INVALID_ARGUMENT));
    snprintf(version, sizeof(version), "%d.%d.%d", TILEMM_VERSION_MAJOR, TILEMM_VERSION_MINOR,
             TILEMM_VERSION_PATCH);
    CHECK(strcmp(version, tilemm_version()) == 0, "tilemm_version says %s, the header %s",
          tilemm_version(), version);
}

static tilemm_math_t math_of(tilemm_t ctx)
{
    tilemm_math_t math = (tilemm_math_t)-1;
    CHECK_OK(ctx, tilemm_get_math(ctx, &math));
    return math;
}

static tilemm_nan_t nan_policy_of(tilemm_t ctx)
{
    tilemm_nan_t policy = (tilemm_nan_t)-1;
    CHECK_OK(ctx, tilemm_get_nan_policy(ctx, &policy));
    return policy;
}

static int threads_of(tilemm_t ctx)
{
    int threads = -1;
    CHECK_OK(ctx, tilemm_get_threads(ctx, &threads));
    return threads;
}

static int has_workspace(tilemm_t ctx, const void *workspace, size_t bytes)
{
    void *given = &given;
    size_t given_bytes = 12345;
    CHECK_OK(ctx, tilemm_get_workspace(ctx, &given, &given_bytes));
    return given == workspace && given_bytes == bytes;
}

/* The getters say what was set, and what holds before anything is; a getter forgets no kernel. */
static void getters(tilemm_backend_t backend)
{
    tilemm_t ctx = test_context(backend, "");
    const int on_gpu = backend == TILEMM_BACKEND_CUDA;
    void *stream = &stream, *memory = on_gpu ? device_array(100) : (void *)host_array(25);
    float x[] = {1, 2, 3, 4}, sum;
    char kernel[64];
    int device = 77;
    CHECK_OK(ctx, tilemm_get_device(ctx, &device));
    CHECK(device == (on_gpu ? 0 : -1), "device %d", device);
    CHECK_OK(ctx, tilemm_get_stream(ctx, &stream));
    CHECK(!stream, "stream %p", stream);
    CHECK(math_of(ctx) == TILEMM_MATH_FP32 && nan_policy_of(ctx) == TILEMM_NAN_PROPAGATE &&
              has_workspace(ctx, NULL, 0),
          "a new context's settings");
    const int threads = threads_of(ctx);
    CHECK(on_gpu ? threads == 0 : threads >= 1, "%d threads", threads);
    CHECK_OK(ctx, tilemm_ssum(ctx, 4, x, 1, &sum));
    snprintf(kernel, sizeof kernel, "%s", tilemm_last_kernel(ctx));
    for (int math = TILEMM_MATH_FP32; math <= TILEMM_MATH_TF32; math++) {
        CHECK_OK(ctx, tilemm_set_math(ctx, (tilemm_math_t)math));
        CHECK(math_of(ctx) == (tilemm_math_t)math, "math %d", math);
    }
    CHECK(tilemm_set_math(ctx, (tilemm_math_t)3) == TILEMM_INVALID_ARGUMENT &&
              math_of(ctx) == TILEMM_MATH_TF32,
          "a math that was refused");
    CHECK_OK(ctx, tilemm_set_nan_policy(ctx, TILEMM_NAN_IGNORE));
    CHECK(nan_policy_of(ctx) == TILEMM_NAN_IGNORE, "nan_policy");
    CHECK_OK(ctx, tilemm_set_threads(ctx, 1));
    CHECK(threads_of(ctx) == 1, "%d threads, not 1", threads_of(ctx));
    CHECK_OK(ctx, tilemm_set_threads(ctx, 65536)); /* more than there can be */
    CHECK(on_gpu ? threads_of(ctx) == 65536 : threads_of(ctx) < 65536, "%d", threads_of(ctx));
    CHECK_OK(ctx, tilemm_set_threads(ctx, 0));
    CHECK(threads_of(ctx) == threads, "%d threads, not %d", threads_of(ctx), threads);
    CHECK_OK(ctx, tilemm_set_workspace(ctx, (char *)memory + 1, 99)); /* at any address */
    CHECK(tilemm_set_workspace(ctx, NULL, 5) == TILEMM_INVALID_ARGUMENT &&
              has_workspace(ctx, (char *)memory + 1, 99),
          "workspace");
    CHECK_OK(ctx, tilemm_set_workspace(ctx, NULL, 0));
    CHECK(has_workspace(ctx, NULL, 0), "the context's own workspace");
    CHECK(strcmp(kernel, tilemm_last_kernel(ctx)) == 0 && *kernel, "the kernel was %s and is %s",
          kernel, tilemm_last_kernel(ctx));
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
    if (on_gpu)
        gpu_free(memory);
    else
        free(memory);
}

/* What the environment sets, getters say too. */
static void getters_of_environment(void)
{
    tilemm_t ctx;
    setenv("TILEMM_MATH", "strict", 1);
    setenv("TILEMM_NUM_THREADS", "3", 1);
    CHECK(tilemm_create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS, "a context");
    unsetenv("TILEMM_MATH");
    unsetenv("TILEMM_NUM_THREADS");
    CHECK(math_of(ctx) == TILEMM_MATH_FP32_STRICT, "TILEMM_MATH=strict is %d", (int)math_of(ctx));
    CHECK(threads_of(ctx) == 3, "TILEMM_NUM_THREADS=3 is %d", threads_of(ctx));
    tilemm_destroy(ctx);
}

static void settings(void)
{
    static float x[] = {1, 2, 3, 4};
    tilemm_t ctx = test_context(TILEMM_BACKEND_CPU, "");
    float sum = 0;
    char workspace[100];
    for (int threads = 0; threads < 70; threads += 23) {
        CHECK_OK(ctx, tilemm_set_threads(ctx, threads));
        CHECK_OK(ctx, tilemm_ssum(ctx, 4, x, 1, &sum));
        CHECK(sum == 10, "%d threads: %g", threads, (double)sum);
    }
    CHECK_OK(ctx, tilemm_set_math(ctx, TILEMM_MATH_TF32));
    CHECK_OK(ctx, tilemm_set_nan_policy(ctx, TILEMM_NAN_IGNORE));
    CHECK_OK(ctx, tilemm_set_workspace(ctx, workspace, sizeof(workspace)));
    CHECK_OK(ctx, tilemm_ssum(ctx, 4, x, 1, &sum));
    CHECK(sum == 10, "%g", (double)sum);
    CHECK_OK(ctx, tilemm_set_workspace(ctx, NULL, 0));
    CHECK_OK(ctx, tilemm_synchronize(ctx));
    CHECK(tilemm_destroy(ctx) == TILEMM_SUCCESS, "tilemm_destroy");
}

/* Arguments of tilemm_create_multi, and machines without a GPU. */
static void several_devices(void)
{
    static const int devices[65] = {0}, negative[] = {0, -3};
    static const struct {
        int count;
        const int *devices;
        const char *words;
    } bad[] = {{0, devices, "count = 0, must be from 1 to 64"},
               {-1, devices, "count = -1"},
               {65, devices, "count = 65"},
               {2, NULL, "devices = NULL"},
               {2, negative, "devices[1] = -3, must be at least 0"},
               {1, negative + 1, "device = -3, must be at least 0"}};
    tilemm_t ctx;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ctx = (tilemm_t)&ctx;
        CHECK(tilemm_create_multi(&ctx, bad[i].count, bad[i].devices) == TILEMM_INVALID_ARGUMENT &&
                  !ctx,
              "%s", bad[i].words);
        CHECK(strstr(tilemm_create_error(), bad[i].words), "%s", tilemm_create_error());
    }
    CHECK(tilemm_create_multi(NULL, 1, devices) == TILEMM_INVALID_ARGUMENT, "ctx = NULL");
    for (int count = 1; count <= 2; count++) {
        const tilemm_status_t status = tilemm_create_multi(&ctx, count, devices);
        CHECK(status == TILEMM_SUCCESS || status == TILEMM_NO_DEVICE, "%s",
              tilemm_status_string(status));
        CHECK((status == TILEMM_SUCCESS) == (ctx != NULL), "the context");
        CHECK((status == TILEMM_SUCCESS) == !*tilemm_create_error(), "%s", tilemm_create_error());
        tilemm_destroy(ctx);
    }
}

int main(void)
{
    test_begin(TILEMM_BACKEND_CPU);
    environment();
    several_devices();
    backends();
    create_errors();
    texts();
    settings();
    getters(TILEMM_BACKEND_CPU);
    getters_of_environment();
    if (gpu_open(0) == 0)
        getters(TILEMM_BACKEND_CUDA);
    for (int i = 0; i < 200; i++) /* nothing leaks */
        tilemm_destroy(test_context(TILEMM_BACKEND_CPU, ""));
    return check_exit();
}
