#!/usr/bin/env bash
# The faults of scripts/test_stream.sh on this host's NVIDIA GPU: each is told, and no frame is lost.
[ -e /proc/driver/nvidia/version ] || { echo "no NVIDIA driver on this host: /proc/driver/nvidia/version is absent"; exit 77; }
PROVIDER=cuda RIDGELINE_ORT_LIBRARY=$ORT_LIBRARY WATCHED_S=20 exec "$SOURCE/scripts/test_stream.sh"
