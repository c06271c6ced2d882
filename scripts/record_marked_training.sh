#!/usr/bin/env bash
# Records tests/tools/marked_training.py on an NVIDIA GPU with torch.profiler and with Nsight Compute: the data that the
# attribution of backward kernels and the join of two recordings are tested with (tests/data/traces/marked_*).
#   record_marked_training.sh FOLDER [PYTHON]
set -euo pipefail
source "$(dirname "$0")/common.sh"
folder=${1:?usage: record_marked_training.sh FOLDER [PYTHON]}
python=${2:-python3}
mkdir -p "$folder"
script=$ROOT/tests/tools/marked_training.py
"$python" "$script" --trace "$folder/marked_kineto.json.gz"
ncu --csv --page raw --profile-from-start off --target-processes all \
  --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum \
  "$python" "$script" --plain | gzip -9 >"$folder/marked_ncu.csv.gz"
ls -l "$folder"
