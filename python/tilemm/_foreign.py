"""Arrays of other libraries: DLPack, or else the CUDA array interface.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional

from . import _dlpack
from ._kinds import NO_STREAM, Kind, Operand, Stream
from ._transpose import transpose


def _interface(x: Any) -> dict[str, Any]:
    interface: dict[str, Any] = x.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise TypeError("an array has a mask: give its data alone")
    return interface


def interface_operand(x: Any) -> Operand:
    """An array with the CUDA array interface as an operand."""
    interface = _interface(x)
    shape = tuple(interface["shape"])
    size = int(interface["typestr"][2:])
    strides = interface.get("strides")
    if strides is None:
        strides, step = [], size
        for n in reversed(shape):
            strides.insert(0, step)
            step *= n
    return Operand(interface["data"][0] or 0, shape, tuple(strides), 1, size, x)


def interface_streams(arrays: tuple[Any, ...]) -> list[Stream]:
    """The streams on which such arrays are made; those without one are ready."""
    streams = []
    for x in arrays:
        stream = _interface(x).get("stream")
        if stream is not None:
            streams.append((0 if stream == 1 else int(stream), x))
    return streams or [NO_STREAM]


class InterfaceKind(Kind):
    """Arrays that libtilemm copies, since their library has no such function for all of them."""

    def dense(self, x: Any, axes: tuple[int, ...]) -> Any:
        return transpose(x, axes)

    def assign(self, out: Any, x: Any) -> None:
        transpose(x, tuple(range(len(x.shape))), out)


class ForeignKind(InterfaceKind):
    """Whatever has __dlpack__ or __cuda_array_interface__."""

    name = "another library"

    def device(self, x: Any) -> Optional[int]:
        if hasattr(x, "__dlpack__"):
            return _dlpack.device_of(x)
        return 0  # the interface does not say: the library looks at the address

    def streams(self, device: int, arrays: tuple[Any, ...]) -> list[Stream]:
        # DLPack's producers are told the stream; the legacy default stream orders itself after others.
        return interface_streams(tuple(x for x in arrays if not hasattr(x, "__dlpack__")))

    def is_float32(self, x: Any) -> bool:
        if hasattr(x, "__dlpack__"):
            capsule = _dlpack.capsule_of(x, 0)
            return _dlpack.is_float32(_dlpack.read(capsule))
        typestr = _interface(x)["typestr"]
        return typestr[1:] == "f4" and typestr[0] in "<="

    def operand(self, x: Any, stream: Stream) -> Operand:
        if hasattr(x, "__dlpack__"):
            return _dlpack.operand(_dlpack.capsule_of(x, stream[0]))
        return interface_operand(x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        if not hasattr(like, "__array_namespace__"):
            raise TypeError(
                f"tilemm cannot make a {type(like).__qualname__}, which a result or a copy needs: give out=, and operands "
                "whose strides need no copy"
            )
        namespace = like.__array_namespace__()
        return namespace.empty(
            shape, dtype=getattr(namespace, dtype) if dtype else like.dtype, device=like.device
        )

    def has_copies(self, x: Any) -> bool:
        return hasattr(x, "__array_namespace__")

    def is_writable(self, x: Any) -> bool:
        return hasattr(x, "__dlpack__") or not _interface(x)["data"][1]


KIND = ForeignKind()
