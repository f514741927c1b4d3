/* blocks_cpu.c - matrices that are taken block by block on the CPU: one thread's part.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "team_cpu.h"

typedef struct {
    int64_t rows, cols; /* of the source's block */
    const char *src;
    char *dst;
} block_t;

static block_t find_block(const job_t *job, int64_t task, int trans)
{
    const tilemm__transpose_cpu_blocks_t *const b = &job->plan->blocks;
    const tilemm__transpose_args_t *const args = job->args;
    const int64_t size = (int64_t)args->elem_size;
    const int64_t row_blocks = tilemm__transpose_row_blocks(b);
    const int64_t strips = tilemm__div_up(b->cols, b->block_cols);
    const int64_t matrix = task / row_blocks / strips;
    const int64_t i = task % row_blocks * b->block_rows;
    const int64_t j = task / row_blocks % strips * b->block_cols;
    const int64_t at_src = matrix * args->stride_src + i * b->ld_src + j;
    const int64_t at_dst =
        matrix * args->stride_dst + (trans ? j * b->ld_dst + i : i * b->ld_dst + j);
    return (block_t){
        .rows = tilemm__min(b->block_rows, b->rows - i),
        .cols = tilemm__min(b->block_cols, b->cols - j),
        .src = args->src ? (const char *)args->src + at_src * size : NULL,
        .dst = (char *)args->dst + at_dst * size,
    };
}

/* The rows of the source that fill a line of scratch are read together from end to end, so that the
 * hardware prefetches them; short ones together with more. */
static void gather(const job_t *job, const block_t *block, char *scratch, int64_t ld)
{
    enum { READ = 32768 };
    const int64_t size = (int64_t)job->args->elem_size, line = 64 / size;
    const int64_t ld_src = job->plan->blocks.ld_src;
    const int64_t rows = tilemm__round_up(READ / (block->cols * size) + 1, line);
    for (int64_t i = 0; i < block->rows; i += rows)
        job->kernels->block[job->plan->kind](tilemm__min(rows, block->rows - i), block->cols,
                                             block->src + i * ld_src * size, ld_src,
                                             scratch + i * size, ld, job->args->alpha, 0);
}

/* Tasks from `first` to before `end`, one after the other. */
static void transpose_blocks(const job_t *job, char *scratch, int64_t first, int64_t end)
{
    const tilemm__transpose_cpu_blocks_t *const b = &job->plan->blocks;
    tilemm__transpose_block_t *const transpose = job->kernels->block[job->plan->kind];
    const float alpha = job->args->alpha;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t row_blocks = tilemm__transpose_row_blocks(b);
    const int64_t ld =
        tilemm__transpose_block_ld(b->lines ? b->block_rows : b->block_cols, job->args->elem_size);
    for (int64_t task = first; task < end; task++) {
        const block_t block = find_block(job, task, 1);
        if (b->buffered) {
            copy_rows(scratch, ld, block.src, b->ld_src, block.rows, block.cols, size);
            transpose(block.rows, block.cols, scratch, ld, block.dst, b->ld_dst, alpha, 1);
        } else if (b->lines) {
            const int began = task > first && task % row_blocks > 0;
            const int goes_on = task + 1 < end && (task + 1) % row_blocks > 0;
            char *const rows = scratch + TILEMM__STREAM_LEAD;
            gather(job, &block, rows, ld);
            job->kernels->stream(block.cols, block.rows * size, rows, ld * size, block.dst,
                                 b->ld_dst * size, began, goes_on);
        } else {
            transpose(block.rows, block.cols, block.src, b->ld_src, block.dst, b->ld_dst, alpha, 0);
        }
    }
}

void tilemm__cpu_transpose_blocks(void *data, thread_t me)
{
    enum { TURNS = 4 };
    job_t *const job = data;
    /* 64: vectors read from it are best aligned. */
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    char *const scratch = my_scratch(job, me, stack, &bytes);
    const int64_t tasks = tilemm__transpose_tasks(&job->plan->blocks);
    int64_t first, end;
    if (me.of == 1 || !job->plan->blocks.lines) {
        /* What lies in a thread's L2 from the last call is its own again. */
        my_share(me, tasks, &first, &end);
        transpose_blocks(job, scratch, first, end);
        return;
    }
    const int64_t count = tilemm__div_up(tasks, TURNS * me.of);
    while ((first = take(&job->next, count)) < tasks)
        transpose_blocks(job, scratch, first, tilemm__min(first + count, tasks));
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
