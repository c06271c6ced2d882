#!/usr/bin/env bash
# What answers of a PyTorch model are accepted: half precision, the user's metric, random outputs; and batches of it.
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
bad "--precision fp16" "only for PyTorch models" -- tune model.onnx --precision fp16
bad "--metric-loss 2%" "only for PyTorch models" -- tune model.onnx --metric-loss 0.02
bad "--metric-loss 150%" "below 100%" -- tune --python infer.py:make --metric-loss 150%
bad "--accuracy-tolerance 1e-3" "cosine" -- tune --python infer.py:make --precision auto --accuracy-tolerance 1e-3
bad "--metric-loss 2%" "off checks nothing" -- tune --python infer.py:make --metric-loss 2% --accuracy-tolerance off
"$PYTHON" -c 'import torch' 2>/dev/null || finish

cat >infer.py <<'PY'
import torch

class Product(torch.nn.Module):
    def __init__(self, factor, offset=0.0):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(factor))
        self.offset = offset

    def forward(self, x):
        return x * self.factor + self.offset - self.offset

def rows(count=2):
    torch.manual_seed(1)
    return torch.randn(count, 64)

def mild():
    return Product(3.0), rows()

def cancels():  # of 4096 and a fraction half precision keeps the 4096
    return Product(0.5, 4096.0), rows()

def overflows():
    return Product(7e4), rows()

def scored():
    model, x = cancels()
    wanted = model(x).detach()
    return model, x, lambda out: 1 - float((out - wanted).abs().mean())

def unscored():
    return Product(3.0), rows(), lambda out: float("nan")

def noisy():
    generator = torch.Generator()
    generator.seed()
    return (lambda x: x + 1e-3 * torch.rand(x.shape, generator=generator)), rows()

def forgotten():
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Dropout(0.5)), rows()

def pooled():
    return torch.nn.Linear(64, 8), rows(1)

def whole():
    return (lambda x: x.mean(0, keepdim=True)), rows(1)

def table():
    return (lambda x, table: x @ table), (rows(2), rows(64))
PY
# Only what is looked at here: the plain model, and it in half precision.
printf 'only_listed: true\nparameters:\n  torch_precision: [fp16]\n' >half.yaml
tune() { # tune EXIT FUNCTION ARGUMENTS...
  local expected=$1 function=$2
  shift 2
  run "$expected" tune --python "infer.py:$function" --python-exe "$PYTHON" --time 50ms --no-comparisons --max-time 60s --db r.db --json "$@"
}
FP16='.trials[] | select(.configuration.torch_precision == "fp16")'

tune '0|1|4' mild --precision fp16 --space half.yaml
json "$FP16 | .status" ok
json "$FP16 | .output_error.cosine > 0.999 and .output_error.shape_mismatch == false" true
json '.run.accuracy_gate.least_cosine' 0.999
json '.run.request.precision' fp16
# Each function of a file has answers of its own.
tune '0|1|4' cancels --precision fp16 --space half.yaml
json "$FP16 | .status" rejected_accuracy
json "$FP16 | .failure.message.text | test(\"cosine similarity to FP32 is 0.[0-9]+, minimum 0.999\")" true
run 0 report latest --db r.db --output report.md
checks=$((checks + 1))
grep -q "| Cosine |" report.md || problem "the report has no column Cosine"
tune '0|1|4' overflows --precision fp16 --space half.yaml
json "$FP16 | .status" rejected_accuracy
json "$FP16 | .failure.message.text | test(\"NaN or infinite\")" true

tune '0|1|4' scored --precision fp16 --space half.yaml --metric-loss 5%
json "$FP16 | .status" rejected_accuracy
json "$FP16 | .failure.message.text | test(\"^metric 0.[0-9]+, reference 1, maximum accepted loss 5 %\")" true
json '[.trials[] | .output_error.metric] | max == 1' true
COLUMNS=200 run 0 show latest --all --db r.db
out "Metric"
tune '0|1|4' scored --precision fp16 --space half.yaml --metric-loss 0.99
json "$FP16 | .status" ok
json "$FP16 | .cached" true
bad "the metric of the unchanged model's outputs is not finite" -- tune --python infer.py:unscored --python-exe "$PYTHON" --db r.db
bad "--metric-loss 1%: infer.py:mild returns no metric" -- tune --python infer.py:mild --python-exe "$PYTHON" --metric-loss 1% --db r.db
bad "--accuracy-tolerance 0.1: infer.py:scored returns a metric" -- tune --python infer.py:scored --python-exe "$PYTHON" --accuracy-tolerance 0.1 --db r.db

# By default half precision is not tried, and what was left out says why.
tune '0|1|4' mild
json '[.trials[] | select(.configuration.torch_precision)] | length' 0
json '.pruned[] | select(.key == "torch_precision") | .reason.text | test("--precision auto")' true

# Random outputs are accepted as far as the plain model's own differ, and the report says so.
printf 'only_listed: true\nparameters:\n  grad_mode: [grad, no_grad]\n' >plain.yaml
tune '0|1|4' noisy --space plain.yaml
json '[.trials[].status] | unique | join(" ")' ok
json '.run.accuracy_tolerance > 0.001' true
json 'any(.notes[].text; test("differ between two eager calls .random., even with the same seed"))' true
json 'any(.notes[].text; test("from run to run, so up to"))' true
tune '0|1|4' noisy --space half.yaml --precision fp16
json '.trials[0].status' ok
tune '0|1|4' forgotten --space plain.yaml
json '[.trials[].status] | unique | join(" ")' ok
json 'any(.notes[].text; test("differ between two eager calls .random.: the same seed"))' true
run 0 report latest --db r.db --output report.md
checks=$((checks + 1))
grep -q "differ between two eager calls" report.md || problem "the report does not say that outputs are random"

# Batches: rows of the function's inputs over and over, counted as items.
THROUGHPUT=(--objective throughput)
printf 'only_listed: true\nparameters:\n  batch_size: [4, 32]\n' >batch.yaml
tune '0|1|4' pooled "${THROUGHPUT[@]}" --space batch.yaml
json '[.trials[].status] | unique | join(" ")' ok
json '[.trials[] | .configuration.batch_size // 1] | sort | map(tostring) | join(" ")' "1 4 32"
json '(.ranking[] | select(.trial_id == 1) | .throughput_per_s) as $one | [.ranking[].throughput_per_s] | max > 4 * $one' true
tune '0|1|4' whole "${THROUGHPUT[@]}" --space batch.yaml
json '[.trials[] | select(.configuration.batch_size) | .status] | unique | join(" ")' invalid
json '.trials[] | select(.configuration.batch_size == 4) | .failure.message.text | test("output does not follow: of 1 rows")' true
json '.trials[0].status' ok
tune '0|1|4' table "${THROUGHPUT[@]}" --space plain.yaml
json '.pruned[] | select(.key == "batch_size") | .reason.text | test("is 2, that of .* is 64: they have no batch in common")' true
bad "--batch 8" "no batch in common" -- tune --python infer.py:table --python-exe "$PYTHON" --batch 8 --db r.db
bad "--batch 1" "1 means the 2 rows" -- tune --python infer.py:mild --python-exe "$PYTHON" --batch 1 --db r.db
finish
