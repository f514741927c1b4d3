"""NumPy's arrays.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from ctypes import addressof, c_char
from typing import Any

import numpy as np

from ._kinds import Kind, Operand, Stream

_FLOAT32 = np.dtype(np.float32)
_DTYPES = {"float32": _FLOAT32, "int64": np.dtype(np.int64)}


class NumpyKind(Kind):
    """numpy.ndarray and its subclasses but for masked arrays."""

    name = "NumPy"
    plain = np.ndarray
    float32 = _FLOAT32

    def check_operand(self, x: Any, name: str) -> None:
        if type(x) is not np.ndarray and isinstance(x, np.ma.MaskedArray):
            raise TypeError(f"{name} is a masked array: give its data, or x.filled(...)")

    def is_float32(self, x: Any) -> bool:
        return x.dtype is _FLOAT32 or bool(x.dtype == _FLOAT32)

    def operand(self, x: Any, stream: Stream) -> Operand:
        if x.dtype is _FLOAT32 and x.flags.carray and x.size:
            # In C order and writable: the buffer tells the address in a third of the other way's time.
            return Operand(addressof(c_char.from_buffer(x)), x.shape, x.strides, 1, 4, x)
        if x.dtype.hasobject:
            raise TypeError(f"the dtype {x.dtype} holds Python objects: only numbers and bytes are moved")
        return Operand(x.__array_interface__["data"][0], x.shape, x.strides, 1, x.itemsize, x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        return np.empty(shape, _DTYPES[dtype] if dtype else like.dtype)

    def dense(self, x: Any, axes: tuple[int, ...]) -> Any:
        return np.array(np.transpose(x, axes), order="C", subok=False)

    def assign(self, out: Any, x: Any) -> None:
        out[...] = x

    def is_writable(self, x: Any) -> bool:
        return bool(x.flags.writeable)

    def scalar(self, x: Any) -> Any:
        return x if x.ndim else x[()]


KIND = NumpyKind()
