#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the hooks of `ridgeline bench -- python train.py` cost in each step of a script, measured in one process: blocks of steps with the hooks
and blocks with torch as it was, in the order A B B A.

    PYTHONPATH=python python3 benchmarks/training_hooks.py
    PYTHONPATH=python python3 benchmarks/training_hooks.py --layers 12 --width 256 --batch 64     # a step of 2 ms
    PYTHONPATH=python python3 benchmarks/training_hooks.py --calls                                # time of each function of the hooks

Prints the step without hooks, and what they add: the median over the rounds of the difference of the blocks, with its quartiles. A block's
value is the time below which a fifth of its steps are, because other programs only lengthen steps."""
import argparse
import cProfile
import gc
import pstats
import statistics
import time

import torch
import torch.utils.data
from torch import nn

from ridgeline_script.session import Session

MANY = 1 << 40


class Parent:
    """The other side of the channel: it asks for more steps than are made."""

    def receive(self):
        return {"op": "run", "steps": MANY}

    def send(self, answer):
        if "error" in answer:
            raise SystemExit("error: %s" % answer["error"])


class Items(torch.utils.data.Dataset):
    def __init__(self, samples, width):
        self._rows = torch.randn(samples, width)

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, index):
        return self._rows[index], index % 10


def owners():
    """What the hooks change attributes of."""
    found = [torch.autograd, torch.autocast, torch.nn.Module, torch.optim.Optimizer, torch.optim.SGD, torch.utils.data.DataLoader]
    base = torch.utils.data.dataloader._BaseDataLoaderIter
    return found + [base] + base.__subclasses__()


class Attributes:
    """Those that the hooks replaced, with and without them."""

    def __init__(self):
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)  # torch itself wraps the step of a class as its first optimizer is made
        self._before = [(owner, dict(vars(owner))) for owner in owners()]
        self._changed = []

    def hooked(self):
        for owner, before in self._before:
            for name, value in dict(vars(owner)).items():
                if before.get(name) is not value and not name.startswith("_abc"):
                    self._changed.append((owner, name, before.get(name), value))

    def set(self, with_hooks):
        for owner, name, before, after in self._changed:
            value = after if with_hooks else before
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def steps_of(flags):
    """Trains for ever; gives the time of each step in us."""
    torch.manual_seed(1)
    layers = [one for _ in range(flags.layers) for one in (nn.Linear(flags.width, flags.width), nn.ReLU())]
    model = nn.Sequential(*layers, nn.Linear(flags.width, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss_of = nn.CrossEntropyLoss()
    rows = Items(flags.batch * 200, flags.width)
    while True:
        source = iter(torch.utils.data.DataLoader(rows, batch_size=flags.batch))
        begin = time.perf_counter_ns()
        for inputs, targets in source:
            optimizer.zero_grad()
            loss_of(model(inputs), targets).backward()
            optimizer.step()
            now = time.perf_counter_ns()
            yield (now - begin) / 1e3
            begin = time.perf_counter_ns()


def block(steps, count):
    gc.collect()
    for _ in range(3):
        next(steps)
    return statistics.quantiles((next(steps) for _ in range(count)), n=5)[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100, help="steps per block")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", action="store_true", help="the functions that the hooks spend time in, by cProfile")
    flags = parser.parse_args()
    torch.set_num_threads(1)
    attributes = Attributes()
    session = Session(Parent(), {"op": "prepare", "spec": {"job": {"kind": "script"}, "settings": {"batch": flags.batch}, "device": "cpu"}})
    session.install()
    steps = steps_of(flags)
    for _ in range(20):
        next(steps)
    attributes.hooked()
    if flags.calls:
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(flags.steps):
            next(steps)
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats("ridgeline_", 25)
    plain, added = [], []
    for _ in range(0 if flags.calls else flags.rounds):
        medians = {True: [], False: []}
        for with_hooks in (True, False, False, True):
            attributes.set(with_hooks)
            medians[with_hooks].append(block(steps, flags.steps))
        plain.append(statistics.fmean(medians[False]))
        added.append(statistics.fmean(medians[True]) - plain[-1])
    session.ending.is_waited_for = False  # the script ends before it has made all steps
    if flags.calls:
        return
    low, middle, high = statistics.quantiles(added, n=4)
    step = statistics.median(plain)
    print("torch %s, step %.0f us, hooks %+.1f us (quartiles %+.1f to %+.1f), %.2f %% of the step" % (
        torch.__version__, step, middle, low, high, 100 * middle / step))


if __name__ == "__main__":
    main()
