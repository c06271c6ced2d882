#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The built-in models in Python, with the torch and h5py of this host."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PACKAGES = str(pathlib.Path(__file__).resolve().parents[2] / "python")
sys.path.insert(0, PACKAGES)

try:
    import h5py
    import numpy
    import torch
except ImportError:
    other = "/usr/bin/python3"
    if os.path.realpath(sys.executable) == os.path.realpath(other) or not os.path.exists(other):
        print("no torch and h5py in", sys.executable)
        sys.exit(77)
    os.execv(other, [other, *sys.argv])

from ridgeline_models import catalog  # noqa: E402
from ridgeline_models.built_in import BuiltIn  # noqa: E402
from ridgeline_models.hdf5_data import Hdf5Data  # noqa: E402
from ridgeline_models.options import Options  # noqa: E402
from ridgeline_models.sample_order import SampleOrder  # noqa: E402
from ridgeline_train.settings import Settings  # noqa: E402
from ridgeline_worker.failures import BadSettings  # noqa: E402

# As the LibTorch plugin counts them (tests/cli/model_parameters.py compares the two where it was built).
PARAMETERS = {"mlp": 1841162, "resnet18": 11689512, "resnet50": 25557032, "wideresnet": 36479194, "vit-tiny": 5717032,
              "vit-small": 22049896, "transformer": 3211530, "gnn": 4234}


def parameters(name, **options):
    return sum(one.numel() for one in BuiltIn({"target": name, "options": options}).model().parameters())


class ModelsTest(unittest.TestCase):
    def test_models_have_the_parameters_of_the_plugin(self):
        self.assertEqual(sorted(PARAMETERS), sorted(catalog.MODELS))
        for name, count in PARAMETERS.items():
            self.assertEqual(parameters(name), count, name)

    def test_what_does_not_fit_is_refused(self):
        for name, options, text in (
            ("wideresnet", {"depth": "11"}, "6 n + 4"), ("vit-tiny", {"patch": "5"}, "whole number of patches"),
            ("mlp", {"optimizer": "adamm"}, 'did you mean "adam"'), ("mlp", {"learning_rate": "x"}, "expected a number from 0 to 1000000"),
            ("gnn", {"neighbours": "5"}, "expected 4 or 8"), ("gnn", {"input": "1x3"}, "one node only"),
            ("resnet81", {}, 'did you mean "resnet18"'), ("mlp", {"input": "3x0"}, "3x224x224"), ("mlp", {"hidden": "1.5"}, "whole number"),
        ):
            with self.assertRaisesRegex(BadSettings, text.replace("+", r"\+")):
                built = BuiltIn({"target": name, "options": options})
                built.optimizer(built.model(), False)


class OrderTest(unittest.TestCase):
    def epoch(self, name, chunk_rows=10, rows=103, batch=20):
        order = iter(SampleOrder(name, rows, batch, 1, chunk_rows))
        return [next(order) for _ in range(rows // batch + 1)]

    def test_an_epoch_has_each_sample_once_and_the_next_begins_by_itself(self):
        for name in ("shuffled", "shuffled_chunks", "sequential"):
            *epoch, following = self.epoch(name)
            self.assertEqual(len(set(numpy.concatenate(epoch).tolist())), 100, name)
            self.assertEqual(len(following), 20)
        self.assertEqual(self.epoch("sequential")[-1].tolist(), list(range(20)))
        self.assertEqual([list(batch) for batch in self.epoch("shuffled")], [list(batch) for batch in self.epoch("shuffled")])

    def test_shuffled_chunks_reads_few_chunks_at_a_time(self):
        order = iter(SampleOrder("shuffled_chunks", 10000, 10, 1, 1))
        first = numpy.concatenate([next(order) for _ in range(6)])
        self.assertEqual(len(set(first.tolist())), 60)
        with self.assertRaisesRegex(BadSettings, "order=random"):
            SampleOrder("random", 10, 1, 1, 1)


class DataTest(unittest.TestCase):
    LAYOUTS = ({}, {"chunks": (7, 3)}, {"chunks": (16, 3), "compression": "gzip", "shuffle": True}, {"chunks": (16, 3), "compression": "lzf"})

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "data.h5")

    def data(self, **options):
        return Hdf5Data(self.path, Options(dict({"input_dataset": "x", "label_dataset": "y"}, **options)))

    def test_rows_arrive_as_h5py_reads_them(self):
        random = numpy.random.default_rng(1)
        rows = numpy.array([5, 6, 7, 99, 0, 50, 51, 5])
        for stored, arrives in (("<f4", "float32"), (">f4", "float32"), ("f2", "float16"), ("u1", "uint8"), (">i2", "int16"), ("u2", "int32"),
                                ("u4", "int64"), ("u8", "int64"), ("?", "int8")):
            values = random.integers(0, 2 if stored == "?" else 100, (100, 3)).astype(stored)
            for layout in self.LAYOUTS:
                with h5py.File(self.path, "w", userblock_size=512) as file:
                    file.create_dataset("x", data=values, **layout)
                    file["y"] = numpy.arange(100)
                samples, labels = self.data().take(rows)
                self.assertEqual(str(samples.dtype), arrives)
                self.assertTrue(numpy.array_equal(samples, values[rows].astype(arrives)), (stored, layout))
                self.assertEqual(labels.tolist(), rows.tolist())

    def test_workers_read_the_same_and_open_the_file_themselves(self):
        with h5py.File(self.path, "w") as file:
            file.create_dataset("x", data=numpy.arange(300, dtype="f4").reshape(100, 3), chunks=(8, 3), compression="gzip")
            file["y"] = numpy.arange(100)
        data = self.data(order="sequential")
        data.take(numpy.arange(3))
        batches = iter(data.loader(Settings({"settings": {"batch": 30, "workers": 2}}), False))
        for turn in range(40):  # each slot several times
            samples, labels = next(batches)
            self.assertEqual(labels.tolist(), list(range(30 * (turn % 3), 30 * (turn % 3) + 30)))
            self.assertEqual(samples[:, 0].tolist(), [3.0 * label for label in labels.tolist()])

    def test_what_cannot_be_trained_on_is_refused(self):
        with h5py.File(self.path, "w") as file:
            file["x"] = numpy.zeros(10, dtype=[("a", "i4")])
            file["y"] = numpy.full(10, 2**63, dtype="u8")
        with self.assertRaisesRegex(BadSettings, "cannot be trained on"):
            self.data()
        with self.assertRaisesRegex(BadSettings, r"sample 4 has a value of 2\^63 or more"):
            self.data(input_dataset="y").take(numpy.array([4, 5]))
        with self.assertRaisesRegex(BadSettings, "10 samples are less than a batch of 11"):
            self.data(input_dataset="y").loader(Settings({"settings": {"batch": 11}}), False)


class ForkTest(unittest.TestCase):
    def ended(self, work):
        script = "import os, sys; sys.path.insert(0, %r)\nfrom ridgeline_worker import forking\nforking.in_fork(lambda: %s)\nsys.exit(7)" % (
            PACKAGES, work)
        return subprocess.run([sys.executable, "-c", script], stderr=subprocess.DEVNULL).returncode

    def test_a_process_goes_on_or_ends_as_its_fork_did(self):
        self.assertEqual(self.ended("True"), 7)
        self.assertEqual(self.ended("False"), 0)
        self.assertEqual(self.ended("1 / 0"), 1)
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
            self.assertEqual(self.ended("os.kill(os.getpid(), %d)" % number), -number)

    def test_the_memory_of_a_fork_has_the_libraries_of_its_process(self):
        script = ("import sys; sys.path.insert(0, %r)\nimport torch\nfrom ridgeline_train import loader_cost\nfrom ridgeline_worker import forking\n"
                  "def show():\n    print(loader_cost.peak_gb([]), flush=True)\n    return True\nshow()\nforking.in_fork(show)" % PACKAGES)
        process, fork = map(float, subprocess.check_output([sys.executable, "-c", script]).split())
        self.assertLess(abs(fork - process), 0.1 * process)


if __name__ == "__main__":
    unittest.main()
