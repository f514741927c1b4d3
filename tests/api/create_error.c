/* create_error.c - tilemm_create_error: what it says of each failure, and that it forgets.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tilemm.h"

static const struct {
    const char *variable, *value; /* NULL: none */
    int backend, device;
    tilemm_status_t status;
    const char *says;
} failures[] = {
    {"TILEMM_MATH", "fp31", TILEMM_BACKEND_CPU, 0, TILEMM_INVALID_ARGUMENT,
     "create: TILEMM_MATH = fp31, must be fp32, strict or tf32"},
    {"TILEMM_LOG", "2", TILEMM_BACKEND_CPU, 0, TILEMM_INVALID_ARGUMENT,
     "create: TILEMM_LOG = 2, must be 0 or 1"},
    {"TILEMM_NUM_THREADS", "0", TILEMM_BACKEND_CPU, 0, TILEMM_INVALID_ARGUMENT,
     "create: TILEMM_NUM_THREADS = 0, must be from 1 to 65536"},
    {"TILEMM_ARCH", "avx3", TILEMM_BACKEND_CPU, 0, TILEMM_INVALID_ARGUMENT,
     "create: TILEMM_ARCH = avx3, must be generic, neon, avx2, avx512, amx, or like sm80"},
    {"TILEMM_BACKEND", "gpu", TILEMM_BACKEND_AUTO, 0, TILEMM_INVALID_ARGUMENT,
     "create: TILEMM_BACKEND = gpu, must be auto, cpu or cuda"},
    {NULL, NULL, 7, 0, TILEMM_INVALID_ARGUMENT,
     "create: backend = 7, must be TILEMM_BACKEND_AUTO (0), TILEMM_BACKEND_CPU (1) or "
     "TILEMM_BACKEND_CUDA (2)"},
    {NULL, NULL, TILEMM_BACKEND_AUTO, -1, TILEMM_INVALID_ARGUMENT,
     "create: device = -1, must be at least 0"},
    /* No driver, no module, or not as many devices: in different words. */
    {NULL, NULL, TILEMM_BACKEND_CUDA, 1000000, TILEMM_NO_DEVICE, NULL},
};

static void *ask_another_thread(void *unused)
{
    (void)unused;
    CHECK(strcmp(tilemm_create_error(), "") == 0, "another thread: '%s'", tilemm_create_error());
    return NULL;
}

int main(void)
{
    const tilemm_status_t invalid = tilemm_create(NULL, TILEMM_BACKEND_CPU, 0);
    pthread_t thread;
    tilemm_t ctx;

    CHECK(invalid == TILEMM_INVALID_ARGUMENT &&
              strcmp(tilemm_create_error(), "create: ctx = NULL, must be a valid pointer") == 0,
          "'%s'", tilemm_create_error());
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        tilemm_status_t status;
        const char *said;

        if (failures[i].variable)
            setenv(failures[i].variable, failures[i].value, 1);
        status = tilemm_create(&ctx, (tilemm_backend_t)failures[i].backend, failures[i].device);
        said = tilemm_create_error();
        CHECK(status == failures[i].status && !ctx, "%zu: %s", i, tilemm_status_string(status));
        CHECK(failures[i].says ? strcmp(said, failures[i].says) == 0
                               : strncmp(said, "create: ", 8) == 0 && said[8],
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
    return check_exit();
}
