/* restrict.cu - __restrict__, on and off. Shows what the compiler must do when a store might change
 * what it has loaded: load it again, and store each time; and what it leaves out when told that the
 * arrays do not overlap. Loads and stores are counted in the program's own machine code, by
 * cuobjdump where it is in PATH.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <unistd.h>
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
    char program[4096], command[4200], line[512];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    bool inside = false, found = false;

    if (length < 0)
        return false;
    program[length] = 0;
    snprintf(command, sizeof command, "cuobjdump -sass '%s' 2>/dev/null", program);
    FILE *sass = popen(command, "r");
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

static double show(const char *name, void (*kernel)(unsigned *, const unsigned *), unsigned *out,
                   const unsigned *in)
{
    std::vector<unsigned> host(COUNT);
    int loads, stores;

    const double time = seconds([&](cudaStream_t stream) {
        CUDA(cudaMemsetAsync(out, 0, COUNT * sizeof *out, stream));
        kernel<<<COUNT / THREADS, THREADS, 0, stream>>>(out, in);
    });
    const double clearing = seconds(
        [&](cudaStream_t stream) { CUDA(cudaMemsetAsync(out, 0, COUNT * sizeof *out, stream)); });
    kernel<<<COUNT / THREADS, THREADS>>>(out, in);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(host.data(), out, COUNT * sizeof *out, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < COUNT; i++)
        expect(host[i] == i * ((43046721u - 1) / 2), name); /* i (1 + 3 + ... + 3^15) */
    if (count(name, &loads, &stores))
        printf("%-15s %2d loads and %2d stores in its code: ", name, loads, stores);
    else
        printf("%-15s (no cuobjdump to count its loads): ", name);
    printf("%8.1f us\n", (time - clearing) * 1e6);
    return time;
}

int main(void)
{
    std::vector<unsigned> host(COUNT);
    unsigned *in, *out;
    int loads, fewer, stores;

    example_begin("__restrict__, on and off", 50);
    for (unsigned i = 0; i < COUNT; i++)
        host[i] = i;
    CUDA(cudaMalloc(&in, COUNT * sizeof *in));
    CUDA(cudaMalloc(&out, COUNT * sizeof *out));
    CUDA(cudaMemcpy(in, host.data(), COUNT * sizeof *in, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    show("may_overlap", may_overlap, out, in);
    show("do_not_overlap", do_not_overlap, out, in);
    if (count("may_overlap", &loads, &stores) && count("do_not_overlap", &fewer, &stores))
        expect(fewer < loads, "__restrict__ saves no load");
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    return 0;
}
