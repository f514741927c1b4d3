"""Reductions of arrays along axes.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional

from ._reduce_plan import Axis, dot_all, reduce_all, search


def sum(a: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Sum of the elements, accumulated in FP64 in a fixed order and rounded once.

    a         float32 of any shape
    axis      along which axis or axes; None is all
    keepdims  whether reduced axes stay, with length 1
    nan       "propagate", or "ignore" to leave NaN out

    Returns an array of a's shape without the axes.

    >>> import numpy as np, tilemm
    >>> tilemm.sum(np.ones((2, 3, 4), np.float32), axis=(0, 2))
    array([8., 8., 8.], dtype=float32)
    """
    return reduce_all("sum", a, axis, keepdims, nan)


def asum(a: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Sum of the absolute values; arguments as sum's.

    >>> import numpy as np, tilemm
    >>> tilemm.asum(np.array([[1, -2], [-3, 4]], np.float32), axis=0)
    array([4., 6.], dtype=float32)
    """
    return reduce_all("asum", a, axis, keepdims, nan)


def nrm2(a: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Square root of the sum of squares, without overflow inside; arguments as sum's.

    >>> import numpy as np, tilemm
    >>> tilemm.nrm2(np.array([[3, 4], [6e30, 8e30]], np.float32), axis=1)
    array([5.e+00, 1.e+31], dtype=float32)
    """
    return reduce_all("nrm2", a, axis, keepdims, nan)


def mean(a: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Sum of the elements divided by their number; arguments as sum's. NaN of no elements.

    >>> import numpy as np, tilemm
    >>> tilemm.mean(np.array([[1, 2], [3, np.nan]], np.float32), axis=1, keepdims=True, nan="ignore")
    array([[1.5],
           [3. ]], dtype=float32)
    """
    return reduce_all("mean", a, axis, keepdims, nan)


def max(a: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Largest element; arguments as sum's. -infinity of no elements; -0 is less than +0.

    >>> import numpy as np, tilemm
    >>> tilemm.max(np.array([[1, 5, 2], [7, 0, 3]], np.float32), axis=-1)
    array([5., 7.], dtype=float32)
    """
    return reduce_all("max", a, axis, keepdims, nan)


def min(a: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Smallest element; arguments as sum's. +infinity of no elements; -0 is less than +0.

    >>> import numpy as np, tilemm
    >>> tilemm.min(np.array([[1, 5, 2], [7, 0, 3]], np.float32), axis=0)
    array([1., 0., 2.], dtype=float32)
    """
    return reduce_all("min", a, axis, keepdims, nan)


def argmax(a: Any, axis: Optional[int] = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Position of the first largest element along an axis, or in C order among all.

    a         float32 of any shape
    axis      an axis, or None for all elements
    keepdims  whether reduced axes stay, with length 1
    nan       "propagate" for the first NaN's position if there is one, "ignore" to leave NaN out (-1 if all
              elements are NaN)

    Returns int64 (int32 for JAX without 64-bit types) of a's shape without the axis. ValueError of no elements.

    >>> import numpy as np, tilemm
    >>> tilemm.argmax(np.array([[1, 5, 5], [7, 0, 3]], np.float32), axis=1)
    array([1, 0])
    """
    return search("argmax", a, axis, keepdims, nan)


def argmin(a: Any, axis: Optional[int] = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Position of the first smallest element; arguments as argmax's.

    >>> import numpy as np, tilemm
    >>> int(tilemm.argmin(np.array([[1, 5, 5], [7, 0, 3]], np.float32)))
    4
    """
    return search("argmin", a, axis, keepdims, nan)


def dot(a: Any, b: Any, axis: Axis = None, keepdims: bool = False, nan: str = "propagate") -> Any:
    """Sum of the products of elements, products exact, accumulated as sum's.

    a, b      float32 of one shape
    axis      along which axis or axes; None is all
    keepdims  whether reduced axes stay, with length 1
    nan       "propagate", or "ignore" to leave out products that are NaN

    Returns an array of that shape without the axes; each element is a call of the library. Products of
    matrices are matmul's.

    >>> import numpy as np, tilemm
    >>> a = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    >>> tilemm.dot(a, a, axis=1)
    array([14., 77.], dtype=float32)
    """
    return dot_all(a, b, axis, keepdims, nan)
