# SPDX-License-Identifier: Apache-2.0
"""What loader workers do while they make samples: compute, or wait, and for what. The same samples are made by one worker and by several;
workers that wait for one another are no faster together. A thread in each worker looks at the line and the system call in which the
worker waits."""

import os
import platform
import sys
import threading
import time

from ridgeline_worker import user_frames
from ridgeline_worker.failures import BadSettings

from .loader_cost import own_waited_seconds

SAMPLES = 96
BATCH = 4       # samples that a worker makes at a time
LIMIT_S = 15.0
LOOK_S = 0.002
_STATES = b"SD"
# System calls by number: what a thread waits for in them.
_CALLS = {
    "x86_64": {202: "lock", 65: "lock", 220: "lock", 73: "file_lock", 72: "file_lock", 0: "read", 17: "read", 19: "read", 257: "read", 2: "read",
               35: "sleep", 230: "sleep", 23: "sleep", 270: "sleep", 7: "network", 271: "network", 232: "network", 281: "network", 45: "network",
               47: "network", 42: "network"},
    "aarch64": {98: "lock", 192: "lock", 193: "lock", 32: "file_lock", 25: "file_lock", 63: "read", 67: "read", 65: "read", 56: "read",
                101: "sleep", 115: "sleep", 72: "sleep", 73: "network", 22: "network", 207: "network", 212: "network", 203: "network"},
}
OTHER = "other"


class _Lookout:
    """Looks at the thread that made it until it is ended."""

    def __init__(self):
        self._ident = threading.get_ident()
        self._calls = _CALLS.get(platform.machine(), {})
        folder = "/proc/self/task/%d/" % threading.get_native_id()
        self._stat = os.open(folder + "stat", os.O_RDONLY)
        self._syscall = self._opened(folder + "syscall")
        self._seen = {}  # (place, kind): looks at which it waited there
        self.is_on = False
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    @staticmethod
    def _opened(path):
        try:
            return os.open(path, os.O_RDONLY)
        except OSError:
            return None

    def _waits_in(self):
        """The kind of wait that the thread is in; None if it runs or may. Reading lets go of the interpreter's lock, so that the thread does
        not wait for that one."""
        try:
            if os.pread(self._stat, 512, 0).rpartition(b")")[2].split()[0] not in _STATES:
                return None
            if self._syscall is None:
                return OTHER
            return self._calls.get(int(os.pread(self._syscall, 64, 0).split()[0]), OTHER)
        except (OSError, IndexError, ValueError):
            return None

    def _look(self):
        while True:
            time.sleep(LOOK_S)
            if not self.is_on:
                continue
            kind = self._waits_in()
            frame = sys._current_frames().get(self._ident) if kind is not None else None
            if frame is None:
                continue
            place = user_frames.place_of_stack(frame)
            if place and self.is_on and self._waits_in() == kind:
                self._seen[place, kind] = self._seen.get((place, kind), 0) + 1

    def taken(self):
        seen, self._seen = self._seen, {}
        return [[place, kind, count] for (place, kind), count in seen.items()]


class _Watched:
    """A data set whose samples are what making one took: [wall s, s on a CPU, s in line for one, where it waited]."""

    def __init__(self, dataset):
        self.dataset = dataset
        self._lookout = None

    def __len__(self):
        return SAMPLES

    def __getitem__(self, turn):
        if self._lookout is None:
            self._lookout = _Lookout()
        lookout = self._lookout
        line, cpu, thread = own_waited_seconds(), time.process_time(), time.thread_time()
        lookout.is_on = True
        begin = time.perf_counter()
        self.dataset[(turn * 7919) % len(self.dataset)]
        wall = time.perf_counter() - begin
        lookout.is_on = False
        # Threads that the sample is made with compute for it: while they do, it is no wait.
        computed = max(time.thread_time() - thread, min(time.process_time() - cpu, wall))
        return [wall, computed, own_waited_seconds() - line, lookout.taken()]


def _same(samples):
    return samples


def _made_by(dataset, workers, limit_s):
    from torch.utils.data import DataLoader

    rows = []
    begin = time.perf_counter()
    for samples in DataLoader(_Watched(dataset), batch_size=BATCH, num_workers=workers, collate_fn=_same):
        rows.extend(samples)
        if time.perf_counter() - begin >= limit_s:
            break
    if not rows:
        raise BadSettings("the data set gave no sample")
    return rows


def _summary(rows, workers):
    wall, computed, in_line = (sum(row[at] for row in rows) for at in range(3))
    places = {}
    for row in rows:
        for place, kind, count in row[3]:
            places[place, kind] = places.get((place, kind), 0) + count
    looks = sum(places.values())
    return {"workers": workers, "samples_per_s": workers * len(rows) / wall if wall > 0 else 0.0,
            "waits": max(0.0, wall - computed - in_line) / wall if wall > 0 else 0.0,
            "places": [{"place": place, "kind": kind, "share": count / looks} for (place, kind), count in sorted(places.items(), key=lambda item: -item[1])]}


def compared(dataset, workers, limit_s=LIMIT_S):
    """{"one": .., "several": ..}, each with the samples/s that its workers would make if nothing else held them up, the share of a sample's
    time that they wait, and where: [{"place": "train.py:30 in __getitem__", "kind": "lock", "share": of the waits}, ..]. `workers`: 2 or
    more. Errors: BadSettings if samples cannot be made by number."""
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        raise BadSettings("the data set has no samples by number")
    limit_s = min(limit_s, LIMIT_S) / 2
    return {"one": _summary(_made_by(dataset, 1, limit_s), 1), "several": _summary(_made_by(dataset, workers, limit_s), workers)}
