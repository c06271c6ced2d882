# SPDX-License-Identifier: Apache-2.0
"""ridgeline_infer.onnx_export, and the second inputs that outputs are compared with; exit code 77 without torch."""

import os
import tempfile
import unittest

from test_ridgeline_infer import HEAD, Served  # starts again with an interpreter that has torch

import torch  # noqa: E402
from ridgeline_infer import fresh_inputs, onnx_export  # noqa: E402

MANY = HEAD + ("class Many(nn.Module):\n"
               "    def forward(self, x, pair, logits=None):\n"
               "        return {'logits': x + logits, 'both': (pair[0] * x, pair[1])}\n"
               "def make():\n"
               "    return Many(), {'x': torch.ones(2), 'pair': (torch.ones(2), torch.arange(2)), 'logits': torch.ones(2)}\n")


class ExportTest(Served):
    def export(self, code, exporter="torchscript", precision=""):
        return self.talk(code, [{"op": "export", "exporter": exporter, "precision": precision, "seed": 1}, {"op": "close"}])[0]

    def test_inputs_are_named_as_the_model_names_them_and_apart_from_outputs(self):
        names = [one["name"] for one in self.export(MANY)["ok"]["inputs"]]
        self.assertEqual(names, ["x", "pair.0", "pair.1", "input_logits"])

    def test_positional_inputs_have_the_names_of_parameters(self):
        code = HEAD + "def make():\n    return nn.Linear(2, 2), torch.ones(1, 2)\n"
        self.assertEqual([one["name"] for one in self.export(code)["ok"]["inputs"]], ["input"])

    def test_half_precision_is_inside_only(self):
        code = HEAD + "def make():\n    return nn.Linear(4, 4).double(), torch.ones(1, 4).double()\n"
        answer = self.export(code, precision="bf16")["ok"]
        self.assertTrue(answer["model"].endswith("torchscript-bf16.onnx"))
        values = torch.ones(1, 4).double()
        half = onnx_export.HalfInside(torch.nn.Linear(4, 4).double(), ((values,), {}), "bf16", [("output", values)])
        self.assertEqual({one.dtype for one in half.parameters()}, {torch.bfloat16})
        self.assertEqual([one.dtype for one in half(values)], [torch.float64])
        code = HEAD + "def make():\n    return (lambda x: x + 1), torch.ones(1)\n"
        self.assertIn("needs a torch.nn.Module", self.export(code, precision="fp16")["error"]["message"])

    def test_several_sets_and_failing_exports_are_no_crash(self):
        code = HEAD + "def make():\n    return nn.ReLU(), [torch.ones(1), torch.ones(2)]\n"
        self.assertIn("2 input sets", self.export(code)["error"]["message"])
        code = HEAD + "def make():\n    return lambda x: torch.fft.fft(x).real, torch.ones(1, 8)\n"
        self.assertTrue(self.export(code)["error"]["bad_settings"])

    @unittest.skipIf(hasattr(torch, "compile"), "a torch that has the exporter, if onnxscript is there")
    def test_an_exporter_that_torch_lacks_is_named(self):
        code = HEAD + "def make():\n    return nn.ReLU(), torch.ones(1)\n"
        self.assertIn("no such exporter", self.export(code, "dynamo")["error"]["message"])


class NpyTest(unittest.TestCase):
    def test_files_are_those_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no numpy")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npy")
            for tensor in (torch.arange(6).reshape(2, 3), torch.tensor(1.5), torch.tensor([True, False]), torch.ones(2, 2).half().t()):
                onnx_export._write_npy(path, tensor)
                read = numpy.load(path)
                self.assertTrue((read == tensor.numpy()).all())
                self.assertEqual((read.shape, read.dtype), (tuple(tensor.shape), tensor.numpy().dtype))


class FreshInputsTest(unittest.TestCase):
    def test_values_move_on_by_one_element_and_come_back(self):
        images, short, long = torch.arange(4.0).reshape(2, 2), torch.arange(3), torch.arange(16)
        one_set = ((images, short), {"long": long, "again": images})
        with fresh_inputs.instead(one_set):
            self.assertEqual(images.tolist(), [[1, 2], [3, 0]])
            self.assertEqual(short.tolist(), [0, 1, 2])
            self.assertEqual(long.tolist(), list(range(1, 16)) + [0])
        self.assertEqual(images.tolist(), [[0, 1], [2, 3]])
        self.assertEqual(long.tolist(), list(range(16)))

    def test_memory_order_is_none_of_its_business(self):
        images = torch.arange(16.0).reshape(1, 2, 2, 4).contiguous(memory_format=torch.channels_last)
        with fresh_inputs.instead(((images,), {})):
            self.assertEqual(images.flatten().tolist(), list(range(1, 16)) + [0])


if __name__ == "__main__":
    unittest.main()
