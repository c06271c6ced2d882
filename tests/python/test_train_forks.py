# SPDX-License-Identifier: Apache-2.0
"""Trials of a user's function in forks of the process that has imported it (a pretended torch: tests/fakes/faketorch)."""

import os
import signal
import tempfile
import time
import unittest

from train_jobs import asked, spec, started

# Each import writes a line, and so does each trial.
HEAD = ("import os, signal, sys, threading\nwith open('imports', 'a') as file: file.write('%d %s\\n' % (os.getpid(), 'torch' in sys.modules))\n"
        "import torch\n")
BODY = ("def bench(settings):\n    with open('trials', 'a') as file: file.write('%d\\n' % os.getpid())\n    {}\n"
        "    return dict(model=torch.Module(), optimizer=torch.Optimizer(), loss=lambda a, b: torch.Tensor(),\n"
        "                loader=lambda now: [(torch.Tensor(), torch.Tensor())] * 3)\n")


def runs(process):
    try:
        with open("/proc/%d/stat" % process) as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class ForksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, left_by_import="", in_trial=""):
        child, stream = started(HEAD + left_by_import + "\n" + BODY.format(in_trial or "pass"), self.folder)
        self.addCleanup(child.wait, 20)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.kill)
        self.addCleanup(stream.close)
        return child, stream

    def lines(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read().splitlines()

    def prepare(self, stream, device="cpu", target="job.py:bench"):
        return asked(stream, {"op": "prepare", "spec": dict(spec(device=device), job={"target": target})})

    def trial(self, stream, device="cpu"):
        """What the release is answered with."""
        self.assertEqual(self.prepare(stream, device), {"ok": {}})
        self.assertEqual(len(asked(stream, {"op": "run", "steps": 2})["ok"]["steps"]), 2)
        return asked(stream, {"op": "release"})

    def wait_for_end(self, process):
        end = time.monotonic() + 10
        while runs(process) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(runs(process))

    def test_the_file_is_imported_once_and_each_trial_is_a_process(self):
        child, stream = self.start("log = open('log', 'a')")
        for device in ("cpu", "cuda:0") * 3:
            self.assertEqual(self.trial(stream, device), {"ok": {"kept": True}})
        self.assertEqual(self.lines("imports"), ["%d False" % child.pid])  # before torch, for which it may set variables
        trials = self.lines("trials")
        self.assertEqual(len(set(trials)), 6)
        self.assertNotIn(str(child.pid), trials)
        self.assertEqual(asked(stream, {"op": "close"}), {"ok": {}})
        self.assertEqual(child.wait(20), 0)

    def test_what_forks_would_share_or_lose_makes_each_trial_a_new_process(self):
        for left in ("threading.Thread(target=threading.Event().wait, daemon=True).start()", "file = open('data', 'w+')", "ends = os.pipe()",
                     "import subprocess; child = subprocess.Popen(['sleep', '60'])", "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"):
            for name in ("imports", "trials"):
                if os.path.exists(os.path.join(self.folder, name)):
                    os.remove(os.path.join(self.folder, name))
            child, stream = self.start(left)
            self.assertEqual(self.trial(stream), {"ok": {"kept": False}}, left)
            self.assertEqual(self.lines("trials"), [str(child.pid)], left)
            self.assertEqual(len(self.lines("imports")), 1)
            self.assertEqual(asked(stream, {"op": "close"}), {"ok": {}})
            self.assertEqual(child.wait(20), 0)

    def test_an_error_ends_its_trial_only(self):
        child, stream = self.start(in_trial="if not os.path.exists('once'): open('once', 'w').close(); {}['label']")
        self.assertEqual(self.prepare(stream)["error"]["type"], "KeyError")
        self.assertEqual(asked(stream, {"op": "release"}), {"ok": {"kept": True}})
        self.assertEqual(self.trial(stream), {"ok": {"kept": True}})
        self.assertEqual(len(self.lines("imports")), 1)

    def test_the_process_ends_as_a_trial_that_ends_its_process(self):
        for ending, code in (("os._exit(0)", 0), ("os._exit(64)", 64), ("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV),
                             ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL), ("os.abort()", -signal.SIGABRT)):
            child, stream = self.start(in_trial=ending)
            self.assertIsNone(self.prepare(stream), ending)
            self.assertEqual(child.wait(20), code)

    def test_what_a_trial_started_ends_with_it(self):
        child, stream = self.start(in_trial="import subprocess; left = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
                                            "    open('left', 'a').write('%d\\n' % left.pid)")
        for _ in range(2):
            self.assertEqual(self.trial(stream), {"ok": {"kept": True}})
            self.assertFalse(runs(int(self.lines("left")[-1])))

    def test_a_trial_ends_with_the_process_that_made_it(self):
        child, stream = self.start()
        self.assertEqual(self.prepare(stream), {"ok": {}})
        child.kill()
        self.wait_for_end(int(self.lines("trials")[0]))

    def test_a_file_that_cannot_be_imported_is_imported_once(self):
        for wrong, message in (("raise ValueError('no data here')", "no data here"), ("sys.exit(3)", "exit code 3")):
            child, stream = self.start(wrong)
            self.assertIn(message, self.prepare(stream)["error"]["message"])
            self.assertEqual(len([line for line in self.lines("imports") if line.startswith("%d " % child.pid)]), 1)

    def test_a_file_gets_its_command_line(self):
        _, stream = self.start("open('words', 'w').write(' '.join(sys.argv))")
        for _ in range(2):
            self.assertEqual(self.prepare(stream, target="job.py:bench -- --data 'a b' -v"), {"ok": {}})
            self.assertEqual(asked(stream, {"op": "release"}), {"ok": {"kept": True}})
        self.assertEqual(self.lines("words"), ["job.py --data a b -v"])
        self.assertEqual(len(self.lines("imports")), 1)

    def test_without_room_for_a_fork_the_process_serves_one_trial(self):
        _, stream = self.start("def refuse(): raise BlockingIOError(11, 'Resource temporarily unavailable')\nos.fork = refuse")
        self.assertEqual(self.trial(stream), {"ok": {"kept": False}})


if __name__ == "__main__":
    unittest.main()
