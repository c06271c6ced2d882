#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start-up time, the parent's cost of one trial, and the listing of a large results file, through the real binary.

    benchmarks/command_line.py BINARY
Goals: `--help` below 20 ms, parent below 5 ms a trial (whole wall time over a grid of trials whose work is next to
nothing, so the worker's share is in it too), history of 10,000 trials below 200 ms.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def wall(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def line(title, seconds, goal):
    print(f"{title:<48} {seconds * 1e3:>9.2f} ms   goal {goal * 1e3:.0f} ms: {'met' if seconds < goal else 'missed'}")
    return seconds < goal


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = folder
        met = line("ridgeline --help, median of 51", statistics.median(wall([binary, "--help"]) for _ in range(51)), 0.020)
        space = f"{folder}/space.yaml"
        with open(space, "w") as file:
            file.write("parameters:\n  intra_op_num_threads: [" + ", ".join(map(str, range(1, 26))) + "]\n"
                       "  dynamic_block_base: [0, 1, 2, 3, 4, 5, 6, 7]\n  intra_op_spin_duration_us: ["
                       + ", ".join(map(str, range(100, 1100, 100))) + "]\nonly_listed: true\n")
        database = f"{folder}/large.db"
        command = [binary, "tune", "synthetic:base=100us,session_time=1us,surface=flat,noise=0%", "--search", "grid", "--space",
                   space, "--runs", "1", "--warmup", "0", "--accuracy-tolerance", "off", "--db", database, "--json"]
        trials = 0
        seconds = 0.0
        seed = 0
        while trials < 10000:
            seed += 1
            begin = time.perf_counter()
            out = subprocess.run(command + ["--seed", str(seed)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            seconds += time.perf_counter() - begin
            trials += len(json.loads(out.stdout)["trials"])
        met &= line(f"parent and worker, a trial ({trials} trials)", seconds / trials, 0.005)
        met &= line(f"ridgeline history, {trials} trials, median of 21",
                    statistics.median(wall([binary, "history", "--db", database, "--limit", "1000"]) for _ in range(21)), 0.200)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
