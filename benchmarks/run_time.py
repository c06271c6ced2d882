#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `ridgeline tune` said that it would take, how long it took, and how that was divided.

    benchmarks/run_time.py [--ridgeline BIN] [--model FILE.onnx]...

Tunes simulated workloads (in simulated time, some minutes in all) and the given models (in real time), without a limit and with
--max-time 30s, 60s and 2m, each from an empty results file. Prints Markdown: without a limit the time of the run over the forecast that
was made after its first trials; with a limit what the trials took of all that followed the preparation, and whether the search was cut.
"""
import argparse
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = ["30s", "60s", "2m"]
FACTOR = 1.5  # a forecast is right within it
SHARE = 0.6  # of what preparation leaves, for trials, while candidates are untried


def simulated():
    for surface, base, noise, uneven in itertools.product(
            ["conv", "transformer", "tiny", "flat"], ["2ms", "40ms"], ["1%", "5%"], ["", ",bursts=2x,duty=30%,mean=5s"]):
        yield f"synthetic:surface={surface},base={base},noise={noise}{uneven}", uneven != ""


def tune(program, workload, limit):
    """(seconds, forecast or None, share of the trials, whether the search was cut), or None where the run failed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "tune", workload, "--db", f"{folder}/results.db", "--json"]
        done = subprocess.run(command + (["--max-time", limit] if limit else []), capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        print(f"{workload}: exit code {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
        return None
    spent = report["run"]["time_spent"]
    all_s = sum(spent[part] for part in ("preparation_s", "trials_s", "comparisons_s", "answer_s"))
    cut = any(note["code"] == "campaign.search_cut" for note in report["notes"])
    return all_s, spent["forecast_s"], spent["trials_s"] / (all_s - spent["preparation_s"]), cut


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridgeline", default=str(ROOT / "build/ci/bin/ridgeline"))
    parser.add_argument("--model", action="append", default=[])
    arguments = parser.parse_args()
    workloads = [(name, name, uneven) for name, uneven in simulated()]
    workloads += [(path, pathlib.Path(path).name, None) for path in arguments.model]

    right = {False: [], True: [], None: []}
    print("| workload | took, s | forecast, s | took / forecast |\n|---|---:|---:|---:|")
    for workload, name, uneven in workloads:
        found = tune(arguments.ridgeline, workload, None)
        if found is None:
            continue
        all_s, forecast_s, _, _ = found
        print(f"| {name} | {all_s:.0f} | " + (f"{forecast_s:.0f} | {all_s / forecast_s:.2f} |" if forecast_s else "- | - |"))
        if forecast_s:
            right[uneven].append(abs(math.log(all_s / forecast_s)) <= math.log(FACTOR))
    for uneven, label in ((False, "even simulated machines"), (True, "uneven simulated machines"), (None, "models")):
        if right[uneven]:
            print(f"\n{label}: {sum(right[uneven])} of {len(right[uneven])} forecasts within a factor of {FACTOR}")

    shares = []
    print("\n| workload | limit | took, s | trials, of what preparation left | search |\n|---|---|---:|---:|---|")
    for (workload, name, _), limit in itertools.product(workloads, LIMITS):
        found = tune(arguments.ridgeline, workload, limit)
        if found is None:
            continue
        all_s, _, share, cut = found
        print(f"| {name} | {limit} | {all_s:.0f} | {share:.2f} | {'cut' if cut else 'ended'} |")
        if cut:
            shares.append(share)
    print(f"\nsearches that were cut: {len(shares)}, of which trials had {SHARE:.0%} or more in {sum(s >= SHARE for s in shares)}"
          + (f" (least {min(shares):.2f})" if shares else ""))


if __name__ == "__main__":
    main()
