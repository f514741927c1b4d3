/* tuning.c - see tuning.h. Pure: it reads no file and asks no machine.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "tuning.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/size.h"
#include "tilemm.h"

#define FORMAT "tilemm tuning 1"

static const struct {
    const char *name;
    size_t offset;
    int64_t least, most;
} constants[] = {
#define CONSTANT(name, least, most) {#name, offsetof(tilemm__cpu_tuning_t, name), least, most},
    TILEMM__TUNING_CONSTANTS(CONSTANT)
#undef CONSTANT
};

enum { CONSTANTS = sizeof constants / sizeof *constants, DIGITS = 18, SHOWN = 40 };

static int64_t *constant_of(tilemm__cpu_tuning_t *tuning, int i)
{
    return (int64_t *)(void *)((char *)tuning + constants[i].offset);
}

tilemm__cpu_tuning_t tilemm__default_tuning(const tilemm__cpu_traits_t *traits)
{
    const int64_t l2 = (int64_t)traits->l2_bytes, l3 = (int64_t)traits->l3_bytes;
    tilemm__cpu_tuning_t tuning = {
        /* 6 to 12 us of one thread's work; to start a team takes 1 us for each doubling of it,
         * while its threads are awake. */
        .sgemm_thread_work = 1 << 19,
        .sgemm_vector_work = 1 << 18,
        /* More of a large L2 gains nothing, as its pages share its sets unevenly. */
        .sgemm_a_bytes = tilemm__min(l2 / 4 * 3, 512 << 10),
        .sgemm_parts = 8,
        .sgemm_shared_work = 1 << 26,
        .amx_percent = 100,
        /* Above 100 it pays where processors are halves of cores, which share the matrix engine and
         * L2; but then the number of threads would change the last bits of products. */
        .amx_team_percent = 100,
        .amx_thread_cycles = 16000,
        .transpose_thread_bytes = 512 << 10,
        /* Beyond this the last cache, which other cores and other virtual machines use as well, is
         * no faster than memory. */
        .transpose_far_bytes = tilemm__min(l3 / 4, 8000000),
        .transpose_block_bytes = tilemm__min(l2 / 4, 256 << 10),
        .reduce_thread_elements = 65536,
        .segments_thread_elements = 65536,
    };
    for (int i = 0; i < CONSTANTS; i++)
        *constant_of(&tuning, i) =
            tilemm__clamp((double)*constant_of(&tuning, i), constants[i].least, constants[i].most);
    return tuning;
}

/* ---- writing ------------------------------------------------------------------------------ */

__attribute__((format(printf, 3, 4))) static void put(char *text, size_t size, const char *format,
                                                      ...)
{
    const size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

static int is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

/* Append a text that may have been anything, as one line without blanks at its end. */
static void put_line(char *text, size_t size, const char *word, const char *from, size_t most)
{
    put(text, size, "%s ", word);
    size_t end = strlen(text);
    for (size_t i = 0; i < most && from[i] && end + 1 < size; i++)
        text[end++] = is_printable(from[i]) ? from[i] : '?';
    while (end > 0 && text[end - 1] == ' ')
        end--;
    text[end] = '\0';
    put(text, size, "\n");
}

void tilemm__tuning_head(const tilemm__cpu_traits_t *traits, const char *isa, int processors,
                         char *text, size_t size)
{
    *text = '\0';
    put(text, size, "version %d.%d.%d\n", TILEMM_VERSION_MAJOR, TILEMM_VERSION_MINOR,
        TILEMM_VERSION_PATCH);
    put_line(text, size, "processor", traits->name, sizeof traits->name);
    put(text, size, "instruction-set %s\ncache-sizes %zu %zu %zu\nnumber-of-processors %d\n", isa,
        traits->l1d_bytes, traits->l2_bytes, traits->l3_bytes, processors);
}

void tilemm__write_tuning(const char *head, const char *remark, const tilemm__cpu_tuning_t *tuning,
                          char text[TILEMM__TUNING_WRITTEN])
{
    enum { SIZE = TILEMM__TUNING_WRITTEN, REMARK = 800 };
    tilemm__cpu_tuning_t copy = *tuning;
    *text = '\0';
    put(text, SIZE, FORMAT "\n");
    put_line(text, SIZE, "#", remark, REMARK);
    put(text, SIZE, "%s", head);
    for (int i = 0; i < CONSTANTS; i++)
        put(text, SIZE, "%s %lld\n", constants[i].name, (long long)*constant_of(&copy, i));
}

/* ---- reading ------------------------------------------------------------------------------ */

/* A line: its first word, and what follows, without the blanks before and behind it. */
typedef struct {
    int number;
    const char *word, *rest;
    size_t word_length, rest_length;
} line_t;

/* Where a text is read. */
typedef struct {
    const char *at, *end;
    int number;
    char *why;
    size_t why_size;
} reader_t;

__attribute__((format(printf, 2, 3))) static tilemm__tuning_status_t refuse(const reader_t *reader,
                                                                            const char *format, ...)
{
    va_list list;
    *reader->why = '\0';
    put(reader->why, reader->why_size, "line %d: ", reader->number);
    const size_t used = strlen(reader->why);
    va_start(list, format);
    vsnprintf(reader->why + used, reader->why_size - used, format, list);
    va_end(list);
    return TILEMM__TUNING_BROKEN;
}

/* The next line that means something, which there is; 0 at the end. */
static int next_line(reader_t *reader, line_t *line)
{
    while (reader->at < reader->end) {
        const char *const start = reader->at;
        const char *stop = memchr(start, '\n', (size_t)(reader->end - start));
        reader->at = stop + 1;
        reader->number++;
        while (stop > start && stop[-1] == ' ')
            stop--;
        if (stop == start || *start == '#')
            continue;
        const char *const blank = memchr(start, ' ', (size_t)(stop - start));
        const char *rest = blank ? blank : stop;
        *line = (line_t){reader->number, start, NULL, (size_t)(rest - start), 0};
        while (rest < stop && *rest == ' ')
            rest++;
        line->rest = rest;
        line->rest_length = (size_t)(stop - rest);
        return 1;
    }
    return 0;
}

static int is_word(const line_t *line, const char *word, size_t length)
{
    return line->word_length == length && memcmp(line->word, word, length) == 0;
}

/* Printable characters, in lines that all have an end. */
static tilemm__tuning_status_t check_text(reader_t *reader)
{
    reader->number = 1;
    if (reader->end - reader->at > TILEMM__TUNING_BYTES)
        return refuse(reader, "the file must have at most %d bytes", (int)TILEMM__TUNING_BYTES);
    for (const char *c = reader->at; c < reader->end; c++)
        if (*c == '\n')
            reader->number++;
        else if (!is_printable(*c))
            return refuse(reader, "byte %d, must be a printable character", (unsigned char)*c);
    if (reader->at < reader->end && reader->end[-1] != '\n')
        return refuse(reader, "the end of the line is missing");
    reader->number = 0;
    return TILEMM__TUNING_READ;
}

/* The lines of the head must be there, as they are and in that order. */
static tilemm__tuning_status_t read_head(reader_t *reader, const char *head)
{
    line_t line;
    while (*head) {
        const size_t length = strcspn(head, "\n"), word = strcspn(head, " ");
        if (!next_line(reader, &line) || !is_word(&line, head, word)) {
            reader->number += reader->at == reader->end;
            return refuse(reader, "'%.*s ...' is missing", (int)word, head);
        }
        if (line.rest_length != length - word - 1 ||
            memcmp(line.rest, head + word + 1, line.rest_length) != 0) {
            snprintf(reader->why, reader->why_size, "another %.*s: %.*s", (int)word, head,
                     (int)tilemm__min((int64_t)line.rest_length, SHOWN), line.rest);
            return TILEMM__TUNING_OTHER;
        }
        head += length + 1;
    }
    return TILEMM__TUNING_READ;
}

static tilemm__tuning_status_t read_constant(const reader_t *reader, const line_t *line,
                                             tilemm__cpu_tuning_t *tuning, unsigned *seen)
{
    const int shown = (int)tilemm__min((int64_t)line->rest_length, SHOWN);
    int64_t value = 0;
    int i = 0;
    while (i < CONSTANTS && !is_word(line, constants[i].name, strlen(constants[i].name)))
        i++;
    if (i == CONSTANTS)
        return refuse(reader, "'%.*s' is no constant of this version",
                      (int)tilemm__min((int64_t)line->word_length, SHOWN), line->word);
    if (*seen & 1u << i)
        return refuse(reader, "%s is there for the second time", constants[i].name);
    *seen |= 1u << i;
    int is_number = line->rest_length > 0 && line->rest_length <= DIGITS;
    for (size_t c = 0; is_number && c < line->rest_length; c++) {
        is_number = line->rest[c] >= '0' && line->rest[c] <= '9';
        value = 10 * value + (line->rest[c] - '0');
    }
    if (!is_number || value < constants[i].least || value > constants[i].most)
        return refuse(reader, "%s = %.*s, must be a number from %lld to %lld", constants[i].name,
                      shown, line->rest, (long long)constants[i].least,
                      (long long)constants[i].most);
    *constant_of(tuning, i) = value;
    return TILEMM__TUNING_READ;
}

tilemm__tuning_status_t tilemm__read_tuning(const char *text, size_t size, const char *head,
                                            tilemm__cpu_tuning_t *tuning, char *why,
                                            size_t why_size)
{
    enum { FORMAT_LENGTH = sizeof FORMAT - 1 };
    reader_t reader = {text, text + size, 0, why, why_size};
    tilemm__cpu_tuning_t found = *tuning;
    unsigned seen = 0;
    line_t line;
    *why = '\0';
    tilemm__tuning_status_t status = check_text(&reader);
    if (status != TILEMM__TUNING_READ)
        return status;
    reader.number = 1;
    if (size <= FORMAT_LENGTH || memcmp(text, FORMAT, FORMAT_LENGTH) != 0 ||
        text[FORMAT_LENGTH] != '\n')
        return refuse(&reader, "must be '" FORMAT "'");
    reader.at += FORMAT_LENGTH + 1;
    status = read_head(&reader, head);
    while (status == TILEMM__TUNING_READ && next_line(&reader, &line))
        status = read_constant(&reader, &line, &found, &seen);
    if (status == TILEMM__TUNING_READ)
        *tuning = found;
    return status;
}
