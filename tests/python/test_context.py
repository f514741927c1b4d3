"""Contexts: settings, threads, forks, leaks, and a library that is not there.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import SECONDS

import tilemm


def test_settings():
    with tilemm.Context("cpu", threads=2, math="tf32") as context:
        assert (context.backend, context.device, context.threads, context.math) == ("cpu", None, 2, "tf32")
        tilemm.matmul(np.ones((9, 9), np.float32), np.ones((9, 9), np.float32))
        assert tilemm.backend() == "cpu" and tilemm.last_kernel() == context.last_kernel() != ""
        assert context._math_set == 2
        tilemm.matmul(np.ones((9, 9), np.float32), np.ones((9, 9), np.float32), math="strict")
        assert context._math_set == 1
        context.synchronize()
    assert tilemm._context.for_device(None) is not context


def test_nested():
    outer, inner = tilemm.Context("cpu"), tilemm.Context("cpu")
    current = tilemm._context.for_device
    with outer:
        with inner:
            assert current(None) is inner
            with outer:
                assert current(None) is outer
            assert current(None) is inner
        assert current(None) is outer
        with pytest.raises(ValueError, match="cuda:0, the Context is <tilemm.Context cpu"):
            current(0)
    assert current(None) not in (outer, inner)


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", None, -1, "cuda:-1"])
def test_devices_that_are_none(device):
    with pytest.raises(ValueError, match="device = .*, must be 'auto', 'cpu', 'cuda'"):
        tilemm.Context(device)


def test_errors_have_the_librarys_words():
    with pytest.raises(ValueError, match="set_threads: threads = -1"):
        tilemm.Context("cpu", threads=-1)
    with pytest.raises(ValueError, match="math = 'fp16'"):
        tilemm.Context("cpu", math="fp16")
    with pytest.raises(tilemm.Error, match="create: .*") as caught:
        tilemm.Context("cuda:4000")
    assert caught.value.status == 3
    library = tilemm._library
    for status, error in [(1, ValueError), (2, MemoryError), (3, tilemm.Error), (4, tilemm.Error), (6, tilemm.Error)]:
        with pytest.raises(error, match="words"):
            library.fail(library.lib, status, "words")


def test_environment():
    code = "import numpy, tilemm; tilemm.sum(numpy.ones(3, 'f4'))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TILEMM_MATH": "fp31"}, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"ValueError: create: TILEMM_MATH = fp31" in done.stderr


def test_missing_library_is_said_in_words():
    with pytest.raises(ImportError, match=r"(?s)libnothing.so.0.*apt install libtilemm0.*LD_LIBRARY_PATH"):
        tilemm._library.load("libnothing.so.0")
    with pytest.raises(ImportError, match="older than this package"):
        tilemm._library.load("libc.so.6")


def memory():
    """Bytes that are resident."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work(seed):
    """Some calls of each kind, checked."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 90))
    a, b = random.standard_normal((2, 2, n, n)).astype(np.float32)
    assert np.allclose(tilemm.matmul(a, b), a @ b, atol=1e-3)
    assert np.array_equal(tilemm.transpose(a), a.T)
    assert np.allclose(tilemm.sum(a, axis=(0, 2)), a.sum((0, 2)), atol=1e-3)
    assert tilemm.argmax(a) == a.argmax()
    assert np.isclose(tilemm.dot(a, b, nan="ignore"), (a * b).sum(), atol=1e-2)


def run_for(seconds, seed, errors, context=None):
    """Work in this thread until the time is over."""
    until, count = time.monotonic() + seconds, 0
    try:
        while time.monotonic() < until:
            if context is None:
                work(seed + count)
            else:
                with context:
                    work(seed + count)
            count += 1
    except BaseException as error:  # noqa: BLE001 - whatever ends a thread is the test's
        errors.append(error)
    return count


def run_threads(count, seconds, context=None):
    errors = []
    threads = [
        threading.Thread(target=run_for, args=(seconds, 1000000 * i, errors, context)) for i in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def test_threads_at_once_do_not_leak():
    """8 threads, again and again: each has contexts of its own, which end with it."""
    run_threads(8, SECONDS / 4)
    before = memory()
    for _ in range(3):
        run_threads(8, SECONDS / 4)
    assert memory() - before < 16 << 20


def test_threads_may_share_a_context():
    run_threads(8, SECONDS / 4, tilemm.Context("cpu", threads=2))


def test_contexts_of_threads_are_destroyed():
    before = memory()
    for i in range(300):
        thread = threading.Thread(target=work, args=(i,))
        thread.start()
        thread.join()
    assert memory() - before < 32 << 20


def in_child(function):
    """Run in a forked child; its exit status is 0 if nothing was raised."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return child


def test_forked_workers_at_once():
    """4 children of a process that has contexts and threads in calls, while its threads go on."""
    work(1)
    shared = tilemm.Context("cpu", threads=2)
    with shared:
        work(2)
    errors, stop = [], threading.Event()

    def keep_busy(seed):
        try:
            while not stop.is_set():
                work(seed)
                with shared:
                    work(seed)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    def child(seed):
        mine = []
        run_for(SECONDS / 2, seed, mine)
        run_for(SECONDS / 2, seed, mine, shared)
        run_threads(2, 0.2)
        assert not mine, mine

    threads = [threading.Thread(target=keep_busy, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    children = [in_child(lambda seed=seed: child(seed)) for seed in range(4)]
    statuses = [os.waitpid(pid, 0)[1] for pid in children]
    stop.set()
    for thread in threads:
        thread.join()
    assert statuses == [0] * 4 and not errors, (statuses, errors)


def test_multiprocessing():
    import multiprocessing

    work(3)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(4) as pool:
            pool.map(work, range(40))


def test_calls_do_not_leak():
    a = np.ones((64, 64), np.float32)
    for _ in range(200):
        tilemm.matmul(a, a[::2, ::2].repeat(2, 0)[:64].repeat(2, 1)[:, :64])
    before = memory()
    for i in range(20000):
        tilemm.matmul(a[: 1 + i % 64], a)
        tilemm.transpose(a[::2, ::3])
        tilemm.sum(a[::2, ::3], axis=0)
    assert memory() - before < 16 << 20
