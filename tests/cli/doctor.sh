#!/usr/bin/env bash
# doctor on a machine without anything, with ONNX Runtime only, and on made-up GPUs in every state.
source "$(dirname "$0")/lib.sh"
: "${FAKE_NVML:?the fake management library}" "${FAKE_NVML_OLD:?}" "${FAKE_NVML_MISSING:?}" "${FAKE_CUDA:?}" "${CRASHING:?}"
unset CUDA_VISIBLE_DEVICES VIRTUAL_ENV CONDA_PREFIX CUDA_HOME LD_LIBRARY_PATH
export LC_ALL=C.UTF-8
mkdir empty gpu crash
ORT=$RIDGELINE_ORT_LIBRARY

# doctor ARGUMENTS...: runs it, whatever it finds; the exit code is the one that the JSON names.
doctor() {
  checks=$((checks + 1))
  timeout 120 "$RIDGELINE" doctor --json "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
  local code=$?
  LAST="ridgeline doctor --json $*"
  [ "$code" = "$(jq -r .exit_code <"$WORK/out")" ] || problem "$LAST: exit code $code, JSON says $(jq -r .exit_code <"$WORK/out")"
}
# check ID STATUS [TEXT]: of the last run; TEXT is in its evidence.
check() {
  json "[.checks[] | select(.id == \"$1\")] | length" 1
  json ".checks[] | select(.id == \"$1\") | .status" "$2"
  [ $# -lt 3 ] && return
  checks=$((checks + 1))
  jq -r ".checks[] | select(.id == \"$1\") | .evidence.text" <"$WORK/out" | grep -qF -- "$3" ||
    problem "$LAST: no \"$3\" in the evidence of $1: $(jq -r ".checks[] | select(.id == \"$1\") | .evidence.text" <"$WORK/out")"
}
# gpus LIBRARY SCRIPT: the driver's libraries are fakes in that state.
gpus() {
  ln -sf "$1" gpu/libnvidia-ml.so.1
  ln -sf "$FAKE_CUDA" gpu/libcuda.so.1
  export LD_LIBRARY_PATH="$WORK/gpu" RL_FAKE_NVML_SCRIPT="$2"
}

# Nothing: no ONNX Runtime, no driver.
export RIDGELINE_ORT_LIBRARY="$WORK/empty"
doctor
json .exit_code 3
json .status fail
check libraries.onnxruntime fail "no libonnxruntime.so in that folder"
check inference.cpu skipped "no ONNX Runtime"
check gpu.list skipped
json '[.checks[] | select(.group == "gpu" and .status != "skipped")] | length' 0
json '[.checks[] | select((.status == "warn" or .status == "fail") and .fix == null)] | length' 0
json '(.counts | add) == (.checks | length)' true
export RIDGELINE_ORT_LIBRARY="$ORT"
run 3 doctor --ort-library "$WORK/none.so"
out "✗ fail  ONNX Runtime"
out "-> "
LC_ALL=C run 3 doctor --no-load --ort-library "$WORK/none.so"
out "  x fail  ONNX Runtime"
out "  + ok    Memory"
checks=$((checks + 1))
LC_ALL=C grep -q '[^ -~]' "$WORK/out" && problem "not ASCII with LC_ALL=C: $(LC_ALL=C grep '[^ -~]' "$WORK/out")"

# ONNX Runtime on the CPU.
doctor
check libraries.onnxruntime ok "$ORT"
check inference.cpu ok "CPU: "
check inference.cuda skipped
if [ -z "$(ls /dev/nvidia* 2>/dev/null)" ]; then
  check driver.nvml skipped
  json '[.checks[] | select((.group == "driver" or .group == "libraries" or .group == "inference" or .group == "gpu") and (.status == "warn" or .status == "fail"))] | length' 0
fi
check machine.disk ok
doctor --no-load
check inference.cpu skipped "--no-load"

# A healthy GPU: its driver answers, a short load runs on it.
gpus "$FAKE_NVML" healthy
doctor
check driver.nvml ok "580.65.06, supports CUDA 13.0; 1 GPU(s)"
check gpu.list ok "NVIDIA H200 (Hopper 9.0"
check gpu.ecc ok
check gpu.persistence ok
check gpu.nvlink ok "all 18 links up"
checks=$((checks + 1))  # how fast the fake copies is the machine's affair
jq -r '.checks[] | select(.id == "gpu.pcie") | .evidence.text' <"$WORK/out" | grep -q '^generation 5 x16, .* GB/s' || problem "no PCIe line"
check gpu.clocks ok "of 1980 MHz"
[ -e "$ORT/libonnxruntime_providers_cuda.so" ] || check libraries.cuda_provider fail "libonnxruntime_providers_cuda.so is missing"
doctor --no-load
check gpu.pcie skipped "--no-load"
check gpu.clocks skipped

# States of GPUs.
gpus "$FAKE_NVML" throttled
doctor
check gpu.throttle warn "sw_thermal_slowdown"
check gpu.clocks warn "of 1980 MHz, throttled by"
gpus "$FAKE_NVML" mig
doctor --no-load
check gpu.sharing ok "MIG is on, 2 instances"
gpus "$FAKE_NVML" eight
doctor --no-load
check gpu.list ok "8 x NVIDIA H200"
check gpu.ecc ok "all 8: "
gpus "$FAKE_NVML" errors
doctor --no-load
check gpu.list fail "GPU 0 does not answer"
check gpu.ecc skipped "cannot be read"
check gpu.nvlink skipped "cannot be read"
gpus "$FAKE_NVML_OLD" healthy
doctor --no-load
check driver.nvml ok "450.65.06"
check driver.readings warn "nvmlDeviceGetFieldValues"
gpus "$FAKE_NVML_MISSING" healthy
doctor --no-load
check driver.readings warn "nvmlDeviceGetMemoryInfo"
check gpu.ecc skipped "cannot be read"
json '[.checks[] | select(.group == "gpu" and .status == "fail")] | length' 0
gpus "$FAKE_NVML" healthy
# Keys by number, see tests/fakes/fake_nvml.h.
key() { awk -v name="$1" '/^enum FakeNvmlKey/ { on = 1; next } on && /^  kFake/ { sub(",.*", ""); gsub(" ", ""); if ($0 == name) print n + 0; n++ }' "$SOURCE/tests/fakes/fake_nvml.h"; }
RL_FAKE_NVML="$(key kFakePersistenceOff)=1,$(key kFakeEccUncorrected)=4,$(key kFakeRemapPending)=1,$(key kFakePcieWidth)=8" doctor
check gpu.persistence warn
check gpu.ecc fail "4 uncorrected errors"
check gpu.remapped_rows warn
check gpu.pcie warn "x16 is possible"
RL_FAKE_NVML="$(key kFakeInitStatus)=9" doctor --no-load
check driver.nvml fail "Driver Not Loaded"
CUDA_VISIBLE_DEVICES=7 doctor
check driver.visible fail "leaves 0 of 1"
check gpu.pcie skipped "hidden by CUDA_VISIBLE_DEVICES"
gpus "$FAKE_NVML" eight
CUDA_VISIBLE_DEVICES=1,9 doctor --no-load
check driver.visible warn "leaves 1 of 8: there is no 9"
CUDA_VISIBLE_DEVICES=9,1 doctor --no-load
check driver.visible fail "leaves 0 of 8: there is no 9"
gpus "$FAKE_NVML" healthy
RL_FAKE_NVML_PROCESSES="0:$$:1000:5:C" doctor --no-load
check gpu.processes warn "by no listed process"
gpus "$FAKE_NVML" lost  # while doctor looks
RL_FAKE_NVML="$(key kFakeFailAfterMs)=300" doctor
check gpu.list fail "GPU 0 does not answer: "
json '.checks[] | select(.id == "gpu.list") | .commands | length' 2
gpus "$FAKE_NVML" slow
doctor
check gpu.list ok "NVIDIA H200 (Hopper 9.0"
check gpu.nvlink ok "all 18 links up"
check gpu.clocks ok "of 1980 MHz"
gpus "$FAKE_NVML" eight
"$RIDGELINE" doctor --fix-hints --no-load >text 2>/dev/null
checks=$((checks + 4))
grep -qF '…' text && problem "cut lines where there is no terminal: $(grep -F '…' text)"
[ "$(grep -c 'sudo fuser -v /dev/nvidia' text)" = 1 ] || problem "not one fuser line: $(cat text)"
[ -z "$(grep '^      ' text | sort | uniq -d)" ] || problem "commands told twice: $(cat text)"
awk '/^[A-Z]/ && head { exit 1 } { head = /^[A-Z]/ && NR > 1 } END { exit head }' text || problem "a heading without a line: $(cat text)"

# Damaged and crashing libraries are lines of the report.
rm -f gpu/*
echo "no library" >gpu/libnvidia-ml.so.1
doctor --no-load
check driver.nvml fail "is damaged"
rm -f gpu/*
unset RL_FAKE_NVML_SCRIPT
ln -s "$CRASHING" crash/libcupti.so.13
LD_LIBRARY_PATH="$WORK/crash" doctor --no-load
check libraries.cupti warn "libcupti.so.13 ends the process that opens it: SIGSEGV"
unset LD_LIBRARY_PATH
echo "no library" >bad.so
RIDGELINE_VIDEO_PLUGIN=$PWD/bad.so doctor --no-load
check libraries.video skipped "lost: videos, cameras and addresses as sources of stream; to get them: install FFmpeg"
RIDGELINE_VIDEO_PLUGIN=$PWD/nowhere.so doctor --no-load
check libraries.video skipped "nowhere.so: no such file"

# Parts of CUDA that ONNX Runtime does not load are found on disk; what lies beside them counts.
FAKES=$(dirname "$RIDGELINE")/../tests/unit/workload/gpu_libraries
if [ -e "$FAKES/libcublas.so.991" ]; then
  mkdir cuda cpu
  cp -L "$ORT/libonnxruntime.so.1" cpu/libonnxruntime.so  # without the providers that the cache may hold
  export RIDGELINE_ORT_LIBRARY="$WORK/cpu"
  cp "$FAKES/libcublas.so.991" cuda/libcublas.so.13
  cp "$FAKES/libcudart.so.991" cuda/libcudart.so.13
  LD_LIBRARY_PATH="$WORK/cuda" doctor --no-load
  check libraries.cuda_runtime ok "$WORK/cuda/libcudart.so.13 (13.2), not loaded by ONNX Runtime"
  check libraries.cublas skipped "libcublasLt.so.991 is not found"
  cp "$FAKES/libcublasLt.so.991" cuda/
  LD_LIBRARY_PATH="$WORK/cuda" doctor --no-load
  check libraries.cublas ok "$WORK/cuda/libcublas.so.13 (13.1.4), not loaded by ONNX Runtime"
  run 0 worker --open-library "$WORK/cuda/libcublas.so.13"
  out '"error":""'
  export RIDGELINE_ORT_LIBRARY="$ORT"
fi
# The script that fetches an ONNX Runtime is named where it lies; a copy elsewhere has none.
mkdir -p elsewhere/bin
ln "$RIDGELINE" elsewhere/bin/ridgeline 2>/dev/null || cp "$RIDGELINE" elsewhere/bin/
for program in "$RIDGELINE" "$WORK/elsewhere/bin/ridgeline"; do
  checks=$((checks + 1))
  found=$(RIDGELINE_ORT_LIBRARY= HOME=$WORK/empty PATH=/usr/bin:/bin "$program" doctor --no-load --json |
    jq -r '.checks[] | select(.id == "libraries.onnxruntime") | .status + " " + (.commands | join(";"))')
  case $program in
    "$RIDGELINE") want="fail $SOURCE/scripts/fetch_onnxruntime.sh;pip install onnxruntime" ;;
    *) want="fail pip install onnxruntime" ;;
  esac
  [ "$found" = "$want" ] || [ "${found%% *}" = ok ] || problem "$program: \"$found\", expected \"$want\""
done
doctor --no-load --ort-library "$CRASHING"
check libraries.onnxruntime fail "SIGSEGV"

# Every runtime is listed: what is merely found and broken is a warning, a package without a library too.
venv=$WORK/venv/lib/python3.11/site-packages/onnxruntime/capi
mkdir -p "$venv" "$WORK/old/lib/python3.11/site-packages/onnxruntime/capi"
ln -s "$CRASHING" "$venv/libonnxruntime.so.1.30.0"
touch "$WORK/old/lib/python3.11/site-packages/onnxruntime/capi/_pybind_state.py"
VIRTUAL_ENV=$WORK/venv CONDA_PREFIX=$WORK/old doctor --no-load
check libraries.onnxruntime ok "from RIDGELINE_ORT_LIBRARY=$ORT"
check libraries.other_runtime.1 warn "SIGSEGV"
check libraries.other_runtime.2 warn "only the Python module"
json '.runtimes | map(.taken) | map(tostring) | join(" ")' "true false false"
json '.runtimes[0].problem' null
json '.runtimes[1].from.text' "Python environment VIRTUAL_ENV=$WORK/venv"
check libraries.telemetry ok

# A model of the user.
doctor --model missing.onnx
check model.file fail "missing.onnx"
MODEL=$(find "${MODELS:-/nowhere}" -name '*.onnx' 2>/dev/null | sort | head -n 1)
if [ -n "$MODEL" ]; then
  doctor --model "$MODEL"
  check model.file ok "nodes"
  check model.opset ok "which ONNX Runtime"
  check model.memory ok
  check model.cpu ok "CPU: "
fi

# For people: a screen of 80 columns, a checklist, colour only when it is wanted.
COLUMNS=80 "$RIDGELINE" doctor --no-load >text 2>/dev/null
checks=$((checks + 3))
grep -q '^  ✓ ok    Memory' text || problem "no line for the memory"
grep -q $'\x1b' text && problem "colours in a file"
CLICOLOR_FORCE=1 NO_COLOR= "$RIDGELINE" doctor --no-load 2>/dev/null | grep -q $'\x1b\[32m' || problem "no colour where it is forced"
if command -v script >/dev/null; then
  TERM=xterm COLUMNS=80 script -qec "$RIDGELINE doctor --no-load" /dev/null </dev/null | tr -d '\r' | sed 's/.*\x1b\[K//' >screen
  checks=$((checks + 1))
  [ "$(grep -v '\$ ' screen | LC_ALL=C.UTF-8 wc -L)" -le 80 ] || problem "lines past 80 columns: $(cat screen)"
  # Libraries are told in full: their lines without breaks and indents hold the path.
  checks=$((checks + 2))
  sed -n '/^Libraries/,/^Inference/p' screen | tr -d ' \n' | grep -qF -- "$(tr -d ' ' <<<"$ORT")" ||
    problem "the path of ONNX Runtime is cut: $(cat screen)"
  sed -n '/^Libraries/,/^Inference/p' screen | grep -q '…' && problem "libraries are cut: $(cat screen)"
  for locale in C C.UTF-8; do
    TERM=xterm COLUMNS=80 LC_ALL=$locale script -qec "$RIDGELINE doctor --no-load" /dev/null </dev/null >"screen.$locale"
  done
  checks=$((checks + 2))
  grep 'NVIDIA driver' screen.C | grep -qF '...' || problem "no cut line in the C locale: $(cat screen.C)"
  grep 'NVIDIA driver' screen.C.UTF-8 | grep -qF '…' || problem "no cut line in a UTF-8 locale: $(cat screen.C.UTF-8)"
fi
export RIDGELINE_ORT_LIBRARY="$WORK/empty"
run 3 doctor --fix-hints --no-load
out "Checklist for this machine"
out "[ ] ONNX Runtime: "
out "[x] Memory: "
bad "--fix-hints" -- doctor --fix-hints --json
bad "--nonsense" -- doctor --nonsense
for flags in --json --fix-hints ""; do
  [ -e /dev/full ] || continue
  checks=$((checks + 1))
  "$RIDGELINE" doctor --no-load $flags >/dev/full 2>err
  code=$?
  [ "$code" = 2 ] && [ "$(head -c 200 err)" = "error: cannot write to standard output"$'\n'"hint: is the disk full?" ] ||
    problem "doctor $flags >/dev/full: exit code $code, $(cat err)"
done
finish
