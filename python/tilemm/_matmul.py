"""Products of matrices.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from typing import Any, NamedTuple, Optional, Union

from ._call import Call
from ._context import Context
from ._library import COL_MAJOR, NO_TRANS, ROW_MAJOR, TRANS, lib

# A dimension of a batch: how many, and the steps in A, B and C.
_Steps = tuple[int, int, int, int]


class _Plan(NamedTuple):
    copies: tuple[bool, bool, bool]  # whether A, B, C must be copied first: then the rest says nothing
    head: tuple[int, ...] = ()  # layout, transa, transb, m, n, k
    lds: tuple[int, int, int] = (1, 1, 1)
    batch: _Steps = (1, 0, 0, 0)
    outer: tuple[_Steps, ...] = ()


def in_floats(strides: tuple[int, ...], unit: int) -> Optional[list[int]]:
    """Strides that count `unit` bytes in floats; None if they are not whole ones."""
    if any(stride * unit % 4 for stride in strides):
        return None
    return [stride * unit // 4 for stride in strides]


def _stored(rows: int, cols: int, step_row: int, step_col: int) -> Optional[tuple[int, int]]:
    """How BLAS takes a matrix with these steps: as rows (NO_TRANS) or columns (TRANS), and the leading
    dimension. None if not at all."""
    if rows == 0 or cols == 0:
        return NO_TRANS, max(cols, 1)
    if cols == 1 or step_col == 1:
        if rows == 1:
            return NO_TRANS, cols
        if step_row >= cols:
            return NO_TRANS, step_row
    if rows == 1 or step_row == 1:
        if cols == 1:
            return TRANS, rows
        if step_col >= rows:
            return TRANS, step_col
    return None


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    shape = []
    for x, y in itertools.zip_longest(reversed(a), reversed(b), fillvalue=1):
        if x != y and x != 1 and y != 1:
            raise ValueError(f"the batches {a} and {b} of a and b do not broadcast")
        shape.append(y if x == 1 else x)
    return tuple(reversed(shape))


def result_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a product; ValueError if there is none."""
    if not a or not b:
        raise ValueError("matmul takes arrays of one dimension and more; multiply by a scalar with alpha")
    k, rows = a[-1], b[-2] if len(b) > 1 else b[0]
    if k != rows:
        raise ValueError(f"a of shape {a} has {k} columns, b of shape {b} has {rows} rows: must be as many")
    return _broadcast(a[:-2], b[:-2]) + a[-2:-1] + (b[-1:] if len(b) > 1 else ())


def merged(dims: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Dimensions (length, step, step...), outer ones first, those that are one run in all arrays made one."""
    done: list[tuple[int, ...]] = []
    for dim in dims:
        if dim[0] == 1:
            continue
        if done and all(outer == step * dim[0] for outer, step in zip(done[-1][1:], dim[1:])):
            done[-1] = (done[-1][0] * dim[0], *dim[1:])
        else:
            done.append(dim)
    return done


def _dense(shape: tuple[int, ...]) -> list[int]:
    """The steps of an array in C order."""
    steps: list[int] = []
    step = 1
    for n in reversed(shape):
        steps.insert(0, step)
        step *= max(n, 1)
    return steps


def _steps(shape: tuple[int, ...], strides: tuple[int, ...], unit: int) -> Optional[list[int]]:
    """The steps in floats; None if they are no whole floats. Those of an array without elements may be any."""
    return _dense(shape) if 0 in shape else in_floats(strides, unit)


@functools.lru_cache(maxsize=4096)
def _plan(
    shape_a: tuple[int, ...],
    strides_a: tuple[int, ...],
    shape_b: tuple[int, ...],
    strides_b: tuple[int, ...],
    strides_c: Optional[tuple[int, ...]],
    units: tuple[int, int, int],
) -> tuple[tuple[int, ...], _Plan]:
    """The product's shape and the calls that make it; strides_c None is a new array in C order."""
    shape = result_shape(shape_a, shape_b)
    steps_a, steps_b = _steps(shape_a, strides_a, units[0]), _steps(shape_b, strides_b, units[1])
    if steps_a is None or steps_b is None:
        return shape, _Plan((steps_a is None, steps_b is None, False))
    if strides_c is None or 0 in shape:
        steps_c = _dense(shape)
    else:
        steps_c = [stride * units[2] // 4 for stride in strides_c]
    # Vectors are matrices of one row or column, which the result does not have.
    if len(shape_a) == 1:
        shape_a, steps_a, steps_c = (1, *shape_a), [0, *steps_a], _insert(steps_c, len(shape_b) == 1)
    if len(shape_b) == 1:
        shape_b, steps_b, steps_c = (*shape_b, 1), [*steps_b, 0], [*steps_c, 0]
    (m, k), n = shape_a[-2:], shape_b[-1]
    stored = (
        _stored(m, k, *steps_a[-2:]), _stored(k, n, *steps_b[-2:]), _stored(m, n, *steps_c[-2:])
    )
    batch_shape = _broadcast(shape_a[:-2], shape_b[:-2])
    dims = _dims(batch_shape, shape_a, steps_a, shape_b, steps_b, steps_c)
    if None in stored or any(dim[3] <= 0 for dim in dims):
        return shape, _Plan((stored[0] is None, stored[1] is None, stored[2] is None or any(d[3] <= 0 for d in dims)))
    (trans_a, lda), (trans_b, ldb), (trans_c, ldc) = stored  # type: ignore[misc]
    # One matrix B for all, and the rows of A and of C going on from matrix to matrix: one product.
    if dims and dims[-1][2] == 0 and trans_a == NO_TRANS and trans_c == NO_TRANS:
        count, step_a, _, step_c = dims[-1]
        if m == 1 and step_a >= k and step_c >= n:
            m, lda, ldc = count, max(step_a, 1), max(step_c, 1)
            dims.pop()
        elif step_a == m * lda and step_c == m * ldc:
            m *= count
            dims.pop()
    layout = ROW_MAJOR
    if trans_c == TRANS:
        layout = COL_MAJOR
        trans_a, trans_b = (TRANS if trans == NO_TRANS else NO_TRANS for trans in (trans_a, trans_b))
    longest = max(range(len(dims)), key=lambda i: dims[i][0]) if dims else 0
    batch = dims.pop(longest) if dims else (1, 0, 0, 0)
    return shape, _Plan(
        (False, False, False), (layout, trans_a, trans_b, m, n, k), (lda, ldb, ldc), batch, tuple(dims)
    )


def _insert(steps: list[int], at_end: bool) -> list[int]:
    """The steps of C with a row's put in: before a column's, if the result has columns."""
    return [*steps, 0] if at_end else [*steps[:-1], 0, steps[-1]]


def _dims(
    batch: tuple[int, ...],
    shape_a: tuple[int, ...],
    steps_a: list[int],
    shape_b: tuple[int, ...],
    steps_b: list[int],
    steps_c: list[int],
) -> list[_Steps]:
    """The batch's dimensions, as few as they can be."""

    def step(shape: tuple[int, ...], steps: list[int], i: int) -> int:
        at = i - len(batch) + len(shape) - 2
        return steps[at] if at >= 0 and shape[at] > 1 else 0

    dims = [
        (count, step(shape_a, steps_a, i), step(shape_b, steps_b, i), steps_c[i]) for i, count in enumerate(batch)
    ]
    if 0 in batch:
        return [(0, 0, 0, 1)]
    return merged(sorted(dims, key=lambda dim: -dim[3]))  # type: ignore[return-value]


def _run(context: Context, plan: _Plan, alpha: float, a: int, b: int, beta: float, c: int) -> None:
    """Make the plan's calls, on addresses."""
    (count, step_a, step_b, step_c), (lda, ldb, ldc) = plan.batch, plan.lds
    handle, check = context.handle, context.check
    if not plan.outer:
        if count == 1:
            status = lib.tilemm_sgemm(handle, *plan.head, alpha, a, lda, b, ldb, beta, c, ldc)
        else:
            status = lib.tilemm_sgemm_strided_batched(
                handle, *plan.head, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c, count
            )
        if status:
            check(status)
        return
    if not context.is_cuda:
        pointers = [
            (ctypes.c_void_p * (count * _count(plan.outer)))(
                *(first + 4 * (i * step[which] + sum(x * dim[which] for x, dim in zip(at, plan.outer)))
                  for at in itertools.product(*(range(dim[0]) for dim in plan.outer))
                  for i in range(count))
            )
            for which, first, step in ((1, a, plan.batch), (2, b, plan.batch), (3, c, plan.batch))
        ]
        at_a, at_b, at_c = (ctypes.addressof(array) for array in pointers)
        check(
            lib.tilemm_sgemm_batched(
                handle, *plan.head, alpha, at_a, lda, at_b, ldb, beta, at_c, ldc, count * _count(plan.outer)
            )
        )
        return
    # On a GPU a call for each row of matrices: arrays of pointers would lie on the host, and be waited for.
    for at in itertools.product(*(range(dim[0]) for dim in plan.outer)):
        there = [
            first + 4 * sum(x * dim[which] for x, dim in zip(at, plan.outer))
            for which, first in ((1, a), (2, b), (3, c))
        ]
        check(
            lib.tilemm_sgemm_strided_batched(
                handle, *plan.head, alpha, there[0], lda, step_a, there[1], ldb, step_b, beta, there[2], ldc, step_c,
                count,
            )
        )


def _count(outer: tuple[_Steps, ...]) -> int:
    product = 1
    for dim in outer:
        product *= dim[0]
    return product


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    math: Optional[str] = None,
    alpha: float = 1,
    beta: float = 0,
    invariant: Union[bool, str, None] = None,
) -> Any:
    """alpha a @ b + beta out, for matrices, batches of them, and vectors, as numpy.matmul.

    a      (..., m, k), or (k) as one row that the result does not have
    b      (..., k, n), or (k) as one column that the result does not have
    out    (..., m, n), which receives the result and is returned; may be an operand. None makes a new one
    math   "fp32" (at least as accurate as FP32), "strict" (FP32 multiply-adds alone), "tf32" (at least as
           accurate as TF32); None is the Context's, else TILEMM_MATH's, else "fp32"
    alpha  factor of the product
    beta   factor of the old out, which is not read if it is 0
    invariant  True: each element's bits depend on its row of a, its column of b, math and the kind of device
           alone, not on the batch that the row is in; "across": nor on the CPU's instruction set. None is
           the Context's, else TILEMM_INVARIANCE's, else False

    The dimensions before the last two broadcast. All arrays are float32, of one library, on one device.
    Returns (..., m, n) as the caller's kind of array.

    >>> import numpy as np, tilemm
    >>> a = np.arange(6, dtype=np.float32).reshape(2, 3)
    >>> tilemm.matmul(a, a.T)
    array([[ 5., 14.],
           [14., 50.]], dtype=float32)
    >>> tilemm.matmul(np.ones((4, 1, 2, 3), np.float32), np.ones((5, 3, 6), np.float32)).shape
    (4, 5, 2, 6)
    """
    if out is None:
        if beta:
            raise ValueError(f"beta = {beta}, must be 0 without out")
        call = Call(("a", "b"), (a, b), True)
    else:
        call = Call(("a", "b", "out"), (a, b, out), True)
    a, at_a = call.floats(a)
    b, at_b = call.floats(b)
    target = at_c = None
    if out is not None:
        at_c = call.out(out, result_shape(at_a.shape, at_b.shape))
        if not at_c.is_float_aligned() or at_c.overlaps(at_a) or at_c.overlaps(at_b):
            target, at_c = call.dense(out), None
    while True:
        shape, plan = _plan(
            at_a.shape, at_a.strides, at_b.shape, at_b.strides,
            None if at_c is None else at_c.strides,
            (at_a.unit, at_b.unit, 1 if at_c is None else at_c.unit),
        )
        if not any(plan.copies):
            break
        if plan.copies[0]:
            at_a = call.operand(call.dense(a))
        if plan.copies[1]:
            at_b = call.operand(call.dense(b))
        if plan.copies[2]:
            target, at_c = call.dense(out), None
    if target is None:
        target = call.kind.empty(shape, "float32", a) if out is None else out
    if at_c is None:
        at_c = call.operand(target)
    context = call.context
    with context.lock:
        call.prepare(math, invariant=invariant)
        _run(context, plan, alpha, at_a.address, at_b.address, beta, at_c.address)
    if out is None:
        return call.kind.scalar(call.result(target))
    if target is not out:
        call.kind.assign(out, target)
    return out
