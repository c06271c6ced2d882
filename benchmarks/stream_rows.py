#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One JSON line from what `ridgeline stream bench --json` printed, for scripts/stream_gpu.sh.

  stream_rows.py run  RUN.json --workers N --batch N --options TEXT --code N
  stream_rows.py busy RUN.json --profile PROFILE.json --batch N     busy by the pipeline and by CUPTI, both from 0 to 1
"""
import argparse
import json
import sys


def run_row(given, run):
    status = run["status"]
    return {"workers": given.workers, "batch": given.batch, "options": given.options, "exit": given.code,
            "frames_per_s": status["delivered_per_s"], "mean_batch": status.get("mean_batch"), "p50": status["latency"]["p50"],
            "p99": status["latency"]["p99"], "gpu_busy": status.get("gpu_busy"), "gpu_idle": status.get("gpu_idle"),
            "uploads_hidden": status.get("uploads_hidden"), "slow_inferences": status.get("slow_inferences"),
            "dropped": status.get("dropped"), "is_void": status.get("is_void"), "worker_s": status.get("worker_s"),
            "dropped_by_second": [round(moment["dropped_per_s"]) for moment in run.get("moments") or []],
            "notes": [note.get("text") for note in (run.get("ready") or {}).get("notes") or []]}


def busy_row(given, run):
    with open(given.profile) as file:
        recorded = json.load(file)
    return {"batch": given.batch, "gpu_busy": run["status"].get("gpu_busy"), "frames_per_s": run["status"]["delivered_per_s"],
            "recorded": sum(gpu["busy_ns"] for gpu in recorded["tables"]["devices"]) /
            sum(gpu["span_ns"] for gpu in recorded["tables"]["devices"])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("run", "busy"))
    parser.add_argument("file")
    parser.add_argument("--profile")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--options", default="")
    parser.add_argument("--code", type=int, default=0)
    given = parser.parse_args()
    try:
        with open(given.file) as file:
            run = json.load(file)
        print(json.dumps({"run": run_row, "busy": busy_row}[given.kind](given, run)))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{given.file}: {error!r}")


if __name__ == "__main__":
    main()
