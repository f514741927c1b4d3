/* restrict.cu - __restrict__, on and off. Shows what the compiler must do when a store might change
 * what it has loaded: load it again, and store each time; and what it leaves out when told that the
 * arrays do not overlap. Loads and stores are counted in the program's own machine code, by
 * cuobjdump where it is in PATH.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "../example.h"

enum { COUNT = 1 << 24, THREADS = 256, ROUNDS = 16 };

extern "C" __global__ void may_overlap(unsigned *out, const unsigned *in)
{
    const size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;

#pragma unroll
    for (int r = 0; r < ROUNDS; r++)
        out[i] = out[i] * 3 + in[i];
}

extern "C" __global__ void do_not_overlap(unsigned *__restrict__ out,
                                          const unsigned *__restrict__ in)
{
    const size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;

#pragma unroll
    for (int r = 0; r < ROUNDS; r++)
        out[i] = out[i] * 3 + in[i];
}

/* The loads from and stores to global memory in a kernel's machine code; false if unknown. */
static bool count(const char *kernel, int *loads, int *stores)
{
    FILE *sass = popen("cuobjdump -sass /proc/$PPID/exe 2>/dev/null", "r"); /* this program */
    bool inside = false, found = false;
    char line[512];

    *loads = *stores = 0;
    while (sass && fgets(line, sizeof line, sass)) {
        const char *name = strstr(line, "Function : ");
        if (name) { /* one for each architecture that the program is built for: the first */
            inside = !found && strncmp(name + 11, kernel, strlen(kernel)) == 0;
            found |= inside;
        }
        *loads += inside && strstr(line, " LDG.");
        *stores += inside && strstr(line, " STG.");
    }
    if (sass)
        pclose(sass);
    return found;
}

/* Returns the loads in the kernel's code, 0 if unknown. */
static int show(const char *name, void (*kernel)(unsigned *, const unsigned *), const unsigned *in)
{
    std::vector<unsigned> host(COUNT);
    int loads, stores;

    const double clearing = seconds(host, [&](cudaStream_t stream, unsigned *out) {
        CUDA(cudaMemsetAsync(out, 0, COUNT * sizeof *out, stream));
    });
    const double time = seconds(host, [&](cudaStream_t stream, unsigned *out) {
        CUDA(cudaMemsetAsync(out, 0, COUNT * sizeof *out, stream));
        kernel<<<COUNT / THREADS, THREADS, 0, stream>>>(out, in);
    });
    for (unsigned i = 0; i < COUNT; i++)
        expect(host[i] == i * ((43046721u - 1) / 2), name); /* i (1 + 3 + ... + 3^15) */
    const bool known = count(name, &loads, &stores);
    if (known)
        printf("%-15s %2d loads and %2d stores in its code: ", name, loads, stores);
    else
        printf("%-15s (no cuobjdump to count its loads): ", name);
    printf("%8.1f us\n", (time - clearing) * 1e6);
    return known ? loads : 0;
}

int main(void)
{
    std::vector<unsigned> host(COUNT);

    example_begin("__restrict__, on and off", 50);
    for (unsigned i = 0; i < COUNT; i++)
        host[i] = i;
    unsigned *in = to_device(host);
    const int loads = show("may_overlap", may_overlap, in);
    const int fewer = show("do_not_overlap", do_not_overlap, in);
    expect(fewer < loads || loads == 0, "__restrict__ saves no load");
    CUDA(cudaFree(in));
    return 0;
}
