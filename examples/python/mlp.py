"""mlp.py - a multilayer perceptron's forward and backward pass in PyTorch, its products by tilemm and by
torch.matmul at the precisions "highest" (FP32) and "high" (TF32 where the device has it): the time of each, and
its error against the same pass in FP64.

    python3 mlp.py [batch [width [layers]]]

Runs on a GPU where PyTorch has one, else on the CPU.

Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import statistics
import sys
import time

import torch

import tilemm.torch


def forward(x, weights, product):
    """The mean square of the last layer's outputs."""
    for weight in weights[:-1]:
        x = torch.relu(product(x, weight))
    return product(x, weights[-1]).square().mean()


def gradients(x, weights, product):
    """The weights' gradients."""
    return torch.autograd.grad(forward(x, weights, product), weights)


def seconds(work, device):
    """The median of some runs, after one that is not counted."""
    times = []
    for _ in range(8):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    defaults = [4096, 4096, 4] if device == "cuda" else [256, 512, 4]
    given = [int(word) for word in sys.argv[1:4]]
    batch, width, layers = given + defaults[len(given) :]
    torch.manual_seed(1)
    x = torch.randn(batch, width, device=device)
    weights = [
        (torch.randn(width, width, device=device) * (2 / width) ** 0.5).requires_grad_() for _ in range(layers)
    ]
    exact = gradients(x.double(), [w.detach().double().requires_grad_() for w in weights], torch.matmul)

    where = torch.cuda.get_device_name() if device == "cuda" else "the CPU"
    print(f"batch {batch}, {layers} layers of {width}, on {where}")
    print(f"{'product':26} {'ms':>9} {'TFLOP/s':>9} {'error':>9}")
    flops = 2 * batch * width * width * (3 * layers - 1)
    for name, product, precision in [
        ("tilemm fp32", tilemm.torch.matmul, "highest"),
        ("tilemm strict", lambda a, b: tilemm.torch.matmul(a, b, "strict"), "highest"),
        ("tilemm tf32", lambda a, b: tilemm.torch.matmul(a, b, "tf32"), "highest"),
        ("torch.matmul, highest", torch.matmul, "highest"),
        ("torch.matmul, high", torch.matmul, "high"),
    ]:
        torch.set_float32_matmul_precision(precision)
        got = gradients(x, weights, product)
        error = max(float((g.double() - e).norm() / e.norm()) for g, e in zip(got, exact))
        time_taken = seconds(lambda product=product: gradients(x, weights, product), device)
        print(f"{name:26} {1e3 * time_taken:9.2f} {flops / time_taken / 1e12:9.3f} {error:9.1e}")


main()
