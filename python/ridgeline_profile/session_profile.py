# SPDX-License-Identifier: Apache-2.0
"""The profile of one session of ONNX Runtime, which `ridgeline profile` reads: PID.sessionN_TIME.json, and PID.sessionN, lines of
"key=value", with where its zero lies on the recorder's clock."""
import itertools
import os
import threading

from ridgeline_profile import clocks, library
from ridgeline_profile.onnx_nodes import count_nodes

MOST_EVENTS = 600_000  # ONNX Runtime keeps them in memory, about 2 kB each, until the profile ends
USUAL_NODES = 1000
OTHER_EVENTS = 4  # of a run, in addition to those of its nodes

WRITING = "ONNX Runtime writes its profile"

_numbers = itertools.count(1)
_lock = threading.Lock()
_changed = {}  # options that are ours for the moment, by id: [prefix of the user, how many sessions are being made]


def _free_stem():
    """A path that no file has yet: a process keeps its number when it becomes another program by exec."""
    while True:
        stem = os.path.join(os.environ["RIDGELINE_TRACE_FOLDER"], "%d.session%d" % (os.getpid(), next(_numbers)))
        if not os.path.exists(stem):
            return stem


def _write(stem, mode, **values):
    with open(stem, mode, encoding="utf-8", errors="replace") as file:
        for key, value in values.items():
            file.write("%s=%s\n" % (key, str(value).replace("\n", " ")))


def write_reason(model, reason):
    """Records why a session has no profile."""
    _write(_free_stem(), "w", model=model, why=reason)


class Options:
    """A context in which the options of a session ask for a profile. They are the user's, and may be those of several sessions."""

    def __init__(self, options):
        self.options = options
        self.stem = _free_stem()
        _write(self.stem, "w")  # fails without the folder, as of a process that outlives the recording

    def __enter__(self):
        with _lock:
            entry = _changed.setdefault(id(self.options), [self.options.profile_file_prefix, 0])
            entry[1] += 1
            self.options.enable_profiling = True
            self.options.profile_file_prefix = self.stem
        return self

    def __exit__(self, *error):
        with _lock:
            entry = _changed[id(self.options)]
            entry[1] -= 1
            if entry[1] == 0:
                del _changed[id(self.options)]
                self.options.enable_profiling = False
                self.options.profile_file_prefix = entry[0]


def is_users(options):
    """Whether the user profiles the session."""
    with _lock:
        return options.enable_profiling and id(options) not in _changed


def forked():
    """Another thread may have held the lock."""
    global _lock
    _lock = threading.Lock()
    _changed.clear()


class SessionProfile:
    def __init__(self, native, stem, model, name, is_graph):
        self.native = native  # the session of C++
        self.stem = stem
        self.name = name
        self.is_open = True
        self.running = 0
        self.runs = 0
        nodes = count_nodes(model) or USUAL_NODES
        # A window may open late in the program.
        has_window = any(key in os.environ.get("RIDGELINE_TRACE_OPTIONS", "") for key in ("warmup_steps", "delay_s", "range"))
        self.most_runs = 0 if has_window else max(1, MOST_EVENTS // (nodes + OTHER_EVENTS))
        self.lock = threading.Lock()
        self.ahead_ns = clocks.system_ahead_ns()
        start_ns = native.get_profiling_start_time_ns
        _write(stem, "w", model=name, start_ns=clocks.on_recorder(start_ns, self.ahead_ns), graph=int(is_graph))

    def run_begins(self):
        with self.lock:
            self.running += 1
            self.runs += 1

    def run_ends(self):
        with self.lock:
            self.running -= 1
            is_enough = self.running == 0 and 0 < self.most_runs <= self.runs
        if is_enough:
            self._end_early()

    def _end_early(self):
        library.push(library.name(WRITING), library.ANNOTATION)
        try:
            self.end()
        except Exception:
            pass  # a full disk
        finally:
            library.pop()

    def end(self):
        """The file is written, and later runs have no profile."""
        with self.lock:
            if not self.is_open:
                return
            self.is_open = False
        self.native.end_profiling()
        _write(self.stem, "a", set_by_ns=clocks.system_ahead_ns() - self.ahead_ns, ended=1)
