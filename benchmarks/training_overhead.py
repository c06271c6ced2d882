#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What measuring costs: the steps of ridgeline_train against the same loop without any measuring, in blocks A B B A.

    PYTHONPATH=python python3 benchmarks/training_overhead.py --device cuda --hidden 4096 --rounds 10

Prints the step time of the bare loop and the overhead as the median of the rounds' ratios with their quartiles."""
import argparse
import statistics
import time

import torch
from torch import nn

from ridgeline_train.trial import Trial


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=8)
    flags = parser.parse_args()
    batch = (torch.randn(flags.batch, flags.hidden), torch.randint(10, (flags.batch,)))

    def make(settings):
        model = nn.Sequential(nn.Linear(flags.hidden, flags.hidden), nn.ReLU(), nn.Linear(flags.hidden, 10))
        return dict(model=model, optimizer=lambda made: torch.optim.SGD(made.parameters(), lr=0.001), loss=nn.CrossEntropyLoss(),
                    loader=lambda now: [batch] * 1000)

    trial = Trial(make, {"settings": {"batch": flags.batch}, "device": flags.device})
    model, optimizer, loss = trial.model, trial.optimizer, nn.CrossEntropyLoss()
    cuda = trial.cuda

    def bare(steps):
        if cuda:
            torch.cuda.synchronize()
        begin = time.perf_counter()
        source = iter([batch] * steps)
        for _ in range(steps):
            inputs, targets = next(source)
            inputs, targets = inputs.to(trial.device), targets.to(trial.device)
            loss(model(inputs), targets).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        if cuda:
            torch.cuda.synchronize()
        return (time.perf_counter() - begin) / steps * 1e3

    def measured(steps):
        return trial.run(steps)["wall_ms"] / steps

    bare(flags.steps), measured(flags.steps)
    ratios, steps = [], []
    for _ in range(flags.rounds):
        a = bare(flags.steps)
        b = measured(flags.steps) + measured(flags.steps)
        a += bare(flags.steps)
        ratios.append(b / a - 1)
        steps.append(a / 2)
    low, middle, high = statistics.quantiles(ratios, n=4)
    print("device %s, bare step %.3f ms, overhead %+.2f %% (quartiles %+.2f to %+.2f)"
          % (flags.device, statistics.median(steps), middle * 100, low * 100, high * 100))


if __name__ == "__main__":
    main()
