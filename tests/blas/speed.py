# speed.py - how long NumPy's a @ b takes in float32: with the BLAS drop-in, by tilemm_sgemm directly, by
# NumPy's own BLAS, and with NVBLAS before it. It is no test: it prints a table in Markdown.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Usage: python3 tests/blas/speed.py LIBRARY [--sizes 256,512,...] [--threads 1,2] [--mode auto|cpu|cuda]
#                                    [--nvblas LIBNVBLAS,BLAS]
#     LIBRARY           libtilemm-blas.so; libtilemm.so.0 is found through it
#     --nvblas          libnvblas.so, and the BLAS for what it does not take: a @ b with it preloaded, and its
#                       sgemm_ called directly, since it has no symbol that NumPy calls
# What is called directly runs in turns with a @ b in one process, each of the others in its own; the table has
# the shortest times.
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time


def shortest(calls, size):
    """The shortest time of each call, in turns: of some 2e11 operations, of three runs, or of 5 seconds."""
    repeat = max(1, int(4e8 / size**3))
    best = [float("inf")] * len(calls)
    end = time.perf_counter() + 5
    for _ in range(max(3, min(150, int(2e11 / size**3 / repeat)))):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            best[i] = min(best[i], (time.perf_counter() - start) / repeat)
        if time.perf_counter() > end:
            break
    return best


def by_tilemm(library, size, mode, a, b, c):
    """A call of tilemm_sgemm."""
    ctypes.CDLL(library)  # which loads libtilemm
    tilemm = ctypes.CDLL("libtilemm.so.0")
    context = ctypes.c_void_p()
    assert tilemm.tilemm_create(ctypes.byref(context), {"auto": 0, "cpu": 1, "cuda": 2}[mode], 0) == 0
    pointer, number, factor = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float
    sgemm = tilemm.tilemm_sgemm
    sgemm.argtypes = [pointer] + 3 * [ctypes.c_int] + 3 * [number] + [
        factor, pointer, number, pointer, number, factor, pointer, number]
    arguments = (context, 101, 111, 111, size, size, size, 1, a.ctypes.data, size, b.ctypes.data, size, 0,
                 c.ctypes.data, size)
    assert sgemm(*arguments) == 0
    return lambda: sgemm(*arguments)


def by_fortran(library, size, a, b, c):
    """A call of a library's sgemm_: of the column-major matrices, C' = B' A'."""
    sgemm = ctypes.CDLL(library).sgemm_
    n, one, zero = ctypes.c_int(size), ctypes.c_float(1), ctypes.c_float(0)
    parts = [ctypes.c_void_p(x.ctypes.data) for x in (b, a, c)]
    reference = ctypes.byref
    arguments = (b"N", b"N", reference(n), reference(n), reference(n), reference(one), parts[0], reference(n),
                 parts[1], reference(n), reference(zero), parts[2], reference(n))
    return lambda: sgemm(*arguments)


def worker(kind, library, size, mode):
    import numpy as np

    rng = np.random.default_rng(size)
    a, b = (rng.standard_normal((size, size), np.float32) for _ in range(2))
    c = np.zeros_like(a)
    calls = [lambda: np.matmul(a, b, out=c)]
    if kind == "preloaded":
        calls.append(by_tilemm(library, size, mode, a, b, c))
    elif kind == "nvblas":
        calls.append(by_fortran(library, size, a, b, c))
    exact = a[:8].astype(np.float64) @ b
    for call in calls:  # which warms up, too
        c[:] = np.nan
        call()
        assert np.abs(c[:8] - exact).max() < 1e-5 * size, "a wrong product"
    print(*shortest(calls, size))


def environment_of(kind, library, threads, mode, nvblas):
    """The variables of a worker's process."""
    environment = dict(os.environ, TILEMM_NUM_THREADS=threads, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads)
    if kind == "preloaded":
        environment.update(LD_PRELOAD=library, TILEMM_BLAS=mode)
    elif kind == "nvblas":
        environment.update(LD_PRELOAD=nvblas, NVBLAS_CONFIG_FILE=os.environ["NVBLAS_CONFIG_FILE"])
    return environment


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--sizes", default="256,512,1024,2048,4096")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--nvblas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", nargs=2)
    options = parser.parse_args()
    library = os.path.abspath(options.library)
    if options.worker:
        worker(options.worker[0], library, int(options.worker[1]), options.mode)
        return
    kinds = {"preloaded": library, "alone": library}
    columns = ["drop-in, " + options.mode, "tilemm_sgemm", "NumPy alone"]
    nvblas = None
    if options.nvblas:
        nvblas, blas = options.nvblas.split(",")
        kinds["nvblas"] = nvblas
        columns += ["NVBLAS preloaded", "NVBLAS's sgemm_"]
        with tempfile.NamedTemporaryFile("w", suffix=".conf", delete=False) as file:
            file.write("NVBLAS_LOGFILE %s.log\nNVBLAS_CPU_BLAS_LIB %s\nNVBLAS_GPU_LIST ALL\n" % (file.name, blas))
        os.environ["NVBLAS_CONFIG_FILE"] = file.name
    print("| threads | size |" + "".join(" %s |" % column for column in columns))
    print("|---:|---:|" + "---:|" * len(columns))
    for threads in options.threads.split(","):
        for size in options.sizes.split(","):
            best = [float("inf")] * len(columns)
            for _ in range(options.rounds):
                times = []
                for kind, path in kinds.items():
                    command = [sys.executable, os.path.abspath(__file__), path, "--mode", options.mode]
                    got = subprocess.run(command + ["--worker", kind, size], check=True, stdout=subprocess.PIPE,
                                         text=True, env=environment_of(kind, library, threads, options.mode, nvblas))
                    times += [float(time) for time in got.stdout.split()]
                best = [min(pair) for pair in zip(best, times)]
            rates = ["%.1f us, %.1f GF/s" % (1e6 * t, 2e-9 * int(size) ** 3 / t) for t in best]
            print("| %s | %s |" % (threads, size) + "".join(" %s |" % rate for rate in rates), flush=True)


main()
