#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a release build takes, whole and after a change of one file, before and after a change of the build.

    benchmarks/build_time.py OLD_TREE NEW_TREE [--jobs 2] [--work FOLDER] [--touches 3] [--files PATH...] [--files-only]
Both trees are built from nothing without ccache, each in a folder of its own; then, tree after tree in turns, each of PATHs that both
have is touched and the program built again, --touches times. Prints wall and CPU seconds and the ratios new / old, of each file the
median. With --files-only the folders of an earlier run are there and nothing is built from nothing. Nothing else should run meanwhile.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import time

FILES = ["src/trace/analysis/gaps.cpp", "src/schema/tune_run.cpp", "src/campaign/tune/search_loop.cpp", "src/report/sections/context_sections.cpp",
         "src/stream/pipeline.cpp", "src/workload/onnx/ort_workload.cpp", "apps/ridgeline/main.cpp", "apps/ridgeline/bench_flags.cpp"]


def timed(command):
    """(wall, CPU) seconds of it and its children."""
    before, begun = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CCACHE_DISABLE": "1"})
    after = os.times()
    return time.perf_counter() - begun, sum(after[2:4]) - sum(before[2:4])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs=2, type=pathlib.Path, metavar="TREE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/build_time"))
    parser.add_argument("--touches", type=int, default=3)
    parser.add_argument("--files", nargs="+", default=FILES, metavar="PATH")
    parser.add_argument("--files-only", action="store_true")
    options = parser.parse_args()
    builds = [options.work / name for name in ("old", "new")]
    commands = [["ninja", "-C", str(build), f"-j{options.jobs}", "ridgeline"] for build in builds]
    whole = []
    for tree, build, command in zip(options.trees, builds, commands) if not options.files_only else ():
        subprocess.run(["cmake", "-S", str(tree), "--preset", "release", "-B", str(build)], check=True, stdout=subprocess.DEVNULL, cwd=tree)
        subprocess.run(["ninja", "-C", str(build), "-t", "clean"], check=True, stdout=subprocess.DEVNULL)
        whole.append(timed(command))
    if whole:
        row("whole", *whole)
    ratios = []
    for name in options.files:
        if not all((tree / name).is_file() for tree in options.trees):
            print(f"{name}: not in both trees")
            continue
        taken = [[], []]
        for _ in range(options.touches):
            for tree, command, times in zip(options.trees, commands, taken):
                os.utime(tree / name)
                times.append(timed(command))
        ratios.append(row(name, *(tuple(statistics.median(column) for column in zip(*times)) for times in taken)))
    print(f"one file, geometric mean of {len(ratios)}: {statistics.geometric_mean(ratios):.2f} of the wall time before")
    return 0


def row(name, old, new):
    print(f"{name}: {old[0]:.1f} -> {new[0]:.1f} s (CPU {old[1]:.1f} -> {new[1]:.1f} s), new / old {new[0] / old[0]:.2f}", flush=True)
    return new[0] / old[0]


if __name__ == "__main__":
    raise SystemExit(main())
