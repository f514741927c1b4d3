"""PyTorch's tensors, on the CPU and on CUDA devices.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional

import torch

from ._kinds import Kind, Operand, Stream

_DTYPES = {"float32": torch.float32, "int64": torch.int64}


class TorchKind(Kind):
    """torch.Tensor."""

    name = "PyTorch"

    def check_operand(self, x: Any, name: str) -> None:
        if x.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                f"{name} requires a gradient, which this function does not compute: call tilemm.torch.matmul, "
                "or give x.detach()"
            )
        if x.layout is not torch.strided:
            raise TypeError(f"{name} has layout {x.layout}, must be torch.strided")
        if x.device.type not in ("cpu", "cuda"):
            raise TypeError(f"{name} is on {x.device}, must be on the CPU or a CUDA device")

    def device(self, x: Any) -> Optional[int]:
        return int(x.get_device()) if x.is_cuda else None

    def streams(self, device: int, arrays: tuple[Any, ...]) -> list[Stream]:
        stream = torch.cuda.current_stream(device)
        return [(stream.cuda_stream, stream)]

    def is_float32(self, x: Any) -> bool:
        return x.dtype is torch.float32

    def operand(self, x: Any, stream: Stream) -> Operand:
        # Views that are conjugated or negated when they are read.
        if x.is_neg() or x.is_conj():
            x = x.resolve_conj().resolve_neg()
        size = x.element_size()
        return Operand(x.data_ptr(), tuple(x.shape), x.stride(), size, size, x)

    def empty(self, shape: tuple[int, ...], dtype: str, like: Any) -> Any:
        return torch.empty(shape, dtype=_DTYPES[dtype] if dtype else like.dtype, device=like.device)

    def dense(self, x: Any, axes: tuple[int, ...]) -> Any:
        return x.detach().permute(axes).clone(memory_format=torch.contiguous_format)

    def assign(self, out: Any, x: Any) -> None:
        out.copy_(x)


KIND = TorchKind()
