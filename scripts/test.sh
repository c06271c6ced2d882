#!/usr/bin/env bash
# Set-up and the whole test suite. Arguments go to ctest: scripts/test.sh -L unit
set -euo pipefail
source "$(dirname "$0")/common.sh"
"$ROOT/scripts/setup.sh" dev
install_packages tmux   # the monitor's screen is tested in a terminal
cd "$ROOT"
exec ctest --preset dev "$@"
