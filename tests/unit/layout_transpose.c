/* layout_transpose.c - the layouts of transposes' tiles in shared memory, for every row of
 * kernels/transpose/variants.h: free of bank conflicts by the model's rules, no place used twice.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "kernels/transpose/layout.h"
#include "lib/transpose/plan_cuda.h"
#include "tests/support/check.h"
#include "tilemm.h"

/* Wavefronts beyond the ideal, for lanes that access `bytes` bytes each at address[lane], -1 for a
 * lane that does not. All chips that the kernels are for have the same rules. */
static int conflicts_of(const int *address, int lanes, int bytes, int load)
{
    tilemm_warp_access_t access = {.elem_bytes = bytes};
    tilemm_shared_cost_t cost;
    tilemm_status_t status;
    int lane;

    for (lane = 0; lane < lanes; lane++) {
        if (address[lane] < 0)
            continue;
        access.active |= 1u << lane;
        access.addr[lane] = (uint64_t)address[lane];
    }
    status = load ? tilemm_model_shared_load(75, &access, &cost)
                  : tilemm_model_shared(75, &access, &cost);
    CHECK(status == TILEMM_SUCCESS, "%d bytes", bytes);
    return cost.conflicts;
}

static void check_free(const int *address, int bytes, int load, const char *what, int size)
{
    const int conflicts = conflicts_of(address, 32, bytes, load);

    CHECK(conflicts == 0, "%s of %d-byte elements: %d conflicts", what, size, conflicts);
}

/* The worst bank's ways: 1 is free of conflicts. */
static int conflicts(const int *address, int lanes, int bytes)
{
    return conflicts_of(address, lanes, bytes, 0) + 1;
}

/* Chunks as threads of a block store and read them. */
static void test_tile(int size, int chunk, int edge, int threads)
{
    const int v = chunk / size, q = edge / v, steps = threads / q;
    static unsigned char seen[256 * 256];
    int address[32], warp, lane, j, s;

    memset(seen, 0, sizeof seen);
    for (warp = 0; warp < threads / 32; warp++) {
        for (s = 0; s < q / steps; s++) {
            for (j = 0; j < v; j++) {
                for (lane = 0; lane < 32; lane++) {
                    const int t = warp * 32 + lane, x = t % q, y = t / q + s * steps;
                    const int slot = tilemm__transpose_chunk(x * v + j, y, q, v);

                    CHECK(slot >= 0 && slot < edge * q && !seen[slot]++, "slot %d", slot);
                    address[lane] = slot * chunk;
                }
                CHECK(conflicts(address, 32, chunk) == 1, "store, %d x %d bytes", edge, size);
            }
        }
        for (s = 0; s < edge / steps; s++) {
            for (lane = 0; lane < 32; lane++) {
                const int t = warp * 32 + lane;

                address[lane] = tilemm__transpose_chunk(t / q + s * steps, t % q, q, v) * chunk;
            }
            CHECK(conflicts(address, 32, chunk) == 1, "load, %d x %d bytes", edge, size);
        }
    }
}

/* The tile of shifted chunks, rows x cols: stored as above, and read as two chunks that follow each
 * other, from any one on. */
static void test_shifted_tile(int size, int chunk, int rows, int cols)
{
    const int v = chunk / size, across = cols / v, down = rows / v, lanes = down < 32 ? down : 32;
    int address[32], j, lane, first, second;

    for (j = 0; j < v; j++) {
        for (first = 0; first < 256; first += 32) {
            for (lane = 0; lane < 32; lane++)
                address[lane] = tilemm__transpose_chunk((first + lane) % across * v + j,
                                                        (first + lane) / across % down, down, v) *
                                chunk;
            CHECK(conflicts(address, 32, chunk) == 1, "store, %d x %d of %d bytes", rows, cols,
                  size);
        }
    }
    for (j = 0; j < cols; j++) {
        for (first = 0; first + lanes <= down; first += lanes) {
            for (second = 0; second < 2; second++) {
                for (lane = 0; lane < lanes; lane++)
                    address[lane] =
                        tilemm__transpose_chunk(j, (first + lane + second) % down, down, v) * chunk;
                CHECK(conflicts(address, lanes, chunk) == 1, "load, %d x %d of %d bytes", rows,
                      cols, size);
            }
        }
    }
}

/* A tile of rows x cols elements, one by one: filled along its rows, as they lie in memory, by
 * threads side by side, and read down its columns. */
static void test_element_tile(int size, int rows, int cols)
{
    int along[32], down[32], row, col, lane;

    for (row = 0; row < rows; row++) {
        for (col = 0; col < cols; col += 32) {
            for (lane = 0; lane < 32; lane++)
                along[lane] = tilemm__transpose_element(row, col + lane, cols, size) * size;
            check_free(along, size, 0, "a row", size);
        }
    }
    for (col = 0; col < cols; col++) {
        for (row = 0; row < rows; row += 32) {
            for (lane = 0; lane < 32; lane++)
                down[lane] = tilemm__transpose_element(row + lane, col, cols, size) * size;
            check_free(down, size, 1, "a column", size);
        }
    }
}

/* A lane's element of a slab, row and column; of 16 bytes, an asynchronous copy's halves, of which
 * lanes eight apart take the other one first. */
static void check_slab(const int *row, const int *col, int size, const char *what)
{
    int address[32], half[32], lane, h;

    for (lane = 0; lane < 32; lane++)
        address[lane] = tilemm__slab_element(row[lane], col[lane], size) * size;
    check_free(address, size, 0, what, size);
    check_free(address, size, 1, what, size);
    for (h = 0; h < 16 && size == 16; h += 8) {
        for (lane = 0; lane < 32; lane++)
            half[lane] = address[lane] + (h ^ (lane & 8));
        check_free(half, 8, 0, what, size);
    }
}

static void test_slab_tile(int size)
{
    enum { WIDTH = TILEMM__SLAB_WIDTH };
    static unsigned char seen[256 * (WIDTH + 1)];
    const int height = TILEMM__RUN_BYTES / size, v = 16 / size;
    int row[32], col[32], r, c, k, t, lane;

    memset(seen, 0, sizeof seen);
    for (r = 0; r < height; r++) {
        for (c = 0; c < WIDTH; c++) {
            const int at = tilemm__slab_element(r, c, size);

            CHECK(at >= 0 && at < height * tilemm__slab_pitch(size) && !seen[at]++, "%d, %d", r, c);
            for (k = 1; k < 256 / size; k *= 2)
                CHECK(tilemm__slab_below(tilemm__slab_element(r & -k, c, size), r & (k - 1),
                                         size) == at,
                      "%d, %d", r, c);
        }
        for (c = 0; c < WIDTH; c += 32) {
            for (lane = 0; lane < 32; lane++) {
                row[lane] = r;
                col[lane] = c + lane;
            }
            check_slab(row, col, size, "a row of a slab");
        }
    }
    /* All threads down the columns, element by element. */
    for (t = 0; t < height * WIDTH; t += 32) {
        for (lane = 0; lane < 32; lane++) {
            row[lane] = (t + lane) % height;
            col[lane] = (t + lane) / height;
        }
        check_slab(row, col, size, "a column of a slab");
    }
    /* 16 bytes a lane. */
    for (c = 0; c < WIDTH; c += 4) {
        for (r = 0; r < height; r += 8 * v) {
            for (k = 0; k < v; k++) {
                for (lane = 0; lane < 32; lane++) {
                    row[lane] = r + lane % 8 * v + k;
                    col[lane] = c + lane / 8;
                }
                check_slab(row, col, size, "four columns of a slab");
            }
        }
    }
}

/* Strips: positions of 16 bytes stay together, and none is used twice. */
static void test_strip_tile(int size)
{
    static unsigned char seen[16384];
    int f;

    memset(seen, 0, sizeof seen);
    for (f = 0; f < 16384 / size; f++) {
        const int slot = tilemm__transpose_strip(f, size);

        CHECK(slot >= 0 && slot < 16384 / size && !seen[slot]++, "%d", slot);
        CHECK(slot % (16 / size) == f % (16 / size), "%d", slot);
    }
}

/* ---- strips of elements of 1 and 2 bytes ---------------------------------------------------- */

/* A side's buffer: how far apart lanes' lines are in it, in bytes. */
static int strip_at(int byte, int stride)
{
    return byte ^ tilemm__strip_swizzle(byte / 128 / tilemm__strip_period(stride),
                                        tilemm__strip_mask(stride));
}

/* What comes and goes in the order of bytes, by units of `unit`: free of conflicts from the start
 * of 128 bytes on, else two ways at most. */
static void check_strip_line(int stride, int size, int unit)
{
    int address[32], first, lane, conflicts;

    for (first = 0; first + 32 * unit <= TILEMM__TRANSPOSE_STRIP_BYTES;
         first += unit < 16 ? 4 * unit : 16) {
        /* Of 16 bytes in another order the address is that of the lowest. */
        for (lane = 0; lane < 32; lane++)
            address[lane] = strip_at(first + lane * unit, stride) & -unit;
        conflicts = conflicts_of(address, 32, unit, 0);
        CHECK(conflicts <= (first % 128 ? (unit + 3) / 4 : 0), "%d of %d bytes, lanes %d apart: %d",
              unit, size, stride, conflicts);
    }
}

static void check_strip(const tilemm__transpose_strip_bytes_t *strip, const char *name)
{
    static int source[TILEMM__TRANSPOSE_STRIP_BYTES];
    const tilemm__strip_lines_t *lines = &strip->lines;
    const int size = strip->of.elem_size, width = strip->of.tile_cols, height = strip->of.tile_rows;
    const int area = width * height, lanes = 32;
    const int in_stride = lines->in_line * lines->together * size;
    const int out_stride = lines->out_line * lines->together * size;
    const int region_in =
        128 * tilemm__strip_period(in_stride) * (tilemm__strip_mask(in_stride) ? 1 : 999);
    const int region_out =
        128 * tilemm__strip_period(out_stride) * (tilemm__strip_mask(out_stride) ? 1 : 999);
    int group, set, j, e, lane;

    for (e = 0; e < strip->of.tile_batch * area; e++)
        source[e] = -1;
    CHECK(lines->parts * lines->elements >= lines->across * lines->down, "%s", name);
    for (group = 0; group < lines->groups; group++) {
        for (set = 0; set < lines->sets; set++) {
            for (j = 0; j < lines->together; j++) {
                for (e = 0; e < lines->across * lines->down; e++) {
                    const int x = e / lines->down, y = e % lines->down;
                    int load[32], store[32];

                    /* Served together; the warp's other lanes are elsewhere. */
                    for (lane = 0; lane < 32; lane++) {
                        const int first = (set * lanes + lane) * lines->together, line = first + j;
                        const int in = group * area + line * lines->in_line + x + y * width;
                        const int out = group * area + line * lines->out_line + y + x * height;
                        const int in_first = (group * area + first * lines->in_line) * size;
                        const int out_first = (group * area + first * lines->out_line) * size;

                        load[lane] = store[lane] = -1;
                        if (lane >= lanes || line >= lines->lines)
                            continue;
                        load[lane] = strip_at(in * size, in_stride);
                        store[lane] = strip_at(out * size, out_stride);
                        CHECK(in * size / region_in <= in_first / region_in + 1 &&
                                  out * size / region_out <= out_first / region_out + 1,
                              "%s: more than one border", name);
                        CHECK(source[out] == -1, "%s: %d twice", name, out);
                        source[out] = in;
                    }
                    check_free(load, size, 1, name, size);
                    check_free(store, size, 0, name, size);
                }
            }
        }
    }
    for (e = 0; e < strip->of.tile_batch * area; e++) {
        const int matrix = e / area, row = e % area % height, col = e % area / height;

        CHECK(source[e] == matrix * area + row * width + col, "%s: element %d is %d", name, e,
              source[e]);
    }
    check_strip_line(in_stride, size, 16);
    check_strip_line(out_stride, size, 16);
    check_strip_line(in_stride, size, size);
    check_strip_line(out_stride, size, size);
}

static void test_strips(int size)
{
    static const int shapes[][3] = {
        {3, 5, 65536},  {7, 9, 65536},  {2, 2, 9999},  {4, 4, 9999},   {8, 8, 9999},
        {16, 16, 9999}, {17, 17, 9999}, {31, 31, 99},  {20, 50, 99},   {50, 20, 99},
        {12, 40, 99},   {5, 5, 3},      {1, 7, 9999},  {64, 30, 99},   {6, 10, 9999},
        {3, 65536, 1},  {65536, 3, 1},  {2, 65536, 1}, {31, 65536, 1}, {65536, 31, 1},
        {16, 65536, 1}, {65536, 24, 1}, {1, 65536, 1}, {32, 3, 9999},  {13, 11, 7},
    };
    static const tilemm__cuda_traits_t h200 = {.cc = 90, .sm_count = 132, .l2_bytes = 60 << 20};
    const tilemm__limits_t limits = {.cuda = &h200, .variant = "transpose_strip_bytes"};
    int i;

    for (i = 0; i < (int)(sizeof shapes / sizeof shapes[0]); i++) {
        tilemm__transpose_args_t args = {.rows = shapes[i][0],
                                         .cols = shapes[i][1],
                                         .elem_size = (size_t)size,
                                         .trans = 1,
                                         .src = (void *)256,
                                         .dst = (void *)256,
                                         .ld_src = shapes[i][1],
                                         .ld_dst = shapes[i][0],
                                         .batch_count = shapes[i][2]};
        tilemm__transpose_cuda_plan_t plan;

        args.stride_src = args.stride_dst = args.rows * args.cols;
        tilemm__plan_transpose_cuda(&args, &limits, &plan);
        CHECK(plan.method == TILEMM__TRANSPOSE_BY_strip_bytes, "%s", plan.name);
        check_strip(&plan.arm.strip_bytes, plan.name);
    }
}

int main(void)
{
    int i;

    for (i = 0; i < TILEMM__TRANSPOSE_VARIANTS; i++) {
        const tilemm__transpose_row_t *row = &tilemm__transpose_rows[i];

        switch (row->method) {
        case TILEMM__TRANSPOSE_BY_tile:
        case TILEMM__TRANSPOSE_BY_swap:
            test_tile(row->bytes, row->chunk, row->rows, row->threads);
            break;
        case TILEMM__TRANSPOSE_BY_shifted:
            test_shifted_tile(row->bytes, row->chunk, row->rows, row->cols);
            break;
        case TILEMM__TRANSPOSE_BY_narrow:
        case TILEMM__TRANSPOSE_BY_swap_elements:
            test_element_tile(row->bytes, row->rows, row->cols);
            break;
        case TILEMM__TRANSPOSE_BY_slabs: test_slab_tile(row->bytes); break;
        default: break;
        }
    }
    for (i = 1; i <= 16; i *= 2)
        test_strip_tile(i);
    test_strips(1);
    test_strips(2);
    return check_exit();
}
