#!/usr/bin/env bash
# The answers of `ridgeline bench` are computed again from its JSON alone, by another program.
source "$(dirname "$0")/lib.sh"
DERIVE="$SOURCE/tests/cli/derive_bench_answers.py"
S=synthetic:noise=0.005

# derived NAME JQ EXPECTED ARGUMENTS...: the run's answers are those that its trials give, and the JSON says what JQ expects.
derived() {
  local name=$1 filter=$2 expected=$3
  shift 3
  run 0 bench --json --db "$name.db" "$@"
  cp "$WORK/out" "$name.json"
  json "$filter" "$expected"
  checks=$((checks + 1))
  python3 "$DERIVE" "$name.json" >"$WORK/differs" || problem "$LAST: $(head -n 5 "$WORK/differs")"
}

derived plain '.answers.fallback' false --model $S --batch-sizes 64 128 256 --num-workers 0 2 4 --search grid
derived adaptive '.answers.fallback' false --model $S,decode_us=800
# Nothing that leaves 80 % of the memory free is as fast.
derived fallback '[.answers.fallback, (.answers.recommended.settings.batch < .answers.fastest.settings.batch)] | all' true \
  --model $S,memory_gb=8,sample_gb=0.03 --batch-sizes 8 16 32 64 128 --num-workers 8 --search grid --mem-headroom 80%
# Nothing leaves 99 % of it free at all.
derived nothing '[.answers.recommended == null, (.answers.no_recommendation.text | test("leaves 99 %"))] | all' true \
  --model $S --batch-sizes 64 --num-workers 2 --search grid --mem-headroom 99% --no-diagnosis
# Equal to the last digit: pinned and not, where copies cost nothing, and workers that nothing waits for.
derived ties '[(.answers.ties | length > 3), .answers.recommended.settings.pin_memory == false] | all' true \
  --model synthetic:noise=0,drift=0,warmup=0,sample_kb=0,decode_us=1,read_us=1 --batch-sizes 64 65 --num-workers 1 2 4 --amp off --search grid
# As much memory, and one and a half per cent more speed when pinned: not pinned goes first within the tolerance.
derived off_front '.answers.recommended.off_front.text | test("pinned")' true \
  --model synthetic:noise=0,warmup=0,sample_kb=100,sample_gb=0.00001,decode_us=1,read_us=1,compute_us=600 --batch-sizes 64 --num-workers 2 --amp off --search grid
derived no_stability_run '.answers.recommended.reason.text | test("no stability run; ")' true --model $S --batch-sizes 64 128 --num-workers 2 --search grid --stability-run 0
derived tolerance '.answers.tolerance' 0.3 --model $S --batch-sizes 16 64 256 --num-workers 0 2 4 8 --search grid --tolerance 30% --mem-headroom 0
for seed in 1 2 3 4 5 6; do
  derived "noise$seed" '.answers != null' true --model "synthetic:noise=0.05,seed=$seed" --batch-sizes 16 32 64 128 --num-workers 0 2 4 8 --search grid --steps 5 --seed $seed
done
# The script itself sees a wrong answer.
checks=$((checks + 1))
jq '.answers.recommended.settings.batch = 7' plain.json >wrong.json
python3 "$DERIVE" wrong.json >/dev/null && problem "a wrong answer was not seen"
# What the JSON says of itself.
cp plain.json "$WORK/out"
for name in samples_per_s interval fastest efficient eligible floor recommended pareto ties order; do json ".formulas | has(\"$name\")" true; done
finish
