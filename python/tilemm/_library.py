"""libtilemm.so.0: found as programs find it, the types of its functions, its statuses as exceptions.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import ctypes
from typing import Any, NoReturn, Union

# The values of tilemm.h's enumerators.
BACKEND_AUTO, BACKEND_CPU, BACKEND_CUDA = 0, 1, 2
ROW_MAJOR, COL_MAJOR = 101, 102
NO_TRANS, TRANS = 111, 112
AXIS_ROWS, AXIS_COLS = 0, 1
MATH = {"fp32": 0, "strict": 1, "tf32": 2}
INVARIANT: dict[Union[bool, str], int] = {False: 0, True: 1, "across": 2}
NAN = {"propagate": 0, "ignore": 1}
REDUCE = {"sum": 0, "asum": 1, "nrm2": 3, "mean": 4, "max": 5, "min": 6}
INVALID_ARGUMENT, OUT_OF_MEMORY, DEVICE_FAILURE = 1, 2, 5

SONAME = "libtilemm.so.0"

# Arguments of each function that returns a status: p pointer, i int or enumerator, q int64_t, f float,
# z size_t.
_SIGNATURES = {
    "tilemm_create": "pii",
    "tilemm_destroy": "p",
    "tilemm_get_backend": "pp",
    "tilemm_get_device": "pp",
    "tilemm_set_stream": "pp",
    "tilemm_synchronize": "p",
    "tilemm_set_math": "pi",
    "tilemm_get_math": "pp",
    "tilemm_set_invariance": "pi",
    "tilemm_get_invariance": "pp",
    "tilemm_set_nan_policy": "pi",
    "tilemm_set_threads": "pi",
    "tilemm_get_threads": "pp",
    "tilemm_sgemm": "piiiqqqfpqpqfpq",
    "tilemm_sgemm_strided_batched": "piiiqqqfpqqpqqfpqqq",
    "tilemm_sgemm_batched": "piiiqqqfpqpqfpqq",
    "tilemm_copy_matrix_strided_batched": "pqqzpqqpqqq",
    "tilemm_transpose_strided_batched": "pqqzpqqpqqq",
    "tilemm_ssum": "pqpqp",
    "tilemm_sasum": "pqpqp",
    "tilemm_snrm2": "pqpqp",
    "tilemm_smax": "pqpqp",
    "tilemm_smin": "pqpqp",
    "tilemm_ismax": "pqpqp",
    "tilemm_ismin": "pqpqp",
    "tilemm_sdot": "pqpqpqp",
    "tilemm_sreduce": "piiiqqpqpq",
    "tilemm_sargreduce": "piiiqqpqpqp",
}
_TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "i": ctypes.c_int,
    "q": ctypes.c_int64,
    "f": ctypes.c_float,
    "z": ctypes.c_size_t,
}
_STRINGS = {
    "tilemm_create_error": "",
    "tilemm_last_error": "p",
    "tilemm_last_kernel": "p",
    "tilemm_status_string": "i",
    "tilemm_version": "",
}


class Error(RuntimeError):
    """What the library cannot do for other reasons than a wrong argument or too little memory.

    `status` is the number of the tilemm_status_t: 3 TILEMM_NO_DEVICE, 4 TILEMM_NOT_SUPPORTED,
    5 TILEMM_DEVICE_FAILURE, 6 TILEMM_INTERNAL_ERROR.

    >>> import tilemm
    >>> issubclass(tilemm.Error, RuntimeError)
    True
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def load(name: str = SONAME) -> ctypes.CDLL:
    """The library, with the types of its functions; ImportError says how to install it."""
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(
            f"tilemm needs the library {name}, which the dynamic linker does not find ({error}).\n"
            "Install it: 'apt install libtilemm0' where that package is; or from source by\n"
            "'./configure && make && sudo make install && sudo ldconfig'. If it is in a folder of its own, name\n"
            "the folder in LD_LIBRARY_PATH before Python starts."
        ) from None
    try:
        for function, arguments in _SIGNATURES.items():
            entry = getattr(library, function)
            entry.restype = ctypes.c_int
            entry.argtypes = [_TYPES[argument] for argument in arguments]
        for function, arguments in _STRINGS.items():
            entry = getattr(library, function)
            entry.restype = ctypes.c_char_p
            entry.argtypes = [_TYPES[argument] for argument in arguments]
    except AttributeError as error:
        raise ImportError(f"{name} is older than this package: {error}") from None
    return library


def text(function: Any, *arguments: Any) -> str:
    """What a function of the library says, as a str."""
    return bytes(function(*arguments)).decode("utf-8", "replace")


def fail(library: ctypes.CDLL, status: int, words: str) -> NoReturn:
    """Raise the exception for a status."""
    words = words or text(library.tilemm_status_string, status)
    if status == INVALID_ARGUMENT:
        raise ValueError(words)
    if status == OUT_OF_MEMORY:
        raise MemoryError(words)
    raise Error(words, status)


lib = load()
