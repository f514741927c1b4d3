"""DLPack, read and written by ctypes.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from ._kinds import Operand

HOST, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_FLOAT = 2  # the code of floating-point types


class DLTensor(ctypes.Structure):
    """dlpack.h's DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    """dlpack.h's DLManagedTensor."""

    _fields_ = [("tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_NAME = b"dltensor"


def read(capsule: Any) -> DLTensor:
    """The tensor in a capsule, which frees it at its own end, since it is never renamed."""
    tensor: DLTensor = DLManagedTensor.from_address(_get_pointer(capsule, _NAME)).tensor
    return tensor


def device_of(x: Any) -> Optional[int]:
    """The CUDA device of an array with __dlpack_device__; None is the host."""
    type_, number = (int(value) for value in x.__dlpack_device__())
    if type_ in (HOST, CUDA_HOST):
        return None
    if type_ in (CUDA, CUDA_MANAGED):
        return number
    raise TypeError(f"an array is on DLPack's device type {type_}, must be the host (1) or CUDA (2)")


def capsule_of(x: Any, stream: int) -> Any:
    """x.__dlpack__, whose data are there for what is queued on a CUDA stream after it."""
    if device_of(x) is None:
        return x.__dlpack__()
    return x.__dlpack__(stream=stream or 1)  # 1 is the legacy default stream


def is_float32(tensor: DLTensor) -> bool:
    """Whether the elements are float32."""
    return (tensor.code, tensor.bits, tensor.lanes) == (_FLOAT, 32, 1)


def operand(capsule: Any) -> Operand:
    """The tensor in a capsule as an operand, which keeps the capsule."""
    tensor = read(capsule)
    bits = tensor.bits * tensor.lanes
    if bits % 8:
        raise TypeError(f"an array has elements of {bits} bits, must be whole bytes")
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides:
        strides = tuple(tensor.strides[: tensor.ndim])
    else:
        backwards = [1]
        for n in shape[:0:-1]:
            backwards.append(backwards[-1] * n)
        strides = tuple(backwards[::-1][: len(shape)]) if shape else ()
    address = (tensor.data or 0) + tensor.byte_offset
    return Operand(address, shape, strides, bits // 8, bits // 8, capsule)


# What capsules of wrap() hold until their consumers are done, by address.
_held: dict[int, Any] = {}
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@_DELETER
def _delete(address: int) -> None:
    _held.pop(address, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule: int) -> None:
    # A consumer renames the capsule and calls the deleter itself.
    if _is_valid(capsule, _NAME):
        _delete(_get_pointer_raw(capsule, _NAME))


# As above on the address of a capsule that is being freed, which must not be referenced again.
_raw = ctypes.PyDLL(None)
_is_valid = _raw.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
_get_pointer_raw = _raw["PyCapsule_GetPointer"]
_get_pointer_raw.restype, _get_pointer_raw.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]


def wrap(capsule: Any, *keep: Any) -> Any:
    """A new capsule of the same tensor, which holds the old one and what is to be kept."""
    managed = DLManagedTensor()
    managed.tensor = read(capsule)
    managed.deleter = ctypes.cast(_delete, ctypes.c_void_p).value
    address = ctypes.addressof(managed)
    _held[address] = (managed, capsule, keep)
    return _new(address, _NAME, ctypes.cast(_destroy, ctypes.c_void_p).value)
