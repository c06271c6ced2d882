# SPDX-License-Identifier: Apache-2.0
"""The package ridgeline_infer on the CPU, with whatever torch this host has; exit code 77 without one."""

import array
import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FAKES = os.path.join(ROOT, "tests", "fakes", "torch2")
sys.dont_write_bytecode = True
sys.path[:0] = [FAKES, os.path.join(ROOT, "python")]


def interpreter_with_torch():
    for python in (os.environ.get("RIDGELINE_TEST_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and shutil.which(python) and subprocess.call([python, "-c", "import torch"], stderr=subprocess.DEVNULL) == 0:
            return python
    return None


try:
    import torch
except ImportError:
    chosen = interpreter_with_torch()
    if chosen is None:
        print("no Python with torch was found; apt-get install python3-torch, or name one in RIDGELINE_TEST_PYTHON")
        sys.exit(77)
    os.execv(chosen, [chosen, "-B"] + sys.argv)

from ridgeline_infer import __main__ as server  # noqa: E402
from ridgeline_infer import settings  # noqa: E402
from ridgeline_worker.user_frames import user_frames  # noqa: E402
from ridgeline_worker.channel import Channel  # noqa: E402
from ridgeline_worker.failures import BadSettings  # noqa: E402

torch.set_num_threads(1)
HEAD = "import torch\nfrom torch import nn\n"
LINEAR = HEAD + "def make():\n    torch.manual_seed(0)\n    return nn.Linear(4, 2).eval(), %s\n"
CNN = HEAD + ("def make():\n"
              "    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))\n"
              "    return model.eval(), torch.randn(2, 3, 8, 8)\n")
DYNAMO = HEAD + "import fake_dynamo\ncalls = fake_dynamo.install()\n"
NEW_TORCH = hasattr(torch, "compile")
# Asking torch would start CUDA, which forked processes then cannot.
GPU = NEW_TORCH and torch.version.cuda is not None and bool(glob.glob("/dev/nvidia[0-9]*"))
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no pool that outlives its process


class Served(unittest.TestCase):
    """Each conversation is with a process of its own, forked from this one: torch is imported once."""

    def talk(self, code, requests, target="infer.py:make", name="infer.py"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "w") as file:
                file.write(code)
            ours, theirs = socket.socketpair()
            child = os.fork()
            if child == 0:
                self.serve(folder, ours, theirs)
            theirs.close()
            answers = []
            with ours, ours.makefile("rw") as stream:
                for request in requests:
                    request = dict(request)
                    if request["op"] in ("describe", "prepare", "export"):
                        request["target"] = target
                    if request["op"] == "export":
                        request["folder"] = folder
                    if request["op"] == "outputs":
                        request["path"] = os.path.join(folder, "outputs")
                    stream.write(json.dumps(request) + "\n")
                    stream.flush()
                    answers.append(json.loads(stream.readline()))
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.bytes = b""
            if os.path.exists(os.path.join(folder, "outputs")):
                with open(os.path.join(folder, "outputs"), "rb") as file:
                    self.bytes = file.read()
            return answers

    @staticmethod
    def serve(folder, ours, theirs):
        code = 1
        try:
            ours.close()
            os.chdir(folder)
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 2)  # tracebacks of failures that are wanted
                server.serve(Channel(theirs.fileno()))
            code = 0
        finally:
            os._exit(code)

    def described(self, code):
        answer, _ = self.talk(code, [{"op": "describe"}, {"op": "close"}])
        return answer

    def trial(self, code, calls=2, **chosen):
        requests = [{"op": "prepare", "settings": chosen, "seed": 3}, {"op": "call", "count": calls}, {"op": "outputs"}, {"op": "proof"}]
        answers = self.talk(code, requests + [{"op": "close"}])
        for answer in answers:
            self.assertIn("ok", answer, answers)
        return [answer["ok"] for answer in answers[:4]]

    def refused(self, code, **chosen):
        answer, _ = self.talk(code, [{"op": "prepare", "settings": chosen, "seed": 3}, {"op": "close"}])
        self.assertTrue(answer.get("error", {}).get("bad_settings"), answer)
        self.assertEqual(answer["error"]["type"], "")
        return answer["error"]["message"]

    def floats(self):
        return list(array.array("f", self.bytes))


class DescribeTest(Served):
    def sets(self, inputs):
        answer = self.described(HEAD + "def make():\n    return (lambda *a, **k: torch.zeros(1)), %s\n" % inputs)
        self.assertIn("ok", answer, answer)
        return [[(one["name"], one["element_type"], one["dims"]) for one in one_set] for one_set in answer["ok"]["sets"]]

    def test_all_forms_of_inputs(self):
        self.assertEqual(self.sets("torch.zeros(2, 3)"), [[("0", "float", [2, 3])]])
        self.assertEqual(self.sets("(torch.zeros(2).double(), torch.zeros(3).long())"), [[("0", "double", [2]), ("1", "int64", [3])]])
        self.assertEqual(self.sets("dict(ids=torch.zeros(2).int(), mask=torch.ones(1).bool(), cache=None)"),
                         [[("ids", "int32", [2]), ("mask", "bool", [1])]])
        self.assertEqual(self.sets("[torch.zeros(1).half(), (torch.zeros(2).bfloat16(), 5), {'a': [torch.zeros(3)]}]"),
                         [[("0", "float16", [1])], [("0", "bfloat16", [2])], [("a.0", "float", [3])]])

    def test_the_form_is_told_to_who_writes_code_for_it(self):
        for returned, expected in (("torch.ones(1)", ("pair", "tensor", False)),
                                   ("(torch.ones(1), torch.ones(1))", ("pair", "tensors", False)),
                                   ("(torch.ones(1), 5)", ("pair", "tuple", False)),
                                   ("[{'x': torch.ones(1)}], len", ("triple", "dict", True)),
                                   ("[torch.ones(1), (torch.ones(2),)]", ("pair", "mixed", True))):
            form = self.described(HEAD + "def make():\n    return (lambda *a, **k: torch.ones(1)), %s\n" % returned)["ok"]["form"]
            self.assertEqual((form["returned"], form["inputs"], form["several"]), expected)
        named = HEAD + "def make():\n    return dict(model=nn.ReLU(), inputs=torch.ones(1))\n"
        self.assertEqual(self.described(named)["ok"]["form"], {"returned": "dict", "inputs": "tensor", "several": False})

    def test_facts_of_a_module(self):
        facts = self.described(LINEAR % "torch.ones(1, 4)")["ok"]
        self.assertIs(facts["four_dimensional"], False)
        self.assertIs(self.described(HEAD + "def make():\n    return nn.Conv2d(3, 2, 1), torch.ones(3, 8, 8)\n")["ok"]["four_dimensional"], True)
        self.assertEqual((facts["parameters"], facts["parameter_bytes"], facts["dtype"]), (10, 40, "float32"))
        self.assertEqual((facts["device"], facts["training"], facts["has_metric"]), ("cpu", False, False))
        self.assertEqual(facts["torch"], str(torch.__version__))
        self.assertEqual(facts["model_class"], "torch.nn.modules.linear.Linear")
        self.assertEqual(facts["notes"], [])
        self.assertEqual(len(facts["source_sha256"]), 64)
        self.assertEqual(facts["outputs"], [{"name": "output", "element_type": "float", "dims": [1, 2]}])
        self.assertEqual(facts["parameter_types"], {"float": 10})
        self.assertTrue(facts["device_name"])

    def test_training_mode_and_random_outputs_are_noted(self):
        facts = self.described(HEAD + "def make():\n    return nn.Dropout(), torch.ones(50)\n")["ok"]
        self.assertTrue(facts["training"])
        self.assertEqual(facts["notes"][0]["code"], "ridgeline_infer.training_mode")
        self.assertEqual(facts["notes"][1]["code"], "ridgeline_infer.random_by_seed")
        part = self.described(HEAD + "def make():\n    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout()).eval()\n"
                                     "    model[1].train()\n    return model, torch.ones(2, 4)\n")["ok"]
        self.assertEqual(part["notes"][0]["arguments"], {"parts": 1, "names": ["1 (BatchNorm1d)"]})

    def test_only_parts_that_ask_for_their_mode_count(self):
        wrapper = HEAD + ("class Wrapper(nn.Module):\n    def __init__(self, part):\n        super().__init__()\n        self.part = part.eval()\n"
                          "    def forward(self, x):\n        return self.part(x)\n"
                          "def make():\n    return %s, torch.ones(2, 4)\n")
        for model in ("Wrapper(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout()))", "nn.Linear(4, 4)",
                      "nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0))"):
            self.assertEqual(self.described(wrapper % model)["ok"]["notes"], [], model)
        own = wrapper.replace("return self.part(x)", "return self.part(x) + (1 if self.training else 0)")
        notes = self.described(own % "Wrapper(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))")["ok"]["notes"]
        self.assertEqual(notes[0]["arguments"], {"parts": 1, "names": ["itself (Wrapper)"]})

    def test_state_and_changed_inputs_are_noted(self):
        counter = HEAD + "n = [0]\ndef model(x):\n    n[0] += 1\n    return x + n[0]\ndef make():\n    return model, torch.ones(1)\n"
        note = self.described(counter)["ok"]["notes"][0]
        self.assertEqual((note["code"], note["arguments"]["size"]), ("ridgeline_infer.keeps_state", False))
        grows = HEAD + ("kept = []\ndef model(x):\n    kept.append(x)\n    return torch.cat(kept)\n"
                        "def make():\n    return model, torch.ones(1)\n")
        self.assertTrue(self.described(grows)["ok"]["notes"][0]["arguments"]["size"])
        own = HEAD + ("dice = torch.Generator()\ndef make():\n"
                      "    return (lambda x: x + torch.rand(1, generator=dice)), torch.ones(1)\n")
        self.assertEqual(self.described(own)["ok"]["notes"][0]["code"], "ridgeline_infer.random")
        changed = HEAD + "def make():\n    return (lambda x: x.add_(1)), torch.ones(1)\n"
        self.assertEqual([note["code"] for note in self.described(changed)["ok"]["notes"]], ["ridgeline_infer.changes_inputs"])

    def test_wrong_returns_are_the_users(self):
        for returned, text in (
                ("nn.Linear(1, 1)", "infer.py:make returned a torch.nn.modules.linear.Linear; expected (model, inputs)"),
                ("None", "returned None; expected"),
                ("(nn.Linear(1, 1),)", "returned 1 values; expected"),
                ("dict(model=len)", "a dict without 'inputs'"),
                ("dict(model=len, inputs=torch.ones(1), metrics=len)", "the key 'metrics'; expected only model, inputs, metric"),
                ("(5, torch.ones(1))", "the model of infer.py:make is a int; expected"),
                ("(len, [])", "an empty list"),
                ("(len, 'text')", "inputs of infer.py:make is a str; expected a tensor"),
                ("(len, (1, 2))", "holds no tensor"),
                ("(len, [torch.ones(1), [torch.ones(1)]])", "input set 1 of infer.py:make is a list; expected"),
                ("(len, {1: torch.ones(1)})", "the key 1; expected names"),
                ("(len, torch.ones(1), 0.5)", "the metric of infer.py:make is a float; expected a function"),
                ("((lambda x: 'text'), torch.ones(1))", "the model returned a str without tensors")):
            error = self.described(HEAD + "def make():\n    return %s\n" % returned)["error"]
            self.assertTrue(error["user_error"], error)
            self.assertIn(text, error["message"])
            self.assertNotIn("traceback", error)
        self.assertIn("takes arguments", self.described(HEAD + "def make(batch):\n    pass\n")["error"]["message"])
        self.assertIn("exit code 3", self.described("import sys\nsys.exit(3)\n")["error"]["message"])
        answer, _ = self.talk("", [{"op": "describe"}, {"op": "close"}], target="infer.py")
        self.assertIn("expected FILE.py:FUNCTION", answer["error"]["message"])


class TracebackTest(Served):
    def test_an_exception_in_the_function_shows_the_users_lines_only(self):
        code = HEAD + "def load():\n    return nn.Linear(4, 2)(torch.ones(1, 3))\n\n\ndef make():\n    return load(), 1\n"
        error = self.described(code)["error"]
        self.assertEqual(error["type"], "RuntimeError")
        self.assertFalse(error["user_error"])
        self.assertEqual(error["traceback"], ["infer.py:8 in make: return load(), 1",
                                              "infer.py:4 in load: return nn.Linear(4, 2)(torch.ones(1, 3))"])

    def test_at_most_six_frames_the_last(self):
        code = HEAD + "def down(n):\n    return down(n - 1) if n else {}['key']\ndef make():\n    return down(9)\n"
        frames = self.described(code)["error"]["traceback"]
        self.assertEqual(len(frames), 6)
        self.assertTrue(all(frame.startswith("infer.py:4 in down: return down") for frame in frames), frames)

    def test_while_the_script_is_read(self):
        self.assertEqual(self.described("import torch\nx = 1 / 0\n")["error"]["traceback"], ["infer.py:2 in <module>: x = 1 / 0"])
        self.assertEqual(self.described("def make(:\n    pass\n")["error"]["traceback"], ["infer.py:1: def make(:"])

    def test_of_a_call_of_the_model_and_of_the_metric(self):
        code = HEAD + ("class Net(nn.Module):\n    def forward(self, x):\n        return x.view(7)\n"
                       "def make():\n    return Net(), torch.ones(3)\n")
        self.assertEqual(self.described(code)["error"]["traceback"], ["infer.py:5 in forward: return x.view(7)"])
        code = LINEAR % "torch.ones(1, 4), (lambda out: out.nothing)"
        answers = self.talk(code, [{"op": "prepare", "settings": {}}, {"op": "outputs"}, {"op": "close"}])
        self.assertEqual(len(answers[1]["error"]["traceback"]), 1)

    def test_a_cause_is_searched_and_circles_end(self):
        first, second = ValueError("a"), ValueError("b")
        first.__cause__, second.__cause__ = second, first
        self.assertEqual(user_frames(first), [])


class TrialTest(Served):
    def test_a_plain_trial(self):
        prepared, called, outputs, proof = self.trial(LINEAR % "torch.ones(3, 4)", calls=7)
        self.assertEqual((prepared["compile_s"], prepared["notes"]), (0.0, []))
        self.assertEqual(len(called["ns"]), 7)
        self.assertTrue(all(one > 0 for one in called["ns"]))
        both = [{"name": name, "element_type": "float", "dims": [3, 2], "bytes": 24} for name in ("output", "output (second inputs)")]
        self.assertEqual(outputs, {"sets": [both], "metric": None})
        self.assertEqual(proof, {"settings": {}, "compiled_frames": 0, "graph_breaks": 0, "break_reasons": [], "recompiles": 0,
                                 "graph_captured": False, "sdpa": "", "tf32": None, "peak_gpu_bytes": None, "problems": []})

    def test_sets_are_called_in_turn_and_go_on(self):
        code = HEAD + ("seen = []\ndef model(x):\n    seen.append(int(x))\n    return torch.tensor(seen)\n"
                       "def make():\n    return model, [torch.tensor(1), torch.tensor(2), torch.tensor(3)]\n")
        requests = [{"op": "prepare", "settings": {}}, {"op": "call", "count": 2}, {"op": "call", "count": 2}, {"op": "outputs"}]
        answers = self.talk(code, requests + [{"op": "close"}])
        self.assertEqual([[out["dims"][0] for out in one] for one in answers[3]["ok"]["sets"]], [[8, 9], [10, 11], [12, 13]])
        last = array.array("q", self.bytes[-13 * 8:])
        # Warm-up, the four calls, the outputs: twice, though such short inputs have no others.
        self.assertEqual(list(last), [1, 2, 3, 1, 2, 3, 1, 1, 1, 2, 2, 3, 3])

    def test_bytes_of_all_outputs_one_after_another(self):
        code = HEAD + ("import dataclasses\n@dataclasses.dataclass\n"
                       "class Out:\n    logits: object\n    hidden: tuple\n    text: str\n"
                       "def model(x):\n    inner = torch.tensor([1.5]).bfloat16(), {'k': torch.tensor([True])}\n"
                       "    return Out(torch.tensor([[1., 2.], [3., 4.]]).t(), inner, 'x')\n"
                       "def make():\n    return model, torch.ones(1)\n")
        outputs = self.trial(code)[2]["sets"][0]
        self.assertEqual([(one["name"], one["element_type"], one["dims"], one["bytes"]) for one in outputs],
                         [(name + mark, kind, dims, size) for mark in ("", " (second inputs)") for name, kind, dims, size in
                          (("logits", "float", [2, 2], 16), ("hidden.0", "float", [1], 4), ("hidden.1.k", "bool", [1], 1))])
        self.assertEqual(self.bytes, (array.array("f", [1, 3, 2, 4, 1.5]).tobytes() + b"\x01") * 2)

    def test_the_seed_is_set_before_the_function_and_before_outputs(self):
        code = HEAD + "def make():\n    return (lambda x: torch.cat([x, torch.rand(2)])), torch.rand(2)\n"
        self.trial(code, calls=1)
        first = self.floats()
        self.trial(code, calls=6)
        self.assertEqual(self.floats(), first)
        self.assertEqual(first[:2], first[2:4])
        self.assertEqual(first[4:6], [first[1], first[0]])

    def test_metric(self):
        self.assertEqual(self.trial(LINEAR % "torch.ones(3, 4), (lambda out: out.shape[0] / 2)")[2]["metric"], 1.5)
        several = LINEAR % "[torch.ones(3, 4), torch.ones(5, 4)], (lambda outs: sum(len(out) for out in outs))"
        self.assertEqual(self.trial(several)[2]["metric"], 8.0)
        self.assertEqual(self.trial(LINEAR % "[torch.ones(3, 4)], (lambda outs: len(outs))")[2]["metric"], 1.0)
        self.assertEqual(self.trial(LINEAR % "torch.ones(1, 4), (lambda out: out.numpy().sum() * 0 + 2)")[2]["metric"], 2.0)
        bad = self.trial(LINEAR % "torch.ones(3, 4), (lambda out: float('nan'))")[2]
        self.assertEqual((bad["metric"], bad["metric_not_finite"]), (None, True))
        halves = LINEAR % "torch.ones(3, 4), (lambda out: 1 if out.dtype == torch.float32 else 0)"
        self.assertEqual(self.trial(halves, torch_precision="bf16")[2]["metric"], 1)
        own = (LINEAR % "torch.ones(3, 4).bfloat16(), (lambda out: 1 if out.dtype == torch.bfloat16 else 0)").replace(".eval()", ".bfloat16()")
        self.assertEqual(self.trial(own)[2]["metric"], 1)
        requests = [{"op": "prepare", "settings": {}}, {"op": "outputs"}, {"op": "close"}]
        answers = self.talk(LINEAR % "torch.ones(3, 4), (lambda out: 'good')", requests)
        self.assertIn("the metric of infer.py:make returned a str; expected a number", answers[1]["error"]["message"])

    def test_wrong_requests_are_answers(self):
        prepare = {"op": "prepare", "settings": {}}
        answers = self.talk(LINEAR % "torch.ones(1, 4)", [{"op": "call", "count": 1}, prepare, prepare, {"op": "nonsense"},
                                                          {"op": "describe"}, {"op": "close"}])
        self.assertEqual([answer.get("error", {}).get("type") for answer in answers],
                         ["ValueError", None, "ValueError", "ValueError", None, None])

    def test_the_example_as_the_tool_starts_it(self):
        ours, theirs = socket.socketpair()
        env = dict(os.environ, RIDGELINE_CHANNEL_FD=str(theirs.fileno()), PYTHONPATH=os.path.join(ROOT, "python"),
                   PYTHONDONTWRITEBYTECODE="1")
        child = subprocess.Popen([sys.executable, "-m", "ridgeline_infer"], env=env, cwd=ROOT, pass_fds=[theirs.fileno()])
        theirs.close()
        with ours, ours.makefile("rw") as stream:
            for request in ({"op": "describe", "target": "examples/infer.py:make"}, {"op": "close"}):
                stream.write(json.dumps(request) + "\n")
                stream.flush()
                self.assertIn("ok", json.loads(stream.readline()))
        self.assertEqual(child.wait(timeout=60), 0)


class BatchTest(Served):
    CODE = HEAD + "def make():\n    torch.manual_seed(0)\n    return nn.Linear(4, 2).eval(), %s\n"
    TWO = "torch.arange(8.).reshape(2, 4)"

    def test_rows_are_repeated_and_outputs_with_them(self):
        prepared, _, _, _ = self.trial(self.CODE % self.TWO)
        own = self.floats()
        self.assertEqual((prepared["items"], len(own)), (2, 4 + 4))  # the second inputs' outputs too
        self.assertNotEqual(own[:4], own[4:])
        prepared, _, outputs, proof = self.trial(self.CODE % self.TWO, batch_size=5)
        self.assertEqual((prepared["items"], outputs["sets"][0][0]["dims"]), (5, [5, 2]))
        self.assertEqual((proof["settings"], proof["problems"]), ({"batch_size": 5}, []))
        expected = (own[:4] * 3)[:10] + (own[4:] * 3)[:10]
        self.assertEqual(len(self.floats()), len(expected))
        for a, b in zip(self.floats(), expected):
            self.assertAlmostEqual(a, b, 5)

    def test_every_input_of_every_set_and_no_scalar(self):
        code = HEAD + ("def model(x, scale, more):\n    return x * scale + more['y']\n"
                       "def make():\n    return model, [(torch.ones(3, 2), torch.tensor(2.), dict(y=torch.ones(3, 2)))] * 2\n")
        prepared, _, outputs, _ = self.trial(code, batch_size=6, torchscript="trace")
        self.assertEqual(prepared["items"], 6)
        self.assertEqual([one_set[0]["dims"] for one_set in outputs["sets"]], [[6, 2], [6, 2]])
        self.assertEqual(set(self.floats()), {3.0})

    def test_the_metric_sees_the_users_rows(self):
        code = self.CODE % (self.TWO + ", (lambda out: len(out))")
        self.assertEqual(self.trial(code, batch_size=8)[2]["metric"], 2)
        self.assertIn("batch_size 1 is less than the 2 rows of the inputs", self.refused(code, batch_size=1))

    def test_layout_is_kept(self):
        code = HEAD + ("def model(x):\n    return torch.full(x.shape[:1], float(x.is_contiguous(memory_format=torch.channels_last)))\n"
                       "def make():\n    return model, torch.ones(1, 3, 4, 4).contiguous(memory_format=torch.channels_last)\n")
        self.trial(code, batch_size=2)
        self.assertEqual(set(self.floats()), {1.0})

    def test_what_cannot_be_batched(self):
        differing = HEAD + "def make():\n    return (lambda x, y: x @ y), (torch.ones(2, 3), torch.ones(3, 2))\n"
        self.assertIn("inputs with one first dimension", self.refused(differing, batch_size=4))
        self.assertEqual(self.trial(differing)[0]["items"], 1)
        mean = HEAD + "def make():\n    return (lambda x: x.mean(0, keepdim=True)), torch.ones(1, 3)\n"
        self.assertIn("batch_size 4: output does not follow: of 1 rows its shape is [1, 3], of 4 rows [1, 3]",
                      self.refused(mean, batch_size=4))
        fixed = HEAD + "def make():\n    return (lambda x: x.reshape(1, 6)), torch.ones(1, 6)\n"
        self.assertIn("batch_size 2 is not possible here: shape '[1, 6]' is invalid", self.refused(fixed, batch_size=2))


class SettingsTest(Served):
    def plain(self):
        self.trial(CNN)
        return self.floats()

    def close(self, first, second, within):
        self.assertEqual(len(first), len(second))
        self.assertLess(max(abs(a - b) for a, b in zip(first, second)), within)

    def test_grad_modes(self):
        code = HEAD + ("class Net(nn.Module):\n    def forward(self, x):\n"
                       "        return torch.tensor([torch.is_grad_enabled(), torch.is_inference_mode_enabled()])\n"
                       "def make():\n    return Net(), torch.ones(1)\n")
        for chosen, seen in (({}, b"\x01\x00"), ({"grad_mode": "no_grad"}, b"\x00\x00"), ({"grad_mode": "inference_mode"}, b"\x00\x01")):
            proof = self.trial(code, **chosen)[3]
            self.assertEqual((self.bytes, proof["settings"], proof["problems"]), (seen * 2, chosen, []))

    def test_a_model_that_needs_gradients_refuses_no_grad(self):
        code = HEAD + ("def model(x):\n    x = x.clone().requires_grad_()\n    return torch.autograd.grad((x * x).sum(), x)[0]\n"
                       "def make():\n    return model, torch.ones(3)\n")
        self.assertIn("grad_mode no_grad is not possible here: ", self.refused(code, grad_mode="no_grad"))
        self.assertEqual(self.trial(code)[3]["problems"], [])
        self.assertEqual(self.described(code)["ok"]["notes"][0]["code"], "ridgeline_infer.computes_gradients")

    def test_channels_last(self):
        plain = self.plain()
        proof = self.trial(CNN, channels_last=True, grad_mode="no_grad")[3]
        self.assertEqual((proof["settings"], proof["problems"]), ({"channels_last": True, "grad_mode": "no_grad"}, []))
        self.close(self.floats(), plain, 1e-4)
        self.assertIn("four dimensions; the model has none", self.refused(LINEAR % "torch.ones(1, 4)", channels_last=True))
        self.assertEqual(self.trial(CNN, channels_last=False)[3]["problems"], [])

    def test_channels_last_that_was_not_taken_over_is_a_problem(self):
        code = CNN.replace("    return model.eval()", "    model.to = lambda **k: model\n    return model.eval()")
        self.assertEqual(self.trial(code, channels_last=True)[3]["problems"], ["channels_last was set to True and is False"])

    def test_torchscript(self):
        plain = self.plain()
        for kind in ("trace", "freeze"):
            prepared, _, _, proof = self.trial(CNN, torchscript=kind, grad_mode="no_grad")
            self.assertGreater(prepared["compile_s"], 0)
            self.assertEqual((proof["settings"]["torchscript"], proof["problems"]), (kind, []))
            self.close(self.floats(), plain, 1e-4)
        training = HEAD + "def make():\n    return nn.Linear(4, 2), torch.ones(1, 4)\n"
        self.assertIn("model.eval()", self.refused(training, torchscript="freeze"))

    def test_torchscript_with_keywords_constants_and_dictionaries(self):
        code = HEAD + ("class Net(nn.Module):\n    def forward(self, x, scale=None, flip=False):\n"
                       "        y = x * scale['s']\n        return {'y': -y if flip else y, 'x': x + 1}\n"
                       "def make():\n    return Net().eval(), [dict(x=torch.full((n,), 2.), scale=dict(s=torch.tensor(3.)), flip=True)\n"
                       "                         for n in (1, 2)]\n")
        outputs = self.trial(code, torchscript="trace")[2]["sets"]
        self.assertEqual([[one["name"] for one in one_set] for one_set in outputs], [["y", "x", "y (second inputs)", "x (second inputs)"]] * 2)
        self.assertEqual(self.floats(), [-6, 3] * 2 + [-6, -6, 3, 3] * 2)
        self.assertIn("differ in their tensors only", self.refused(code.replace("flip=True", "flip=n == 1"), torchscript="trace"))

    def test_torchscript_notes_fixed_decisions_and_refuses_what_it_cannot_trace(self):
        branch = HEAD + ("class Net(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n"
                         "def make():\n    return Net().eval(), torch.ones(2)\n")
        self.assertEqual(self.trial(branch, torchscript="trace")[0]["notes"][0]["arguments"], {"decisions": 1})
        odd = HEAD + ("class Out:\n    pass\nclass Net(nn.Module):\n    def forward(self, x):\n        return {'a': x, 'b': Out()}\n"
                      "def make():\n    return Net(), torch.ones(2)\n")
        self.assertIn("torchscript trace is not possible", self.refused(odd, torchscript="trace"))

    def test_a_trace_that_fits_the_first_input_set_only(self):
        code = HEAD + ("class Net(nn.Module):\n    def forward(self, x):\n        return sum(x.unbind(0))\n"
                       "def make():\n    return Net().eval(), [torch.ones(3, 2), torch.ones(5, 2)]\n")
        message = self.refused(code, torchscript="trace")
        self.assertTrue(message.startswith("torchscript trace is not possible here: "), message)
        self.assertIn("Expected 3 elements in a list but found 5", message)

    def test_threads(self):
        self.assertEqual(self.trial(CNN, torch_threads=2)[3]["settings"], {"torch_threads": 2})

    def test_precision(self):
        plain = self.plain()
        for precision in ("autocast_bf16", "bf16"):
            _, _, outputs, proof = self.trial(CNN, torch_precision=precision, grad_mode="no_grad")
            self.assertEqual((proof["settings"]["torch_precision"], proof["problems"]), (precision, []))
            self.assertEqual((outputs["sets"][0][0]["element_type"], outputs["sets"][0][0]["bytes"]), ("float", 40))
            self.close(self.floats(), plain, 0.1)
            self.assertNotEqual(self.floats(), plain)
        self.trial(CNN, torch_precision="autocast_bf16", torchscript="trace", grad_mode="no_grad")
        self.close(self.floats(), plain, 0.1)
        self.assertNotEqual(self.floats(), plain)
        integers = HEAD + "def make():\n    return nn.Embedding(4, 3), torch.tensor([1, 2])\n"
        self.assertEqual(self.trial(integers, torch_precision="bf16")[3]["problems"], [])
        function = HEAD + "def make():\n    return torch.relu, torch.ones(1)\n"
        self.assertIn("needs a torch.nn.Module", self.refused(function, torch_precision="bf16"))

    @unittest.skipIf(NEW_TORCH, "half precision exists there")
    def test_half_precision_that_this_torch_lacks(self):
        self.assertIn("torch_precision fp16 is not possible here", self.refused(CNN, torch_precision="fp16"))
        self.assertIn("autocast_fp16", self.refused(CNN, torch_precision="autocast_fp16"))

    def test_the_reference(self):
        choices = "    torch.backends.cudnn.benchmark = True\n    torch.set_float32_matmul_precision('high')"
        code = CNN.replace("def make():", "def make():\n" + choices)
        proof = self.trial(code, reference=True, grad_mode="no_grad")[3]
        self.assertEqual((proof["settings"], proof["problems"]), ({"reference": True, "grad_mode": "no_grad"}, []))
        self.assertIn("changes the reference", self.refused(CNN, reference=True, channels_last=True))

    def test_tf32(self):
        code = CNN.replace("def make():", "def make():\n    torch.set_float32_matmul_precision('high')")
        self.assertEqual(self.trial(code, allow_tf32=False)[3]["settings"], {"allow_tf32": False})

    def test_what_needs_a_gpu(self):
        for key, value in (("allow_tf32", True), ("cudnn_benchmark", True), ("cuda_graph", True)):
            self.assertIn("%s needs a CUDA device; the model is on cpu" % key, self.refused(CNN, **{key: value}))

    @unittest.skipIf(NEW_TORCH, "this torch compiles")
    def test_this_torch_has_no_compiler(self):
        self.assertIn("has no torch.compile; expected 2.0 or later", self.refused(CNN, torch_compile="default"))

    @unittest.skipIf(NEW_TORCH, "this torch chooses")
    def test_this_torch_cannot_choose_attention(self):
        self.assertIn("cannot choose the sdpa backend flash", self.refused(CNN, sdpa_backend="flash"))

    def test_values_and_their_exclusions(self):
        for chosen, text in (({"speed": 1}, "unknown setting 'speed'"), ({"torch_threads": 0}, "expected a positive number"),
                             ({"cuda_graph": 1}, "expected one of true, false"), ({"grad_mode": "off"}, "no_grad, inference_mode"),
                             ({"compile_dynamic": True}, "without torch_compile"),
                             ({"torch_compile": "default", "torchscript": "trace"}, "exclude each other"),
                             ({"torch_compile": "reduce-overhead", "cuda_graph": True}, "exclude each other"),
                             ({"torch_compile": "default", "compile_freezing": True}, "needs grad_mode")):
            with self.assertRaises(BadSettings) as raised:
                settings.checked(chosen)
            self.assertIn(text, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
