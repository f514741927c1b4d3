# speed.py - how long NumPy's a @ b takes in float32: with the BLAS drop-in, by tilemm_sgemm directly, and
# by NumPy's own BLAS. It is no test: it prints a table in Markdown.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Usage: python3 tests/blas/speed.py LIBRARY [--sizes 256,512,...] [--threads 1,2] [--mode auto|cpu|cuda]
#     LIBRARY  libtilemm-blas.so; libtilemm.so.0 is found through it
# The first two run in turns in one process, the third in another; the table has the shortest times.
import argparse
import ctypes
import os
import subprocess
import sys
import time


def shortest(calls, size):
    """The shortest time of each call, in turns."""
    repeat = max(1, int(4e8 / size**3))
    best = [float("inf")] * len(calls)
    for sample in range(max(6, min(150, int(2e11 / size**3 / repeat)))):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            if sample:  # the first warms up
                best[i] = min(best[i], (time.perf_counter() - start) / repeat)
    return best


def worker(library, preloaded, size):
    import numpy as np

    rng = np.random.default_rng(size)
    a, b = (rng.standard_normal((size, size), np.float32) for _ in range(2))
    c = np.empty_like(a)
    calls = [lambda: np.matmul(a, b, out=c)]
    if preloaded:
        ctypes.CDLL(library)  # which loads libtilemm
        tilemm = ctypes.CDLL("libtilemm.so.0")
        context = ctypes.c_void_p()
        assert tilemm.tilemm_create(ctypes.byref(context), 0, 0) == 0
        pointer, number, factor = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float
        sgemm = tilemm.tilemm_sgemm
        sgemm.argtypes = [pointer] + 3 * [ctypes.c_int] + 3 * [number] + [
            factor, pointer, number, pointer, number, factor, pointer, number]
        arguments = (context, 101, 111, 111, size, size, size, 1, a.ctypes.data, size, b.ctypes.data, size,
                     0, c.ctypes.data, size)
        assert sgemm(*arguments) == 0
        calls.append(lambda: sgemm(*arguments))
    print(*shortest(calls, size))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--sizes", default="256,512,1024,2048,4096")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", nargs=2)
    options = parser.parse_args()
    library = os.path.abspath(options.library)
    if options.worker:
        worker(library, options.worker[0] == "preloaded", int(options.worker[1]))
        return
    print("| threads | size | drop-in, %s | tilemm_sgemm | NumPy alone | drop-in - tilemm_sgemm |" % options.mode)
    print("|---:|---:|---:|---:|---:|---:|")
    for threads in options.threads.split(","):
        for size in options.sizes.split(","):
            best = [float("inf")] * 3
            for _ in range(options.rounds):
                times = []
                for kind in "preloaded", "alone":
                    environment = dict(os.environ, TILEMM_NUM_THREADS=threads, OMP_NUM_THREADS=threads,
                                       OPENBLAS_NUM_THREADS=threads)
                    if kind == "preloaded":
                        environment.update(LD_PRELOAD=library, TILEMM_BLAS=options.mode)
                    command = [sys.executable, os.path.abspath(__file__), library, "--worker", kind, size]
                    got = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                    times += [float(time) for time in got.stdout.split()]
                best = [min(pair) for pair in zip(best, times)]
            rates = " | ".join("%.1f us, %.1f GF/s" % (1e6 * t, 2e-9 * int(size)**3 / t) for t in best)
            print("| %s | %s | %s | %+.1f us |" % (threads, size, rates, 1e6 * (best[0] - best[1])), flush=True)


main()
