"""Products beside numpy.matmul in FP64.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import numpy as np
import pytest
from conftest import runs

import tilemm


def assert_product(c, a, b, alpha=1, beta=0, before=0):
    """c is alpha a @ b + beta before, within the bound of FP32 multiply-adds."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    exact = alpha * np.matmul(a, b) + beta * np.asarray(before, np.float64)
    bound = abs(alpha) * np.matmul(abs(a), abs(b)) + abs(beta) * np.abs(before)
    assert c.dtype == np.float32 and c.shape == exact.shape
    assert np.all(np.abs(c - exact) <= (a.shape[-1] + 3) * 2.0**-24 * bound)


def shapes(arrays):
    """Shapes that multiply, with batches that broadcast, vectors among them."""
    m, n, k = arrays.shape(3)
    batch = [arrays.integer(1, 4) for _ in range(arrays.integer(0, 4))]

    def some():
        kept = [1 if arrays.random.random() < 0.3 else n for n in batch]
        return kept[arrays.integer(0, len(kept) + 1) :]

    a, b = some() + [m, k], some() + [k, n]
    return [k] if arrays.random.random() < 0.1 else a, [k] if arrays.random.random() < 0.1 else b


def test_any_strides(arrays):
    for _ in runs(2000):
        shape_a, shape_b = shapes(arrays)
        a, b = arrays.view(shape_a), arrays.view(shape_b)
        assert_product(tilemm.matmul(a, b), a, b)


def test_out_alpha_beta(arrays):
    for _ in runs(2000):
        shape_a, shape_b = shapes(arrays)
        a, b = arrays.view(shape_a), arrays.view(shape_b)
        shape = np.matmul(a, b).shape
        if not shape:
            continue
        out = arrays.out(shape)
        before = out.copy()
        alpha, beta = (float(x) for x in arrays.random.choice([0, 1, 2, -0.5], 2))
        if beta == 0 and out.size:
            out[...] = np.nan
            before = np.zeros(shape)
        assert tilemm.matmul(a, b, out=out, alpha=alpha, beta=beta) is out
        assert_product(out, a, b, alpha, beta, before)


def test_out_surroundings_stay(arrays):
    base = arrays.dense((9, 9))
    want = base.copy()
    a, b = arrays.dense((3, 5)), arrays.dense((5, 4))
    tilemm.matmul(a, b, out=base[2:5, 3:7])
    want[2:5, 3:7] = base[2:5, 3:7]
    assert np.array_equal(base, want)
    assert_product(base[2:5, 3:7], a, b)


def test_out_is_an_operand(arrays):
    a, b = arrays.dense((7, 7)), arrays.dense((7, 7))
    before = a.copy()
    tilemm.matmul(a, b, out=a)
    assert_product(a, before, b)
    base = arrays.dense(100)
    left, right, out = base[:25].reshape(5, 5), base[10:35].reshape(5, 5), base[5:30].reshape(5, 5)
    left, right = left.copy(), right.copy()
    tilemm.matmul(base[:25].reshape(5, 5), base[10:35].reshape(5, 5), out=out)
    assert_product(out, left, right)


@pytest.mark.parametrize("math", ["fp32", "strict", "tf32", None])
def test_math(arrays, math):
    a, b = arrays.dense((65, 129)), arrays.dense((129, 33))
    c = tilemm.matmul(a, b, math=math)
    bound = np.abs(a).astype(np.float64) @ np.abs(b) * (2.0**-10 if math == "tf32" else 131 * 2.0**-24)
    assert np.all(np.abs(c - a.astype(np.float64) @ b) <= bound)


def test_one_product_for_a_batch(arrays):
    """Rows that go on from matrix to matrix are one product."""
    a, b = arrays.dense((3, 4, 5, 8)), arrays.dense((8, 6))
    assert_product(tilemm.matmul(a, b), a, b)
    plan = tilemm._matmul._plan(a.shape, a.strides, b.shape, b.strides, None, (1, 1, 1))[1]
    assert plan.head[3:] == (60, 6, 8) and plan.batch[0] == 1 and not plan.outer


def test_transposed_operands_are_not_copied(arrays):
    a, b = arrays.dense((8, 5)).T, arrays.dense((6, 2, 8)).transpose(1, 2, 0)
    plan = tilemm._matmul._plan(a.shape, a.strides, b.shape, b.strides, None, (1, 1, 1))[1]
    assert plan.copies == (False, False, False) and plan.batch[0] == 2
    assert_product(tilemm.matmul(a, b), a, b)


def test_misaligned_floats(arrays):
    raw = np.zeros(4 * 12 + 1, np.uint8)
    a = raw[1:].view(np.float32).reshape(3, 4)
    a[...] = arrays.dense((3, 4))
    assert_product(tilemm.matmul(a, a.T), a, a.T)
    records = np.zeros((4, 3), np.dtype([("tag", np.int8), ("x", np.float32)]))
    records["x"] = a.T
    assert_product(tilemm.matmul(a, records["x"]), a, records["x"])
    out = np.zeros(37, np.uint8)[1:].view(np.float32).reshape(3, 3)
    assert_product(tilemm.matmul(a, a.T, out=out), a, a.T)


@pytest.mark.parametrize(
    "a, b, words",
    [
        (np.ones((2, 3), np.float32), np.ones((2, 3), np.float32), "3 columns.*2 rows"),
        (np.ones((2, 2, 3), np.float32), np.ones((3, 3, 3), np.float32), "do not broadcast"),
        (np.ones((), np.float32), np.ones(3, np.float32), "one dimension"),
    ],
)
def test_shapes_that_do_not_fit(a, b, words):
    with pytest.raises(ValueError, match=words):
        tilemm.matmul(a, b)


def test_wrong_out():
    a = np.ones((3, 3), np.float32)
    with pytest.raises(ValueError, match=r"out has shape \(2, 3\), must be \(3, 3\)"):
        tilemm.matmul(a, a, out=np.ones((2, 3), np.float32))
    out = np.ones((3, 3), np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tilemm.matmul(a, a, out=out)
    with pytest.raises(ValueError, match="beta = 1, must be 0 without out"):
        tilemm.matmul(a, a, beta=1)
    shared = np.lib.stride_tricks.as_strided(np.zeros(3, np.float32), (3, 3), (0, 4))
    with pytest.raises(ValueError, match="share memory"):
        tilemm.matmul(a, a, out=shared)
    with pytest.raises(ValueError, match="math = 'fp64', must be one of 'fp32', 'strict', 'tf32'"):
        tilemm.matmul(a, a, math="fp64")


@pytest.mark.parametrize("invariant", [True, "across"])
def test_invariant(arrays, invariant):
    """A row has the same bits alone, in any batch and at any place."""
    for _ in runs(60):
        m, n, k = (arrays.integer(1, 150) for _ in range(3))
        a, b = arrays.view((m, k)), arrays.view((k, n))
        c = tilemm.matmul(a, b, invariant=invariant)
        assert_product(c, a, b)
        first, end = sorted(arrays.integer(0, m + 1) for _ in range(2))
        assert np.array_equal(tilemm.matmul(a[first:end], b, invariant=invariant), c[first:end])
        assert np.array_equal(tilemm.matmul(a[first:end, None], b, invariant=invariant)[:, 0], c[first:end])
        assert np.array_equal(tilemm.matmul(a[0], b[:, -1], invariant=invariant), c[0, -1])
        others = np.concatenate([np.full((3, k), np.nan, np.float32), a[::-1], np.full((40, k), 1e30, np.float32)])
        with np.errstate(all="ignore"):
            assert np.array_equal(tilemm.matmul(others, b, invariant=invariant)[3 : 3 + m][::-1], c)
    with tilemm.Context("cpu", threads=2, invariant=invariant):
        assert np.array_equal(tilemm.matmul(a, b), c)
    with pytest.raises(ValueError, match="invariant = 'batch', must be one of False, True, 'across'"):
        tilemm.matmul(a, b, invariant="batch")


def test_no_elements_of_any_strides():
    """Nothing is read or written, however the arrays lie."""
    lines = np.broadcast_to(np.float32(1), (5, 7))
    b = np.ones((7, 3), np.float32)
    assert tilemm.matmul(lines[:0, None], b).shape == (0, 1, 3)
    assert tilemm.matmul(lines[:0], b).shape == (0, 3)
    assert np.array_equal(tilemm.matmul(lines[:, :0], b[:0]), np.zeros((5, 3)))
    assert tilemm.matmul(b.T, lines.T[:, :0]).shape == (3, 0)
    out = np.empty((0, 3), np.float32)
    assert tilemm.matmul(lines[:0], b, out=out) is out
