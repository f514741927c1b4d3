"""Transposes beside numpy.transpose, to the bit.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import itertools

import numpy as np
import pytest
from conftest import runs

import tilemm

# Every size from 1 to 16 bytes, the odd ones too.
DTYPES = ["?", "i1", "<i2", ">f2", "<f4", ">f4", "<f8", "<c8", "<c16", "<M8[ns]", "<U1", "<U3", "<U4"] + [
    f"V{size}" for size in range(1, 17)
]


def of_dtype(arrays, shape, dtype):
    """An array of any bytes."""
    dtype = np.dtype(dtype)
    raw = arrays.random.integers(0, 2 if dtype.kind in "?U" else 256, (*shape, dtype.itemsize), dtype=np.uint8)
    if dtype.kind == "U":
        raw[..., 1:4] = 0
        raw[..., [i for i in range(dtype.itemsize) if i % 4]] = 0
    return np.frombuffer(raw.tobytes(), dtype).reshape(shape)


def same_bytes(x, y):
    return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(arrays, dtype):
    for dimensions in range(5):
        shape = arrays.shape(dimensions, 9)
        a = of_dtype(arrays, shape, dtype)
        for axes in itertools.permutations(range(dimensions)):
            assert same_bytes(tilemm.transpose(a, axes), a.transpose(axes))
    a = of_dtype(arrays, (67, 130), dtype)
    assert same_bytes(tilemm.transpose(a), a.T)


def test_any_strides(arrays):
    for _ in runs(3000):
        dimensions = arrays.integer(0, 6)
        a = arrays.view(arrays.shape(dimensions))
        axes = tuple(int(axis) for axis in arrays.random.permutation(dimensions))
        got = tilemm.transpose(a, axes)
        assert same_bytes(np.asarray(got), a.transpose(axes))
        out = arrays.out(got.shape)
        assert tilemm.transpose(a, axes, out=out) is out and same_bytes(out, a.transpose(axes))


def test_large(arrays):
    a = arrays.random.integers(0, 256, (300, 401, 3), dtype=np.uint8)
    assert same_bytes(tilemm.transpose(a, (2, 0, 1)), a.transpose(2, 0, 1))
    b = arrays.dense((17, 33, 65, 9))
    for axes in itertools.permutations(range(4)):
        assert same_bytes(tilemm.transpose(b, axes), b.transpose(axes))


def test_pixels_are_moved_as_one_element(arrays):
    image = arrays.random.integers(0, 256, (50, 70, 4), dtype=np.uint8)
    assert same_bytes(tilemm.transpose(image, (1, 0, 2)), image.transpose(1, 0, 2))
    plan = tilemm._transpose._plan((70, 50, 4), (4, 280, 1), (200, 4, 1), 1, 0)
    assert plan.transposes and plan.elem_size == 4 and (plan.rows, plan.cols) == (50, 70)


def test_out_is_a(arrays):
    a = arrays.dense((5, 5))
    want = a.T.copy()
    assert same_bytes(tilemm.transpose(a, out=a), want)


def test_misaligned(arrays):
    raw = arrays.random.integers(0, 256, 8 * 35 + 3, dtype=np.uint8)
    for offset in range(4):
        a = raw[offset : offset + 280].view(np.float64).reshape(5, 7)
        assert same_bytes(tilemm.transpose(a), a.T)


def test_refused():
    a = np.zeros((2, 3), np.float32)
    for axes in [(0,), (0, 0), (0, 2), (0, 1, 2)]:
        with pytest.raises(ValueError, match="must be a permutation of the 2 axes"):
            tilemm.transpose(a, axes)
    with pytest.raises(TypeError, match="Python objects"):
        tilemm.transpose(np.zeros((2, 2), object))
    with pytest.raises(TypeError, match="20 bytes, must be of 1 to 16"):
        tilemm.transpose(np.zeros((2, 2), "V20"))
    with pytest.raises(TypeError, match="dtype float64, must be that of a, float32"):
        tilemm.transpose(a, out=np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"out has shape \(2, 3\), must be \(3, 2\)"):
        tilemm.transpose(a, out=np.zeros((2, 3), np.float32))
