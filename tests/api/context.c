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
        {"TILEMM_MATH", "FP64"},      {"TILEMM_NUM_THREADS", "99999999999999999999"}};
    static const char *const good[][2] = {
        {"TILEMM_ARCH", "generic"}, {"TILEMM_ARCH", "avx2"},     {"TILEMM_ARCH", "avx512"},
        {"TILEMM_ARCH", "neon"},    {"TILEMM_ARCH", "amx"},      {"TILEMM_ARCH", "sm80"},
        {"TILEMM_ARCH", "sm90"},    {"TILEMM_NUM_THREADS", "1"}, {"TILEMM_NUM_THREADS", "3"},
        {"TILEMM_MATH", "fp32"},    {"TILEMM_MATH", "strict"},   {"TILEMM_MATH", "tf32"},
        {"TILEMM_BACKEND", "cpu"},  {"TILEMM_LOG", "0"},         {"TILEMM_ARCH", ""},
        {"TILEMM_NUM_THREADS", ""}, {"TILEMM_VARIANT", "sgemm"}};
    char long_name[100] = "";
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(create_with(bad[i][0], bad[i][1], TILEMM_BACKEND_CPU) == TILEMM_INVALID_ARGUMENT,
              "%s=%s", bad[i][0], bad[i][1]);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(create_with(good[i][0], good[i][1], TILEMM_BACKEND_CPU) == TILEMM_SUCCESS, "%s=%s",
              good[i][0], good[i][1]);
    memset(long_name, 'x', sizeof(long_name) - 1);
    CHECK(create_with("TILEMM_VARIANT", long_name, TILEMM_BACKEND_CPU) == TILEMM_INVALID_ARGUMENT,
          "TILEMM_VARIANT of 99 characters");
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

static void *ask_another_thread(void *unused)
{
    (void)unused;
    CHECK(strcmp(tilemm_create_error(), "") == 0, "another thread: '%s'", tilemm_create_error());
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
    CHECK(pthread_create(&thread, NULL, ask_another_thread, NULL) == 0, "a thread");
    pthread_join(thread, NULL);
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

int main(void)
{
    test_begin(TILEMM_BACKEND_CPU);
    environment();
    backends();
    create_errors();
    texts();
    settings();
    for (int i = 0; i < 200; i++) /* nothing leaks */
        tilemm_destroy(test_context(TILEMM_BACKEND_CPU, ""));
    return check_exit();
}
