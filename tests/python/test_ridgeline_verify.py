# SPDX-License-Identifier: Apache-2.0
"""The hooks of `profile --verify` on the CPU, with the torch of this host; exit code 77 without torch."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SITE = os.path.join(ROOT, "python", "ridgeline_profile", "site")

from test_ridgeline_profile import PYTHON  # noqa: E402  (ends with 77 without torch)

HAS_COMPILE = subprocess.call([PYTHON, "-c", "import torch; torch.compile"], stderr=subprocess.DEVNULL) == 0

TRAINING = """
import sys, torch
torch.manual_seed(3)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
x = torch.randn(32, 64)
for _ in range(%d):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("the end")
"""
INFERENCE = """
import torch
torch.manual_seed(3)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.GELU(), torch.nn.Conv2d(8, 8, 3)).eval()
x = torch.randn(2, 3, 32, 32)
with torch.no_grad():
    for _ in range(%d):
        model(x)
print("the end")
"""
LOADING = """
import torch
class Items(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, index): return torch.full((4,), float(index))
model = torch.nn.Linear(4, 1)
with torch.no_grad():
    for batch in torch.utils.data.DataLoader(Items(), batch_size=2%s):
        model(batch)
"""


class Verified(unittest.TestCase):
    def run_program(self, source, change="", **variables):
        """Runs a program; returns its process and what it reported, None without a report."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("RIDGELINE_", "PYTHON"))}
        environment.update(PYTHONPATH=SITE, PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", RIDGELINE_PROFILE_STEPS=folder.name,
                           RIDGELINE_PROFILE_CHANGE=change, **variables)
        done = subprocess.run([PYTHON, "-c", source], env=environment, capture_output=True, text=True, cwd=folder.name)
        found = glob.glob(os.path.join(folder.name, "*.json"))
        report = None
        if found:
            with open(found[0]) as file:
                report = json.load(file)
        return done, report

    def report(self, source, change="", **variables):
        done, report = self.run_program(source, change, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertIsNotNone(report)
        return report

    def change(self, source, change):
        return self.report(source, change)["change"]

    def test_steps_of_a_training(self):
        report = self.report(TRAINING % 40, WORLD_SIZE="2")  # to its end, however slow the machine
        self.assertEqual(report["steps"], 39)
        self.assertTrue(report["trains"])
        self.assertIsNone(report["change"])
        self.assertEqual(sum(block["steps"] for block in report["blocks"]), 39)
        self.assertEqual(list(report["losses"]), ["1", "2", "4", "8", "16", "32"])
        self.assertEqual(report["outputs"]["tensors"], ["0 float [32, 4]"])
        self.assertEqual(len(report["outputs"]["values"]), 128)

    def test_steps_of_an_inference(self):
        report = self.report(INFERENCE % 12)
        self.assertEqual(report["steps"], 11)
        self.assertFalse(report["trains"])
        self.assertEqual(report["losses"], {})

    def test_ends_once_there_are_enough_steps(self):
        done, report = self.run_program(TRAINING % 10**9)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("the end", done.stdout)
        self.assertTrue(report["is_cut"])
        self.assertGreaterEqual(len(report["blocks"]) - report["warm_up"], 5)

    def test_processes_that_belong_together_run_to_their_end(self):
        source = "import time\n" + (INFERENCE % 160).replace("model(x)", "model(x); time.sleep(0.02)")
        self.assertNotIn("the end", self.run_program(source)[0].stdout)
        done, report = self.run_program(source, WORLD_SIZE="2")
        self.assertIn("the end", done.stdout)
        self.assertFalse(report["is_cut"])

    def test_program_without_a_model(self):
        done, report = self.run_program("import torch; print(torch.ones(3).sum())")
        self.assertEqual((done.returncode, report), (0, None))

    def test_program_that_fails(self):
        done, report = self.run_program(INFERENCE % 8 + "\nraise SystemError('broken')")
        self.assertEqual(done.returncode, 1)
        self.assertIn("SystemError: broken", done.stderr)
        self.assertEqual(report["steps"], 7)

    @unittest.skipUnless(HAS_COMPILE, "torch without torch.compile")
    def test_compile(self):
        for source in (TRAINING % 30, INFERENCE % 30):
            plain, compiled = self.report(source), self.report(source, "compile")
            self.assertEqual(compiled["change"], {"name": "compile", "count": 1, "place": "Sequential", "reason": "", "detail": ""})
            for one, other in zip(plain["outputs"]["values"], compiled["outputs"]["values"]):
                self.assertAlmostEqual(one, other, places=5)

    @unittest.skipUnless(HAS_COMPILE, "torch without torch.compile")
    def test_compiled_already(self):
        source = (INFERENCE % 5).replace("x = torch.randn", "model = torch.compile(model)\nx = torch.randn")
        self.assertEqual(self.change(source, "compile")["reason"], "already")

    @unittest.skipIf(HAS_COMPILE, "torch with torch.compile")
    def test_no_compile(self):
        self.assertEqual(self.change(INFERENCE % 5, "compile")["reason"], "no_compile")

    def test_without_a_gpu(self):
        for change in ("tf32", "cuda_graph"):
            self.assertEqual(self.change(INFERENCE % 5, change)["reason"], "no_gpu", change)

    def test_a_graph_that_cannot_be_captured_is_left_to_torch_compile(self):
        """On a host without a GPU: the capture and the compiler are stand-ins."""
        source = """
import sys, torch
sys.path.insert(0, %r)
from ridgeline_profile.verify import changes
from ridgeline_worker.failures import BadSettings

class Refused:
    replays = 0
    def __init__(self, call, module): pass
    def __call__(self, x): raise BadSettings("an operation that no graph has")

class Compiled(changes.Change):
    name = "compile"
    def before_call(self, module, call):
        if not can_compile: raise BadSettings("no compiler")
        self.made(type(module).__name__)
        return lambda x: ("compiled", call(x))

changes.Graphed, changes.CompileWithGraphs = Refused, Compiled
changes._device = lambda module: torch.device("cuda")
for can_compile in (True, False):
    change = changes.Graph()
    model = torch.nn.Identity().eval()
    print([change.run(model, model, (x,), {}) for x in (1, 2)], change.facts())
""" % os.path.join(ROOT, "python")
        done = subprocess.run([PYTHON, "-c", source], capture_output=True, text=True, check=True)
        compiled, plain = done.stdout.splitlines()
        self.assertEqual(compiled, "[('compiled', 1), ('compiled', 2)] {'name': 'cuda_graph', 'count': 1, 'place': 'Identity', "
                                   "'reason': '', 'detail': ''}")
        self.assertTrue(plain.startswith("[1, 2] {'name': 'cuda_graph', 'count': 1, 'place': 'Identity', 'reason': 'refused'"), plain)

    def test_autocast(self):
        change = self.change(INFERENCE % 5, "autocast")
        self.assertEqual((change["count"], change["reason"]), (1, ""))
        within = (INFERENCE % 5).replace("torch.no_grad():", "torch.no_grad(), torch.autocast('cpu', dtype=torch.bfloat16):")
        self.assertEqual(self.change(within, "autocast")["reason"], "already")

    def test_channels_last(self):
        change = self.change(INFERENCE % 5, "channels_last")
        self.assertEqual((change["count"], change["reason"]), (1, ""))
        self.assertEqual(self.change(TRAINING % 5, "channels_last")["reason"], "no_convolution")

    def test_optimizer(self):
        change = self.change(TRAINING % 5, "fused_optimizer")
        self.assertEqual((change["count"], change["place"], change["reason"]), (1, "Adam", ""))
        self.assertEqual(self.change(INFERENCE % 5, "fused_optimizer")["reason"], "no_optimizer")
        foreach = (TRAINING % 5).replace("1e-3", "1e-3, foreach=True")
        self.assertEqual(self.change(foreach, "fused_optimizer")["reason"], "already")

    def test_loader(self):
        change = self.change(LOADING % "", "loader_workers")
        self.assertEqual((change["count"], change["reason"]), (1, ""))
        self.assertEqual(self.change(LOADING % ", num_workers=0", "loader_workers")["reason"], "given")
        self.assertEqual(self.change(INFERENCE % 5, "loader_workers")["reason"], "no_loader")
        self.assertEqual(self.change(LOADING % "", "pin_memory")["reason"], "no_gpu")


class Settling(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, os.path.join(ROOT, "python"))
        self.addCleanup(sys.path.pop, 0)

    def settled(self, times):
        from ridgeline_profile.verify import settling

        return settling.settled_from([(1, time) for time in times])

    def test_rule(self):
        from ridgeline_profile.verify import settling

        self.assertEqual(self.settled([5] * 11), 1)
        self.assertEqual(self.settled([900, 90, 80] + [5] * 12), 3)
        self.assertIsNone(self.settled([5] * 10))
        self.assertIsNone(self.settled([2.0 ** -number for number in range(20)]))
        self.assertEqual(settling.warm_up([(1, 5)] * 4), 2)
        self.assertFalse(settling.is_enough([(1, 10**7)] * 20))
        self.assertTrue(settling.is_enough([(1, 10**9)] * 20))
        self.assertTrue(settling.is_enough([(1, 3 * 10**10)] * 7))


if __name__ == "__main__":
    unittest.main()
