/* vector.h - a vector times a matrix, which is read once where it lies: part of tile.h, which
 * includes it once. The first two functions add up in the order that is fastest, the other two in
 * that of invariant products.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */

/* ---- a vector times a matrix ------------------------------------------------------------- */

/* Rows, or columns, of B that are read at once; and vectors of those rows, as what is read in
 * pieces of half a kilobyte comes faster from L2. */
enum { STREAMS = 4, MORE_STREAMS = 8, PIECE = 8, DOTS = 4, LONG_LINE = 512 };

/* y += a B of some rows and vectors of B. */
TILE_INLINE void add_piece(const int rows, const int vectors, const float *a, const float *b,
                           int64_t ldb, float *restrict y)
{
    vec_t sum[PIECE];
    TILE_UNROLL
    for (int v = 0; v < vectors; v++)
        sum[v] = a[0] * *(const vec_mem_t *)(b + v * VECTOR);
    TILE_UNROLL
    for (int p = 1; p < rows; p++) {
        TILE_UNROLL
        for (int v = 0; v < vectors; v++)
            sum[v] += a[p] * *(const vec_mem_t *)(b + p * ldb + v * VECTOR);
    }
    TILE_UNROLL
    for (int v = 0; v < vectors; v++)
        *(vec_mem_t *)(y + v * VECTOR) += sum[v];
}

/* y += a B by rows of B, some at a time, so that y is seldom loaded and stored. */
TILE_INLINE void add_rows(const int rows, int64_t n, const float *a, const float *b, int64_t ldb,
                          float *restrict y)
{
    int64_t j = 0;
    for (; j + PIECE * VECTOR <= n; j += PIECE * VECTOR)
        add_piece(rows, PIECE, a, b + j, ldb, y + j);
    for (; j + VECTOR <= n; j += VECTOR)
        add_piece(rows, 1, a, b + j, ldb, y + j);
    for (; j < n; j++) {
        float sum = a[0] * b[j];
        TILE_UNROLL
        for (int p = 1; p < rows; p++)
            sum += a[p] * b[p * ldb + j];
        y[j] += sum;
    }
}

/* Sums of products of a with pieces of some columns of B. */
TILE_INLINE void dot_piece(const int columns, const int vectors, const float *a, const float *b,
                           int64_t ldb, vec_t even[DOTS], vec_t odd[DOTS])
{
    TILE_UNROLL
    for (int j = 0; j < columns; j++) {
        TILE_UNROLL
        for (int v = 0; v < vectors; v += 2) {
            const float *from = b + j * ldb + v * VECTOR;
            even[j] += *(const vec_mem_t *)(a + v * VECTOR) * *(const vec_mem_t *)from;
            odd[j] +=
                *(const vec_mem_t *)(a + (v + 1) * VECTOR) * *(const vec_mem_t *)(from + VECTOR);
        }
    }
}

/* y[j] += the product of a with each of some columns of B, which lie along k. */
TILE_INLINE void add_dots(const int columns, int64_t k, const float *a, const float *b, int64_t ldb,
                          float *restrict y)
{
    vec_t even[DOTS], odd[DOTS];
    int64_t p = 0;
    TILE_UNROLL
    for (int j = 0; j < columns; j++)
        even[j] = odd[j] = (vec_t){0};
    /* Long lines the hardware fetches early all the same, four at a time. */
    for (; k < LONG_LINE && p + PIECE * VECTOR <= k; p += PIECE * VECTOR)
        dot_piece(columns, PIECE, a + p, b + p, ldb, even, odd);
    for (; p + 2 * VECTOR <= k; p += 2 * VECTOR)
        dot_piece(columns, 2, a + p, b + p, ldb, even, odd);

    /* The sums over the lanes of four vectors at once. */
    TILE_UNROLL
    for (int first = 0; first < columns; first += 4) {
        const int count = TILE_LEAST(4, columns - first);
        vec_t sum[4] = {0}, lanes_of[4];
        float lane[VECTOR];
        TILE_UNROLL
        for (int j = 0; j < count; j++)
            sum[j] = even[first + j] + odd[first + j];
        transpose_lanes(sum, lanes_of);
        sum[0] = (lanes_of[0] + lanes_of[1]) + (lanes_of[2] + lanes_of[3]);
        memcpy(lane, &sum[0], sizeof lane);
        four_t total = *(const four_mem_t *)lane;
        TILE_UNROLL
        for (int l = 4; l < VECTOR; l += 4)
            total += *(const four_mem_t *)(lane + l);
        TILE_UNROLL
        for (int j = 0; j < count; j++) {
            float fringe = 0.0f;
            for (int64_t q = p; q < k; q++)
                fringe += a[q] * b[(first + j) * ldb + q];
            y[first + j] += total[j] + fringe;
        }
    }
}

static void times_vector(int64_t k, int64_t n, const float *a, const float *b, int64_t ldb,
                         int along_k, float *y)
{
    if (along_k) {
        int64_t j = 0;
        for (; j + DOTS <= n; j += DOTS)
            add_dots(DOTS, k, a, b + j * ldb, ldb, y + j);
        for (; j < n; j++)
            add_dots(1, k, a, b + j * ldb, ldb, y + j);
    } else {
        int64_t p = 0;
        for (; p + STREAMS <= k; p += STREAMS)
            add_rows(STREAMS, n, a + p, b + p * ldb, ldb, y);
        for (; p < k; p++)
            add_rows(1, n, a + p, b + p * ldb, ldb, y);
    }
}

/* ---- in the order of k -------------------------------------------------------------------- */

/* y continues with the products of some rows of B, one after the other. */
TILE_INLINE void chain_piece(const int rows, const int vectors, const float *a, const float *b,
                             int64_t ldb, float *restrict y)
{
    vec_t sum[PIECE];
    TILE_UNROLL
    for (int v = 0; v < vectors; v++)
        sum[v] = *(const vec_mem_t *)(y + v * VECTOR);
    TILE_UNROLL
    for (int p = 0; p < rows; p++) {
        TILE_UNROLL
        for (int v = 0; v < vectors; v++) {
            const vec_t from = *(const vec_mem_t *)(b + p * ldb + v * VECTOR);
            ADD_PRODUCT(sum[v], a[p], from);
        }
    }
    TILE_UNROLL
    for (int v = 0; v < vectors; v++)
        *(vec_mem_t *)(y + v * VECTOR) = sum[v];
}

TILE_INLINE void chain_rows(const int rows, int64_t n, const float *a, const float *b, int64_t ldb,
                            float *restrict y)
{
    int64_t j = 0;
    for (; j + PIECE * VECTOR <= n; j += PIECE * VECTOR)
        chain_piece(rows, PIECE, a, b + j, ldb, y + j);
    for (; j + VECTOR <= n; j += VECTOR)
        chain_piece(rows, 1, a, b + j, ldb, y + j);
    for (; j < n; j++) {
        float sum = y[j];
        TILE_UNROLL
        for (int p = 0; p < rows; p++)
            ADD_ONE(sum, a[p], b[p * ldb + j]);
        y[j] = sum;
    }
}

static void rows_in_order(int64_t k, int64_t n, const float *a, const float *b, int64_t ldb,
                          float *y)
{
    int64_t p = 0;
    for (; p + MORE_STREAMS <= k; p += MORE_STREAMS)
        chain_rows(MORE_STREAMS, n, a + p, b + p * ldb, ldb, y);
    for (; p < k; p++)
        chain_rows(1, n, a + p, b + p * ldb, ldb, y);
}

/* Vectors of columns whose chains run at once, as each addition waits for the one before. More
 * than these are faster from L2, and slower from memory. */
enum { GROUPS = VECTOR <= 8 ? 2 : 1 };

/* A chain of `count` columns that lie along k goes on, VECTOR at most, by way of a packed panel. */
static __attribute__((noinline)) vec_t chain_few(int64_t k, int count, const float *a,
                                                 const float *b, int64_t ldb, vec_t sum)
{
    enum { STEPS = 64 };
    float panel[STEPS * VECTOR] __attribute__((aligned(64)));
    for (int64_t p = 0; p < k; p += STEPS) {
        const int64_t steps = TILE_LEAST(STEPS, k - p);
        pack_rows(VECTOR, VECTOR, steps, count, b + p, ldb, panel);
        for (int64_t q = 0; q < steps; q++) {
            const vec_t from = *(const vec_mem_t *)(panel + q * VECTOR);
            ADD_PRODUCT(sum, a[p + q], from);
        }
    }
    return sum;
}

/* The same of `groups` times VECTOR columns, over a multiple of LINE steps: squares are transposed
 * in registers, a whole line of each column at once, as columns far apart may all be of one set of
 * L1. Four columns are reached from one pointer. What lies `later` floats further is asked for
 * meanwhile, as hardware's prefetchers do not follow so many columns: to L1, or to L2 where a set
 * of L1 may not hold a line of each column. */
TILE_INLINE void chain_squares(const int groups, int64_t k, const float *a, const float *b,
                               int64_t ldb, int64_t later, vec_t sum[GROUPS])
{
    const char *at[GROUPS * VECTOR / 4];
    const int64_t apart = ldb * (int64_t)sizeof(float), apart3 = 3 * apart;
    TILE_UNROLL
    for (int i = 0; i < groups * VECTOR / 4; i++)
        at[i] = (const char *)(b + 4 * i * ldb);
    for (int64_t p = 0; p < k; p += LINE) {
        TILE_UNROLL
        for (int g = 0; g < groups; g++) {
            const float *row[VECTOR];
            TILE_UNROLL
            for (int i = 0; i < VECTOR; i++) {
                const char *const four = at[(g * VECTOR + i) / 4];
                row[i] = (const float *)(const void *)(i % 4 == 3 ? four + apart3
                                                                  : four + i % 4 * apart);
                __builtin_prefetch(row[i] + later, 0, VECTOR > 8 ? 2 : 3);
            }
            TILE_UNROLL
            for (int first = 0; first < LINE; first += VECTOR) {
                vec_t r[VECTOR / 4][4], out[4];
                TILE_UNROLL
                for (int q = 0; q < 4; q++) {
                    TILE_UNROLL
                    for (int s = 0; s < VECTOR / 4; s++)
                        r[s][q] = LOAD_LANES(row, q, first + 4 * s);
                }
                TILE_UNROLL
                for (int s = 0; s < VECTOR / 4; s++) {
                    transpose_lanes(r[s], out);
                    TILE_UNROLL
                    for (int q = 0; q < 4; q++)
                        ADD_PRODUCT(sum[g], a[p + first + 4 * s + q], out[q]);
                }
            }
        }
        TILE_UNROLL
        for (int i = 0; i < groups * VECTOR / 4; i++) {
            at[i] += LINE * sizeof(float);
            /* Else the compiler makes a pointer for each column. */
            __asm__("" : "+r"(at[i]));
        }
    }
}

/* The sums of chains of `groups` times VECTOR columns, or, where count is less than VECTOR, of so
 * many: y = those, or y += each. */
TILE_INLINE void chain_columns(const int groups, int64_t k, int64_t chain, int count,
                               const float *a, const float *b, int64_t ldb, int is_first, float *y)
{
    const int lanes = TILE_LEAST(count, VECTOR);
    vec_t all[GROUPS] = {0};
    for (int g = 0; g < groups && !is_first; g++)
        memcpy(&all[g], y + g * VECTOR, sizeof(float) * (size_t)lanes);
    for (int64_t p = 0; p < k; p += chain) {
        const int64_t steps = TILE_LEAST(chain, k - p);
        const int64_t squares = count < VECTOR ? 0 : steps & -LINE;
        /* The next chain, or the first one of the next columns. */
        const int64_t later = p + chain < k ? chain : groups * VECTOR * ldb - p;
        vec_t sum[GROUPS];
        TILE_UNROLL
        for (int g = 0; g < groups; g++)
            sum[g] = (vec_t){0};
        if (squares > 0)
            chain_squares(groups, squares, a + p, b + p, ldb, later, sum);
        for (int g = 0; g < groups && squares < steps; g++)
            sum[g] = chain_few(steps - squares, lanes, a + p + squares,
                               b + g * VECTOR * ldb + p + squares, ldb, sum[g]);
        TILE_UNROLL
        for (int g = 0; g < groups; g++)
            all[g] = is_first && p == 0 ? sum[g] : all[g] + sum[g];
    }
    for (int g = 0; g < groups; g++)
        memcpy(y + g * VECTOR, &all[g], sizeof(float) * (size_t)lanes);
}

static void dots_in_order(int64_t k, int64_t chain, int64_t n, const float *a, const float *b,
                          int64_t ldb, int is_first, float *y)
{
    int64_t j = 0;
    for (; j + GROUPS * VECTOR <= n; j += GROUPS * VECTOR)
        chain_columns(GROUPS, k, chain, VECTOR, a, b + j * ldb, ldb, is_first, y + j);
    for (; j < n; j += VECTOR)
        chain_columns(1, k, chain, (int)TILE_LEAST(VECTOR, n - j), a, b + j * ldb, ldb, is_first,
                      y + j);
}
