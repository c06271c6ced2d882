# SPDX-License-Identifier: Apache-2.0
"""The hooks of `bench -- python train.py` on the CPU, with the torch of this host; exit code 77 without torch."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SITE = os.path.join(ROOT, "python", "ridgeline_profile", "site")

from test_ridgeline_profile import PYTHON  # noqa: E402  (ends with 77 without torch)

LIMIT_S = 120
DATA = """
import sys, time, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
torch.set_num_threads(1)
class Items(Dataset):
    def __len__(self): return 96
    def __getitem__(self, index): return torch.full((8,), float(index)), index % 2
class Stream(IterableDataset):
    def __iter__(self): return iter(Items()[index] for index in range(96))
class Divided(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        return iter(Items()[index] for index in range(worker.id if worker else 0, 96, worker.num_workers if worker else 1))
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def step(batch):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
    loss.backward()
    optimizer.step()
    return loss
"""
PLAIN = DATA + """
train = DataLoader(Items(), batch_size=8, shuffle=True)
for batch in train:
    step(batch)
print("the end")
"""


class Script:
    """A script, and the parent's side of its channel."""

    def __init__(self, source, folder, arguments=()):
        self.folder = folder
        with open(os.path.join(folder, "train.py"), "w") as file:
            file.write(source)
        ours, theirs = socket.socketpair()
        environment = dict(os.environ, PYTHONPATH=SITE, PYTHONDONTWRITEBYTECODE="1", RIDGELINE_SCRIPT="1",
                           RIDGELINE_CHANNEL_FD=str(theirs.fileno()))
        self.process = subprocess.Popen([PYTHON, "train.py", *arguments], cwd=folder, env=environment, pass_fds=[theirs.fileno()],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        theirs.close()
        ours.settimeout(LIMIT_S)
        self.file = ours.makefile("rw", encoding="utf-8")
        ours.close()

    def ask(self, **request):
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        while True:
            line = self.file.readline()
            if not line:
                return {"gone": self.end()}
            answer = json.loads(line)
            if "doing" not in answer:
                return answer

    def abandon(self):
        self.file.close()
        self.process.kill()
        if not self.process.stdout.closed:
            self.process.communicate()

    def end(self):
        """(exit code, output, errors)"""
        out, errors = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, out, errors


class Scripts(unittest.TestCase):
    def start(self, source, *arguments):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = Script(source, folder.name, arguments)
        self.addCleanup(script.abandon)
        return script

    def describe(self, source, *arguments):
        script = self.start(source, *arguments)
        answer = script.ask(op="describe")
        return answer.get("ok", answer), script

    def prepared(self, source, settings, data="loader", **options):
        facts, first = self.describe(source)
        first.end()
        options = dict(options, ridgeline_loaders=facts["loaders"])
        script = self.start(source)
        spec = {"job": {"kind": "script", "options": options}, "device": "cpu", "settings": settings, "data": data}
        return script.ask(op="prepare", spec=spec), script

    def trial(self, source, settings, data="loader", steps=10, **options):
        answer, script = self.prepared(source, settings, data, **options)
        self.assertEqual(answer, {"ok": {}})
        window = script.ask(op="run", steps=steps)
        self.assertIn("ok", window)
        self.assertIn("ok", script.ask(op="reset"))
        again = script.ask(op="run", steps=steps)["ok"]
        resources = script.ask(op="resources")
        self.assertIn("ok", resources)
        self.assertEqual(script.ask(op="close"), {"ok": {}})
        self.assertEqual(len(again["steps"]), steps)
        for row in again["steps"]:
            self.assertAlmostEqual(sum(row[:6]), row[6], delta=0.01 + 0.001 * row[6])
        return again, resources["ok"], script.end()


class Described(Scripts):
    def test_plain_loop(self):
        facts, script = self.describe(PLAIN)
        self.assertEqual((facts["batch"], facts["workers"], facts["amp"], facts["samples"], facts["device"]), (8, 0, "off", 96, "cpu"))
        self.assertEqual(facts["fixed"], {})
        code, out, errors = script.end()
        self.assertEqual((code, out, errors), (0, "", ""))

    def test_what_cannot_be_changed(self):
        loop = "\nfor batch in train: step(batch)\n"
        batches = "train = DataLoader(Items(), batch_sampler=[list(range(4))] * 9)"
        self.assertIn("batch_sampler", self.describe(DATA + batches + loop)[0]["fixed"]["batch"])
        self.assertIn("repeat all samples", self.describe(DATA + "train = DataLoader(Stream(), batch_size=4)" + loop)[0]["fixed"]["workers"])
        self.assertEqual(self.describe(DATA + "train = DataLoader(Divided(), batch_size=4)" + loop)[0]["fixed"], {})

    def test_the_training_loader_is_found(self):
        source = DATA + """
valid, train = DataLoader(Items(), batch_size=16), DataLoader(Items(), batch_size=4)
for batch in valid: model.eval()(batch[0])
model.train()
for batch in train: step(batch)
"""
        facts, _ = self.describe(source)
        self.assertEqual((facts["batch"], facts["loaders"]), (4, "1"))

    def test_exit_handlers_run(self):
        source = PLAIN.replace("for batch in train:", "import atexit\natexit.register(print, 'handler')\nfor batch in train:")
        _, script = self.describe("try:\n" + "".join("    %s\n" % line for line in source.splitlines()) + "finally:\n    print('closed')\n")
        self.assertEqual(script.end()[:2], (0, "closed\nhandler\n"))

    def test_a_script_that_catches_everything_ends(self):
        source = DATA + """
train = DataLoader(Items(), batch_size=4)
while True:
    try:
        for batch in train: step(batch)
    except:
        pass
"""
        self.assertEqual(self.describe(source)[1].end()[0], 0)


class Trials(Scripts):
    def test_batch_and_workers(self):
        window, resources, (code, out, errors) = self.trial(PLAIN, {"batch": 16, "workers": 2})
        self.assertEqual((window["samples"], code, out, errors), (160, 0, "", ""))
        self.assertIn("loader_cpu_s", resources)

    def test_epochs_go_on_and_small_batches_do_not_count(self):
        window, _, _ = self.trial(PLAIN, {"batch": 36, "workers": 0}, steps=20)
        self.assertEqual(window["samples"], 720)

    def test_phases(self):
        source = PLAIN.replace("def step(batch):", """
slow = time.sleep
class Model(nn.Linear):
    def forward(self, x): slow(0.004); return super().forward(x)
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(context, x): return x.clone()
    @staticmethod
    def backward(context, gradient): slow(0.006); return gradient
model = Model(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def step(batch):
    slow(0.002)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(Slow.apply(model(batch[0])), batch[1])
    loss.backward()
    slow(0.001)
    optimizer.step()
    slow(0.003)
def former(batch):""").replace("    def __getitem__(self, index): return torch.full", "    def __getitem__(self, index):\n        slow(0.001)\n        return torch.full")
        window, _, _ = self.trial(source, {"batch": 8, "workers": 0})
        # The fastest step: other programs use the CPUs too.
        for found, expected in zip(min(window["steps"], key=lambda row: row[6]), (8, 2, 4, 6, 1, 3, 24)):
            self.assertGreater(found, expected - 0.1)
            self.assertLess(found, 1.5 * expected + 2)

    def test_kept_batches_and_the_loader_alone(self):
        for data in ("host", "device"):
            window, resources, _ = self.trial(PLAIN, {"batch": 8, "workers": 0}, data)
            self.assertEqual(window["samples"], 80)
            self.assertIn("step_cpu_s", resources)
        window, _, _ = self.trial(PLAIN, {"batch": 8, "workers": 2}, "loader_only", steps=30)
        self.assertEqual(window["samples"], 240)
        self.assertEqual([sum(column) for column in zip(*window["steps"])][1:5], [0, 0, 0, 0])

    def test_a_validation_is_not_counted(self):
        source = DATA + """
train, valid = DataLoader(Items(), batch_size=8), DataLoader(Items(), batch_size=8)
for epoch in range(100):
    iterator = iter(train)
    for number in range(5): step(next(iterator))
    for batch in valid: time.sleep(0.02)
"""
        window, _, _ = self.trial(source, {"batch": 8, "workers": 0}, steps=20)
        self.assertLess(window["wall_ms"], 100)

    def test_precision(self):
        seen = PLAIN.replace("    return loss", "    print(loss.dtype, file=sys.stderr)\n    return loss")
        window, _, (_, _, errors) = self.trial(seen, {"batch": 8, "workers": 0, "amp": "bf16"})
        self.assertTrue(errors.startswith("torch.bfloat16") or "bfloat16" in errors or errors.startswith("torch.float32"), errors[:100])
        own = PLAIN.replace("loss = nn.functional.cross_entropy(model(batch[0]), batch[1])",
                            "with torch.autocast('cpu', dtype=torch.bfloat16): out = model(batch[0])\n    print(out.dtype)\n"
                            "    loss = nn.functional.cross_entropy(out.float(), batch[1])")
        for amp, expected in (("off", "torch.float32"), ("bf16", "torch.bfloat16")):
            _, _, (_, out, _) = self.trial(own, {"batch": 8, "workers": 0, "amp": amp})
            self.assertEqual(set(out.split()), {expected})
        facts, script = self.describe(own)
        self.assertEqual(facts["amp"], "bf16")

    def test_other_settings(self):
        image = PLAIN.replace("model = nn.Linear(8, 2)", "model = nn.Sequential(nn.Unflatten(1, (2, 2, 2)), nn.Conv2d(2, 2, 2), nn.Flatten())")
        self.trial(image, {"batch": 8, "workers": 1}, channels_last="true", prefetch_factor="4", persistent_workers="true")
        answer, _ = self.prepared(PLAIN, {"batch": 8, "workers": 0}, channels_last="true")
        self.assertIn("channels_last did not take effect: no parameter", answer["error"]["message"])
        answer, _ = self.prepared(PLAIN, {"batch": 8, "workers": 0}, allow_tf32="true")
        self.assertIn("allow_tf32 did not take effect: the model is not on a GPU", answer["error"]["message"])

    def test_a_setting_without_effect_is_refused(self):
        source = PLAIN.replace("for batch in train:", "train.num_workers = 0\nfor batch in train:")
        answer, _ = self.prepared(source, {"batch": 8, "workers": 2})
        self.assertTrue(answer["error"]["bad_settings"])
        self.assertIn("num_workers 2 did not take effect", answer["error"]["message"])


BLOCKS = DATA + """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
    def forward(self, x): return torch.relu(self.inner(x)) + x
model = nn.Sequential(Block(), Block(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
for epoch in range(9):
    for batch in DataLoader(Items(), batch_size=8, shuffle=True): step(batch)
"""


LOST = """
seen = []
def lost(batch):
    step(batch)
    seen.append(1)
    if len(seen) == 3:
        for one in model.parameters(): one.data.fill_(float("nan"))
"""
LOCKED = """
import multiprocessing, time
class Locked(Items):
    lock = multiprocessing.Lock()
    def __getitem__(self, index):
        with self.lock: time.sleep(0.004)
        return super().__getitem__(index)
"""


class Levers(Scripts):
    def losses(self, source, batch=8, workers=0, count=10, **options):
        resources = self.trial(source, {"batch": batch, "workers": workers}, ridgeline_losses=str(count), **options)[1]
        return resources["losses"], resources.get("notes", {})

    def near(self, one, other):
        self.assertEqual(len(one), len(other))
        for a, b in zip(one, other):
            self.assertAlmostEqual(a, b, delta=0.002 * max(1.0, abs(a)))

    def test_levers_train_the_same(self):
        expected, _ = self.losses(BLOCKS)
        self.assertEqual(len(expected), 10)
        for options in ({"gradient_checkpointing": "auto"}, {"fused_optimizer": "foreach"}, {"cache_dataset": "true"}, {"cache_dataset": "device"}):
            losses, notes = self.losses(BLOCKS, **{"lever:" + name: value for name, value in options.items()})
            self.near(losses, expected)
            if options.get("cache_dataset") == "device":
                self.assertEqual(notes["lever_device_cache"]["arguments"]["samples"], 96)
            elif "cache_dataset" in options:
                self.assertEqual(notes["lever_cache"]["arguments"]["samples"], 96)
            if "gradient_checkpointing" in options:
                self.assertEqual(notes["lever_blocks"]["arguments"], {"blocks": 2, "kind": "Block"})

    def test_accumulation_holds_the_effective_batch(self):
        whole, _ = self.losses(BLOCKS, batch=16, count=6)
        half, _ = self.losses(BLOCKS, batch=8, count=12, **{"lever:gradient_accumulation": "2"})
        self.near([(a + b) / 2 for a, b in zip(half[::2], half[1::2])], whole)

    def refusal(self, source, **options):
        answer, script = self.prepared(source, {"batch": 8, "workers": 0}, **options)
        if "error" not in answer:
            self.assertIn("ok", script.ask(op="run", steps=5))
            answer = script.ask(op="resources")
        return answer["error"]["message"]

    def test_what_took_no_effect_is_refused(self):
        self.assertIn("no such lever", self.refusal(BLOCKS, **{"lever:other": "1"}))
        self.assertIn("no class of modules", self.refusal(PLAIN, **{"lever:gradient_checkpointing": "auto"}))
        random = BLOCKS.replace("torch.full((8,), float(index))", "torch.rand(8)")
        self.assertIn("draws random numbers", self.refusal(random, cache_dataset="true"))
        twice = BLOCKS.replace("step(batch)\n", "nn.functional.cross_entropy(model(batch[0]), batch[1]).backward(); step(batch)\n")
        self.assertIn("several backward passes", self.refusal(twice, gradient_accumulation="2"))

    def test_an_optimizer_over_other_parameters_is_noted(self):
        source = BLOCKS.replace("Adam(model.parameters()", "Adam(nn.Linear(8, 2).parameters()")
        notes = self.losses(source)[1]
        self.assertEqual(notes["optimizer_elsewhere"]["arguments"], {"parameters": 6})
        self.assertEqual(self.losses(BLOCKS)[1], {})


class Watched(Scripts):
    def test_calls_that_read_tensors_are_counted_with_their_line(self):
        source = BLOCKS.replace("step(batch)\n", "print(step(batch).item())\n")
        resources = self.trial(source, {"batch": 8, "workers": 0})[1]
        rows = resources["host_reads"]
        self.assertEqual([(row["call"], row["per_step"]) for row in rows], [("item()", 1.0)])
        self.assertRegex(rows[0]["place"], r"train\.py:\d+ in <module>|train\.py:\d+")
        self.assertEqual(self.trial(BLOCKS, {"batch": 8, "workers": 0})[1]["host_reads"], [])

    def test_the_step_from_which_on_the_loss_is_lost(self):
        source = BLOCKS.replace("step(batch)\n", "lost(batch)\n").replace("for epoch", LOST + "for epoch")
        resources = self.trial(source, {"batch": 8, "workers": 0})[1]
        self.assertEqual((resources["lost_at_step"], resources["loss_not_finite"]), (4, True))

    def test_workers_that_wait_for_one_another(self):
        source = BLOCKS.replace("DataLoader(Items()", "DataLoader(Locked()").replace("model = nn", LOCKED + "model = nn", 1)
        answer, script = self.prepared(source, {"batch": 8, "workers": 0})
        self.assertIn("ok", answer)
        found = script.ask(op="worker_waits", workers=3, limit_s=10)["ok"]
        self.assertLess(found["several"]["samples_per_s"], 1.3 * found["one"]["samples_per_s"])
        self.assertIn("lock", [row["kind"] for row in found["several"]["places"]])


NAME_OF_CALL = """
import atexit
names = []
atexit.register(lambda: print(",".join(sorted(set(names)))))
"""


class Hooks(Scripts):
    def names_of_calls(self, source):
        """What torch.nn.Module.__call__ was in the script's steps, and the forward times of the steps."""
        source = source.replace("for epoch", NAME_OF_CALL + "for epoch").replace("step(batch)\n", "step(batch); names.append(nn.Module.__call__.__module__)\n")
        window, _, ended = self.trial(source, {"batch": 8, "workers": 0})
        return ended[1].strip().split(","), [row[2] for row in window["steps"]]

    def test_modules_within_the_model_are_not_hooked_after_the_first_step(self):
        names, forward = self.names_of_calls(BLOCKS)
        self.assertIn("torch.nn.modules.module", names)
        self.assertGreater(min(forward), 0)

    def test_a_class_with_a_call_of_its_own_keeps_the_hook(self):
        own = "class Own(nn.Sequential):\n    def __call__(self, x): return super().__call__(x)\nmodel = Own("
        names, forward = self.names_of_calls(BLOCKS.replace("model = nn.Sequential(", own))
        self.assertEqual(names, ["ridgeline_profile.verify.model_calls"])
        self.assertGreater(min(forward), 0)

    def test_steps_left_out_are_counted_once(self):
        source = BLOCKS.replace("batch_size=8", "batch_size=9")  # the last batch of an epoch is smaller
        window = self.trial(source, {"batch": 9, "workers": 0}, steps=25)[0]
        self.assertEqual(len(window["steps"]), 25)


class Failures(Scripts):
    def test_an_exception(self):
        answer, script = self.describe(DATA + "train = DataLoader(Items(), batch_size=8)\nfor batch in train: model(batch[1]).sum().backward()\n")
        self.assertEqual(answer["error"]["type"], "RuntimeError")
        self.assertIn("train.py:", answer["error"]["place"])
        self.assertEqual(script.end()[0], 1)

    def test_a_command_line_mistake(self):
        source = DATA + "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--data', required=True)\nparser.parse_args()\n"
        answer, _ = self.describe(source)
        self.assertEqual(answer["gone"][0], 2)
        self.assertIn("required: --data", answer["gone"][2])

    def test_no_training(self):
        answer, _ = self.describe(DATA + "print('nothing')\n")
        self.assertIn("ended without a training step", answer["error"]["message"])
        answer, _ = self.describe(DATA + "while True: step((torch.zeros(4, 8), torch.zeros(4, dtype=torch.long)))\n")
        self.assertIn("no batch from a torch DataLoader", answer["error"]["message"])


    def test_training_in_a_process_that_the_script_starts(self):
        source = DATA + ("import torch.multiprocessing as processes\ndef work(number):\n    begin = time.process_time()\n"
                         "    while time.process_time() - begin < 1.5: step((torch.zeros(4, 8), torch.zeros(4, dtype=torch.long)))\n"
                         "if __name__ == '__main__': processes.spawn(work, nprocs=1)\n")
        answer, _ = self.describe(source)
        self.assertRegex(answer["error"]["message"], "processes that it started used [0-9]+ s of CPU time")


class Untouched(Scripts):
    def test_an_existing_sitecustomize_runs(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with open(os.path.join(folder.name, "sitecustomize.py"), "w") as file:
            file.write("print('theirs')\n")
        environment = dict(os.environ, PYTHONPATH=SITE + ":" + folder.name, RIDGELINE_SCRIPT="1")
        done = subprocess.run([PYTHON, "-c", "import torch; print('own')"], env=environment, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout, "theirs\nown\n")

    def test_without_the_parent(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with open(os.path.join(folder.name, "train.py"), "w") as file:
            file.write(PLAIN)
        environment = dict(os.environ, PYTHONPATH=SITE, RIDGELINE_SCRIPT="1")
        done = subprocess.run([PYTHON, "train.py"], cwd=folder.name, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout, "the end\n")


if __name__ == "__main__":
    unittest.main()
