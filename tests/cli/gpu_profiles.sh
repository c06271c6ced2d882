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

# Which GPUs: slips name what there is.
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
run 0 apply latest --config config.yaml --for-gpu --db profiles.db
out "backup"
head -n 8 config.yaml >head.yaml
checks=$((checks + 1))
[ "$(diff original.yaml config.yaml | grep -c '^<')" -eq 0 ] || problem "lines changed: $(cat config.yaml)"
grep -q '^    graph_optimization_level: all' config.yaml || problem "no profile: $(cat config.yaml)"
same head.yaml original.yaml
run 0 apply latest --config config.yaml --for-gpu --db profiles.db
out "already holds"

# The profile of the machine at hand, into the main section.
cp config.yaml profiles.yaml
run 0 apply --match --config config.yaml
out "no GPU: profile cpu"
checks=$((checks + 1))
grep -q '^  graph_optimization_level: all   # from a blog' config.yaml || problem "not matched: $(cat config.yaml)"
gpus "NVIDIA H200"
run 0 apply --match --config config.yaml
out "0 (NVIDIA H200, GPU-fake-0): profile NVIDIA H200"
checks=$((checks + 1))
grep -q '^  prefer_nhwc: true' config.yaml || problem "not matched: $(cat config.yaml)"
run 0 apply --match --config config.yaml
out "already holds"
no_gpus
run 0 apply --match --config config.yaml
checks=$((checks + 1))
grep -q '^  prefer_nhwc: false' config.yaml || problem "another profile's value stayed: $(cat config.yaml)"
run 0 rollback --config config.yaml --yes
run 0 rollback --config config.yaml --yes
run 0 rollback --config config.yaml --yes
same config.yaml profiles.yaml

# What cannot be.
gpus "Tesla T4"
bad "no profile \"Tesla T4\"" "\"NVIDIA H200\", \"cpu\"" -- apply --match --config config.yaml
bad "--match" "leave out the run" -- apply latest --match --config config.yaml
bad "no run is named" -- apply --config config.yaml --db profiles.db
printf 'profiles:\n  dev:\n    port: 80\n' >other.yaml
bad "other.yaml:3:5" "port" -- apply --match --config other.yaml
finish
