#!/usr/bin/env bash
# The installed folder runs from anywhere, and takes every library but the C and C++ runtimes from itself.
#   package_test.sh CMAKE BUILD_FOLDER
set -euo pipefail
cmake=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}

"$cmake" --install "$build" --prefix "$work/installed" >"$work/log" 2>&1 || fail "install: $(tail -n 5 "$work/log")"
mv "$work/installed" "$work/moved elsewhere"
program="$work/moved elsewhere/bin/ridgeline"
run() { env -i PATH=/usr/bin:/bin HOME="$work/home" "$@"; }

version=$(run "$program" version) || fail "version does not run"
grep -q "^ridgeline    $(cat "$(dirname "$0")/../../VERSION")" <<<"$version" || fail "wrong version: $version"
grep -q "moved elsewhere/lib/libonnxruntime" <<<"$version" || fail "the ONNX Runtime beside the program is not used: $version"

outside=$(run ldd "$program" | grep '=>' | grep -v "moved elsewhere" | sed 's/^[[:space:]]*//' |
  grep -Ev '^(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|libasan|libubsan|libtsan)\.so' || true)
[ -z "$outside" ] || fail "libraries from outside the folder: $outside"

[ -s "$work/moved elsewhere/share/bash-completion/completions/ridgeline" ] || fail "no bash completion"
[ -s "$work/moved elsewhere/share/zsh/site-functions/_ridgeline" ] || fail "no zsh completion"
[ -s "$work/moved elsewhere/share/doc/ridgeline/LICENSE" ] || fail "no licence"
[ -s "$work/moved elsewhere/share/doc/ridgeline/licenses/libdtl-dev" ] || fail "no licences of the libraries"
dangling=$(python3 - "$work/moved elsewhere/share/doc/ridgeline" <<'P'
import pathlib, re, sys
folder = pathlib.Path(sys.argv[1])
pages = [folder / "README.md", *folder.glob("docs/*.md")]
assert len(pages) > 5, "no docs"
for page in pages:
    text = page.read_text()
    links = re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r'(?:src|href)="([^"#]+)"', text)
    print(*(f"{page.name}: {link}" for link in links if "://" not in link and not (page.parent / link).exists()), sep="\n")
P
) || fail "the installed documentation cannot be read"
dangling=$(grep . <<<"$dangling" || true)
[ -z "$dangling" ] || fail "installed pages link to what is not there: $dangling"
grep -q "^ExecStart=/.*/bin/ridgeline watch" "$work/moved elsewhere/share/ridgeline/systemd/ridgeline-watch@.service" || fail "no systemd unit"
shared="$work/moved elsewhere/share/ridgeline"
python3 -m json.tool "$shared/grafana/ridgeline-gpu.json" >"$work/log" 2>&1 || fail "no Grafana dashboard: $(tail -n 1 "$work/log")"
for source in "$(dirname "$0")"/../../plugins/torch/*.?pp "$(dirname "$0")/../../src/workload/training/plugin_abi.h"; do
  [ -s "$shared/plugin-src/$(basename "$source")" ] || fail "the torch plugin cannot be built: no $(basename "$source")"
done
if run "$shared/build_torch_plugin.sh" --python no-such-python 2>"$work/log"; then fail "no Python, no error"; fi
grep -q "no-such-python" "$work/log" || fail "the torch plugin's script: $(cat "$work/log")"
run "$program" tune synthetic:base=1ms --quick --set execution_mode=sequential --db "$work/r.db" --json >"$work/out.json" ||
  fail "tuning in the moved folder: exit code $?"
grep -q '"decision"' "$work/out.json" || fail "no decision in the result"
echo "package is relocatable"
