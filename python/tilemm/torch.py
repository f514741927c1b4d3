"""What PyTorch differentiates: products whose gradients are products of tilemm too.

    >>> import pytest; torch = pytest.importorskip("torch")
    >>> import tilemm.torch
    >>> x = torch.ones(5, 3, requires_grad=True)
    >>> y = tilemm.torch.matmul(x, torch.ones(3, 2))
    >>> y.sum().backward()
    >>> x.grad[0].tolist()
    [2.0, 2.0, 2.0]

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional, Union

import torch

from ._matmul import matmul as _product
from ._reduce import sum as _sum

__all__ = ["matmul"]


def _unbroadcast(gradient: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """The gradient of an operand that was broadcast from this shape: summed over what was repeated."""
    added = gradient.dim() - len(shape)
    axes = tuple(
        i for i in range(gradient.dim()) if i < added or (shape[i - added] == 1 and gradient.shape[i] != 1)
    )
    if not axes:
        return gradient
    if torch.is_grad_enabled():  # a second derivative is wanted: PyTorch's sum is differentiated
        return gradient.sum(axes).reshape(shape)
    total: torch.Tensor = _sum(gradient, axis=axes)
    return total.reshape(shape)


class _Matmul(torch.autograd.Function):
    """a @ b for matrices and batches of them."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, a: torch.Tensor, b: torch.Tensor, math: Optional[str], invariant: Union[bool, str, None]
    ) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        ctx.modes = math, invariant
        product: torch.Tensor = _product(a.detach(), b.detach(), math=math, invariant=invariant)
        return product

    @staticmethod
    def backward(  # type: ignore[override]
        ctx: Any, gradient: torch.Tensor
    ) -> tuple[Optional[torch.Tensor], Optional[torch.Tensor], None, None]:
        a, b = ctx.saved_tensors
        grad_a = grad_b = None
        if ctx.needs_input_grad[0]:
            grad_a = _unbroadcast(_Matmul.apply(gradient, b.mT, *ctx.modes), a.shape)
        if ctx.needs_input_grad[1]:
            if b.dim() == 2 and a.dim() > 2:
                # One matrix for a batch: one product over all rows, instead of a batch and its sum.
                a, gradient = a.reshape(-1, a.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
            grad_b = _unbroadcast(_Matmul.apply(a.mT, gradient, *ctx.modes), b.shape)
        return grad_a, grad_b, None, None


def matmul(
    a: torch.Tensor, b: torch.Tensor, math: Optional[str] = None, invariant: Union[bool, str, None] = None
) -> torch.Tensor:
    """a @ b, which PyTorch differentiates, any number of times.

    a     (..., m, k), or (k) as one row that the result does not have
    b     (..., k, n), or (k) as one column that the result does not have
    math  of this product and its gradients: "fp32", "strict", "tf32"; None is the Context's
    invariant  likewise, as tilemm.matmul() has it

    Both are float32, on one device. The dimensions before the last two broadcast. Returns (..., m, n).

    >>> import pytest; torch = pytest.importorskip("torch")
    >>> import tilemm.torch
    >>> tilemm.torch.matmul(torch.ones(4, 5, 3), torch.ones(3, 2), math="strict").shape
    torch.Size([4, 5, 2])
    """
    if a.dim() == 0 or b.dim() == 0:
        raise ValueError("matmul takes tensors of one dimension and more")
    product: torch.Tensor = _Matmul.apply(
        a.unsqueeze(0) if a.dim() == 1 else a, b.unsqueeze(1) if b.dim() == 1 else b, math, invariant
    )
    if b.dim() == 1:
        product = product.squeeze(-1)
    if a.dim() == 1:
        product = product.squeeze(-1 if b.dim() == 1 else -2)
    return product
