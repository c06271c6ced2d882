#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small training script, as `ridgeline sweep` meets them: any command, changed in nothing but flags.

It needs no torch: the "step" is a loop of a cost that depends on batch size and loader workers as real steps do.
  ridgeline sweep --param batch=16,32,64 --param workers=0,2 \
    --metric 'samples_per_s=speed: ([0-9.]+) samples/s' --metric loss=json:loss --objective max:samples_per_s \
    -- python3 examples/sweep_train.py --bs {batch} --workers {workers}
"""
import argparse
import json
import os
import random
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bs", type=int, default=16, help="batch size")
    parser.add_argument("--workers", type=int, default=0, help="loader workers")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--step-ms", type=float, default=1.0, help="fixed part of a step")
    parser.add_argument("--max-bs", type=int, default=1 << 20, help="above it memory runs out, as on a small GPU")
    arguments = parser.parse_args()
    if arguments.bs > arguments.max_bs:
        raise MemoryError(f"a batch of {arguments.bs} samples does not fit")

    random.seed(int(os.environ.get("RIDGELINE_REPEAT", "0")))
    loading_ms = 0.02 * arguments.bs / (1 + arguments.workers)  # hidden behind the step once workers are there
    step_ms = arguments.step_ms + 0.02 * arguments.bs
    loss = 2.0
    begin = time.perf_counter()
    for step in range(arguments.steps):
        time.sleep((max(step_ms, loading_ms) if arguments.workers else step_ms + loading_ms) / 1000)
        loss *= 0.98 + 0.001 * random.random()
        if step % 5 == 4:
            print(json.dumps({"step": step + 1, "loss": round(loss, 4)}), flush=True)
    seconds = time.perf_counter() - begin
    print(f"speed: {arguments.bs * arguments.steps / seconds:.1f} samples/s")

    # The other way: a file of lines "name value", wherever Ridgeline wants it.
    if path := os.environ.get("RIDGELINE_METRICS_FILE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"step_ms {1000 * seconds / arguments.steps:.4f}\n")


if __name__ == "__main__":
    main()
