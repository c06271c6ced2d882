#!/usr/bin/env bash
# bench --python: one process imports the user's file and forks for each trial. A pretended torch, so that only the file takes time.
source "$(dirname "$0")/lib.sh"
PYTHON=$(command -v python3)
export PYTHONPATH=$SOURCE/tests/fakes/faketorch PYTHONDONTWRITEBYTECODE=1
MARKER=$$0182  # seconds that nobody else sleeps for
BENCH=(--python-exe "$PYTHON" --devices cpu --search grid --num-workers 0 --steps 5 --no-diagnosis --stability-run 0)
gone() { checks=$((checks + 1)); ! pgrep -f "^sleep $MARKER" >/dev/null || problem "$LAST: a process was left behind"; }
# How often the file was imported, and in how many processes trials ran.
imports() { is "$(wc -l <imports)" "$1" "$LAST: imports"; rm -f imports; }
trials() { is "$(sort -u trials | wc -l)" "$1" "$LAST: processes of trials"; rm -f trials; }
lives() { grep -qE '^State:[[:space:]]+[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null; }
# file NAME AT_IMPORT IN_TRIAL
file() {
  cat >"$1" <<END
import errno, os, signal, subprocess, sys, threading, time
open("imports", "a").write("%d\n" % os.getpid())
import torch
$2
def bench(settings):
    open("trials", "a").write("%d\n" % os.getpid())
    subprocess.Popen(["sleep", "$MARKER"], start_new_session=True)
    $3
    return dict(model=torch.Module(), optimizer=torch.Optimizer(), loss=lambda a, b: torch.Tensor(),
                loader=lambda now: [(torch.Tensor(shape=(now.batch,)), torch.Tensor(shape=(now.batch,)))] * 3)
END
}

# Twice: to describe the job, and for all trials.
file slow.py 'time.sleep(2)' 'pass'
run 0 bench "${BENCH[@]}" --python slow.py:bench --batch-sizes 8 16 32 64 128 256 --db slow.db
out "Recommended: batch "
imports 2
trials 6
gone
run 0 bench --show latest --db slow.db --json
json '[.trials[].outcome.status] | join(" ")' "ok ok ok ok ok ok"

# Its command line reaches it once as well.
file words.py 'print(sys.argv[1:]); assert sys.argv[1:] == ["--data", "a b"]' 'pass'
run 0 bench "${BENCH[@]}" --python words.py:bench --batch-sizes 8 16 --db words.db -- --data 'a b'
imports 2
trials 2

# A thread would be missing in forks, and of a file they would share the position: a new process for each trial.
file thread.py 'threading.Thread(target=threading.Event().wait, daemon=True).start()' 'assert threading.active_count() == 2'
run 0 bench "${BENCH[@]}" --python thread.py:bench --batch-sizes 8 16 32 --db thread.db
imports 4
trials 3
gone
printf 'first\nsecond\n' >data.txt
file position.py 'data = open("data.txt", "rb", buffering=0)' 'assert data.readline() == b"first\n"'
run 0 bench "${BENCH[@]}" --python position.py:bench --batch-sizes 8 16 32 --db position.db
imports 4
trials 3

# Each failure ends its own trial only, in one line; after a death the file is imported again.
file faults.py '' 'fail(settings.batch)'
cat >>faults.py <<'END'
def fail(batch):
    if batch == 16: os.kill(os.getpid(), signal.SIGSEGV)
    if batch == 24: os._exit(0)
    if batch == 32: raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "cache.bin")
    if batch == 40: raise KeyError("label")
    if batch == 48: os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)
    if batch == 72: raise MemoryError()
END
run 0 bench "${BENCH[@]}" --python faults.py:bench --batch-sizes 8 16 24 32 40 48 64 72 --db faults.db
imports 5
trials 8
gone
run 0 bench --show latest --db faults.db --json
of() { printf '[.trials[] | select(.settings.batch == %s) | .outcome | .status, .failure.message.text] | join(": ")' "$1"; }
json "$(of 8)" "ok: "
json "$(of 16)" "crashed: the training process was ended by SIGSEGV"
json "$(of 24)" "crashed: the training process ended with exit code 0"
json "$(of 32)" "failed: OSError: [Errno 28] No space left on device: 'cache.bin' (faults.py:14 in fail)"
json "$(of 40)" "failed: KeyError: 'label' (faults.py:15 in fail)"
json "$(of 48)" "crashed: the training process was ended by SIGKILL; the kernel reports no out-of-memory kill"
json "$(of 64)" "ok: "
json "$(of 72)" "out_of_memory: MemoryError (faults.py:17 in fail)"

# A fork that hangs, after one that did not: the time is kept, the line is named, nothing is left.
file hangs.py '' 'threading.Event().wait() if settings.batch == 16 else None'
begun=$SECONDS
run 0 bench "${BENCH[@]}" --python hangs.py:bench --batch-sizes 8 16 32 --db hangs.db --max-time 4s
out "timeout: --max-time 4s and 5 s of grace were over, in phase \"hangs.py:bench\" at hangs.py:8 in bench"
checks=$((checks + 1)); [ $((SECONDS - begun)) -le 15 ] || problem "$LAST: took $((SECONDS - begun)) s"
gone

# Stopped by Ctrl-C, as the second trial hangs.
rm -f trials
"$RIDGELINE" bench "${BENCH[@]}" --python hangs.py:bench --batch-sizes 8 16 --db stopped.db </dev/null >"$WORK/out" 2>"$WORK/err" &
pid=$!
LAST="ridgeline bench, SIGINT"
for _ in $(seq 200); do [ "$(sort -u trials 2>/dev/null | wc -l)" -eq 2 ] && break; sleep 0.1; done
server=$(pgrep -P $pid)
kill -INT $pid
wait $pid
is $? 130 "$LAST: exit code"
gone
for process in $server $(sort -u trials); do
  checks=$((checks + 1)); ! lives "$process" || problem "$LAST: process $process was left behind"
done
finish
