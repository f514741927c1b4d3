"""Transposes: any permutation of axes as batches of transposed matrices or of copied rows.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any, NamedTuple, Optional, Sequence

from ._call import Call
from ._context import Context
from ._library import lib
from ._matmul import merged

# A dimension: how long, and the steps in the source and the destination.
_Dim = tuple[int, int, int]


class _Plan(NamedTuple):
    transposes: bool  # whether matrices are transposed, or copied
    rows: int
    cols: int
    elem_size: int
    ld_src: int
    ld_dst: int
    batch: _Dim
    outer: tuple[_Dim, ...]  # steps in bytes
    start: tuple[int, int]  # bytes from the arrays' addresses


def c_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """The strides in bytes of an array in C order."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def _low_bit(numbers: Sequence[int]) -> int:
    """The largest power of two up to 16 that divides all of them."""
    together = functools.reduce(operator.or_, numbers, 16)
    return together & -together


@functools.lru_cache(maxsize=4096)
def _plan(
    shape: tuple[int, ...], src: tuple[int, ...], dst: tuple[int, ...], itemsize: int, address_bits: int
) -> Optional[_Plan]:
    """The calls that copy elements from strides src to strides dst (bytes); None if there are no elements.

    address_bits are the lower bits of both addresses together, which limit the size of an element."""
    if 0 in shape:
        return None
    start_src = start_dst = 0
    dims: list[_Dim] = []
    for n, step_src, step_dst in zip(shape, src, dst):
        if step_dst < 0:  # both walked from the far end
            start_src, start_dst = start_src + (n - 1) * step_src, start_dst + (n - 1) * step_dst
            step_src, step_dst = -step_src, -step_dst
        dims.append((n, step_src, step_dst))
    dims.sort(key=lambda dim: -dim[2])
    # What lies together in both arrays is one element as far as it can be.
    runs: list[Any] = merged([*dims, (itemsize, 1, 1)])
    block = runs.pop()[0] if runs and runs[-1][1:] == (1, 1) else 1
    size = _low_bit([block, *(step for dim in runs for step in dim[1:])])
    # Elements of 16 bytes need be aligned to 8 alone.
    while size > 1 and (address_bits | start_src | start_dst) % min(size, 8):
        size //= 2
    dims = [(n, step_src // size, step_dst // size) for n, step_src, step_dst in runs]
    if block > size:
        dims.append((block // size, 1, 1))
    return _choose(dims, size, (start_src, start_dst))


def _choose(dims: list[_Dim], size: int, start: tuple[int, int]) -> _Plan:
    """Which dimensions are a matrix's rows and columns, which is the batch's; the others are walked."""
    from_unit = next((dim for dim in dims if dim[1] == 1 and dim[0] > 1), None)
    to_unit = next((dim for dim in dims if dim[2] == 1 and dim[0] > 1), None)
    transposes = False
    rows: Optional[_Dim] = None
    if from_unit is not None and to_unit is not None and from_unit is not to_unit:
        transposes = to_unit[1] >= from_unit[0] and from_unit[2] >= to_unit[0]
    if transposes and from_unit is not None and to_unit is not None:
        rows, cols = to_unit, from_unit  # of the source
        ld_src, ld_dst = to_unit[1], from_unit[2]
        dims.remove(from_unit)
        dims.remove(to_unit)
    else:
        cols = from_unit if from_unit is not None and from_unit is to_unit else (1, 1, 1)
        if cols in dims:
            dims.remove(cols)
        fitting = [dim for dim in dims if dim[1] >= cols[0] and dim[2] >= cols[0]]
        rows = max(fitting, default=None)
        if rows is None:
            rows = (1, cols[0], cols[0])
        else:
            dims.remove(rows)
        ld_src, ld_dst = rows[1:]
    batch = max(dims, default=(1, 0, 0))
    if dims:
        dims.remove(batch)
    outer = tuple((n, step_src * size, step_dst * size) for n, step_src, step_dst in dims)
    return _Plan(transposes, rows[0], cols[0], size, ld_src, ld_dst, batch, outer, start)


def move(
    context: Context, shape: tuple[int, ...], itemsize: int, source: int, src: tuple[int, ...], target: int,
    dst: tuple[int, ...],
) -> None:
    """Copy elements from an address with strides src to an address with strides dst (bytes)."""
    plan = _plan(shape, src, dst, itemsize, (source | target) & 15)
    if plan is None:
        return
    function = lib.tilemm_transpose_strided_batched if plan.transposes else lib.tilemm_copy_matrix_strided_batched
    source, target = source + plan.start[0], target + plan.start[1]
    count, batch_src, batch_dst = plan.batch
    for at in itertools.product(*(range(dim[0]) for dim in plan.outer)):
        status = function(
            context.handle, plan.rows, plan.cols, plan.elem_size,
            source + sum(i * dim[1] for i, dim in zip(at, plan.outer)), plan.ld_src, batch_src,
            target + sum(i * dim[2] for i, dim in zip(at, plan.outer)), plan.ld_dst, batch_dst, count,
        )
        if status:
            context.check(status)


def normal_axes(axes: Optional[Sequence[int]], dimensions: int) -> tuple[int, ...]:
    """Axes of a permutation, from 0; ValueError if they are none."""
    if axes is None:
        return tuple(range(dimensions))[::-1]
    numbers = tuple(operator.index(axis) for axis in axes)
    normal = tuple(axis + dimensions if axis < 0 else axis for axis in numbers)
    if sorted(normal) != list(range(dimensions)):
        raise ValueError(f"axes = {numbers}, must be a permutation of the {dimensions} axes of a")
    return normal


def transpose(a: Any, axes: Optional[Sequence[int]] = None, out: Any = None) -> Any:
    """An array with its axes in another order, moved in memory.

    a     (n0, n1, ...) of any dtype of 1 to 16 bytes; elements are moved, never interpreted
    axes  a permutation: axis i of the result is axis axes[i] of a. None reverses all
    out   (n of axes[0], n of axes[1], ...) of the same dtype, which receives the result and is returned. None
          makes a new array in C order

    >>> import numpy as np, tilemm
    >>> tilemm.transpose(np.array([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]])
    >>> tilemm.transpose(np.zeros((2, 3, 4), complex), (1, -1, 0)).shape
    (3, 4, 2)
    """
    call = Call(("a",), (a,), False) if out is None else Call(("a", "out"), (a, out), False)
    source = call.operand(a)
    if source.itemsize < 1 or source.itemsize > 16:
        raise TypeError(f"a has elements of {source.itemsize} bytes, must be of 1 to 16")
    order = normal_axes(axes, len(source.shape))
    shape = tuple(source.shape[axis] for axis in order)
    target = None
    if out is not None:
        if getattr(out, "dtype", None) != getattr(a, "dtype", None):
            raise TypeError(f"out has dtype {out.dtype}, must be that of a, {a.dtype}")
        to = call.out(out, shape)
        if to.itemsize != source.itemsize:
            raise TypeError(f"out has elements of {to.itemsize} bytes, must be of {source.itemsize} as a")
        if to.overlaps(source):
            target = call.kind.empty(shape, "", a)
            to = call.operand(target)
    else:
        target = call.kind.empty(shape, "", a)
        to = call.operand(target)
    with call.context.lock:
        call.prepare()
        move(
            call.context, shape, source.itemsize,
            source.address, tuple(source.strides[axis] * source.unit for axis in order),
            to.address, tuple(stride * to.unit for stride in to.strides),
        )
    if out is None:
        return call.result(target)
    if target is not None:
        call.kind.assign(out, target)
    return out
