/* entries.c - the routines of the BLAS: each checks its arguments as the reference does, does what
 * needs no work, and passes the rest on.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>

#include "entries.h"

typedef tilemm__blas_entry_t entry_t;
typedef tilemm__blas_call_t call_t;

static const tilemm__blas_family_t plain = {"xerbla_", "cblas_xerbla", 1, 0},
                                   suffix_64 = {"xerbla_64_", "cblas_xerbla64_", 0, 1},
                                   mkl_64 = {"xerbla_64", "cblas_xerbla_64", 0, 1},
                                   scipy = {"scipy_xerbla_", "scipy_cblas_xerbla", 0, 0},
                                   scipy_64 = {"scipy_xerbla_64_", "scipy_cblas_xerbla64_", 0, 1};

/* An integer of either width, as Fortran passes it. */
typedef union {
    int32_t narrow;
    int64_t wide;
} integer_t;

static int64_t get(const entry_t *entry, const void *integer)
{
    return entry->wide ? *(const int64_t *)integer : *(const int32_t *)integer;
}

static integer_t put(const entry_t *entry, int64_t value)
{
    integer_t integer;
    if (entry->wide)
        integer.wide = value;
    else
        integer.narrow = (int32_t)value;
    return integer;
}

/* The value of an integer that was passed by value. */
static int64_t passed(const entry_t *entry, int64_t slot)
{
    return entry->wide ? slot : (int32_t)slot;
}

static void prepare(entry_t *entry, const void *caller)
{
    if (!entry->prepared)
        tilemm__blas_find_behind(entry, caller);
}

/* ------------------------------------------------------------------------------------------
 * Products
 * ------------------------------------------------------------------------------------------ */

/* The number in sgemm_ of the first wrong argument of a column-major product, from m on. */
static int wrong_size(const call_t *p)
{
    const int64_t a_rows = p->transa == TILEMM_NO_TRANS ? p->m : p->k;
    const int64_t b_rows = p->transb == TILEMM_NO_TRANS ? p->k : p->n;
    const int64_t value[] = {p->m, p->n, p->k, p->lda, p->ldb, p->ldc};
    const int64_t least[] = {0, 0, 0, a_rows, b_rows, p->m};
    static const int number[] = {3, 4, 5, 8, 10, 13};
    for (int i = 0; i < 6; i++)
        if (value[i] < (i >= 3 && least[i] < 1 ? 1 : least[i]))
            return number[i];
    return 0;
}

/* A row-major product as the column-major one of the transposes. */
static call_t exchange(const call_t *p)
{
    call_t call = *p;
    call.transa = p->transb, call.transb = p->transa;
    call.m = p->n, call.n = p->m;
    call.lda = p->ldb, call.ldb = p->lda;
    return call;
}

static void run_product(entry_t *entry, call_t *call, const void *caller)
{
    if (call->m == 0 || call->n == 0 || call->batch <= 0 ||
        ((call->alpha == 0.0f || call->k == 0) && call->beta == 1.0f))
        tilemm__blas_count_none(call->kind);
    else
        tilemm__blas_run(entry, call, caller);
}

/* 'C' is a transpose too. Returns 0 for another letter. */
static tilemm_op_t op_of_letter(const char *letter)
{
    const int c = toupper((unsigned char)*letter);
    return c == 'N' ? TILEMM_NO_TRANS : c == 'T' || c == 'C' ? TILEMM_TRANS : (tilemm_op_t)0;
}

static char letter_of(tilemm_op_t op)
{
    return op == TILEMM_NO_TRANS ? 'N' : 'T';
}

static void sgemm_fortran(entry_t *entry, const void *caller, const char *transa,
                          const char *transb, const void *m, const void *n, const void *k,
                          const float *alpha, const float *a, const void *lda, const float *b,
                          const void *ldb, const float *beta, float *c, const void *ldc)
{
    prepare(entry, caller);
    call_t call = {.kind = SGEMM,
                   .layout = TILEMM_COL_MAJOR,
                   .transa = op_of_letter(transa),
                   .transb = op_of_letter(transb),
                   .m = get(entry, m),
                   .n = get(entry, n),
                   .k = get(entry, k),
                   .alpha = *alpha,
                   .a = a,
                   .lda = get(entry, lda),
                   .b = b,
                   .ldb = get(entry, ldb),
                   .beta = *beta,
                   .c = c,
                   .ldc = get(entry, ldc),
                   .batch = 1};
    const int wrong = !call.transa ? 1 : !call.transb ? 2 : wrong_size(&call);
    if (wrong)
        tilemm__blas_refuse(entry, caller, (tilemm_layout_t)0, "SGEMM ", wrong);
    else
        run_product(entry, &call, caller);
}

static void sgemm_fortran_behind(const entry_t *entry, call_t *p)
{
    const char transa = letter_of(p->transa), transb = letter_of(p->transb);
    const integer_t m = put(entry, p->m), n = put(entry, p->n), k = put(entry, p->k);
    const integer_t lda = put(entry, p->lda), ldb = put(entry, p->ldb), ldc = put(entry, p->ldc);
    void (*behind)(const char *, const char *, const void *, const void *, const void *,
                   const float *, const float *, const void *, const float *, const void *,
                   const float *, float *, const void *, size_t, size_t);
    *(void **)&behind = entry->behind;
    behind(&transa, &transb, &m, &n, &k, &p->alpha, p->a, &lda, p->b, &ldb, &p->beta, p->c, &ldc, 1,
           1);
}

#define FORTRAN_SGEMM(name, set, slot)                                                             \
    void name(const char *transa, const char *transb, const void *m, const void *n, const void *k, \
              const float *alpha, const float *a, const void *lda, const float *b,                 \
              const void *ldb, const float *beta, float *c, const void *ldc);                      \
    void name(const char *transa, const char *transb, const void *m, const void *n, const void *k, \
              const float *alpha, const float *a, const void *lda, const float *b,                 \
              const void *ldb, const float *beta, float *c, const void *ldc)                       \
    {                                                                                              \
        static entry_t entry = {                                                                   \
            .symbol = #name, .family = &set, .call_behind = sgemm_fortran_behind};                 \
        sgemm_fortran(&entry, __builtin_return_address(0), transa, transb, m, n, k, alpha, a, lda, \
                      b, ldb, beta, c, ldc);                                                       \
    }
TILEMM__BLAS_FORTRAN(FORTRAN_SGEMM, sgemm)

/* Of CBLAS's enumerators: NoTrans, Trans and ConjTrans. Returns 0 for another. */
static tilemm_op_t op_of(int trans)
{
    return trans == 111                   ? TILEMM_NO_TRANS
           : trans == 112 || trans == 113 ? TILEMM_TRANS
                                          : (tilemm_op_t)0;
}

/* The number in cblas_sgemm_batch_strided of argument `number` of the column-major product. */
static int number_in_batch(tilemm_layout_t layout, int number)
{
    static const signed char by_columns[] = {[3] = 4, [4] = 5, [5] = 6, [8] = 9, [10] = 12};
    static const signed char by_rows[] = {[3] = 5, [4] = 4, [5] = 6, [8] = 12, [10] = 9};
    if (number == 13)
        return 16;
    return layout == TILEMM_ROW_MAJOR ? by_rows[number] : by_columns[number];
}

/* transa and transb are as passed, and so is call->layout. */
static void sgemm_c(entry_t *entry, const void *caller, const char *routine, int transa, int transb,
                    call_t *call)
{
    const tilemm_layout_t layout = call->layout;
    call->transa = op_of(transa);
    call->transb = op_of(transb);
    if (layout != TILEMM_ROW_MAJOR && layout != TILEMM_COL_MAJOR)
        tilemm__blas_refuse_c(entry, caller, layout, routine, 1, "layout", (int)layout);
    else if (!call->transa)
        tilemm__blas_refuse_c(entry, caller, layout, routine, 2, "TransA", transa);
    else if (!call->transb)
        tilemm__blas_refuse_c(entry, caller, layout, routine, 3, "TransB", transb);
    else {
        const call_t by_columns = layout == TILEMM_ROW_MAJOR ? exchange(call) : *call;
        const int wrong = wrong_size(&by_columns);
        if (wrong && call->kind == SGEMM)
            tilemm__blas_refuse(entry, caller, layout, "SGEMM ", wrong);
        else if (wrong)
            tilemm__blas_refuse_c(entry, caller, layout, routine, number_in_batch(layout, wrong),
                                  NULL, 0);
        else if (call->batch < 0)
            tilemm__blas_refuse_c(entry, caller, layout, routine, 18, NULL, 0);
        else
            run_product(entry, call, caller);
    }
}

#define C_SGEMM(name, set, slot)                                                                   \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        void (*behind)(int, int, int, slot, slot, slot, float, const float *, slot, const float *, \
                       slot, float, float *, slot);                                                \
        *(void **)&behind = entry->behind;                                                         \
        behind((int)p->layout, (int)p->transa, (int)p->transb, (slot)p->m, (slot)p->n, (slot)p->k, \
               p->alpha, p->a, (slot)p->lda, p->b, (slot)p->ldb, p->beta, p->c, (slot)p->ldc);     \
    }                                                                                              \
    void name(int layout, int transa, int transb, slot m, slot n, slot k, float alpha,             \
              const float *a, slot lda, const float *b, slot ldb, float beta, float *c, slot ldc); \
    void name(int layout, int transa, int transb, slot m, slot n, slot k, float alpha,             \
              const float *a, slot lda, const float *b, slot ldb, float beta, float *c, slot ldc)  \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = {.kind = SGEMM,                                                              \
                       .layout = (tilemm_layout_t)layout,                                          \
                       .m = passed(&entry, m),                                                     \
                       .n = passed(&entry, n),                                                     \
                       .k = passed(&entry, k),                                                     \
                       .alpha = alpha,                                                             \
                       .a = a,                                                                     \
                       .lda = passed(&entry, lda),                                                 \
                       .b = b,                                                                     \
                       .ldb = passed(&entry, ldb),                                                 \
                       .beta = beta,                                                               \
                       .c = c,                                                                     \
                       .ldc = passed(&entry, ldc),                                                 \
                       .batch = 1};                                                                \
        sgemm_c(&entry, caller, "cblas_sgemm", transa, transb, &call);                             \
    }
TILEMM__BLAS_C(C_SGEMM, cblas_sgemm)

#define C_SGEMM_BATCH(name, set, slot)                                                             \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        void (*behind)(int, int, int, slot, slot, slot, float, const float *, slot, slot,          \
                       const float *, slot, slot, float, float *, slot, slot, slot);               \
        *(void **)&behind = entry->behind;                                                         \
        behind((int)p->layout, (int)p->transa, (int)p->transb, (slot)p->m, (slot)p->n, (slot)p->k, \
               p->alpha, p->a, (slot)p->lda, (slot)p->stride_a, p->b, (slot)p->ldb,                \
               (slot)p->stride_b, p->beta, p->c, (slot)p->ldc, (slot)p->stride_c, (slot)p->batch); \
    }                                                                                              \
    void name(int layout, int transa, int transb, slot m, slot n, slot k, float alpha,             \
              const float *a, slot lda, slot stride_a, const float *b, slot ldb, slot stride_b,    \
              float beta, float *c, slot ldc, slot stride_c, slot batch);                          \
    void name(int layout, int transa, int transb, slot m, slot n, slot k, float alpha,             \
              const float *a, slot lda, slot stride_a, const float *b, slot ldb, slot stride_b,    \
              float beta, float *c, slot ldc, slot stride_c, slot batch)                           \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = {.kind = SGEMM_BATCH,                                                        \
                       .layout = (tilemm_layout_t)layout,                                          \
                       .m = passed(&entry, m),                                                     \
                       .n = passed(&entry, n),                                                     \
                       .k = passed(&entry, k),                                                     \
                       .alpha = alpha,                                                             \
                       .a = a,                                                                     \
                       .lda = passed(&entry, lda),                                                 \
                       .stride_a = passed(&entry, stride_a),                                       \
                       .b = b,                                                                     \
                       .ldb = passed(&entry, ldb),                                                 \
                       .stride_b = passed(&entry, stride_b),                                       \
                       .beta = beta,                                                               \
                       .c = c,                                                                     \
                       .ldc = passed(&entry, ldc),                                                 \
                       .stride_c = passed(&entry, stride_c),                                       \
                       .batch = passed(&entry, batch)};                                            \
        sgemm_c(&entry, caller, "cblas_sgemm_batch_strided", transa, transb, &call);               \
    }
TILEMM__BLAS_C(C_SGEMM_BATCH, cblas_sgemm_batch_strided)

/* ------------------------------------------------------------------------------------------
 * Vectors
 * ------------------------------------------------------------------------------------------ */

/* Of no elements sums are 0. The reference takes an increment below 1 for no elements too, but in
 * sdot, and in snrm2 from 3.10 on. Returns whether there was something to do. */
static int run_vectors(entry_t *entry, const void *caller, call_t *call)
{
    const int positive = call->kind == SASUM || call->kind == ISAMAX;
    if (call->n <= 0 || (positive && call->lda <= 0)) {
        tilemm__blas_count_none(call->kind);
        return 0;
    }
    tilemm__blas_run(entry, call, caller);
    return 1;
}

static call_t vector_call(const entry_t *entry, kind_t kind, int64_t n, const float *x,
                          int64_t incx)
{
    return (call_t){
        .kind = kind, .n = passed(entry, n), .a = x, .lda = passed(entry, incx), .batch = 1};
}

/* Sums of one vector. */
#define FORTRAN_VECTOR(Kind, name, set)                                                            \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        const integer_t n = put(entry, p->n), incx = put(entry, p->lda);                           \
        float (*behind)(const void *, const float *, const void *);                                \
        *(void **)&behind = entry->behind;                                                         \
        p->value = behind(&n, p->a, &incx);                                                        \
    }                                                                                              \
    float name(const void *n, const float *x, const void *incx);                                   \
    float name(const void *n, const float *x, const void *incx)                                    \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = vector_call(&entry, Kind, get(&entry, n), x, get(&entry, incx));             \
        return run_vectors(&entry, caller, &call) ? call.value : 0.0f;                             \
    }
#define C_VECTOR(Kind, name, set, slot)                                                            \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        float (*behind)(slot, const float *, slot);                                                \
        *(void **)&behind = entry->behind;                                                         \
        p->value = behind((slot)p->n, p->a, (slot)p->lda);                                         \
    }                                                                                              \
    float name(slot n, const float *x, slot incx);                                                 \
    float name(slot n, const float *x, slot incx)                                                  \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = vector_call(&entry, Kind, n, x, incx);                                       \
        return run_vectors(&entry, caller, &call) ? call.value : 0.0f;                             \
    }
#define FORTRAN_SASUM(name, set, slot) FORTRAN_VECTOR(SASUM, name, set)
#define FORTRAN_SNRM2(name, set, slot) FORTRAN_VECTOR(SNRM2, name, set)
#define C_SASUM(name, set, slot) C_VECTOR(SASUM, name, set, slot)
#define C_SNRM2(name, set, slot) C_VECTOR(SNRM2, name, set, slot)
TILEMM__BLAS_FORTRAN(FORTRAN_SASUM, sasum)
TILEMM__BLAS_FORTRAN(FORTRAN_SNRM2, snrm2)
TILEMM__BLAS_C(C_SASUM, cblas_sasum)
TILEMM__BLAS_C(C_SNRM2, cblas_snrm2)

#define FORTRAN_SDOT(name, set, slot)                                                              \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        const integer_t n = put(entry, p->n), incx = put(entry, p->lda),                           \
                        incy = put(entry, p->ldb);                                                 \
        float (*behind)(const void *, const float *, const void *, const float *, const void *);   \
        *(void **)&behind = entry->behind;                                                         \
        p->value = behind(&n, p->a, &incx, p->b, &incy);                                           \
    }                                                                                              \
    float name(const void *n, const float *x, const void *incx, const float *y, const void *incy); \
    float name(const void *n, const float *x, const void *incx, const float *y, const void *incy)  \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = vector_call(&entry, SDOT, get(&entry, n), x, get(&entry, incx));             \
        call.b = y, call.ldb = get(&entry, incy);                                                  \
        return run_vectors(&entry, caller, &call) ? call.value : 0.0f;                             \
    }
TILEMM__BLAS_FORTRAN(FORTRAN_SDOT, sdot)

#define C_SDOT(name, set, slot)                                                                    \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        float (*behind)(slot, const float *, slot, const float *, slot);                           \
        *(void **)&behind = entry->behind;                                                         \
        p->value = behind((slot)p->n, p->a, (slot)p->lda, p->b, (slot)p->ldb);                     \
    }                                                                                              \
    float name(slot n, const float *x, slot incx, const float *y, slot incy);                      \
    float name(slot n, const float *x, slot incx, const float *y, slot incy)                       \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = vector_call(&entry, SDOT, n, x, incx);                                       \
        call.b = y, call.ldb = passed(&entry, incy);                                               \
        return run_vectors(&entry, caller, &call) ? call.value : 0.0f;                             \
    }
TILEMM__BLAS_C(C_SDOT, cblas_sdot)

/* Fortran counts from 1, and 0 stands for no elements; C counts from 0, and returns 0 then too. */
#define FORTRAN_ISAMAX(name, set, slot)                                                            \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        const integer_t n = put(entry, p->n), incx = put(entry, p->lda);                           \
        slot (*behind)(const void *, const float *, const void *);                                 \
        *(void **)&behind = entry->behind;                                                         \
        p->index = passed(entry, behind(&n, p->a, &incx)) - 1;                                     \
    }                                                                                              \
    slot name(const void *n, const float *x, const void *incx);                                    \
    slot name(const void *n, const float *x, const void *incx)                                     \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = vector_call(&entry, ISAMAX, get(&entry, n), x, get(&entry, incx));           \
        return run_vectors(&entry, caller, &call) ? (slot)(call.index + 1) : 0;                    \
    }
TILEMM__BLAS_FORTRAN(FORTRAN_ISAMAX, isamax)

#define C_ISAMAX(name, set, slot)                                                                  \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        size_t (*behind)(slot, const float *, slot);                                               \
        *(void **)&behind = entry->behind;                                                         \
        p->index = (int64_t)behind((slot)p->n, p->a, (slot)p->lda);                                \
    }                                                                                              \
    size_t name(slot n, const float *x, slot incx);                                                \
    size_t name(slot n, const float *x, slot incx)                                                 \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = vector_call(&entry, ISAMAX, n, x, incx);                                     \
        return run_vectors(&entry, caller, &call) ? (size_t)call.index : 0;                        \
    }
TILEMM__BLAS_C(C_ISAMAX, cblas_isamax)

/* ------------------------------------------------------------------------------------------
 * Copies, which are OpenBLAS's and MKL's extensions of BLAS
 * ------------------------------------------------------------------------------------------ */

static void copy_c(entry_t *entry, const void *caller, const char *routine, int trans, call_t *call)
{
    const tilemm_layout_t layout = call->layout;
    const int row_major = layout == TILEMM_ROW_MAJOR;
    const int64_t wide = row_major ? call->n : call->m, high = row_major ? call->m : call->n;
    /* ConjNoTrans is NoTrans for real numbers */
    call->transa = op_of(trans == 114 ? 111 : trans);
    const int64_t width_b = call->transa == TILEMM_NO_TRANS ? wide : high;
    int wrong = 0;
    if (!row_major && layout != TILEMM_COL_MAJOR)
        wrong = 1;
    else if (!call->transa)
        wrong = 2;
    else if (call->m < 0 || call->n < 0)
        wrong = call->m < 0 ? 3 : 4;
    else if (call->lda < (wide < 1 ? 1 : wide))
        wrong = 7;
    else if (call->ldc < (width_b < 1 ? 1 : width_b))
        wrong = call->kind == SOMATCOPY ? 9 : 8;
    if (wrong)
        tilemm__blas_refuse_c(entry, caller, layout, routine, wrong,
                              wrong == 1   ? "layout"
                              : wrong == 2 ? "Trans"
                                           : NULL,
                              wrong == 1 ? (int)layout : trans);
    else if (call->m == 0 || call->n == 0)
        tilemm__blas_count_none(call->kind);
    else
        tilemm__blas_run(entry, call, caller);
}

#define C_COPY_CALL(Kind, from, to, ld_to)                                                         \
    {                                                                                              \
        .kind = Kind, .layout = (tilemm_layout_t)layout, .m = passed(&entry, rows),                \
        .n = passed(&entry, cols), .alpha = alpha, .a = from, .lda = passed(&entry, lda), .c = to, \
        .ldc = passed(&entry, ld_to), .batch = 1                                                   \
    }

#define C_SOMATCOPY(name, set, slot)                                                               \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        void (*behind)(int, int, slot, slot, float, const float *, slot, float *, slot);           \
        *(void **)&behind = entry->behind;                                                         \
        behind((int)p->layout, (int)p->transa, (slot)p->m, (slot)p->n, p->alpha, p->a,             \
               (slot)p->lda, p->c, (slot)p->ldc);                                                  \
    }                                                                                              \
    void name(int layout, int trans, slot rows, slot cols, float alpha, const float *a, slot lda,  \
              float *b, slot ldb);                                                                 \
    void name(int layout, int trans, slot rows, slot cols, float alpha, const float *a, slot lda,  \
              float *b, slot ldb)                                                                  \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = C_COPY_CALL(SOMATCOPY, a, b, ldb);                                           \
        copy_c(&entry, caller, "cblas_somatcopy", trans, &call);                                   \
    }
TILEMM__BLAS_C(C_SOMATCOPY, cblas_somatcopy)

#define C_SIMATCOPY(name, set, slot)                                                               \
    static void name##_behind(const entry_t *entry, call_t *p)                                     \
    {                                                                                              \
        void (*behind)(int, int, slot, slot, float, float *, slot, slot);                          \
        *(void **)&behind = entry->behind;                                                         \
        behind((int)p->layout, (int)p->transa, (slot)p->m, (slot)p->n, p->alpha, p->c,             \
               (slot)p->lda, (slot)p->ldc);                                                        \
    }                                                                                              \
    void name(int layout, int trans, slot rows, slot cols, float alpha, float *a, slot lda,        \
              slot ldb);                                                                           \
    void name(int layout, int trans, slot rows, slot cols, float alpha, float *a, slot lda,        \
              slot ldb)                                                                            \
    {                                                                                              \
        static entry_t entry = {.symbol = #name, .family = &set, .call_behind = name##_behind};    \
        const void *caller = __builtin_return_address(0);                                          \
        prepare(&entry, caller);                                                                   \
        call_t call = C_COPY_CALL(SIMATCOPY, a, a, ldb);                                           \
        copy_c(&entry, caller, "cblas_simatcopy", trans, &call);                                   \
    }
TILEMM__BLAS_C(C_SIMATCOPY, cblas_simatcopy)
