"""What every operation does before and after it calls the library.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional, Union

from ._context import Context, for_device
from ._kinds import NO_STREAM, Kind, Operand, Stream, common, need_float32, need_out, plain_kind


class Call:
    """Arrays of one library and device, their context and their stream."""

    __slots__ = ("kind", "context", "streams", "stream", "operands")

    def __init__(self, names: tuple[str, ...], arrays: tuple[Any, ...], arithmetic: bool) -> None:
        self.operands: list[Operand] = []
        self.stream: Stream = NO_STREAM
        self.streams: list[Stream] = [NO_STREAM]
        type_ = type(arrays[0])
        kind = plain_kind(type_)
        if kind is not None:
            # NumPy's arrays, quickly: all are of the type, and need no check but for their elements.
            for x in arrays:
                if type(x) is not type_ or arithmetic and x.dtype is not kind.float32:
                    break
            else:
                self.kind: Kind = kind
                self.context: Context = for_device(None)
                return
        named = dict(zip(names, arrays))
        kind, device = common(named)
        if arithmetic:
            need_float32(kind, named)
        self.kind = kind
        self.context = for_device(device)
        if device is not None:
            self.streams = kind.streams(device, arrays)
            self.stream = self.streams[-1]

    def operand(self, x: Any) -> Operand:
        """An array as an operand."""
        made = self.kind.operand(x, self.stream)
        self.operands.append(made)
        return made

    def floats(self, x: Any) -> tuple[Any, Operand]:
        """An array of floats as an operand, copied if its address is not aligned as C's floats are. Plans find out
        about the strides."""
        made = self.operand(x)
        if made.address & 3:
            if not self.kind.has_copies(x):
                raise ValueError(
                    f"an array's address {made.address:#x} is not aligned to 4 bytes, and tilemm cannot copy a "
                    f"{type(x).__qualname__}"
                )
            x = self.dense(x, tuple(range(len(made.shape))))
            made = self.operand(x)
        return x, made

    def dense(self, x: Any, axes: Optional[tuple[int, ...]] = None) -> Any:
        """A copy in C order, its axes in this order."""
        return self.kind.dense(x, axes or tuple(range(len(x.shape))))

    def out(self, out: Any, shape: tuple[int, ...]) -> Operand:
        """An `out` as an operand, checked."""
        made = self.kind.operand(out, self.stream)
        need_out(self.kind, out, made, shape)
        return made

    def prepare(
        self, math: Optional[str] = None, nan: Optional[str] = None, invariant: Union[bool, str, None] = None
    ) -> None:
        """Set the context to this call's stream and modes, under its lock."""
        for stream in self.streams:
            self.context.prepare(stream, math, nan, invariant)

    def result(self, x: Any) -> Any:
        """A result as the caller gets it."""
        return self.kind.result(x, self.context, self.stream, tuple(self.operands))
