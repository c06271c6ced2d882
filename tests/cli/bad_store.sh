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
# A full disk
if [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
  run 2 tune synthetic:base=1ms --quick "${FAST[@]}" --db full/r.db
  err "full/r.db"
  umount full
fi
finish
