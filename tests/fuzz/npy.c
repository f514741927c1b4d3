/* npy.c - fuzz target: the reader of .npy files. A file is taken, with sizes that fit it, and comes
 * back as it is written again; or it is refused, in one line without control characters.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "tools/npy.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "tools/command.h"

static char *messages;
static size_t messages_size;

/* The file that is read, and the one that is written. */
static char input[64], output[64];
static int input_fd;

static void begin(void)
{
    input_fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(input_fd >= 0, "memfd_create");
    snprintf(input, sizeof input, "/proc/self/fd/%d", input_fd);
    snprintf(output, sizeof output, "%s/tilemm-fuzz-%ld.npy",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    stderr = open_memstream(&messages, &messages_size);
    FUZZ_CHECK(stderr, "open_memstream");
}

/* As many lines as this are in the messages, which are forgotten. */
static void check_messages(int lines)
{
    fflush(stderr);
    for (size_t i = 0; i < messages_size; i++)
        if (messages[i] == '\n')
            lines--;
        else
            FUZZ_CHECK((unsigned char)messages[i] >= ' ' && messages[i] != 0x7f,
                       "a control character in a message");
    FUZZ_CHECK(lines == 0, "%d messages are missing", lines);
    rewind(stderr);
}

static void check_sizes(const npy_t *npy)
{
    const uintptr_t map = (uintptr_t)npy->map, data = (uintptr_t)npy->data;
    const size_t bytes = npy->count * npy->item_size;
    size_t count = 1;
    for (int i = 0; i < npy->ndim; i++) {
        FUZZ_CHECK(npy->shape[i] >= 0, "a negative size");
        count *= (size_t)npy->shape[i];
    }
    FUZZ_CHECK(npy->ndim <= NPY_MAX_DIMS && count == npy->count, "%zu elements", npy->count);
    FUZZ_CHECK(npy->copy || (data >= map && data - map <= npy->map_bytes &&
                             bytes <= npy->map_bytes - (data - map)),
               "%zu bytes are not in the file", bytes);
    for (size_t i = 0; i < bytes; i++) /* can be read */
        count += ((const unsigned char *)npy->data)[i];
    __asm__ volatile("" : : "r"(count));
}

static void check_written(const npy_t *npy)
{
    npy_t again;
    FUZZ_CHECK(npy_write(output, npy->descr, npy->item_size, npy->ndim, npy->shape, npy->data) == 0,
               "cannot be written");
    FUZZ_CHECK(npy_open(&again, output) == 0, "what was written is refused");
    FUZZ_CHECK(strcmp(again.descr, npy->descr) == 0 && again.ndim == npy->ndim &&
                   memcmp(again.shape, npy->shape, sizeof again.shape) == 0 &&
                   !again.fortran_order &&
                   memcmp(again.data, npy->data, npy->count * npy->item_size) == 0,
               "what was written differs");
    npy_close(&again);
    unlink(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npy_t npy;
    if (!*input)
        begin();
    if (ftruncate(input_fd, 0) != 0 || pwrite(input_fd, data, size, 0) != (ssize_t)size)
        abort();
    const int refused = npy_open(&npy, input) != 0;
    check_messages(refused);
    if (refused) {
        FUZZ_CHECK(!npy.map && !npy.copy && !npy.data, "a file that is refused is open");
        return 0;
    }
    check_sizes(&npy);
    check_messages(npy_require_float32(&npy, 1) != 0);
    if (npy.ndim <= 2) {
        const int64_t rows = npy.ndim > 0 ? npy.shape[0] : 1,
                      cols = npy.ndim > 1 ? npy.shape[1] : 1;
        check_messages(npy_check_result(&npy, NULL, rows, cols, 4, 0) != 0);
        check_written(&npy);
    }
    npy_close(&npy);
    return 0;
}
