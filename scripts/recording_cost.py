#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of scripts/profile_gpu.sh --part cost: what recording costs, as ratios of processes of one round.

    recording_cost.py MODEL <LINES      a line: HOW MODE MS; rounds follow each other, each with one line per HOW and MODE"""
import statistics
import sys


def rows(model, lines):
    """(program, how, median ms, median ratio to plain, least, most) by program, in the order of the lines. A process that printed nothing
    shortens its list, and ratios need pairs: such a HOW has no ratio."""
    times = {}
    for line in lines:
        how, mode, value = line.split()
        times.setdefault(mode, {}).setdefault(how, []).append(float(value))
    out = []
    for mode, by_how in times.items():
        plain = by_how.get("plain", [])
        for how, values in by_how.items():
            ratios = [one / other for one, other in zip(values, plain)] if len(values) == len(plain) else []
            spread = (statistics.median(ratios), min(ratios), max(ratios)) if ratios else None
            out.append(("%s %s" % (model, mode), how, statistics.median(values), spread))
    return out


def main():
    for program, how, ms, spread in rows(sys.argv[1], sys.stdin):
        print("| %s | %s | %.3f | %s |" % (program, how, ms, "%.3f [%.3f, %.3f]" % spread if spread else "-"))


if __name__ == "__main__":
    main()
