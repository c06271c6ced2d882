# SPDX-License-Identifier: Apache-2.0
"""The package ridgeline_profile on the CPU, with the torch of this host and a recording library that writes a log; exit code 77 without
torch or without a C compiler."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SITE = os.path.join(ROOT, "python", "ridgeline_profile", "site")
JOBS = os.path.join(HERE, "profile_jobs.py")
RIGHT = 0.99  # of the marks

import profile_log  # noqa: E402


def interpreter_with_torch():
    for python in (os.environ.get("RIDGELINE_TEST_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and shutil.which(python) and subprocess.call([python, "-c", "import torch"], stderr=subprocess.DEVNULL) == 0:
            return python
    return None


PYTHON = interpreter_with_torch()
COMPILER = shutil.which("cc")
if PYTHON is None or COMPILER is None:
    print("no Python with torch was found; apt-get install python3-torch, or name one in RIDGELINE_TEST_PYTHON"
          if PYTHON is None else "no C compiler was found")
    sys.exit(77)


def has(*modules):
    return subprocess.call([PYTHON, "-c", "import torch, " + ", ".join(modules)], stderr=subprocess.DEVNULL) == 0


NEW_TORCH = subprocess.call([PYTHON, "-c", "import torch; torch.compile; torch.compiler.is_compiling"], stderr=subprocess.DEVNULL) == 0
NEW_PYTHON = subprocess.call([PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]) == 0


JOINED = """
import torch
from ridgeline_profile import steps
begun = []
steps.install(lambda: begun.append(1))
steps.joins_a_program()
model = torch.nn.Linear(2, 2)
for _ in range(20):
    steps.model_called(model)
print(len(begun))
with torch.no_grad():
    steps.model_called(model)
print(len(begun))
steps.optimizer_stepped(torch.optim.SGD(model.parameters(), 0.1))
steps.model_called(model)
print(len(begun))
"""


class StepsOfAProgramThatRanBefore(unittest.TestCase):
    def test_calls_count_once_no_optimizer_has_made_a_step_for_long(self):
        done = subprocess.run([PYTHON, "-c", JOINED], env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}, stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.stdout.split(), ["4", "5", "6"])  # the last one is the optimizer's


class Profiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.library = os.path.join(folder.name, "librecorder.so")
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", cls.library, os.path.join(ROOT, "tests", "fakes", "trace_recorder.c"),
                        "-lpthread"], check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.logs = []

    def python(self, *arguments, hooked=True, path=(), library=None):
        """Runs Python; with hooks, self.logs is what was recorded."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("RIDGELINE_", "PYTHON"))}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        places = list(path)
        log = os.path.join(tempfile.mkdtemp(dir=self.folder), "log")
        if hooked:
            environment.update(RIDGELINE_TRACE_LIBRARY=library or self.library, RECORDER_LOG=log)
            places.insert(0, SITE)
        if places:
            environment["PYTHONPATH"] = os.pathsep.join(places)
        done = subprocess.run([PYTHON, *arguments], env=environment, capture_output=True, text=True, cwd=self.folder)
        self.logs = profile_log.read(log)
        return done

    def job(self, name, **more):
        done = self.python(JOBS, name, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        for log in self.logs:
            self.assertTrue(log.balanced, name)
        return done.stdout

    def same(self, name):
        """What the program prints is what it prints without hooks."""
        with_hooks = self.job(name)
        logs = self.logs
        self.assertEqual(with_hooks, self.job(name, hooked=False))
        self.logs = logs
        return with_hooks

    def marks(self, name):
        self.job(name)
        self.assertEqual(len(self.logs), 1)
        return self.logs[0].marks()

    def assert_right(self, marks, least):
        for which in ("forward", "backward"):
            of_pass = [mark for mark in marks if mark[0] == which]
            wrong = [mark for mark in of_pass if mark[1] != mark[2] or (which == "backward" and not mark[3])]
            self.assertGreater(len(of_pass), least)
            if "RIDGELINE_TEST_SHOW" in os.environ:
                print(which, len(of_pass), len(wrong), wrong)
            self.assertGreaterEqual(1 - len(wrong) / len(of_pass), RIGHT, wrong[:20])


class ModulesTest(Profiled):
    def test_programs_recurse_as_deep_as_without_hooks(self):
        self.same("recurses")

    def test_leaves_of_both_passes(self):
        marks = self.marks("leaves")
        self.assertEqual([mark for mark in marks if mark[1] != mark[2]], [])
        self.assertEqual([mark for mark in marks if mark[3] != (mark[0] == "backward")], [])
        self.assertEqual(sum(mark[0] == "backward" for mark in marks), 3 * 9)
        self.assertEqual(self.logs[0].names(kind=1), ["(backward)"] * 3)

    def test_checkpoints(self):
        marks = self.marks("checkpoints")
        self.assertEqual([mark for mark in marks if mark[1] != mark[2].replace("tree.", "")], [])
        self.assertEqual(sum(mark[0] == "forward" and mark[3] for mark in marks), 2 * 6)  # computed again
        self.assertEqual(sum(mark[0] == "backward" for mark in marks), 2 * 6)
        self.assertEqual(self.logs[0].names(kind=1), ["(backward)"] * 2)

    def test_threads_of_autograd(self):
        marks = [mark for mark in self.marks("deep") if mark[0] == "backward"]
        self.assertEqual(len(marks), 2 * 2 * 151)
        self.assertEqual([mark for mark in marks if mark[1] != mark[2].rpartition(".")[2] or not mark[3]], [])
        self.assertGreater(len({event.thread for event in self.logs[0].events}), 1)

    @unittest.skipUnless(NEW_TORCH and has("torchvision"), "torchvision is missing")
    def test_resnet(self):
        self.assert_right(self.marks("resnet"), 400)

    @unittest.skipUnless(NEW_TORCH and has("torchvision"), "torchvision is missing")
    def test_vit(self):
        self.assert_right(self.marks("vit"), 200)

    @unittest.skipUnless(NEW_TORCH and has("transformers"), "transformers is missing")
    def test_gpt2(self):
        self.assert_right(self.marks("gpt2"), 100)

    def test_names(self):
        self.job("inference")
        names = self.logs[0].names(kind=2)
        self.assertEqual(names[1:10], ["nn.Module: Net", "nn.Module: blocks.0 (Block)", "nn.Module: first (Linear)",
                                       "nn.Module: second (Linear)", "nn.Module: blocks.1 (Block)", "nn.Module: first (Linear)",
                                       "nn.Module: second (Linear)", "nn.Module: head (Linear)", "profile_jobs.py(%s): inference"
                                       % re.search(r"\((\d+)\)", names[9]).group(1)])
        self.assertRegex(names[0], r"^profile_jobs\.py\(\d+\): inference$")

    def test_lines_that_call_modules(self):
        self.job("inference")
        lines = self.logs[0].lines()
        self.assertNotIn("Net", lines)  # a range around it has the line
        for module, function in (("blocks.0 (Block)", "forward"), ("first (Linear)", "forward"), ("head (Linear)", "forward")):
            self.assertRegex(lines[module], r"^profile_jobs\.py\(\d+\): %s$" % function)
        self.assertEqual(lines["blocks.0 (Block)"], lines["blocks.1 (Block)"])
        self.assertNotEqual(lines["blocks.0 (Block)"], lines["head (Linear)"])

    def test_modules_of_one_class(self):
        self.job("alike")
        names = [name for name in self.logs[0].names(kind=2) if name.startswith("nn.Module: ") and "." not in name.split(" (")[0][11:]]
        outermost = [name for name in names if name.startswith(("nn.Module: Net", "nn.Module: ReLU"))]
        self.assertEqual(outermost, ["nn.Module: Net", "nn.Module: Net (2)", "nn.Module: ReLU"] * 2)

    def test_lines_that_wait(self):
        self.same("waits")
        names = self.logs[0].names(kind=2)
        self.assertEqual(len(names), 7, names)  # not of the tensor of the host
        for name in names:
            self.assertRegex(name, r"^profile_jobs\.py\(\d+\): waits$")

    def test_the_profilers_api(self):
        done = self.python(JOBS, "profiler_api")
        if done.returncode == 78:
            self.skipTest("torch without CUDA")
        self.assertEqual([event.text for event in self.logs[0].events if event.what == "profiler"][:1], ["starts"])

    def test_threads(self):
        self.assertEqual([mark for mark in self.marks("threads") if mark[1] != mark[2]], [])

    def test_double_backward(self):
        self.same("double_backward")
        self.assertEqual(self.logs[0].names(kind=1), ["(backward)"] * 5)

    def test_nothing_is_kept_alive(self):
        self.assertNotIn("False", self.same("leaks"))


class StepsTest(Profiled):
    def test_training(self):
        self.same("training")
        log, = self.logs
        self.assertEqual(log.count("step"), 4)
        annotations = log.names(kind=1)
        for name, calls in (("DataLoader next", 5), ("Optimizer.step#AdamW.step", 4), ("Optimizer.step#Own.step", 5), ("(backward)", 4)):
            self.assertEqual(annotations.count(name), calls, name)

    def test_inference(self):
        self.assertEqual(self.same("inference"), "refused\n")
        self.assertEqual(self.logs[0].count("step"), 7)
        self.assertEqual(self.logs[0].names(kind=1), [])


    def test_capture(self):
        self.same("capture")
        self.assertEqual(self.logs[0].names(kind=1), ["CUDA graph capture"])


class UnchangedTest(Profiled):
    def test_models(self):
        self.same("unaffected")

    def test_script_and_trace(self):
        self.same("script")

    def test_onnx(self):
        self.same("onnx")

    @unittest.skipUnless(NEW_TORCH, "torch without a compiler")
    def test_export(self):
        self.same("export")

    @unittest.skipUnless(NEW_TORCH, "torch without a compiler")
    def test_compiled(self):
        self.same("compiled")
        names = self.logs[0].names(kind=2)
        self.assertIn("nn.Module: Net [compiled]", names)
        self.assertIn("nn.Module: blocks.1 (Block) [compiled]", names)

    @unittest.skipUnless(NEW_TORCH and has("torchvision", "transformers"), "torchvision or transformers is missing")
    def test_compiled_models(self):
        self.same("compiled_models")

    def test_processes(self):
        text = self.same("processes")
        self.assertIn("fork 0", text)
        self.assertIn("spawn 0", text)
        self.assertEqual(len(self.logs), 3)  # workers of data loaders have nothing to record
        for log in self.logs:
            self.assertEqual(log.count("start"), 1)
            self.assertIn("nn.Module: Net", log.names())

    @unittest.skipUnless(NEW_TORCH, "with older ones the hooks have a frame")
    def test_warnings(self):
        self.assertEqual(self.python(JOBS, "warns").stderr, self.python(JOBS, "warns", hooked=False).stderr)

    @unittest.skipUnless(NEW_PYTHON, "tracebacks of older Pythons have the frames of the hooks")
    def test_tracebacks(self):
        for name in ("fails", "fails_backward", "fails_step"):
            done = self.python(JOBS, name)
            self.assertTrue(self.logs[0].balanced)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, self.python(JOBS, name, hooked=False).stderr)

    def test_exit_code(self):
        self.assertEqual(self.python(JOBS, "leaves_with_code").returncode, 7)


class SiteTest(Profiled):
    def own(self, text):
        folder = tempfile.mkdtemp(dir=self.folder)
        with open(os.path.join(folder, "sitecustomize.py"), "w") as file:
            file.write(text)
        return folder

    def printed(self, code, **more):
        done = self.python("-c", code, **more)
        return done.returncode, done.stdout, done.stderr

    def test_the_users_sitecustomize(self):
        code = "import sys, sitecustomize; print(sitecustomize.__file__, sitecustomize.mark, [p for p in sys.path if 'ridgeline' in p])"
        folder = self.own("import sys\nmark = 5\nprint('own', __name__, __spec__.name, sys.modules[__name__].__file__)\n")
        self.assertEqual(self.printed(code, path=[folder]), self.printed(code, path=[folder], hooked=False))
        for text in ("raise ValueError('broken')", "import not_there", "syntax error"):
            folder = self.own(text)
            code = "import sys; print('sitecustomize' in sys.modules)"
            self.assertEqual(self.printed(code, path=[folder]), self.printed(code, path=[folder], hooked=False))

    def test_without_one(self):
        code = "import sys; print('sitecustomize' in sys.modules and sys.modules['sitecustomize'].__file__)"
        self.assertEqual(self.printed(code), self.printed(code, hooked=False))

    def test_programs_without_torch(self):
        code = "import sys; print(sorted(name for name in sys.modules if 'torch' in name or name in ('ctypes', 'ast')))"
        self.assertEqual(self.printed(code), (0, "[]\n", ""))
        self.assertEqual(self.logs, [])

    def test_isolated_interpreters(self):
        for flag in ("-I", "-S", "-E"):
            done = self.python(flag, "-c", "import sys; print('ridgeline_profile' in sys.modules)")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False\n", ""))

    def test_the_loader_of_torch_is_as_it_was(self):
        code = ("import sys, torch; print(type(torch.__spec__.loader), vars(torch.__spec__.loader), torch.__loader__, "
                "[type(finder) for finder in sys.meta_path if getattr(finder, 'name', '') != 'onnxruntime'][:1])")
        clean = [re.sub(r"0x\w+", "", str(self.printed(code, hooked=hooked))) for hooked in (True, False)]
        self.assertEqual(*clean)

    @unittest.skipUnless(NEW_PYTHON, "tracebacks of older Pythons have the frames of the hooks")
    def test_a_torch_that_cannot_be_imported_fails_as_without(self):
        os.makedirs(os.path.join(self.folder, "stub"))
        with open(os.path.join(self.folder, "stub", "torch.py"), "w") as file:
            file.write("raise ImportError('no libcudart')\n")
        with_hooks, without = (self.python("-c", "import torch", path=[os.path.join(self.folder, "stub")], hooked=hooked)
                               for hooked in (True, False))
        self.assertEqual(with_hooks.stderr, without.stderr)
        self.assertEqual(with_hooks.returncode, without.returncode)

    def test_what_ends_without_exit_handlers_is_written_before(self):
        model = "import torch, os; m = torch.nn.Linear(2, 2); m(torch.ones(1, 2)); "
        for ending, code in (("os._exit(3)", 3), ("os.execvp('sh', ['sh', '-c', 'exit 4'])", 4)):
            self.assertEqual(self.python("-c", model + ending).returncode, code)
            events = [event.what for event in self.logs[0].events]
            self.assertEqual(events[-1], "flush", ending)
        interrupted = self.python("-c", model + "raise KeyboardInterrupt")
        self.assertEqual(interrupted.returncode, -2)
        self.assertEqual(self.logs[0].events[-1].what, "flush")

    def test_a_library_that_cannot_be_loaded(self):
        code = "import torch; print(torch.nn.Linear(2, 2)(torch.ones(1, 2)).shape)"
        self.assertEqual(self.printed(code, library="/nowhere.so"), self.printed(code, hooked=False))


if __name__ == "__main__":
    unittest.main()
