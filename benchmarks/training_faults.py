#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real training set-ups with one known fault each: does `ridgeline bench` name it? And does it tell shortages of memory from
everything else that goes wrong?

    benchmarks/training_faults.py --ridgeline BIN --out FOLDER [--device cuda|cpu] [--plugin FILE] [--part faults,oom]
                                  [--only CODE,CODE] [--case 'CODE, STRENGTH']... [--calm] [--strengths N] [--seconds N]
                                  [--minutes N] [--python-exe PYTHON]

Each set-up (benchmarks/models/train_faults.py; with --plugin some on the built-in models too) is benchmarked under one
setting, and the first finding compared with what was planted. With --device cuda cpu_bound is made on the CPU.
Writes faults.md and faults.json into FOLDER after every case, and goes on whatever a case does; cases for which --minutes
(8) left no time are listed as not run. --case: these only, by their two first columns (* stands for anything), or a shortage
by its name; as often as there are cases. --calm: only faults that wait and compute nothing, for a machine that is busy.
--strengths: so many of each fault; --seconds: --max-time of each case (30).
Exit code 1 when less than 95 % of the cases that ran are right, or a failure was classified wrongly.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE / "models" / "train_faults.py"
GOAL = 0.95
CASE_LIMIT_S = 75
READY_LIMIT_S = 120  # importing torch for the first time


class Case:
    def __init__(self, code, strength, batch, workers=0, amp="bf16", pin="on", device="cuda", calm=False, native="", note="", **options):
        self.note = note  # what the run has to say besides
        self.code, self.strength, self.batch, self.workers = code, strength, batch, workers
        self.amp, self.pin, self.device, self.calm, self.native = amp, pin, device, calm, native
        self.options = {name: str(value) for name, value in options.items()}

    def command(self, ridgeline, python, device, plugin, seconds, database):
        command = [ridgeline, "bench", "--json", "--fresh", "--db", database, "--search", "grid", "--steps", "20",
                   "--max-time", "%gs" % seconds, "--batch-sizes", str(self.batch), "--num-workers", str(self.workers), "--amp", self.amp]
        if self.native:
            command += ["--model", self.native, "--torch-plugin", plugin]
        else:
            command += ["--python", "%s:bench" % MODELS, "--python-exe", python]
        on = "cpu" if self.device == "cpu" else device
        command += ["--devices", on]
        if on != "cpu":
            command += ["--pin-memory", self.pin]
        for name, value in self.options.items():
            command += ["--option", "%s=%s" % (name, value)]
        return command


def message_of(outcome):
    """What a trial says of its failure; "" where it ran."""
    return ((outcome.get("failure") or {}).get("message") or {}).get("text", "")


def usable_cpus(ridgeline, folder):
    """As the program counts them."""
    try:
        out = subprocess.run([ridgeline, "bench", "--model", "synthetic", "--batch-sizes", "64", "--num-workers", "0", "--search",
                              "grid", "--no-diagnosis", "--json", "--db", str(folder / "cpus.db")], capture_output=True, timeout=60).stdout
        return max(1, int(json.loads(out)["environment"]["usable_cpus"]))
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        return len(os.sched_getaffinity(0))


def shared_memory_gb():
    try:
        return shutil.disk_usage("/dev/shm").free / 1e9
    except OSError:
        return 0


def cases(cpus, strengths):
    """The first strength of every fault, then the second of every one, and so on: what is cut off is cut off evenly. A
    precision of bf16 and pinned memory are what a well-tuned training has; where they are not the fault they are on."""
    big = dict(source="ram", shape="64")
    image = "3x224x224"
    spinners = max(2, 3 * cpus // 4)
    few = 4 if cpus >= 8 else 2
    lists = [
        [Case("storage_bound", "%d us a sample" % us, 16, 4, read_us=us) for us in (400, 200, 800)],
        [Case("decode_bound", "%d KiB a sample" % kb, 16, cpus, decode_kb=kb) for kb in (4096, 8192, 16384)],
        [Case("too_few_workers", "1, unpacking", 16, 1, decode_kb=256), Case("too_few_workers", "2, unpacking", 16, 2, decode_kb=1024),
         Case("too_few_workers", "4, waiting", 16, 4, wait_us=2000)],
        [Case("unpinned_copy", "77 MB batches in memory", 128, pin="off", source="ram", shape=image, model="wave", rounds=100),
         Case("unpinned_copy", "39 MB batches in memory", 64, pin="off", source="ram", shape=image, model="wave", rounds=150),
         # Workers hand their batches over in /dev/shm, which containers often have little of.
         *([Case("unpinned_copy", "39 MB batches from 8 workers", 64, 8, pin="off", shape=image, model="wave", rounds=400)]
           if cpus >= 8 and shared_memory_gb() > 2 else [])],
        [Case("batch_too_small", "4, 64 million weights a layer", 4, amp="off", layers=8, hidden=8192, **big),
         Case("batch_too_small", "8, bf16", 8, layers=8, hidden=8192, **big),
         Case("batch_too_small", "16, bf16", 16, layers=8, hidden=8192, **big)],
        [Case("launch_bound", "50 layers of 64", 32, amp="off", layers=50, hidden=64, **big),
         Case("launch_bound", "100 layers of 128", 64, amp="off", layers=100, hidden=128, **big),
         Case("launch_bound", "Adam, tensor by tensor", 32, amp="off", layers=30, hidden=128, optimizer="loop", **big)],
        [Case("gpu_bound", "products in bf16", 16384, layers=8, hidden=4096, **big),
         # So many rounds that copying what they work on is less than a twentieth of the step.
         Case("gpu_bound", "element by element", 128, amp="off", source="ram", shape=image, model="wave", rounds=800),
         Case("gpu_bound", "convolutions in bf16", 512, source="ram", shape="3x28x28", model="conv", blocks=4, width=256)],
        [Case("memory_thrashing", "4.6 GB a step of 6", 64, source="ram", shape="1024", model="streams", layers=12, limit_gb=6),
         Case("memory_thrashing", "6.6 GB a step of 9", 64, source="ram", shape="1024", model="streams", layers=8, spread=2048,
              limit_gb=9)],
        [Case("amp_would_help", "products in fp32", 2048, amp="off", layers=4, hidden=4096, **big),
         Case("amp_would_help", "convolutions in fp32", 64, amp="off", source="ram", shape="3x28x28", model="conv", blocks=4, width=256),
         Case("amp_would_help", "products in TF32", 8192, amp="off", layers=4, hidden=4096, tf32="on", **big)],
        [Case("cpu_oversubscribed", "%d busy threads" % (few * count), 16, few, host_kb=128, burners=count)
         for count in (spinners, 2 * spinners)],
        # Of the built-in models.
        [Case("gpu_bound", "plugin, products in bf16", 16384, native="mlp", depth=8, hidden=4096, input=64),
         Case("amp_would_help", "plugin, products in fp32", 2048, amp="off", native="mlp", depth=4, hidden=4096, input=64),
         Case("launch_bound", "plugin, 60 layers of 64", 32, amp="off", native="mlp", depth=60, hidden=64, input=64)],
        # On the CPU. Each thread has to have enough of every operation that starting them all is nothing beside it.
        [Case("cpu_bound", "element by element", 8 * cpus, 0, "off", device="cpu", shape=image, model="wave", rounds=max(4, cpus),
              source="ram"),
         Case("cpu_bound", "element by element, smaller samples", 16 * cpus, 0, "off", device="cpu", shape="3x112x112", model="wave",
              rounds=max(12, 2 * cpus), source="ram")],
        [Case("decode_bound", "%d KiB a sample" % kb, 8, cpus, "off", device="cpu", decode_kb=kb) for kb in (1024, 2048)],
        [Case("storage_bound", "%d us a sample, %d readers" % (us, count), 8, count, "off", device="cpu", calm=True, read_us=us)
         for us, count in ((1500, 1), (2000, 2), (3000, 1))],
        [Case("too_few_workers", "none, a slow transform", 8, 0, "off", device="cpu", calm=True, note="SlowStep", transform_ms=3),
         Case("too_few_workers", "1, waiting 1500 us", 8, 1, "off", device="cpu", calm=True, wait_us=1500),
         Case("too_few_workers", "1, waiting 4000 us", 8, 1, "off", device="cpu", calm=True, wait_us=4000)],
        [Case("batch_too_small", "%d ms a step" % ms, 4, 0, "off", device="cpu", calm=True, source="ram", fixed_ms=ms, wait_sample_us=500)
         for ms in (20, 10)],
        [Case("step_waits", "waits by the sample", 8, 0, "off", device="cpu", calm=True, source="ram", wait_sample_us=6000)],
        [Case("cpu_oversubscribed", "%d busy threads" % (2 * count), 8, 2, "off", device="cpu", host_kb=256, burners=count)
         for count in (cpus, 2 * cpus)],
    ]
    out = []
    for strength in range(min(strengths, max(map(len, lists)))):
        out += [group[strength] for group in lists if strength < len(group)]
    return out


class Forks:
    """Python processes with torch imported, see fork_python.py."""

    def __init__(self, python, folder):
        self.path = str(folder / "fork")
        self.process = subprocess.Popen([python, str(HERE / "fork_python.py"), "--serve", self.path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        # Its only line comes when torch is there.
        answered, _, _ = select.select([self.process.stdout], [], [], READY_LIMIT_S)
        self.ready = bool(answered) and self.process.stdout.readline() == "ready\n"

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Faults:
    def __init__(self, arguments):
        self.arguments = arguments
        self.out = pathlib.Path(arguments.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ridgeline-faults-"))
        self.begin = time.monotonic()
        self.rows = []       # of the faults
        self.failures = []   # of what goes wrong
        self.runtime = ""
        self.machine = ""
        self.forks = Forks(arguments.python_exe, self.folder)
        self.python = str(HERE / "fork_python.py") if self.forks.ready else arguments.python_exe
        self.environment = dict(os.environ, RIDGELINE_FORK_SOCKET=self.forks.path, NO_COLOR="1")
        if (HERE.parent / "python" / "ridgeline_train").is_dir():  # a program that was built elsewhere looks for it there
            self.environment.setdefault("RIDGELINE_PYTHON_FOLDER", str(HERE.parent / "python"))
        if self.forks.ready and not self.forks_work():
            print("fork_python.py does not work here: every trial imports torch, which takes longer", file=sys.stderr)
            self.python = arguments.python_exe

    def left(self):
        return self.arguments.minutes * 60 - (time.monotonic() - self.begin)

    def forks_work(self):
        """A trial on the device that comes as far as its own mistake."""
        try:
            _, report, _ = self.run(self.failing("index", self.arguments.device), CASE_LIMIT_S)
            return "IndexError" in report["trials"][0]["outcome"]["failure"]["message"]["text"]
        except (KeyError, TypeError, IndexError):
            return False

    def failing(self, name, device):
        workers = "1" if name.startswith("worker_") else "0"
        command = [self.arguments.ridgeline, "bench", "--json", "--fresh", "--db", str(self.folder / "f.db"), "--search", "grid",
                   "--no-diagnosis", "--steps", "3", "--batch-sizes", "4", "--num-workers", workers, "--amp", "off", "--devices", device,
                   "--python", "%s:bench" % MODELS, "--python-exe", self.python, "--option", "fail=" + name]
        return command if device == "cpu" else command + ["--pin-memory", "off"]

    def run(self, command, limit_s):
        """(seconds, report or None, last line of standard error)"""
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment,
                                   start_new_session=True)
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
            err = "no end within %d s" % limit_s
        try:
            report = json.loads(out)
        except ValueError:
            report = None
        lines = [line for line in err.strip().splitlines() if line.strip()]
        return time.monotonic() - begin, report, lines[-1] if lines else ""

    def note_machine(self, report):
        if self.machine or not report:
            return
        environment = report.get("environment", {})
        self.machine = ", ".join(gpu.get("name", "?") for gpu in environment.get("gpus", [])) or environment.get("cpu_model", "CPU")
        self.runtime = report.get("request", {}).get("job", {}).get("runtime", "")

    def check(self, case):
        row = {"fault": case.code, "strength": case.strength, "device": case.device if case.device == "cpu" else self.arguments.device,
               "way": "plugin" if case.native else "python", "right": None, "found": [], "message": ""}
        self.rows.append(row)
        if self.left() < 20:
            row["message"] = "not run: no time left"
            return
        command = case.command(self.arguments.ridgeline, self.python, self.arguments.device, self.arguments.plugin,
                               self.arguments.seconds, str(self.folder / ("%d.db" % len(self.rows))))
        row["command"] = " ".join(command)
        row["seconds"], report, error = self.run(command, min(CASE_LIMIT_S, self.left()))
        self.note_machine(report)
        if not report:
            row["right"], row["message"] = False, error or "no report"
            return
        row["found"] = [finding["code"] for finding in report.get("findings", [])]
        row["gain"] = report["findings"][0].get("predicted_gain") if report.get("findings") else None
        row["evidence"] = report["findings"][0]["evidence"]["text"] if report.get("findings") else ""
        row["notes"] = [note["text"] for note in report.get("notes", [])]
        row["right"] = row["found"][:1] == [case.code] and (not case.note or any(case.note in note for note in row["notes"]))
        row["trials"] = []
        for trial in report["trials"]:
            measured = trial["outcome"].get("measurement") or {}
            known = {key: value for key, value in (measured.get("resources") or {}).items() if value is not None}
            row["trials"].append({"settings": trial["settings"], "data": trial["data"], "status": trial["outcome"]["status"],
                                  "seconds": trial["outcome"]["duration_s"], "steps": measured.get("steps"),
                                  "warmup_steps": measured.get("warmup_steps"),
                                  "samples_per_s": (measured.get("samples_per_s") or {}), "resources": known,
                                  "phases": {key: value["value"] for key, value in (measured.get("phases") or {}).items()},
                                  "failure": message_of(trial["outcome"])})
        broken = [trial for trial in row["trials"] if trial["status"] != "ok"]
        row["message"] = error if not row["found"] else "; ".join("%s: %s" % (one["status"], one["failure"]) for one in broken)[:300]

    def check_failure(self, name, device, shortage):
        row = {"failure": name, "device": device, "shortage": shortage, "right": None, "status": "", "evidence": "", "message": ""}
        self.failures.append(row)
        if self.left() < 10:
            row["message"] = "not run: no time left"
            return
        row["seconds"], report, error = self.run(self.failing(name, device), min(CASE_LIMIT_S, self.left()))
        self.note_machine(report)
        trials = (report or {}).get("trials") or []
        if not trials:
            row["right"], row["message"] = False, error or "no report"
            return
        outcome = trials[0]["outcome"]
        row["status"], row["evidence"] = outcome["status"], outcome["oom_evidence"]
        row["message"] = message_of(outcome)[:300]
        row["right"] = outcome["status"] != "ok" and (outcome["status"] == "out_of_memory") == shortage

    def write(self):
        ran = [row for row in self.rows if row["right"] is not None]
        right = sum(row["right"] for row in ran)
        lines = ["# Faults of training", "", "    benchmarks/training_faults.py --ridgeline BIN --device %s --out FOLDER" % self.arguments.device,
                 "", "%s; %s. %.0f s in all." % (self.machine or "no machine", self.runtime or "no torch", time.monotonic() - self.begin), ""]
        if self.rows:
            lines += ["%d of %d named right (%.0f %%; goal %.0f %%)%s." %
                      (right, len(ran), 100 * right / max(1, len(ran)), 100 * GOAL,
                       "; %d not run" % (len(self.rows) - len(ran)) if len(ran) < len(self.rows) else ""), "",
                      "| fault | strength | device | found | gain | right | s | message |", "|---|---|---|---|---|---|---|---|"]
        for row in self.rows:
            gain = row.get("gain")
            lines.append("| %s | %s | %s | %s | %s | %s | %s | %s |" %
                         (row["fault"], row["strength"], row["device"], ", ".join(row["found"]) or "nothing",
                          "" if gain is None else "%+.0f %%" % (100 * gain), {True: "yes", False: "**no**", None: "–"}[row["right"]],
                          "%.1f" % row["seconds"] if "seconds" in row else "", row["message"].replace("|", "/")))
        if self.failures:
            good = sum(bool(row["right"]) for row in self.failures)
            lines += ["", "## What goes wrong", "", "%d of %d classified right: %d shortages of memory, %d other failures." %
                      (good, len(self.failures), sum(row["shortage"] for row in self.failures),
                       sum(not row["shortage"] for row in self.failures)), "",
                      "| failure | device | shortage of memory | class | by | right | s | message |", "|---|---|---|---|---|---|---|---|"]
        for row in self.failures:
            lines.append("| %s | %s | %s | %s | %s | %s | %s | %s |" %
                         (row["failure"], row["device"], "yes" if row["shortage"] else "no", row["status"], row["evidence"],
                          {True: "yes", False: "**no**", None: "–"}[row["right"]],
                          "%.1f" % row["seconds"] if "seconds" in row else "", row["message"].replace("|", "/").replace("\n", " ")))
        record = {"machine": self.machine, "runtime": self.runtime, "seconds": time.monotonic() - self.begin, "right": right,
                  "ran": len(ran), "faults": self.rows, "failures": self.failures}
        for name, text in (("faults.md", "\n".join(lines) + "\n"), ("faults.json", json.dumps(record, indent=1) + "\n")):
            (self.out / (name + ".part")).write_text(text)
            os.replace(self.out / (name + ".part"), self.out / name)
        return "\n".join(lines), right, len(ran)

    def is_chosen(self, name):
        """By --case."""
        return not self.arguments.case or any(fnmatch.fnmatchcase(name, one) for one in self.arguments.case)

    def all(self):
        arguments = self.arguments
        only = [one for one in arguments.only.split(",") if one]
        on_gpu = arguments.device != "cpu"
        chosen = [case for case in cases(usable_cpus(arguments.ridgeline, self.folder), arguments.strengths)
                  if (case.code == "cpu_bound" or (case.device != "cpu") == on_gpu) and (not case.native or arguments.plugin) and
                  (not only or case.code in only) and self.is_chosen("%s, %s" % (case.code, case.strength)) and
                  (case.calm or not arguments.calm)]
        parts = arguments.part.split(",")
        if "oom" in parts:
            self.all_failures(only)
        for case in chosen if "faults" in parts else []:
            try:
                self.check(case)
            except Exception as error:  # the next one may go well
                self.rows[-1].update(right=False, message="%s: %s" % (type(error).__name__, error))
            self.write()
            row = self.rows[-1]
            print("%s %s, %s: %s %s (%.1f s)" % ({True: "right", False: "WRONG", None: "-----"}[row["right"]], case.code, case.strength,
                                                 ", ".join(row["found"]), row["message"], row.get("seconds", 0)), file=sys.stderr, flush=True)
        return chosen

    def all_failures(self, only):
        sys.path.insert(0, str(MODELS.parent))
        kinds = json.loads(subprocess.run(
            [self.arguments.python_exe, "-c", "import json, train_faults; "
             "print(json.dumps([train_faults.Failures.MEMORY, train_faults.Failures.OTHER]))"],
            capture_output=True, text=True, timeout=READY_LIMIT_S, env=dict(self.environment, PYTHONPATH=str(MODELS.parent))).stdout)
        devices = ["cpu"] if self.arguments.device == "cpu" else [self.arguments.device, "cpu"]
        for device in devices:
            for shortage in (True, False):
                for name in kinds[0 if shortage else 1]["cpu" if device == "cpu" else "cuda"]:
                    if (only and name not in only) or not self.is_chosen(name):
                        continue
                    try:
                        self.check_failure(name, device, shortage)
                    except Exception as error:
                        self.failures[-1].update(right=False, message="%s: %s" % (type(error).__name__, error))
                    self.write()
                    row = self.failures[-1]
                    print("%s %s on %s: %s by %s: %s" % ({True: "right", False: "WRONG", None: "-----"}[row["right"]], name, device, row["status"],
                                                         row["evidence"], row["message"][:120]), file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridgeline", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--plugin", default="")
    parser.add_argument("--part", default="faults,oom")
    parser.add_argument("--only", default="")
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--calm", action="store_true")
    parser.add_argument("--strengths", type=int, default=99)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--python-exe", default="python3")
    arguments = parser.parse_args()
    arguments.ridgeline = os.path.abspath(arguments.ridgeline)
    faults = Faults(arguments)
    try:
        faults.all()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    finally:
        text, right, ran = faults.write()
        faults.forks.end()
        shutil.rmtree(faults.folder, ignore_errors=True)
    print(text)
    failed = any(row["right"] is False for row in faults.failures)
    nothing = not ran and not faults.failures
    return 1 if failed or nothing or right < GOAL * ran else 0


if __name__ == "__main__":
    sys.exit(main())
