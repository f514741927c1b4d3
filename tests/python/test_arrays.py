"""Arrays of other libraries: DLPack and the CUDA array interface, and what is refused.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import tilemm
from tilemm import _dlpack


class Foreign:
    """An array of no known library, with DLPack alone."""

    def __init__(self, data):
        self.data = np.asarray(data)
        self.dtype = self.data.dtype

    @property
    def shape(self):
        return self.data.shape

    def __dlpack__(self, stream=None):
        assert stream is None
        return self.data.__dlpack__()

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


class WithNamespace(Foreign):
    """The same with what the array API standard has for new arrays."""

    device = None
    float32, int64 = np.float32, np.int64

    def __array_namespace__(self):
        return type(self)

    @classmethod
    def empty(cls, shape, dtype, device):
        return cls(np.empty(shape, dtype))


class Interface:
    """An object with the CUDA array interface."""

    def __init__(self, **values):
        self.__cuda_array_interface__ = {
            "shape": (2, 3), "typestr": "<f4", "data": (64, False), "version": 3, **values
        }


def test_dlpack_results_are_of_the_callers_kind(arrays):
    x, y = arrays.dense((4, 5)), arrays.dense((5, 3))
    c = tilemm.matmul(WithNamespace(x), WithNamespace(y))
    assert type(c) is WithNamespace and np.allclose(c.data, x @ y, atol=1e-5)
    assert np.array_equal(tilemm.transpose(WithNamespace(x)).data, x.T)
    assert np.array_equal(tilemm.argmax(WithNamespace(x), axis=0).data, x.argmax(0))
    # steps that BLAS does not take: copied by the library's own transpose
    z = arrays.dense((8, 10))[::2, ::2]
    assert np.allclose(tilemm.matmul(WithNamespace(z), WithNamespace(y)).data, z @ y, atol=1e-5)
    backwards = arrays.dense((4, 5))[::-1, ::-1]
    assert np.allclose(tilemm.sum(WithNamespace(backwards), axis=0).data, backwards.sum(0), atol=1e-5)


def test_dlpack_without_a_way_to_make_arrays(arrays):
    x, y, out = arrays.dense((4, 5)), arrays.dense((5, 3)), np.zeros((4, 3), np.float32)
    foreign = Foreign(out)
    assert tilemm.matmul(Foreign(x), Foreign(y), out=foreign) is foreign
    assert np.allclose(out, x @ y, atol=1e-5)
    with pytest.raises(TypeError, match="give out="):
        tilemm.matmul(Foreign(x), Foreign(y))


def test_dlpack_holds_and_frees(arrays):
    x = WithNamespace(arrays.dense((3, 3)))
    alive = weakref.ref(x.data)
    tilemm.matmul(x, x)
    del x
    gc.collect()
    assert alive() is None


def test_dlpack_written(arrays):
    """A capsule of wrap() is read by NumPy, and frees what it holds once, read or not."""

    class Kept:
        pass

    for read in (True, False):
        x, kept = arrays.dense((3, 4)), Kept()
        capsule, alive = _dlpack.wrap(x.__dlpack__(), kept), weakref.ref(kept)

        class Once:
            def __dlpack__(self, capsule=capsule, **_):
                return capsule

            def __dlpack_device__(self):
                return (1, 0)

        if read:
            y = np.from_dlpack(Once())
            assert np.array_equal(y, x) and y.__array_interface__["data"] == (
                x.__array_interface__["data"][0], y.__array_interface__["data"][1]
            )
            del y
        del kept, capsule, Once
        gc.collect()
        assert alive() is None and not _dlpack._held


def test_dlpack_devices():
    class Elsewhere(Foreign):
        def __dlpack_device__(self):
            return (8, 0)  # Metal

    with pytest.raises(TypeError, match="device type 8"):
        tilemm.sum(Elsewhere(np.ones(3, np.float32)))


def test_dlpack_strides_left_out(arrays):
    x = arrays.dense((2, 3, 4))
    capsule = x.__dlpack__()
    tensor = _dlpack.read(capsule)
    tensor.strides = ctypes.POINTER(ctypes.c_int64)()
    assert _dlpack.operand(capsule).strides == (12, 4, 1)


def cuda_here():
    try:
        tilemm.Context("cuda")
    except tilemm.Error:
        return False
    return True


def test_interface_without_a_gpu():
    if cuda_here():
        pytest.skip("a GPU is here")
    with pytest.raises(tilemm.Error, match="create: ") as caught:
        tilemm.matmul(Interface(), Interface(shape=(3, 2)), out=Interface(shape=(2, 2)))
    assert caught.value.status == 3


@pytest.mark.parametrize(
    "values, error, words",
    [
        ({"typestr": "<f8"}, TypeError, "must be float32"),
        ({"typestr": ">f4"}, TypeError, "must be float32"),
        ({"mask": 1}, TypeError, "mask"),
    ],
)
def test_interface_refused(values, error, words):
    with pytest.raises(error, match=words):
        tilemm.sum(Interface(**values))


def test_interface_streams_and_strides():
    from tilemm import _foreign

    one, two, none = Interface(stream=1), Interface(stream=4711), Interface(stream=None)
    assert [stream[0] for stream in _foreign.interface_streams((one, two, none))] == [0, 4711]
    assert _foreign.interface_streams((none,)) == [(0, None)]
    assert _foreign.interface_operand(none).strides == (12, 4)
    assert _foreign.interface_operand(Interface(strides=(4, 8))).strides == (4, 8)


@pytest.mark.parametrize("dtype", ["f2", "f8", "i4", "c8", "?", ">f4", "U2"])
def test_other_dtypes_are_refused_for_arithmetic(dtype):
    x = np.zeros((3, 3), dtype)
    one = np.zeros((3, 3), np.float32)
    words = f"dtype {x.dtype}, must be float32.*single precision alone"
    for call in (
        lambda: tilemm.matmul(x, one), lambda: tilemm.matmul(one, x), lambda: tilemm.matmul(one, one, out=x),
        lambda: tilemm.sum(x), lambda: tilemm.argmin(x), lambda: tilemm.dot(one, x),
    ):
        with pytest.raises(TypeError, match=words.replace("<", "[<]")):
            call()


def test_other_objects_are_refused():
    one = np.ones((3, 3), np.float32)
    for x in ([[1.0]], 3.0, None, "text"):
        with pytest.raises(TypeError, match="must be an array of NumPy, PyTorch"):
            tilemm.matmul(one, x)
    with pytest.raises(TypeError, match="a is of NumPy, b of another library"):
        tilemm.matmul(one, Foreign(one))
    with pytest.raises(TypeError, match="masked"):
        tilemm.sum(np.ma.masked_array(one))


def test_subclasses(arrays):
    matrix = np.asmatrix(arrays.dense((3, 4)))
    assert type(tilemm.matmul(matrix, matrix.T)) is np.ndarray
    assert np.array_equal(tilemm.sum(matrix, axis=1), tilemm.sum(np.asarray(matrix), axis=1))


def test_numpy_is_not_imported_for_others():
    """Importing the package imports no array library."""
    import subprocess
    import sys

    code = "import sys, tilemm; sys.exit(any(n in sys.modules for n in ('numpy', 'torch', 'cupy', 'jax', 'numba')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
