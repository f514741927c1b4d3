"""CuPy's arrays.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional

import cupy

from ._kinds import Kind, Operand, Stream


class CupyKind(Kind):
    """cupy.ndarray."""

    name = "CuPy"

    def device(self, x: Any) -> Optional[int]:
        return int(x.device.id)

    def streams(self, device: int, arrays: tuple[Any, ...]) -> list[Stream]:
        with cupy.cuda.Device(device):
            stream = cupy.cuda.get_current_stream()
        return [(stream.ptr, stream)]

    def is_float32(self, x: Any) -> bool:
        return bool(x.dtype == cupy.float32)

    def operand(self, x: Any, stream: Stream) -> Operand:
        return Operand(x.data.ptr, x.shape, x.strides, 1, x.itemsize, x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        with like.device:
            return cupy.empty(shape, dtype or like.dtype)

    def dense(self, x: Any, axes: tuple[int, ...]) -> Any:
        with x.device:
            return cupy.array(cupy.transpose(x, axes), order="C")

    def assign(self, out: Any, x: Any) -> None:
        with out.device:
            out[...] = x


KIND = CupyKind()
