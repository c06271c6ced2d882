# SPDX-License-Identifier: Apache-2.0
"""Sessions of ONNX Runtime in a recorded Python program, on the CPU, with a recording library that writes a log; exit code 77 without
onnxruntime, the package onnx or a C compiler."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGES = os.path.join(ROOT, "python")
SITE = os.path.join(PACKAGES, "ridgeline_profile", "site")
JOBS = os.path.join(HERE, "session_jobs.py")
CLOCK_ERROR_US = 50

import profile_log  # noqa: E402

MODEL = """
import sys
from onnx import TensorProto, helper, save
tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8])
nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="/encoder/MatMul"),
         helper.make_node("Relu", ["y"], ["z"], name="/encoder/act/Relu")]
model = helper.make_model(helper.make_graph(nodes, "tiny graph", [tensor("x"), tensor("w")], [tensor("z")]),
                          opset_imports=[helper.make_opsetid("", 17)])
model.ir_version = 9
save(model, sys.argv[1])
"""


def interpreter():
    for python in (os.environ.get("RIDGELINE_TEST_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and shutil.which(python) and \
                subprocess.call([python, "-c", "import onnxruntime, onnx, numpy"], stderr=subprocess.DEVNULL) == 0:
            return python
    return None


PYTHON = interpreter()
COMPILER = shutil.which("cc")
if PYTHON is None or COMPILER is None:
    print("no Python with onnxruntime and onnx was found; name one in RIDGELINE_TEST_PYTHON" if PYTHON is None
          else "no C compiler was found")
    sys.exit(77)
HAS_TORCH = subprocess.call([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL) == 0


def facts(path):
    with open(path) as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file)


class Profile:
    """What one session wrote: its facts, and the events of ONNX Runtime."""

    def __init__(self, path):
        self.facts = facts(path)
        self.process = int(os.path.basename(path).split(".")[0])
        written = glob.glob(path + "_*.json")
        self.events = []
        if written and os.path.getsize(written[0]) > 0:
            with open(written[0]) as file:
                self.events = json.load(file)

    def named(self, name):
        return [event for event in self.events if event["name"] == name]


class SessionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.library = os.path.join(folder.name, "librecorder.so")
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", cls.library, os.path.join(ROOT, "tests", "fakes", "trace_recorder.c"),
                        "-lpthread"], check=True)
        cls.model = os.path.join(folder.name, "vit.onnx")
        subprocess.run([PYTHON, "-c", MODEL, cls.model], check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def job(self, name, hooked=True, code=0, site=SITE, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("RIDGELINE_", "PYTHON"))}
        environment.update(PYTHONDONTWRITEBYTECODE="1", PACKAGES=PACKAGES, **variables)
        work = tempfile.mkdtemp(dir=self.folder)
        traces = os.path.join(work, "traces")
        os.mkdir(traces)
        if hooked:
            environment.update(RIDGELINE_TRACE_LIBRARY=self.library, RECORDER_LOG=os.path.join(work, "log"), RIDGELINE_TRACE_FOLDER=traces)
            if site:
                environment["PYTHONPATH"] = site
        done = subprocess.run([PYTHON, JOBS, name, self.model], env=environment, capture_output=True, text=True, cwd=work)
        self.assertEqual(done.returncode, code, done.stderr)
        self.errors = done.stderr
        self.logs = profile_log.read(os.path.join(work, "log"))
        sessions = [path for path in glob.glob(os.path.join(traces, "*.session*")) if not path.endswith(".json")]
        self.profiles = [Profile(path) for path in sorted(sessions)]
        return done.stdout

    def same(self, name, **more):
        """What the program prints is what it prints without hooks."""
        plain = self.job(name, hooked=False, **more)
        self.assertEqual(self.job(name, **more), plain)
        for log in self.logs:
            self.assertTrue(log.balanced, name)

    def runs(self, log=0):
        return [name for name in self.logs[log].names() if name.startswith("run of ")]

    def test_runs_are_ranges_and_steps(self):
        self.same("simple")
        self.assertEqual(self.logs[0].names(), ["load vit.onnx"] + ["run of vit.onnx"] * 3)
        self.assertEqual(self.logs[0].names(kind=2), ["run of vit.onnx"] * 3)
        self.assertEqual(self.logs[0].count("step"), 3)
        profile, = self.profiles
        self.assertEqual(profile.facts["model"], "vit.onnx")
        self.assertEqual(len(profile.named("/encoder/MatMul_kernel_time")), 3)

    def test_a_model_that_cannot_be_loaded_prints_what_it_prints_without_hooks(self):
        self.same("cannot_load")
        self.assertEqual(self.errors, "")

    def test_times_of_nodes_are_within_their_runs_on_the_recorders_clock(self):
        runs = [tuple(map(int, line.split())) for line in self.job("clock").splitlines()]
        profile, = self.profiles
        start = int(profile.facts["start_ns"])
        slack = CLOCK_ERROR_US * 1000
        own = profile.named("model_run")
        self.assertEqual(len(own), len(runs))
        for (begin, end), event in zip(runs, own):
            self.assertGreaterEqual(start + event["ts"] * 1000, begin - slack)
            self.assertLessEqual(start + (event["ts"] + event["dur"]) * 1000, end + slack)
        nodes = [event for event in profile.events if event["name"].endswith("_kernel_time")]
        self.assertEqual(len(nodes), 2 * len(runs))
        for event in nodes:
            at = start + event["ts"] * 1000
            self.assertTrue(any(begin - slack <= at < end + slack for begin, end in runs))
        self.assertEqual({event["tid"] for event in nodes}, {int(self.logs[0].events[0].thread)})

    def test_two_sessions(self):
        self.same("two")
        self.assertEqual(self.runs(), ["run of vit.onnx"] * 2 + ["run of tiny graph", "run of vit.onnx"])
        self.assertEqual(self.logs[0].count("step"), 3)  # of the first session
        self.assertEqual([profile.facts["model"] for profile in self.profiles], ["vit.onnx", "tiny graph"])
        self.assertEqual([len(profile.named("model_run")) for profile in self.profiles], [3, 1])

    def test_a_session_in_a_thread(self):
        self.same("thread")
        of_runs = [int(event.thread) for event in self.logs[0].events if event.text == "run of vit.onnx"]
        self.assertEqual([event["tid"] for event in self.profiles[0].named("model_run")], of_runs)
        self.assertEqual(len(set(of_runs)), 2)

    def test_options_are_the_users_again(self):
        self.same("shared_options")
        self.assertEqual([len(profile.named("model_run")) for profile in self.profiles], [1, 1])

    def test_a_session_that_the_user_profiles_is_left_alone(self):
        self.same("users")
        self.assertEqual(self.profiles, [])
        self.assertEqual(self.runs(), ["run of vit.onnx"])

    def test_sessions_that_are_gone_before_the_end(self):
        self.same("dropped")
        self.assertEqual([len(profile.named("model_run")) for profile in self.profiles], [1, 1])

    def test_a_session_that_is_made_again(self):
        self.same("other_providers")
        self.assertEqual([len(profile.named("model_run")) for profile in self.profiles], [1, 2])

    def test_bindings(self):
        self.same("binding")
        self.assertEqual(self.runs(), ["run of vit.onnx"])

    def test_failures_have_the_programs_own_frames(self):
        self.same("failing")

    def test_children_have_sessions_of_their_own(self):
        self.same("forked")
        self.assertEqual(len(self.logs), 2)
        self.assertEqual(sorted(len(profile.named("model_run")) for profile in self.profiles), [2, 2])
        self.assertEqual(len({profile.process for profile in self.profiles}), 2)

    def test_hard_exit(self):
        self.same("hard_exit", code=3)
        self.assertEqual(len(self.profiles[0].named("model_run")), 3)
        self.assertEqual(self.logs[0].count("flush"), 1)
        self.assertEqual(self.profiles[0].facts["ended"], "1")
        self.assertLess(abs(int(self.profiles[0].facts["set_by_ns"])), CLOCK_ERROR_US * 1000)

    @unittest.skipUnless(HAS_TORCH, "torch is missing")
    def test_steps_are_those_of_torch(self):
        self.same("with_torch")
        self.assertEqual(self.logs[0].count("step"), 3)
        self.assertEqual(self.runs(), ["run of vit.onnx"] * 3)

    def test_programs_that_look_for_the_package_first(self):
        self.same("looked_for_first")
        self.assertEqual(self.runs(), ["run of vit.onnx"] * 3)

    def test_a_session_from_before_the_hooks(self):
        self.same("early", site=None)
        self.assertEqual(self.runs(), ["run of vit.onnx"] * 2)
        self.assertEqual(self.profiles, [])

    def test_a_profile_ends_before_it_is_too_large(self):
        self.job("many")
        self.assertEqual(len(self.profiles[0].named("model_run")), 4)  # of 2 + 4 events
        self.assertEqual(len(self.runs()), 12)

    def test_a_folder_that_is_gone(self):
        environment = {"RIDGELINE_TRACE_FOLDER": os.path.join(self.folder, "gone")}
        done = subprocess.run([PYTHON, JOBS, "simple", self.model], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=SITE, RIDGELINE_TRACE_LIBRARY=self.library, **environment))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class PartsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, PACKAGES)
        cls.addClassCleanup(sys.path.remove, PACKAGES)

    def test_count_of_nodes(self):
        from ridgeline_profile.onnx_nodes import count_nodes

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tiny.onnx")
            subprocess.run([PYTHON, "-c", MODEL, path], check=True)
            self.assertEqual(count_nodes(path), 2)
            with open(path, "rb") as file:
                whole = file.read()
        self.assertEqual(count_nodes(whole), 2)
        for end in range(len(whole)):
            self.assertIn(count_nodes(whole[:end]), (0, 1, 2))
        self.assertEqual(count_nodes("/nowhere.onnx"), 0)

    def test_needed_libraries(self):
        from ridgeline_profile.needed import needed_libraries

        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "one.so")
            subprocess.run([COMPILER, "-shared", "-x", "c", "/dev/null", "-o", library, "-Wl,--no-as-needed", "-lm"], check=True)
            self.assertIn("libm.so.6", needed_libraries(library))
            text = os.path.join(folder, "text.so")
            with open(text, "w") as file:
                file.write("no library")
            self.assertEqual(needed_libraries(text), [])
        self.assertEqual(needed_libraries("/nowhere.so"), [])


if __name__ == "__main__":
    unittest.main()
