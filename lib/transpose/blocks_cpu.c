/* blocks_cpu.c - matrices that are taken block by block on the CPU: one thread's part.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "team_cpu.h"

typedef struct {
    int64_t rows, cols; /* of the source's block */
    const char *src;
    char *dst;
    int hints;
} block_t;

/* The block of a task. A thread's blocks follow each other along rows of the result, or, if
 * along_rows, of the source. */
static block_t find_block(const job_t *job, int64_t task, int trans)
{
    const tilemm__transpose_cpu_blocks_t *const b = &job->plan->blocks;
    const tilemm__transpose_args_t *const args = job->args;
    const int64_t size = (int64_t)args->elem_size;
    const int64_t row_blocks = tilemm__transpose_row_blocks(b);
    const int64_t col_blocks = tilemm__transpose_col_blocks(b);
    const int64_t matrix = task / (row_blocks * col_blocks);
    const int64_t of_it = task % (row_blocks * col_blocks);
    const int64_t row_block =
        (b->along_rows ? of_it / col_blocks : of_it % row_blocks) - (b->head > 0);
    const int64_t col_block =
        (b->along_rows ? of_it % col_blocks : of_it / row_blocks) - (b->head_cols > 0);
    const int64_t i = row_block < 0 ? 0 : b->head + row_block * b->block_rows;
    const int64_t j = col_block < 0 ? 0 : b->head_cols + col_block * b->block_cols;
    const int64_t at_src = matrix * args->stride_src + i * b->ld_src + j;
    const int64_t at_dst =
        matrix * args->stride_dst + (trans ? j * b->ld_dst + i : i * b->ld_dst + j);
    return (block_t){
        .rows = row_block < 0 ? b->head : tilemm__min(b->block_rows, b->rows - i),
        .cols = col_block < 0 ? b->head_cols : tilemm__min(b->block_cols, b->cols - j),
        .src = args->src ? (const char *)args->src + at_src * size : NULL,
        .dst = (char *)args->dst + at_dst * size,
        .hints = b->stream && row_block >= 0 ? TILEMM__BLOCK_STREAM : 0,
    };
}

/* Prefetch a block of the source. Inlined: compilers drop calls of a function without effects. */
static inline __attribute__((always_inline)) void prefetch_block(const block_t *block, int64_t ld,
                                                                 int64_t size)
{
    for (int64_t i = 0; i < block->rows; i++)
        for (int64_t at = 0; at < block->cols * size; at += 64)
            __builtin_prefetch(block->src + i * ld * size + at, 0, 2);
}

void tilemm__cpu_transpose_blocks(void *data, thread_t me)
{
    const job_t *const job = data;
    const tilemm__transpose_cpu_blocks_t *const b = &job->plan->blocks;
    tilemm__transpose_block_t *const transpose = job->kernels->block[job->plan->kind];
    const float alpha = job->args->alpha;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t ld =
        tilemm__transpose_block_ld(b->lines ? b->block_rows : b->block_cols, job->args->elem_size);
    /* 64: vectors read from it are best aligned. */
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    char *const scratch = my_scratch(job, me, stack, &bytes);
    int64_t task, end;
    my_share(me, tilemm__transpose_tasks(b), &task, &end);
    for (; task < end; task++) {
        const block_t block = find_block(job, task, 1);
        const int ahead = b->ahead && task + 1 < end;
        const block_t next = ahead ? find_block(job, task + 1, 1) : block;
        if (b->buffered) {
            if (ahead)
                prefetch_block(&next, b->ld_src, size);
            copy_rows(scratch, ld, block.src, b->ld_src, block.rows, block.cols, size);
            transpose(block.rows, block.cols, scratch, ld, block.dst, b->ld_dst, alpha,
                      block.hints | TILEMM__BLOCK_NEAR, NULL);
        } else if (b->lines) {
            transpose(block.rows, block.cols, block.src, b->ld_src, scratch, ld, alpha, 0,
                      ahead ? next.src : NULL);
            job->kernels->stream(block.cols, block.rows * size, scratch, ld * size, block.dst,
                                 b->ld_dst * size);
        } else {
            transpose(block.rows, block.cols, block.src, b->ld_src, block.dst, b->ld_dst, alpha,
                      block.hints, ahead ? next.src : NULL);
        }
    }
}

void tilemm__cpu_copy_blocks(void *data, thread_t me)
{
    const job_t *const job = data;
    const tilemm__transpose_cpu_blocks_t *const b = &job->plan->blocks;
    const int64_t size = (int64_t)job->args->elem_size;
    int64_t task, end;
    my_share(me, tilemm__transpose_tasks(b), &task, &end);
    for (; task < end; task++) {
        const block_t block = find_block(job, task, 0);
        for (int64_t i = 0; i < block.rows; i++) {
            const int64_t row = i * b->ld_src * size;
            void *dst = block.dst + i * b->ld_dst * size;
            if (job->plan->method == TILEMM__TRANSPOSE_CPU_FILL)
                memset(dst, 0, (size_t)(block.cols * size));
            else if (job->plan->kind == TILEMM__TRANSPOSE_SCALED)
                job->kernels->scale(block.cols, (const void *)(block.src + row), dst,
                                    job->args->alpha);
            else
                memcpy(dst, block.src + row, (size_t)(block.cols * size));
        }
    }
}
