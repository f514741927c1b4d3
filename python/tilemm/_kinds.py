"""What array libraries have in common here: operands as addresses and strides, results as the caller's kind.

An array library is imported by its user alone: a kind is made when the first array of its type is seen.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import importlib
from typing import Any, Optional

# A stream as the caller's library has it: its cudaStream_t, and what keeps it alive.
Stream = tuple[int, Any]
NO_STREAM: Stream = (0, None)


class Operand:
    """An array as an operation reads or writes it. Strides count `unit` bytes."""

    __slots__ = ("address", "shape", "strides", "unit", "itemsize", "owner")

    def __init__(
        self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], unit: int, itemsize: int, owner: Any
    ) -> None:
        self.address = address
        self.shape = shape
        self.strides = strides
        self.unit = unit
        self.itemsize = itemsize
        self.owner = owner

    def span(self) -> tuple[int, int]:
        """The addresses from the first byte to behind the last; equal if there is none."""
        low = high = self.address
        if 0 in self.shape:
            return low, low
        for n, stride in zip(self.shape, self.strides):
            if stride < 0:
                low += (n - 1) * stride * self.unit
            else:
                high += (n - 1) * stride * self.unit
        return low, high + self.itemsize

    def overlaps(self, other: Operand) -> bool:
        """Whether the two may share memory."""
        low, high = self.span()
        other_low, other_high = other.span()
        return low < other_high and other_low < high

    def is_float_aligned(self) -> bool:
        """Whether all elements are at addresses that C takes for floats."""
        return self.address % 4 == 0 and (self.unit % 4 == 0 or all(s * self.unit % 4 == 0 for s in self.strides))


class Kind:
    """An array library. Each has a class of its own."""

    name = ""
    # The type of array that lies on the host and needs no check, and its dtype for float32; or None.
    plain: Optional[type] = None
    float32: Any = None

    def device(self, x: Any) -> Optional[int]:
        """The CUDA device that an array lies on; None is the host."""
        return None

    def streams(self, device: int, arrays: tuple[Any, ...]) -> list[Stream]:
        """The streams on which the arrays are made; the last one is the one to work on."""
        return [NO_STREAM]

    def is_float32(self, x: Any) -> bool:
        """Whether the elements are float32 in the machine's byte order."""
        raise NotImplementedError

    def operand(self, x: Any, stream: Stream) -> Operand:
        """An array as an operand, of any type of element."""
        raise NotImplementedError

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        """A new array in C order on the device of `like`; dtype is "float32", "int64" or "" for that of `like`."""
        raise NotImplementedError

    def dense(self, x: Any, axes: tuple[int, ...]) -> Any:
        """A new array in C order: x with its axes in this order."""
        raise NotImplementedError

    def assign(self, out: Any, x: Any) -> None:
        """Copy x into out, on the caller's stream."""
        raise NotImplementedError

    def has_copies(self, x: Any) -> bool:
        """Whether x's library has a function that makes the array of a copy."""
        return True

    def is_writable(self, x: Any) -> bool:
        """Whether x may be an `out`."""
        return True

    def check_operand(self, x: Any, name: str) -> None:
        """Raise TypeError for an array that no operation takes."""

    def result(self, x: Any, context: Any, stream: Stream, operands: tuple[Operand, ...]) -> Any:
        """A result that empty() has made, filled, as the caller gets it."""
        return x

    def scalar(self, x: Any) -> Any:
        """A result that may be of no dimensions, as the library's own functions return it."""
        return x


_kinds: dict[type, Kind] = {}
# The module that has a kind, by the first part of the name of its class's module.
_BY_MODULE = {"numpy": "_numpy", "torch": "_torch", "cupy": "_cupy", "jax": "_jax", "jaxlib": "_jax", "numba": "_numba"}
_MADE: dict[str, Kind] = {}


def _make(type_: type, x: Any, name: str) -> Kind:
    for base in type_.__mro__:
        module = _BY_MODULE.get(base.__module__.partition(".")[0])
        if module and (hasattr(base, "__array_interface__") or hasattr(base, "__dlpack__")
                       or hasattr(base, "__cuda_array_interface__") or base.__name__.endswith(("Tensor", "Tracer"))):
            break
    else:
        if not (hasattr(x, "__dlpack__") or hasattr(x, "__cuda_array_interface__")):
            raise TypeError(
                f"{name} is {type_.__module__}.{type_.__qualname__}, must be an array of NumPy, PyTorch, CuPy, JAX or Numba, "
                "or have __dlpack__ or __cuda_array_interface__"
            )
        module = "_foreign"
    if module not in _MADE:
        _MADE[module] = importlib.import_module(f".{module}", __package__).KIND
    kind = _kinds[type_] = _MADE[module]
    return kind


def plain_kind(type_: type) -> Optional[Kind]:
    """The kind of a type of array that needs no check; None for all others."""
    kind = _kinds.get(type_)
    return kind if kind is not None and kind.plain is type_ else None


def kind_of(x: Any, name: str) -> Kind:
    """The kind of an array."""
    type_ = type(x)
    kind = _kinds.get(type_) or _make(type_, x, name)
    kind.check_operand(x, name)
    return kind


def common(arrays: dict[str, Any]) -> tuple[Kind, Optional[int]]:
    """The kind and the device that the arrays share; TypeError or ValueError if they do not."""
    (first, x), *rest = arrays.items()
    kind = kind_of(x, first)
    device = kind.device(x)
    for name, y in rest:
        other = kind_of(y, name)
        if other is not kind:
            raise TypeError(f"{first} is of {kind.name}, {name} of {other.name}: all must be of one library")
        if kind.device(y) != device:
            where = ["the host" if d is None else f"cuda:{d}" for d in (device, kind.device(y))]
            raise ValueError(f"{first} is on {where[0]}, {name} on {where[1]}: all must be on one device")
    return kind, device


def need_float32(kind: Kind, arrays: dict[str, Any]) -> None:
    """Raise TypeError for elements that no arithmetic is done on."""
    for name, x in arrays.items():
        if not kind.is_float32(x):
            dtype = getattr(x, "dtype", None)
            raise TypeError(
                f"{name} has dtype {'unknown' if dtype is None else dtype}, must be float32 in native byte order: "
                "tilemm computes in single precision alone"
            )


def need_out(kind: Kind, out: Any, operand: Operand, shape: tuple[int, ...]) -> None:
    """Raise ValueError for an `out` that a result of this shape cannot go to."""
    if operand.shape != shape:
        raise ValueError(f"out has shape {operand.shape}, must be {shape}")
    if not kind.is_writable(out):
        raise ValueError("out is read-only")
    if 0 not in shape and any(s == 0 and n > 1 for n, s in zip(operand.shape, operand.strides)):
        raise ValueError(f"out has strides {operand.strides}: its elements share memory")
