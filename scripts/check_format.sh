#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names every C++ file that is not as .clang-format has it. Exit code 1 then, 77 without clang-format 14: others lay out
# some lines differently.
#   scripts/check_format.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/.."
tool=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q 'version 14\.'; then
  echo "no clang-format 14 here (Debian package clang-format-14)"
  exit 77
fi
files() { find src apps plugins benchmarks tests \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' \) -print0; }
if [ "${1:-}" = --fix ]; then
  files | xargs -0 -n 50 "$tool" -i
elif ! files | xargs -0 -n 50 "$tool" --dry-run -Werror 2>&1 | sed -n 's/^\([^:]*\):[0-9:]* error: .*/\1/p' | sort -u | { ! grep .; }; then
  echo "not as .clang-format has them; scripts/check_format.sh --fix does it"
  exit 1
fi
