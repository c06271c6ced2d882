#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a results file of store schema 3 takes to open for the first time, with many trials of all kinds.

Usage: store_migration.py RIDGELINE [TRIALS]. Goal: 10,000 trials in under 10 s; ends with 1 where it is missed or
trials are lost.
"""
import hashlib
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

OLD = pathlib.Path(__file__).parent.parent / "tests/data/results/schema3.db"
TABLES = ("trials", "training_trials", "sweep_trials")
GOAL_S = 10


def count(db, tables):
    return sum(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)


def grow(path, trials):
    """Adds copies of the file's trials, with their samples, under keys of their own, until there are `trials`."""
    db = sqlite3.connect(path)
    rows = [(table, row) for table in TABLES for row in db.execute(f"SELECT * FROM {table}").fetchall()]
    samples = dict(db.execute("SELECT key, samples FROM trial_samples"))
    for number in range(trials - len(rows)):
        table, row = rows[number % len(rows)]
        key = hashlib.sha256(f"{row[0]} {number}".encode()).hexdigest()[: len(row[0])]
        db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", (key, *row[1:]))
        if table == "trials" and row[0] in samples:
            db.execute("INSERT INTO trial_samples VALUES (?, ?)", (key, samples[row[0]]))
    db.commit()
    pairs = count(db, ["pairs"])
    db.close()
    return pairs


def main():
    program = sys.argv[1]
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.db"
        shutil.copyfile(OLD, path)
        pairs = grow(path, trials)
        size_mb = path.stat().st_size / 1e6
        started = time.monotonic()
        subprocess.run([program, "history", "--db", path], check=True, capture_output=True)
        took_s = time.monotonic() - started
        db = sqlite3.connect(path)
        kept = count(db, ["trials"])
        db.close()
    print(f"{trials} trials and {pairs} comparisons of schema 3 ({size_mb:.1f} MB): {took_s:.2f} s (goal {GOAL_S} s), {kept} kept")
    return 1 if took_s >= GOAL_S or kept != trials + pairs else 0


if __name__ == "__main__":
    sys.exit(main())
