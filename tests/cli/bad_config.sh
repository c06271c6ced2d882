#!/usr/bin/env bash
# A config.yaml that cannot be read or written is refused before anything is measured, and never touched.
source "$(dirname "$0")/lib.sh"
S=synthetic:base=1ms
tune() { bad "$@" --db "$WORK/never.db"; }
tune "nowhere.yaml" -- tune $S --config nowhere.yaml
mkdir folder.yaml
tune "folder.yaml" "folder" -- tune $S --config folder.yaml
printf 'a:\n  intra_op_num_threads: 4\n b: 1\n' >broken.yaml
tune "broken.yaml:3" -- tune $S --config broken.yaml
printf 'onnxruntime:\n  intra_op_num_threads: 1\n  intra_op_num_threads: 2\n' >twice.yaml
tune "twice.yaml:3" "intra_op_num_threads" -- tune $S --config twice.yaml
printf 'onnxruntime:\n  intra_op_num_threads: many\n' >wrong.yaml
tune "wrong.yaml:2" "many" -- tune $S --config wrong.yaml
printf 'onnxruntime:\n  graph_optimization_level: fast\n' >choice.yaml
tune "choice.yaml:2" "fast" -- tune $S --config choice.yaml
printf 'onnxruntime: hello\n' >scalar.yaml
tune "scalar.yaml:1" "onnxruntime" -- tune $S --config scalar.yaml
printf -- '- onnxruntime\n' >list.yaml
tune "list.yaml:1" -- tune $S --config list.yaml
printf 'onnxruntime:\n  dynamic_block_base: [0]\n  execution_mode: sequential\n' >sequence.yaml
tune "sequence.yaml:2" "dynamic_block_base" "expected one value" -- tune $S --config sequence.yaml
printf 'onnxruntime:\n  intra_op_num_threads: [1]\n  execution_mode: sequential\n' >threads.yaml
tune "threads.yaml:2" "intra_op_num_threads" "expected one value" -- tune $S --config threads.yaml
ln -s nothing.yaml dangling.yaml
tune "dangling.yaml" -- tune $S --config dangling.yaml
printf 'onnxruntime:\n  intra_op_num_threads: 1\n' >locked.yaml
chmod 444 locked.yaml
if [ "$(id -u)" -eq 0 ]; then   # root may write everything: ask as nobody, with a copy of the binary that nobody can reach
  chmod 755 "$WORK"
  cp "$RIDGELINE" "$WORK/ridgeline"
  printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s/ridgeline" "$@"\n' "$WORK" >as_nobody
  chmod 755 as_nobody
  RIDGELINE="$WORK/as_nobody" tune "locked.yaml" "not writable" "--dry-run" -- tune $S --config locked.yaml --apply
else
  tune "locked.yaml" "not writable" "--dry-run" -- tune $S --config locked.yaml --apply
fi
bad "backup" -- rollback --config wrong.yaml
# What is only read need not be writable.
run 0 tune $S --config locked.yaml "${FAST[@]}" --quick --db read.db
checks=$((checks + 1))
[ ! -e never.db ] || problem "something was measured"
for file in broken twice wrong choice scalar list sequence threads; do
  checks=$((checks + 1))
  [ -z "$(find . -name "$file.yaml.bak*")" ] || problem "a backup of $file.yaml appeared"
done
finish
