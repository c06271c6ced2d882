#!/usr/bin/env bash
# Does `ridgeline watch` notice, on a real GPU, that a second process came, that it left, and that a setting became worse, and
# does it name each? Touches no setting of the card. Takes at most about three minutes.
#   watch_gpu.sh RIDGELINE MODEL.onnx FOLDER [FLAGS OF tune AND ITS MODEL, such as --shape x:1x3x224x224]
# PROVIDER=cpu runs it without a GPU (the cause then is the busy CPU). WORSE=key=value is the setting that makes it slower,
# EVERY and PROBE the times of the probes, THRESHOLD the slow-down looked for, COMPETITORS how many processes come. Python 3
# reads the events. The machine has to be quiet otherwise.
# FOLDER gets events.jsonl, watch.log, config.yaml and summary.json; exit code 0 when everything was seen and named.
set -uo pipefail
usage="usage: watch_gpu.sh RIDGELINE MODEL.onnx FOLDER [FLAGS]"
ridgeline=$(realpath "${1:?$usage}")
model=$(realpath "${2:?$usage}")
out=${3:?$usage}
shift 3
provider=${PROVIDER:-cuda}
worse=${WORSE:-graph_optimization_level=disable_all}
competitors=${COMPETITORS:-2}
mkdir -p "$out" && cd "$out" || exit 2
# Processes are ended with all their workers.
watch=
others=()
end() { [ -n "$1" ] && kill -TERM -- "-$1" 2>/dev/null && wait "$1" 2>/dev/null; }
trap 'end "$watch"; for one in "${others[@]}"; do end "$one"; done' EXIT

say() { printf '%s %s\n' "$(date +%T)" "$*"; }
# field EVENT FIELD [FROM]: of the first such event after line FROM, as text.
field() {
  python3 - "$1" "$2" "${3:-0}" <<'P'
import json, sys
name, field, start = sys.argv[1], sys.argv[2], int(sys.argv[3])
for line in open("events.jsonl").read().splitlines()[start:]:
    event = json.loads(line)
    if event["event"] == name:
        print(event.get(field, "")); break
P
}
lines() { wc -l <events.jsonl; }
# await EVENT SECONDS FROM: 0 once it is there; prints how long that took.
await() {
  local begun=$SECONDS
  while [ $((SECONDS - begun)) -lt "$2" ]; do
    if [ -n "$(field "$1" event "$3")" ]; then
      echo $((SECONDS - begun))
      return 0
    fi
    sleep 0.5
  done
  return 1
}

printf 'onnxruntime:\n  graph_optimization_level: all\n' >config.yaml
say "tuning $(basename "$model")"
"$ridgeline" tune "$model" --quick --max-time "${TUNE_TIME:-40s}" --provider "$provider" --config config.yaml --apply --db results.db -q "$@" || exit 2
cp config.yaml tuned.yaml
sed 's/^/    /' config.yaml

setsid "$ridgeline" watch --config config.yaml --db results.db --state state.json --every "${EVERY:-5s}" --time "${PROBE:-1s}" --threshold "${THRESHOLD:-10%}" -v \
  >events.jsonl 2>watch.log &
watch=$!
calm=${CALM:-40}
say "$calm s without a disturbance"
sleep "$calm"
false_alarms=$(grep -c '"event":"degraded"' events.jsonl)

say "$competitors processes come"
from=$(lines)
for i in $(seq "$competitors"); do
  # Trials of the most inferences that one may have, again and again, so that the device has hardly a pause.
  setsid bash -c 'db=$1; shift; while :; do "$@" --fresh --db "$db" -q --accuracy-tolerance off --quick --runs 200000 || sleep 1; done' \
    _ "other$i.db" "$ridgeline" tune "$model" --provider "$provider" "$@" >"other$i.log" 2>&1 &
  others+=($!)
done
other_after=$(await degraded 60 "$from") || other_after=
other_cause=$(field degraded cause "$from")
other_slow=$(field degraded slow_down_ratio "$from")
other_text=$(field degraded text "$from")
say "reported after ${other_after:-?} s: $other_text"
for one in "${others[@]}"; do end "$one"; done
others=()
from=$(lines)
recovered_after=$(await recovered 60 "$from") || recovered_after=
say "recovered after ${recovered_after:-?} s"

# Until the state of the machine counts as healthy again.
sleep "${SETTLE:-10}"
from=$(lines)
key=${worse%%=*}
value=${worse#*=}
say "the setting $key becomes $value"
if grep -q "^ *$key:" config.yaml; then
  sed -i "s/^\( *$key:\).*/\1 $value/" config.yaml
else
  sed -i "s/^onnxruntime:.*/&\n  $key: $value/" config.yaml
fi
setting_after=$(await degraded 60 "$from") || setting_after=
setting_cause=$(field degraded cause "$from")
setting_slow=$(field degraded slow_down_ratio "$from")
setting_text=$(field degraded text "$from")
changed_text=$(field changed text "$from")
say "reported after ${setting_after:-?} s: $setting_text"
cp tuned.yaml config.yaml
from=$(lines)
back_after=$(await recovered 45 "$from") || back_after=
end "$watch"
watch=

python3 - >summary.json <<P
import json
expected = ["busy_cpu"] if "$provider" == "cpu" else ["other_process"]
def number(text): return float(text) if text else None
summary = {
    "model": "$(basename "$model")", "provider": "$provider", "every": "${EVERY:-5s}", "probe_time": "${PROBE:-1s}", "threshold": "${THRESHOLD:-10%}",
    "false_alarms_before": int("$false_alarms"),
    "competitor": {"told_after_s": number("$other_after"), "cause": "$other_cause", "slow_down": number("$other_slow"),
                   "text": """$other_text""", "right": "$other_cause" in expected, "recovered_after_s": number("$recovered_after")},
    "setting": {"changed": "$worse", "told_after_s": number("$setting_after"), "cause": "$setting_cause", "slow_down": number("$setting_slow"),
                "text": """$setting_text""", "changed_event": """$changed_text""", "right": "$setting_cause" == "setting_changed",
                "recovered_after_s": number("$back_after")},
}
summary["passed"] = (summary["false_alarms_before"] == 0 and summary["competitor"]["right"] and summary["setting"]["right"]
                     and summary["competitor"]["recovered_after_s"] is not None)
print(json.dumps(summary, indent=2))
P
cat summary.json
grep -q '"passed": true' summary.json
