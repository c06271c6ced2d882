#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what worked has become slower: two builds of ridgeline in turns, as ratios of wall times (new / old, below 1 is faster).

  against_parent.py OLD NEW --model DET.onnx --ort-library DIR [--clip VIDEO] [--trace TRACE.json] [--rounds 6] [--only NAME...]

OLD and NEW are programs of a release build (`git worktree add` and scripts/setup.sh release make the old one). Measured are: the start
of the program; `tune` of a simulated workload (search, comparison, results file and reports, the same work each time); `stream bench` and
`stream run` of the clip; the import of the trace (trace_import.py make); the median latency that `tune` measures with a given number of
inferences; the demo's `tune` in an empty folder, which takes trials again as the machine asks for it, and its second answer. Each round runs both, the first one by turns. Exit code 3 when a median is above 1.03 with all
rounds above 1.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

GOAL = 1.03
SPACE = """parameters:
  graph_optimization_level: [basic, all]
only_listed: true
"""
EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples" / "config.yaml"


def timed(command, folder, codes=(0,)):
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return seconds, done.stdout


class Race:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.model = [os.path.abspath(options.model), "--ort-library", os.path.abspath(options.ort_library)] if options.model else None

    def start(self, program, _):
        return sum(timed([program, "--version"], self.folder)[0] for _ in range(20)) / 20

    def importing(self, program, _):
        for file in self.folder.glob("import.db*"):
            file.unlink()
        return timed([program, "profile", "import", self.options.trace, "--db", "import.db", "-q"], self.folder)[0]

    def stream(self, program, command):
        model, *library = self.model
        results = ["--db", f"stream-{self.name(program)}.db"]  # the two may have another schema
        _, out = timed([program, "stream", *command, "--source", self.options.clip, "--model", model, *library, "--json", *results],
                       self.folder)
        status = json.loads(out)["status"]
        return status["elapsed_s"] / status["delivered"]

    def stream_bench(self, program, _):
        return self.stream(program, ["bench", "--time", "8s"])

    def stream_run(self, program, _):
        return self.stream(program, ["run", "--output", "/dev/null"])

    def tune(self, program, folder):
        folder.mkdir(exist_ok=True)
        shutil.copy(EXAMPLE, folder / "config.yaml")
        # --report-html: a parent of before version 0.3 has no --report.
        return timed([program, "tune", *self.model, "--quick", "--no-ablation", "--max-time", "110s", "--config", "config.yaml", "--apply",
                      "--output", "report.md", "--report-html", "--db", "r.db"], folder, (0, 1, 4))[0]

    def search(self, program, _):
        command = [program, "tune", "synthetic:surface=conv", "--quick", "--fresh", "--output", "s.md", "--report-html", "--db",
                   f"search-{self.name(program)}.db"]
        return sum(timed(command, self.folder)[0] for _ in range(10)) / 10

    def inference(self, program, _):
        (self.folder / "space.yaml").write_text(SPACE)
        _, out = timed([program, "tune", *self.model, "--search", "grid", "--space", "space.yaml", "--runs", "40", "--warmup", "4",
                        "--no-ablation", "--no-comparisons", "--fresh", "--db", f"trials-{self.name(program)}.db", "--json"],
                       self.folder, (0, 1, 4))
        return statistics.mean(row["median_ns"] for row in json.loads(out)["ranking"])

    def demo(self, program, turn):
        return self.tune(program, self.folder / f"{turn}-{self.name(program)}")

    def demo_again(self, program, _):
        folder = self.folder / f"again-{self.name(program)}"
        if not folder.exists():
            self.tune(program, folder)
        return self.tune(program, folder)

    def name(self, program):
        return "old" if program == self.options.old else "new"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    parser.add_argument("--model")
    parser.add_argument("--ort-library")
    parser.add_argument("--clip", type=os.path.abspath)
    parser.add_argument("--trace", type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    slower = []
    with tempfile.TemporaryDirectory() as folder:
        race = Race(options, folder)
        runs = {"start": race.start, "search": race.search}
        if options.trace:
            runs["import"] = race.importing
        if options.model and options.clip:
            runs |= {"stream bench": race.stream_bench, "stream run": race.stream_run}
        if options.model:
            runs |= {"inference": race.inference, "demo": race.demo, "demo again": race.demo_again}
        for name, run in runs.items():
            if options.only and name not in options.only:
                continue
            ratios = []
            for turn in range(options.rounds):
                order = [options.old, options.new] if turn % 2 == 0 else [options.new, options.old]
                seconds = {program: run(program, turn) for program in order}
                ratios.append(seconds[options.new] / seconds[options.old])
            median = statistics.median(ratios)
            is_slower = median > GOAL and min(ratios) > 1
            slower += [name] if is_slower else []
            print(f"{name:<14} {median:6.3f} ({min(ratios):.3f} to {max(ratios):.3f}, {len(ratios)} rounds){'  slower' if is_slower else ''}",
                  flush=True)
    return 3 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
