#!/usr/bin/env bash
# Files that no rename can replace are written where they are, with a backup, and nothing is lost when that fails. Each
# case has mounts of its own.
source "$(dirname "$0")/lib.sh"
unshare -m true 2>/dev/null || { echo "needs the right to mount"; exit 77; }
S='synthetic:surface=flat,slowdown=100% if graph_optimization_level!=all'
mkdir app store
printf 'onnxruntime:\n    graph_optimization_level: basic   # old\n' >store/config.yaml
cp store/config.yaml original.yaml
run 0 tune "$S" "${FAST[@]}" --quick --config store/config.yaml --no-apply --db r.db
# mounted MOUNTS EXIT ARGUMENTS...
mounted() {
  local mounts=$1 expected=$2
  shift 2
  checks=$((checks + 1))
  unshare -m sh -c "mount --make-rprivate / && $mounts"' && exec timeout 100 "$0" "$@"' "$RIDGELINE" "$@" >out 2>err </dev/null
  local code=$?
  LAST="ridgeline $*"
  [ "$code" -eq "$expected" ] || problem "$LAST: exit code $code, expected $expected"
}
: >app/config.yaml
bind='mount --bind store/config.yaml app/config.yaml'
inode=$(stat -c %i store/config.yaml)
written() { checks=$((checks + 1)); [ "$(grep -c 'graph_optimization_level: all   # old' store/config.yaml)" = 1 ] && [ "$(stat -c %i store/config.yaml)" = "$inode" ] || problem "$1: not written in place: $(cat store/config.yaml)"; }

mounted "$bind" 0 apply latest --config app/config.yaml --yes --db r.db
written "apply"
out "backup config.yaml.bak-"
same app/config.yaml.bak-* original.yaml
mounted "$bind" 0 rollback --config app/config.yaml --db r.db
same store/config.yaml original.yaml
is "$(ls app)" config.yaml "files after the rollback"
mounted "$bind" 0 tune "$S" "${FAST[@]}" --quick --config app/config.yaml --apply --db r.db
written "tune --apply"
mounted "$bind" 0 rollback --config app/config.yaml
same store/config.yaml original.yaml
# A report too.
mounted "$bind" 0 report latest --output app/config.yaml --db r.db
checks=$((checks + 1))
grep -q '^# ' store/config.yaml || problem "no report in the mounted file: $(head -n 2 store/config.yaml)"
cat original.yaml >store/config.yaml

# The folder is read-only, the file is not: the backup goes into the state folder.
ro="mount --bind app app && mount --bind store/config.yaml app/config.yaml && mount -o remount,ro,bind app"
mounted "$ro" 0 apply latest --config app/config.yaml --yes --db r.db
written "a read-only folder"
out "backup $XDG_STATE_HOME/ridgeline/backups/config.yaml-"
mounted "$ro" 0 rollback --config app/config.yaml
same store/config.yaml original.yaml
is "$(ls "$XDG_STATE_HOME/ridgeline/backups" | wc -l)" 0 "backups left in the state folder"

# All of it is read-only (Docker's :ro): one line, and what to do.
mounted "$bind && mount -o remount,ro,bind app/config.yaml" 2 apply latest --config app/config.yaml --yes --db r.db
err "config file app/config.yaml is not writable: Read-only file system"
err "leave out :ro"
same store/config.yaml original.yaml

# Files that chattr keeps from changing, where the file system has such attributes.
cp original.yaml kept.yaml
for attribute in i a; do
  chattr +$attribute kept.yaml 2>/dev/null || continue
  run 2 apply latest --yes --config kept.yaml --db r.db
  err "config file kept.yaml is not writable"
  err "chattr -$attribute ends"
  run 2 tune "$S" "${FAST[@]}" --quick --apply --config kept.yaml --db r.db
  err "chattr -$attribute ends"
  chattr -$attribute kept.yaml
  same kept.yaml original.yaml
done

# A full disk: nothing is lost, no backup stays.
full="mount -t tmpfs -o size=8k none app && cp original.yaml app/config.yaml && { dd if=/dev/zero of=app/rest bs=4k status=none 2>/dev/null || true; } && trap 'cp -r app after' EXIT"
checks=$((checks + 1))
unshare -m bash -c "mount --make-rprivate / && $full; timeout 100 \"\$0\" apply latest --config app/config.yaml --yes --db r.db" "$RIDGELINE" >out 2>err </dev/null
LAST="apply on a full disk"
err "No space left on device"
same after/config.yaml original.yaml
is "$(ls after | tr '\n' ' ')" "config.yaml rest " "files after a full disk"
finish
