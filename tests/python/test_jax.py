"""JAX's arrays on the CPU.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import tilemm  # noqa: E402


def test_kinds(arrays):
    cpu = jax.devices("cpu")[0]
    a, b = (jax.device_put(arrays.dense(shape), cpu) for shape in ((2, 5, 4), (4, 3)))
    c = tilemm.matmul(a, b)
    assert isinstance(c, jax.Array) and np.allclose(c, np.asarray(a) @ np.asarray(b), atol=1e-5)
    assert np.array_equal(tilemm.transpose(a), np.asarray(a).T)
    assert np.allclose(tilemm.sum(a, axis=(0, 2)), np.asarray(a).sum((0, 2)), atol=1e-5)
    assert np.array_equal(tilemm.argmax(a, axis=1), np.asarray(a).argmax(1))
    assert tilemm.transpose(a.astype(jax.numpy.bfloat16)).dtype == jax.numpy.bfloat16


def test_refused(arrays):
    a = jax.numpy.ones((3, 3), "float32")
    with pytest.raises(ValueError, match="read-only"):
        tilemm.matmul(a, a, out=a)
    with pytest.raises(TypeError, match="outside of jax.jit"):
        jax.jit(lambda x: tilemm.matmul(x, x))(a)
