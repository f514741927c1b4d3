/* A product of which A and C need not fit in the GPU's memory, as tilemm_sgemm does it with
 * operands on the host: while one strip of rows is multiplied, the next strip of A goes up and the
 * last strip of C comes down. Three threads, each with a context and a stream, do the three and
 * meet after each step. Two slots of each strip suffice. Without a GPU the same calls run on the
 * CPU. It prints:
 *
 *     3000 x 1000 x 500 in 12 strips: all right
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tilemm.h>

enum { M = 3000, N = 1000, K = 500, STRIP = 256, STRIPS = (M + STRIP - 1) / STRIP };
enum { UP, MULTIPLY, DOWN, STAGES, BYTES = sizeof(float) };
static float *a, *b, *c;                       /* pinned */
static float *b_there, *a_slot[2], *c_slot[2]; /* on the device */
static int64_t lda, ldb, ldc, ldb_there, lda_slot, ldc_slot;
static pthread_barrier_t step_ends;

static void check(tilemm_t ctx, tilemm_status_t status)
{
    if (status == TILEMM_SUCCESS)
        return;
    fprintf(stderr, "%s\n", ctx ? tilemm_last_error(ctx) : tilemm_create_error());
    exit(1);
}

static void *run_stage(void *argument)
{
    const int stage = *(const int *)argument;
    tilemm_t ctx = NULL;
    check(ctx, tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0));
    tilemm_set_stream(ctx, (void *)2); /* cudaStreamPerThread; a CPU has no streams */
    for (int step = 0; step < STRIPS + STAGES - 1; step++) {
        const int64_t strip = step - stage, row = strip * STRIP;
        const int64_t rows = strip < 0 || row > M ? 0 : M - row < STRIP ? M - row : STRIP;
        float *const as = a_slot[strip & 1], *const cs = c_slot[strip & 1];
        if (stage == UP && rows > 0)
            check(ctx, tilemm_copy_matrix(ctx, rows, K, BYTES, a + row * lda, lda, as, lda_slot));
        if (stage == MULTIPLY && rows > 0)
            check(ctx, tilemm_sgemm(ctx, TILEMM_ROW_MAJOR, TILEMM_NO_TRANS, TILEMM_NO_TRANS, rows,
                                    N, K, 1, as, lda_slot, b_there, ldb_there, 0, cs, ldc_slot));
        if (stage == DOWN && rows > 0)
            check(ctx, tilemm_copy_matrix(ctx, rows, N, BYTES, cs, ldc_slot, c + row * ldc, ldc));
        check(ctx, tilemm_synchronize(ctx));
        pthread_barrier_wait(&step_ends);
    }
    check(ctx, tilemm_destroy(ctx));
    return NULL;
}

static float *allocate(tilemm_t ctx, tilemm_memory_t where, int64_t rows, int64_t cols, int64_t *ld)
{
    void *matrix;
    check(ctx, tilemm_alloc_matrix(ctx, where, rows, cols, BYTES, &matrix, ld));
    return matrix;
}

int main(void)
{
    int device, wrong = 0, stages[STAGES] = {UP, MULTIPLY, DOWN};
    pthread_t threads[STAGES];
    tilemm_t ctx = NULL;
    check(ctx, tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0));
    check(ctx, tilemm_get_device(ctx, &device));
    const tilemm_memory_t here = device < 0 ? TILEMM_MEMORY_HOST : TILEMM_MEMORY_PINNED;
    const tilemm_memory_t there = device < 0 ? TILEMM_MEMORY_HOST : TILEMM_MEMORY_DEVICE;
    a = allocate(ctx, here, M, K, &lda);
    b = allocate(ctx, here, K, N, &ldb);
    c = allocate(ctx, here, M, N, &ldc);
    b_there = allocate(ctx, there, K, N, &ldb_there);
    for (int i = 0; i < 2; i++) {
        a_slot[i] = allocate(ctx, there, STRIP, K, &lda_slot);
        c_slot[i] = allocate(ctx, there, STRIP, N, &ldc_slot);
    }
    for (int i = 0; i < M * K; i++) /* A[i, l] = i % 7 if l is even, else 1 */
        a[i / K * lda + i % K] = (float)(i % K % 2 ? 1 : i / K % 7);
    for (int i = 0; i < K * N; i++) /* B[l, j] = j % 11 - 5 */
        b[i / N * ldb + i % N] = (float)(i % N % 11 - 5);
    check(ctx, tilemm_copy_matrix(ctx, K, N, BYTES, b, ldb, b_there, ldb_there));
    check(ctx, tilemm_synchronize(ctx));
    pthread_barrier_init(&step_ends, NULL, STAGES);
    for (int i = 0; i < STAGES; i++)
        if (pthread_create(&threads[i], NULL, run_stage, &stages[i]) != 0)
            return 1;
    for (int i = 0; i < STAGES; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < M * N; i++)
        wrong += c[i / N * ldc + i % N] != (float)(K / 2 * (i / N % 7 + 1) * (i % N % 11 - 5));
    printf("%d x %d x %d in %d strips: %s\n", M, N, K, STRIPS, wrong ? "wrong" : "all right");
    check(ctx, tilemm_destroy(ctx)); /* and free the matrices */
    return wrong != 0;
}
