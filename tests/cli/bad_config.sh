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
ln -s nothing.yaml dangling.yaml
tune "dangling.yaml" -- tune $S --config dangling.yaml
if [ "$(id -u)" -ne 0 ]; then
  printf 'onnxruntime:\n  intra_op_num_threads: 1\n' >locked.yaml
  chmod 400 locked.yaml
  tune "locked.yaml" "writable" -- tune $S --config locked.yaml
fi
bad "backup" -- rollback --config wrong.yaml
checks=$((checks + 1))
[ ! -e never.db ] || problem "something was measured"
for file in broken twice wrong choice; do
  checks=$((checks + 1))
  [ -z "$(find . -name "$file.yaml.bak*")" ] || problem "a backup of $file.yaml appeared"
done
finish
