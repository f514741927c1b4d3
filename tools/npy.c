/* npy.c - NumPy's .npy files.
 *
 * The format: "\x93NUMPY", the version's two bytes, the header's length (two bytes in version 1.0,
 * four in 2.0 and 3.0, little-endian), the header (a Python dictionary: descr, fortran_order,
 * shape; padded with spaces, ended by a newline), the elements.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "npy.h"

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

enum { MAGIC_BYTES = 6, HEADER_ALIGNMENT = 64 };
static const unsigned char magic[MAGIC_BYTES] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

char npy_native_order(void)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, 1);
    return first ? '<' : '>';
}

/* ---- the header's dictionary ------------------------------------------------------------- */

typedef struct {
    const char *at, *end;
} scanner_t;

static void skip_space(scanner_t *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

/* Skip space and take this character, if it comes next. */
static int take(scanner_t *s, char c)
{
    skip_space(s);
    if (s->at >= s->end || *s->at != c)
        return 0;
    s->at++;
    return 1;
}

/* A string in single or double quotes. The strings of these headers have no escapes. */
static int take_string(scanner_t *s, char *text, size_t size)
{
    size_t length = 0;
    char quote;

    skip_space(s);
    if (s->at >= s->end || (*s->at != '\'' && *s->at != '"'))
        return 0;
    quote = *s->at++;
    while (s->at < s->end && *s->at != quote && *s->at != '\\' && *s->at != '\n') {
        if (length + 1 >= size)
            return 0;
        text[length++] = *s->at++;
    }
    text[length] = '\0';
    return take(s, quote);
}

static int take_word(scanner_t *s, const char *word)
{
    size_t length = strlen(word);

    skip_space(s);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0)
        return 0;
    s->at += length;
    return 1;
}

/* A size: digits, and the L that Python 2 wrote after long numbers. 1 taken, 0 none, -1 too large.
 */
static int take_size(scanner_t *s, int64_t *value)
{
    int digits = 0;

    skip_space(s);
    *value = 0;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++, digits++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *s->at - '0', value))
            return -1;
    if (digits && s->at < s->end && *s->at == 'L')
        s->at++;
    return digits > 0;
}

/* "f4" behind the byte order, or "M8[ns]". */
static int read_descr(npy_t *npy)
{
    const char *d = npy->descr;
    char *end;
    unsigned long number;

    if (!strchr("<>|=", d[0]) || !d[0])
        return command_error("%s: not an element type of NumPy: '%s'", npy->path, d);
    npy->byte_order = d[0];
    npy->kind = d[1];
    if (npy->kind == 'O')
        return command_error("%s: holds Python objects, which only Python can read", npy->path);
    if (!npy->kind || !strchr("biufcmMSUV", npy->kind) || d[2] < '0' || d[2] > '9')
        return command_error("%s: not an element type of NumPy: '%s'", npy->path, d);
    errno = 0;
    number = strtoul(d + 2, &end, 10);
    if (errno || number > INT_MAX)
        return command_error("%s: element type '%s' is too large", npy->path, d);
    if (*end) {
        size_t rest = strlen(end);
        if ((npy->kind != 'm' && npy->kind != 'M') || end[0] != '[' || end[rest - 1] != ']' ||
            strspn(end + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/") !=
                rest - 2)
            return command_error("%s: not an element type of NumPy: '%s'", npy->path, d);
    }
    npy->item_size = npy->kind == 'U' ? 4 * (size_t)number : (size_t)number;
    return 0;
}

static int read_shape(npy_t *npy, scanner_t *s)
{
    int taken, comma = 1;
    int64_t size;

    if (!take(s, '('))
        return command_error("%s: the header's shape is not a tuple", npy->path);
    while (!take(s, ')')) {
        if (!comma)
            return command_error("%s: the header's shape is malformed", npy->path);
        taken = take_size(s, &size);
        if (taken < 0)
            return command_error("%s: the shape is too large", npy->path);
        if (!taken)
            return command_error("%s: the header's shape is malformed", npy->path);
        if (npy->ndim == NPY_MAX_DIMS)
            return command_error("%s: more than %d dimensions", npy->path, NPY_MAX_DIMS);
        npy->shape[npy->ndim++] = size;
        comma = take(s, ',');
    }
    /* (3) is a number, not a tuple. */
    if (npy->ndim == 1 && !comma)
        return command_error("%s: the header's shape is not a tuple", npy->path);
    return 0;
}

/* Read { 'descr': ..., 'fortran_order': ..., 'shape': ... }: each key once, in any order. */
static int read_dictionary(npy_t *npy, scanner_t *s)
{
    enum { DESCR = 1, FORTRAN_ORDER = 2, SHAPE = 4 };
    int seen = 0, comma = 1;
    char key[32];

    if (!take(s, '{'))
        return command_error("%s: the header is not a dictionary", npy->path);
    while (!take(s, '}')) {
        int which = 0;
        if (!comma || !take_string(s, key, sizeof key) || !take(s, ':'))
            return command_error("%s: the header's dictionary is malformed", npy->path);
        if (strcmp(key, "descr") == 0)
            which = DESCR;
        else if (strcmp(key, "fortran_order") == 0)
            which = FORTRAN_ORDER;
        else if (strcmp(key, "shape") == 0)
            which = SHAPE;
        if (!which || seen & which)
            return command_error("%s: the header has the key '%s' %s", npy->path, key,
                                 which ? "twice" : "that NumPy does not know");
        seen |= which;
        skip_space(s);
        if (which == DESCR) {
            if (s->at < s->end && (*s->at == '[' || *s->at == '('))
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
    skip_space(s);
    if (s->at != s->end)
        return command_error("%s: the header goes on after its dictionary", npy->path);
    if (seen != (DESCR | FORTRAN_ORDER | SHAPE))
        return command_error("%s: the header lacks %s", npy->path,
                             !(seen & DESCR)           ? "descr"
                             : !(seen & FORTRAN_ORDER) ? "fortran_order"
                                                       : "shape");
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int read_mapped(npy_t *npy)
{
    const unsigned char *bytes = npy->map;
    size_t length, start, data_bytes, alignment;
    scanner_t scanner;

    if (npy->map_bytes < MAGIC_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0)
        return command_error("%s: not a .npy file", npy->path);
    if (npy->map_bytes < 10)
        return command_error("%s: truncated: it ends in its header", npy->path);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return command_error("%s: version %d.%d of the .npy format is not supported", npy->path,
                             bytes[6], bytes[7]);
    length = bytes[8] | (size_t)bytes[9] << 8;
    start = 10;
    if (bytes[6] > 1) {
        if (npy->map_bytes < 12)
            return command_error("%s: truncated: it ends in its header", npy->path);
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
        start = 12;
    }
    if (length > npy->map_bytes - start)
        return command_error("%s: truncated: it ends in its header", npy->path);
    scanner.at = (const char *)bytes + start;
    scanner.end = scanner.at + length;
    if (read_dictionary(npy, &scanner) != 0)
        return -1;

    start += length;
    npy->count = 1;
    data_bytes = npy->item_size;
    for (int i = 0; i < npy->ndim; i++) /* with a 0 all sizes may be large */
        if (npy->shape[i] == 0)
            npy->count = data_bytes = 0;
    for (int i = 0; npy->count && i < npy->ndim; i++)
        if (__builtin_mul_overflow(npy->count, (size_t)npy->shape[i], &npy->count) ||
            (data_bytes &&
             __builtin_mul_overflow(data_bytes, (size_t)npy->shape[i], &data_bytes)) ||
            npy->count > INT64_MAX || data_bytes > INT64_MAX)
            return command_error("%s: the shape is too large", npy->path);
    if (data_bytes > npy->map_bytes - start)
        return command_error("%s: truncated: it holds %zu of %zu bytes of elements", npy->path,
                             npy->map_bytes - start, data_bytes);
    npy->data = bytes + start;

    alignment = npy->item_size & -npy->item_size;
    if (alignment > 16)
        alignment = 16;
    if (data_bytes && (uintptr_t)npy->data % alignment != 0) {
        npy->copy = malloc(data_bytes);
        if (!npy->copy)
            return command_error("%s: no memory for %zu bytes", npy->path, data_bytes);
        memcpy(npy->copy, npy->data, data_bytes);
        npy->data = npy->copy;
    }
    return 0;
}

static int map_file(npy_t *npy)
{
    struct stat info;
    int fd = open(npy->path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return command_error("%s: %s", npy->path, strerror(errno));
    if (fstat(fd, &info) != 0) {
        command_error("%s: %s", npy->path, strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        command_error("%s: not a regular file", npy->path);
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

/* ---- signals ------------------------------------------------------------------------------ */

/* The file being written, for the handlers: removed when the command is interrupted. */
static output_t unfinished;
static volatile sig_atomic_t unfinished_exists;

static void on_signal(int number)
{
    static const char text[] = "tilemm: an input file became shorter while it was read\n";

    if (unfinished_exists)
        unlink(unfinished.temporary);
    if (number == SIGBUS) {
        ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
        (void)ignored;
        _exit(EXIT_FAILED);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGBUS};
    struct sigaction action, old;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

int npy_open(npy_t *npy, const char *path)
{
    memset(npy, 0, sizeof *npy);
    npy->path = path;
    catch_signals();
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
    npy->map = npy->copy = NULL;
    npy->data = NULL;
}

int npy_require_float32(const npy_t *npy, int least, int most)
{
    if (npy->kind != 'f' || npy->item_size != 4) {
        command_error("%s: holds elements of type '%s', must be float32", npy->path, npy->descr);
        return -1;
    }
    if (npy->byte_order != '=' && npy->byte_order != npy_native_order()) {
        command_error("%s: holds float32 in the other byte order ('%s'), must be '%cf4'; NumPy "
                      "converts it: a.astype('%cf4')",
                      npy->path, npy->descr, npy_native_order(), npy_native_order());
        return -1;
    }
    if (npy->ndim < least || npy->ndim > most) {
        if (least == most)
            command_error("%s: has %d dimension%s, must have %d", npy->path, npy->ndim,
                          npy->ndim == 1 ? "" : "s", least);
        else
            command_error("%s: has %d dimension%s, must have %d or %d", npy->path, npy->ndim,
                          npy->ndim == 1 ? "" : "s", least, most);
        return -1;
    }
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------ */

int npy_check_output(const char *path)
{
    char target[PATH_MAX], temporary[PATH_MAX];
    char *slash;

    if (output_names(path, target, temporary, PATH_MAX) != 0)
        return -1;
    slash = strrchr(temporary, '/');
    if (slash)
        slash[1] = '\0';
    if (access(slash ? temporary : ".", W_OK | X_OK) != 0) {
        command_error("%s: cannot be written: %s", path, strerror(errno));
        return -1;
    }
    return 0;
}

static int write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes) {
        size_t piece = bytes < (size_t)1 << 30 ? bytes : (size_t)1 << 30;
        ssize_t written = write(fd, at, piece);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -1;
        at += written;
        bytes -= (size_t)written;
    }
    return 0;
}

/* The header in version 1.0, as NumPy writes it. Returns its length, or 0 if it does not fit. */
static size_t make_header(unsigned char *header, size_t size, const char *descr, int ndim,
                          const int64_t *shape)
{
    char *text = (char *)header + 10;
    size_t room = size - 10, used, total;

    used =
        (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < ndim && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%lld%s", (long long)shape[i],
                                 i + 1 < ndim ? ", "
                                 : ndim == 1  ? ","
                                              : "");
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, "), }");
    total = (10 + used + 1 + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT * HEADER_ALIGNMENT;
    if (used >= room || total > size)
        return 0;
    memset(text + used, ' ', total - 10 - used);
    header[total - 1] = '\n';
    memcpy(header, magic, MAGIC_BYTES);
    header[6] = 1;
    header[7] = 0;
    header[8] = (unsigned char)((total - 10) & 0xff);
    header[9] = (unsigned char)((total - 10) >> 8);
    return total;
}

int npy_write(const char *path, const char *descr, size_t item_size, int ndim, const int64_t *shape,
              const void *data)
{
    unsigned char header[1024];
    size_t bytes = item_size, header_bytes;
    int status = EXIT_OK;

    for (int i = 0; i < ndim; i++)
        bytes *= (size_t)shape[i];
    header_bytes = make_header(header, sizeof header, descr, ndim, shape);
    if (!header_bytes)
        return command_error("%s: the header is too long", path);
    catch_signals();
    if (output_open(&unfinished, path) != 0)
        return -1;
    unfinished_exists = 1;
    if (write_all(unfinished.fd, header, header_bytes) != 0 ||
        write_all(unfinished.fd, data, bytes) != 0 || fsync(unfinished.fd) != 0)
        status = output_error(&unfinished);
    status = output_close(&unfinished, status);
    unfinished_exists = 0;
    return status == EXIT_OK ? 0 : -1;
}
