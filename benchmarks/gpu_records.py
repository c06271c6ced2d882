#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions to the reports that scripts/benchmark_gpu.sh leaves in a folder.

    benchmarks/gpu_records.py worth FOLDER KEY    what setting KEY does to the time, from exhaustive searches: pairs of trials that
                                                  replay a graph and differ in nothing else, its default's time over the other's
    benchmarks/gpu_records.py quick FOLDER        the time of what quick recommends over that of what adaptive does
"""
import json
import pathlib
import statistics
import sys

from gpu_summary import models_of, ranked, read, table


def medians(report):
    """(settings, median in ms, trial) of each trial that ran to the end."""
    for trial in report["trials"]:
        entry = ranked(report, trial["id"])
        if entry:
            yield trial["configuration"], entry["median_ns"] * 1e-6, trial


def name(settings):
    return json.dumps(settings, sort_keys=True)


def worth(folder, key):
    rows = []
    for model in models_of(folder, "exhaustive"):
        default, changed = {}, {}
        for settings, median, _ in medians(read(folder, model, "exhaustive")):
            if not settings.get("enable_cuda_graph"):
                continue
            rest = name({other: value for other, value in settings.items() if other != key})
            if key in settings:
                changed.setdefault(rest, []).append(median)
            else:
                default[rest] = median
        ratios = [default[rest] / median for rest, found in changed.items() if rest in default for median in found]
        if ratios:
            rows.append([model, len(ratios), f"{statistics.median(ratios):.3f}", f"{min(ratios):.3f}", f"{max(ratios):.3f}"])
    return table(["model", "pairs", "median", "lowest", "highest"], rows)


def quick(folder):
    rows = []
    for model in models_of(folder, "quick"):
        reports = [read(folder, model, label) for label in ("quick", "adaptive")]
        if not all(report and report.get("verdict") for report in reports):
            continue
        found = [ranked(report, report["verdict"]["trial_id"])["median_ns"] * 1e-6 for report in reports]
        rows.append([model, f"{found[0]:.3f}", f"{found[1]:.3f}", f"{found[0] / found[1]:.3f}"])
    return table(["model", "quick, ms", "adaptive, ms", "ratio"], rows)


def main():
    asked = {("worth", 4): worth, ("quick", 3): quick}.get((sys.argv[1] if len(sys.argv) > 1 else "", len(sys.argv)))
    if not asked:
        print(__doc__, file=sys.stderr)
        return 2
    print(asked(pathlib.Path(sys.argv[2]), *sys.argv[3:]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
