# speed.py - how long NumPy's a @ b takes in float32: with the BLAS drop-in, by tilemm_sgemm directly, and
# by NumPy's own BLAS. It is no test: it prints a table in Markdown.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Usage: python3 tests/blas/speed.py LIBRARY [--sizes 256,512,...] [--threads 1,2] [--mode auto|cpu|cuda]
#     LIBRARY  libtilemm-blas.so; libtilemm.so.0 is found through it
# The three run in turns, each in a process of its own; the table has the shortest time of each.
import argparse
import ctypes
import os
import subprocess
import sys
import time


def shortest(call, size):
    repeat = max(1, min(2000, int(2e9 / size**3)))
    call(), call()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        times.append((time.perf_counter() - start) / repeat)
    return min(times)


def worker(library, kind, size):
    import numpy as np

    rng = np.random.default_rng(size)
    a, b = (rng.standard_normal((size, size), np.float32) for _ in range(2))
    c = np.empty_like(a)
    if kind != "direct":
        print(shortest(lambda: np.matmul(a, b, out=c), size))
        return
    lib = ctypes.CDLL(library)  # which loads libtilemm
    tilemm = ctypes.CDLL("libtilemm.so.0")
    context = ctypes.c_void_p()
    assert lib and tilemm.tilemm_create(ctypes.byref(context), 0, 0) == 0
    pointer, number, factor = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float
    sgemm = tilemm.tilemm_sgemm
    sgemm.argtypes = [pointer] + 3 * [ctypes.c_int] + 3 * [number] + [
        factor, pointer, number, pointer, number, factor, pointer, number]
    arguments = (context, 101, 111, 111, size, size, size, 1, a.ctypes.data, size, b.ctypes.data, size,
                 0, c.ctypes.data, size)
    assert sgemm(*arguments) == 0
    print(shortest(lambda: sgemm(*arguments), size))


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
        worker(library, options.worker[0], int(options.worker[1]))
        return
    kinds = {"drop-in": {"LD_PRELOAD": library, "TILEMM_BLAS": options.mode}, "direct": {}, "NumPy": {}}
    print("| threads | size | drop-in, %s | tilemm_sgemm | NumPy alone | drop-in - tilemm_sgemm |" % options.mode)
    print("|---:|---:|---:|---:|---:|---:|")
    for threads in options.threads.split(","):
        for size in options.sizes.split(","):
            best = dict.fromkeys(kinds, float("inf"))
            for _ in range(options.rounds):
                for kind, variables in kinds.items():
                    environment = dict(os.environ, TILEMM_NUM_THREADS=threads, OMP_NUM_THREADS=threads,
                                       OPENBLAS_NUM_THREADS=threads, **variables)
                    command = [sys.executable, os.path.abspath(__file__), library, "--worker", kind, size]
                    got = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                    best[kind] = min(best[kind], float(got.stdout))
            rates = " | ".join("%.1f us, %.1f GF/s" % (1e6 * t, 2e-9 * int(size)**3 / t) for t in best.values())
            print("| %s | %s | %s | %+.1f us |" % (threads, size, rates, 1e6 * (best["drop-in"] - best["direct"])),
                  flush=True)


main()
