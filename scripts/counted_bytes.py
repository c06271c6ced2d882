#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of scripts/profile_gpu.sh --part bytes: bytes that `ridgeline profile --counters` counted against Nsight Compute's, launch by
launch of the same program.

    counted_bytes.py ROWS.tsv NCU.csv      ROWS: of rl_kernel_rows --counted; NCU: of ncu --csv --page raw --print-units base"""
import csv
import pathlib
import re
import sys

DRAM_FROM = 256e6  # bytes; less than this and caches decide
L2_FROM = 4e6


def base_name(kernel):
    """The function's name without template arguments, parameters and namespaces, which the two tools print differently."""
    kernel = re.sub(r"^void ", "", kernel)
    kernel = kernel.replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    depth, out = 0, ""
    for letter in kernel:
        if letter == "(" and not out.endswith("operator") and depth == 0 and not kernel.startswith("("):
            break
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter != ">":
            out += letter
    return out.split("::")[-1].strip()


def counted_rows(path):
    """(name, grid, DRAM bytes, L2 bytes, path) in the order of the launches."""
    rows = [line.split("\t") for line in pathlib.Path(path).read_text().splitlines()]
    rows.sort(key=lambda row: int(row[0]))
    return [(base_name(row[4]), (int(row[2]), int(row[3])), float(row[8]) + float(row[9]), float(row[10]), row[5]) for row in rows]


def number(text):
    return float(text.replace(",", ""))


def ncu_rows(path):
    """(name, grid, DRAM bytes, L2 bytes) in the order of the launches. Lines of ncu and of the program precede the header, and a row of units
    follows it."""
    lines = pathlib.Path(path).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows = list(csv.DictReader(lines[start:]))[1:]
    out = []
    for row in rows:
        grid = [int(part) for part in re.findall(r"\d+", row["Grid Size"])]
        out.append((base_name(row["Kernel Name"]), (grid[0], grid[1]),
                    number(row["dram__bytes_read.sum"]) + number(row["dram__bytes_write.sum"]), number(row["lts__t_bytes.sum"])))
    return out


def compare(counted, other):
    """Lines of the table, and the largest deviations: (lines, DRAM, L2, problem). Launches must be the same ones."""
    if [row[:2] for row in counted] != [row[:2] for row in other]:
        return [], 0, 0, "the launches differ: %d counted, %d by ncu; first %s and %s" % (
            len(counted), len(other), *next(((a[:2], b[:2]) for a, b in zip(counted, other) if a[:2] != b[:2]), ("-", "-")))
    lines, dram, l2 = [], 0.0, 0.0
    for (name, _, ours, our_l2, path), (_, _, theirs, their_l2) in zip(counted, other):
        cells = ["-", "-"]
        if theirs >= DRAM_FROM:
            cells[0] = "%.3f" % (ours / theirs)
            dram = max(dram, abs(ours / theirs - 1))
        if their_l2 >= L2_FROM:
            cells[1] = "%.3f" % (our_l2 / their_l2)
            l2 = max(l2, abs(our_l2 / their_l2 - 1))
        lines.append("| %s | %s | %.1f | %s | %.1f | %s |" % (path or "-", name, theirs / 1e6, cells[0], their_l2 / 1e6, cells[1]))
    return lines, dram, l2, ""


def main():
    lines, dram, l2, problem = compare(counted_rows(sys.argv[1]), ncu_rows(sys.argv[2]))
    if problem:
        print("bytes: " + problem)
        return 1
    print("| module | kernel | DRAM by ncu, MB | counted / ncu | L2 by ncu, MB | counted / ncu |\n|---|---|---|---|---|---|")
    print("\n".join(lines))
    print("\nLargest deviation: DRAM %.1f %% from %d MB on, L2 %.1f %% from %d MB on." % (100 * dram, DRAM_FROM / 1e6, 100 * l2, L2_FROM / 1e6))
    return 0


if __name__ == "__main__":
    sys.exit(main())
