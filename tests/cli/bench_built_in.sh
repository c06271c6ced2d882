#!/usr/bin/env bash
# Built-in models in Python, where there is no LibTorch plugin: with Debian's python3-torch and python3-h5py.
source "$(dirname "$0")/lib.sh"
PYTHON=/usr/bin/python3
"$PYTHON" -c 'import torch, h5py' 2>/dev/null || { echo "no torch and h5py in $PYTHON"; exit 77; }
PLUGIN=${TORCH_PLUGIN:-}
unset XDG_DATA_HOME RIDGELINE_TORCH_PLUGIN
export OMP_NUM_THREADS=1 HANG_LIMIT_S=280 PYTHONDONTWRITEBYTECODE=1
# The build folder has the plugin in ../lib, next to the program's own folder.
mkdir bin
ln "$RIDGELINE" bin/ridgeline 2>/dev/null || cp "$RIDGELINE" bin/ridgeline
BUILT=$RIDGELINE
RIDGELINE=$PWD/bin/ridgeline

"$PYTHON" - <<'END' || problem "no data"
import h5py, numpy, torch
random = numpy.random.default_rng(1)
with h5py.File("data.h5", "w") as file:
    x = random.standard_normal((600, 12), dtype="float32")
    file.create_dataset("x", data=x, chunks=(50, 12), compression="gzip", shuffle=True)
    file["y"] = x[:, :4].argmax(axis=1)
    file["height"] = x[:, 0]
    file["bytes"] = random.integers(0, 256, (600, 12), dtype="uint8")
    file["few"] = numpy.zeros(100, dtype="int64")
with h5py.File("grid.h5", "w") as file:
    file.create_dataset("images", data=random.integers(0, 256, (600, 2, 6, 6), dtype="uint8"), chunks=(50, 2, 6, 6))
    file["labels"] = random.integers(0, 5, 600, dtype="uint16")
torch.jit.script(torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))).save("net.pt")
END
printf 'data:\n  batch_size: 128\n  num_workers: 4\n' >train.yaml

# The guide's command; on a busy machine trials would take half a minute each.
run 0 bench --config train.yaml --data-path grid.h5 --batch-sizes 128 256 --num-workers 4 8 --steps 20 --db r.db --no-apply --max-time 60s
version=$("$PYTHON" -c 'import torch; print(torch.__version__)')
out "trained by    built-in models in Python: torch $version of "
out "python3  (there is no LibTorch plugin)"
out "model         gnn, depth 3, hidden 16  (built in, as neither --model nor --python names yours)"
out "classes       5  (the data)"
out "I/O(ms)"
out "highest throughput"
out "best efficiency"
out "Recommended"
run 0 bench --show latest --db r.db --json
json '[.trials[] | select(.outcome.status != "ok" and .outcome.status != "timeout")] | length' 0
json '.request.job | "\(.kind) \(.target) \(.options.input_dataset)"' "native gnn images"
json '[.trials[] | select(.data == "loader") | .outcome.measurement.resources.loader_cpu_s] | all(. >= 0)' true

# Another interpreter, random data, a TorchScript file, and one more run of a trial.
SMALL=(--devices cpu --batch-sizes 16 --steps 3 --no-diagnosis --stability-run 0 --db s.db)
run 0 bench --model mlp --option input=12 --option hidden=8 --python-exe "$PYTHON" "${SMALL[@]}" --json
json '.request.job.python' "$PYTHON"
json '[.trials[] | select(.outcome.status != "ok" and .outcome.status != "timeout")] | length' 0
run 0 bench --model net.pt --data-path data.h5 --num-workers 0 1 "${SMALL[@]}"
run "0|1" rerun latest --db s.db  # on a busy machine slower

# Mistakes.
bad "no model \"resnte18\"" "did you mean \"resnet18\"" -- bench --model resnte18 --devices cpu
bad "no option \"hiden\"" "did you mean \"hidden\"" -- bench --model mlp --devices cpu --option hiden=3
bad "labels; expected equally many" -- bench --model mlp --devices cpu --data-path data.h5 --option label_dataset=few
bad "are no images" -- bench --model resnet18 --devices cpu --data-path data.h5
bad "64 numbers for 192 labels" -- bench --model net.pt --data-path data.h5 --option loss=mse --option label_dataset=bytes "${SMALL[@]}"
printf 'no such format\n' >junk.h5
for model in "" mlp; do
  bad "junk.h5" -- bench ${model:+--model $model} --devices cpu --data-path junk.h5
  checks=$((checks + 1)); ! grep -q "another built-in model" "$WORK/err" || problem "$LAST: another model for a file that cannot be read"
done
bad "use another built-in model" -- bench --devices cpu --data-path data.h5 --option label_dataset=y
bad "is about a data file" -- bench --model mlp --devices cpu --option label_dataset=few
bad "--python-exe" "--torch-plugin" "give one" -- bench --model mlp --devices cpu --python-exe python3 --torch-plugin p.so
bad "--python-exe" "--python or a built-in model" -- bench --model synthetic --python-exe python3
bad "no Python interpreter gone" -- bench --model mlp --devices cpu --python-exe gone
printf '#!/bin/sh\nexec %s -S "$@"\n' "$PYTHON" >no-torch
chmod +x no-torch
bad "built-in models need torch, which ./no-torch does not have" "pip install torch h5py" -- bench --model mlp --devices cpu --python-exe ./no-torch
mkdir only no-h5py-bin
ln -s /usr/lib/python3/dist-packages/* only/ && rm -rf only/h5py*
printf '#!/bin/sh\nPYTHONPATH=$PYTHONPATH:%s exec %s -S "$@"\n' "$PWD/only" "$PYTHON" >no-h5py
chmod +x no-h5py
bad "reading HDF5 files needs h5py, which ./no-h5py does not have" "-m pip install h5py" -- bench --model mlp --devices cpu --data-path data.h5 --python-exe ./no-h5py

# Every model, loss, optimizer and data mode; a crash of a trial's fork is one of the process.
export PYTHONPATH=$SOURCE/python
checks=$((checks + 1))
python3 "$SOURCE/tests/cli/train_worker_client.py" data.h5 net.pt "$PYTHON" -m ridgeline_models >client 2>client.err ||
  { cat client; tail -n 5 client.err; problem "the worker's client"; }
# The same numbers of parameters as in the plugin.
if [ -f "$PLUGIN" ]; then
  checks=$((checks + 1))
  python3 "$SOURCE/tests/cli/model_parameters.py" "$PYTHON" -m ridgeline_models >python.txt || problem "parameters in Python"
  python3 "$SOURCE/tests/cli/model_parameters.py" "$BUILT" train-worker --plugin "$PLUGIN" >plugin.txt || problem "parameters in the plugin"
  same python.txt plugin.txt
fi
finish
