/* errors.c - wrong arguments are reported as the reference BLAS does: through xerbla_ and
 * cblas_xerbla, which a program may define itself.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "blas.h"

typedef void (*xerbla_t)(const char *routine, const void *number, size_t length);
typedef void (*cblas_xerbla_t)(int number, const char *routine, const char *format, ...);
typedef void (*cblas_xerbla_64_t)(int64_t number, const char *routine, const char *format, ...);

/* So that the linker exports those of a program that is linked with this library. The flags are
 * the reference's: the first says that a call came through CBLAS, the second that it was row-major,
 * so that cblas_xerbla exchanges numbers back. */
extern __attribute__((weak)) char xerbla_, xerbla_64_, xerbla_64, scipy_xerbla_, scipy_xerbla_64_,
    cblas_xerbla, cblas_xerbla64_, cblas_xerbla_64, scipy_cblas_xerbla, scipy_cblas_xerbla64_,
    CBLAS_CallFromC, RowMajorStrg;
const void *const tilemm__blas_symbols[] = {&xerbla_,
                                            &xerbla_64_,
                                            &xerbla_64,
                                            &scipy_xerbla_,
                                            &scipy_xerbla_64_,
                                            &cblas_xerbla,
                                            &cblas_xerbla64_,
                                            &cblas_xerbla_64,
                                            &scipy_cblas_xerbla,
                                            &scipy_cblas_xerbla64_,
                                            &CBLAS_CallFromC,
                                            &RowMajorStrg};

static void set_flag(const char *name, const void *caller, int value)
{
    int *flag = tilemm__blas_find(name, caller);
    if (flag)
        *flag = value;
}

static void set_flags(const void *caller, int from_c, int row_major)
{
    set_flag("CBLAS_CallFromC", caller, from_c);
    set_flag("RowMajorStrg", caller, row_major);
}

/* The number as the caller counts, which a handler finds through RowMajorStrg. */
static int unexchanged(int number)
{
    static const int by_rows[] = {[4] = 5, [5] = 4, [9] = 11, [11] = 9};
    return number <= 11 && by_rows[number] ? by_rows[number] : number;
}

static void call_xerbla(const tilemm__blas_entry_t *entry, void *handler, const char *routine,
                        int number)
{
    const int32_t narrow = number;
    const int64_t wide = number;
    xerbla_t xerbla;
    *(void **)&xerbla = handler;
    xerbla(routine, entry->wide ? (const void *)&wide : &narrow, strlen(routine));
}

static void call_cblas_xerbla(const tilemm__blas_entry_t *entry, void *handler, int number,
                              const char *routine, const char *format, int value)
{
    cblas_xerbla_t xerbla;
    cblas_xerbla_64_t xerbla_64;
    *(void **)&xerbla = *(void **)&xerbla_64 = handler;
    if (entry->wide)
        xerbla_64(number, routine, format, value);
    else
        xerbla(number, routine, format, value);
}

/* The reference calls xerbla_, and its own xerbla_ calls cblas_xerbla when CBLAS was called. Other
 * BLAS's do not: a cblas_xerbla that is not of the BLAS behind, as xerbla_ is, is the program's. */
void tilemm__blas_refuse(const tilemm__blas_entry_t *entry, const void *caller,
                         tilemm_layout_t layout, const char *routine, int number)
{
    char name[32] = "cblas_";
    void *xerbla = tilemm__blas_find(entry->family->xerbla, caller);
    void *cblas_xerbla_of = layout ? tilemm__blas_find(entry->family->cblas_xerbla, caller) : NULL;
    for (size_t i = 0; routine[i] && routine[i] != ' '; i++)
        name[6 + i] = (char)tolower((unsigned char)routine[i]);
    set_flags(caller, layout != 0, layout == TILEMM_ROW_MAJOR);
    if (cblas_xerbla_of && (!xerbla || (tilemm__blas_same_object(xerbla, entry->behind) &&
                                        !tilemm__blas_same_object(cblas_xerbla_of, entry->behind))))
        call_cblas_xerbla(entry, cblas_xerbla_of, number + 1, name, "", 0);
    else if (xerbla)
        call_xerbla(entry, xerbla, routine, number);
    else if (layout)
        fprintf(stderr, "Parameter %d to routine %s was incorrect\n",
                layout == TILEMM_ROW_MAJOR ? unexchanged(number + 1) : number + 1, name);
    else
        fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", routine,
                number);
    set_flags(caller, 0, 0);
}

void tilemm__blas_refuse_c(const tilemm__blas_entry_t *entry, const void *caller,
                           tilemm_layout_t layout, const char *routine, int number,
                           const char *setting, int value)
{
    char format[48] = "";
    void *cblas_xerbla_of = tilemm__blas_find(entry->family->cblas_xerbla, caller);
    const int exchanges = setting && number > 1 && strcmp(routine, "cblas_sgemm") == 0;
    if (setting)
        snprintf(format, sizeof format, "Illegal %s setting, %%d\n", setting);
    set_flags(caller, 1, exchanges && layout == TILEMM_ROW_MAJOR);
    if (cblas_xerbla_of)
        call_cblas_xerbla(entry, cblas_xerbla_of, number, routine, format, value);
    else {
        fprintf(stderr, "Parameter %d to routine %s was incorrect\n", number, routine);
        if (setting)
            fprintf(stderr, "Illegal %s setting, %d\n", setting, value);
    }
    set_flags(caller, 0, 0);
}
