#!/usr/bin/env bash
# Every value of every HDF5 layout is compared with h5py's, with the first Python that has it.
source "$(dirname "$0")/lib.sh"
for python in "${RIDGELINE_H5PY_PYTHON:-}" python3 /usr/bin/python3; do
  [ -n "$python" ] && "$python" -c 'import h5py' 2>/dev/null || continue
  checks=$((checks + 1))
  "$python" "$SOURCE/tests/cli/hdf5_layouts.py" "${READ_TRAINING_FILE:?}" >layouts 2>&1 || { cat layouts; problem "HDF5 layouts"; }
  finish
done
echo "no python3 has h5py"
exit 77
