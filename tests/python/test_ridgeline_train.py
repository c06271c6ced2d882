# SPDX-License-Identifier: Apache-2.0
"""The package ridgeline_train against a pretended torch (tests/fakes/faketorch)."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

from train_jobs import FAKE, ROOT, Samples, asked, made, pair, spec, started

import torch  # noqa: E402  the pretended one
from torch.utils.data import DataLoader  # noqa: E402

from ridgeline_train import transforms  # noqa: E402
from ridgeline_worker.failures import BadSettings, UserError, WrongLoader, facts_of  # noqa: E402
from ridgeline_train.trial import Trial  # noqa: E402


class TrialTest(unittest.TestCase):
    def setUp(self):
        del torch.calls[:]

    def test_phases_are_read_from_events_after_one_wait_at_each_end(self):
        trial = Trial(made, spec())
        del torch.calls[:]
        window = trial.run(5)
        self.assertEqual(len(window["steps"]), 5)
        for io_wait, h2d, forward, backward, optimizer, rest, wall in window["steps"]:
            self.assertEqual((io_wait, h2d, forward, backward, optimizer, rest), (0, 2, 2, 4, 1, 0))
            self.assertEqual(wall, 9)
        self.assertEqual(torch.calls.count(("synchronize",)), 2)
        self.assertEqual(torch.calls[0], ("synchronize",))
        self.assertEqual(torch.calls[-1], ("synchronize",))

    def test_the_loader_starts_again_at_its_end(self):
        self.assertEqual(len(Trial(made, spec()).run(10)["steps"]), 10)

    def test_data_on_the_device_is_not_copied_in_a_step(self):
        trial = Trial(made, spec("device"))
        self.assertEqual([row[1] for row in trial.run(3)["steps"]], [0, 0, 0])
        host = Trial(made, spec("host", pin_memory=True))
        del torch.calls[:]
        self.assertEqual(host.run(1)["steps"][0][1], 2)
        self.assertIn(("to", "cuda:0", True), torch.calls)

    def test_the_loader_alone_needs_no_model(self):
        trial = Trial(lambda settings: dict(loader=lambda now: [1, 2]), spec("loader_only"))
        self.assertEqual(sum(trial.run(2)["steps"][0][1:5]), 0)

    def test_amp_is_what_was_asked_for(self):
        Trial(made, spec(amp="bf16")).run(1)
        self.assertIn(("autocast", "cuda", "bfloat16"), torch.calls)
        self.assertNotIn(("scaler", "cuda"), torch.calls)
        Trial(made, spec(amp="fp16")).run(1)
        self.assertIn(("autocast", "cuda", "float16"), torch.calls)
        self.assertIn(("scaler", "cuda"), torch.calls)
        self.assertIn(("update",), torch.calls)
        with self.assertRaises(BadSettings):
            Trial(made, spec(amp="fp16", device="cpu"))

    def test_resources_count_since_the_reset(self):
        trial = Trial(made, spec())
        torch.stats["num_alloc_retries"] = 5
        trial.reset()
        torch.stats["num_alloc_retries"] = 7
        trial.run(2)
        resources = trial.resources()
        self.assertEqual(resources["alloc_retries"], 2)
        self.assertEqual(resources["peak_reserved_gb"], 4)
        self.assertEqual(resources["device_capacity_gb"], 80)
        self.assertEqual(resources["last_loss"], 1.0)
        self.assertIn("loader_cpu_s", resources)

    def test_the_busy_share_is_of_a_step_that_was_launched_beforehand(self):
        trial = Trial(made, spec("device"))
        trial.reset()
        trial.run(4)
        trial.timed_wall = 4 * 0.014  # kernels take 7 ms of each step
        del torch.calls[:]
        self.assertAlmostEqual(trial.resources()["gpu_busy"], 0.5)
        self.assertEqual(torch.calls[:2], [("synchronize",), ("sleep", 42000000)])
        try:
            torch.needed_cycles = 100000000
            self.assertAlmostEqual(trial.gpu_busy(), 0.5)
            torch.needed_cycles = 10**10
            self.assertIsNone(trial.gpu_busy())
        finally:
            torch.needed_cycles = 0
        loading = Trial(made, spec())
        loading.reset()
        loading.run(2)
        self.assertNotIn("gpu_busy", loading.resources())

    def test_a_loss_that_is_no_number_is_told(self):
        trial = Trial(lambda now: made(now, loss=lambda a, b: torch.Tensor(value=float("nan"))), spec())
        trial.reset()
        trial.run(1)
        resources = trial.resources()
        self.assertTrue(resources["loss_not_finite"])
        self.assertNotIn("last_loss", resources)

    def test_what_the_function_lacks_is_named(self):
        for gone, text in (("model", "no model"), ("optimizer", "no optimizer"), ("loss", "neither a loss"), ("loader", "neither a loader")):
            with self.assertRaisesRegex(UserError, text):
                Trial(lambda now: made(now, **{gone: None}), spec())

    def test_other_forms_of_results_and_batches(self):
        forward = lambda model, batch: torch.Tensor()  # noqa: E731
        Trial(lambda now: made(now, loss=None, forward=forward, loader=lambda now: [{"a": torch.Tensor(), "b": [torch.Tensor()]}]), spec()).run(2)
        Trial(lambda now: made(now, optimizer=lambda model: torch.Optimizer()), spec()).run(1)

        def generator(settings):
            yield made(settings)

        Trial(generator, spec()).run(1)
        with self.assertRaisesRegex(UserError, "pairs"):
            Trial(lambda now: made(now, loader=lambda now: [torch.Tensor()]), spec()).run(1)

    def test_a_result_of_another_form_is_named(self):
        for result, text in ((3, r"^x:y returned 3 \(int\); expected a dict with model"), (None, "^x:y returned None; expected a dict"),
                             (torch.Module(), "^x:y returned a value of type Module; expected a dict"),
                             (dict(), "^x:y returned a dict with neither a loader nor a dataset; expected"),
                             (dict(samples=8, loader=lambda now: []), r"samples = 8 \(int\); expected a function samples\(batch\)")):
            with self.assertRaisesRegex(UserError, text):
                Trial(lambda now: result, spec())
        with self.assertRaisesRegex(UserError, "^x:y returned None"):
            Trial(lambda now: iter(()), spec())

    def test_an_unknown_key_is_a_slip(self):
        with self.assertRaisesRegex(UserError, "^x:y returned a dict with the unknown key 'laoder', did you mean 'loader'\\?; known are model,"):
            Trial(lambda now: dict(made(now, loader=None), laoder=[]), spec())
        with self.assertRaisesRegex(UserError, "unknown key 'colour'; known are"):
            Trial(lambda now: made(now, colour=1), spec())
        mistake = types.SimpleNamespace(**dict(made(None, loader=None), laoder=[]))
        with self.assertRaisesRegex(UserError, "'laoder', did you mean 'loader'"):
            Trial(lambda now: mistake, spec())
        Trial(lambda now: types.SimpleNamespace(colour=1, losses=2, **made(None)), spec()).run(1)

    def test_an_empty_loader_is_refused(self):
        for data in ("loader", "device"):
            with self.assertRaisesRegex(BadSettings, "smaller than that"):
                Trial(lambda now: made(now, loader=lambda now: []), spec(data)).run(1)

    def test_the_settings_reach_the_function(self):
        seen = []
        Trial(lambda now: seen.append(now) or made(now), spec(batch=64, workers=2)).run(1)
        self.assertEqual((seen[0].batch, seen[0].workers, seen[0].seed, seen[0].options), (64, 2, 3, {"depth": "3"}))


class Loader:
    """With a DataLoader's own account of itself."""

    def __init__(self, found, **account):
        self.found = found
        self.__dict__.update(account)

    def __iter__(self):
        return iter(self.found)


class BatchSizeTest(unittest.TestCase):
    def trial(self, loader, data="loader", batch=8, workers=0, **changes):
        return Trial(lambda now: made(now, loader=lambda again: loader, **changes), spec(data, batch=batch, workers=workers))

    def refusal(self, loader, kind=WrongLoader, data="loader", **settings):
        with self.assertRaises(kind) as raised:
            self.trial(loader, data, **settings).run(6)
        return str(raised.exception)

    def test_whole_batches_are_reported(self):
        for found in (pair(8), pair(8, 3, 32, 32), {"a": torch.Tensor(shape=(8, 5))}, [torch.Tensor(shape=(8,))],
                      ([torch.Tensor(shape=(3, 40 + i)) for i in range(8)], [{"box": torch.Tensor(shape=(i, 4))} for i in range(8)])):
            trial = self.trial([found] * 4, loss=None, forward=lambda model, batch: torch.Tensor())
            self.assertEqual(trial.run(6)["samples"], 48)
            self.assertNotIn("notes", self.resources(trial))

    def resources(self, trial):
        trial.reset()
        return trial.resources()

    def test_a_loader_that_ignores_the_batch_is_refused(self):
        for data in ("loader", "loader_only", "host", "device"):
            for found in ([pair(8)] * 50, Loader([pair(8)] * 50), Loader([pair(8)] * 50, batch_size=8, num_workers=0)):
                text = self.refusal(found, data=data, batch=512)
                self.assertRegex(text, "of 8 samples where settings.batch is 512: pass settings.batch to the DataLoader as batch_size")
        self.assertIn("a batch of 16 samples where settings.batch is 8", self.refusal([pair(16)]))
        self.assertIn("a batch of 5 samples", self.refusal([pair(8), pair(5), pair(8), pair(5), pair(8)]))

    def test_the_last_smaller_batch_of_an_epoch_is_left_out(self):
        seen = []
        trial = self.trial([pair(8), pair(8), pair(3)], loss=None,
                           forward=lambda model, batch: seen.append(batch[0].shape[0]) or torch.Tensor())
        window = trial.run(7)
        self.assertEqual(seen, [8] * 7)
        self.assertEqual((len(window["steps"]), window["samples"]), (7, 56))
        # Every worker of an iterable data set ends with one.
        ends = Loader([pair(8), pair(2), pair(8), pair(1)], num_workers=2)
        self.assertEqual(self.trial(ends, workers=2).run(6)["samples"], 48)

    def test_a_data_set_smaller_than_a_batch_is_told(self):
        text = self.refusal(Loader([pair(5)], batch_size=8, num_workers=0, dataset=range(5)), BadSettings)
        self.assertEqual(text, "the loader gave a batch of 5 samples and no full one of 8: the data set is smaller than that (5 samples)")
        self.assertIn("smaller than that", self.refusal([pair(5)], BadSettings, "device"))
        self.assertIn("has 50 samples, so the loader was not given", self.refusal(Loader([pair(5)], dataset=range(50)), BadSettings))
        self.assertIn("one epoch and then nothing more", self.refusal(iter([pair(8)] * 3)))

    def test_another_number_of_workers_is_refused(self):
        text = self.refusal(Loader([pair(8)] * 3, num_workers=2), workers=4)
        self.assertEqual(text, "the loader has num_workers 2 where settings.workers is 4: pass settings.workers to the DataLoader as num_workers")
        self.trial(Loader([pair(8)] * 3, num_workers=4), workers=4).run(6)
        self.trial(Loader([pair(8)] * 3, num_workers=0), "device", workers=4).run(6)

    def notes(self, loader, **settings):
        trial = self.trial(loader, **settings)
        trial.run(6)
        return self.resources(trial).get("notes", {})

    def test_a_loader_that_ignores_pinning_is_noted(self):
        def batches(pinned):
            return [(torch.Tensor(pinned=pinned, shape=(8,)), torch.Tensor(pinned=pinned, shape=(8,)))] * 3

        def noted(loader, pin_memory, **settings):
            trial = Trial(lambda now: made(now, loader=lambda again: loader), spec(batch=8, pin_memory=pin_memory, **settings))
            trial.run(6)
            return self.resources(trial).get("notes", {}).get("pin_ignored")

        self.assertEqual(noted(batches(False), True)["arguments"], {"pinned": False, "wanted": True})
        self.assertEqual(noted(batches(True), False)["arguments"], {"pinned": True, "wanted": False})
        self.assertIsNone(noted(batches(True), True))
        self.assertIsNone(noted(batches(False), False))
        # Where batches do not show it, the DataLoader's own word counts.
        self.assertIsNotNone(noted(Loader([{"a": 1}] * 3, batch_size=8, drop_last=True, pin_memory=False), True, data="loader_only"))
        self.assertIsNone(noted(Loader([{"a": 1}] * 3, batch_size=8, drop_last=True, pin_memory=True), True, data="loader_only"))
        # On a CPU nothing is pinned, whatever was asked for.
        self.assertIsNone(noted(batches(False), True, device="cpu"))

    def test_workers_that_cannot_be_seen_are_noted(self):
        self.assertEqual(self.notes([pair(8)] * 3, workers=4)["workers_unseen"]["code"], "ridgeline_train.workers_unseen")
        self.assertNotIn("workers_unseen", self.notes([pair(8)] * 3))
        self.assertNotIn("workers_unseen", self.notes(Loader([pair(8)] * 3, num_workers=4), workers=4))
        self.assertNotIn("workers_unseen", self.notes([pair(8)] * 3, data="device", workers=4))

    def test_what_shows_no_size_is_noted(self):
        trial = self.trial(["text", "text"], loss=None, forward=lambda model, batch: torch.Tensor())
        self.assertNotIn("samples", trial.run(3))
        self.assertEqual(self.resources(trial)["notes"]["batch_unseen"]["arguments"], {"batch": 8})
        # A loader of torch's own that leaves the rest out: known by itself.
        sure = self.trial(Loader(["text"] * 3, batch_size=8, drop_last=True), loss=None, forward=lambda model, batch: torch.Tensor())
        self.assertEqual(sure.run(3)["samples"], 24)

    def test_batches_of_another_layout(self):
        long = torch.Tensor(shape=(35, 8))
        forward = dict(loss=None, forward=lambda model, batch: torch.Tensor())
        self.assertEqual(self.trial(Loader([long] * 3, batch_size=8), **forward).run(4)["samples"], 32)
        self.assertEqual(self.trial([long] * 3, samples=lambda batch: batch.shape[1], **forward).run(4)["samples"], 32)
        self.assertIn("return samples(batch)", self.refusal([long] * 3))

    def test_a_loader_that_is_none_is_named(self):
        self.assertEqual(self.refusal(None, UserError), "the loader is None; expected a DataLoader or another iterable of batches")


class TransformsTest(unittest.TestCase):
    class Compose:
        def __init__(self, members):
            self.transforms = members

        def __call__(self, value):
            for member in self.transforms:
                value = member(value)
            return value

    class Images:
        def __init__(self, transform):
            self.transform = transform

        def __len__(self):
            return 10

        def __getitem__(self, index):
            return self.transform(index)

    def test_the_slow_one_is_named(self):
        def slow(value):
            time.sleep(0.003)
            return value

        def quick(value):
            return value

        found = transforms.costs(self.Images(self.Compose([quick, slow])))
        self.assertEqual([row[0].partition(" at ")[0] for row in found["transforms"]], ["slow", "quick"])
        self.assertGreater(found["transforms"][0][1], 2.5)
        self.assertGreaterEqual(found["sample_ms"], found["transforms"][0][1])
        alone = transforms.costs(self.Images(slow))
        self.assertEqual([row[0].partition(" at ")[0] for row in alone["transforms"]], ["slow"])

    def test_a_data_set_without_transforms_has_a_time(self):
        found = transforms.costs([1, 2, 3])
        self.assertEqual(found["transforms"], [])

    def test_a_loader_without_a_data_set_is_refused(self):
        with self.assertRaises(BadSettings):
            Trial(made, spec("loader_only")).sample_source()


class FactsTest(unittest.TestCase):
    def test_types_and_counters_are_told(self):
        facts = facts_of(torch.OutOfMemoryError("CUDA out of memory"), 1)
        self.assertEqual(facts["type"], "torch.OutOfMemoryError")
        self.assertIn("RuntimeError", facts["bases"])
        self.assertEqual(facts["ooms_risen"], 1)
        error = RuntimeError("x")
        error.error_code = 2
        self.assertEqual(facts_of(error)["cuda_error"], 2)
        self.assertTrue(facts_of(UserError("x"))["user_error"])
        self.assertEqual([facts_of(kind("x"))["type"] for kind in (UserError, BadSettings, WrongLoader)], [""] * 3)
        self.assertFalse(facts_of(WrongLoader("x"))["bad_settings"])
        self.assertEqual(facts_of(OSError(12, "Cannot allocate memory"))["system_error"], 12)

    def raised(self, code):
        try:
            exec(code, {"torch": torch})
        except Exception as error:
            return facts_of(error)

    def test_where_an_error_came_from_is_told(self):
        inner = "try: raise torch.AcceleratorError('no room', 2)\nexcept RuntimeError as error:"
        facts = self.raised(inner + " raise ValueError('step') from error")
        self.assertEqual([(one["type"], one["cuda_error"]) for one in facts["causes"]], [("torch.AcceleratorError", 2)])
        self.assertEqual(self.raised(inner + " {}[1]")["causes"][0]["message"], "no room")
        self.assertEqual(self.raised(inner + " raise ValueError('step') from None")["causes"], [])
        self.assertEqual(self.raised(inner + " pass\n[][1]")["causes"], [])
        first, second = ValueError("a"), ValueError("b")
        first.__cause__, second.__cause__ = second, first
        self.assertLess(len(facts_of(first)["causes"]), 20)


class ElsewhereTest(unittest.TestCase):
    """Exceptions of a loader's worker, which torch raises again with their traceback as text."""

    HERE = os.path.abspath(__file__)
    TRACE = ('Traceback (most recent call last):\n  File "%s/torch/worker.py", line 302, in _worker_loop\n    data = fetcher.fetch(index)\n'
             '  File "%s", line 73, in __getitem__\n    raise OSError(...)\n    ^^^^^^^^^^^^^^^^^^\n' % (FAKE, HERE))

    def facts(self, kind, text, name=None):
        return facts_of(kind("Caught %s in DataLoader worker process 0.\nOriginal %s" % (name or kind.__name__, text)))

    def test_the_workers_own_error_is_told(self):
        facts = self.facts(OSError, self.TRACE + "OSError: image file is truncated (3 bytes not processed)\n")
        self.assertEqual((facts["type"], facts["message"]), ("OSError", "image file is truncated (3 bytes not processed)"))
        self.assertTrue(facts["place"].endswith("test_ridgeline_train.py:73 in __getitem__"), facts["place"])
        self.assertEqual(self.facts(KeyError, self.TRACE + "KeyError: 'label'\n")["message"], "'label'")
        self.assertEqual(self.facts(StopIteration, self.TRACE + "StopIteration\n")["message"], "")

    def test_a_type_that_cannot_be_made_again_is_told(self):
        facts = self.facts(RuntimeError, self.TRACE + "PIL.UnidentifiedImageError: cannot identify image file\nof two lines\n", "UnidentifiedImageError")
        self.assertEqual((facts["type"], facts["message"]), ("PIL.UnidentifiedImageError", "cannot identify image file\nof two lines"))

    def test_a_chain_tells_where_it_came_from(self):
        chain = (self.TRACE + "OSError: truncated\n\nThe above exception was the direct cause of the following exception:\n\n"
                 + self.TRACE.replace("line 73", "line 80") + "ValueError: sample 7 is broken\n")
        facts = self.facts(ValueError, chain)
        self.assertEqual((facts["type"], facts["message"], facts["came_from"]), ("ValueError", "sample 7 is broken", "OSError: truncated"))
        self.assertIn(":80 in", facts["place"])
        self.assertEqual([one["type"] for one in facts["causes"]], ["OSError"])

    def test_our_own_refusal_in_a_worker_is_ours(self):
        facts = self.facts(UserError, self.TRACE + "ridgeline_worker.failures.UserError: the samples do not make one batch\n")
        self.assertEqual((facts["type"], facts["message"], facts["user_error"]), ("", "the samples do not make one batch", True))

    def test_wrapped_twice(self):
        inner = "Caught OSError in DataLoader worker process 1.\nOriginal " + self.TRACE + "OSError: truncated\n"
        facts = self.facts(RuntimeError, "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nRuntimeError: " + inner)
        self.assertEqual((facts["type"], facts["message"], facts["causes"]), ("OSError", "truncated", []))

    def test_in_this_process_the_users_line_is_told(self):
        facts = FactsTest().raised("open('/nowhere/at/all')")
        self.assertEqual(facts["came_from"], "")
        try:
            Samples(lambda index: {}["label"])[0]
        except KeyError as error:
            self.assertRegex(facts_of(error)["place"], r"test_ridgeline_train.py:\d+ in <lambda>$")
        self.assertEqual(facts_of(RuntimeError("Caught nothing"))["message"], "Caught nothing")


class ServerTest(unittest.TestCase):
    """The whole package as the tool starts it."""

    def start(self, code):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return started(code, folder.name)

    def talk(self, code, requests, target="job.py:bench"):
        self.phases = []
        child, stream = self.start(code)
        answers = []
        for request in requests:
            request = dict(request)
            if request["op"] == "prepare":
                request["spec"] = spec()
                request["spec"]["job"]["target"] = target
            elif request["op"] == "describe":
                request["target"] = target
            answers.append(asked(stream, request, self.phases))
        stream.close()
        output = child.communicate(timeout=30)[0].decode()
        return answers, output

    @staticmethod
    def hanging(phase):
        """A script that waits for ever in that phase."""
        wait = "threading.Event().wait()"
        code = ("import threading\nimport torch\n{0}\nclass Loader:\n    def __iter__(self):\n        {2}\n        yield 1\n"
                "def bench(settings):\n    {1}\n    return dict(model=torch.Module(), optimizer=torch.Optimizer(), loss=max, loader=Loader())\n")
        return code.format(*(wait if at == phase else "" for at in ("importing job.py", "job.py:bench", "loading the first batch")))

    CODE = ("import torch\nprint('hello from the script')\n"
            "def bench(settings):\n    print('making')\n"
            "    return dict(model=torch.Module(), optimizer=torch.Optimizer(), loss=lambda a, b: torch.Tensor(),\n"
            "                loader=lambda now: [(torch.Tensor(), torch.Tensor())] * 3)\n")

    def test_a_trial_from_start_to_end_beside_prints(self):
        answers, output = self.talk(self.CODE, [{"op": "describe"}, {"op": "prepare"}, {"op": "run", "steps": 2}, {"op": "reset"},
                                                {"op": "run", "steps": 3}, {"op": "resources"}, {"op": "close"}])
        self.assertTrue(all("ok" in answer for answer in answers), answers)
        self.assertTrue(answers[0]["ok"]["runtime"].startswith("torch 9.9.fake (cuda 13.0)"))
        self.assertIs(answers[0]["ok"]["cuda"], True)
        self.assertEqual(len(answers[0]["ok"]["source_sha256"]), 64)
        self.assertEqual(len(answers[4]["ok"]["steps"]), 3)
        self.assertIn("making", output)

    def test_phases_are_told(self):
        self.talk(self.CODE, [{"op": "describe"}, {"op": "prepare"}, {"op": "run", "steps": 2}, {"op": "run", "steps": 2}, {"op": "close"}])
        self.assertEqual([text for text in self.phases if text],
                         ["importing torch", "importing job.py", "importing job.py", "job.py:bench", "moving the model to cuda:0",
                          "loading the first batch", "the first step", "a step", "ending"])

    def test_where_it_hangs_is_told_when_asked(self):
        for phase in ("importing job.py", "job.py:bench", "loading the first batch"):
            child, stream = self.start(self.hanging(phase))
            try:
                for request in ({"op": "prepare", "spec": dict(spec(), job={"target": "job.py:bench"})}, {"op": "run", "steps": 1}):
                    stream.write(json.dumps(request) + "\n")
                stream.flush()
                told = {}
                while told.get("doing") != phase:
                    told = json.loads(stream.readline())
                told = {}
                while not told.get("at"):  # on its way there it is nowhere in the script
                    child.send_signal(signal.SIGUSR1)
                    told = json.loads(stream.readline())
                self.assertEqual(told["doing"], phase)
                self.assertRegex(told["at"], r"^job.py:\d+ in (<module>|bench|__iter__)$")
            finally:
                child.kill()
                child.communicate()
                stream.close()

    def test_a_script_that_ends_the_process_is_told(self):
        code = "import sys\ndef parse():\n    sys.exit(2)\nparse()\n"
        answers, _ = self.talk(code, [{"op": "describe"}])
        error = answers[0]["error"]
        self.assertEqual(error["message"], "the script ended the process (exit code 2) in phase \"importing job.py\", at job.py:3 in parse")
        self.assertIn("__main__", error["hint"])

    def test_slips_are_the_users(self):
        for target, text in (("gone:bench", "no module named 'gone'"), ("gone.py:bench", "no file gone.py"),
                             ("job.py:benhc", "has no function 'benhc'; it has bench")):
            answers, _ = self.talk(self.CODE, [{"op": "describe"}], target)
            self.assertTrue(answers[0]["error"]["user_error"], answers)
            self.assertIn(text, answers[0]["error"]["message"])

    def test_a_file_of_a_package_is_told_by_the_name_of_its_module(self):
        cases = (("pkg/job.py:bench", "pkg/__init__.py pkg/job.py", "--python pkg.job:bench"),
                 ("pkg/job.py:bench", "pkg/job.py", "--python pkg.job:bench"),
                 ("a/b/job.py:bench", "a/__init__.py a/b/__init__.py a/b/job.py", "--python a.b.job:bench"))
        for target, files, hint in cases:
            with tempfile.TemporaryDirectory() as folder:
                for name in files.split():
                    os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
                    with open(os.path.join(folder, name), "w") as file:
                        file.write("from .net import bench\n" if name.endswith("job.py") else "")
                script = "from ridgeline_worker.target import load\nfrom ridgeline_worker.failures import facts_of\ntry:\n    load(%r)\n" \
                         "except Exception as error:\n    print(facts_of(error)['hint'])\n" % target
                env = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"))
                told = subprocess.run([sys.executable, "-c", script], cwd=folder, env=env, stdout=subprocess.PIPE, text=True).stdout
                self.assertEqual(told, "name it as part of its package: %s\n" % hint)
                inside = os.path.join(folder, os.path.dirname(target.split(":")[0]))
                script = script.replace(repr(target), repr("job.py:bench"))
                told = subprocess.run([sys.executable, "-c", script], cwd=inside, env=env, stdout=subprocess.PIPE, text=True).stdout
                self.assertEqual(told, "name it as part of its package: %s, in the folder %s\n" % (hint, os.path.realpath(folder)))

    def test_an_exception_is_an_answer_and_not_the_end(self):
        code = self.CODE.replace("loss=lambda a, b: torch.Tensor()", "loss=lambda a, b: (_ for _ in ()).throw(torch.OutOfMemoryError('CUDA out of memory'))")
        answers, output = self.talk(code, [{"op": "prepare"}, {"op": "run", "steps": 1}, {"op": "nonsense"}, {"op": "close"}])
        self.assertEqual(answers[1]["error"]["type"], "torch.OutOfMemoryError")
        self.assertEqual(answers[2]["error"]["type"], "ValueError")
        self.assertIn("Traceback", output)


if __name__ == "__main__":
    unittest.main()
