# SPDX-License-Identifier: Apache-2.0
"""Talks to a worker of the built-in models as `ridgeline bench` does: to COMMAND, which is `ridgeline train-worker` or the Python
package. Checks what every built-in model, loss, optimizer and data mode does in a few steps. Prints one line for each check that
failed, and how many were made.

    train_worker_client.py DATA.h5 MODEL.pt COMMAND..."""

import concurrent.futures
import json
import math
import os
import queue
import socket
import subprocess
import sys
import threading

DATA, SCRIPT = sys.argv[1:3]
COMMAND = sys.argv[3:]
IN_PYTHON = "ridgeline_models" in COMMAND
checks = 0
failures = 0
lock = threading.Lock()
pool = concurrent.futures.ThreadPoolExecutor(2)
jobs = []
kept = queue.Queue()  # workers that serve another trial


def check(condition, what):
    global checks, failures
    with lock:
        checks += 1
        if not condition:
            failures += 1
            print("FAILED: " + what)


def later(job, *arguments, **named):
    """Two workers at a time: most of their life is loading LibTorch."""
    jobs.append(pool.submit(job, *arguments, **named))


def worker():
    """One that waits for another trial, or a new one."""
    try:
        return kept.get_nowait()
    except queue.Empty:
        return Worker()


class Worker:
    def __init__(self):
        self.ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(COMMAND, pass_fds=[theirs.fileno()],
                                        env=dict(os.environ, RIDGELINE_CHANNEL_FD=str(theirs.fileno()), OMP_NUM_THREADS="1"))
        theirs.close()
        self.file = self.ours.makefile("rw")

    def ask(self, **request):
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        answer = {"doing": ""}
        while "doing" in answer:
            answer = json.loads(self.file.readline() or '{"error": {"message": "the worker died"}}')
        return answer

    def end(self):
        """Its exit code; 0 as well if it is ready for another trial."""
        if self.ask(op="release").get("ok", {}).get("kept"):
            kept.put(self)
            return 0
        return self.close()

    def close(self):
        self.ask(op="close")
        self.file.close()
        self.ours.close()
        return self.process.wait(timeout=20)


def spec(model, options=None, batch=4, workers=0, amp="off", data="loader", path=""):
    if path:  # names that describing the job finds
        options = dict({"input_dataset": "x", "label_dataset": "y"}, **options or {})
    return {"job": {"kind": "native", "target": model, "data_path": path, "options": options or {}},
            "device": "cpu", "settings": {"batch": batch, "workers": workers, "amp": amp}, "data": data}


def train(name, steps=2, then=0, **settings):
    """The loss after the steps, or the losses after them and after `then` more; checks all numbers."""
    used = worker()
    ready = used.ask(op="prepare", spec=spec(**settings))
    check("ok" in ready, "%s: %s" % (name, ready))
    if "ok" not in ready:
        used.end()
        return math.nan
    used.ask(op="reset")
    window = used.ask(op="run", steps=steps)
    check("ok" in window, "%s: %s" % (name, window))
    rows = window.get("ok", {}).get("steps", [])
    check(len(rows) == steps, "%s: %d rows" % (name, len(rows)))
    for row in rows:
        check(len(row) == 7 and all(value >= 0 for value in row), "%s: %s" % (name, row))
        check(abs(sum(row[:6]) - row[6]) <= 0.05 * row[6] + 0.01, "%s: phases of %s do not add up" % (name, row))
        computed = min(row[2:5]) > 0 if settings.get("data") != "loader_only" else max(row[2:5]) < 0.1
        check(computed, "%s: %s" % (name, row))
    known = used.ask(op="resources").get("ok", {})
    check(known.get("peak_reserved_gb", 0) > 0.01, "%s: %s" % (name, known))
    loss = known.get("last_loss")
    if then:
        used.ask(op="run", steps=then)
        loss = loss, used.ask(op="resources").get("ok", {}).get("last_loss")
    check(used.end() == 0, "%s: the worker did not end well" % name)
    return loss


TINY = {
    "mlp": {"input": "3x8x8", "hidden": "16"},
    "resnet18": {"input": "3x32x32", "classes": "4"},
    "resnet50": {"input": "3x32x32", "classes": "4"},
    "wideresnet": {"input": "3x16x16", "depth": "10", "width": "1"},
    "vit-tiny": {"input": "3x32x32", "depth": "2"},
    "vit-small": {"input": "32x32x3", "depth": "1", "patch": "8"},
    "transformer": {"input": "12x5", "hidden": "32", "depth": "2"},
    "gnn": {"input": "2x6x6", "depth": "3", "hidden": "16"},
}


def built_in(model, options):
    loss = train(model, model=model, options=options)
    check(loss is not None and 0 < loss < 20, "%s: loss %s" % (model, loss))


def learns(optimizer, loss):
    # The same two batches again and again: whatever learns makes this smaller.
    few = {"input": "20", "hidden": "32", "loss": loss, "optimizer": optimizer,
           "learning_rate": "0.1" if optimizer == "sgd" else "0.01"}
    name = "%s %s" % (optimizer, loss)
    first, last = train(name, steps=1, then=60, model="mlp", options=few, batch=16)
    check(last < 0.9 * first, "%s: loss went from %s to %s" % (name, first, last))


def learns_from_data(workers, amp):
    # Labels follow from the samples, so the loss has to fall below chance.
    loss = train("mlp on data, %d workers, %s" % (workers, amp), steps=200, model="mlp", batch=32, workers=workers, amp=amp,
                 path=DATA, options={"classes": "4", "hidden": "32", "optimizer": "adam"})
    check(loss < 0.5 * math.log(4), "mlp on data: loss %s" % loss)


def refused(what, *texts, **settings):
    used = worker()
    error = used.ask(op="prepare", spec=spec(**settings)).get("error", {})
    message = error.get("message", "")
    for text in texts:
        check(text in message, "%s: no \"%s\" in \"%s\"" % (what, text, message))
    check(error.get("bad_settings") or error.get("user_error"), "%s: %s" % (what, error))
    used.end()


def no_gpu():
    used = worker()
    device = spec(model="mlp")
    device["device"] = "cuda:0"
    error = used.ask(op="prepare", spec=device).get("error", {})
    check(("sees no CUDA" if IN_PYTHON else "CPU build") in error.get("message", "") and error.get("user_error"), "cuda on a CPU build: %s" % error)
    used.end()


def too_large():
    # More than the machine has: an allocation that fails, told from a mere error.
    used = worker()
    ready = used.ask(op="prepare", spec=spec(model="mlp", options={"input": "1048576", "hidden": "1048576"}))
    error = ready.get("error", {})
    check("allocate memory" in error.get("message", ""), "4 TB of weights: %s" % ready)
    used.end()


for tiny, its in TINY.items():
    later(built_in, tiny, its)
    later(train, tiny + " bf16", model=tiny, options=its, amp="bf16")
later(train, "tokens", model="transformer", options={"input": "9", "hidden": "32", "depth": "1", "vocabulary": "50"})
later(train, "nodes in a row", model="gnn", options={"input": "7x3", "neighbours": "4"})
for each in ("sgd", "adam", "adamw"):
    for other in ("cross_entropy", "mse", "l1", "bce"):
        later(learns, each, other)
for count in (0, 2):
    for precision in ("off", "bf16"):
        later(learns_from_data, count, precision)
for mode in ("host", "device", "loader_only"):
    later(train, mode, model="mlp", batch=32, workers=1, path=DATA, options={"classes": "4"}, data=mode)
later(train, "numbers to predict", model="mlp", batch=32, path=DATA, options={"label_dataset": "height"})
later(train, "bytes", model="mlp", batch=32, path=DATA, options={"input_dataset": "bytes", "classes": "4"})
if SCRIPT:
    later(train, "TorchScript", model=SCRIPT, batch=32, path=DATA, options={"classes": "4"})
    later(train, "TorchScript, random data", model=SCRIPT, options={"input": "12"})
    later(refused, "TorchScript without a shape", "--option input=", model=SCRIPT)
later(refused, "fp16 on a CPU", "fp16 needs a GPU", model="mlp", amp="fp16")
later(refused, "images", "are no images", model="resnet18", options={"input": "10"})
later(refused, "a text file", "is no TorchScript file", model=__file__, options={"input": "10"})
later(refused, "layers", "6 n + 4", model="wideresnet", options={"depth": "11"})
later(refused, "patches", "whole number of patches", model="vit-tiny", options={"patch": "5"})
later(refused, "heads", "divisor", model="transformer", options={"heads": "7"})
later(refused, "momentum", "it belongs to sgd", model="mlp", options={"optimizer": "adam", "momentum": "0.5"})
later(refused, "input", "input=3xx3", model="mlp", options={"input": "3xx3"})
later(refused, "labels", "expected one class number", model="mlp", batch=8, path=DATA,
        options={"label_dataset": "bytes", "loss": "cross_entropy"})
later(no_gpu)
later(too_large)
for job in jobs:
    job.result()
while not kept.empty():
    check(kept.get().close() == 0, "a worker did not end well")
print("%d checks, %d failed" % (checks, failures))
sys.exit(1 if failures else 0)
