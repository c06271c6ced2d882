# Sourced by every script here. Gives an empty work folder as the current one, an empty HOME, and checks.
set -uo pipefail
: "${RIDGELINE:?the binary to test}"
WORK=$(mktemp -d)
trap 'chmod -R u+w "$WORK" 2>/dev/null; rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
export HOME="$WORK/home" XDG_STATE_HOME="$WORK/state" XDG_CACHE_HOME="$WORK/cache" NO_COLOR=1 COLUMNS=120
export RIDGELINE_ORT_LIBRARY=${ORT_LIBRARY:-}
mkdir -p "$HOME"
checks=0
failures=0

problem() {
  failures=$((failures + 1))
  echo "FAILED: $*"
  [ -s "$WORK/out" ] && sed 's/^/    out| /' "$WORK/out" | head -n 20
  [ -s "$WORK/err" ] && sed 's/^/    err| /' "$WORK/err" | head -n 20
}

# run EXIT ARGUMENTS...: runs the binary, checks its exit code, or one of several ("0|1"); output goes to $WORK/out and
# $WORK/err.
run() {
  local expected=$1
  shift
  checks=$((checks + 1))
  timeout "${HANG_LIMIT_S:-120}" "$RIDGELINE" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
  local code=$?
  LAST="ridgeline $*"
  [[ "|$expected|" == *"|$code|"* ]] || problem "$LAST: exit code $code, expected $expected"
}
# out TEXT / err TEXT: the last run's output holds the text.
out() { checks=$((checks + 1)); grep -qF -- "$1" "$WORK/out" || problem "$LAST: no \"$1\" on standard output"; }
err() { checks=$((checks + 1)); grep -qF -- "$1" "$WORK/err" || problem "$LAST: no \"$1\" on standard error"; }
no_out() { checks=$((checks + 1)); ! grep -qF -- "$1" "$WORK/out" || problem "$LAST: \"$1\" on standard output"; }
no_err() { checks=$((checks + 1)); ! grep -qF -- "$1" "$WORK/err" || problem "$LAST: \"$1\" on standard error"; }
# bad TEXT... -- ARGUMENTS...: exit code 2, and standard error ends with its only error and perhaps a hint, which together
# hold every text.
bad() {
  local texts=()
  while [ "$1" != -- ]; do
    texts+=("$1")
    shift
  done
  shift
  run 2 "$@"
  checks=$((checks + 1))
  [ "$(grep -c '^error: ' "$WORK/err")" -eq 1 ] || problem "$LAST: expected one error line"
  sed -n '/^error: /,$p' "$WORK/err" >"$WORK/last"
  checks=$((checks + 1))
  grep -qv -e '^error: ' -e '^hint: ' "$WORK/last" && problem "$LAST: more than an error and a hint"
  local text
  for text in "error: " "${texts[@]}"; do
    checks=$((checks + 1))
    grep -qF -- "$text" "$WORK/last" || problem "$LAST: no \"$text\" in the error"
  done
}
# is ACTUAL EXPECTED WHAT
is() { checks=$((checks + 1)); [ "$1" = "$2" ] || problem "$3: \"$1\", expected \"$2\""; }
same() { checks=$((checks + 1)); cmp -s "$1" "$2" || problem "$1 and $2 differ"; }
json() { checks=$((checks + 1)); [ "$(jq -r "$1" <"$WORK/out")" = "$2" ] || problem "$LAST: $1 is $(jq -r "$1" <"$WORK/out"), expected $2"; }
finish() {
  [ "$checks" -gt 0 ] || problem "nothing was checked"
  echo "$checks checks, $failures failed"
  [ "$failures" -eq 0 ]
  exit
}
FAST=(--time 200ms)   # synthetic workloads run on a virtual clock: their seconds are milliseconds
