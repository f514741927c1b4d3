/* load_cuda.c - see load_cuda.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for dladdr and secure_getenv */
#endif

#include "load_cuda.h"

/* libtool compiles objects of shared libraries with PIC defined. */
#if defined TILEMM_HAVE_CUDA && !defined PIC && !defined TILEMM_CUDA_MODULE
#define CUDA_IS_LINKED 1
#else
#define CUDA_IS_LINKED 0
#endif

#if CUDA_IS_LINKED

const tilemm__backend_t *tilemm__load_cuda(const char **why)
{
    (void)why;
    return &tilemm__cuda_backend;
}

#else

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/build_id.h"

#define MODULE "libtilemm-cuda.so"

static struct {
    const tilemm__backend_t *backend;
    char why[PATH_MAX + 128];
} loaded;

/* Whether the file has all bytes that dlopen maps: it is killed by SIGBUS where they are missing.
 */
static int is_whole(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    ElfW(Ehdr) head;
    int whole = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                pread(file, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    for (int i = 0; whole && i < head.e_phnum; i++) {
        ElfW(Phdr) segment;
        const off_t at = (off_t)(head.e_phoff + (size_t)i * sizeof segment);
        whole = pread(file, &segment, sizeof segment, at) == (ssize_t)sizeof segment &&
                segment.p_filesz <= (size_t)status.st_size &&
                segment.p_offset <= (size_t)status.st_size - segment.p_filesz;
    }
    if (file >= 0)
        close(file);
    return whole;
}

static void load_file(const char *path)
{
    if (!is_whole(path)) {
        snprintf(loaded.why, sizeof loaded.why,
                 "the CUDA backend cannot be loaded: %s is not a whole shared library", path);
        return;
    }
    /* It stays: the CUDA runtime in it ends with the process. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const tilemm__module_t *module = library ? dlsym(library, "tilemm_cuda_module") : NULL;
    if (!library)
        snprintf(loaded.why, sizeof loaded.why, "the CUDA backend cannot be loaded: %s", dlerror());
    else if (!module)
        snprintf(loaded.why, sizeof loaded.why, "%s is no module of libtilemm", path);
    else if (strcmp(module->build, TILEMM__BUILD) != 0)
        snprintf(loaded.why, sizeof loaded.why, "%s is of libtilemm %s, must be of %s", path,
                 module->build, TILEMM__BUILD);
    else
        loaded.backend = module->backend;
    if (library && !loaded.backend)
        dlclose(library);
}

/* Whether the file is there. */
static int try_folder(const char *folder, const char *below)
{
    char path[PATH_MAX];
    if (!folder ||
        (size_t)snprintf(path, sizeof path, "%s%s/" MODULE, folder, below) >= sizeof path ||
        access(path, F_OK) != 0)
        return 0;
    load_file(path);
    return 1;
}

/* The folder that this library is in. */
static const char *own_folder(char *folder, size_t size)
{
    Dl_info info;
    if (!dladdr((const void *)&tilemm__load_cuda, &info) || !info.dli_fname)
        return NULL;
    snprintf(folder, size, "%s", info.dli_fname);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return folder;
}

static void load(void)
{
    char folder[PATH_MAX];
    const char *own = own_folder(folder, sizeof folder);
    if (try_folder(secure_getenv("TILEMM_MODULE_DIR"), "") || try_folder(own, "/tilemm") ||
        try_folder(own, "") || try_folder(MODULE_DIR, ""))
        return;
    snprintf(loaded.why, sizeof loaded.why,
             "the CUDA backend is not installed: no " MODULE " in " MODULE_DIR);
}

const tilemm__backend_t *tilemm__load_cuda(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *why = loaded.why;
    return loaded.backend;
}

#endif
