"""Reductions beside NumPy's in FP64.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import numpy as np
import pytest
from conftest import runs

import tilemm

REDUCTIONS = {
    "sum": np.sum,
    "asum": lambda x, **how: np.sum(np.abs(x), **how),
    "nrm2": lambda x, **how: np.sqrt(np.sum(x * x, **how)),
    "mean": np.mean,
    "max": lambda x, **how: np.max(x, initial=-np.inf, **how),
    "min": lambda x, **how: np.min(x, initial=np.inf, **how),
}


def some_axis(arrays, dimensions):
    """None, an axis, or some of them, negative ones too."""
    chosen = [int(i) for i in arrays.random.permutation(dimensions)[: arrays.integer(1, dimensions + 1)]]
    chosen = [i - dimensions if arrays.random.random() < 0.3 else i for i in chosen]
    return [None, chosen[0], tuple(chosen), chosen][arrays.integer(0, 4)]


def close(got, want, scale):
    """Within an ulp of the exact result, or of the magnitudes' sum in FP64."""
    with np.errstate(invalid="ignore"):  # infinities
        near = (np.abs(got - want) <= 2.0**-23 * np.abs(want) + 1e-12 * scale) | (got == want)
    return got.dtype == np.float32 and got.shape == want.shape and bool(np.all(near))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_any_axis_and_strides(arrays, name):
    for _ in runs(1500):
        dimensions = arrays.integer(1, 5)
        x = arrays.view(arrays.shape(dimensions, 7))
        axis, keepdims = some_axis(arrays, dimensions), bool(arrays.integer(0, 2))
        exact = x.astype(np.float64)
        how = {"axis": tuple(axis) if isinstance(axis, list) else axis, "keepdims": keepdims}
        got = getattr(tilemm, name)(x, axis=axis, keepdims=keepdims)
        if x.size == 0 and name == "mean":
            length = np.sum(np.ones(x.shape), **how)
            assert got.shape == length.shape and np.all(np.isnan(got) | (length > 0))
            continue
        assert close(got, REDUCTIONS[name](exact, **how), np.sum(np.abs(exact), **how))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(arrays, name):
    for _ in runs(1500):
        dimensions = arrays.integer(1, 5)
        x = arrays.view([max(n, 1) for n in arrays.shape(dimensions, 7)])
        if arrays.integer(0, 2):  # ties; + 0, since NumPy takes -0 for +0
            x = np.round(x) + np.float32(0)
        axis = None if arrays.integer(0, 3) == 0 else arrays.integer(-dimensions, dimensions)
        keepdims = bool(arrays.integer(0, 2))
        got = getattr(tilemm, name)(x, axis=axis, keepdims=keepdims)
        want = getattr(np, name)(x, axis=axis, keepdims=keepdims)
        assert got.dtype == np.int64 and got.shape == want.shape and np.array_equal(got, want)


def test_dot(arrays):
    for _ in runs(1500):
        dimensions = arrays.integer(1, 5)
        shape = arrays.shape(dimensions)
        x, y = arrays.view(shape), arrays.view(shape)
        axis, keepdims = some_axis(arrays, dimensions), bool(arrays.integer(0, 2))
        how = {"axis": tuple(axis) if isinstance(axis, list) else axis, "keepdims": keepdims}
        exact = x.astype(np.float64) * y
        got = tilemm.dot(x, y, axis=axis, keepdims=keepdims)
        assert close(got, np.sum(exact, **how), np.sum(np.abs(exact), **how))


def test_nan():
    x = np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan], [4, 5, 2]], np.float32)
    assert np.array_equal(tilemm.max(x, axis=1), [np.nan, np.nan, 5], equal_nan=True)
    assert np.array_equal(tilemm.max(x, axis=1, nan="ignore"), np.array([3, -np.inf, 5]))
    assert np.array_equal(tilemm.sum(x, axis=1, nan="ignore"), [4, 0, 11])
    assert np.array_equal(tilemm.mean(x, axis=0, nan="ignore"), [2.5, 5, 2.5])
    assert np.array_equal(tilemm.argmax(x, axis=1), [1, 0, 1])
    assert np.array_equal(tilemm.argmax(x, axis=1, nan="ignore"), [2, -1, 1])
    assert np.isnan(tilemm.sum(x)) and tilemm.sum(x, nan="ignore") == 15
    assert np.isnan(tilemm.sum(x))  # the policy was of one call
    assert tilemm.dot(x, x, nan="ignore") == 1 + 9 + 16 + 25 + 4


def test_sums_have_the_same_bits_from_every_stride(arrays):
    x = arrays.dense(10007)
    wide = np.zeros((10007, 3), np.float32)
    wide[:, 1] = x
    assert tilemm.sum(wide[:, 1]) == tilemm.sum(x) == tilemm.sum(x[::-1][::-1])
    assert tilemm.sum(wide, axis=0)[1] == tilemm.sum(x)


def test_scalars_are_numpy_scalars(arrays):
    x = arrays.dense((3, 4))
    assert isinstance(tilemm.sum(x), np.float32) and isinstance(tilemm.argmax(x), np.int64)
    assert tilemm.sum(np.array(2.5, np.float32)) == 2.5 and tilemm.sum(x, axis=()).shape == (3, 4)


def test_refused(arrays):
    x = arrays.dense((3, 4))
    for axis, words in [(2, "axis = 2, must be -2 to 1"), (-3, "axis = -3"), ((0, -2), "names an axis twice")]:
        with pytest.raises(ValueError, match=words):
            tilemm.sum(x, axis=axis)
    with pytest.raises(ValueError, match="nan = 'skip', must be one of 'propagate', 'ignore'"):
        tilemm.sum(x, nan="skip")
    with pytest.raises(ValueError, match="argmax of no elements"):
        tilemm.argmax(x[:0])
    with pytest.raises(ValueError, match="must be one"):
        tilemm.dot(x, x.T)
    with pytest.raises(TypeError):
        tilemm.argmax(x, axis=(0, 1))
