/* plan_copy_cuda.c - copies on a GPU, scaled perhaps, or filled with zeros: as which rows, and how
 * a block's threads share them. See kernels/transpose/cuda/copy.cu.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "lib/size.h"
#include "plan_cuda.h"

void tilemm__plan_transpose_copy(const tilemm__transpose_args_t *args, int zero,
                                 const tilemm__transpose_row_t *row, tilemm__transpose_copy_t *copy)
{
    /* Filling with zeros may come with a transpose: the shape is the result's. */
    const int64_t rows = args->trans ? args->cols : args->rows;
    const int64_t cols = args->trans ? args->rows : args->cols;
    copy->of.elem_size = (int)args->elem_size;
    /* What is not read need not be there: it has the shape of the result, too. */
    copy->of.src = zero ? args->dst : args->src;
    copy->of.dst = args->dst;
    copy->of.rows = rows;
    copy->of.cols = cols;
    copy->of.batch = args->batch_count;
    copy->of.ld_src = zero ? args->ld_dst : args->ld_src;
    copy->of.ld_dst = args->ld_dst;
    copy->of.stride_src = zero ? args->stride_dst : args->stride_src;
    copy->of.stride_dst = args->stride_dst;
    copy->of.unit = row->access;
    copy->of.scaled = args->scaled && args->alpha != 1.0f;
    copy->of.zero = zero;
    copy->of.alpha = args->alpha;
    /* As one row, where nothing lies between rows. */
    if (copy->of.ld_dst == cols && copy->of.ld_src == cols &&
        (args->batch_count == 1 ||
         (copy->of.stride_dst == rows * cols && copy->of.stride_src == rows * cols))) {
        copy->of.cols = rows * cols * args->batch_count;
        copy->of.rows = copy->of.batch = 1;
    }
    /* In a row, the last perhaps in part. */
    const int64_t units =
        tilemm__div_up(copy->of.cols, tilemm__max(row->access / copy->of.elem_size, 1));
    for (copy->of.block_cols = 1;
         copy->of.block_cols < units && copy->of.block_cols < row->threads;)
        copy->of.block_cols *= 2;
    /* A thread's units lie along the row where a row has enough of them, else down the rows. */
    if (units >= (int64_t)copy->of.block_cols * TILEMM__COPY_UNITS) {
        copy->col_step = copy->of.block_cols;
        copy->tile_rows = row->threads / copy->of.block_cols;
        copy->tile_cols = copy->of.block_cols * TILEMM__COPY_UNITS;
    } else {
        copy->row_step = row->threads / copy->of.block_cols;
        copy->tile_rows = copy->row_step * TILEMM__COPY_UNITS;
        copy->tile_cols = copy->of.block_cols;
    }
    copy->tiles_down = (uint64_t)tilemm__div_up(copy->of.rows, copy->tile_rows);
    copy->tiles_across = (uint64_t)tilemm__div_up(units, copy->tile_cols);
    copy->tiles = copy->tiles_down * copy->tiles_across * (uint64_t)copy->of.batch;
}
