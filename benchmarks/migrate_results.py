#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a results file of 10,000 trials whose records hold prose takes until its texts are messages.

    migrate_results.py RIDGELINE [TRIALS]

Multiplies the trials of tests/data/results/schema4.db.xz, and runs `ridgeline history` on the file twice: the first brings it up
to date. Prints both times in seconds.
"""
import lzma
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time


def multiply(path, trials):
    base = sqlite3.connect(path)
    columns = "kind, status, measured_utc, duration_s, spec, outcome"
    there = base.execute("SELECT count(*) FROM trials").fetchone()[0]
    for copy in range(1, -(-trials // there)):
        base.execute(f"INSERT INTO trials SELECT key || '/{copy}', {columns} FROM trials WHERE instr(key, '/') = 0")
    base.commit()
    return base.execute("SELECT count(*) FROM trials").fetchone()[0]


def main():
    ridgeline, trials = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    data = pathlib.Path(__file__).resolve().parent.parent / "tests/data/results/schema4.db.xz"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.db"
        path.write_bytes(lzma.decompress(data.read_bytes()))
        count = multiply(path, trials)
        for what in ("brought up to date", "read again"):
            begin = time.monotonic()
            subprocess.run([ridgeline, "history", "--db", str(path)], check=True, stdout=subprocess.DEVNULL)
            print(f"{count} trials, {what}: {time.monotonic() - begin:.2f} s")


main()
