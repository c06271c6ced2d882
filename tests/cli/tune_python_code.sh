#!/usr/bin/env bash
# The answer of `ridgeline tune --python`: what compiling costs, the code that was run, and the config keys.
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
cat >infer.py <<'PY'
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for _ in range(40):
            layers += [torch.nn.Linear(16, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, x=None, scale=1.0, more=()):
        return {"out": self.layers(x) * scale + more[0]}

def net():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    return Net().eval()

def named():
    one = {"x": torch.randn(4, 16), "scale": 2.0, "more": [torch.ones(1)]}
    return dict(model=net(), inputs=[one, dict(one, x=torch.randn(2, 16))])

def plain():
    return net().layers, torch.randn(4, 16)
PY

bad "--python nothing" -- tune --python nothing --python-exe "$PYTHON"
"$PYTHON" -c 'import torch, sys; sys.exit(torch.__version__ >= "2")' 2>/dev/null || finish  # a later one has no TorchScript setting

# What is set now was meant for a GPU and does not run here, so that the fastest is recommended without a comparison.
for target in plain named; do
  printf 'torch:\n  torch_compile: reduce-overhead\n  allow_tf32: true   # ours\n' >config.yaml
  run 0 tune --python "infer.py:$target" --python-exe "$PYTHON" --set torch_threads=1 --time 200ms --max-time 40s \
    --config config.yaml --no-apply --db r.db --json
  json '.current.configuration | "\(.torch_compile) \(.allow_tf32)"' "null null"
  json '.verdict.decision' change
  json '.verdict.configuration.torchscript | . == "freeze" or . == "trace"' true
  json '.verdict.compile_s > 0 and .verdict.compile_from_warm_cache == false' true
  json '[.trials[] | select(.configuration.torchscript and .status == "ok") | .compile_s > 0] | all' true
  json '[.trials[] | select(.configuration.torchscript | not) | .compile_s // 0] | add' 0
  json '.verdict.code.python | contains("torch.jit.trace(") and contains("for _ in range(3):")' true
  json '.verdict.code.python_run.problem' null
  json '.verdict.code.python_run.median_s > 0' true
  run 0 show latest --all --db r.db
  out "The code, around the line that makes your model:"
  out "The Python lines were run with"
  run 0 report latest --db r.db --report report.md --report report.html
  checks=$((checks + 2))
  grep -q "torch.jit.trace(" report.md || problem "no code in the report"
  grep -q "torch.jit.trace(" report.html || problem "no code in the HTML report"
done

run 0 apply latest --db r.db --config config.yaml --yes
is "$(grep torch_compile config.yaml)" "  torch_compile: reduce-overhead" "a key that this release of torch does not know is left alone"
checks=$((checks + 2))
grep -q '^  torchscript: ' config.yaml || problem "no torchscript in $(cat config.yaml)"
grep -q '^  allow_tf32: true   # ours' config.yaml || problem "allow_tf32 is gone from $(cat config.yaml)"
printf 'batch: 4\n' >none.yaml
run 0 apply latest --db r.db --config none.yaml --config-section torch --dry-run
out '+torch:'
no_out '+  torch_compile'
best=$("$RIDGELINE" show latest --db r.db --json | jq .verdict.trial_id)
id=$("$RIDGELINE" history --ids --db r.db | head -n 1)
run '0|1' rerun "$id/$best" --db r.db
out "ratio "
run '0|1' compare "$id/1" "$id/$best" --db r.db
out "settings:"
finish
