/* npy.h - NumPy's .npy files: mapped for reading, written as output.h says.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_NPY_H
#define TILEMM_TOOLS_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"

enum { NPY_MAX_DIMS = 32, NPY_MAX_DESCR = 64 };

typedef struct {
    const char *path;
    char descr[NPY_MAX_DESCR]; /* as the file has it: "<f4", "|b1", ">c16" */
    size_t item_size;          /* bytes */
    int fortran_order;
    int ndim;
    int64_t shape[NPY_MAX_DIMS];
    size_t count; /* elements */
    const void *data;
    void *map; /* the whole file */
    size_t map_bytes;
    void *copy; /* where the file does not align its data */
} npy_t;

/* Open and map. On failure prints why and returns -1; nothing is left open. */
int npy_open(npy_t *npy, const char *path);
void npy_close(npy_t *npy);

/* Whether the file has `least` (1 or 2) to 2 dimensions, and whether it holds native float32 as
 * well; if not, prints why and returns -1. */
int npy_require_dims(const npy_t *npy, int least);
int npy_require_float32(const npy_t *npy, int least);

/* Whether a result of rows x cols elements may be made from a and b (or NULL): prints why not, and
 * returns a status, if it has more bytes than an object can have; or,
 * without force, more than 2^30 bytes and more than 1000 times the bytes of a and b. */
int npy_check_result(const npy_t *a, const npy_t *b, int64_t rows, int64_t cols, size_t item_size,
                     int force);

#define NPY_FORCE_HELP                                                                             \
    "      --force                make results of more than 1 GiB that have more than a\n"         \
    "                             thousand times the inputs' bytes\n"

/* Write an array in C order of 0 to 2 dimensions. data holds the product of the shape times
 * item_size bytes. On failure prints why, leaves no file behind and any older file of that name as
 * it was. Returns a status. */
int npy_write(const char *path, const char *descr, size_t item_size, int ndim, const int64_t *shape,
              const void *data);

/* A file that is being made: its elements are a mapping of it, so that they may be more than memory
 * holds; or memory, which is written at the end, where the file cannot be mapped. */
typedef struct {
    output_t output;
    void *data;
    void *map; /* or NULL */
    size_t map_bytes, data_bytes;
} npy_output_t;

/* Begin an array as npy_write makes it, with room on its file system for all elements, which are
 * zeros. 0, or -1 with a message. */
int npy_create(npy_output_t *npy, const char *path, const char *descr, size_t item_size, int ndim,
               const int64_t *shape);

/* End it. Without EXIT_OK the file is removed, and any older file of that name stays. Returns a
 * status. */
int npy_finish(npy_output_t *npy, int status);

/* The native byte order in a descr. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NPY_NATIVE "<"
#else
#define NPY_NATIVE ">"
#endif

#endif
