"""JAX's arrays, outside of jax.jit. JAX is told by DLPack's protocol when a result is there.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional

import jax
import jax.numpy as jnp
import numpy as np  # which JAX has imported

from . import _dlpack
from ._kinds import Kind, Operand, Stream

_INT64 = np.dtype(np.int64)


class _Buffer:
    """A result on a GPU before it is filled: JAX's array that no one else has seen."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, device: Any) -> None:
        self.shape = shape
        self.dtype = dtype
        # Without jax_enable_x64 there is no int64 to allocate: two words.
        self.words = dtype == _INT64 and not jax.config.read("jax_enable_x64")
        with jax.default_device(device):
            self.array = jnp.empty((*shape, 2), jnp.uint32) if self.words else jnp.empty(shape, dtype)


class _Export:
    """A filled buffer as JAX imports it: on the stream that JAX names, after the work."""

    def __init__(self, capsule: Any, device: int, context: Any, stream: Stream) -> None:
        self.capsule = capsule
        self.place = (_dlpack.CUDA, device)
        self.context = context
        self.stream = stream

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place

    def __dlpack__(self, *, stream: Optional[int] = None, **_: Any) -> Any:
        if stream not in (None, -1):
            with self.context.lock:
                self.context.prepare((0 if stream == 1 else stream, None))
        return self.capsule


class JaxKind(Kind):
    """jax.Array."""

    name = "JAX"

    def check_operand(self, x: Any, name: str) -> None:
        if isinstance(x, jax.core.Tracer):
            raise TypeError(f"{name} is traced by jax: tilemm computes outside of jax.jit, jax.grad and jax.vmap")
        if len(x.devices()) != 1:
            raise TypeError(f"{name} is spread over {len(x.devices())} devices, must be on one")

    def device(self, x: Any) -> Optional[int]:
        if next(iter(x.devices())).platform == "cpu":
            return None
        return _dlpack.device_of(x)

    def streams(self, device: int, arrays: tuple[Any, ...]) -> list[Stream]:
        place = next(iter(arrays[0].devices()))
        return [(place.get_stream_for_external_ready_events(), place)]

    def is_float32(self, x: Any) -> bool:
        return bool(x.dtype == np.float32)

    def operand(self, x: Any, stream: Stream) -> Operand:
        if isinstance(x, _Buffer):
            made = _dlpack.operand(_dlpack.capsule_of(x.array, stream[0]))
            if x.words:
                strides = tuple(stride // 2 for stride in made.strides[:-1])
                made = Operand(made.address, x.shape, strides, 8, 8, made.owner)
            return made
        if isinstance(x, np.ndarray) or self.device(x) is None:
            there = np.asarray(x)  # waits for JAX's work on the CPU, and copies nothing
            return Operand(
                there.__array_interface__["data"][0], there.shape, there.strides, 1, there.itemsize, there
            )
        return _dlpack.operand(_dlpack.capsule_of(x, stream[0]))

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        if isinstance(like, np.ndarray) or self.device(like) is None:
            return np.empty(shape, dtype or like.dtype)
        return _Buffer(shape, np.dtype(dtype or like.dtype), next(iter(like.devices())))

    def dense(self, x: Any, axes: tuple[int, ...]) -> Any:
        if isinstance(x, np.ndarray) or self.device(x) is None:
            return np.array(np.transpose(np.asarray(x), axes), order="C")
        return jnp.transpose(x, axes)

    def is_writable(self, x: Any) -> bool:
        return False

    def result(self, x: Any, context: Any, stream: Stream, operands: tuple[Operand, ...]) -> Any:
        if isinstance(x, np.ndarray):
            return jnp.asarray(x)
        # The result keeps the operands: JAX would give their memory to work on its own stream.
        capsule = _dlpack.capsule_of(x.array, stream[0])
        device = _dlpack.device_of(x.array)
        export = _Export(_dlpack.wrap(capsule, *(o.owner for o in operands)), device or 0, context, stream)
        array = jax.dlpack.from_dlpack(export)
        return array[..., 0].astype(jnp.int32) if x.words else array


KIND = JaxKind()
