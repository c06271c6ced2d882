#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Phases of the scripts in examples/, timed as they are and by our function, in interleaved runs:

    scripts/test_training.py RIDGELINE PYTHON [--rounds N] [--only NAME...]

PYTHON has torch, lightning, transformers and timm. Prints a table; exit code 1 if a script fails or a step differs by more than 3 %.
On a shared machine the fastest of the interleaved runs are compared: other programs only ever add time."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PHASES = ("io_wait_ms", "h2d_ms", "forward_ms", "backward_ms", "optimizer_ms", "rest_ms", "wall_ms")
TOLERANCE = 0.03
SCRIPTS = {  # name: (script and its options, batch, workers)
    "plain": (["train_pytorch.py"], 512, 0),
    "lightning": (["train_lightning.py", "--epochs", "9"], 64, 0),
    "transformers": (["train_transformers.py", "--epochs", "9"], 16, 0),
    "timm": (["train_timm.py", "--epochs", "9"], 32, 1),
}


def timed(ridgeline, python, name, as_script, steps, folder):
    """Median time of each phase."""
    words, batch, workers = SCRIPTS[name]
    command = [ridgeline, "bench", "--json", "--fresh", "--search", "grid", "--batch-sizes", str(batch), "--num-workers", str(workers),
               "--steps", str(steps), "--no-diagnosis", "--stability-run", "0", "--devices", "cpu", "--no-apply", "--db", os.path.join(folder, "r.db")]
    if as_script:
        command += ["--", python, str(ROOT / "examples" / words[0]), *words[1:]]
    else:
        command += ["--python-exe", python, "--python", "%s:%s" % (ROOT / "scripts" / "training_functions.py", name)]
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", TOKENIZERS_PARALLELISM="false")
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit("%s: exit code %d: %s" % (" ".join(command), done.returncode, (done.stderr or done.stdout)[-2000:]))
    trial = next(one for one in json.loads(done.stdout)["trials"] if one["settings"]["batch"] == batch and one["settings"]["workers"] == workers)
    phases = trial["outcome"]["measurement"]["phases"]
    return {phase: phases[phase]["value"] for phase in PHASES}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ridgeline")
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--only", nargs="*", default=list(SCRIPTS))
    arguments = parser.parse_args()
    bad = 0
    print("| script | side | I/O | H2D | forward | backward | optimizer | rest | step (ms) | F+B+O |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in arguments.only:
        found = {True: [], False: []}
        with tempfile.TemporaryDirectory() as folder:
            for number in range(arguments.rounds):
                for as_script in (True, False) if number % 2 == 0 else (False, True):
                    found[as_script].append(timed(arguments.ridgeline, arguments.python, name, as_script, arguments.steps, folder))
        best = {side: {phase: min(one[phase] for one in runs) for phase in PHASES} for side, runs in found.items()}
        work = {side: sum(times[phase] for phase in ("forward_ms", "backward_ms", "optimizer_ms")) for side, times in best.items()}
        for side in (True, False):
            print("| %s | %s | %s | %.2f |" % (name, "script" if side else "function", " | ".join("%.2f" % best[side][phase] for phase in PHASES), work[side]))
        ratio = work[True] / work[False]
        print("| %s | script / function | | | %s | | %.3f | %.3f |" % (
            name, " | ".join("%.3f" % (best[True][phase] / best[False][phase]) for phase in PHASES[2:5]),
            best[True]["wall_ms"] / best[False]["wall_ms"], ratio))
        sys.stdout.flush()
        bad += abs(ratio - 1) > TOLERANCE
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
