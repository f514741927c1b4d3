/* layout_transpose.c - the layouts of transposes' tiles in shared memory, for every row of
 * kernels/transpose/variants.h: free of bank conflicts by the model's rules, no place used twice.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kernels/transpose/layout.h"
#include "lib/transpose/plan_cuda.h"
#include "machines.h"
#include "strided.h"
#include "tests/support/random.h"

enum { LANES = 32 };

/* Wavefronts beyond the ideal, where lanes access `bytes` bytes each at address[lane]; -1: a lane
 * that does not. All devices that the kernels run on have the same rules. */
static int conflicts_of(const int *address, int bytes, int load)
{
    tilemm_warp_access_t access = {.elem_bytes = bytes};
    for (int lane = 0; lane < LANES; lane++)
        if (address[lane] >= 0) {
            access.active |= 1u << lane;
            access.addr[lane] = (uint64_t)address[lane];
        }
    return shared_cost(75, load, &access).conflicts;
}

static void check_free(const int *address, int bytes, int load, const char *what, int size)
{
    const int conflicts = conflicts_of(address, bytes, load);
    CHECK(conflicts == 0, "%s of %d-byte elements: %d conflicts", what, size, conflicts);
}

/* The tile of rows x cols elements, in chunks, as threads of a block store and read it; for shifted
 * reads also from the next chunk on. */
static void test_tile(int size, int chunk, int rows, int cols, int shifted)
{
    const int v = chunk / size, across = cols / v, down = rows / v;
    static unsigned char seen[256 * 256];
    int address[LANES];
    memset(seen, 0, sizeof seen);
    for (int first = 0; first < across * down; first += LANES)
        for (int j = 0; j < v; j++) {
            for (int lane = 0; lane < LANES; lane++) {
                const int t = first + lane;
                const int slot = tilemm__transpose_chunk(t % across * v + j, t / across, down, v);
                CHECK(slot >= 0 && slot < cols * down && !seen[slot]++, "slot %d", slot);
                address[lane] = slot * chunk;
            }
            check_free(address, chunk, 0, "a store to a tile", size);
        }
    for (int first = 0; first < cols * down; first += LANES)
        for (int next = 0; next <= shifted; next++) {
            for (int lane = 0; lane < LANES; lane++) {
                const int t = first + lane;
                address[lane] =
                    tilemm__transpose_chunk(t / down, (t + next) % down, down, v) * chunk;
            }
            check_free(address, chunk, 0, "a load from a tile", size);
        }
}

/* A tile of rows x cols elements, one by one: filled along its rows, as they lie in memory, by
 * threads side by side, and read down its columns. */
static void test_element_tile(int size, int rows, int cols)
{
    int address[LANES];
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col += LANES) {
            for (int lane = 0; lane < LANES; lane++) /* of a short row, and of the next one */
                address[lane] =
                    tilemm__transpose_element(row + lane / cols, col + lane % cols, cols, size) *
                    size;
            const int conflicts = conflicts_of(address, size, 0);
            CHECK(conflicts <= (cols < LANES), "a row of %d-byte elements: %d conflicts", size,
                  conflicts);
        }
    for (int col = 0; col < cols; col++)
        for (int row = 0; row < rows; row += LANES) {
            for (int lane = 0; lane < LANES; lane++)
                address[lane] = tilemm__transpose_element(row + lane, col, cols, size) * size;
            check_free(address, size, 1, "a column", size);
        }
}

/* The lanes' elements of a slab; of 16 bytes, an asynchronous copy's halves, of which lanes eight
 * apart take the other one first. */
static void check_slab(const int *element, int size, const char *what)
{
    int address[LANES], half[LANES];
    for (int lane = 0; lane < LANES; lane++)
        address[lane] = element[lane] * size;
    check_free(address, size, 0, what, size);
    check_free(address, size, 1, what, size);
    for (int h = 0; h < 16 && size == 16; h += 8) {
        for (int lane = 0; lane < LANES; lane++)
            half[lane] = address[lane] + (h ^ (lane & 8));
        check_free(half, 8, 0, what, size);
    }
}

static void test_slab_tile(int size)
{
    enum { WIDTH = TILEMM__SLAB_WIDTH };
    static unsigned char seen[256 * (WIDTH + 1)];
    const int height = TILEMM__RUN_BYTES / size, v = 16 / size;
    int element[LANES];
    memset(seen, 0, sizeof seen);
    for (int r = 0; r < height; r++) {
        for (int c = 0; c < WIDTH; c++) {
            const int at = tilemm__slab_element(r, c, size);
            CHECK(at >= 0 && at < height * tilemm__slab_pitch(size) && !seen[at]++, "%d, %d", r, c);
            for (int k = 1; k < 256 / size; k *= 2)
                CHECK(tilemm__slab_below(tilemm__slab_element(r & -k, c, size), r & (k - 1),
                                         size) == at,
                      "%d, %d", r, c);
        }
        for (int c = 0; c < WIDTH; c += LANES) {
            for (int lane = 0; lane < LANES; lane++)
                element[lane] = tilemm__slab_element(r, c + lane, size);
            check_slab(element, size, "a row of a slab");
        }
    }
    /* All threads down the columns, element by element. */
    for (int t = 0; t < height * WIDTH; t += LANES) {
        for (int lane = 0; lane < LANES; lane++)
            element[lane] = tilemm__slab_element((t + lane) % height, (t + lane) / height, size);
        check_slab(element, size, "a column of a slab");
    }
    /* 16 bytes a lane. */
    for (int c = 0; c < WIDTH; c += 4)
        for (int r = 0; r < height; r += 8 * v)
            for (int k = 0; k < v; k++) {
                for (int lane = 0; lane < LANES; lane++)
                    element[lane] = tilemm__slab_element(r + lane % 8 * v + k, c + lane / 8, size);
                check_slab(element, size, "four columns of a slab");
            }
}

/* ---- tiles of words ------------------------------------------------------------------------- */

/* A tile of `rows` x `cols` elements of 1 or 2 bytes, as the threads of a block write its words and
 * read pieces of four of its columns, which begin `back` bytes before the border of a piece, each
 * column with another one. */
static void test_words_tile(int size, int rows, int cols, int threads)
{
    const int side = 4 / size, along = cols / side, down = threads / along;
    const int pieces = rows * size / 16, across = threads / pieces;
    const int pitch = cols < LANES ? LANES : cols;
    static unsigned char seen[64 * 64];
    int address[LANES];
    memset(seen, 0, sizeof seen);
    for (int w = 0; w < rows / side; w++)
        for (int c = 0; c < cols; c++) {
            const int at = w * pitch + tilemm__transpose_word(w, c, pieces);
            CHECK(at < (w + 1) * pitch && !seen[at]++, "%d-byte elements: word %d, %d", size, w, c);
            CHECK(tilemm__transpose_word(w, c / side * side, pieces) % side == 0 &&
                      tilemm__transpose_word(w, c, pieces) % side == c % side,
                  "%d-byte elements: the words of a square", size);
        }
    for (int first = 0; first < threads; first += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            const int x = (first + lane) % along, w = (first + lane) / along % down;
            address[lane] = (w * pitch + tilemm__transpose_word(w, x * side, pieces)) * 4;
        }
        /* Where rows of squares have 8 lanes of 2 words, two of them meet. */
        const int conflicts = conflicts_of(address, side * 4, 0);
        CHECK(conflicts <= (cols * side < 2 * LANES ? 2 : 0), "words of %d-byte elements: %d", size,
              conflicts);
    }
    for (int round = 0; round < 100; round++)
        for (int k = 0; k < 5; k++) {
            int back[64] = {0};
            for (int j = 0; j < across; j++)
                back[j] = (int)pick(16 / size) * size;
            for (int lane = 0; lane < LANES; lane++) {
                const int piece = lane % pieces, j = lane / pieces;
                const int w = (piece * 16 - back[j]) / 4 + k;
                address[lane] = piece * 16 < back[j]
                                    ? -1
                                    : (w * pitch + tilemm__transpose_word(w, j, pieces)) * 4;
            }
            check_free(address, 4, 1, "a column of words", size);
        }
}

/* ---- skewed tiles --------------------------------------------------------------------------- */

/* Each column of the tile is taken once; lanes that take elements of it meet no bank, `ways` ways
 * at most; rows leave each other the 16 bytes that they touch. */
static void check_skewed(const tilemm__transpose_skewed_t *s, int ways, const char *name)
{
    const int size = s->of.elem_size, v = 16 / size, cols = s->of.tile_cols;
    const int log_groups = 5 - s->log_lanes, width = (cols + s->before) * size;
    const int ld = (int)(s->of.ld_dst % 16);
    static unsigned char seen[4096];
    memset(seen, 0, sizeof seen);
    CHECK((s->pitch - s->of.ld_src * size) % 16 == 0 &&
              (s->together ? s->pitch == s->of.ld_src * size : s->pitch >= width + 30) &&
              tilemm__skewed_row(s->of.tile_rows, s->pitch, s->pad, size) + 31 <= s->shared,
          "%s: pitch %d for %d bytes", name, s->pitch, width);
    for (int set = 0; set < s->sets; set++)
        for (int e = 0; e < v; e++) {
            int address[LANES];
            for (int lane = 0; lane < LANES; lane++) {
                const int j =
                    tilemm__skewed_column(set, lane >> s->log_lanes, log_groups, s->log_apart);
                const int back = s->of.halo ? j * ld * size % 16 / size : 0;
                /* Without a padding, groups of 8 lanes begin with another word each. */
                const int turn = s->pad ? e : (e + lane / 8 * (4 / size)) % v;
                const int i = s->of.halo + (lane & ((1 << s->log_lanes) - 1)) * v - back + turn;
                address[lane] =
                    j < cols ? tilemm__skewed_row(i, s->pitch, s->pad, size) + j * size : -1;
                if (e == 0 && j < cols && (lane & ((1 << s->log_lanes) - 1)) == 0)
                    CHECK(!seen[j]++, "%s: column %d twice", name, j);
            }
            const int conflicts = conflicts_of(address, size, 1);
            CHECK(conflicts < ways, "%s, set %d, element %d: %d conflicts", name, set, e,
                  conflicts);
        }
    for (int j = 0; j < cols; j++)
        CHECK(seen[j] == 1, "%s: column %d", name, j);
}

static void test_skewed(int size)
{
    static const int shapes[][3] = {
        {4095, 4097, 1}, {9999, 7777, 1}, {5001, 5003, 1}, {4000, 6000, 1}, {4001, 6000, 1},
        {4001, 6006, 2}, {99999, 31, 1},  {99999, 17, 1},  {99999, 33, 1},  {99999, 24, 2},
        {99999, 12, 3},  {1001, 999, 1},  {300, 300, 2},   {197, 64, 1},    {99999, 9, 1}};
    const char *const name = size == 1 ? "transpose_skewed_sm75_x1" : "transpose_skewed_sm75_x2";
    const tilemm__limits_t limits = {.cuda = &gpus[GPUS - 1], .variant = name};
    for (int i = 0; i < (int)(sizeof shapes / sizeof shapes[0]); i++) {
        const int64_t rows = shapes[i][0], cols = shapes[i][1];
        const tilemm__transpose_args_t args = {.rows = rows,
                                               .cols = cols,
                                               .elem_size = (size_t)size,
                                               .trans = 1,
                                               .src = (void *)256,
                                               .dst = (void *)(256 + (size_t)size),
                                               .ld_src = cols,
                                               .ld_dst = rows,
                                               .stride_src = rows * cols,
                                               .stride_dst = rows * cols,
                                               .batch_count = 1};
        tilemm__transpose_cuda_plan_t plan;
        tilemm__plan_transpose_cuda(&args, &limits, &plan);
        CHECK(plan.method == TILEMM__TRANSPOSE_BY_skewed, "%s", plan.name);
        if (plan.arm.skewed.down > 0 && !strstr(plan.name, "flat"))
            check_skewed(&plan.arm.skewed, shapes[i][2], plan.name);
    }
}

int main(void)
{
    for (int i = 0; i < TILEMM__TRANSPOSE_VARIANTS; i++) {
        const tilemm__transpose_row_t *row = &tilemm__transpose_rows[i];
        switch (row->method) {
        case TILEMM__TRANSPOSE_BY_tile:
        case TILEMM__TRANSPOSE_BY_swap:
        case TILEMM__TRANSPOSE_BY_shifted:
            test_tile(row->bytes, row->chunk, row->rows, row->cols,
                      row->method == TILEMM__TRANSPOSE_BY_shifted);
            break;
        case TILEMM__TRANSPOSE_BY_narrow:
        case TILEMM__TRANSPOSE_BY_swap_elements:
            test_element_tile(row->bytes, row->rows, row->cols);
            break;
        case TILEMM__TRANSPOSE_BY_slabs: test_slab_tile(row->bytes); break;
        case TILEMM__TRANSPOSE_BY_words:
            test_words_tile(row->bytes, row->rows, row->cols, row->threads);
            break;
        default: break;
        }
    }
    test_skewed(1);
    test_skewed(2);
    return check_exit();
}
