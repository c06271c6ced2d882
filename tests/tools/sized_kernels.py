# SPDX-License-Identifier: Apache-2.0
"""Twelve kernels of PyTorch that move many bytes, for scripts/profile_gpu.sh --part bytes: each is a module, and a step calls all of them.

    sized_kernels.py [--steps 4] [--megabytes 512]
The last step is between cudaProfilerStart and cudaProfilerStop, so that Ridgeline and Nsight Compute count the same launches."""
import argparse

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Case(torch.nn.Module):
    """Keeps its inputs, and computes in place or into memory of its own, so that nothing is allocated in a counted step."""

    def __init__(self, compute, *inputs):
        super().__init__()
        self.compute = compute
        self.inputs = inputs

    def forward(self):
        return self.compute(*self.inputs)


def cases(megabytes):
    """By name. Each reads or writes about `megabytes` or more; the last four stay within a few MB, which the L2 cache holds."""
    floats = megabytes * 250_000
    side = int(floats**0.5) // 64 * 64
    flat, other = torch.randn(floats, device=DEVICE), torch.randn(floats, device=DEVICE)
    table = torch.randn(side, side, device=DEVICE)
    # With a few columns on its right each row of `half` is read once; of a square product the caches decide how often.
    half = torch.randn(2 * side, side, device=DEVICE, dtype=torch.bfloat16)
    columns = torch.randn(side, 128, device=DEVICE, dtype=torch.bfloat16)
    rows = torch.randint(side, (side,), device=DEVICE)
    out = torch.empty_like(flat)
    small = torch.randn(2_000_000, device=DEVICE)
    small_table = small[: 1024 * 1024].view(1024, 1024)
    small_out = torch.empty_like(small)
    functional = torch.nn.functional
    return {
        "negate": Case(lambda a, b: torch.neg(a, out=b), flat, out),
        "add": Case(lambda a, b, c: torch.add(a, b, out=c), flat, other, out),
        "gelu": Case(functional.gelu, flat),
        "sum": Case(torch.sum, flat),
        "transpose": Case(lambda a: a.t().contiguous(), table),
        "softmax": Case(lambda a: torch.softmax(a, 1), table),
        "layer_norm": Case(lambda a: functional.layer_norm(a, (side,)), table),
        "gather": Case(lambda a, i: a.index_select(0, i), table, rows),
        "matmul": Case(lambda a, b: a @ b, half, columns),
        "small_add": Case(lambda a, c: torch.add(a, 1, out=c), small, small_out),
        "small_softmax": Case(lambda a: torch.softmax(a, 1), small_table),
        "small_sum": Case(torch.sum, small),
    }


class AllCases(torch.nn.Module):
    def __init__(self, megabytes):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1, device=DEVICE))  # a model has parameters
        for name, case in cases(megabytes).items():
            self.add_module(name, case)

    def forward(self):
        for _, case in self.named_children():
            case()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=4)
    options.add_argument("--megabytes", type=int, default=512)
    arguments = options.parse_args()
    model = AllCases(arguments.megabytes).eval()
    with torch.no_grad():
        for step in range(arguments.steps):
            last = step + 1 == arguments.steps and DEVICE == "cuda"
            if last:
                torch.cuda.synchronize()
                torch.cuda.profiler.start()
            model()
            if last:
                torch.cuda.synchronize()
                torch.cuda.profiler.stop()
    print("done")


if __name__ == "__main__":
    main()
