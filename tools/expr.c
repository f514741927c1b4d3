/* expr.c - integer expressions, by recursive descent: a function climbs the levels of precedence.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "expr.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 200 }; /* of parentheses and signs */

typedef struct {
    const char *text, *at;
    const expr_variables_t *variables;
    char *message;
    size_t size;
    int failed, depth;
} parser_t;

/* Keep the first error. Returns 0, a value with which parsing goes on. */
__attribute__((format(printf, 2, 3))) static int64_t wrong(parser_t *p, const char *format, ...)
{
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (!p->failed)
        snprintf(p->message, p->size, "at character %d: %s", (int)(p->at - p->text) + 1, what);
    p->failed = 1;
    return 0;
}

static void skip_blanks(parser_t *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static int64_t parse_level(parser_t *p, int level);

static int64_t parse_number(parser_t *p)
{
    char *end;
    int base = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X') ? 16 : 10;
    errno = 0;
    long long value = strtoll(p->at, &end, base);
    if (errno)
        return wrong(p, "the number is too large");
    if (isalnum((unsigned char)*end) || *end == '_' || *end == '.')
        return wrong(p, "not a whole number");
    p->at = end;
    return value;
}

static int64_t parse_variable(parser_t *p)
{
    static const char *const names[] = {"lane", "row", "col", "i"};
    const expr_variables_t *v = p->variables;
    const int64_t values[] = {v->lane, v->row, v->col, v->i};
    int length = 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')
        length++;
    for (int i = 0; i < 4; i++)
        if ((int)strlen(names[i]) == length && strncmp(p->at, names[i], (size_t)length) == 0) {
            p->at += length;
            return values[i];
        }
    return wrong(p, "'%.*s' is no variable; there are lane, row, col and i", length, p->at);
}

/* A number, a variable or a parenthesis, each perhaps with a sign. */
static int64_t parse_operand(parser_t *p)
{
    int64_t value = 0;
    if (++p->depth > MOST_DEPTH)
        return wrong(p, "nested too deep");
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at)) {
        value = parse_number(p);
    } else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
        value = parse_variable(p);
    } else if (*p->at == '(') {
        p->at++;
        value = parse_level(p, 0);
        skip_blanks(p);
        if (*p->at != ')')
            return wrong(p, "')' is missing");
        p->at++;
    } else if (*p->at && strchr("+-~", *p->at)) {
        const char sign = *p->at++;
        value = parse_operand(p);
        if (sign == '-' && __builtin_sub_overflow((int64_t)0, value, &value))
            return wrong(p, "the value is too large");
        value = sign == '~' ? ~value : value;
    } else if (*p->at) {
        return wrong(p, "'%c' where a number, a variable or '(' must be", *p->at);
    } else {
        return wrong(p, "it ends where a number, a variable or '(' must be");
    }
    p->depth--;
    return value;
}

static int64_t apply(parser_t *p, char operation, int64_t a, int64_t b)
{
    int64_t value = 0;
    int overflows = 0;
    switch (operation) {
    case '|': return a | b;
    case '^': return a ^ b;
    case '&': return a & b;
    case '<':
    case '>':
        if (b < 0 || b > 62)
            return wrong(p, "a shift by %lld; must be 0 to 62", (long long)b);
        if (operation == '>')
            return a >> b;
        overflows = __builtin_mul_overflow(a, (int64_t)1 << b, &value);
        break;
    case '+': overflows = __builtin_add_overflow(a, b, &value); break;
    case '-': overflows = __builtin_sub_overflow(a, b, &value); break;
    case '*': overflows = __builtin_mul_overflow(a, b, &value); break;
    default: /* / and % */
        if (b == 0)
            return wrong(p, "division by zero");
        if (b == -1) /* the least number by -1 is too large */
            return operation == '/' ? apply(p, '-', 0, a) : 0;
        return operation == '/' ? a / b : a % b;
    }
    return overflows ? wrong(p, "the value is too large") : value;
}

/* The operator that comes next if it is of this level, and its length. */
static char operator_of(const parser_t *p, int level, int *length)
{
    static const char *const levels[] = {"|", "^", "&", "<>", "+-", "*/%"};
    const char c = *p->at;
    if (!c || !strchr(levels[level], c))
        return '\0';
    *length = c == '<' || c == '>' ? 2 : 1;
    return *length == 2 && p->at[1] != c ? '\0' : c;
}

/* An expression of operators of this level, from | (0) to * (5), and higher levels. */
static int64_t parse_level(parser_t *p, int level)
{
    enum { OPERANDS = 6 };
    char operation;
    int length;
    if (level == OPERANDS)
        return parse_operand(p);
    int64_t value = parse_level(p, level + 1);
    for (skip_blanks(p); !p->failed && (operation = operator_of(p, level, &length)) != '\0';
         skip_blanks(p)) {
        p->at += length;
        int64_t right = parse_level(p, level + 1);
        if (!p->failed)
            value = apply(p, operation, value, right);
    }
    return value;
}

int expr_value(const char *text, const expr_variables_t *variables, int64_t *value, char *message,
               size_t size)
{
    parser_t p = {
        .text = text, .at = text, .variables = variables, .message = message, .size = size};
    *value = parse_level(&p, 0);
    if (!p.failed && *p.at)
        wrong(&p, "'%s' is left over", p.at);
    return p.failed ? -1 : 0;
}
