"""Numba's device arrays.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np  # which Numba has imported
from numba import cuda

from ._foreign import InterfaceKind, interface_operand, interface_streams
from ._kinds import Operand, Stream


class NumbaKind(InterfaceKind):
    """numba.cuda's device arrays."""

    name = "Numba"

    def device(self, x: Any) -> Optional[int]:
        return int(cuda.get_current_device().id)

    def streams(self, device: int, arrays: tuple[Any, ...]) -> list[Stream]:
        return interface_streams(arrays)

    def is_float32(self, x: Any) -> bool:
        return bool(x.dtype == np.float32)

    def operand(self, x: Any, stream: Stream) -> Operand:
        return interface_operand(x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        return cuda.device_array(shape, np.dtype(dtype) if dtype else like.dtype, stream=like.stream)


KIND = NumbaKind()
