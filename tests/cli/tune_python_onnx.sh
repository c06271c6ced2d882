#!/usr/bin/env bash
# `ridgeline tune --python --also onnx`: the exported model in ONNX Runtime and PyTorch's in one ranking. Debian's PyTorch.
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
bad "--also onnx" "only a PyTorch model" -- tune model.onnx --also onnx
bad "--save-onnx kept.onnx" "nothing is exported" -- tune --python infer.py:make --save-onnx kept.onnx
bad "--batch 8" "exported" -- tune --python infer.py:make --also onnx --batch 8
bad "no folder none" -- tune --python infer.py:make --also onnx --save-onnx none/kept.onnx
bad "unknown value" "onnx" -- tune --python infer.py:make --also tensorrt
bad "--runtime" "--also onnx" -- tune --python infer.py:make --runtime /x
"$PYTHON" -c 'import torch' 2>/dev/null || finish

cat >infer.py <<'PY'
import torch

class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten())

    def forward(self, images, scale):
        return {"features": self.body(images) * scale, "parts": (images.sum(), scale + 1)}

def make():
    return Scaled().eval(), {"images": torch.randn(1, 3, 32, 32), "scale": torch.tensor([2.0, 3.0])[:1]}

class Own(torch.autograd.Function):
    @staticmethod
    def forward(context, values):
        return values * 2

class Unexportable(torch.nn.Module):
    def forward(self, values):
        return Own.apply(torch.fft.fft(values).real)

def unexportable():
    return Unexportable(), torch.randn(1, 64)

def several():
    return torch.nn.ReLU(), [torch.ones(1, 4), torch.ones(2, 4)]
PY
QUICK=(--python-exe "$PYTHON" --also onnx --time 50ms --no-comparisons --db r.db --json)
run '0|1|4' tune --python infer.py:make "${QUICK[@]}" --max-time 30s --save-onnx kept.onnx
json '.runtime.name' torch
json '.candidates[0].engine' torch
json '[.candidates[] | select(.engine == "onnxruntime")] | length >= 1' true
# What the exported model answers, with other inputs too, is what PyTorch answers.
json '[.trials[] | select(.configuration.candidate and .status == "ok")] | length >= 1' true
json 'all(.trials[] | select(.configuration.candidate and .status == "ok"); .output_error.scaled_max_abs < 1e-4)' true
json '[.trials[] | select(.configuration.candidate and .configuration.grad_mode)] | length' 0
checks=$((checks + 1))
[ -s kept.onnx ] || problem "--save-onnx wrote nothing"
err "was written to kept.onnx"
run '0|1|4' tune kept.onnx --time 50ms --max-time 10s --no-comparisons --db r.db --json
json '[.model.inputs[].name] | sort | join(" ")' "images scale"

run '0|1|4' tune --python infer.py:unexportable "${QUICK[@]}" --max-time 12s
json '[.notes[].text | select(startswith("not a candidate: ONNX by the exporter"))] | length' 2
json '[.trials[] | select(.status == "ok")] | length >= 1' true
run '0|1|4' tune --python infer.py:several "${QUICK[@]}" --max-time 12s
err "2 input sets"
finish
