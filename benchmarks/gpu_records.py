#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions to the reports that scripts/benchmark_gpu.sh leaves in a folder.

    benchmarks/gpu_records.py worth FOLDER KEY    what setting KEY does to the time, from exhaustive searches: pairs of trials that
                                                  replay a graph and differ in nothing else, its default's time over the other's
    benchmarks/gpu_records.py quick FOLDER        the time of what quick recommends over that of what adaptive does
    benchmarks/gpu_records.py first FOLDER        trials that were the first of their process and replayed a graph, over the same
                                                  settings in the exhaustive search, where they came after others
"""
import json
import pathlib
import statistics
import sys

from gpu_summary import models_of, ranked, read, table

CONTEXT_BYTES = 500e6  # on an H200; at least


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


def used_before(trial):
    return trial["gpu"]["device_used_before_bytes"]


def first(folder):
    reports = [(model, label, report) for label in ("pair", "quick", "adaptive") for model in models_of(folder, label)
               if (report := read(folder, model, label))]
    # A new process has no context yet, which takes half a gigabyte: before its first session the card is at its emptiest.
    empty = min((used_before(trial) for _, _, report in reports for _, _, trial in medians(report)), default=0)
    rows = []
    for model, label, report in sorted(reports, key=lambda found: found[0]):
        searched = read(folder, model, "exhaustive")
        later = {name(settings): median for settings, median, _ in medians(searched)} if searched else {}
        for settings, median, trial in medians(report):
            if used_before(trial) > empty + CONTEXT_BYTES / 2 or not settings.get("enable_cuda_graph") or name(settings) not in later:
                continue
            after = later[name(settings)]
            rows.append([model, f"{label}, trial {trial['id']}", f"{median:.3f}", f"{after:.3f}", f"{median / after:.3f}"])
    return table(["model", "step", "first of its process, ms", "later, ms", "ratio"], rows)


def main():
    asked = {("worth", 4): worth, ("quick", 3): quick, ("first", 3): first}.get((sys.argv[1] if len(sys.argv) > 1 else "", len(sys.argv)))
    if not asked:
        print(__doc__, file=sys.stderr)
        return 2
    print(asked(pathlib.Path(sys.argv[2]), *sys.argv[3:]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
