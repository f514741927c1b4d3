"""numpy_preload.py - a NumPy program, which knows nothing of libtilemm, with and without the BLAS drop-in:

    python3 numpy_preload.py
    LD_PRELOAD=libtilemm-blas.so.0 python3 numpy_preload.py
    TILEMM_BLAS_REPORT=1 LD_PRELOAD=libtilemm-blas.so.0 python3 numpy_preload.py

A layer of a neural network, in float32: prints the rate of its products and their error against float64.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import sys
import time

import numpy as np


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    random = np.random.default_rng(1)
    x, w = random.standard_normal((2, size, size), np.float32)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        y = x @ w
        times.append(time.perf_counter() - start)
    exact = x[:64].astype(np.float64) @ w
    error = np.abs(y[:64] - exact).max() / np.abs(exact).max()
    print(f"{size}x{size}x{size}: {2 * size**3 / min(times) / 1e9:.1f} GFLOP/s, error {error:.1e}")
    print(f"norm {np.linalg.norm(y[0]):.1f}, dot {np.dot(y[0], y[1]):.1f}")


main()
