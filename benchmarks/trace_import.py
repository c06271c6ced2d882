#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast a trace of the PyTorch profiler is read, beside Python's json.load and HTA's parser.

  trace_import.py make SOURCE.json[.gz] OUT.json --mb 500    repeats the source's events, moved in time
  trace_import.py run OUT.json --program rl_trace_import [--hta PYTHON] [--repeats 3]

`run` takes turns: each reader is a process of its own that reads the whole file (which lies in the page cache) into what
it works with: columns of events, a dict, a DataFrame. Times are those of the reading alone, without the process' start
and imports; memory is the process' peak.
"""
import argparse
import gzip
import os
import re
import statistics
import subprocess
import sys

JSON_LOAD = "import json, sys, time; t = time.perf_counter(); d = json.load(open(sys.argv[1], 'rb')); " \
    "print(len(d['traceEvents']), 'events, read in', time.perf_counter() - t, 's')"
HTA = "import logging, sys, time; logging.disable(); from hta.common.trace_parser import parse_trace_dataframe as parse; " \
    "from hta.configs.parser_config import ParserConfig as c; t = time.perf_counter(); " \
    "d = parse(sys.argv[1], c.get_default_cfg())[1]; print(len(d), 'events, read in', time.perf_counter() - t, 's')"
TIME = re.compile(r'("ts": ?)(\d+)(\.\d+)?')
CORRELATION = re.compile(r'("(?:correlation|External id)": ?)(\d+)')


def make(args):
    opener = gzip.open if args.source.endswith(".gz") else open
    with opener(args.source, "rt") as file:
        text = file.read()
    begin = text.index("[", text.index('"traceEvents"')) + 1
    # Behind the events come keys whose values are no events.
    end = text.rindex("}", begin, text.rindex("]", begin)) + 1
    events = text[begin:end].strip()
    times = [int(match.group(2)) for match in TIME.finditer(events)]
    span = sorted(times)[-1] - sorted(times)[0] + 1000
    copies = max(1, round(args.mb * 1e6 / len(events)))
    with open(args.out, "w") as out:
        out.write(text[:begin])
        for copy in range(copies):
            moved = TIME.sub(lambda m: f"{m[1]}{int(m[2]) + copy * span}{m[3] or ''}", events)
            moved = CORRELATION.sub(lambda m: f"{m[1]}{int(m[2]) + copy * 10_000_000}", moved)
            out.write((",\n  " if copy else "\n  ") + moved)
        out.write(text[end:])
    print(f"{args.out}: {copies} times the events of {args.source}, {os.path.getsize(args.out) / 1e6:.0f} MB")


def measure(command):
    """Seconds, events, peak MiB."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    found = re.search(r"^(\d+) events, read in ([0-9.]+) s", out, re.MULTILINE)
    if status != 0 or not found:
        sys.exit(f"error: {' '.join(command)[:80]}: exit status {status}: {out}")
    return float(found[2]), int(found[1]), usage.ru_maxrss / 1024


def run(args):
    readers = {"ridgeline": [args.program, args.file], "json.load": [sys.executable, "-c", JSON_LOAD, args.file]}
    if args.hta:
        readers["HTA"] = [args.hta, "-c", HTA, args.file]
    megabytes = os.path.getsize(args.file) / 1e6
    with open(args.file, "rb") as file:
        while file.read(1 << 24):
            pass
    found = {name: [] for name in readers}
    for repeat in range(args.repeats):
        for name, command in readers.items():
            found[name].append(measure(command))
            print(f"{repeat + 1}/{args.repeats} {name}: {found[name][-1][0]:.2f} s", file=sys.stderr)
    ours = statistics.median(one[0] for one in found["ridgeline"])
    print(f"{megabytes:.0f} MB, {found['ridgeline'][0][1]} events that are read\n")
    print("| reader | seconds (each) | MB/s | peak memory | time, ours = 1 |\n|---|---|---|---|---|")
    for name, rows in found.items():
        seconds = statistics.median(row[0] for row in rows)
        each = ", ".join(f"{row[0]:.2f}" for row in rows)
        print(f"| {name} | {seconds:.2f} ({each}) | {megabytes / seconds:.0f} | {max(row[2] for row in rows):.0f} MiB "
              f"| {seconds / ours:.1f} |")
    rate = megabytes / ours
    print(f"\ngoal of 200 MB/s: {'met' if rate >= 200 else 'missed'} ({rate:.0f} MB/s)")
    return 0 if rate >= 200 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    of_make = commands.add_parser("make")
    of_make.add_argument("source")
    of_make.add_argument("out")
    of_make.add_argument("--mb", type=float, default=500)
    of_make.set_defaults(body=make)
    of_run = commands.add_parser("run")
    of_run.add_argument("file")
    of_run.add_argument("--program", required=True)
    of_run.add_argument("--hta")
    of_run.add_argument("--repeats", type=int, default=3)
    of_run.set_defaults(body=run)
    args = parser.parse_args()
    return args.body(args)


if __name__ == "__main__":
    sys.exit(main())
