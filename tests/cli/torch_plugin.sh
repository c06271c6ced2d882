#!/usr/bin/env bash
# Training on the LibTorch plugin: models, data and mistakes, with the real LibTorch where the plugin was built.
source "$(dirname "$0")/lib.sh"
[ -n "${TORCH_PLUGIN:-}" ] && [ -f "$TORCH_PLUGIN" ] || { echo "the LibTorch plugin was not built"; exit 77; }
PYTHON=${RIDGELINE_TEST_PYTHON:-/usr/bin/python3}
export RIDGELINE_TORCH_PLUGIN=$TORCH_PLUGIN OMP_NUM_THREADS=1
unset XDG_DATA_HOME

script=
"$TRAINING_FILES" data.h5 || problem "no data"
if "$PYTHON" -c 'import torch' 2>/dev/null; then
  "$PYTHON" - <<'PYTHON' || problem "no TorchScript file"
import torch
model = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 4))
torch.jit.script(model).save("net.pt")
torch.jit.freeze(torch.jit.script(model.eval())).save("frozen.pt")
PYTHON
  script=net.pt
  bad "frozen.pt" "nothing to train" -- bench --model frozen.pt --devices cpu --option input=12
fi
checks=$((checks + 1))
python3 "$SOURCE/tests/cli/train_worker_client.py" data.h5 "$script" "$RIDGELINE" train-worker --plugin "$TORCH_PLUGIN" >client 2>client.err ||
  { cat client; tail -n 5 client.err; problem "the worker's client"; }

SMALL=(--devices cpu --batch-sizes 16 32 --steps 5 --no-diagnosis --search grid)
run 0 bench --model mlp --data-path data.h5 --num-workers 0 1 "${SMALL[@]}" --option hidden=32 --db r.db --json
json '.request.job.kind' native
json '.request.job.options.classes' 4
json '.request.job.options.input_dataset' x
json '[.trials[] | select(.outcome.status != "ok")] | length' 0
json '[.trials[] | select(.data == "loader") | .outcome.measurement.resources.last_loss] | all(. > 0 and . < 3)' true
json '[.trials[] | select(.data == "loader") | .outcome.measurement.resources.loader_read_s] | all(. >= 0)' true
run 0 bench --model mlp --data-path data.h5 --num-workers 0 1 "${SMALL[@]}" --option hidden=32 --db r.db
out "Recommended"
out "classes       4  (the data)"
out "cached"


# Data alone: the built-in model, and one line says so.
run 0 bench --data-path data.h5 --option input_dataset=grid --num-workers 0 "${SMALL[@]}" --db alone.db
out "model         gnn, depth 3, hidden 16  (built in, as neither --model nor --python names yours)"
printf 'data:\n  data_path: data.h5\n' >path.yaml
run 0 bench --config path.yaml --option input_dataset=grid --option hidden=8 --num-workers 0 "${SMALL[@]}" --db alone.db --json
json '.request.job | "\(.target) \(.options.depth) \(.options.hidden)"' "gnn 3 8"
bad "gnn" "--model mlp" -- bench --data-path data.h5 --devices cpu

# Batches larger than the data set: left out with a note; where none is left, bad input.
samples=$("$RIDGELINE" bench --model mlp --devices cpu --data-path data.h5 --batch-sizes 16000000 2>&1 >/dev/null | grep -o '[0-9]* samples' | head -n 1)
bad "--batch-sizes 1000000" "data.h5" "$samples" -- bench --model mlp --devices cpu --data-path data.h5 --batch-sizes 1000000
printf 'data:\n  batch_size: 1000000\n' >large.yaml
bad "large.yaml:2" "$samples" -- bench --model mlp --devices cpu --data-path data.h5 --batch-sizes 16 --config large.yaml
run 0 bench --model mlp --data-path data.h5 --num-workers 0 --devices cpu --batch-sizes 16 1000000 --steps 5 --no-diagnosis --stability-run 0 --option hidden=32 --db left.db
out "batch sizes   16  (--batch-sizes; left out: 1000000, larger than the data's $samples)"

bad "no model \"resnte18\"" "did you mean \"resnet18\"" -- bench --model resnte18 --devices cpu
bad "loss=mes" "did you mean \"mse\"" -- bench --model mlp --devices cpu --option loss=mes
bad "optimizer=adamm" "did you mean \"adam\"" -- bench --model mlp --devices cpu --option optimizer=adamm
bad "no option \"hiden\"" "did you mean \"hidden\"" -- bench --model mlp --devices cpu --option hiden=3
bad "no dataset \"q\"" "it has" -- bench --model mlp --devices cpu --data-path data.h5 --option input_dataset=q
bad "not finite" "sample 7" -- bench --model mlp --devices cpu --data-path data.h5 --option input_dataset=broken
bad "labels; expected equally many" -- bench --model mlp --devices cpu --data-path data.h5 --option label_dataset=few
bad "is about a data file" -- bench --model mlp --devices cpu --option label_dataset=few
bad "classes=2" "has 4 of them" -- bench --model mlp --devices cpu --data-path data.h5 --option classes=2
bad "option input" "has its own form" -- bench --model mlp --devices cpu --data-path data.h5 --option input=3
bad "are no images" -- bench --model resnet18 --devices cpu --data-path data.h5
bad "no TorchScript file" "data.h5" -- bench --model data.h5 --devices cpu --option input=3
bad "no file gone.pt" -- bench --model gone.pt --devices cpu --option input=3
printf 'no HDF5' >text.h5
bad "text.h5" -- bench --model mlp --devices cpu --data-path text.h5

# The plugin itself.
unset RIDGELINE_TORCH_PLUGIN
printf 'no library' >broken.so
bad "broken.so" "cannot be loaded" "build_torch_plugin.sh" -- bench --model mlp --devices cpu --torch-plugin broken.so
bad "gone.so" "no such file" -- bench --model mlp --devices cpu --torch-plugin gone.so
RIDGELINE_TORCH_PLUGIN=gone.so bad "RIDGELINE_TORCH_PLUGIN gone.so" -- bench --model mlp --devices cpu
bad "undefined symbol" "build_torch_plugin.sh" -- bench --model mlp --devices cpu --torch-plugin "$FAKE_MISSING"
# A library that it needs is damaged.
mkdir torn
printf x >"torn/$(ldd "$TORCH_PLUGIN" | awk '/libc10/ {print $1}')"
LD_LIBRARY_PATH=$PWD/torn bad "libc10" "cannot be loaded" "build_torch_plugin.sh" -- bench --model mlp --devices cpu --torch-plugin "$TORCH_PLUGIN"
# A torch that was upgraded under the plugin: its version.py says so.
mkdir -p pip/torch/lib
ldd "$TORCH_PLUGIN" | awk '/libtorch|libc10/ {print $3}' | xargs -I{} ln -s {} pip/torch/lib/
printf "__version__ = '1.14.0+cu117'\n" >pip/torch/version.py
LD_LIBRARY_PATH=$PWD/pip/torch/lib bad "was built for torch" "finds torch 1.14.0+cu117" "build_torch_plugin.sh" -- bench --model mlp --devices cpu --torch-plugin "$TORCH_PLUGIN"
bad "started by" -- train-worker --plugin "$TORCH_PLUGIN"

# Built anew against the torch of a Python, as users do.
if "$PYTHON" -c 'import torch' 2>/dev/null; then
  checks=$((checks + 1))
  [ ! -x /usr/lib/ccache/g++ ] || export CXX=/usr/lib/ccache/g++
  CXXFLAGS=-O0 "$SOURCE/scripts/build_torch_plugin.sh" --python "$PYTHON" >built 2>built.err || problem "$(tail -n 3 built.err)"
  [ "$(cat built)" = "$HOME/.local/share/ridgeline/plugins/ridgeline_torch.so" ] || problem "built as $(cat built)"
  grep -q "ridgeline bench --model mlp" built.err || problem "the script does not say what to try"
  run 0 bench --model mlp --option input=4 --option hidden=4 --devices cpu --batch-sizes 4 --steps 3 --no-diagnosis --db s.db --json
  json '.request.job.runtime | startswith("torch ")' true
fi
checks=$((checks + 1))
"$SOURCE/scripts/build_torch_plugin.sh" --python no-such-python 2>build.err && problem "no Python, no error"
grep -q "no-such-python" build.err || problem "$(cat build.err)"
checks=$((checks + 1))
"$SOURCE/scripts/build_torch_plugin.sh" --nonsense 2>build.err && problem "nonsense was accepted"
grep -q "unknown argument --nonsense" build.err || problem "$(cat build.err)"
finish
