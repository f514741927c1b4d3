/* A warp that reads floats two apart, on compute capability 9.0. It prints:
 *
 *     shared: 2 wavefronts where 1 would do
 *     global: 8 transactions, 50 % of the bytes wanted
 */
#include <stdio.h>
#include <tilemm.h>

int main(void)
{
    tilemm_warp_access_t access = {.elem_bytes = 4, .active = 0xffffffff};
    tilemm_shared_cost_t shared;
    tilemm_global_cost_t global;
    char why[100];
    for (int lane = 0; lane < 32; lane++)
        access.addr[lane] = 8 * (uint64_t)lane;
    if (tilemm_model_check(90, &access, why, sizeof why) !=
        TILEMM_SUCCESS) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    tilemm_model_shared_load(90, &access, &shared);
    printf("shared: %d wavefronts where %d would do\n", shared.wavefronts,
           shared.ideal);
    tilemm_model_global(90, 1, 0, &access, &global);
    printf("global: %d transactions, %g %% of the bytes wanted\n",
           global.transactions, 100 * global.efficiency);
    return 0;
}
