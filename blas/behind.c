/* behind.c - the BLAS that the program would call if this library were not there.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for RTLD_NEXT and dladdr */
#endif

#include <dlfcn.h>
#include <string.h>

#include "blas.h"

static const void *object_of(const void *address, const char **file)
{
    Dl_info info;
    if (!address || !dladdr(address, &info))
        return NULL;
    if (file)
        *file = info.dli_fname;
    return info.dli_fbase;
}

int tilemm__blas_same_object(const void *x, const void *y)
{
    const void *object = object_of(x, NULL);
    return object && object == object_of(y, NULL);
}

/* A symbol of the library that has the address, or of libraries that it needs: Python loads modules
 * so that others do not see their BLAS. A library in which the symbol is found stays loaded. */
static void *find_from(const void *address, const char *name)
{
    const char *file;
    void *library = object_of(address, &file) ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, name) : NULL;
    if (symbol && tilemm__blas_same_object(symbol, (const void *)&tilemm__blas_find_behind))
        symbol = NULL;
    if (library && !symbol)
        dlclose(library);
    return symbol;
}

void *tilemm__blas_find(const char *name, const void *caller)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol ? symbol : find_from(caller, name);
}

/* Whether the BLAS's integers have 64 bits though its names do not tell: Debian's libblas64.so.3
 * and libopenblas64.so.0, and OpenBLAS wherever it says so. */
static int is_wide(const void *behind)
{
    const char *file, *(*config)(void) = NULL;
    if (sizeof(void *) < 8 || !object_of(behind, &file))
        return 0;
    void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        *(void **)&config = dlsym(library, "openblas_get_config");
        if (!config || !tilemm__blas_same_object(*(void **)&config, behind))
            config = NULL;
        dlclose(library);
    }
    const char *name = strrchr(file, '/');
    return config ? strstr(config(), "USE64BITINT") != NULL
                  : strstr(name ? name : file, "blas64.so") != NULL;
}

void *tilemm__blas_find_behind(tilemm__blas_entry_t *entry, const void *caller)
{
    void *behind = entry->behind;
    if (!behind) {
        behind = dlsym(RTLD_NEXT, entry->symbol);
        if (!behind)
            behind = find_from(caller, entry->symbol);
        entry->behind = behind;
    }
    if (!entry->prepared) {
        entry->wide = entry->family->by_blas ? behind && is_wide(behind) : entry->family->wide;
        entry->prepared = 1;
    }
    return behind;
}
