#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ridgeline bench` recommends for known trainings against the same trainings as they are written: a plain loop in PyTorch, which uses nothing
of ours, times both in turns and compares their losses.

    benchmarks/training_levers.py [--ridgeline PATH] [--python PYTHON] [--only resnet50,vit_b_16,transformer] [--out FOLDER]
                                  [--device cuda] [--seconds 170]

Batch and effective batch stay as written; precision, pinning, workers and levers are bench's to choose. Each model takes at most --seconds:
two thirds for bench, the rest for the loop. FOLDER gets NAME.json (the run) and levers.json; the table goes to standard output. A ratio is
the geometric mean over pairs of blocks of steps in ABBA order, with a 95 % interval by Student's t. The losses are those of the first 20
steps from the same random numbers: "equal" if their mean distance is at most what two runs as written differ by, or rounding makes (0.2 % in FP32,
1 % with TF32 or bf16).
"""
import argparse
import inspect
import json
import math
import os
import subprocess
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(FOLDER, "models", "training_models.py")
NAMES = {"resnet50": "ResNet-50", "vit_b_16": "ViT-B/16", "transformer": "transformer (6 layers, width 512)"}
LEVERS = "torch_compile,channels_last,fused_optimizer,allow_tf32,cudnn_benchmark"  # that the loop can set too
BATCH, WORKERS = 64, 4
COMPARED = 20
LOOP_GRACE_S = 90  # that starting and compiling may take
# Two-sided 95 % points of Student's t by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042}


def bench(asked, name, seconds):
    """The run's JSON; None with the reason on standard error."""
    batch = str(asked.batch)
    command = [asked.ridgeline, "bench", "--python", "%s:%s" % (MODELS, name), "--python-exe", asked.python, "--devices", asked.device,
               "--batch-sizes", batch, "--num-workers", str(asked.workers), "--search", "adaptive", "--stability-run", "0", "--try", LEVERS,
               "--max-time", "%ds" % seconds, "--db", os.path.join(asked.out, name + ".db"), "--json"]
    if asked.device == "cpu":
        command += ["--amp", "off"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print("%s: %s" % (name, (done.stderr.strip().splitlines() or ["no output"])[-1]), file=sys.stderr)
        return None
    with open(os.path.join(asked.out, name + ".json"), "w") as file:
        file.write(done.stdout)
    return json.loads(done.stdout)


def chosen(run, names=LEVERS.split(",")):
    """{"workers", "pin", "amp", "levers": {name: value}}, of levers by these names; None: nothing is recommended."""
    recommended = run["answers"] and run["answers"]["recommended"]
    if not recommended:
        return None
    settings = recommended["settings"]
    found = {finding["code"]: finding for finding in run["findings"]}
    together = found.get("levers_together")
    single = [finding for code, finding in found.items() if code in names]
    best = together or max(single, key=lambda finding: finding["predicted_gain"] or 0, default=None)
    levers = {}
    for text in best["advice"]["arguments"]["settings"] if best else ():
        lever, _, value = text.partition(": ")
        levers[lever] = value
    return {"workers": settings["workers"], "pin": settings["pin_memory"], "amp": settings["amp"], "levers": levers}


class Training:
    """One of the two, in plain PyTorch."""

    def __init__(self, torch, made, device, batch, setting, seed=1):
        self.torch, self.device, self.setting = torch, device, setting
        self.levers = setting["levers"]
        torch.manual_seed(seed)
        found = made(None)
        self.forward, self.model = found["forward"], found["model"].to(device).train()
        self.dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(setting["amp"])
        if self.levers.get("channels_last"):
            self.model.to(memory_format=torch.channels_last)
        optimizer = found["optimizer"]
        taken = inspect.signature(type(optimizer).__init__).parameters
        group = {key: value for key, value in optimizer.defaults.items() if key in taken and key not in ("fused", "foreach")}
        form = self.levers.get("fused_optimizer")
        self.optimizer = type(optimizer)(self.model.parameters(), **group, **({"fused" if form in ("true", "fused") else "foreach": True} if form else {}))
        compiled = self.levers.get("torch_compile")
        self.called = torch.compile(self.model, **({} if compiled in ("true", "default") else {"mode": compiled})) if compiled else self.model
        self.scaler = torch.amp.GradScaler("cuda") if setting["amp"] == "fp16" else None
        order = torch.Generator().manual_seed(seed)
        self.loader = torch.utils.data.DataLoader(found["dataset"], batch_size=batch, shuffle=True, generator=order, drop_last=True,
                                                  num_workers=setting["workers"], pin_memory=setting["pin"], persistent_workers=setting["workers"] > 0)
        self.batches = iter(self.loader)

    def _begin(self):
        """What is the same for all of the process."""
        self.torch.set_float32_matmul_precision("high" if self.levers.get("allow_tf32") else "highest")
        self.torch.backends.cudnn.benchmark = bool(self.levers.get("cudnn_benchmark"))

    def _step(self):
        try:
            batch = next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            batch = next(self.batches)
        move = lambda one: one.to(self.device, non_blocking=self.setting["pin"])  # noqa: E731
        batch = move(batch) if hasattr(batch, "to") else [move(one) for one in batch]
        with self.torch.autocast(self.device.type, dtype=self.dtype or self.torch.bfloat16, enabled=self.dtype is not None):
            loss = self.forward(self.called, batch)
        self.optimizer.zero_grad()
        if self.scaler is None:
            loss.backward()
            self.optimizer.step()
        else:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        return loss.detach()

    def _wait(self):
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()

    def steps(self, count):
        """Seconds of so many steps."""
        self._begin()
        self._wait()
        begin = time.perf_counter()
        for _ in range(count):
            self._step()
        self._wait()
        return time.perf_counter() - begin

    def losses(self, count):
        self._begin()
        return [float(one) for one in [self._step().float().clone() for _ in range(count)]]


def distance(one, other):
    size = sum(abs(value) for value in one)
    return sum(abs(a - b) for a, b in zip(one, other)) / size if size else 0.0


def ratio_of(pairs):
    """(ratio, low, high) of the times in the first to those in the second, 95 %."""
    logs = [math.log(a / b) for a, b in pairs]
    mean = sum(logs) / len(logs)
    spread = math.sqrt(sum((one - mean) ** 2 for one in logs) / (len(logs) - 1))
    student = STUDENT[max(freedom for freedom in STUDENT if freedom <= len(logs) - 1)]
    half = student * spread / math.sqrt(len(logs))
    return tuple(math.exp(value) for value in (mean, mean - half, mean + half))


def compared(asked, name, setting, seconds):
    import torch

    sys.path.insert(0, os.path.dirname(MODELS))
    made = getattr(__import__("training_models"), name)
    device = torch.device(asked.device)
    written = {"workers": asked.workers, "pin": False, "amp": "off", "levers": {}}
    begin = time.perf_counter()
    first, second = (Training(torch, made, device, asked.batch, written).losses(COMPARED) for _ in range(2))
    recommended = Training(torch, made, device, asked.batch, setting)
    losses = recommended.losses(COMPARED)
    rounding = 0.01 if setting["amp"] != "off" or setting["levers"].get("allow_tf32") else 0.002
    allowed = max(rounding, distance(first, second))
    plain = Training(torch, made, device, asked.batch, written)
    plain.steps(5)
    recommended.steps(5)
    # Blocks of half a second, as many pairs as the time allows.
    count = max(3, min(100, round(0.5 / (plain.steps(3) / 3))))
    pairs = []
    while len(pairs) < 4 or (len(pairs) < 24 and time.perf_counter() - begin < seconds):
        order = (plain, recommended) if len(pairs) % 2 == 0 else (recommended, plain)
        times = {id(one): one.steps(count) / count for one in order}
        pairs.append((times[id(plain)], times[id(recommended)]))
    ratio, low, high = ratio_of(pairs)
    apart = distance(first, losses)
    gone = not all(math.isfinite(value) for value in losses)
    return {"model": NAMES[name], "setting": setting, "ratio": ratio, "low": low, "high": high, "pairs": len(pairs), "steps": count,
            "samples_per_s": [asked.batch / (sum(pair[at] for pair in pairs) / len(pairs)) for at in range(2)],
            "losses": {"apart": apart, "allowed": allowed, "equal": not gone and apart <= allowed}, "torch": torch.__version__,
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"}


def words_of(setting):
    words = ["%s=%s" % item if item[1] not in ("true",) else item[0] for item in sorted(setting["levers"].items())]
    words += [setting["amp"]] * (setting["amp"] != "off") + ["pinned"] * setting["pin"] + ["%d worker%s" % (setting["workers"], "" if setting["workers"] == 1 else "s")]
    return ", ".join(words)


def row_of(asked, name):
    """One model's row; None with the reason on standard error."""
    begin = time.perf_counter()
    run = bench(asked, name, int(asked.seconds * 2 / 3))
    setting = run and chosen(run)
    if not setting:
        print("%s: nothing is recommended" % name, file=sys.stderr)
        return None
    # What starting and compiling take is not timed.
    left = max(15.0, asked.seconds - (time.perf_counter() - begin) - 20)
    command = [asked.python, os.path.abspath(__file__), "--loop", name, "--device", asked.device, "--batch", str(asked.batch),
               "--workers", str(asked.workers), "--seconds", str(left), "--out", asked.out]
    try:
        done = subprocess.run(command, input=json.dumps(setting), stdout=subprocess.PIPE, text=True, timeout=left + LOOP_GRACE_S)
    except subprocess.TimeoutExpired:
        print("%s: the loop took more than %.0f s" % (name, left + LOOP_GRACE_S), file=sys.stderr)
        return None
    if done.returncode != 0:
        print("%s: the loop failed" % name, file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ridgeline", default="ridgeline")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--out", default="training_levers")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=170)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--loop", help=argparse.SUPPRESS)  # NAME: this process times it, so that each model has a process of its own
    asked = parser.parse_args()
    os.makedirs(asked.out, exist_ok=True)
    asked.out = os.path.abspath(asked.out)
    if asked.loop:
        print(json.dumps(compared(asked, asked.loop, json.loads(sys.stdin.read()), asked.seconds)))
        return 0
    rows = []
    # Each row as it arrives: a run that is stopped leaves what it has.
    print("| training | batch | recommended | as written, samples/s | recommended, samples/s | faster, 95 % interval | losses of 20 steps |\n"
          "|---|---|---|---|---|---|---|", flush=True)
    for name in asked.only.split(","):
        row = row_of(asked, name)
        if row is None:
            continue
        rows.append(row)
        with open(os.path.join(asked.out, "levers.json"), "w") as file:
            json.dump(rows, file, indent=1)
        losses = row["losses"]
        print("| %s | %d | %s | %.0f | %.0f | %.2f× [%.2f, %.2f] | %s: %.2f %% apart, %.2f %% allowed |" % (
            row["model"], asked.batch, words_of(row["setting"]), *row["samples_per_s"], row["ratio"], row["low"], row["high"],
            "equal" if losses["equal"] else "DIFFERENT", 100 * losses["apart"], 100 * losses["allowed"]), flush=True)
    return 0 if len(rows) == len(asked.only.split(",")) and all(row["losses"]["equal"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
