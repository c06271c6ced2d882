#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What trials of `bench --python` cost to start: a sweep of six short trials on the CPU, in forks of one process that has imported the
file, and in a new process for each trial, as a file gets that leaves a thread behind. Runs A B B A; prints a row of a Markdown table.

    training_starts.py [--python PYTHON] [--imports NAME...] [--rounds 2] RIDGELINE"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

BATCHES = ("8", "16", "32", "64", "128", "256")
CODE = """{imports}import threading, torch
from torch.utils.data import TensorDataset
def bench(settings):
    model = torch.nn.Linear(16, 2)
    data = TensorDataset(torch.randn(2048, 16), torch.randint(0, 2, (2048,)))
    return dict(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), loss=torch.nn.CrossEntropyLoss(), dataset=data)
"""
THREAD = "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"


def seconds(options, name, folder):
    command = [options.ridgeline, "bench", "--python", name + ".py:bench", "--python-exe", options.python, "--devices", "cpu", "--search", "grid",
               "--batch-sizes", *BATCHES, "--num-workers", "0", "--steps", "5", "--no-diagnosis", "--stability-run", "0", "--fresh", "--db", "r.db"]
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ridgeline", type=os.path.abspath)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--imports", nargs="+", default=[], help="what the file imports besides torch")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    code = CODE.format(imports="".join("import %s\n" % name for name in options.imports))
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "forked.py").write_text(code)
        pathlib.Path(folder, "anew.py").write_text(code + THREAD)
        seconds(options, "forked", folder)  # files come into the cache
        times = {"anew": [], "forked": []}
        for turn in range(options.rounds):
            for name in ("anew", "forked") if turn % 2 == 0 else ("forked", "anew"):
                times[name].append(seconds(options, name, folder))
    version = subprocess.run([options.python, "-c", "import torch; print(torch.__version__)"], stdout=subprocess.PIPE, text=True).stdout.strip()
    ratios = [anew / forked for anew, forked in zip(times["anew"], times["forked"])]
    cells = [", ".join("%.1f" % one for one in times[name]) for name in ("anew", "forked")]
    print("| torch %s | %s | %s | %s | %.2f |" % (version, ", ".join(["torch", *options.imports]), *cells, statistics.median(ratios)))


if __name__ == "__main__":
    main()
