#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs with one known fault each on this host's GPU, with torch.profiler, and checks what `profile import` says of them.

  recorded_traces.py --ridgeline BIN [--keep FOLDER]

ResNet-50 of torchvision, batches of 8, FP32, with a line per program: `plain` copies pageable input and calls item(); `host_work` also
computes for 50 ms on the host before each step; `graph` replays a CUDA graph; `cold` is the first pass of a process; `cpu` runs on the
host alone. Exit code 3 when an answer is not the expected one.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


def prepare(seconds):
    import torch

    end = time.perf_counter() + seconds
    values = torch.rand(1000)
    while time.perf_counter() < end:
        values = values.sin()
    return values


def record(name, path):
    import torch
    import torchvision
    from torch.profiler import ProfilerActivity, profile, schedule

    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    if name in ("cold", "cpu"):
        device = "cuda" if name == "cold" else "cpu"
        model = torchvision.models.resnet50().eval()
        images = torch.randn(2, 3, 224, 224)
        with profile(activities=both if name == "cold" else both[:1], with_stack=True, with_modules=True) as profiler, torch.no_grad():
            model.to(device)(images.to(device)).sum().item()
        profiler.export_chrome_trace(path)
        return
    model = torchvision.models.resnet50().to("cuda").eval()
    images = torch.randn(8, 3, 224, 224)
    graph = torch.cuda.CUDAGraph()
    inputs = images.to("cuda")
    side = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            model(inputs)
    side.synchronize()
    if name == "graph":
        with torch.no_grad(), torch.cuda.graph(graph):
            model(inputs)

    def step():
        if name == "graph":
            for _ in range(5):
                graph.replay()
            torch.cuda.synchronize()
            return
        if name == "host_work":
            prepare(0.05)
        with torch.no_grad():
            model(images.to("cuda")).sum().item()

    with profile(activities=both, schedule=schedule(wait=1, warmup=1, active=4), with_stack=True, with_modules=True) as profiler:
        for _ in range(6):
            step()
            profiler.step()
    profiler.export_chrome_trace(path)


def idle_share(tables, cause):
    device = tables["devices"][0]
    return sum(idle["total_ns"] for idle in device["idle"] if idle["cause"] == cause) / device["span_ns"]


def problems(name, run):
    findings = {finding["title"]["code"].removeprefix("trace.").replace("_", "-"): finding for finding in run["findings"]}
    tables = run["tables"]
    wrong = []

    def expect(what, holds):
        if not holds:
            wrong.append(what)

    if name == "cpu":
        expect("no device", not tables["devices"])
        expect("no advice", not findings)
        expect("time by module", any(row["name"].startswith("ResNet") for row in tables["modules"]))
        return wrong
    if name == "host_work":
        expect("prepare() is named", "prepare" in findings.get("host-work", {}).get("module", ""))
        expect("other work of the host takes 50 ms per step", 0.4 < idle_share(tables, "host_work") < 0.9)
    if name == "plain":
        expect("launches are late", "launch-bound" in findings)
        expect("pageable copies", "pageable-copy" in findings)
    if name == "graph":
        expect("no CUDA graph is advised", "reduce-overhead" not in json.dumps(run["findings"]))
        expect("busy for most of the time", tables["devices"][0]["busy_ns"] > 0.7 * tables["devices"][0]["span_ns"])
    if name == "cold":
        expect("the warm-up is missing", any(line["code"] == "trace.no_warm_up" for line in tables["missing"]))
    else:
        expect("4 steps", len(tables["steps"]) == 4)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridgeline")
    parser.add_argument("--keep")
    parser.add_argument("--record", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record:
        return record(*options.record)
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for name in ("plain", "host_work", "graph", "cold", "cpu"):
            path = f"{folder}/{name}.json.gz"
            subprocess.run([sys.executable, __file__, "--record", name, path], check=True, stderr=subprocess.DEVNULL)
            done = subprocess.run([options.ridgeline, "profile", "import", path, "--json", "--db", f"{scratch}/runs.db"],
                                  capture_output=True, text=True)
            wrong = problems(name, json.loads(done.stdout)) if done.returncode == 0 else [done.stderr.strip()]
            failed = failed or bool(wrong)
            print(f"{name:<10} {'as expected' if not wrong else 'not: ' + '; '.join(wrong)}", flush=True)
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
