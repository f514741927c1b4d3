"""Products, transposes and reductions of arrays by libtilemm, on CPUs and CUDA GPUs.

    >>> import numpy as np, tilemm
    >>> a = np.ones((1000, 500), np.float32)
    >>> tilemm.matmul(a, a.T).shape
    (1000, 1000)

Arrays are those of NumPy, PyTorch, CuPy, JAX, Numba, or of any library with __dlpack__ or
__cuda_array_interface__. Arrays on a GPU stay there: results come back as the caller's kind of array, the work
goes to the caller's current stream, and nothing waits for it. `tilemm.torch` has what PyTorch differentiates.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from ._context import Context, backend, last_kernel
from ._library import Error, lib, text
from ._matmul import matmul
from ._reduce import argmax, argmin, asum, dot, max, mean, min, nrm2, sum
from ._transpose import transpose

__version__ = text(lib.tilemm_version)

__all__ = [
    "Context",
    "Error",
    "argmax",
    "argmin",
    "asum",
    "backend",
    "dot",
    "last_kernel",
    "matmul",
    "max",
    "mean",
    "min",
    "nrm2",
    "sum",
    "transpose",
]
