# SPDX-License-Identifier: Apache-2.0
"""What the check_*.py have in common: the repository's path as the only argument, faults as lines, an exit code."""
import pathlib
import sys


def main(check):
    """Runs `check(root)`, which returns a summary and its list of faults; ends the program with 1 if there are any."""
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    summary, faults = check(root)
    for fault in faults:
        print(fault)
    print(f"{summary}, {len(faults)} faults")
    sys.exit(1 if faults else 0)
