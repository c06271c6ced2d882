#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Built-in models in Python against the LibTorch plugin: the same steps in both, in blocks A B B A, with one process waiting (SIGSTOP)
while the other is timed. Writes a Markdown table of medians over blocks. The seed decides how many activations are zero, which
some BLAS libraries skip, and both draw numbers in an order of their own: --pairs N measures N pairs of processes, each with its seed, and
--same Python against Python, which shows how far equal processes differ. What a process keeps alive decides whether its heap shrinks and
grows in each step; --keep-heap has it kept in both.

    training_builtin.py [--python PYTHON] [--plugin FILE] [--device cuda:0] [--blocks 12] [--pairs 1] [--same] [--keep-heap] [--only NAME...]
                        RIDGELINE"""

import argparse
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PHASES = ("I/O", "H2D", "Fwd", "Bwd", "Opt")
ROWS = 4096
# Of glibc: nothing is given back to the kernel, and no tensor has a mapping of its own.
KEPT_HEAP = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_TOP_PAD_": "268435456", "MALLOC_MMAP_THRESHOLD_": "1000000000"}
# name, model, batch, options, data file, workers
ON_CPU = [
    ("mlp", "mlp", 64, {}, False, 0),
    ("mlp, HDF5, 1 worker", "mlp", 64, {"classes": "10"}, True, 1),
    ("gnn", "gnn", 16, {}, False, 0),
    ("gnn, HDF5, 1 worker", "gnn", 16, {"classes": "10"}, True, 1),
    ("transformer", "transformer", 2, {}, False, 0),
    ("resnet18", "resnet18", 2, {}, False, 0),
    ("resnet50", "resnet50", 1, {}, False, 0),
    ("wideresnet, depth 16, width 4", "wideresnet", 2, {"depth": "16", "width": "4"}, False, 0),
    ("vit-tiny", "vit-tiny", 1, {}, False, 0),
]
ON_GPU = [
    ("mlp", "mlp", 8192, {"hidden": "4096"}, False, 0),
    ("gnn", "gnn", 1024, {}, False, 0),
    ("transformer", "transformer", 128, {}, False, 0),
    ("resnet18", "resnet18", 128, {}, False, 0),
    ("resnet50", "resnet50", 64, {}, False, 0),
    ("wideresnet", "wideresnet", 128, {}, False, 0),
    ("vit-tiny", "vit-tiny", 128, {}, False, 0),
    ("vit-small", "vit-small", 64, {}, False, 0),
]


class Worker:
    """A process of a trial, between the parent's requests stopped."""

    def __init__(self, command, environment):
        self.ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True,
                                        env=dict(os.environ, RIDGELINE_CHANNEL_FD=str(theirs.fileno()), **environment))
        theirs.close()
        self.file = self.ours.makefile("rw")

    def ask(self, **request):
        os.killpg(self.process.pid, signal.SIGCONT)
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        answer = {"doing": ""}
        while "doing" in answer:
            answer = json.loads(self.file.readline() or '{"error": {"message": "the process died"}}')
        os.killpg(self.process.pid, signal.SIGSTOP)
        if "error" in answer:
            raise SystemExit("%s: %s" % (request["op"], answer["error"]["message"]))
        return answer["ok"]

    def cpu_s(self):
        """The CPU time of the whole process group so far, which a busy machine does not change."""
        ticks = 0
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == self.process.pid:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def written_data(folder, python):
    """Samples of 4x16x16 float32 in chunks of 64 rows, and 10 classes."""
    path = os.path.join(folder, "data.h5")
    subprocess.run([python, "-c", """if True:
        import sys, h5py, numpy
        random = numpy.random.default_rng(1)
        with h5py.File(sys.argv[1], "w") as file:
            file.create_dataset("x", data=random.standard_normal((%d, 4, 16, 16), dtype="float32"), chunks=(64, 4, 16, 16))
            file["y"] = random.integers(0, 10, %d)""" % (ROWS, ROWS), path], check=True)
    return path


def medians(blocks):
    """Medians of the phases and of the whole step, over all steps of the blocks."""
    steps = [step for block in blocks for step in block["steps"]]
    return [statistics.median(step[i] for step in steps) for i in (0, 1, 2, 3, 4, 6)]


class Measured:
    """Blocks of steps of both sides, over pairs of processes."""

    def __init__(self):
        self.blocks = [[], []]
        self.cpu_s = [0.0, 0.0]
        self.ratios = []  # one per pair

    def add(self, workers, spec, options):
        for worker in workers:
            worker.ask(op="prepare", spec=spec)
            worker.ask(op="reset")
            worker.ask(op="run", steps=5)
        step_ms = workers[0].ask(op="run", steps=3)["wall_ms"] / 3
        steps = max(3, min(100, int(options.block_s * 1e3 / step_ms)))
        blocks = [[], []]
        for block in range(options.blocks):
            for side in (0, 1) if block % 2 == 0 else (1, 0):
                workers[side].ask(op="run", steps=1)  # after the pause
                before = workers[side].cpu_s()
                blocks[side].append(workers[side].ask(op="run", steps=steps))
                self.cpu_s[side] += workers[side].cpu_s() - before
        self.ratios.append(statistics.median(second["wall_ms"] / first["wall_ms"] for first, second in zip(*blocks)))
        for side in (0, 1):
            self.blocks[side] += blocks[side]

    def row(self):
        first, second = medians(self.blocks[0]), medians(self.blocks[1])
        phases = [" ".join("%.3g" % value for value in side[:5]) + ", %.4g" % side[5] for side in (first, second)]
        ratio = "%.3f" % statistics.median(self.ratios)
        if len(self.ratios) > 1:
            ratio += " [%.3f, %.3f]" % (min(self.ratios), max(self.ratios))
        return "%s | %s | %s | %.3f | %.1f %% of the step" % (*phases, ratio, self.cpu_s[1] / max(self.cpu_s[0], 1e-9), 100 * spread(first, second))


def spread(plugin, python):
    """The largest difference of a phase, as a share of the step."""
    return max(abs(a - b) for a, b in zip(plugin[:5], python[:5])) / plugin[5]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ridgeline")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--plugin", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--same", action="store_true")
    parser.add_argument("--keep-heap", action="store_true")
    parser.add_argument("--block-s", type=float, default=0.5)
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    os.environ.update(KEPT_HEAP if options.keep_heap else {})
    path = str(SOURCE / "python") + (":" + os.environ["PYTHONPATH"] if "PYTHONPATH" in os.environ else "")
    plugin = options.plugin or str(pathlib.Path(options.ridgeline).resolve().parent.parent / "lib" / "ridgeline_torch.so")
    jobs = [job for job in (ON_CPU if options.device == "cpu" else ON_GPU) if not options.only or job[1] in options.only]
    with tempfile.TemporaryDirectory() as folder:
        data = written_data(folder, options.python) if any(job[4] for job in jobs) else ""
        sides = ("Python", "Python") if options.same else ("plugin", "Python")
        columns = "%s, total (ms)" % ", ".join(PHASES)
        print("| model | batch | %s: %s | %s: %s | %s / %s | in CPU time | largest difference of a phase |"
              % (sides[0], columns, sides[1], columns, sides[1], sides[0]))
        print("|---|---|---|---|---|---|---|")
        for name, model, batch, chosen, reads, workers in jobs:
            if reads:
                chosen = dict(chosen, input_dataset="x", label_dataset="y")
            spec = {"job": {"kind": "native", "target": model, "data_path": data if reads else "", "options": chosen},
                    "device": options.device, "settings": {"batch": batch, "workers": workers}, "data": "loader"}
            measured = Measured()
            for seed in range(1, options.pairs + 1):
                spec["job"]["seed"] = seed
                in_python = [options.python, "-m", "ridgeline_models"], {"PYTHONPATH": path}
                plugins = [options.ridgeline, "train-worker", "--plugin", plugin], {}
                pair = [Worker(*(in_python if options.same else plugins)), Worker(*in_python)]
                try:
                    measured.add(pair, spec, options)
                finally:
                    for worker in pair:
                        worker.end()
            print("| %s | %d | %s |" % (name, batch, measured.row()), flush=True)


if __name__ == "__main__":
    main()
