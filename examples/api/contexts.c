/* A context on a CUDA device if one is usable, else on the CPU. */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    tilemm_t ctx;
    tilemm_backend_t backend;
    if (tilemm_create(&ctx, TILEMM_BACKEND_AUTO, 0) != TILEMM_SUCCESS) {
        fprintf(stderr, "%s\n", tilemm_create_error());
        return 1;
    }
    if (tilemm_get_backend(ctx, &backend) == TILEMM_SUCCESS)
        fprintf(stderr, "on %s\n",
                backend == TILEMM_BACKEND_CUDA ? "a GPU" : "the CPU");
    /* ... */
    return tilemm_destroy(ctx) != TILEMM_SUCCESS;
}
