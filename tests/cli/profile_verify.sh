#!/usr/bin/env bash
# profile --verify: the change that a finding proposes, in turns with the program as it is.
TOOLS=$(cd "$(dirname "$0")/../tools" && pwd)
source "$(dirname "$0")/lib.sh"
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
unset PYTHONPATH RIDGELINE_PYTHON_FOLDER
export TMPDIR=$WORK/tmp PYTHONDONTWRITEBYTECODE=1
mkdir tmp
cat >trace.json <<'END'
{"deviceProperties": [{"id": 0, "name": "NVIDIA H100", "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
 "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 10, "dur": 20},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 12, "dur": 3, "args": {"correlation": 5}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 50.5,
  "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [4, 1, 1], "block": [128, 1, 1]}}]}
END
# Reports steps as the hooks do, without PyTorch: program.py CASE.
cat >program.py <<'END'
import json, os, sys, time
case, folder, change = sys.argv[1], os.environ["RIDGELINE_PROFILE_STEPS"], os.environ["RIDGELINE_PROFILE_CHANGE"]
def blocks(milliseconds, count=12):
    return [{"steps": 4, "ns": int(4e6 * milliseconds * (1 + 0.001 * ((os.getpid() + number) % 5)))} for number in range(count)]
if case == "crash" and change:
    raise RuntimeError("shapes differ")
if case == "broken":
    raise SystemExit(3)
if case == "slow":
    time.sleep(60)
time_ms = {"faster": 8, "slower": 12}.get(case, 10) if change else 10
facts = {"steps": 48, "blocks": blocks(time_ms, 2 if case == "short" else 12), "warm_up": 1, "trains": True, "is_cut": False,
         "outputs": {"tensors": ["0 float [2]"], "values": [1.0, None, 2.0 + (1e-5 if change else 0)]},
         "losses": {"1": 0.5, "2": 0.25},
         "change": {"name": change, "count": 1, "place": "Net", "reason": "", "detail": ""} if change else None}
if case == "random":
    facts["outputs"]["values"][0] = os.getpid()
if case in ("already", "refused") and change:
    facts["change"].update(count=0, reason=case, detail="no kernel for it" if case == "refused" else "")
if case != "nothing":
    with open(os.path.join(folder, "steps-%d.json" % os.getpid()), "w") as file:
        json.dump(facts, file)
with open(os.environ["LOG"], "a") as log:
    log.write((change or "present") + "\n")
END
export LOG=$WORK/log
plant() { rm -f r.db*; run 0 profile import trace.json --db r.db --no-keep-trace --quiet; id=$(python3 "$TOOLS/plant_finding.py" r.db "$@"); }
verify() { run "$1" profile --db r.db --verify 1 "${@:2}"; }
case_of() { plant "${2:-elementwise-chain}" python3 "$WORK/program.py" "$1"; }

# A change that is faster: five processes each, in turns.
case_of faster
verify 0
out "Finding 1 of run $id"
out "The change makes a step faster: 1.2"
out "torch.compile around the outermost module"
out "20 %"
out "medians of 5 processes each"
out "The outputs of the first call differ by at most 5e-06"
out "Loss of backward pass 2: 0.25 without and 0.25 with the change"
is "$(tr '\n' ' ' <log)" "present compile compile present present compile compile present present compile " "order of the processes"
is "$(ls tmp)" "" "left in the temporary folder"
run 0 show --db r.db --json
json '.findings[0].verification.comparison.verdict' faster
json '.findings[0].verification.present_ns | length' 5
json '.findings[0].verification.changed_ns | length' 5
json '.findings[0].verification.change' compile
json '.findings[0].verification.what.text' "torch.compile around the outermost module"
run 0 show --db r.db
out "1. tried"
out "Predicted saving 20 %, measured"
run 0 show --db r.db --all
out "A step takes 10.0 ms without and 8.0"
run 0 report --db r.db --report page.html --report page.md latest
checks=$((checks + 1)); grep -q "redicted saving 20 %" page.html && grep -q "redicted saving 20 %" page.md || problem "the reports lack the verification"
verify 0 --json
json '.findings[0].verification.comparison.verdict' faster
run 0 profile "$id" --db r.db --verify 1 --quiet
is "$(cat out err)" "" "--quiet: output"

# Other answers.
case_of slower
verify 1
out "The change makes a step slower"
case_of same
verify 0
out "no significant difference"
case_of random
verify 0
out "they differ from run to run without the change"

# No answer.
no_answer() { case_of "$@"; verify 4; out "Not verified"; }
no_answer already
out "did not take effect: the program has it already"
no_answer refused
out "did not take effect: no kernel for it"
no_answer crash
out "failed with the change: "
out "shapes differ"
run 0 show --db r.db
out "failed with the change: "
no_answer broken
out "failed without the change"
no_answer nothing
out "No step was timed"
no_answer short
out "Too few steps to time, 48"
case_of slow
verify 4 --max-time 2s
out "--max-time left time for 0 processes without and 0 with the change"
is "$(ls tmp)" "" "left in the temporary folder"

# Ctrl-C: nothing is stored.
case_of slow
cat >interrupt.py <<'END'
import os, signal, subprocess, sys, time
ours = subprocess.Popen(sys.argv[1:], stdout=open("out", "w"), stderr=open("err", "w"), start_new_session=True)
time.sleep(3)
os.killpg(ours.pid, signal.SIGINT)
sys.exit(ours.wait(30))
END
checks=$((checks + 1)); python3 interrupt.py "$RIDGELINE" profile --db r.db --verify 1
is $? 130 "exit code after Ctrl-C"
run 0 show --db r.db --json
json '.findings[0].verification' null

# What no setting does.
case_of faster sync
verify 4
err "finding 1 (sync) needs an edit: no setting does it. Edit, then: ridgeline profile -- python3 $WORK/program.py faster; ridgeline compare $id latest:profile"

# change PYTHON: of the newest run.
change() {
  python3 - r.db "$1" <<'END'
import json, sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    key, text = store.execute("SELECT id, record FROM run_records ORDER BY id DESC LIMIT 1").fetchone()
    run = json.loads(text)
    exec(sys.argv[2])
    store.execute("UPDATE run_records SET record = ? WHERE id = ?", (json.dumps(run), key))
END
}
# A finding about a session of ONNX Runtime: what the hooks change is PyTorch's.
case_of faster
change 'run["answer"][0]["module"] = "run of vit.onnx/encoder"'
verify 4
err "finding 1 (elementwise-chain) needs an edit"
change 'run["answer"] = []'
verify 4
err "nothing to verify: run $id has no findings"

# Mistakes.
case_of faster
bad "--verify 2: run $id has 1 finding" "--section findings" -- profile --db r.db --verify 2
bad "--verify 0" -- profile --db r.db --verify 0
bad "--max-time: only --verify" -- profile --db r.db --max-time 5s model.onnx
bad "--provider: --verify runs a stored profile's own" -- profile --db r.db --verify 1 --provider cpu
bad "run nosuchrun is not in r.db" -- profile nosuchrun --db r.db --verify 1
mkdir elsewhere
cd elsewhere || exit 1
bad "was recorded in $WORK" "cd $WORK" -- profile --db ../r.db --verify 1
cd ..
run 0 profile import trace.json --db r.db --no-keep-trace --quiet
bad "was imported" "ridgeline profile --verify 1 -- python train.py" -- profile --db r.db --verify 1

# A model: one setting, compared as tune compares.
if [ -d "${MODELS:-}" ]; then
  run '0|4' profile "$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" --db m.db --provider cpu --set graph_optimization_level=disable_all \
    --time 500ms --no-keep-trace --verify 1 --json
  json '.findings[0].verification.change' graph_optimization_level=all
  json '.findings[0].verification.comparison.ratio > 1' true
  json '.request.model.configuration.graph_optimization_level' disable_all
  json '[.findings[0].verification.remarks[] | tostring | select(contains("verify_model_changed"))] | length' 0
  cp "$MODELS/ch_ppocr_mobile_v2.0_cls_infer.onnx" replaced.onnx
  run 0 profile replaced.onnx --db m.db --provider cpu --set graph_optimization_level=disable_all --time 500ms --no-keep-trace
  printf '\032\003new' >>replaced.onnx  # another producer_version; nothing else changes
  run '0|1|4' profile --db m.db --verify 1
  out "replaced.onnx has changed since it was profiled"
fi

# PyTorch itself.
if "$PYTHON" -c "import torch" 2>/dev/null; then
  cat >training.py <<'END'
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(*(torch.nn.Linear(32, 32) for _ in range(40)))
optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9, foreach=False)
x = torch.randn(8, 32)
for _ in range(80):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
END
  plant tiny-optimizer-kernels "$PYTHON" training.py
  HANG_LIMIT_S=600 verify '0|1|4'
  out "fused=True for the optimizer"
  out "Loss of backward pass 64"
  plant launch-bound "$PYTHON" training.py
  HANG_LIMIT_S=600 verify 4
  out "did not take effect: nothing ran on a GPU"
fi
finish
