#!/usr/bin/env bash
# Real training packages (Lightning, transformers, timm) under `ridgeline bench -- python SCRIPT`. Needs the network once; not in CI.
#   scripts/test_training.sh [--rounds N] [--only NAME...]
# RIDGELINE_TRAINING_PYTHON names a Python that has the packages; without it they are installed into the cache.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
PYTHON=${RIDGELINE_TRAINING_PYTHON:-}
if [ -z "$PYTHON" ]; then
  VENV=${XDG_CACHE_HOME:-$HOME/.cache}/ridgeline/training
  PYTHON=$VENV/bin/python
  if [ ! -x "$PYTHON" ]; then
    python3 -m venv "$VENV"
    "$VENV/bin/pip" install -q torch torchvision lightning timm transformers accelerate
  fi
fi
exec python3 "$ROOT/scripts/test_training.py" "$PYTHON" "$@"
