#!/usr/bin/env bash
# Damaged, foreign, newer and unwritable results files are named, never overwritten.
source "$(dirname "$0")/lib.sh"
head -c 5000 /dev/urandom >rubbish.db
cp rubbish.db before.db
bad "rubbish.db" -- history --db rubbish.db
same rubbish.db before.db
mkdir folder.db
bad "folder.db" -- history --db folder.db
run 0 tune synthetic:base=1ms --quick "${FAST[@]}" --db good.db
cp good.db newer.db
python3 - <<'P'
import sqlite3
connection = sqlite3.connect("newer.db")
connection.execute("pragma user_version = 9999")
connection.commit()
P
bad "newer.db" "9999" -- history --db newer.db
head -c 3000 good.db >short.db
bad "short.db" -- history --db short.db
bad "nowhere" -- history --db /proc/nowhere/r.db
# Who may only read sees every run and leaves nothing behind; only what has to be written is refused.
OWN=$RIDGELINE
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups %s "$@"\n' "$OWN" >as_nobody
  chmod 755 . as_nobody
fi
if [ -x as_nobody ] && ./as_nobody version >/dev/null 2>&1; then
  id=$("$OWN" history --ids --db good.db)
  mkdir theirs open
  python3 - <<'P'
import sqlite3
for name, version in (("theirs/ro.db", 0), ("open/ro.db", 0), ("theirs/old.db", 1)):
    source, copy = sqlite3.connect("good.db"), sqlite3.connect(name)
    source.backup(copy)
    if version:
        copy.execute(f"pragma user_version = {version}")
    copy.commit()
    copy.close()
P
  chmod 444 theirs/*.db open/ro.db
  chmod 755 theirs
  chmod 777 open
  RIDGELINE=$WORK/as_nobody
  for db in theirs/ro.db open/ro.db; do
    run 0 history --db $db
    out "$id"
    run 0 show --db $db
    run 0 report latest --db $db
    run 0 compare latest latest --db $db
    bad "run none is not in" -- bench --show none --db $db
    bad "run none is not in" -- sweep --show none --db $db
    bad "$db" "read-only" -- tune synthetic:base=1ms --quick "${FAST[@]}" --db $db
  done
  bad "theirs/new.db" "Permission denied" -- tune synthetic:base=1ms --quick "${FAST[@]}" --db theirs/new.db
  bad "theirs/old.db" "schema 1" "ridgeline history --db theirs/old.db" -- history --db theirs/old.db
  checks=$((checks + 1))
  left=$(echo $(ls theirs open))
  [ "$left" = "open: ro.db theirs: old.db ro.db" ] || problem "reading left files: $left"
  RIDGELINE=$OWN
fi
# A full disk
if [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
  run 2 tune synthetic:base=1ms --quick "${FAST[@]}" --db full/r.db
  err "full/r.db"
  umount full
fi
finish
