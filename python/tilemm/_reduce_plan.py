"""How arrays are reduced along axes: matrices and vectors that the library takes.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any, NamedTuple, Optional, Sequence, Union

from ._call import Call
from ._context import Context
from ._library import AXIS_COLS, AXIS_ROWS, REDUCE, ROW_MAJOR, lib
from ._matmul import in_floats, merged
from ._transpose import c_strides

Axis = Union[None, int, Sequence[int]]
# A kept dimension: how long, and the steps in the array and in the result.
_Dim = tuple[int, int, int]
# So many single vectors are reduced where they lie, rather than copied to a matrix.
_VECTORS = 16


class _Plan(NamedTuple):
    copies: bool  # whether the array must be copied, the reduced axes last: then the rest says nothing
    order: tuple[int, ...] = ()  # the axes, in the order for such a copy
    shape: tuple[int, ...] = ()  # of the result
    axis: int = AXIS_COLS
    rows: int = 1
    cols: int = 1
    lda: int = 1
    incout: int = 1
    increment: int = 0  # of the one vector that is reduced, instead of a matrix; 0 for a matrix
    outer: tuple[_Dim, ...] = ()
    start: int = 0


def normal_axis(axis: Axis, dimensions: int) -> tuple[int, ...]:
    """Axes to reduce along, from 0, in their order; ValueError if they are none."""
    if axis is None:
        return tuple(range(dimensions))
    numbers = [operator.index(a) for a in axis] if isinstance(axis, (tuple, list)) else [operator.index(axis)]  # type: ignore[arg-type]
    for number in numbers:
        if not -dimensions <= number < dimensions:
            raise ValueError(f"axis = {number}, must be {-dimensions} to {dimensions - 1}")
    normal = sorted(number % dimensions for number in numbers)
    if len(set(normal)) < len(normal):
        raise ValueError(f"axis = {axis!r} names an axis twice")
    return tuple(normal)


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


@functools.lru_cache(maxsize=4096)
def _plan(
    shape: tuple[int, ...], strides: tuple[int, ...], unit: int, axis: Any, keepdims: bool, ordered: bool, mean: bool
) -> _Plan:
    """The calls that reduce an array; `ordered` where positions are wanted, in C order."""
    axes = normal_axis(axis, len(shape))
    kept = [i for i in range(len(shape)) if i not in axes]
    order = (*kept, *axes)
    result = reduced_shape(shape, axes, keepdims)
    steps = in_floats(strides, unit)
    if steps is None:
        return _Plan(True, order)
    kept_shape = [shape[i] for i in kept]
    if 0 in kept_shape:
        return _Plan(False, order, result, outer=((0, 0, 0),))
    start = 0
    runs: list[tuple[int, ...]] = []
    for i in axes:
        n, step = shape[i], steps[i]
        if step < 0 and not ordered:
            start, step = start + (n - 1) * step, -step
        runs.append((n, step))
    if not ordered:
        runs.sort(key=lambda run: -run[1])
    if any(n == 0 for n, _ in runs):
        runs = [(0, 1)]
    runs = merged(runs)
    if len(runs) > 1 or (runs and runs[0][1] == 0):
        return _Plan(True, order)
    n, step = runs[0] if runs else (1, 1)
    out_steps = c_strides(kept_shape, 1)
    # Where nothing is read, steps may be anything.
    dims: list[Any] = [(shape[i], steps[i] if n else out, out) for i, out in zip(kept, out_steps)]
    dims.sort(key=lambda dim: -dim[2])
    dims = list[Any](merged(dims))
    plan = _Plan(False, order, result, rows=1, cols=n, lda=max(n, 1), start=start)
    if not dims:
        return _vector(plan, step, mean)
    # A matrix: reduced along its rows, or down its columns.
    along = [dim for dim in dims if n <= 1 or (step == 1 and dim[1] >= n)]
    down = [dim for dim in dims if dim[1] == 1 and (n <= 1 or step >= dim[0])]
    best = max(along + down, default=None)
    if best is not None:
        dims.remove(best)
        if best in down:
            lda = best[0] if n <= 1 else step
            return plan._replace(
                axis=AXIS_ROWS, rows=n, cols=best[0], lda=lda, incout=best[2], outer=tuple(dims)
            )
        if best[1] >= max(n, 1):
            return plan._replace(rows=best[0], lda=best[1], incout=best[2], outer=tuple(dims))
        dims.append(best)
    if _count(dims) > _VECTORS:
        return _Plan(True, order)
    return _vector(plan._replace(outer=tuple(dims)), step, mean)


def _vector(plan: _Plan, step: int, mean: bool) -> _Plan:
    """A plan for vectors with a step. A mean has no function of its own: it takes a matrix of one column."""
    if step == 1:
        return plan
    if mean and step > 0:
        return plan._replace(axis=AXIS_ROWS, rows=plan.cols, cols=1, lda=step)
    return plan._replace(increment=step)


def _count(dims: Sequence[tuple[int, ...]]) -> int:
    product = 1
    for dim in dims:
        product *= dim[0]
    return product


_VECTOR = {
    "sum": lib.tilemm_ssum,
    "asum": lib.tilemm_sasum,
    "nrm2": lib.tilemm_snrm2,
    "max": lib.tilemm_smax,
    "min": lib.tilemm_smin,
    "argmax": lib.tilemm_ismax,
    "argmin": lib.tilemm_ismin,
}


def _run(context: Context, operation: str, plan: _Plan, a: int, out: int) -> None:
    """Make the plan's calls, on addresses."""
    positions = operation.startswith("arg")
    out_bytes = 8 if positions else 4
    number = REDUCE[operation[3:] if positions else operation]
    handle = context.handle
    a += 4 * plan.start
    for at in itertools.product(*(range(dim[0]) for dim in plan.outer)):
        source, target = a, out
        for i, dim in zip(at, plan.outer):
            source += 4 * i * dim[1]
            target += out_bytes * i * dim[2]
        if plan.increment:
            # A negative increment walks from the far end: the address is that of the nearest element.
            n, increment = plan.cols, plan.increment
            if increment < 0:
                source += 4 * (n - 1) * increment
            status = _VECTOR[operation](handle, n, source, increment, target)
        elif positions:
            status = lib.tilemm_sargreduce(
                handle, number, plan.axis, ROW_MAJOR, plan.rows, plan.cols, source, plan.lda, None, plan.incout, target
            )
        else:
            status = lib.tilemm_sreduce(
                handle, number, plan.axis, ROW_MAJOR, plan.rows, plan.cols, source, plan.lda, target, plan.incout
            )
        if status:
            context.check(status)


def reduce_all(operation: str, a: Any, axis: Axis, keepdims: bool, nan: str) -> Any:
    call = Call(("a",), (a,), True)
    original, operand = call.floats(a)
    positions = operation.startswith("arg")
    key = tuple(axis) if isinstance(axis, list) else axis
    plan = _plan(
        operand.shape, operand.strides, operand.unit, key, bool(keepdims), positions, operation == "mean"
    )
    if plan.copies:
        shape = operand.shape
        dense = call.dense(original, plan.order)
        operand = call.operand(dense)
        reduced = len(normal_axis(key, len(shape)))
        last = tuple(range(len(shape) - reduced, len(shape)))
        plan = _plan(operand.shape, operand.strides, operand.unit, last, False, positions, operation == "mean")
        plan = plan._replace(shape=reduced_shape(shape, normal_axis(key, len(shape)), bool(keepdims)))
    result = call.kind.empty(plan.shape, "int64" if positions else "float32", a)
    target = call.operand(result)
    with call.context.lock:
        call.prepare(nan=nan)
        _run(call.context, operation, plan, operand.address, target.address)
    return call.kind.scalar(call.result(result))


def search(operation: str, a: Any, axis: Optional[int], keepdims: bool, nan: str) -> Any:
    if axis is not None:
        axis = operator.index(axis)
    shape = getattr(a, "shape", ())
    lengths = shape if axis is None else shape[axis : axis + 1 or None]
    if 0 in tuple(lengths):
        raise ValueError(f"{operation} of no elements: a has shape {tuple(shape)}, axis is {axis}")
    return reduce_all(operation, a, axis, keepdims, nan)


@functools.lru_cache(maxsize=4096)
def _dot_plan(
    shape_a: tuple[int, ...], strides_a: tuple[int, ...], unit_a: int,
    shape_b: tuple[int, ...], strides_b: tuple[int, ...], unit_b: int, axis: Any,
) -> tuple[bool, tuple[int, int, int], tuple[_Dim, ...], tuple[int, int], tuple[int, ...]]:
    """Whether both must be copied; the vectors' (n, step, step), the kept dimensions' (n, step, step), where the
    vectors start, and the axes in the order for a copy."""
    axes = normal_axis(axis, len(shape_a))
    kept = [i for i in range(len(shape_a)) if i not in axes]
    steps_a, steps_b = in_floats(strides_a, unit_a), in_floats(strides_b, unit_b)
    if steps_a is None or steps_b is None:
        return True, (0, 1, 1), (), (0, 0), (*kept, *axes)
    runs: list[Any] = [(shape_a[i], steps_a[i], steps_b[i]) for i in axes]
    runs = [(0, 1, 1)] if 0 in shape_a else merged(runs)
    dims = tuple((shape_a[i], steps_a[i], steps_b[i]) for i in kept)
    if len(runs) > 1 or (runs and 0 in runs[0][1:]):
        return True, (0, 1, 1), dims, (0, 0), (*kept, *axes)
    n, step_a, step_b = runs[0] if runs else (1, 1, 1)
    # BLAS's address of a vector with a negative increment is that of the nearest element.
    start = tuple((n - 1) * step if step < 0 else 0 for step in (step_a, step_b))
    return False, (n, step_a, step_b), dims, start, (*kept, *axes)  # type: ignore[return-value]


def dot_all(a: Any, b: Any, axis: Axis, keepdims: bool, nan: str) -> Any:
    """The dot products of two arrays along axes."""
    call = Call(("a", "b"), (a, b), True)
    a, at_a = call.floats(a)
    b, at_b = call.floats(b)
    if at_a.shape != at_b.shape:
        raise ValueError(f"a has shape {at_a.shape}, b {at_b.shape}: must be one")
    key = tuple(axis) if isinstance(axis, list) else axis
    axes = normal_axis(key, len(at_a.shape))
    shape = reduced_shape(at_a.shape, axes, bool(keepdims))
    while True:
        copies, (n, step_a, step_b), dims, (start_a, start_b), order = _dot_plan(
            at_a.shape, at_a.strides, at_a.unit, at_b.shape, at_b.strides, at_b.unit, key
        )
        if not copies:
            break
        at_a, at_b = call.operand(call.dense(a, order)), call.operand(call.dense(b, order))
        key = tuple(range(len(order) - len(axes), len(order)))
    result = call.kind.empty(shape, "float32", a)
    target = call.operand(result).address
    first_a, first_b = at_a.address + 4 * start_a, at_b.address + 4 * start_b
    with call.context.lock:
        call.prepare(nan=nan)
        for at in itertools.product(*(range(dim[0]) for dim in dims)):
            x, y = first_a, first_b
            for i, dim in zip(at, dims):
                x, y = x + 4 * i * dim[1], y + 4 * i * dim[2]
            call.context.check(lib.tilemm_sdot(call.context.handle, n, x, step_a, y, step_b, target))
            target += 4
    return call.kind.scalar(call.result(result))
