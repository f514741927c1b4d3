"""Arrays on a CUDA device, of PyTorch, CuPy, JAX and Numba: results, streams, no copies.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import numpy as np
import pytest

import tilemm

try:
    tilemm.Context("cuda")
except tilemm.Error as error:
    pytest.skip(f"no GPU: {error}", allow_module_level=True)


def torch_cuda():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch without CUDA")
    return torch


def cupy_cuda():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.zeros(1)
    except Exception as error:  # noqa: BLE001 - whatever CuPy raises without a device
        pytest.skip(f"CuPy without CUDA: {error}")
    return cupy


def jax_cuda():
    jax = pytest.importorskip("jax")
    try:
        return jax, jax.devices("gpu")[0]
    except RuntimeError as error:
        pytest.skip(f"JAX without CUDA: {error}")


def to_torch(x):
    return torch_cuda().from_numpy(x.copy()).cuda()


def to_cupy(x):
    return cupy_cuda().asarray(x)


def to_jax(x):
    jax, device = jax_cuda()
    return jax.device_put(x, device)


def to_numba(x):
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("Numba without CUDA")
    return cuda.to_device(x)


def back(x):
    """On the host."""
    if hasattr(x, "copy_to_host"):
        return x.copy_to_host()
    return x.get() if hasattr(x, "get") else np.asarray(x.cpu() if hasattr(x, "cpu") else x)


KINDS = pytest.mark.parametrize("to", [to_torch, to_cupy, to_jax, to_numba])


@KINDS
def test_results(arrays, to):
    for _ in range(20):
        m, n, k = (arrays.integer(1, 200) for _ in range(3))
        a, b = arrays.dense((3, m, k)), arrays.dense((k, n))
        x, y = to(a), to(b)
        c = tilemm.matmul(x, y)
        assert type(c) is type(x) and tilemm.backend() == "cuda"
        assert np.allclose(back(c), a.astype(float) @ b, atol=1e-4)
        assert np.array_equal(back(tilemm.transpose(x, (2, 0, 1))), a.transpose(2, 0, 1))
        for axis in (None, 0, -1, (0, 2)):
            assert np.allclose(back(tilemm.sum(x, axis=axis)), a.astype(float).sum(axis), atol=1e-3)
        for axis in (None, 1):
            assert np.array_equal(back(tilemm.argmax(x, axis=axis)), a.argmax(axis))
        assert np.allclose(back(tilemm.dot(x, x)), (a.astype(float) ** 2).sum())


@KINDS
def test_invariant(arrays, to):
    """The bits of rows that are multiplied alone, or in a batch."""
    for _ in range(5):
        m, n, k = (arrays.integer(1, 300) for _ in range(3))
        a, b = arrays.dense((3, m, k)), arrays.dense((k, n))
        c = back(tilemm.matmul(to(a), to(b), invariant=True))
        first, last = sorted(arrays.integer(0, m) for _ in range(2))
        assert np.array_equal(back(tilemm.matmul(to(a[1, first : last + 1]), to(b), invariant=True)), c[1, first : last + 1])
    with pytest.raises(tilemm.Error, match="CUDA"):
        tilemm.matmul(to(a), to(b), invariant="across")


@KINDS
def test_device_and_host_are_not_mixed(arrays, to):
    x = to(arrays.dense((3, 3)))
    with pytest.raises(TypeError, match="of one library"):
        tilemm.matmul(x, arrays.dense((3, 3)))


def test_numpy_on_the_gpu(arrays):
    a, b = arrays.dense((300, 200)), arrays.dense((200, 100))
    with tilemm.Context("cuda"):
        assert np.allclose(tilemm.matmul(a, b), a @ b, atol=1e-3) and tilemm.backend() == "cuda"
        assert np.array_equal(tilemm.transpose(a), a.T)


def test_torch_strides_are_not_copied(arrays, monkeypatch):
    torch = torch_cuda()
    base = torch.randn(4, 300, 256, device="cuda")
    monkeypatch.setattr(type(tilemm._kinds.kind_of(base, "a")), "dense", lambda *_: pytest.fail("a copy"))
    for a in (base, base.mT, base[:, :, :100], base[1:, 5:], base.transpose(0, 1), base[0].T):
        b = torch.randn(a.shape[-1], 64, device="cuda")
        want = torch.matmul(a.double(), b.double())
        assert torch.allclose(tilemm.matmul(a, b).double(), want, atol=1e-3)
        tilemm.transpose(a)
        tilemm.sum(a, axis=-1)


def test_torch_current_stream_and_no_wait():
    """Work queued behind a long kernel on the caller's stream returns before that has ended, and is right."""
    torch = torch_cuda()
    a = torch.randn(512, 512, device="cuda")
    tilemm.matmul(a, a)
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            x = torch.ones(512, 512, device="cuda")
            tilemm.sum(tilemm.matmul(x, x))  # the workspace grows now
            torch.cuda.synchronize()
            torch.cuda._sleep(1_000_000_000)
            x.mul_(2)
            y = tilemm.matmul(x, x)
            z = tilemm.sum(y, axis=0)
            done = torch.cuda.Event()
            done.record(stream)
            assert not done.query()
            assert float(z[0]) == 512 * 2048
    torch.cuda.synchronize()


def test_torch_graph(arrays):
    torch = torch_cuda()
    a, b = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        tilemm.matmul(a, b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        c = tilemm.matmul(a, b)
    a.fill_(1)
    b.fill_(2)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.all(c == 128)


def test_cupy_current_stream(arrays):
    cupy = cupy_cuda()
    with cupy.cuda.Stream(non_blocking=True):
        x = cupy.asarray(arrays.dense((500, 400)))
        x *= 2
        y = tilemm.matmul(x, x.T)
        y += 1
        assert cupy.allclose(y, x @ x.T + 1, atol=1e-2)
        assert cupy.array_equal(tilemm.transpose(x[::-1, ::2]), x[::-1, ::2].T)


def test_jax_chains(arrays):
    """Results and operands that are dropped at once, beside JAX's own work."""
    jax, device = jax_cuda()
    x = jax.device_put(arrays.dense((512, 512)) / 32, device)
    want = np.asarray(x, np.float64)
    for _ in range(5):
        x = jax.numpy.tanh(tilemm.matmul(x + 0, x.T + 0))
        want = np.tanh(want @ want.T)
        assert np.allclose(x, want, atol=1e-4)


def test_torch_gradients(arrays):
    torch = torch_cuda()
    import tilemm.torch

    a, b = (torch.randn(*shape, device="cuda", requires_grad=True) for shape in ((5, 64, 32), (32, 48)))
    x, y = (t.detach().double().requires_grad_() for t in (a, b))
    tilemm.torch.matmul(a, b).square().sum().backward()
    torch.matmul(x, y).square().sum().backward()
    for got, exact in ((a, x), (b, y)):
        assert torch.allclose(got.grad.double(), exact.grad, rtol=1e-4, atol=1e-2)


def test_foreign_address():
    """An address that is none of a device's is refused in words."""

    class Interface:
        __cuda_array_interface__ = {"shape": (2, 2), "typestr": "<f4", "data": (66, False), "version": 3}

    with pytest.raises(ValueError, match="aligned"):
        tilemm.matmul(Interface(), Interface(), out=Interface())


def test_child_is_told_in_words(arrays):
    import os

    x = arrays.dense((3, 3))
    with tilemm.Context("cuda"):
        tilemm.matmul(x, x)
        child = os.fork()
        if child == 0:
            try:
                tilemm.matmul(x, x)
            except tilemm.Error:
                os._exit(7)
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
