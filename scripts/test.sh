#!/usr/bin/env bash
# Set-up and the whole test suite. Arguments go to ctest: scripts/test.sh -L unit
set -euo pipefail
source "$(dirname "$0")/common.sh"

# promtool of Debian's prometheus, without the server that the package would start: what does not want it skips it.
add_promtool() {
  command -v promtool >/dev/null && return
  local tools=$CACHE/tools work
  if [ ! -x "$tools/promtool" ]; then
    work=$(mktemp -d)
    say "fetching promtool (19 MB) for the test of the monitor's exporter"
    if (cd "$work" && apt-get download prometheus && dpkg-deb -x prometheus_*.deb .) >/dev/null 2>&1; then
      mkdir -p "$tools" && cp "$work/usr/bin/promtool" "$tools/"
    else
      say "promtool could not be fetched; its test is left out"
    fi
    rm -rf "$work"
  fi
  export PATH=$PATH:$tools
}

# tmux: the monitor's screen is tested in a terminal. h5py: what the loader reads is compared with it. torch: the training plugin
# and the Python way. clang-format: the test that sources are laid out as .clang-format says. venv: Perfetto's own classes read our
# timelines. GStreamer: an RTSP server that streams come from.
"$ROOT/scripts/setup.sh" ci tmux libtorch-dev python3-h5py python3-torch python3-venv clang-format-14 \
  gir1.2-gst-rtsp-server-1.0 python3-gi gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly
add_promtool
cd "$ROOT"
say "running the tests, usually 4 min on 2 cores"
exec ctest --preset ci "$@"
