#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Phases of the scripts in examples/, timed as they are and by a function of ours that trains the same:

    scripts/test_training.py PYTHON [--rounds N] [--only NAME...]

PYTHON has torch, lightning, transformers and timm. Both sides run at once and take turns of a few steps, in counterbalanced order, so
that other programs slow both down. Prints a table; exit code 1 if a script fails or forward and backward together differ by more than
3 %. The optimizer's phase is not compared: transformers clips gradients in it, which the function does not."""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "python"
TOLERANCE = 0.03
STEPS = 4  # in turn
LIMIT_S = 300
# A program that frees the top of its heap gets fresh pages in its next step, which depends on what it keeps alive and not on the timing.
HEAP = {"MALLOC_TRIM_THRESHOLD_": "8000000000", "MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TOP_PAD_": "67108864"}
SCRIPTS = {  # name: (script and its options, batch, workers)
    "plain": (["train_pytorch.py"], 128, 0),
    "lightning": (["train_lightning.py", "--epochs", "9"], 64, 0),
    "transformers": (["train_transformers.py", "--epochs", "9"], 16, 0),
    "timm": (["train_timm.py", "--epochs", "9"], 32, 1),
}


class Side:
    """A process that times steps on request."""

    def __init__(self, command, folder, **variables):
        ours, theirs = socket.socketpair()
        environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", CUDA_VISIBLE_DEVICES="", RIDGELINE_CHANNEL_FD=str(theirs.fileno()),
                           **HEAP, **variables)
        with open(os.path.join(folder, "output.txt"), "a") as output:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, pass_fds=[theirs.fileno()], stdout=output, stderr=output)
        theirs.close()
        ours.settimeout(LIMIT_S)
        self.file = ours.makefile("rw", encoding="utf-8")
        ours.close()

    def ask(self, **request):
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        while True:
            line = self.file.readline()
            answer = json.loads(line) if line else {"error": {"message": "the process ended"}}
            if "error" in answer:
                raise SystemExit("error: %s" % answer["error"]["message"])
            if "ok" in answer:
                return answer["ok"]

    def end(self):
        self.ask(op="close")
        self.process.wait(timeout=LIMIT_S)
        self.file.close()


def sides_of(python, name, folder):
    words, batch, workers = SCRIPTS[name]
    command = [python, str(ROOT / "examples" / words[0]), *words[1:]]
    hooked = {"PYTHONPATH": str(PACKAGES / "ridgeline_profile" / "site"), "RIDGELINE_SCRIPT": "1"}
    first = Side(command, folder, **hooked)
    facts = first.ask(op="describe")
    first.process.wait(timeout=LIMIT_S)
    settings = {"batch": batch, "workers": workers, "amp": "off"}
    script = Side(command, folder, **hooked)
    script.ask(op="prepare", spec={"job": {"options": {"ridgeline_loaders": facts["loaders"]}}, "settings": settings})
    function = Side([python, "-m", "ridgeline_train"], folder, PYTHONPATH=str(PACKAGES))
    target = "%s:%s" % (ROOT / "scripts" / "training_functions.py", name)
    function.ask(op="prepare", spec={"job": {"target": target}, "settings": settings, "device": "cpu"})
    return {"script": script, "function": function}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=list(SCRIPTS))
    arguments = parser.parse_args()
    bad = 0
    print("| script | side | I/O | H2D | forward | backward | optimizer | rest | step (ms) |\n|---|---|---|---|---|---|---|---|---|")
    for name in arguments.only:
        rows = {"script": [], "function": []}
        ratios = []
        with tempfile.TemporaryDirectory() as folder:
            sides = sides_of(os.path.abspath(arguments.python), name, folder)
            for side in sides.values():
                side.ask(op="run", steps=2 * STEPS)
            for number in range(arguments.rounds):
                work = {}
                for which in ("script", "function") if number % 2 == 0 else ("function", "script"):
                    steps = sides[which].ask(op="run", steps=STEPS)["steps"]
                    rows[which] += steps
                    work[which] = min(sum(row[2:4]) for row in steps)
                ratios.append(work["script"] / work["function"])
            for side in sides.values():
                side.end()
        for which, found in rows.items():
            print("| %s | %s | %s |" % (name, which, " | ".join("%.2f" % statistics.median(column) for column in zip(*found))))
        ratio = statistics.median(ratios)
        print("| %s | forward and backward, script / function | %.3f, quartiles %s | | | | | | |" % (
            name, ratio, " to ".join("%.3f" % one for one in statistics.quantiles(ratios, n=4)[::2])))
        sys.stdout.flush()
        bad += abs(ratio - 1) > TOLERANCE
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
