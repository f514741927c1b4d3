/* unload.c - a program that loads the library, computes on several threads, and unloads it: nothing
 * is left that could go on.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tilemm.h"

enum { LENGTH = 400000, ROUNDS = 20, THREADS = 5 };

static int count_threads(void)
{
    int count = 0;
    DIR *const folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

/* A function of the library. */
static void *find(void *library, const char *name)
{
    void *const found = dlsym(library, name);
    CHECK(found != NULL, "no %s", name);
    return found;
}

static void round_of_calls(const char *path, const float *x)
{
    tilemm_t ctx = NULL;
    float sum = 0;
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL, "%s", dlerror());
    if (!library)
        return;
    __typeof__(&tilemm_create) create = NULL;
    __typeof__(&tilemm_set_threads) set_threads = NULL;
    __typeof__(&tilemm_ssum) ssum = NULL;
    __typeof__(&tilemm_destroy) destroy = NULL;
    *(void **)&create = find(library, "tilemm_create");
    *(void **)&set_threads = find(library, "tilemm_set_threads");
    *(void **)&ssum = find(library, "tilemm_ssum");
    *(void **)&destroy = find(library, "tilemm_destroy");
    CHECK(create(&ctx, TILEMM_BACKEND_CPU, 0) == TILEMM_SUCCESS, "create");
    CHECK(set_threads(ctx, THREADS) == TILEMM_SUCCESS, "set_threads");
    CHECK(ssum(ctx, LENGTH, x, 1, &sum) == TILEMM_SUCCESS && sum == LENGTH, "the sum is %g",
          (double)sum);
    CHECK(destroy(ctx) == TILEMM_SUCCESS, "destroy");
    CHECK(dlclose(library) == 0, "%s", dlerror());
    CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD), "%s is still there", path);
    usleep(1000); /* what is left would crash */
}

int main(void)
{
    const char *const path = getenv("TILEMM_LIB");
    if (!path || access(path, R_OK) != 0) {
        puts("there is no shared library");
        return CHECK_SKIPPED;
    }
    const int before = count_threads();
    float *const x = malloc(sizeof(float) * LENGTH);
    for (int i = 0; x && i < LENGTH; i++)
        x[i] = 1;
    for (int i = 0; x && i < ROUNDS; i++)
        round_of_calls(path, x);
    CHECK(count_threads() == before, "%d threads, there were %d", count_threads(), before);
    free(x);
    return check_exit();
}
