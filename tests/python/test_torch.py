"""PyTorch's tensors on the CPU, and the gradients of products.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import pytest

torch = pytest.importorskip("torch")

import tilemm  # noqa: E402
import tilemm.torch  # noqa: E402


def test_kinds(arrays):
    a, b = torch.from_numpy(arrays.dense((3, 4, 5))), torch.from_numpy(arrays.dense((5, 6)))
    c = tilemm.matmul(a, b)
    assert type(c) is torch.Tensor and torch.allclose(c, a @ b, atol=1e-5)
    assert torch.allclose(tilemm.sum(a, axis=(0, 2)), a.sum((0, 2)), atol=1e-5)
    assert tilemm.sum(a).shape == () and tilemm.argmax(a, axis=1).dtype is torch.int64
    assert torch.equal(tilemm.argmax(a, axis=-1, keepdims=True), a.argmax(-1, keepdim=True))
    assert torch.allclose(tilemm.dot(a, a), (a * a).sum())


def test_strides(arrays):
    base = torch.from_numpy(arrays.dense((12, 14, 10)))
    for a in (base[:, ::2, ::2], base.permute(2, 0, 1), base[:1].expand(4, 14, 10), base[::3, :, 1]):
        b = torch.from_numpy(arrays.dense((a.shape[-1], 3)))
        assert torch.allclose(tilemm.matmul(a, b), a @ b, atol=1e-5)
        assert torch.equal(tilemm.transpose(a), a.permute(*reversed(range(a.dim()))).contiguous())
    out = torch.zeros(14, 24)[:, ::2]
    assert tilemm.matmul(base[0], base[0].T[:, :12], out=out) is out
    assert torch.allclose(out, base[0] @ base[0].T[:, :12], atol=1e-5)


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.uint8, torch.int16, torch.bfloat16, torch.float64, torch.complex64, torch.complex128]
)
def test_transpose_dtypes(dtype):
    a = torch.arange(30).reshape(2, 3, 5).to(dtype)
    assert torch.equal(tilemm.transpose(a, (2, 0, 1)), a.permute(2, 0, 1))
    if dtype.is_complex:
        assert torch.equal(tilemm.transpose(a.mT.conj() * 1j), (a.mT.conj() * 1j).permute(2, 1, 0))
    with pytest.raises(TypeError, match=f"{dtype}, must be float32"):
        tilemm.sum(a)


def test_lazy_views_are_resolved():
    z = torch.complex(torch.ones(2, 3), torch.arange(6.0).reshape(2, 3))
    assert torch.equal(tilemm.transpose(z.conj()), z.conj().resolve_conj().T)
    assert torch.equal(tilemm.sum(z.conj().imag, axis=0), z.conj().imag.resolve_neg().sum(0))


def test_refused():
    a = torch.ones(3, 3)
    with pytest.raises(ValueError, match="tilemm.torch.matmul"):
        tilemm.matmul(a.clone().requires_grad_(), a)
    with torch.no_grad():
        assert tilemm.matmul(a.clone().requires_grad_(), a)[0, 0] == 3
    with pytest.raises(TypeError, match="layout"):
        tilemm.matmul(a.to_sparse(), a)
    with pytest.raises(TypeError, match="must be on the CPU or a CUDA device"):
        tilemm.sum(a.to("meta"))


SHAPES = [
    ((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
    ((6, 1, 3, 4), (2, 4, 5)), ((1, 3, 4), (7, 4, 5)), ((3, 4), (2, 4, 5)), ((4,), (2, 4, 5)), ((2, 3, 4), (4,)),
    ((2, 6, 3, 4), (1, 4, 5)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_gradients(arrays, shapes):
    a, b = (torch.from_numpy(arrays.dense(shape)).requires_grad_() for shape in shapes)
    exact_a, exact_b = (x.detach().double().requires_grad_() for x in (a, b))
    c, exact = tilemm.torch.matmul(a, b), torch.matmul(exact_a, exact_b)
    assert c.shape == exact.shape and torch.allclose(c.double(), exact, atol=1e-5)
    weights = torch.from_numpy(arrays.dense(tuple(c.shape)))
    (c * weights).sum().backward()
    (exact * weights.double()).sum().backward()
    for x, y in ((a, exact_a), (b, exact_b)):
        assert x.grad.shape == y.grad.shape and torch.allclose(x.grad.double(), y.grad, atol=1e-5)


def test_second_derivative(arrays):
    a, b = (torch.from_numpy(arrays.dense(shape)).requires_grad_() for shape in ((2, 3, 4), (4, 5)))
    exact_a, exact_b = (x.detach().double().requires_grad_() for x in (a, b))

    def penalty(x, y, product):
        (gradient,) = torch.autograd.grad((product(x, y) ** 2).sum(), y, create_graph=True)
        (gradient**2).sum().backward()
        return x.grad, y.grad

    for got, want in zip(penalty(a, b, tilemm.torch.matmul), penalty(exact_a, exact_b, torch.matmul)):
        assert torch.allclose(got.double(), want, rtol=1e-4, atol=1e-2)


def test_only_wanted_gradients(arrays):
    a, b = torch.from_numpy(arrays.dense((3, 4))), torch.from_numpy(arrays.dense((4, 5))).requires_grad_()
    tilemm.torch.matmul(a, b, math="strict").sum().backward()
    assert a.grad is None and torch.allclose(b.grad, a.sum(0)[:, None].expand(4, 5), atol=1e-5)


def block(x, w, heads, matmul):
    """The forward pass of a transformer's block: attention and two layers, each with a residual."""
    batch, length, width = x.shape
    y = torch.nn.functional.layer_norm(x, (width,))
    q, k, v = (matmul(y, w[i]).reshape(batch, length, heads, -1).transpose(1, 2) for i in range(3))
    weights = torch.softmax(matmul(q, k.mT) / (width // heads) ** 0.5, -1)
    x = x + matmul(matmul(weights, v).transpose(1, 2).reshape(batch, length, width), w[3])
    y = torch.nn.functional.layer_norm(x, (width,))
    return x + matmul(torch.nn.functional.gelu(matmul(y, w[4])), w[5])


def test_transformer_block(arrays):
    """A sequence's outputs have the same bits in batches of 1, 7 and 64."""
    width, length, heads = 96, 37, 4
    sizes = 4 * [(width, width)] + [(width, 4 * width), (4 * width, width)]
    w = [torch.from_numpy(arrays.dense(size)) / size[0] ** 0.5 for size in sizes]
    x = torch.from_numpy(arrays.dense((64, length, width)))
    for invariant in (True, "across"):

        def matmul(a, b):
            return tilemm.torch.matmul(a, b, invariant=invariant)

        alone = block(x[5:6], w, heads, matmul)
        assert torch.allclose(alone, block(x[5:6], w, heads, torch.matmul), atol=1e-4)
        assert torch.equal(alone[0], block(x[1:8], w, heads, matmul)[4])
        assert torch.equal(alone[0], block(x, w, heads, matmul)[5])
