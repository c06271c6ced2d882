# SPDX-License-Identifier: Apache-2.0
"""As much of torch.cuda as ridgeline_infer touches: install() lets tensors of the CPU pass for those of "cuda:0"."""

import collections
import contextlib

import torch

calls = collections.Counter()


class Graph:
    refuses = False

    def replay(self):
        calls["replay"] += 1


@contextlib.contextmanager
def capture(graph, pool=None):
    assert pool == "pool"
    calls["capture"] += 1
    if Graph.refuses:
        raise RuntimeError("operation not permitted when stream is capturing\nmore lines")
    yield


class Stream:
    def __init__(self, device=None):
        pass

    def wait_stream(self, other):
        calls["wait_stream"] += 1


class Event:
    """Each is recorded 2 ms after the one before."""

    recorded = 0

    def __init__(self, enable_timing=False):
        assert enable_timing

    def record(self, stream):
        Event.recorded += 2
        self.at = Event.recorded

    def elapsed_time(self, later):
        return later.at - self.at


def count(name, value=None):
    def function(*args):
        calls[name] += 1
        return value

    return function


def install(made):
    device = torch.device("cuda:0")
    made.Made.device = lambda self: device
    made.Made.devices = lambda self: {device}
    replaced = dict(synchronize=count("synchronize"), current_device=count("current_device", 0), CUDAGraph=Graph, graph=capture,
                    get_device_capability=count("capability", (9, 0)), get_device_name=count("name", "Fake GPU"), Stream=Stream, Event=Event,
                    stream=lambda stream: contextlib.nullcontext(), current_stream=Stream, graph_pool_handle=lambda: "pool",
                    device=lambda device: contextlib.nullcontext(), empty_cache=count("empty_cache"),
                    reset_peak_memory_stats=count("reset_peak"), max_memory_reserved=count("peak", 12345))
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)
    return calls
