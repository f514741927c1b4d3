# products.py - NumPy's products and sums under the BLAS drop-in are right, from threads, from children,
# and without a warning.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
import multiprocessing
import sys
import threading
import time
import warnings

import numpy as np

warnings.simplefilter("error")


def check(rng):
    m, n, k = rng.integers(1, 200, 3)
    a = rng.standard_normal((m, k)).astype(np.float32)
    b = rng.standard_normal((n, k)).astype(np.float32).T
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = 2e-6 * np.sqrt(k) * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)).max()
    for product in a @ b, (b.T @ a.T).T, np.dot(a, np.ascontiguousarray(b)):
        assert product.dtype == np.float32 and np.abs(product - exact).max() <= bound
    x = a[0]
    assert abs(np.dot(x, x) - np.dot(x.astype(np.float64), x.astype(np.float64))) <= 1e-5 * k


def many(seed, seconds):
    rng = np.random.default_rng(seed)
    end = time.monotonic() + seconds
    rounds = 0
    while rounds < 5 or time.monotonic() < end:
        check(rng)
        rounds += 1
    return rounds


def child(seed, seconds):
    many(seed, seconds)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1
    many(0, 0)
    failures = []

    def run(seed):
        try:
            many(seed, seconds)
        except BaseException as error:
            failures.append(error)

    context = multiprocessing.get_context("fork")
    before = None
    for part in range(2):  # the second must not need more memory than the first
        workers = [context.Process(target=child, args=(100 + i, seconds / 2)) for i in range(4)]
        threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
        for one in workers + threads:
            one.start()
        for one in threads + workers:
            one.join()
        assert not failures, failures
        assert all(worker.exitcode == 0 for worker in workers), [w.exitcode for w in workers]
        if before is None:
            before = resident()
    assert resident() < before + (32 << 20), (before, resident())
    print("passed")


main()
