/* npy.c - NumPy's .npy files.
 *
 * The format: "\x93NUMPY", the version's two bytes, the header's length (two bytes in version 1.0,
 * four in 2.0 and 3.0, little-endian), the header (a Python dictionary: descr, fortran_order,
 * shape; padded with spaces, ended by a newline), the elements.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "npy.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "input.h"
#include "lib/size.h"

static const char magic[] = "\x93NUMPY";

typedef struct {
    const char *at, *end;
} scanner_t;

/* Skip space. Returns the character that comes next, or '\0' at the end. */
static char peek(scanner_t *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

/* Take this character, if it comes next. */
static int take(scanner_t *s, char c)
{
    if (peek(s) != c)
        return 0;
    s->at++;
    return 1;
}

/* A string in single or double quotes. The strings of these headers have no escapes, and no NUL. */
static int take_string(scanner_t *s, char *text, size_t size)
{
    const char quote = peek(s);
    size_t length = 0;
    if (quote != '\'' && quote != '"')
        return 0;
    for (s->at++; s->at < s->end && *s->at != quote && !strchr("\\\n", *s->at); s->at++) {
        if (length + 1 >= size)
            return 0;
        text[length++] = *s->at;
    }
    text[length] = '\0';
    return take(s, quote);
}

static int take_word(scanner_t *s, const char *word)
{
    const size_t length = strlen(word);
    peek(s);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0)
        return 0;
    s->at += length;
    return 1;
}

/* A size: digits, and the L that Python 2 wrote after long numbers. 1: taken; 0: none; -1: too
 * large. */
static int take_size(scanner_t *s, int64_t *value)
{
    int digits = 0;
    peek(s);
    *value = 0;
    for (; s->at < s->end && isdigit((unsigned char)*s->at); s->at++, digits++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *s->at - '0', value))
            return -1;
    if (digits && s->at < s->end && *s->at == 'L')
        s->at++;
    return digits > 0;
}

/* "<f4", or ">M8[ns]". */
static int read_descr(npy_t *npy)
{
    static const char unit[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/";
    const char *d = npy->descr;
    const int has_order = d[0] && strchr("<>|=", d[0]);
    char *end;
    if (has_order && d[1] == 'O')
        return command_error("%s: holds Python objects, which only Python can read", npy->path);
    if (!has_order || !d[1] || !strchr("biufcmMSUV", d[1]) || !isdigit((unsigned char)d[2]))
        return command_error("%s: not an element type of NumPy: '%s'", npy->path, d);
    errno = 0;
    const unsigned long number = strtoul(d + 2, &end, 10);
    const size_t rest = strlen(end);
    if (errno || number > INT_MAX)
        return command_error("%s: element type '%s' is too large", npy->path, d);
    if (rest && ((d[1] != 'm' && d[1] != 'M') || end[0] != '[' || end[rest - 1] != ']' ||
                 strspn(end + 1, unit) != rest - 2))
        return command_error("%s: not an element type of NumPy: '%s'", npy->path, d);
    npy->item_size = d[1] == 'U' ? 4 * (size_t)number : (size_t)number;
    return 0;
}

static int read_shape(npy_t *npy, scanner_t *s)
{
    int comma = 1;
    if (!take(s, '('))
        return command_error("%s: the header's shape is not a tuple", npy->path);
    while (!take(s, ')')) {
        int64_t size;
        const int taken = comma ? take_size(s, &size) : 0;
        if (taken < 0)
            return command_error("%s: the shape is too large", npy->path);
        if (!taken)
            return command_error("%s: the header's shape is malformed", npy->path);
        if (npy->ndim == NPY_MAX_DIMS)
            return command_error("%s: more than %d dimensions", npy->path, NPY_MAX_DIMS);
        npy->shape[npy->ndim++] = size;
        comma = take(s, ',');
    }
    if (npy->ndim == 1 && !comma) /* (3) is a number */
        return command_error("%s: the header's shape is not a tuple", npy->path);
    return 0;
}

/* Read { 'descr': ..., 'fortran_order': ..., 'shape': ... }: each key once, in any order. */
static int read_dictionary(npy_t *npy, scanner_t *s)
{
    enum { DESCR, FORTRAN_ORDER, SHAPE, KEYS };
    static const char *const keys[KEYS] = {"descr", "fortran_order", "shape"};
    int seen[KEYS] = {0}, comma = 1;
    char key[32];
    if (!take(s, '{'))
        return command_error("%s: the header is not a dictionary", npy->path);
    while (!take(s, '}')) {
        int which = 0;
        if (!comma || !take_string(s, key, sizeof key) || !take(s, ':'))
            return command_error("%s: the header's dictionary is malformed", npy->path);
        while (which < KEYS && strcmp(key, keys[which]) != 0)
            which++;
        if (which == KEYS || seen[which]++)
            return command_error("%s: the header has the key '%s' %s", npy->path, key,
                                 which < KEYS ? "twice" : "that NumPy does not know");
        if (which == DESCR) {
            if (peek(s) == '[' || peek(s) == '(')
                return command_error("%s: structured elements are not supported", npy->path);
            if (!take_string(s, npy->descr, sizeof npy->descr))
                return command_error("%s: the header's descr is malformed", npy->path);
            if (read_descr(npy) != 0)
                return -1;
        } else if (which == FORTRAN_ORDER) {
            npy->fortran_order = take_word(s, "True");
            if (!npy->fortran_order && !take_word(s, "False"))
                return command_error("%s: the header's fortran_order is neither True nor False",
                                     npy->path);
        } else if (read_shape(npy, s) != 0) {
            return -1;
        }
        comma = take(s, ',');
    }
    peek(s);
    if (s->at != s->end)
        return command_error("%s: the header goes on after its dictionary", npy->path);
    for (int i = 0; i < KEYS; i++)
        if (!seen[i])
            return command_error("%s: the header lacks %s", npy->path, keys[i]);
    return 0;
}

static int read_mapped(npy_t *npy)
{
    const unsigned char *bytes = npy->map;
    const size_t size = npy->map_bytes;
    size_t length = 0, start = 10, data_bytes;
    if (size < strlen(magic) || memcmp(bytes, magic, strlen(magic)) != 0)
        return command_error("%s: not a .npy file", npy->path);
    if (size >= start && (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0))
        return command_error("%s: version %d.%d of the .npy format is not supported", npy->path,
                             bytes[6], bytes[7]);
    if (size >= start && bytes[6] > 1)
        start = 12;
    for (size_t i = 8; size >= start && i < start; i++)
        length |= (size_t)bytes[i] << 8 * (i - 8);
    if (size < start || length > size - start)
        return command_error("%s: truncated: it ends in its header", npy->path);
    scanner_t scanner = {(const char *)bytes + start, (const char *)bytes + start + length};
    if (read_dictionary(npy, &scanner) != 0)
        return -1;

    start += length;
    data_bytes = npy->item_size ? npy->item_size : 1;
    npy->count = 1;
    for (int i = 0; i < npy->ndim; i++) { /* beside a 0 sizes must fit too, as in NumPy */
        if (npy->shape[i] &&
            (__builtin_mul_overflow(data_bytes, (size_t)npy->shape[i], &data_bytes) ||
             data_bytes > INT64_MAX))
            return command_error("%s: the shape is too large", npy->path);
        npy->count *= (size_t)npy->shape[i];
    }
    data_bytes = npy->count * npy->item_size;
    if (data_bytes > size - start)
        return command_error("%s: truncated: it holds %zu of %zu bytes of elements", npy->path,
                             size - start, data_bytes);
    npy->data = bytes + start;

    size_t alignment = npy->item_size & -npy->item_size;
    if (alignment > 16)
        alignment = 16;
    if (data_bytes && (uintptr_t)npy->data % alignment != 0) {
        npy->copy = malloc(data_bytes);
        if (!npy->copy)
            return command_error("%s: no memory for %zu bytes", npy->path, data_bytes);
        npy->data = memcpy(npy->copy, npy->data, data_bytes);
    }
    return 0;
}

static int map_file(npy_t *npy)
{
    struct stat info;
    const int fd = input_open(npy->path, 0);
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) != 0) {
        command_error("%s: %s", npy->path, strerror(errno));
    } else if (info.st_size == 0) {
        command_error("%s: not a .npy file: it is empty", npy->path);
    } else {
        npy->map_bytes = (size_t)info.st_size;
        npy->map = mmap(NULL, npy->map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (npy->map == MAP_FAILED) {
            npy->map = NULL;
            command_error("%s: cannot be mapped: %s", npy->path, strerror(errno));
        }
    }
    close(fd);
    return npy->map ? 0 : -1;
}

static void on_bus_error(int number)
{
    static const char text[] = "tilemm: an input file became shorter while it was read, or "
                               "there is no room for the result\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    (void)number;
    output_abandon();
    _exit(EXIT_FAILED);
}

int npy_open(npy_t *npy, const char *path)
{
    *npy = (npy_t){.path = path};
    signal(SIGBUS, on_bus_error);
    if (map_file(npy) == 0 && read_mapped(npy) == 0)
        return 0;
    npy_close(npy);
    return -1;
}

void npy_close(npy_t *npy)
{
    if (npy->map)
        munmap(npy->map, npy->map_bytes);
    free(npy->copy);
    *npy = (npy_t){0};
}

int npy_check_result(const npy_t *a, const npy_t *b, int64_t rows, int64_t cols, size_t item_size,
                     int force)
{
    const size_t input = a->map_bytes + (b ? b->map_bytes : 0);
    size_t bytes;
    if (__builtin_mul_overflow((size_t)rows, (size_t)cols, &bytes) ||
        __builtin_mul_overflow(bytes, item_size, &bytes) || bytes > PTRDIFF_MAX)
        return command_error("a result of %lld x %lld is too large", (long long)rows,
                             (long long)cols);
    if (force || bytes <= (size_t)1 << 30 || bytes / 1000 <= input)
        return 0;
    return command_error("a result of %lld x %lld is %zu bytes, of %zu bytes of input: --force "
                         "makes it all the same",
                         (long long)rows, (long long)cols, bytes, input);
}

int npy_require_dims(const npy_t *npy, int least)
{
    if (npy->ndim >= least && npy->ndim <= 2)
        return 0;
    return -command_error("%s: has %d dimension%s, must have %s", npy->path, npy->ndim,
                          npy->ndim == 1 ? "" : "s", least == 2 ? "2" : "1 or 2");
}

int npy_require_float32(const npy_t *npy, int least)
{
    if (npy->descr[1] != 'f' || npy->item_size != 4)
        return -command_error("%s: holds elements of type '%s', must be float32", npy->path,
                              npy->descr);
    if (npy->descr[0] != '=' && npy->descr[0] != NPY_NATIVE[0])
        return -command_error(
            "%s: holds float32 in the other byte order ('%s'), must be '" NPY_NATIVE
            "f4'; NumPy converts it: a.astype('" NPY_NATIVE "f4')",
            npy->path, npy->descr);
    return npy_require_dims(npy, least);
}

/* The header in version 1.0, as NumPy writes it: its length is a multiple of 64. */
static void write_header(FILE *file, const char *descr, int ndim, const int64_t *shape)
{
    char text[256] = "";
    append(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < ndim; i++)
        append(text, sizeof text, "%lld%s", (long long)shape[i],
               i + 1 < ndim ? ", "
               : ndim == 1  ? ","
                            : "");
    append(text, sizeof text, "), }");
    const int length = (int)tilemm__round_up(10 + (int64_t)strlen(text) + 1, 64) - 10;
    fprintf(file, "%s%c%c%c%c%-*s\n", magic, 1, 0, length & 0xff, length >> 8, length - 1, text);
}

static size_t bytes_of(size_t item_size, int ndim, const int64_t *shape)
{
    size_t bytes = item_size;
    for (int i = 0; i < ndim; i++)
        bytes *= (size_t)shape[i];
    return bytes;
}

/* Map the file, whose header is written, with room for its elements. An errno value; 0 without a
 * map where the file system cannot. */
static int map_output(npy_output_t *npy)
{
    FILE *const file = npy->output.file;
    const int fd = fileno(file);
    long header;
    if (fflush(file) != 0 || (header = ftell(file)) < 0)
        return errno;
    npy->map_bytes = (size_t)header + npy->data_bytes;
    /* A write to a mapping that finds the file system full would be a signal. */
    const int error = posix_fallocate(fd, 0, (off_t)npy->map_bytes);
    if (error && error != EINVAL && error != EOPNOTSUPP && error != ENODEV)
        return error;
    void *map =
        error ? MAP_FAILED : mmap(NULL, npy->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    npy->map = map == MAP_FAILED ? NULL : map;
    npy->data = map == MAP_FAILED ? NULL : (char *)map + header;
    return 0;
}

int npy_create(npy_output_t *npy, const char *path, const char *descr, size_t item_size, int ndim,
               const int64_t *shape)
{
    *npy = (npy_output_t){.data_bytes = bytes_of(item_size, ndim, shape)};
    if (output_open(&npy->output, path) != 0)
        return -1;
    write_header(npy->output.file, descr, ndim, shape);
    signal(SIGBUS, on_bus_error);
    const int error = npy->data_bytes ? map_output(npy) : 0;
    if (error) {
        command_error("%s: cannot be written: %s", path, strerror(error));
    } else {
        if (!npy->map)
            npy->data = calloc(npy->data_bytes ? npy->data_bytes : 1, 1);
        if (npy->data)
            return 0;
        command_error("no memory for a result of %zu bytes", npy->data_bytes);
    }
    npy_finish(npy, EXIT_FAILED);
    return -1;
}

int npy_finish(npy_output_t *npy, int status)
{
    if (npy->map) {
        if (status == EXIT_OK && msync(npy->map, npy->map_bytes, MS_SYNC) != 0)
            status = command_error("%s: cannot be written: %s", npy->output.path, strerror(errno));
        munmap(npy->map, npy->map_bytes);
    } else {
        if (status == EXIT_OK)
            fwrite(npy->data, 1, npy->data_bytes, npy->output.file);
        free(npy->data);
    }
    return output_close(&npy->output, status);
}

int npy_write(const char *path, const char *descr, size_t item_size, int ndim, const int64_t *shape,
              const void *data)
{
    output_t output;
    if (output_open(&output, path) != 0)
        return EXIT_FAILED;
    write_header(output.file, descr, ndim, shape);
    fwrite(data, 1, bytes_of(item_size, ndim, shape), output.file);
    return output_close(&output, EXIT_OK);
}
