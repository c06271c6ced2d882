# SPDX-License-Identifier: Apache-2.0
"""benchmarks/torch_aitune.py: what its files say of AITune's runs, and AITune's import without packages; needs neither it nor torch."""

import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import torch_aitune  # noqa: E402


def build(backend, success=True, latency=None, exception=None):
    return {"backend": backend, "duration_s": 1.5, "success": success, "latency": latency, "exception": exception}


def report(*builds, selected=None, exception=None):
    graph = {"backend_builds": [build("TorchEagerBackend()"), *builds], "baseline_latency": 2.0, "selected_backend": selected, "exception": exception}
    return {"modules": [{"graphs": [graph], "exception": exception}], "exception": None}


def interval(values):
    return str(values[0])


def result(model, against_choice, against_backend, tune_s, aitune_s):
    times = {"aitune": 2.0, "aitune backend": 1.9, "pick": 1.8}
    kept = {"aitune": "0.6.0", "chosen": "TorchInductorJitBackend()", "seconds": aitune_s, "failed": None, "wrong": None, "without": {"tensorrt": "no"},
            "pick_against_choice": against_choice, "pick_against_choice_backend": against_backend}
    return {"target": f"models.py:{model}", "precision": "fp32", "tune_s": tune_s, "aitune": kept,
            "candidates": [{"name": name, "median_ms": value} for name, value in times.items()]}


class OutcomeTest(unittest.TestCase):
    def test_each_backend_has_its_time_or_its_reason(self):
        facts = {"aitune": "0.6.0", "troubles": ["Failed to validate backend(ONNXRuntimeBackend): output has NaN"]}
        choice = torch_aitune.outcome(facts, report(
            build("TorchInductorAotBackend()", False, exception={"type": "RuntimeError", "message": "no\n compiler"}),
            build("ONNXRuntimeBackend()"), build("TorchInductorJitBackend()", latency=1.0), selected="TorchInductorJitBackend()"), None)
        self.assertEqual(choice["chosen"], "TorchInductorJitBackend()")
        self.assertIsNone(choice["failed"])
        self.assertEqual([(row["latency_ms"], row["failed"]) for row in choice["backends"]], [
            (2.0, None), (None, "RuntimeError: no compiler"), (None, "Failed to validate backend(ONNXRuntimeBackend): output has NaN"), (1.0, None)])

    def test_a_run_that_was_stopped_says_where(self):
        choice = torch_aitune.outcome({}, report(build("TorchInductorAotBackend()", None)), "not done within 300 s")
        self.assertIsNone(choice["chosen"])
        self.assertEqual(choice["failed"], "not done within 300 s; the last backend: TorchInductorAotBackend()")

    def test_a_run_that_was_stopped_early_has_no_report(self):
        self.assertEqual(torch_aitune.outcome({}, {}, "not done within 1 s"), {"chosen": None, "failed": "not done within 1 s", "backends": []})

    def test_an_exception_that_aitune_swallows_is_the_reason(self):
        choice = torch_aitune.outcome({}, report(exception={"type": "RuntimeError", "message": "No correct backend found"}), None)
        self.assertEqual(choice["failed"], "RuntimeError: No correct backend found")

    def test_what_cannot_be_loaded_is_no_choice(self):
        choice = torch_aitune.outcome({"failed": "OSError: disk full"}, report(selected="TorchEagerBackend()"), "its process ended with 1")
        self.assertEqual((choice["chosen"], choice["failed"]), (None, "OSError: disk full"))


class TableTest(unittest.TestCase):
    def verdict(self, *results):
        return torch_aitune.table(list(results), interval).splitlines()[-1]

    def test_only_a_whole_interval_shows_that_a_pick_is_slower(self):
        self.assertIn("none of 1", self.verdict(result("a", [0.97, 0.95, 0.99], [1.0, 0.99, 1.01], 50, 60)))
        self.assertIn("a fp32 of 1", self.verdict(result("a", [1.1, 1.0, 1.2], [0.95, 0.94, 0.96], 50, 60)))

    def test_durations_are_compared(self):
        same = [1.0, 0.99, 1.01]
        self.assertIn("in less time: 1 of 2", self.verdict(result("a", same, same, 50, 60), result("b", same, same, 70, 60)))

    def test_a_model_without_a_choice_counts_nowhere(self):
        choice = {"seconds": 300, **torch_aitune.outcome({}, {}, "not done within 300 s")}
        self.assertEqual(torch_aitune.candidates(choice), [])
        none = result("a", None, None, 50, 300)
        none["aitune"] = torch_aitune.result_of(choice, [], {"name": "pick"}, {"name": "eager"}, None, None)
        none["candidates"] = [{"name": "pick", "median_ms": 1.8}]
        self.assertIn("none of 0; in less time: 0 of 0", self.verdict(none))
        self.assertEqual(torch_aitune.reported(none, interval), "AITune: not done within 300 s, 300 s")

    def test_results_without_aitune_have_no_table(self):
        self.assertEqual(torch_aitune.table([{"target": "models.py:a"}], interval), "")


class ImportTest(unittest.TestCase):
    def test_missing_packages_are_stood_in_for_and_told(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "aitune", "torch")
            package.mkdir(parents=True)
            (package.parent / "__init__.py").write_text("")
            (package / "__init__.py").write_text("import tensorrt as trt\n"
                                                 "import modelopt.onnx.quantization as moq\n"
                                                 "from modelopt.onnx.export import NVFP4QuantExporter\n"
                                                 "class Allocator(trt.IOutputAllocator):\n"
                                                 "    def notify(self, shape: trt.Dims): ...\n"
                                                 "LEVELS = {trt.Logger.VERBOSE: NVFP4QuantExporter.process_model(granularity=1)}\n")
            # A host that has one of them pretends that it has not.
            with unittest.mock.patch.object(sys, "path", [folder, *sys.path]), \
                    unittest.mock.patch.dict(sys.modules, tensorrt=None, modelopt=None):
                aitune, missing = torch_aitune.import_aitune()
                self.assertFalse({"tensorrt", "modelopt", "modelopt.onnx.quantization"} & set(sys.modules))
        self.assertTrue(aitune.Allocator())
        self.assertLessEqual({"tensorrt", "modelopt"}, set(missing))


if __name__ == "__main__":
    unittest.main()
