"""Contexts: one for each thread and device by default, or those that the program makes.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextvars
import ctypes
import os
import threading
from typing import Any, Mapping, Optional, Union

from ._library import BACKEND_AUTO, BACKEND_CPU, BACKEND_CUDA, DEVICE_FAILURE, INVARIANT, MATH, NAN, fail, lib, text

# How often the process has forked: a context of a parent is made again in the child.
_forks = 0


_fork_lock = threading.Lock()


def _after_fork() -> None:
    global _forks, _fork_lock, _local
    _forks += 1
    _fork_lock = threading.Lock()
    _local = _Local()


def _number(name: str, values: Mapping[Any, int], value: Any) -> int:
    try:
        return values[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name} = {value!r}, must be one of {', '.join(map(repr, values))}") from None


def _device_number(device: Any) -> tuple[int, int]:
    """backend and ordinal of "auto", "cpu", "cuda", "cuda:1", 1."""
    words = f"cuda:{device}" if isinstance(device, int) else str(device)
    name, colon, number = words.partition(":")
    if name == "cuda" and (not colon or number.isdigit()):
        return BACKEND_CUDA, int(number or 0)
    if words in ("auto", "cpu"):
        return (BACKEND_AUTO if words == "auto" else BACKEND_CPU), 0
    raise ValueError(f"device = {device!r}, must be 'auto', 'cpu', 'cuda', 'cuda:N' or N")


class Context:
    """A device, a number of threads and a math mode, for the calls in a `with` block.

    device   "auto" (CUDA if usable, else the CPU; TILEMM_BACKEND overrides), "cpu", "cuda",
             "cuda:1", or the number of a CUDA device
    threads  how many threads each call on the CPU uses; 0 leaves it to the library
    math     "fp32", "strict" or "tf32": for products that do not say; None leaves it to TILEMM_MATH
    invariant  whether a row's bits depend on that row alone, as matmul() says: False, True or "across", for
             products that do not say; None leaves it to TILEMM_INVARIANCE

    Without a Context each thread has one of its own for each device that its arrays lie on, and NumPy
    arrays are computed on the CPU. In a `with Context("cuda")` NumPy arrays go to the GPU and back.
    Threads may share a Context: their calls then come one after the other.

    >>> import numpy as np, tilemm
    >>> with tilemm.Context("cpu", threads=2, math="strict") as context:
    ...     c = tilemm.matmul(np.ones((2, 3), np.float32), np.ones((3, 4), np.float32))
    >>> c.shape, context.backend, context.threads, context.math
    ((2, 4), 'cpu', 2, 'strict')
    """

    def __init__(
        self,
        device: Union[str, int] = "auto",
        threads: int = 0,
        math: Optional[str] = None,
        invariant: Union[bool, str, None] = None,
    ) -> None:
        self._wanted = _device_number(device)
        self._threads = threads
        self._math_wanted = None if math is None else _number("math", MATH, math)
        self._invariant_wanted = None if invariant is None else _number("invariant", INVARIANT, invariant)
        self._make()

    def _make(self) -> None:
        self.lock = threading.RLock()
        self._process = os.getpid()
        self._handle = ctypes.c_void_p()
        status = lib.tilemm_create(ctypes.addressof(self._handle), *self._wanted)
        if status:
            fail(lib, status, text(lib.tilemm_create_error))
        self.handle = self._handle.value
        self.is_cuda = self._ask(lib.tilemm_get_backend) == BACKEND_CUDA
        self.device = self._ask(lib.tilemm_get_device) if self.is_cuda else None
        if self._threads:
            self.check(lib.tilemm_set_threads(self.handle, self._threads))
        if self._math_wanted is not None:
            self.check(lib.tilemm_set_math(self.handle, self._math_wanted))
        if self._invariant_wanted is not None:
            self.check(lib.tilemm_set_invariance(self.handle, self._invariant_wanted))
        # What the library's context is set to.
        self.own_math = self._math_set = self._ask(lib.tilemm_get_math)
        self.own_invariance = self._invariance_set = self._ask(lib.tilemm_get_invariance)
        self._nan_set = 0
        self._stream_set = 0
        self._stream_owner: Any = None
        self.forks = _forks

    def _ask(self, function: Any) -> int:
        value = ctypes.c_int()
        self.check(function(self.handle, ctypes.addressof(value)))
        return value.value

    def check(self, status: int) -> None:
        """Raise the exception for a status that is not success."""
        if status:
            words = text(lib.tilemm_last_error, self.handle)
            if status == DEVICE_FAILURE:
                _drop(self)
            fail(lib, status, words)

    def prepare(
        self,
        stream: tuple[int, Any],
        math: Optional[str] = None,
        nan: Optional[str] = None,
        invariant: Union[bool, str, None] = None,
    ) -> None:
        """Set the stream and the modes of the call that follows, under the lock."""
        if nan is None:
            wanted = self.own_math if math is None else _number("math", MATH, math)
            if wanted != self._math_set:
                self.check(lib.tilemm_set_math(self.handle, wanted))
                self._math_set = wanted
            wanted = self.own_invariance if invariant is None else _number("invariant", INVARIANT, invariant)
            if wanted != self._invariance_set:
                self.check(lib.tilemm_set_invariance(self.handle, wanted))
                self._invariance_set = wanted
        else:
            wanted = _number("nan", NAN, nan)
            if wanted != self._nan_set:
                self.check(lib.tilemm_set_nan_policy(self.handle, wanted))
                self._nan_set = wanted
        if self.is_cuda and stream[0] != self._stream_set:
            self.check(lib.tilemm_set_stream(self.handle, stream[0]))
            self._stream_set, self._stream_owner = stream
        _local.last = self

    def here(self) -> Context:
        """The context itself, made again in a child of the process that made it."""
        if self.forks != _forks:
            with _fork_lock:
                if self.forks != _forks:
                    self._make()
        return self

    @property
    def backend(self) -> str:
        """ "cpu" or "cuda"."""
        return "cuda" if self.is_cuda else "cpu"

    @property
    def threads(self) -> int:
        """How many threads a call on the CPU uses."""
        with self.here().lock:
            return self._ask(lib.tilemm_get_threads)

    @property
    def math(self) -> str:
        """The math mode of products that do not say: "fp32", "strict" or "tf32"."""
        return next(name for name, number in MATH.items() if number == self.own_math)

    def synchronize(self) -> None:
        """Wait until all work of the context is done."""
        with self.here().lock:
            self.check(lib.tilemm_synchronize(self.handle))

    def last_kernel(self) -> str:
        """The kernel that did the main work of the context's last call; "" before the first."""
        with self.here().lock:
            return text(lib.tilemm_last_kernel, self.handle)

    def __enter__(self) -> Context:
        _current.set((self, _current.get()))
        return self

    def __exit__(self, *_: object) -> None:
        current = _current.get()
        if current is not None:
            _current.set(current[1])

    def __del__(self, destroy: Any = lib.tilemm_destroy, getpid: Any = os.getpid) -> None:
        # A parent's context is left alone in a child: another thread may have been inside it.
        if getattr(self, "_handle", None) and self._process == getpid():
            destroy(self._handle)

    def __repr__(self) -> str:
        place = "cpu" if self.device is None else f"cuda:{self.device}"
        return f"<tilemm.Context {place}, math {self.math}>"


class _Local(threading.local):
    """A thread's own contexts."""

    def __init__(self) -> None:
        self.cpu: Optional[Context] = None  # of arrays on the host
        self.cuda: dict[int, Context] = {}
        self.last: Optional[Context] = None


_local = _Local()
# The contexts whose `with` blocks are open, the inner one first: (context, the outer ones).
_current: contextvars.ContextVar[Any] = contextvars.ContextVar("tilemm", default=None)
os.register_at_fork(after_in_child=_after_fork)


def _drop(context: Context) -> None:
    """Forget a context that is lost, so that the thread's next call makes another."""
    if _local.cpu is context:
        _local.cpu = None
    for device, known in list(_local.cuda.items()):
        if known is context:
            del _local.cuda[device]


def for_device(device: Optional[int]) -> Context:
    """The context for arrays on a CUDA device, or on the host (None)."""
    current = _current.get()
    if current is not None:
        context: Context = current[0]
        if device is not None and context.device != device:
            raise ValueError(f"the arrays are on cuda:{device}, the Context is {context!r}")
        return context.here()
    if device is None:
        known = _local.cpu
        if known is None:
            # TILEMM_BACKEND=cuda wants the GPU for NumPy's arrays too.
            cuda = os.environ.get("TILEMM_BACKEND") == "cuda"
            known = _local.cpu = Context("auto" if cuda else "cpu")
        return known
    if device not in _local.cuda:
        _local.cuda[device] = Context(device)
    return _local.cuda[device]


def backend() -> str:
    """Which backend this thread's last call used, or would use for NumPy arrays: "cpu" or "cuda".

    >>> import numpy as np, tilemm
    >>> float(tilemm.sum(np.ones(5, np.float32)))
    5.0
    >>> tilemm.backend()
    'cpu'
    """
    return (_local.last or for_device(None)).backend


def last_kernel() -> str:
    """The kernel that did the main work of this thread's last call; "" if none has run.

    >>> import numpy as np, tilemm
    >>> c = tilemm.matmul(np.ones((64, 64), np.float32), np.ones((64, 64), np.float32))
    >>> tilemm.last_kernel().startswith("sgemm_")
    True
    """
    return _local.last.last_kernel() if _local.last else ""
