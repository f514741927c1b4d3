"""What the tests share: arrays of random shapes and strides.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import os

import numpy as np
import pytest

QUICK = bool(os.environ.get("TILEMM_TEST_QUICK"))
# How long the tests of threads and processes run, in seconds: a minute with TILEMM_TEST_LONG=1.
SECONDS = 60 if os.environ.get("TILEMM_TEST_LONG") else 2 if QUICK else 5


class Arrays:
    """A source of arrays."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def integer(self, low, high):
        """low <= i < high"""
        return int(self.random.integers(low, high))

    def shape(self, dimensions, longest=6):
        """A shape; one of ten may have a 0 in it."""
        low = 0 if self.random.random() < 0.1 else 1
        return [self.integer(low, longest + 1) for _ in range(dimensions)]

    def dense(self, shape):
        """floats in C order"""
        return np.asarray(self.random.standard_normal(shape), np.float32)

    def view(self, shape):
        """floats with steps of 1 to 3 or negative, in any order of axes, some of them broadcast"""
        order = self.random.permutation(len(shape))
        base = self.dense([3 * shape[i] + 2 for i in order]).transpose(np.argsort(order))
        slices = []
        for n in shape:
            step = int(self.random.choice([1, 1, 1, 2, 3, -1, -2]))
            if n == 0:
                slices.append(slice(0, 0))
            elif self.random.random() < 0.1:
                slices.append(slice(0, 1))
            elif step > 0:
                slices.append(slice(1, 1 + step * n, step))
            else:
                slices.append(slice(1 - step * (n - 1), 1 + step if 1 + step >= 0 else None, step))
        part = base[(..., *slices)]
        return part if part.shape == tuple(shape) else np.broadcast_to(part, shape)

    def out(self, shape):
        """A writable view of any strides."""
        while True:
            view = self.view(shape)
            if view.flags.writeable and all(s or n <= 1 for n, s in zip(view.shape, view.strides)):
                return view


@pytest.fixture
def arrays(request):
    """A source of arrays, which gives each test the same ones in each run."""
    return Arrays(sum(map(ord, request.node.name)))


def runs(count):
    """How many random cases a test tries."""
    return range(count // 10 if QUICK else count)
