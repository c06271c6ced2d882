#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the recommendation still right where another process keeps coming and going?

On two CPUs: the winner of an unlimited `tune` while nothing else runs; then the same with `stress-ng --cpu 1` on the same
CPUs, 20 s on and 20 s off, from an empty results file each time. What each of these recommends is then compared head to head,
with the quiet winner, while nothing else runs. Goal: at most 5 % slower in at least five of six.
With `--absent` the machine is another: now and then, for 4 s on average, the second processor is taken away altogether (by a
real-time process, which takes root), as a hypervisor does it. One thread does not feel that. Goal: at most 3 % slower in 19 of
20, and at most one answer of 20 to keep the configuration (give one with `--config` that the best one beats clearly).
    benchmarks/uneven_machine.py BINARY MODEL --shape x:1x3x320x320 [--runs 6] [--ort-library FILE]
    ... --cpus 0,1 --cpus 2,3 ...      pairs of CPUs for several runs side by side (default: one after another on 0,1)
`--stress` names another load; it is started with those CPUs as its affinity and ended with its process group.
"""
import argparse
import concurrent.futures
import ctypes
import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

PERIOD_S = 20
ABSENT_S = 4  # on average
ABSENT_SHARE = 0.4  # of the time
PR_SET_PDEATHSIG = 1  # what takes the processor ends with the script, however that ends
LIBC = ctypes.CDLL(None)


class Stress:
    """The load, on and off, until stopped."""

    def __init__(self, command, cpus):
        self.command, self.cpus, self.ended = command, cpus, threading.Event()
        self.thread = threading.Thread(target=self.loop)

    def enter(self):
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.sched_setaffinity(0, self.cpus)

    def lengths(self):
        """Seconds on and off."""
        return PERIOD_S, PERIOD_S

    def loop(self):
        while not self.ended.is_set():
            on, off = self.lengths()
            process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                       preexec_fn=self.enter)
            self.ended.wait(on)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self.ended.wait(off)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


class Absent(Stress):
    """The last of the CPUs is taken away."""

    def __init__(self, cpus):
        super().__init__([sys.executable, "-c", "while True: pass"], {max(cpus)})

    def enter(self):
        super().enter()
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))

    def lengths(self):
        return random.expovariate(1 / ABSENT_S), random.expovariate(ABSENT_SHARE / (1 - ABSENT_SHARE) / ABSENT_S)


def ridgeline(options, cpus, folder, arguments):
    command = [options.binary, "tune", str(options.model), "--provider", "cpu", "--json", "--no-apply"]
    for shape in options.shape:
        command += ["--shape", shape]
    if "--config" not in arguments and options.config:
        command += ["--config", options.config]
    if options.ort_library:
        command += ["--ort-library", options.ort_library]
    begun = time.monotonic()
    done = subprocess.run(command + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
                          env={**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder)},
                          preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    (folder / "stderr").write_text(done.stderr)
    if done.returncode not in (0, 1, 4):
        raise SystemExit(f"exit code {done.returncode}\n{done.stderr[-3000:]}")
    return json.loads(done.stdout), time.monotonic() - begun


def recommended(run):
    return run["verdict"]["configuration"]  # of an answer to keep, the current one


def search(options, cpus, stressed, name):
    folder = pathlib.Path(options.folder) / name
    folder.mkdir(parents=True)
    arguments = ["--db", "results.db"] + (options.tune if stressed else options.quiet_tune)
    if stressed:
        with Absent(cpus) if options.absent else Stress(shlex.split(options.stress), cpus):
            run, seconds = ridgeline(options, cpus, folder, arguments)
    else:
        run, seconds = ridgeline(options, cpus, folder, arguments)
    (folder / "run.json").write_text(json.dumps(run))
    speed = run.get("speed") or {}
    print(f"{name:<8} {seconds:6.0f} s, {len(run['trials'])} trials, {speed.get('taken_again', 0)} taken again, "
          f"{len(run['comparisons'])} comparisons: {json.dumps(recommended(run))}\n         {run['verdict']['reason']['text']}", flush=True)
    return recommended(run)


def compare(options, cpus, one, best, name):
    """Time of `one` over that of `best`, with its 95 % interval."""
    if one == best:
        return 1.0, 1.0, 1.0
    folder = pathlib.Path(options.folder) / name
    folder.mkdir(parents=True)
    everything = sorted(set(one) | set(best))
    defaults = json.loads(subprocess.run([options.binary, "params", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    default_of = {param["key"]: param.get("default") for param in defaults}
    full = [{key: config.get(key, default_of[key]) for key in everything} for config in (best, one)]
    full = [{key: value for key, value in config.items() if value is not None} for config in full]
    (folder / "config.yaml").write_text("onnxruntime: " + json.dumps(full[0]) + "\n")  # JSON is YAML
    (folder / "space.yaml").write_text("fixed: " + json.dumps(full[1]) + "\nonly_listed: true\n")
    run, _ = ridgeline(options, cpus, folder, ["--search", "grid", "--space", "space.yaml", "--config", "config.yaml", "--no-ablation",
                                               "--db", "results.db"])
    for pair in run["comparisons"]:
        if pair["purpose"] == "finalist":
            low, high = pair["interval"]
            return 1 / pair["ratio"], 1 / high, 1 / low
    raise SystemExit(f"{name}: nothing was compared: {run['verdict']['reason']['text']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--ort-library", default="")
    parser.add_argument("--config", default="", help="current configuration (default: the runtime's defaults)")
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--cpus", action="append")
    parser.add_argument("--stress", default="stress-ng --cpu 1")
    parser.add_argument("--absent", action="store_true", help="take the second processor away instead")
    parser.add_argument("--folder", default="")
    parser.add_argument("--tune", type=shlex.split, default=[], help="further arguments of the runs beside the load")
    parser.add_argument("--quiet-tune", type=shlex.split, default=[], help="further arguments of the run while nothing else runs")
    options = parser.parse_args()
    options.model = options.model.resolve()
    options.config = options.config and str(pathlib.Path(options.config).resolve())
    options.binary = str(pathlib.Path(options.binary).resolve())
    if options.ort_library:
        options.ort_library = str(pathlib.Path(options.ort_library).resolve())
    options.folder = options.folder or tempfile.mkdtemp(prefix="rl-uneven-")
    pairs = [{int(cpu) for cpu in text.split(",")} for text in options.cpus or ["0,1"]]
    with concurrent.futures.ThreadPoolExecutor(len(pairs)) as pool:
        free = list(pairs)

        def on_free_pair(work, *arguments):
            cpus = free.pop()
            try:
                return work(options, cpus, *arguments)
            finally:
                free.append(cpus)

        quiet = pool.submit(on_free_pair, search, False, "quiet")
        if len(pairs) == 1:
            quiet.result()
        runs = [pool.submit(on_free_pair, search, True, f"run{number}") for number in range(1, options.runs + 1)]
        best = quiet.result()
        found = [run.result() for run in runs]
        kept = sum(json.loads((pathlib.Path(options.folder) / f"run{number}" / "run.json").read_text())["verdict"]["decision"] == "keep"
                   for number in range(1, options.runs + 1))
        slower = list(pool.map(lambda item: on_free_pair(compare, item[1], best, f"against{item[0] + 1}"), enumerate(found)))
    fine = 0
    limit, least = (1.03, 0.95 * len(slower)) if options.absent else (1.05, len(slower) - 1)
    for number, (ratio, low, high) in enumerate(slower, 1):
        fine += ratio <= limit
        print(f"run {number}: {ratio:.3f} times the quiet winner's time [{low:.3f}, {high:.3f}]")
    print(f"at most {limit - 1:.0%} slower: {fine} of {len(slower)}; kept what was there: {kept}")
    return 0 if fine >= least and (not options.absent or kept <= 0.05 * len(slower)) else 1


if __name__ == "__main__":
    sys.exit(main())
