#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A line of scripts/profile_gpu.sh --part modules: how much of the kernel time has a place in the module tree, and how many marker kernels
(tests/tools/marked_models.py) are at the leaf that launched them.

    marked_rows.py NAME ROWS.tsv LEAVES.json      ROWS: of rl_kernel_rows
    marked_rows.py NAME ROWS.tsv                  of ONNX Runtime: places are its nodes, and nothing is marked"""
import json
import re
import sys


def is_at(path, leaf):
    """Whether the row's path ends with the leaf, whose own name may carry its class. Paths of modules are joined by "/" or "."."""
    parts = [part.split(" (")[0] for part in path.split("/")]
    return re.sub("/", ".", "/".join(parts)).endswith(leaf)


def main():
    name, rows, nodes = sys.argv[1], open(sys.argv[2]).read().splitlines(), len(sys.argv) == 3
    leaves = {} if nodes else json.load(open(sys.argv[3]))
    kernels, whole, placed, markers, right, wrong = 0, 0, 0, 0, 0, []
    for row in rows:
        _, duration, x, _, kernel, path, is_node = row.split("\t")
        kernels += 1
        whole += int(duration)
        placed += int(duration) if (is_node == "1" if nodes else path) else 0
        if kernel == "marker":
            markers += 1
            at = is_at(path, leaves.get(x, "?"))
            right += at
            if not at and len(wrong) < 5:
                wrong.append("%s at %s" % (leaves.get(x), path or "(unattributed)"))
    share = "%.2f %%" % (100 * placed / whole) if whole else "-"
    print("| %s | %d | %s | %d | %s |" % (name, kernels, share, markers, "%.2f %%" % (100 * right / markers) if markers else "-"))
    for line in wrong:
        print("wrong: " + line, file=sys.stderr)


if __name__ == "__main__":
    main()
