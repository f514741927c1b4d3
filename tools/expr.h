/* expr.h - integer expressions of an access's lane, row, column and step.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifndef TILEMM_TOOLS_EXPR_H
#define TILEMM_TOOLS_EXPR_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t lane, row, col, i;
} expr_variables_t;

/* The value of an expression with C's operators + - * / % << >> & ^ | ~ and parentheses, C's
 * precedence, decimal and 0x numbers, and the variables above. 0; or -1 with what is wrong, and
 * where, in message. */
int expr_value(const char *text, const expr_variables_t *variables, int64_t *value, char *message,
               size_t size);

#endif
