#!/usr/bin/env bash
# A package that npm or pip cannot fetch: the reason in its own words, in one line, and nothing left in the cache.
source "$(dirname "$0")/lib.sh"
command -v npm >/dev/null || { echo "npm is not there"; exit 77; }
export npm_config_fetch_retries=0
# fetch TEXT...: fails with one error line that holds every text.
fetch() {
  checks=$((checks + 1))
  bash -c 'source "$0/scripts/common.sh"; fetch_npm_package echarts 6.1.0 0123 12' "$SOURCE" >"$WORK/out" 2>"$WORK/err"
  local code=$?
  LAST="fetch_npm_package"
  [ "$code" -eq 1 ] || problem "$LAST: exit code $code, expected 1"
  [ "$(grep -c '^error: ' "$WORK/err")" -eq 1 ] || problem "$LAST: expected one error line"
  local text
  for text in "$@"; do err "$text"; done
  [ -z "$(ls -A "$XDG_CACHE_HOME/ridgeline/npm")" ] || problem "$LAST: something was left in the cache"
}
npm_config_registry=http://127.0.0.1:9/ fetch "npm could not fetch echarts@6.1.0: " "failed, reason: " "127.0.0.1:9" "registry"
# Another npm, by its older prefix, with what a proxy's certificate makes of it.
mkdir bin
cat >bin/npm <<'NPM'
#!/bin/sh
case $* in *--silent*) exit 1 ;; esac
printf 'npm ERR! code SELF_SIGNED_CERT_IN_CHAIN\nnpm ERR! errno SELF_SIGNED_CERT_IN_CHAIN\n' >&2
printf 'npm ERR! request to https://registry.npmjs.org/echarts failed, reason: self-signed certificate in certificate chain\n' >&2
exit 1
NPM
chmod +x bin/npm
PATH=$WORK/bin:$PATH fetch "reason: self-signed certificate in certificate chain" "NODE_EXTRA_CA_CERTS"
printf '#!/bin/sh\necho other >echarts-6.1.0.tgz\n' >bin/npm
PATH=$WORK/bin:$PATH fetch "echarts@6.1.0 has SHA-256" "expected 0123" "not used"
# Wheels: unknown, unreachable, another file than the pinned one.
wheels() {
  local expected=$1
  shift
  checks=$((checks + 1))
  "$SOURCE/scripts/fetch_wheels.sh" "$@" >"$WORK/out" 2>"$WORK/err"
  local code=$?
  LAST="fetch_wheels.sh $*"
  [ "$code" -eq "$expected" ] || problem "$LAST: exit code $code, expected $expected"
  [ "$(grep -c '^error: ' "$WORK/err")" -eq 1 ] || problem "$LAST: expected one error line"
  [ -z "$(ls -A "$XDG_CACHE_HOME/ridgeline/wheels" 2>/dev/null)" ] || problem "$LAST: something was left in the cache"
}
wheels 1 nothing
err 'no wheel "nothing"'
if python3 -m pip --version >/dev/null 2>&1; then
  export PIP_RETRIES=1
  PIP_INDEX_URL=http://127.0.0.1:9/ wheels 69 numpy-1.26.4
  err "pip could not fetch numpy 1.26.4: "
  err "Connection refused"
fi
# torch: no Python of that version, an index out of reach.
torch() {
  checks=$((checks + 1))
  "$SOURCE/scripts/fetch_torch.sh" >"$WORK/out" 2>"$WORK/err"
  local code=$?
  LAST="fetch_torch.sh"
  [ "$code" -eq 69 ] || problem "$LAST: exit code $code, expected 69"
  [ "$(grep -c '^error: ' "$WORK/err")" -eq 1 ] || problem "$LAST: expected one error line"
  [ -z "$(ls -A "$XDG_CACHE_HOME/ridgeline" | grep torch)" ] || problem "$LAST: something was left in the cache"
}
PYTHON=no-such-python torch
err "no Python 3.11 with venv here (no-such-python)"
python311=$(for python in python3.11 /usr/bin/python3 python3; do "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && echo "$python"; done | head -n 1)
if [ -n "$python311" ] && [ "$(df -Pm "$WORK" | awk 'NR == 2 { print $4 }')" -gt 12000 ]; then
  PYTHON=$python311 PIP_RETRIES=1 PIP_INDEX_URL=http://127.0.0.1:9/ torch
  err "pip could not fetch torch 2."
  err "Connection refused"
fi
cat >bin/python3 <<'PIP'
#!/bin/sh
case $* in *download*) echo other >"$TMPDIR/numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl" ;; esac
PIP
chmod +x bin/python3
PATH=$WORK/bin:$PATH wheels 1 numpy-1.26.4
err "numpy 1.26.4 has SHA-256"
err "expected 666dbfb6"
finish
