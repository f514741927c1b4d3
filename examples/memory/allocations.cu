/* allocations.cu - linear, pitched and three-dimensional allocations, and their copies. Shows that
 * rows of an odd length, packed, are not aligned: a warp at a row's start then touches five sectors
 * instead of four, which the pitch that the runtime chooses avoids; and how 2-D and 3-D copies move
 * between packed and pitched memory.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "../example.h"

enum { COLS = 4095, ROWS = 4096, WIDTH = COLS * 4 /* bytes */, X = 65, Y = 33, Z = 17 };

/* Each warp walks along a row by 32 elements; rows are `pitch` bytes apart. */
static __global__ void twice(float *out, const float *in, size_t pitch)
{
    const size_t row = blockIdx.x * blockDim.y + threadIdx.y;
    float *to = (float *)((char *)out + row * pitch);
    const float *from = (const float *)((const char *)in + row * pitch);

    for (int col = threadIdx.x; col < COLS; col += 32)
        to[col] = from[col] * 2;
}

static __global__ void number(cudaPitchedPtr volume)
{
    const size_t row = blockIdx.y * volume.ysize + blockIdx.x; /* of all rows of all slices */

    ((float *)((char *)volume.ptr + row * volume.pitch))[threadIdx.x] +=
        (float)(threadIdx.x + 100 * blockIdx.x + 10000 * blockIdx.y);
}

/* Time `twice` on rows that are `pitch` bytes apart, and check it against the packed input. */
static void run_rows(const char *what, float *out, float *in, size_t pitch,
                     const std::vector<float> &host)
{
    std::vector<float> back(host.size());

    CUDA(cudaMemcpy2D(in, pitch, host.data(), WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice));
    const double time = seconds(
        [&](cudaStream_t stream) { twice<<<ROWS / 8, dim3(32, 8), 0, stream>>>(out, in, pitch); });

    predict_global(what, 4, false, [&](int lane) { return pitch + lane * 4; }); /* of row 1 */
    printf("%-10s rows %5zu bytes apart: %7.1f us, %5.0f GB/s\n", what, pitch, time * 1e6,
           8.0 * COLS * ROWS / time / 1e9);
    CUDA(cudaMemcpy2D(back.data(), WIDTH, out, pitch, WIDTH, ROWS, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < host.size(); i++)
        expect(back[i] == host[i] * 2, what);
}

static void two_dimensions(void)
{
    std::vector<float> host((size_t)COLS * ROWS);
    float *linear, *linear_out, *pitched, *pitched_out;
    size_t pitch, same;

    for (size_t i = 0; i < host.size(); i++)
        host[i] = (float)(i % 8388608);
    CUDA(cudaMalloc(&linear, WIDTH * ROWS));
    CUDA(cudaMalloc(&linear_out, WIDTH * ROWS));
    CUDA(cudaMallocPitch(&pitched, &pitch, WIDTH, ROWS));
    CUDA(cudaMallocPitch(&pitched_out, &same, WIDTH, ROWS));
    expect(pitch == same, "two allocations of one shape have one pitch");
    run_rows("linear", linear_out, linear, WIDTH, host);
    run_rows("pitched", pitched_out, pitched, pitch, host);

    const double flat = seconds([&](cudaStream_t stream) {
        CUDA(cudaMemcpyAsync(linear_out, linear, WIDTH * ROWS, cudaMemcpyDeviceToDevice, stream));
    });
    const double packing = seconds([&](cudaStream_t stream) {
        CUDA(cudaMemcpy2DAsync(linear_out, WIDTH, pitched, pitch, WIDTH, ROWS,
                               cudaMemcpyDeviceToDevice, stream));
    });
    printf("on the GPU, a copy takes %.1f us, a 2-D copy from pitched to packed %.1f us\n",
           flat * 1e6, packing * 1e6);
    CUDA(cudaFree(linear));
    CUDA(cudaFree(linear_out));
    CUDA(cudaFree(pitched));
    CUDA(cudaFree(pitched_out));
}

static void three_dimensions(void)
{
    const cudaExtent extent = make_cudaExtent(X * sizeof(float), Y, Z);
    std::vector<float> host((size_t)X * Y * Z, 0.5f);
    cudaMemcpy3DParms copy = {};
    cudaPitchedPtr volume;

    CUDA(cudaMalloc3D(&volume, extent));
    copy.srcPtr = make_cudaPitchedPtr(host.data(), X * sizeof(float), X, Y);
    copy.dstPtr = volume;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    number<<<dim3(Y, Z), X>>>(volume);
    CUDA(cudaGetLastError());
    std::swap(copy.srcPtr, copy.dstPtr);
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&copy));
    CUDA(cudaFree(volume.ptr));
    for (int z = 0; z < Z; z++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++)
                expect(host[((size_t)z * Y + y) * X + x] == 0.5f + x + 100 * y + 10000 * z,
                       "three-dimensional");
    printf("3-D: %d x %d x %d floats, rows of %zu bytes %zu apart, slices %zu\n", X, Y, Z,
           X * sizeof(float), volume.pitch, volume.pitch * Y);
}

int main(void)
{
    example_begin("linear, pitched and three-dimensional allocations", 50);
    two_dimensions();
    three_dimensions();
    return 0;
}
