#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streams on this host's GPU: are rates of 1080p frames answered, and what does the number of workers cost?

  stream_gpu.py --ridgeline BIN [--ridgeline BIN2] --ort DIR --models DIR [--steps load,workers] [--seconds 10] [--out FILE]

Several programs take turns on each question, so that two versions are measured beside each other. Models: rtdetr_r50.onnx and
resnet50_n.onnx of benchmarks/models/export.py. Step `load`: 8 sources of 1920x1080 at fixed rates with an SLO of 100 ms, one worker
setting each; a rate is held, missed, or void. Step `workers`: the peak of ResNet-50 by workers and batch. One JSON line per run to --out.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SOURCE = "synthetic:1920x1080@30"
LOADS = [("rtdetr_r50", rate, {"streams": 2}) for rate in (5, 10, 20)] + [
    ("resnet50_n", rate, {"streams": 2, "batch_size": 8}) for rate in (10, 20, 40)]
WORKERS = [(1, 8), (2, 8), (4, 8), (8, 8), (2, 16), (4, 16), (8, 16)]


def bench(program, ort, model, settings, seconds, *more):
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "stream", "bench", "--source", SOURCE, "--model", model, "--provider", "cuda", "--ort-library", ort,
                   "--time", f"{seconds}s", "--json", "--headless", "--db", os.path.join(folder, "runs.db"), *more]
        for key, value in settings.items():
            command += ["--stream", f"{key}={value}"]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ran.returncode not in (0, 1, 4):
        print(ran.stderr[-600:], file=sys.stderr)
        return ran.returncode, None
    return ran.returncode, json.loads(ran.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ridgeline", action="append", required=True)
    parser.add_argument("--ort", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--steps", default="load,workers")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--out", default=os.devnull)
    given = parser.parse_args()
    out = open(given.out, "a")

    def row(program, step, model, about, code, run):
        if run is None:
            print(f"{program:>3} {model:12} {about:28} failed with {code}", flush=True)
            return
        status = run["status"]
        audit = (status["audit"] or {}).get("text", "").split(";")[0].replace("load generator: p99.9 of lateness ", "late ")
        workers = status["worker_s"]
        total = sum(workers.values()) or 1
        shares = " ".join(f"{key} {100 * value / total:.0f}%" for key, value in sorted(workers.items()) if value > 0.01 * total)
        print(f"{program:>3} {model:12} {about:28} exit {code}  {status['delivered_per_s']:7.1f}/s  p99 {ms(status['latency']['p99'], 6)} ms  "
              f"service p50 {ms(status['service']['p50'], 5)} p99 {ms(status['service']['p99'], 6)}  order p99 {ms(status['order']['p99'], 5)}  "
              f"dropped {sum(status['dropped'].values())}  {audit}  [{shares}]", flush=True)
        out.write(json.dumps({"program": program, "step": step, "model": model, "about": about, "exit": code, "status": status,
                              "verdict": run.get("verdict"), "notes": run.get("notes"), "ready": run.get("ready")}) + "\n")
        out.flush()

    def ms(value, width):
        return f"{'-' if value is None else format(value, '.1f'):>{width}}"

    names = [chr(ord("A") + at) for at in range(len(given.ridgeline))]
    for name, program in zip(names, given.ridgeline):
        print(f"{name}: {program}")
    if "load" in given.steps.split(","):
        for model, rate, settings in LOADS:
            for name, program in zip(names, given.ridgeline):
                code, run = bench(program, given.ort, f"{given.models}/{model}.onnx", settings, given.seconds, "--sources", "8",
                                  "--rate", str(rate), "--slo", "100ms")
                row(name, "load", model, f"8 x {rate} a second", code, run)
    if "workers" in given.steps.split(","):
        for workers, batch in WORKERS:
            for name, program in zip(names, given.ridgeline):
                code, run = bench(program, given.ort, f"{given.models}/resnet50_n.onnx", {"streams": workers, "batch_size": batch},
                                  given.seconds / 2)
                row(name, "workers", "resnet50_n", f"{workers} workers, batches of {batch}", code, run)


if __name__ == "__main__":
    main()
