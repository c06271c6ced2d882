# SPDX-License-Identifier: Apache-2.0
"""Python lines of calls of CUDA (`profile --lines`), with the torch of this host; exit code 77 without torch or without compilers. The
recording as a whole is tested where RIDGELINE and RIDGELINE_TEST_CUPTI name the program and the stand-in for CUPTI."""
import json
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
INJECT = os.path.join(ROOT, "plugins", "inject")
JOBS = os.path.join(HERE, "line_jobs.py")
RECORDED = os.path.join(HERE, "recorded_lines.py")

import test_ridgeline_profile as profile  # noqa: E402

CXX = shutil.which("c++")
if CXX is None:
    print("no C++ compiler was found")
    sys.exit(77)


class LinesTest(profile.Profiled):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = os.path.dirname(cls.library)
        recorder = os.path.join(folder, "recorder.o")
        subprocess.run([profile.COMPILER, "-c", "-fPIC", "-o", recorder, os.path.join(ROOT, "tests", "fakes", "trace_recorder.c")], check=True)
        cls.library = os.path.join(folder, "liblines.so")
        sources = [os.path.join(INJECT, name + ".cpp") for name in ("launch_lines", "python_stack", "python_lines")]
        subprocess.run([CXX, "-std=c++20", "-O1", "-shared", "-fPIC", "-I", INJECT, "-o", cls.library, recorder, *sources, "-lpthread"], check=True)

    def right(self, name, least):
        """Every line that is read is the one that runs."""
        lines = self.line_job(name)
        self.assertEqual([line for line in lines if line.startswith("wrong")], [])
        self.assertGreaterEqual(lines.count("right"), least)
        return lines

    def line_job(self, name, **more):
        done = self.python("-W", "ignore", JOBS, name, options="max_bytes=1;lines=1", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def python(self, *arguments, options="", **more):
        with_options = ["-c", "import os, sys; os.environ['RIDGELINE_TRACE_OPTIONS'] = sys.argv[1]; os.execv(sys.executable, "
                        "[sys.executable, *sys.argv[2:]])", options] if options else []
        return super().python(*with_options, *arguments, **more)

    def test_functions(self):
        self.right("functions", 13)

    def test_modules(self):
        self.right("modules", 7)

    def test_generators_and_coroutines(self):
        self.right("generators", 16)

    def test_exceptions_and_deep_recursion(self):
        self.right("exceptions", 26)

    def test_threads(self):
        self.right("threads", 1604)

    def test_code_that_is_made_and_freed(self):
        self.right("made_code", 3002)

    def test_libraries(self):
        self.right("libraries", 2)

    def test_backward(self):
        self.right("backward", 2)

    def test_children(self):
        self.right("forks", 2)

    def test_debuggers_see_the_same(self):
        self.assertEqual(self.right("traced", 4), self.line_job("traced", hooked=False))

    @unittest.skipUnless(profile.NEW_TORCH, "torch without a compiler")
    def test_compiled_code_has_the_line_that_calls_it(self):
        lines = self.right("compiled", 7)
        self.assertEqual(lines, self.line_job("compiled", hooked=False))
        self.assertEqual(lines.count("graph"), 6)  # as many breaks as without

    def test_without_the_option(self):
        self.assertIn("wrong: , not line_jobs.py", self.python(JOBS, "functions").stdout)

    def test_an_interpreter_that_is_not_known(self):
        code = ("import sys; sys.path.insert(0, %r); import ridgeline_profile.python_layout as layout; assert layout.find() is not None; "
                "layout._FRAMES = {sys.version_info[:2]: [(8 * a, 8 * b, 0, 8, 56, 0) for a in range(40) for b in range(-1, 20)]}; "
                "print(layout.find() is None or layout.find().thread_frame > 0)" % os.path.join(ROOT, "python"))
        done = self.python("-c", code, hooked=False)
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)


OWN_CUPTI = subprocess.call([profile.PYTHON, "-c", "import sys, torch; sys.exit(torch.version.cuda is not None)"]) != 0


@unittest.skipIf(OWN_CUPTI, "the torch has a CUPTI of its own")
@unittest.skipUnless(os.environ.get("RIDGELINE") and os.environ.get("RIDGELINE_TEST_CUPTI"), "without the program")
class RecordedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def ridgeline(self, *arguments, code=0):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CUDA_INJECT", "NVTX_INJECT"))}
        done = subprocess.run([os.environ["RIDGELINE"], *arguments], env=environment, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def line_of(self, comment):
        with open(RECORDED) as file:
            return next(number for number, line in enumerate(file, 1) if line.endswith("# %s\n" % comment))

    def record(self, *options):
        done = self.ridgeline("profile", "--db", "r.db", "--counters", "none", *options, "--", profile.PYTHON, RECORDED)
        self.assertRegex(done.stdout, "^done\n")
        return done, json.loads(self.ridgeline("show", "--db", "r.db", "--json").stdout)

    def test_lines(self):
        _, run = self.record("--lines")
        lines = {row["line"]: row for row in run["tables"]["lines"]}
        expected = {"softmax": ("forward", 6), "helper": ("helper", 6), "loop": ("train", 3), "thread": ("work", 5)}
        for comment, (function, kernels) in expected.items():
            text = "recorded_lines.py(%d): %s" % (self.line_of(comment), function)
            self.assertIn(text, lines)
            self.assertEqual(lines[text]["kernels"], kernels, comment)
        self.assertEqual(len(lines), len(expected))
        kernels = {row["name"]: row["line"] for row in run["tables"]["kernels"]}
        self.assertEqual(kernels["softmax"], "recorded_lines.py(%d): forward" % self.line_of("softmax"))
        self.assertEqual(kernels["add"], "")  # of two lines
        shown = self.ridgeline("show", "--db", "r.db", "--all").stdout
        self.assertRegex(shown, r"recorded_lines\.py\(%d\) +│ helper +│ +6 │" % self.line_of("helper"))
        self.ridgeline("profile", "--db", "r.db", "--counters", "none", "--lines", "--csv", "tables", "--", profile.PYTHON, RECORDED)
        with open(os.path.join(self.folder, "tables", "lines.csv")) as file:
            self.assertIn("recorded_lines.py(%d): train,3,0," % self.line_of("loop"), file.read())

    def test_without_the_option(self):
        _, run = self.record()
        # Only those that call a module are known.
        self.assertEqual([re.sub(r".*: ", "", row["line"]) for row in run["tables"]["lines"]], ["train"])


if __name__ == "__main__":
    unittest.main()
