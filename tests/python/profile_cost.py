# SPDX-License-Identifier: Apache-2.0
"""Prints what the hooks of ridgeline_profile add to a call of a module. With a library whose functions do nothing:

    python3 profile_cost.py"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "python", "ridgeline_profile", "site")
CALLS = 2000
ROUNDS = 20
LIBRARY = """#include <stdint.h>
int32_t ridgeline_trace_start(void) { return 0; }
uint32_t ridgeline_trace_name(const char* text) { static uint32_t names; return text ? names++ : 0; }
void ridgeline_trace_push(uint32_t name, int32_t kind) { (void)name; (void)kind; }
void ridgeline_trace_pop(void) {}
void ridgeline_trace_step(void) {}
void ridgeline_trace_flush(void) {}
void ridgeline_trace_capture(int32_t begins) { (void)begins; }
void ridgeline_trace_profiler(int32_t starts) { (void)starts; }
"""


def best(run, calls):
    import time
    run()
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return min(times) / calls * 1e6


def measure():
    import torch
    from torch import nn
    torch.set_num_threads(1)

    class Same(nn.Module):
        def forward(self, x):
            return x

    class Scale(nn.Module):
        def forward(self, x):
            return x * 1.0

    class Chain(nn.Module):
        def __init__(self, kind, calls):
            super().__init__()
            self.all = nn.ModuleList([kind() for _ in range(calls)])

        def forward(self, x):
            for one in self.all:
                x = one(x)
            return x

    same, scale, empty = Chain(Same, CALLS), Chain(Scale, CALLS), Chain(Same, 0)
    x, leaf = torch.ones(1), torch.ones(1, requires_grad=True)
    with torch.no_grad():
        print("without gradient", best(lambda: same(x), CALLS))
        print("outermost", best(lambda: [empty(x) for _ in range(CALLS)], CALLS))
    class Pretended(torch.Tensor):
        is_cuda = True
        __torch_function__ = torch._C._disabled_torch_function_impl

    host, gpu = torch.ones(1), torch.ones(1).as_subclass(Pretended)
    print("item of a host tensor", best(lambda: [host.item() for _ in range(CALLS)], CALLS))
    print("item of a GPU tensor", best(lambda: [gpu.item() for _ in range(CALLS)], CALLS))
    print("gradient mode, no graph", best(lambda: same(x), CALLS))
    print("forward with a graph", best(lambda: scale(leaf), CALLS))
    print("forward and backward", best(lambda: scale(leaf).backward(), CALLS))


def measured(environment):
    text = subprocess.run([sys.executable, __file__, "measure"], env=environment, check=True, capture_output=True, text=True).stdout
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "nothing.c"), os.path.join(folder, "libnothing.so")
        with open(source, "w") as file:
            file.write(LIBRARY)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        bare = dict(os.environ)
        without = measured(bare)
        with_hooks = measured(dict(bare, RIDGELINE_TRACE_LIBRARY=library, PYTHONPATH=SITE, PYTHONDONTWRITEBYTECODE="1"))
        for name, time in with_hooks.items():
            print("%-24s %6.2f us, without hooks %6.2f us: %+.2f us per call" % (name, time, without[name], time - without[name]))


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["measure"] else main()
