# SPDX-License-Identifier: Apache-2.0
"""`ridgeline profile --idle` and `--pid` with the torch of this host and a stand-in for CUPTI; exit code 77 without torch. RIDGELINE and
RIDGELINE_TEST_CUPTI name the program and the stand-in."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SERVICE = os.path.join(HERE, "idle_service.py")

import test_ridgeline_profile as profile  # noqa: E402

OWN_CUPTI = subprocess.call([profile.PYTHON, "-c", "import sys, torch; sys.exit(torch.version.cuda is not None)"]) != 0
if OWN_CUPTI or not (os.environ.get("RIDGELINE") and os.environ.get("RIDGELINE_TEST_CUPTI")):
    print("the torch has a CUPTI of its own" if OWN_CUPTI else "no program was named")
    sys.exit(77)


class IdleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CUDA_INJECT", "NVTX_INJECT"))}
        self.environment.update(XDG_RUNTIME_DIR=self.folder, PYTHONDONTWRITEBYTECODE="1")

    def start(self, *arguments):
        service = subprocess.Popen([os.environ["RIDGELINE"], "profile", "--idle", "--", profile.PYTHON, SERVICE, *arguments],
                                   env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(service.wait)
        self.addCleanup(service.kill)
        for stream in (service.stdin, service.stdout):
            self.addCleanup(stream.close)
        line = service.stdout.readline().split()
        self.assertEqual(line[:1], ["ready"])
        return service, line[1:]

    def ridgeline(self, *arguments, code=0):
        done = subprocess.run([os.environ["RIDGELINE"], *arguments], env=self.environment, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def record(self, service, *options):
        self.ridgeline("profile", "--db", "r.db", "--pid", str(service.pid), *options)
        return json.loads(self.ridgeline("show", "--db", "r.db", "--json").stdout)

    def end(self, service):
        service.stdin.close()
        self.assertEqual(service.stdout.read(), "[]\n")  # nothing of torch is changed any more
        self.assertEqual(service.wait(), 5)

    def check_attribution(self, run):
        """Kernels of recorded steps belong to the modules that launched them, and no part of a step is taken for a model of its own."""
        modules = [row for row in run["tables"]["modules"] if row["kind"] == "module"]
        outermost = {row["name"] for row in modules if "/" not in row["path"]}
        self.assertLessEqual(outermost, {"Model", "(backward)", "Optimizer.step#SGD.step"})
        kernels = {row["name"]: row["kernels"] for row in modules}
        blocks = [kernels.get("%d (Block)" % number, 0) for number in range(3)]
        self.assertLessEqual(max(blocks), min(blocks) + 1, kernels)  # a call is cut off where the recording ends
        steps = run["tables"]["steps"]
        self.assertGreater(len(steps), 2)
        self.assertLessEqual(abs(max(blocks) - len(steps)), 1)
        self.assertGreater(min(step["duration_ns"] for step in steps), 15_000_000)

    def test_a_training_is_recorded_twice(self):
        service, _ = self.start("training")
        for _ in range(2):
            run = self.record(service, "--duration", "600ms")
            self.check_attribution(run)
            self.assertEqual(run["request"]["command"][1:], [SERVICE, "training"])
        self.assertEqual(len(self.ridgeline("history", "--db", "r.db", "--ids").stdout.split()), 2)
        self.end(service)

    def test_steps_of_an_inference(self):
        service, _ = self.start("inference")
        run = self.record(service, "--steps", "4", "--warmup-steps", "1")
        self.check_attribution(run)
        self.assertEqual(len(run["tables"]["steps"]), 4)
        kernels = {row["name"]: row["calls"] for row in run["tables"]["kernels"]}
        self.assertEqual(kernels, {"block": 12, "stem": 4})
        self.end(service)

    def test_lines(self):
        service, _ = self.start("inference")
        for _ in range(2):
            run = self.record(service, "--steps", "3", "--lines")
            self.assertEqual(sorted(row["kernels"] for row in run["tables"]["lines"]), [12], run["tables"]["lines"])  # the line of launch()
        self.end(service)

    def test_a_child_of_a_fork_is_refused(self):
        service, (child, ) = self.start("inference", "--fork")
        done = self.ridgeline("profile", "--pid", child, code=2)
        self.assertIn("its parent %d has a recorder" % service.pid, done.stderr)
        self.assertGreater(len(self.record(service, "--duration", "300ms")["tables"]["steps"]), 2)
        self.end(service)

    def test_ctrl_c_ends_the_recording_and_not_the_program(self):
        service, _ = self.start("inference")
        recording = subprocess.Popen([os.environ["RIDGELINE"], "profile", "--db", "r.db", "--pid", str(service.pid), "--duration", "60s"],
                                     env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        time.sleep(1.5)
        recording.send_signal(signal.SIGINT)
        shown, errors = recording.communicate(timeout=60)
        self.assertEqual(recording.returncode, 130, errors)
        self.assertIn("ridgeline show", shown)
        self.assertGreater(len(self.record(service, "--duration", "300ms")["tables"]["steps"]), 2)
        self.end(service)


if __name__ == "__main__":
    unittest.main()
