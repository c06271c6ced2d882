#!/usr/bin/env bash
# Several GPUs and a profile for each, on made-up GPUs: a fake management library stands in for the driver's.
source "$(dirname "$0")/lib.sh"
: "${FAKE_NVML:?the fake management library}"
mkdir nvml
ln -s "$FAKE_NVML" nvml/libnvidia-ml.so.1
unset CUDA_VISIBLE_DEVICES
gpus() { export LD_LIBRARY_PATH="$WORK/nvml" RL_FAKE_NVML_NAMES="$1"; }
no_gpus() { unset LD_LIBRARY_PATH RL_FAKE_NVML_NAMES; }
S='synthetic:surface=flat,slowdown=100% if graph_optimization_level!=all'

# Which GPUs: mistakes name what there is.
gpus "NVIDIA L4,NVIDIA H200,NVIDIA H200"
bad "--devices 3" "no GPU \"3\"" "0 (NVIDIA L4, GPU-fake-0), 1 (NVIDIA H200, GPU-fake-1)" -- tune "$S" --devices 3
bad "--devices 1,1" "named twice" -- tune "$S" --devices 1,1
bad "--devices 1" "provider cpu" -- tune "$S" --devices 1 --provider cpu
export CUDA_VISIBLE_DEVICES=2
bad "--devices 1" "2 (NVIDIA H200, GPU-fake-2)" -- tune "$S" --devices 1
unset CUDA_VISIBLE_DEVICES
run 0 tune "$S" "${FAST[@]}" --quick --devices 1,2 --db r.db --json
json '.environment.gpus | length' 2
json '.environment.gpus[0].uuid' GPU-fake-1

# GPUs of two models: a run and a report file each, an array as JSON, and --config is for --for-gpu to write.
printf 'onnxruntime:\n  graph_optimization_level: basic\n' >several.yaml
cp several.yaml before.yaml
TWO=(tune "$S" "${FAST[@]}" --quick --max-time 1m --devices 0,1 --config several.yaml --db several.db)
export RIDGELINE_SYNTHETIC_GPU=1
run 0 "${TWO[@]}" --report several.md --report several.html --json
err "0 (NVIDIA L4, GPU-fake-0): tuned separately"
json length 2
json '[.[].run.device] | join(" ")' "gpu:GPU-fake-0 gpu:GPU-fake-1"
json '[.[].run.id] | unique | length' 2
checks=$((checks + 1))
[ "$(echo several*.md several*.html)" = "several-gpu0-nvidia-l4.md several-gpu1-nvidia-h200.md several-gpu0-nvidia-l4.html several-gpu1-nvidia-h200.html" ] ||
  problem "reports: $(echo several*.md several*.html)"
run 0 "${TWO[@]}"
out "several.yaml: not touched"
same several.yaml before.yaml
run 0 apply latest --config several.yaml --for-gpu --dry-run --db several.db
out "+  NVIDIA L4:"
out "+  NVIDIA H200:"
# What has no default that could be written instead is named.
printf '  gpu_mem_limit_gb: 8\n' >>several.yaml
run 0 apply latest --config several.yaml --dry-run --db several.db
out "several.yaml: remove onnxruntime.gpu_mem_limit_gb: 8 by hand: the recommendation leaves it"
unset RIDGELINE_SYNTHETIC_GPU
no_gpus

# The run's answer as a profile, beside one that is there; the rest keeps every byte.
cat >config.yaml <<'Y'
# my service
onnxruntime:
  graph_optimization_level: basic   # from a blog
  intra_op_num_threads: 1

profiles:
  NVIDIA H200:   # from the server
    prefer_nhwc: true
Y
cp config.yaml original.yaml
run 0 tune "$S" "${FAST[@]}" --quick --db profiles.db --config config.yaml --no-apply
run 0 apply latest --config config.yaml --for-gpu --dry-run --db profiles.db
out "+  cpu:"
same config.yaml original.yaml
run 0 apply latest --config config.yaml --for-gpu --db profiles.db --yes
out "backup"
head -n 8 config.yaml >head.yaml
checks=$((checks + 1))
[ "$(diff original.yaml config.yaml | grep -c '^<')" -eq 0 ] || problem "lines changed: $(cat config.yaml)"
grep -q '^    graph_optimization_level: all' config.yaml || problem "no profile: $(cat config.yaml)"
same head.yaml original.yaml
run 0 apply latest --config config.yaml --for-gpu --db profiles.db --yes
out "already has"

# The profile of the machine at hand, into the main section.
cp config.yaml profiles.yaml
run 0 apply --match --config config.yaml --yes
out "no GPU: profile cpu"
checks=$((checks + 1))
grep -q '^  graph_optimization_level: all   # from a blog' config.yaml || problem "not matched: $(cat config.yaml)"
gpus "NVIDIA H200"
run 0 apply --match --config config.yaml --yes
out "0 (NVIDIA H200, GPU-fake-0): profile NVIDIA H200"
checks=$((checks + 1))
grep -q '^  prefer_nhwc: true' config.yaml || problem "not matched: $(cat config.yaml)"
run 0 apply --match --config config.yaml --yes
out "already has"
no_gpus
run 0 apply --match --config config.yaml --yes
checks=$((checks + 1))
grep -q '^  prefer_nhwc: false' config.yaml || problem "another profile's value stayed: $(cat config.yaml)"
run 0 rollback --config config.yaml --yes
run 0 rollback --config config.yaml --yes
run 0 rollback --config config.yaml --yes
same config.yaml profiles.yaml

# A limit has no default that could be written: what a profile leaves of another one, or of its older self, is named.
cat >limit.yaml <<'Y'
onnxruntime:
  gpu_mem_limit_gb: 8
profiles:
  NVIDIA H200:
    gpu_mem_limit_gb: 8
  NVIDIA L4:
    prefer_nhwc: true
  cpu:
    gpu_mem_limit_gb: 8
Y
run 0 apply latest --config limit.yaml --for-gpu --dry-run --db profiles.db
out "limit.yaml: remove profiles.cpu.gpu_mem_limit_gb: 8 by hand: the newest answer leaves it"
gpus "NVIDIA H200"
run 0 apply --match --config limit.yaml --yes
no_out "by hand"
gpus "NVIDIA L4"
run 0 apply --match --config limit.yaml --yes
out "limit.yaml: remove onnxruntime.gpu_mem_limit_gb: 8 by hand: the profile NVIDIA L4 leaves it"
no_gpus

# What cannot be.
gpus "Tesla T4"
bad "no profile \"Tesla T4\"" "\"NVIDIA H200\", \"cpu\"" -- apply --match --config config.yaml
bad "--match" "leave out the run" -- apply latest --match --config config.yaml
bad "no run given" -- apply --config config.yaml --db profiles.db
printf 'profiles:\n  dev:\n    port: 80\n' >other.yaml
bad "other.yaml:3:5" "port" -- apply --match --config other.yaml
finish
