#!/bin/sh
# doctests.sh - the examples in the docstrings of the Python package. TILEMM_INSTALLED=1: of the one that is installed.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
exec "$python" - <<'PYTHON'
import doctest
import importlib
import inspect
import sys

import numpy

import tilemm

failed = tried = 0
modules = ["tilemm", "tilemm._context", "tilemm._library", "tilemm._matmul", "tilemm._reduce", "tilemm._transpose"]
try:
    import torch

    modules.append("tilemm.torch")
except ImportError:
    print("no PyTorch: tilemm.torch is left out")
for name in modules:
    result = doctest.testmod(importlib.import_module(name))
    failed += result.failed
    tried += result.attempted
missing = [name for name in tilemm.__all__ if ">>>" not in inspect.getdoc(getattr(tilemm, name))]
print("%d examples, %d failed; without one: %s" % (tried, failed, missing or "none"))
sys.exit(bool(failed or missing or tried < 30))
PYTHON
