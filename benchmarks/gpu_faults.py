#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes every class of fault happen on this host's GPU and checks what Ridgeline makes of it.

    benchmarks/gpu_faults.py --ridgeline BIN --models FOLDER [--ort DIR] [--out FILE.md]
FOLDER holds resnet50.onnx, resnet50_n.onnx and vit_b_16_n.onnx (benchmarks/models/export.py). Prints a Markdown table:
the fault, the class expected, the class found, the size that an allocation had asked for, how long after the fault the
next trial began, how much less memory was free on the GPU before the next good trial than before the last one, what the
GPU had in use before and after the whole run, and its exit code. Exit code 1 when a line is not as expected. Needs nvidia-smi.
"""
import argparse
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

LONGEST_GAP_S = 5
MEMORY_SLACK_MIB = 32


def gpu_memory_mib():
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    text = subprocess.run(["nvidia-smi", *(["-i", visible.split(",")[0]] if visible else []), "--query-gpu=memory.used",
                           "--format=csv,noheader,nounits"], capture_output=True, text=True).stdout
    return int(text.split()[0])


def workers_of(parent):
    """Process ids of the program's workers."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent and b"worker" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (OSError, IndexError):
            continue
    return found


def hold(left_gb):
    """Takes all of the first GPU's memory but so much, says so, and keeps it until standard input ends."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        status = getattr(cuda, name)(*arguments)
        if status != 0:
            sys.exit(f"{name}: CUDA error {status}")

    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(0, free.value - int(left_gb * 1e9))))
    print("held", flush=True)
    sys.stdin.read()


class FullGpu:
    """While it lives, somebody else has nearly all of the GPU's memory."""

    def __init__(self, left_gb):
        self.process = subprocess.Popen([sys.executable, __file__, "--hold", str(left_gb)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        if self.process.stdout.readline() != "held\n":
            sys.exit("the GPU's memory could not be taken")

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Bench:
    def __init__(self, arguments):
        self.ridgeline = arguments.ridgeline
        self.ort = arguments.ort
        self.models = pathlib.Path(arguments.models)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ridgeline-faults-"))
        self.rows = []

    def tune(self, model, *flags, disturb=None):
        """Runs a tune; `disturb(pid)` runs beside it. Returns exit code, report or None, stderr."""
        command = [self.ridgeline, "tune", str(self.models / model), "--json", "--fresh",
                   "--db", str(self.folder / f"{len(self.rows)}.db"), "--max-time", "40s", *flags]
        if "--provider" not in flags:
            command += ["--provider", "cuda"]
        if self.ort:
            command += ["--ort-library", self.ort]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if disturb:
            threading.Thread(target=disturb, args=(process.pid,), daemon=True).start()
        out, err = process.communicate(timeout=120)
        try:
            return process.returncode, json.loads(out), err
        except ValueError:
            return process.returncode, None, err

    def check(self, fault, expected, model, *flags, disturb=None, says=""):
        """`expected` is the status of some trial, "" for a run that is refused at once with a line that has `says`."""
        before = gpu_memory_mib()
        code, report, err = self.tune(model, *flags, disturb=disturb)
        lines = err.strip().splitlines()
        found, gap, asked, missing, message = "", None, None, None, lines[-1] if lines else ""
        if report:
            trials = report["trials"]
            for at, trial in enumerate(trials):
                if trial["status"] == "ok":
                    continue
                found = trial["status"]
                failure = trial["failure"] or {}
                message, asked = (failure.get("message") or {}).get("text", ""), failure.get("requested_bytes")
                if at + 1 < len(trials):
                    gap = trials[at + 1]["started_s"] - trial["started_s"] - trial["duration_s"]
                missing = missing_mib(trials[:at], trials[at + 1:])
                if found == expected:
                    break
        after = gpu_memory_mib()
        good = found == expected and says in message and (gap is None or gap < LONGEST_GAP_S) and \
            after - before <= MEMORY_SLACK_MIB and (missing is None or missing <= MEMORY_SLACK_MIB) and code >= 0 and \
            (expected != "out_of_memory" or asked is not None)
        self.rows.append((good, fault, expected or "refused at once", found or ("refused" if not report else "none"),
                          "" if asked is None else f"{asked / 1e6:.1f} MB", "" if gap is None else f"{gap:.2f} s",
                          "" if missing is None else f"{missing:.0f} MiB", f"{before} / {after} MiB", code, f"`{message[:230]}`"))
        print(f"{'as expected' if good else 'NOT AS EXPECTED'}: {fault}: {message[:160]}", file=sys.stderr, flush=True)


def missing_mib(before, after):
    """How much less was free when the first good trial of `after` began than when the last of `before` did, or None."""
    free = [[trial["gpu"]["memory_free_before_bytes"] for trial in trials if trial["status"] == "ok" and trial.get("gpu")]
            for trials in (before, after)]
    return (free[0][-1] - free[1][0]) / 2**20 if free[0] and free[1] else None


def after(seconds, number):
    """Sends a signal to the worker that is at work so long after the start."""
    def disturb(parent):
        time.sleep(seconds)
        for worker in workers_of(parent):
            os.kill(worker, number)
    return disturb


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    if len(sys.argv) == 3 and sys.argv[1] == "--hold":
        hold(float(sys.argv[2]))
        return 0
    parser.add_argument("--ridgeline", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--ort", default="")
    parser.add_argument("--out", default="")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    unchecked = ("--accuracy-tolerance", "off")
    # A batch that fills a large card has tensors of more than 2^31 elements, which cuDNN refuses before memory runs out.
    with FullGpu(left_gb=5):
        bench.check("batch too large for what is free on the GPU", "out_of_memory", "resnet50_n.onnx", "--objective",
                    "throughput", "--batch", "1,8,1024", "--search", "grid", "--set", "parallel_sessions=1", "--set",
                    "io_binding=none", "--set", "prefer_nhwc=false", "--set", "cudnn_conv_algo_search=HEURISTIC", "--set",
                    "graph_optimization_level=all", "--set", "fuse_conv_bias=false", "--set", "intra_op_num_threads=1",
                    *unchecked)
    bench.check("gpu_mem_limit_gb too small", "out_of_memory", "resnet50_n.onnx", "--objective", "throughput",
                "--batch", "1,64,128", "--search", "grid", "--set", "parallel_sessions=1", "--set", "io_binding=none",
                "--set", "prefer_nhwc=false", "--set", "cudnn_conv_algo_search=HEURISTIC", "--set",
                "graph_optimization_level=all", "--set", "fuse_conv_bias=false", "--set", "intra_op_num_threads=1",
                "--set", "gpu_mem_limit_gb=0.6", *unchecked)
    bench.check("CUDA graph refused", "unsupported", "vit_b_16_n.onnx", "--search", "random", "--trials", "1", "--set",
                "enable_cuda_graph=true", "--set", "io_binding=stream", "--set", "override_free_dimensions=false",
                *unchecked, says="override_free_dimensions=true")
    bench.check("illegal option value", "", "resnet50.onnx", "--set", "cudnn_conv_algo_search=FASTEST",
                says="cudnn_conv_algo_search")
    bench.check("TensorRT without its libraries", "", "resnet50.onnx", "--provider", "tensorrt", says="libnvinfer")
    # A grid has trials for longer than that; no comparison is to be hit.
    trials = ("--search", "grid", "--no-comparisons")
    bench.check("worker killed in mid-run", "crashed", "resnet50.onnx", *trials, disturb=after(6, signal.SIGKILL), says="SIGKILL")
    bench.check("worker hangs", "timeout", "resnet50.onnx", *trials, disturb=after(6, signal.SIGSTOP))
    titles = ["as expected", "fault", "class expected", "found", "asked for", "next trial after", "memory missing at the next good trial",
              "GPU memory before / after the run", "exit code", "message"]
    text = "| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|\n"
    for good, *cells in bench.rows:
        text += "| " + " | ".join(["yes" if good else "**no**", *(str(cell).replace("|", "/") for cell in cells)]) + " |\n"
    print(text)
    if arguments.out:
        pathlib.Path(arguments.out).write_text("# Faults on the GPU\n\n    " + " ".join(["benchmarks/gpu_faults.py", "--ridgeline",
                                               "BIN", "--models", "FOLDER"]) + "\n\n" + text)
    return 0 if all(row[0] for row in bench.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
