#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a CUDA graph's replay takes while the rest of its process works on other streams, without ONNX Runtime.

    benchmarks/stream_use.py [--scenario NAME]
Captures 60 linear layers with GELU (120 kernels) on one stream and times their replay by the GPU's own clock, then lets
the process do something else, and times the replay again, with everything idle but the graph. Each scenario is a process
of its own. Needs torch and an NVIDIA GPU.
"""
import argparse
import subprocess
import sys

LAYERS = 60
WIDTH = 768
REPLAYS = 300


class Graph:
    def __init__(self, torch):
        self.torch = torch
        layers = [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()) for _ in range(LAYERS)]
        self.model = torch.nn.Sequential(*layers).eval().cuda()
        self.x = torch.randn(128, WIDTH).cuda()  # made on the CPU: no kernel on another stream
        torch.cuda.synchronize()
        self.stream = torch.cuda.Stream()
        self.graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.stream(self.stream):
            for _ in range(3):
                self.model(self.x)
            self.stream.synchronize()
            with torch.cuda.graph(self.graph, stream=self.stream):
                self.model(self.x)

    def time(self, what):
        torch = self.torch
        torch.cuda.synchronize()
        times = []
        with torch.cuda.stream(self.stream):
            for at in range(REPLAYS + 50):
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                start.record(self.stream)
                self.graph.replay()
                end.record(self.stream)
                self.stream.synchronize()
                if at >= 50:
                    times.append(start.elapsed_time(end) * 1e3)
        times.sort()
        low, median, high = (times[int(share * (len(times) - 1))] for share in (0.1, 0.5, 0.9))
        print(f"| {what} | {median:.1f} | {low:.1f} | {high:.1f} |", flush=True)


def kernels(graph, stream, count):
    with graph.torch.cuda.stream(stream):
        cell = graph.torch.empty(32, device="cuda")
        for _ in range(count):
            cell.fill_(1)


def one_other(graph, count):
    other = graph.torch.cuda.Stream()
    for at in range(1, count + 1):
        kernels(graph, other, 1)
        graph.time(f"after {at} kernel{'s' if at > 1 else ''} on one other stream")


def many_others(graph, count):
    for at in range(1, count + 1):
        kernels(graph, graph.torch.cuda.Stream(), 1)
        graph.time(f"after a kernel on each of {at} other stream{'s' if at > 1 else ''}")


def default_stream(graph, count):
    kernels(graph, graph.torch.cuda.default_stream(), count)
    graph.time(f"after {count} kernels on the default stream")


def same_stream(graph, count):
    kernels(graph, graph.stream, count)
    with graph.torch.no_grad(), graph.torch.cuda.stream(graph.stream):
        graph.model(graph.x)
    graph.time(f"after {count} kernels and the model itself on the graph's stream")
    kernels(graph, graph.torch.cuda.Stream(), count)
    graph.time(f"... and {count} kernels on another")


SCENARIOS = {
    "one other stream": lambda graph: one_other(graph, 12),
    "many other streams": lambda graph: many_others(graph, 12),
    "the default stream": lambda graph: default_stream(graph, 12),
    "the same stream": lambda graph: same_stream(graph, 1000),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", choices=list(SCENARIOS))
    chosen = parser.parse_args().scenario
    if chosen is None:
        print("| replay of the graph | median, us | 10 % | 90 % |\n|---|---:|---:|---:|", flush=True)
        return max(subprocess.call([sys.executable, __file__, "--scenario", name]) for name in SCENARIOS)
    import torch
    if not torch.cuda.is_available():
        sys.exit("no NVIDIA GPU that torch can use")
    graph = Graph(torch)
    graph.time(f"alone ({chosen})")
    SCENARIOS[chosen](graph)
    return 0


if __name__ == "__main__":
    sys.exit(main())
