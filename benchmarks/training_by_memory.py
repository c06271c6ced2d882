#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What to train with on GPUs with less memory than the one that was measured, from the JSON of `ridgeline bench`.

    benchmarks/training_by_memory.py FILE.json... [--memory-gb 8,16,24,48,80,141] [--headroom 0.1] [--tolerance 0.03]

For each run and memory size G: among the settings that were measured, with peak reserved memory <= (1 - headroom) * G - 0.6
(what a CUDA context takes beside PyTorch's allocator), those within the tolerance of the fastest, of these the least memory: the
rule of `recommended`. Nothing is extrapolated: a batch that was not run is not named. Speeds are those of the GPU that
was measured; a smaller one is slower and is often busy at a smaller batch already.
"""
import argparse
import json
import sys

CONTEXT_GB = 0.6


def points(run):
    """{(batch, workers, amp, pin): (samples_per_s, peak_reserved_gb)} of the trials that answer."""
    sums = {}
    for trial in run["trials"]:
        seen = trial["outcome"].get("measurement")
        if trial["outcome"]["status"] != "ok" or not seen or trial["data"] != "loader" or trial["stage"] in ("stability_run", "experiment"):
            continue
        one = trial["settings"]
        key = one["batch"], one["workers"], one["amp"], one["pin_memory"]
        rate, steps, memory = sums.get(key, (0, 0, 0))
        weight = max(1, seen["steps"])
        sums[key] = ((rate * steps + seen["samples_per_s"]["value"] * weight) / (steps + weight), steps + weight,
                     max(memory, seen["resources"].get("peak_reserved_gb") or 0))
    return {key: (rate, memory) for key, (rate, _, memory) in sums.items() if memory > 0}


def recommended(measured, memory_gb, headroom, tolerance):
    limit = (1 - headroom) * memory_gb - CONTEXT_GB
    fitting = [(rate, memory, key) for key, (rate, memory) in measured.items() if memory <= limit]
    if not fitting:
        return None
    fastest = max(fitting)[0]
    return min((one for one in fitting if one[0] >= (1 - tolerance) * fastest), key=lambda one: (round(one[1], 2), one[2][1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--memory-gb", default="8,16,24,48,80,141")
    parser.add_argument("--headroom", type=float, default=0.1)
    parser.add_argument("--tolerance", type=float, default=0.03)
    asked = parser.parse_args()
    sizes = [float(size) for size in asked.memory_gb.split(",")]
    print("| training step | AMP | " + " | ".join("%g GB" % size for size in sizes) + " |")
    print("|---|---|" + "---|" * len(sizes))
    for path in asked.files:
        with open(path) as file:
            run = json.load(file)
        measured = points(run)
        if not measured:
            print("%s: no setting with its memory; a run on a GPU has them" % path, file=sys.stderr)
            continue
        options = run["request"]["job"].get("options") or {}
        name = " ".join([run["request"]["job"]["target"]] + ["%s=%s" % pair for pair in sorted(options.items())])
        for amp in sorted({key[2] for key in measured}, key=("off", "bf16", "fp16").index):
            row = []
            for size in sizes:
                one = recommended({key: value for key, value in measured.items() if key[2] == amp}, size, asked.headroom, asked.tolerance)
                row.append("-" if one is None else "batch %d, %.0f/s, %.2g GB" % (one[2][0], one[0], one[1]))
            print("| %s | %s | %s |" % (name, amp, " | ".join(row)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
