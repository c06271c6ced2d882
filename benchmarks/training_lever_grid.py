#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `bench --search adaptive` finds among five levers of a training, and in which share of the time, against a grid of all 32 combinations.

    benchmarks/training_lever_grid.py [--ridgeline PATH] [--python PYTHON] [--model resnet50] [--levers A,B=VALUE,...] [--out FOLDER]
                                      [--device cuda] [--batch 64] [--workers 2] [--seconds 460]

First the run of bench, then the grid: each combination twice, in counterbalanced order, with as many warm-up and timed steps as bench's trials of levers
had (their medians), in forks of one process that has imported torch, as bench's are. Then the grid's best combination and the one that bench
recommends in turns, ABBA. The time of either side is the sum of its trials, starts included; if the time runs out in the grid's second round,
the rest counts with the mean of the others. FOLDER gets adaptive.json, grid.jsonl (a line per trial, as it arrives) and result.json.
Prints one line each for adaptive, the grid's best, and the comparison; exit code 0: within 2 % in at most 35 % of the time.
RIDGELINE_SMALL=1 is for a look on a CPU."""
import argparse
import itertools
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import time

from training_levers import MODELS, chosen, ratio_of

PACKAGES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python")
LEVERS = "allow_tf32,channels_last,cudnn_benchmark,fused_optimizer=fused,non_blocking"
ADAPTIVE_SHARE = 0.35  # of --seconds
PAIRS_S = 45           # that is kept for the comparison
PAIRS = 6
CLOSE, TIME_SHARE = 0.98, 0.35
LIMIT_S = 120


class Trials:
    """Trials of the model in forks, under combinations of levers."""

    def __init__(self, asked, steps, warmup):
        self._asked, self._steps, self._warmup = asked, steps, warmup
        ours, theirs = socket.socketpair()
        environment = dict(os.environ, PYTHONPATH=PACKAGES, RIDGELINE_CHANNEL_FD=str(theirs.fileno()))
        with open(os.path.join(asked.out, "grid.log"), "w") as log:
            self._process = subprocess.Popen([asked.python, "-m", "ridgeline_train"], env=environment, pass_fds=[theirs.fileno()], stdout=log, stderr=log)
        theirs.close()
        ours.settimeout(LIMIT_S)
        self._file = ours.makefile("rw", encoding="utf-8")
        ours.close()

    def _ask(self, **request):
        self._file.write(json.dumps(request) + "\n")
        self._file.flush()
        while True:
            line = self._file.readline()
            answer = json.loads(line) if line else {"error": {"message": "the process ended; see grid.log"}}
            if "error" in answer:
                raise RuntimeError(answer["error"]["message"])
            if "ok" in answer:
                return answer["ok"]

    def describe(self):
        self._ask(op="describe", target="%s:%s" % (MODELS, self._asked.model))

    def rate(self, combination):
        """(samples/s, seconds of the whole trial); RuntimeError if a lever is refused."""
        begin = time.perf_counter()
        settings = {"batch": self._asked.batch, "workers": self._asked.workers, "amp": "off", "pin_memory": self._asked.pin}
        job = {"kind": "python", "target": "%s:%s" % (MODELS, self._asked.model), "options": {"lever:" + name: value for name, value in combination.items()}}
        try:
            self._ask(op="prepare", spec={"job": job, "settings": settings, "device": self._asked.device, "data": "loader"})
            self._ask(op="run", steps=self._warmup)
            self._ask(op="reset")
            window = self._ask(op="run", steps=self._steps)
            self._ask(op="resources")  # refuses levers without effect
        finally:
            self._ask(op="release")
        return len(window["steps"]) * self._asked.batch / window["wall_ms"] * 1e3, time.perf_counter() - begin

    def end(self):
        self._file.close()
        self._process.wait(timeout=LIMIT_S)


def adaptive(asked, levers):
    """(levers that bench recommends, seconds of its trials of levers, their number, warm-up and timed steps of one)."""
    database = os.path.join(asked.out, "adaptive.db")
    if os.path.exists(database):
        os.remove(database)
    command = [asked.ridgeline, "bench", "--python", "%s:%s" % (MODELS, asked.model), "--python-exe", asked.python, "--devices", asked.device,
               "--batch-sizes", str(asked.batch), "--num-workers", str(asked.workers), "--search", "adaptive", "--amp", "off", "--stability-run", "0",
               "--steps", "20", "--try", ",".join("%s=%s" % one if one[1] != "true" else one[0] for one in levers.items()),
               "--max-time", "%ds" % (ADAPTIVE_SHARE * asked.seconds), "--db", database, "--json"]
    if asked.device != "cpu":
        command += ["--pin-memory", "on" if asked.pin else "off"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=asked.seconds)
    if done.returncode != 0:
        raise SystemExit("error: bench: %s" % (done.stderr.strip().splitlines() or ["no output"])[-1])
    with open(os.path.join(asked.out, "adaptive.json"), "w") as file:
        file.write(done.stdout)
    run = json.loads(done.stdout)
    setting = chosen(run, levers)
    if setting is None:
        raise SystemExit("error: bench recommends nothing")
    seconds, warmups, steps = [], [], []
    with sqlite3.connect("file:%s?mode=ro" % database, uri=True) as records:
        for spec, duration, outcome in records.execute("SELECT spec, duration_s, outcome FROM trials"):
            if "ridgeline_losses" not in json.loads(spec)["job"]["options"]:
                continue  # of the search or the diagnosis
            seconds.append(duration)
            measured = json.loads(outcome)["measurement"]
            if measured:
                warmups.append(measured["warmup_steps"])
                steps.append(measured["steps"])
    if not steps:
        raise SystemExit("error: bench measured no lever in %.0f s: give more --seconds" % (ADAPTIVE_SHARE * asked.seconds))
    return setting["levers"], sum(seconds), len(seconds), int(statistics.median(warmups)), int(statistics.median(steps))


def grid(asked, trials, levers, until):
    """({combination: rates}, seconds of all trials of two rounds)."""
    combinations = [tuple(name for name, on in zip(levers, taken) if on) for taken in itertools.product((False, True), repeat=len(levers))]
    rates, seconds = {one: [] for one in combinations}, []
    with open(os.path.join(asked.out, "grid.jsonl"), "w") as file:
        for one in combinations + combinations[::-1]:
            if len(seconds) >= len(combinations) and time.perf_counter() > until:
                break
            row = {"levers": one}
            try:
                row["samples_per_s"], row["seconds"] = trials.rate({name: levers[name] for name in one})
                rates[one].append(row["samples_per_s"])
                seconds.append(row["seconds"])
            except RuntimeError as error:
                row["error"] = str(error)
            print(json.dumps(row), file=file, flush=True)
    if not seconds:
        raise SystemExit("error: no combination could be trained; see %s" % os.path.join(asked.out, "grid.jsonl"))
    return rates, statistics.fmean(seconds) * 2 * sum(bool(found) for found in rates.values())


def named(combination):
    return " ".join(combination) or "no lever"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridgeline", default="ridgeline")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--levers", default=LEVERS)
    parser.add_argument("--out", default="training_lever_grid")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=460)
    asked = parser.parse_args()
    begin = time.perf_counter()
    asked.pin = asked.device != "cpu"
    asked.out = os.path.abspath(asked.out)
    os.makedirs(asked.out, exist_ok=True)
    levers = {name: value or "true" for name, _, value in (one.partition("=") for one in asked.levers.split(","))}
    found, adaptive_s, count, warmup, steps = adaptive(asked, levers)
    found = tuple(name for name in levers if name in found)
    print("adaptive: %s, %d trials of levers in %.0f s (%d + %d steps each)" % (named(found), count, adaptive_s, warmup, steps), flush=True)
    trials = Trials(asked, steps, warmup)
    trials.describe()
    rates, grid_s = grid(asked, trials, levers, begin + asked.seconds - PAIRS_S)
    best = max((one for one in rates if rates[one]), key=lambda one: statistics.fmean(rates[one]))
    print("grid: best %s, %.1f samples/s; all %d combinations twice: %.0f s" % (
        named(best), statistics.fmean(rates[best]), sum(bool(found_) for found_ in rates.values()), grid_s), flush=True)
    ratio = low = high = 1.0
    if best != found:
        pairs = []
        for number in range(PAIRS):
            times = {one: 1 / trials.rate({name: levers[name] for name in one})[0] for one in ((best, found) if number % 2 == 0 else (found, best))}
            pairs.append((times[best], times[found]))
        ratio, low, high = ratio_of(pairs)
    trials.end()
    result = {"adaptive": found, "best": best, "ratio": ratio, "low": low, "high": high, "adaptive_s": adaptive_s, "grid_s": grid_s,
              "share": adaptive_s / grid_s}
    with open(os.path.join(asked.out, "result.json"), "w") as file:
        json.dump(result, file, indent=1)
    print("adaptive's combination has %.3f [%.3f, %.3f] of the rate of the grid's best, in %.0f %% of the grid's time" % (
        ratio, low, high, 100 * result["share"]), flush=True)
    return 0 if ratio >= CLOSE and result["share"] <= TIME_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
