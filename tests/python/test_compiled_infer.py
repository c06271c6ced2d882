# SPDX-License-Identifier: Apache-2.0
"""The package ridgeline_infer: compiled models, GPUs (pretended ones too) and tensors; exit code 77 without torch."""

import os
import sys
import tempfile
import unittest

import test_ridgeline_infer as served  # starts again with an interpreter that has torch
from test_ridgeline_infer import CNN, DYNAMO, GPU, HEAD, NEW_TORCH

import torch  # noqa: E402
from ridgeline_infer import compiling, tensors  # noqa: E402


@unittest.skipIf(NEW_TORCH, "that torch has a compiler of its own")
class CompileTest(served.Served):
    """With a pretended compiler."""

    def test_what_is_given_and_seen(self):
        code = DYNAMO + ("class Net(nn.Module):\n    breaks = True\n    def forward(self, x):\n        return x + len(calls)\n"
                         "def make():\n    return Net(), [torch.ones(1), torch.ones(2)]\n")
        chosen = {"torch_compile": "max-autotune", "compile_dynamic": False, "compile_freezing": True, "grad_mode": "no_grad"}
        prepared, _, _, proof = self.trial(code, **chosen)
        self.assertGreater(prepared["compile_s"], 0)
        self.assertEqual((proof["compiled_frames"], proof["graph_breaks"], proof["break_reasons"], proof["recompiles"]),
                         (2, 2, ["call of print"], 1))
        self.assertEqual(proof["settings"], chosen)
        self.assertEqual(proof["problems"], [])
        self.assertEqual(self.floats(), [2, 2, 2] * 2)
        message = self.refused(code, torch_compile="default", compile_fullgraph=True)
        self.assertIn("compile_fullgraph is not possible here: call of print", message)

    def test_an_empty_cache_is_told_from_one_that_has_kernels(self):
        hits = "    sys.modules['torch._dynamo.utils'].counters['inductor']['fxgraph_cache_hit'] = 2\n"
        code = DYNAMO + "import sys\ndef make():\n" + hits + "    return nn.ReLU(), torch.ones(1)\n"
        with tempfile.TemporaryDirectory() as folder:
            kernels = os.path.join(folder, "cache", "ab")
            os.makedirs(kernels)
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "cache")
            try:
                self.assertTrue(self.trial(code, torch_compile="default")[0]["cold_cache"])
                self.assertFalse(self.trial(code, grad_mode="no_grad")[0]["cold_cache"])
                open(os.path.join(kernels, "kernel.so"), "w").close()
                prepared = self.trial(code, torch_compile="default")[0]
                self.assertEqual((prepared["cold_cache"], prepared["cache_hits"], prepared["compiled_anew"]), (False, 2, False))
                other = self.trial(code.replace("_hit'] = 2", "_hit'] = 0"), torch_compile="default")[0]
                self.assertEqual((other["cold_cache"], other["compiled_anew"]), (False, True))
                self.assertFalse(self.trial(code, grad_mode="no_grad")[0]["compiled_anew"])
            finally:
                del os.environ["TORCHINDUCTOR_CACHE_DIR"]
            self.assertFalse(self.trial(code, torch_compile="default")[0]["cold_cache"])

    def test_what_ran_eager_is_a_problem(self):
        code = DYNAMO + ("class Net(nn.Module):\n    never_compiles = True\n    def forward(self, x):\n        return x\n"
                         "def make():\n    return Net(), torch.ones(1)\n")
        proof = self.trial(code, torch_compile="default")[3]
        self.assertEqual((proof["problems"], proof["settings"]), (["ran eager: no frame was compiled"], {"torch_compile": "eager"}))
        shapes = DYNAMO + "def make():\n    return nn.ReLU(), [torch.ones(n) for n in range(1, 6)]\n"
        self.assertEqual(self.trial(shapes, torch_compile="default")[3]["problems"], ["fell back to eager after 2 recompilations"])

    def test_a_model_that_is_compiled_already(self):
        code = DYNAMO + "def make():\n    return torch.compile(nn.ReLU()), torch.ones(1)\n"
        self.assertIn("a model that is compiled already", self.refused(code, torch_compile="default"))
        self.assertEqual(self.trial(code, grad_mode="no_grad")[3]["problems"], [])
        self.assertIn("needs a CUDA device", self.refused(code, torch_compile="reduce-overhead"))


@unittest.skipIf(NEW_TORCH, "the pretended GPU goes with the pretended compiler")
class DeviceTest(served.Served):
    """With a pretended GPU."""

    HEAD = DYNAMO + ("import fake_device\nfrom ridgeline_infer import made\ngpu = fake_device.install(made)\n"
                     "def metric(out):\n    return gpu['synchronize'] * 1000 + gpu['replay']\n")
    CODE = HEAD + "def make():\n    return nn.Linear(4, 2).eval(), [torch.ones(1, 4), torch.ones(2, 4)], metric\n"

    def test_every_call_is_waited_for(self):
        waits = [self.trial(self.CODE, calls=calls)[2]["metric"] // 1000 for calls in (1, 6)]
        self.assertEqual(waits[1] - waits[0], 5)
        self.assertEqual(self.trial(self.CODE)[3]["peak_gpu_bytes"], 12345)
        self.assertEqual(self.described(self.CODE)["ok"]["device_name"], "Fake GPU")

    def test_a_graph_for_each_input_set_is_replayed(self):
        prepared, _, outputs, proof = self.trial(self.CODE, calls=5, cuda_graph=True, grad_mode="no_grad")
        self.assertGreater(prepared["compile_s"], 0)
        self.assertEqual(outputs["metric"] % 1000, 2 + 5 + 4)  # after the capture, the calls, the outputs of both inputs
        self.assertEqual([[one["dims"] for one in one_set] for one_set in outputs["sets"]], [[[1, 2]] * 2, [[2, 2]] * 2])
        self.assertEqual((proof["graph_captured"], proof["settings"]["cuda_graph"], proof["problems"]), (True, True, []))

    def test_a_graph_around_the_compiled_model_has_no_other_inside(self):
        code = self.CODE.replace("gpu['synchronize'] * 1000 + gpu['replay']", "calls[0]['mode'] == 'max-autotune-no-cudagraphs'")
        _, _, outputs, proof = self.trial(code, cuda_graph=True, torch_compile="max-autotune", grad_mode="no_grad")
        self.assertEqual((proof["graph_captured"], proof["compiled_frames"], proof["problems"]), (True, 2, []))
        self.assertEqual(outputs["metric"], 1)

    def test_what_cannot_be_captured_is_refused(self):
        refusing = self.CODE.replace("def make():", "def make():\n    fake_device.Graph.refuses = True")
        self.assertIn("cuda_graph is not possible here: operation not permitted when stream is capturing",
                      self.refused(refusing, cuda_graph=True))
        changing = self.HEAD + "def make():\n    return (lambda x: x.add_(1)), torch.ones(1)\n"
        self.assertIn("changes its inputs", self.refused(changing, cuda_graph=True))

    def test_compiling_without_a_graph_is_a_problem(self):
        proof = self.trial(self.CODE, torch_compile="reduce-overhead", grad_mode="no_grad")[3]
        self.assertEqual((proof["graph_captured"], proof["problems"]), (True, []))
        skips = "    sys.modules['torch._dynamo.utils'].counters['inductor']['cudagraph_skips'] = 2"
        code = self.CODE.replace("def make():", "import sys\ndef make():\n" + skips)
        self.assertEqual(self.trial(code, torch_compile="reduce-overhead", grad_mode="no_grad")[3]["problems"],
                         ["ran without CUDA graphs: torch.compile skipped them 2 times"])

    def test_tf32_and_benchmark_are_read_back(self):
        chosen = {"allow_tf32": True, "cudnn_benchmark": True, "grad_mode": "no_grad"}
        proof = self.trial(self.CODE, **chosen)[3]
        self.assertEqual((proof["settings"], proof["problems"]), (chosen, []))

    def test_a_block_of_calls_has_one_wait(self):
        requests = [{"op": "prepare", "settings": {}}, {"op": "call", "count": 3, "one_wait": True},
                    {"op": "call", "count": 5, "one_wait": True}, {"op": "outputs"}, {"op": "close"}]
        answers = [answer["ok"] for answer in self.talk(self.CODE, requests)]
        self.assertEqual([len(answer["ns"]) for answer in answers[1:3]], [3, 5])
        self.assertEqual(len(set(answers[2]["ns"])), 1)  # as the events say
        self.assertLess(sum(answers[2]["ns"]), 50e6)  # by the clock, not by the events' 10 ms
        few = answers[3]["metric"] // 1000
        requests[2]["count"] = 50
        self.assertEqual(self.talk(self.CODE, requests)[3]["ok"]["metric"] // 1000, few)

    def test_tf32_is_told_where_nothing_chose_it(self):
        self.assertEqual(self.trial(self.CODE)[3]["tf32"], True)  # cuDNN's default
        self.assertEqual(self.trial(self.CODE, allow_tf32=False)[3]["tf32"], False)
        off = self.CODE.replace("def make():", "def make():\n    torch.backends.cudnn.allow_tf32 = False")
        self.assertEqual(self.trial(off)[3]["tf32"], False)
        matmul = off.replace("allow_tf32 = False", "allow_tf32 = False\n    torch.set_float32_matmul_precision('high')")
        self.assertEqual(self.trial(matmul)[3]["tf32"], True)


@unittest.skipUnless(NEW_TORCH, "needs torch 2")
class RealCompileTest(served.Served):
    def test_it_compiles(self):
        proof = self.trial(CNN, torch_compile="default", grad_mode="no_grad")[3]
        self.assertEqual((proof["problems"], proof["compiled_frames"], proof["settings"]["torch_compile"]), ([], 1, "default"))

    def test_attention_is_read_back(self):
        code = HEAD + ("class Net(nn.Module):\n    def forward(self, x):\n"
                       "        return nn.functional.scaled_dot_product_attention(x, x, x)\n"
                       "def make():\n    return Net(), torch.ones(1, 2, 8, 16)\n")
        proof = self.trial(code, sdpa_backend="math", grad_mode="no_grad")[3]
        self.assertEqual((proof["sdpa"], proof["problems"]), ("math", []))
        self.assertIn("no scaled_dot_product_attention was seen", self.refused(CNN, sdpa_backend="math"))


@unittest.skipUnless(GPU, "needs an NVIDIA GPU and torch 2")
class GpuTest(served.Served):
    CODE = CNN.replace("model.eval(), torch.randn(2, 3, 8, 8)", "model.eval().cuda(), torch.randn(2, 3, 8, 8, device='cuda')")
    ATTENTION = HEAD + ("class Net(nn.Module):\n    def forward(self, x):\n"
                        "        return nn.functional.scaled_dot_product_attention(x, x, x)\n"
                        "def make():\n    return Net(), torch.randn(1, 2, 64, 64, device='cuda', dtype=torch.float16)\n")

    def test_graphs_give_what_eager_gives(self):
        described = self.described(self.CODE)["ok"]
        self.assertEqual((described["device"], described["notes"]), ("cuda:0", []))
        self.trial(self.CODE, reference=True, grad_mode="no_grad")
        eager = self.floats()
        for chosen in ({"cuda_graph": True}, {"torch_compile": "default"}, {"torch_compile": "reduce-overhead"},
                       {"torch_compile": "default", "cuda_graph": True, "compile_freezing": True},
                       {"torchscript": "freeze", "cuda_graph": True}, {"channels_last": True, "cuda_graph": True}):
            for mode in ("no_grad", "inference_mode"):
                with self.subTest(mode=mode, **chosen):
                    proof = self.trial(self.CODE, calls=5, grad_mode=mode, allow_tf32=False, **chosen)[3]
                    self.assertEqual(proof["problems"], [])
                    self.assertEqual(proof["graph_captured"], chosen != {"torch_compile": "default"})
                    self.assertGreater(proof["peak_gpu_bytes"], 0)
                    self.assertLess(max(abs(a - b) for a, b in zip(self.floats(), eager)), 1e-3)

    def test_precision_and_switches(self):
        for precision in ("fp16", "bf16", "autocast_fp16", "autocast_bf16"):
            chosen = {"torch_precision": precision, "cudnn_benchmark": True, "allow_tf32": True, "grad_mode": "no_grad"}
            self.assertEqual(self.trial(self.CODE, **chosen)[3]["problems"], [])

    def test_attention(self):
        for backend in ("flash", "efficient", "math"):
            proof = self.trial(self.ATTENTION, sdpa_backend=backend, grad_mode="no_grad")[3]
            self.assertEqual((proof["sdpa"], proof["problems"]), (backend, []))
        full = self.ATTENTION.replace("float16", "float32")
        self.assertIn("sdpa_backend flash is not possible here", self.refused(full, sdpa_backend="flash"))

    def test_a_wait_inside_cannot_be_captured(self):
        code = HEAD + ("def model(x):\n    return x * 2 if x.sum().item() > 0 else x\n"
                       "def make():\n    return model, torch.ones(3, device='cuda')\n")
        self.assertIn("cuda_graph is not possible here", self.refused(code, cuda_graph=True, grad_mode="no_grad"))


class TensorsTest(unittest.TestCase):
    def test_differences(self):
        nan = torch.tensor([float("nan"), 1.0])
        self.assertIsNone(tensors.difference([nan], [nan.clone()]))
        self.assertEqual(tensors.difference({"a": torch.tensor([1, 5])}, {"a": torch.tensor([1, 2])}), 3.0)
        self.assertEqual(tensors.difference([torch.ones(1)], [torch.ones(2)]), float("inf"))
        self.assertEqual(tensors.difference([torch.ones(1)], []), float("inf"))

    def test_structures_are_kept(self):
        import collections

        pair = collections.namedtuple("pair", "a b")
        value = {"x": [torch.ones(1), pair(torch.ones(2), "text")], "y": torch.max(torch.ones(2, 2), 0)}
        changed = tensors.mapped(value, lambda one: one + 1)
        self.assertEqual(type(changed["x"][1]), pair)
        self.assertEqual(float(changed["x"][0]), 2)
        self.assertEqual(float(value["x"][0]), 1)
        self.assertEqual(changed["y"].values.tolist(), [2, 2])
        self.assertEqual([name for name, _ in tensors.leaves(value)], ["x.0", "x.1.a", "y.0", "y.1"])
        self.assertEqual([name for name, _ in tensors.leaves(torch.ones(1))], ["0"])
        circle = []
        circle.append(circle)
        self.assertEqual(tensors.leaves(circle), [])

    def test_counts_without_a_compiler(self):
        self.assertEqual(compiling.Counts().frames, 0)


if __name__ == "__main__":
    unittest.main()
