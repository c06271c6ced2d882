#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much longer does `ridgeline tune MODEL` take in one version of the program than in another?

    benchmarks/plain_tune.py BEFORE AFTER MODEL.onnx [--pairs 5] [-- ARGUMENT...]
The two take turns, B A A B ..., each time with a new results file; the arguments after -- go to both, and by default fix the
work: one trial of the defaults, whose machine is not taken for uneven; the difference is what the program does besides.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

FIXED = "--search random --trials 1 --runs 500 --no-comparisons".split()


def seconds(binary, model, arguments):
    """Wall time, and what of it was spent in trials."""
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, "tune", model, "--db", f"{folder}/r.db", "--json", *arguments]
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        took = time.perf_counter() - begin
    if done.returncode not in (0, 1, 4):
        sys.exit(f"{' '.join(command)}: {done.stderr[-500:]}")
    trials = json.loads(done.stdout)["trials"]
    return took, sum(trial["duration_s"] or 0 for trial in trials), len(trials)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("arguments", nargs="*", default=FIXED)
    options = parser.parse_args()
    found = {options.before: [], options.after: []}
    for pair in range(options.pairs):
        turn = [options.before, options.after]
        for binary in turn if pair % 2 == 0 else turn[::-1]:
            found[binary].append(seconds(str(binary.resolve()), str(options.model.resolve()), options.arguments))
            print(f"{binary}: %.2f s, %.2f s of it in %d trials" % found[binary][-1], flush=True)
    before, after = (statistics.median(run[0] for run in found[binary]) for binary in found)
    limit = 2 + 1.03 * before
    print(f"median of {options.pairs}: {before:.2f} s before, {after:.2f} s after ({after - before:+.2f} s); at most 2 s + 3 % more "
          f"({limit:.2f} s): {'met' if after <= limit else 'missed'}")
    return after > limit


if __name__ == "__main__":
    sys.exit(main())
