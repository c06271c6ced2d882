#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Damages small traces at random, imports them and analyses what comes through, with AddressSanitizer and
# UndefinedBehaviorSanitizer, in build/fuzz. Stops at the first input that breaks something, and names it.
#   scripts/fuzz_traces.sh [--iterations N] [--seconds N] [--seed N] [--jobs N] [KIND]...
# --iterations: of each KIND of text (default 1000000; of databases a tenth); --seconds: at most so long a KIND; --jobs:
# KINDs at the same time (default 1). KINDs: kineto onnxruntime ncu snapshot ridgeline nsys (default: all).
set -euo pipefail
source "$(dirname "$0")/common.sh"
BUILD=$ROOT/build/fuzz
iterations=1000000 seconds=1000000 seed=1 jobs=1
kinds=()
while [ $# -gt 0 ]; do
  case $1 in
    --iterations | --seconds | --seed | --jobs)
      [[ ${2:-} =~ ^[0-9]+$ ]] || die "$1 needs a whole number"
      declare "${1#--}=$2"
      shift 2
      ;;
    -*) die "unknown option $1; see the head of $0" ;;
    *)
      kinds+=("$1")
      shift
      ;;
  esac
done
[ ${#kinds[@]} -gt 0 ] || kinds=(kineto onnxruntime ncu snapshot ridgeline nsys)

cmake -S "$ROOT" -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O2 -g1" -DRIDGELINE_SANITIZE=address,undefined \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 >"$BUILD.log" 2>&1 || die "cmake failed: $(tail -n 3 "$BUILD.log")"
cmake --build "$BUILD" --target rl_trace_fuzz -j "$jobs" >"$BUILD.log" 2>&1 || die "the build failed: $(grep -m 3 error "$BUILD.log")"

# Memory is bounded whatever a file claims.
export ASAN_OPTIONS=abort_on_error=0:hard_rss_limit_mb=2048:max_allocation_size_mb=1024:detect_leaks=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
shm=/dev/shm
[ -w "$shm" ] || shm=$BUILD
work=$(mktemp -d "$shm/rl-fuzz-XXXXXX")
trap 'rm -rf "$work"' EXIT

fuzz() {
  local kind=$1 count=$iterations
  rm -f "$BUILD/broken.$kind"
  [ "$kind" != nsys ] || count=$((iterations / 10))
  if ! "$BUILD/bin/rl_trace_fuzz" "$kind" --corpus "$ROOT/tests/fuzz/corpus" --work "$work/$kind" --iterations "$count" \
    --seconds "$seconds" --seed "$seed" 2>"$work/$kind.err"; then
    cp "$work/$kind/input.$kind" "$BUILD/broken.$kind"
    grep -m 12 -E 'broken property|runtime error|ERROR:|SUMMARY|^    #' "$work/$kind.err" >&2 || tail -n 5 "$work/$kind.err" >&2
    echo "$kind: $BUILD/broken.$kind breaks it: $BUILD/bin/rl_trace_fuzz $kind --corpus tests/fuzz/corpus --work /tmp --file $BUILD/broken.$kind" >&2
    return 1
  fi
}
failed=0
for kind in "${kinds[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || failed=1; done
  fuzz "$kind" &
done
while [ "$(jobs -rp | wc -l)" -gt 0 ]; do wait -n || failed=1; done
exit $failed
