#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of scripts/profile_gpu.sh --part cost: what recording costs, as ratios of processes of one round.

    recording_cost.py MODEL <LINES      a line: HOW MODE MS MS, the median step and what its fastest tenth stays below; rounds follow each
                                        other, each with one line per HOW and MODE"""
import statistics
import sys


def rows(model, lines):
    """(program, how, median ms, ratios to plain of the medians, of the fastest tenths) by program, in the order of the lines; ratios are
    (median, least, most) over the rounds. A process that printed nothing shortens its list, and ratios need pairs: such a HOW has None."""
    times = {}
    for line in lines:
        how, mode, *values = line.split()
        times.setdefault(mode, {}).setdefault(how, []).append([float(value) for value in values])
    out = []
    for mode, by_how in times.items():
        plain = by_how.get("plain", [])
        for how, steps in by_how.items():
            ratios = [None, None]
            if len(steps) == len(plain):
                for which in (0, 1):
                    of_rounds = [one[which] / other[which] for one, other in zip(steps, plain)]
                    ratios[which] = statistics.median(of_rounds), min(of_rounds), max(of_rounds)
            out.append(("%s %s" % (model, mode), how, statistics.median(step[0] for step in steps), *ratios))
    return out


def shown(ratio):
    return "-" if ratio is None else "%.3f [%.3f, %.3f]" % ratio


def main():
    for program, how, ms, medians, fastest in rows(sys.argv[1], sys.stdin):
        print("| %s | %s | %.3f | %s | %s |" % (program, how, ms, shown(medians), shown(fastest)))


if __name__ == "__main__":
    main()
