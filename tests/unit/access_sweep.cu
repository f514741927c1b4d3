/* access_sweep.cu - runs accesses of access_patterns.h for the profiler to count: those to the
 * space and by the operation that the arguments name. Each is a launch of one warp, in the order of
 * the table. Prints NUMBER,HASH,NAME of each, then the compute capability and name of the device.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <cstdlib>

#include "access_patterns.h"

struct request_t {
    uint32_t active;
    uint32_t offset[32];
};

/* Volatile assembly, so that exactly this instruction is counted. A load's value is compared with
 * an unlikely one and stored if equal: otherwise the assembler would remove the load. (It knows
 * that a byte is at most 255.) AT is the constraint of an address in the space. */
#define ACCESS(SPACE, ADDRESS, AT, BYTES, TYPE, REGISTER, PTX)                                     \
    template <>                                                                                    \
    __device__ void access_##SPACE<BYTES, false>(ADDRESS at, unsigned *sink)                       \
    {                                                                                              \
        TYPE value;                                                                                \
        asm volatile("ld." #SPACE "." PTX " %0, [%1];" : "=" REGISTER(value) : AT(at) : "memory"); \
        if (value == (TYPE)(0x5a5a5a5a5a5a5a5aull >> (64 - 8 * BYTES)))                            \
            *sink = 1;                                                                             \
    }                                                                                              \
    template <>                                                                                    \
    __device__ void access_##SPACE<BYTES, true>(ADDRESS at, unsigned *)                            \
    {                                                                                              \
        asm volatile("st." #SPACE "." PTX " [%0], %1;" ::AT(at), REGISTER((TYPE)threadIdx.x)       \
                     : "memory");                                                                  \
    }

#define ACCESSES(SPACE, ADDRESS, AT)                                                               \
    template <int BYTES, bool STORE>                                                               \
    __device__ void access_##SPACE(ADDRESS at, unsigned *sink);                                    \
    ACCESS(SPACE, ADDRESS, AT, 1, unsigned short, "h", "u8")                                       \
    ACCESS(SPACE, ADDRESS, AT, 2, unsigned short, "h", "u16")                                      \
    ACCESS(SPACE, ADDRESS, AT, 4, unsigned, "r", "u32")                                            \
    ACCESS(SPACE, ADDRESS, AT, 8, unsigned long long, "l", "u64")                                  \
    template <>                                                                                    \
    __device__ void access_##SPACE<16, false>(ADDRESS at, unsigned *sink)                          \
    {                                                                                              \
        uint4 v;                                                                                   \
        asm volatile("ld." #SPACE ".v4.u32 {%0, %1, %2, %3}, [%4];"                                \
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                  \
                     : AT(at)                                                                      \
                     : "memory");                                                                  \
        if ((v.x & v.y & v.z & v.w) == 0x5a5a5a5a)                                                 \
            *sink = 1;                                                                             \
    }                                                                                              \
    template <>                                                                                    \
    __device__ void access_##SPACE<16, true>(ADDRESS at, unsigned *)                               \
    {                                                                                              \
        asm volatile("st." #SPACE ".v4.u32 [%0], {%1, %1, %1, %1};" ::AT(at), "r"(threadIdx.x)     \
                     : "memory");                                                                  \
    }

ACCESSES(shared, unsigned, "r")
ACCESSES(global, char *, "l")

template <int BYTES, bool STORE>
__global__ void shared_access(const __grid_constant__ request_t request, unsigned *sink)
{
    extern __shared__ __align__(128) char memory[];
    const unsigned lane = threadIdx.x;
    if (request.active >> lane & 1)
        access_shared<BYTES, STORE>(
            (unsigned)__cvta_generic_to_shared(memory) + request.offset[lane], sink);
}

template <int BYTES, bool STORE>
__global__ void global_access(const __grid_constant__ request_t request, char *memory,
                              unsigned *sink)
{
    const unsigned lane = threadIdx.x;
    if (request.active >> lane & 1)
        access_global<BYTES, STORE>(memory + request.offset[lane], sink);
}

template <int BYTES, bool STORE>
static void launch(const pattern_t &pattern, const request_t &request, char *memory, unsigned *sink)
{
    if (pattern.is_global)
        global_access<BYTES, STORE><<<1, 32>>>(request, memory, sink);
    else
        shared_access<BYTES, STORE><<<1, 32, PATTERN_MOST_BYTES>>>(request, sink);
}

template <int BYTES>
static void launch(const pattern_t &pattern, const request_t &request, char *memory, unsigned *sink)
{
    if (pattern.is_store)
        launch<BYTES, true>(pattern, request, memory, sink);
    else
        launch<BYTES, false>(pattern, request, memory, sink);
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);
    }
}

int main(int argc, char **argv)
{
    static pattern_t patterns[PATTERN_MOST];
    cudaDeviceProp device;
    char *memory;
    unsigned *sink;

    if (argc != 3) {
        fprintf(stderr, "usage: %s shared|global ld|st\n", argv[0]);
        return 2;
    }
    const int all = make_patterns(patterns);
    int count = 0;
    for (int i = 0; i < all; i++) {
        if (patterns[i].is_global != (strcmp(argv[1], "global") == 0) ||
            patterns[i].is_store != (strcmp(argv[2], "st") == 0))
            continue;
        printf("%d,%08x,%s\n", i, (unsigned)pattern_hash(&patterns[i]), patterns[i].name);
        patterns[count++] = patterns[i];
    }
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaMalloc(&memory, PATTERN_MOST_BYTES));
    check(cudaMalloc(&sink, sizeof *sink));
    check(cudaMemset(memory, 0, PATTERN_MOST_BYTES));
    for (int i = 0; i < count; i++) {
        request_t request;
        request.active = patterns[i].access.active;
        for (int lane = 0; lane < 32; lane++)
            request.offset[lane] = (uint32_t)patterns[i].access.addr[lane];
        switch (patterns[i].access.elem_bytes) {
        case 1: launch<1>(patterns[i], request, memory, sink); break;
        case 2: launch<2>(patterns[i], request, memory, sink); break;
        case 4: launch<4>(patterns[i], request, memory, sink); break;
        case 8: launch<8>(patterns[i], request, memory, sink); break;
        default: launch<16>(patterns[i], request, memory, sink); break;
        }
        check(cudaGetLastError());
    }
    check(cudaDeviceSynchronize());
    check(cudaFree(sink));
    check(cudaFree(memory));
    printf("device %d %s\n", device.major * 10 + device.minor, device.name);
    return 0;
}
