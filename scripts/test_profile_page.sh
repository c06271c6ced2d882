#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a trace of a million kernels, imports it and checks its HTML report in headless Chromium: that the page has at most 8 MiB, opens and
# draws its timeline within 2 s, draws on within 16 ms, and leads to one kernel by search and by the wheel. About a minute, with 360 MB for the trace.
#   scripts/test_profile_page.sh [--keep FOLDER]
# RIDGELINE is the program (default: build/ci/bin or build/release/bin), CHROMIUM the browser. Exit code 77: there is no browser.
set -euo pipefail
source "$(dirname "$0")/common.sh"
for folder in ci release dev; do RIDGELINE=${RIDGELINE:-$(ls "$ROOT/build/$folder/bin/ridgeline" 2>/dev/null || true)}; done
[ -n "$RIDGELINE" ] || die "no program: cmake --build build/ci --target ridgeline, or name one in RIDGELINE"
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$CHROMIUM" ]; then
  echo "skipped: no Chromium here (Debian package chromium), or name one in CHROMIUM"
  exit 77
fi
exec python3 -B "$ROOT/scripts/test_profile_page.py" --ridgeline "$RIDGELINE" --chromium "$CHROMIUM" "$@"
