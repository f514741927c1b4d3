/* message.c - what the command says, without what a terminal would take for commands.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "message.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *command_name = "tilemm";

void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* The bytes of the printable character that a text begins with, in UTF-8; 0 if it is none. */
static int printable(const unsigned char *text)
{
    const int more = text[0] >= 0xf0 ? 3 : text[0] >= 0xe0 ? 2 : 1;
    if (text[0] < 0x80)
        return text[0] >= ' ' && text[0] != 0x7f;
    if (text[0] < 0xc2 || text[0] > 0xf4 || (text[0] == 0xc2 && text[1] < 0xa0))
        return 0;
    for (int i = 1; i <= more; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return 1 + more;
}

void append_escaped(char *text, size_t size, const char *from)
{
    for (size_t used = strlen(text); *from && used + 5 < size; used += strlen(text + used)) {
        const int length = printable((const unsigned char *)from);
        if (length)
            append(text, size, "%.*s", length, from);
        else
            append(text, size, "\\x%02x", (unsigned char)*from);
        from += length ? length : 1;
    }
}

static void print_message(const char *format, va_list arguments)
{
    char raw[PATH_MAX + 1024], text[sizeof raw + 1024] = "";
    vsnprintf(raw, sizeof raw, format, arguments);
    append_escaped(text, sizeof text, raw);
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", command_name, text);
}

int command_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

int command_usage_error(const char *verb, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try '%s%s%s --help'.\n", command_name, *verb ? " " : "", verb);
    return EXIT_USAGE;
}
