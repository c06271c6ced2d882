# SPDX-License-Identifier: Apache-2.0
"""Processes that are forked after the imports that take seconds."""

import builtins
import contextlib
import os
import resource
import signal
import sys
import traceback
import warnings

from . import processes

# Libraries whose threads survive forks: OpenBLAS and Arrow make them anew in the child.
FORK_SAFE = ("numpy", "scipy", "sklearn", "pandas", "pyarrow")
read_before_kb = 0  # in a fork: the pages of files that its process had in memory, of which the fork has none at first
_RELEASED = b"r"  # from a fork whose work is done, and whose process may fork again


class CannotFork(Exception):
    """No memory for a fork, or too many processes."""


def threads():
    return len(os.listdir("/proc/self/task"))


@contextlib.contextmanager
def fork_safe_threads():
    """A list with the number of threads that imports of FORK_SAFE start meanwhile."""
    started, original, inside = [0], builtins.__import__, []

    def counting(name, *arguments, **named):
        if inside or name.partition(".")[0] not in FORK_SAFE:
            return original(name, *arguments, **named)
        inside.append(name)
        before = threads()
        try:
            return original(name, *arguments, **named)
        finally:
            inside.pop()
            started[0] += threads() - before

    builtins.__import__ = counting
    try:
        yield started
    finally:
        builtins.__import__ = original


def _appends(name):
    """Whether the file is only written, and always at its end, as logs are."""
    with open("/proc/self/fdinfo/" + name) as file:
        flags = next((int(line.split()[1], 8) for line in file if line.startswith("flags:")), 0)
    return flags & os.O_ACCMODE == os.O_WRONLY and flags & os.O_APPEND != 0


def _open_files():
    """Forks share the position in a file, and the other end of a pipe or socket. Devices have neither."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the listing's own
            path = os.readlink("/proc/self/fd/" + name)
            if (not path.startswith("/dev/") or path.startswith("/dev/shm/")) and not _appends(name):
                found.add((name, path))
    return found


class Imports:
    """What is imported within `with`: whether forks of this process would find all as a process does that imports for itself."""

    def __enter__(self):
        self._threads, self._files = threads(), _open_files()
        self._counting = fork_safe_threads()
        self._safe = self._counting.__enter__()
        return self

    def __exit__(self, *error):
        self._counting.__exit__(*error)

    def are_fork_safe(self):
        return (threads() <= self._threads + self._safe[0] and _open_files() <= self._files and not processes.has_children()
                and signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL)


def _end_as(status):
    """Ends this process as its fork ended, so that its parent learns the cause."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the fork has left one
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _fork():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about fork-safe threads; a file may have made warnings errors
        return os.fork()


def _serve(work, parent, released):
    """In the fork; never returns."""
    global read_before_kb
    code = 1
    try:
        read_before_kb = processes.status_kb(parent, "RssFile:")
        processes.die_with_parent()
        if os.getppid() == parent and work():
            os.write(released, _RELEASED)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def in_fork(work):
    """Calls `work` in a fork, which passes for this process meanwhile: questions by SIGUSR1 go to it. Returns when work returned True:
    whether all processes that the fork left behind have ended; otherwise this process ends as the fork did. May raise
    CannotFork."""
    sys.stdout.flush()
    sys.stderr.flush()
    processes.adopt_orphans()
    reading, writing = os.pipe()
    parent = os.getpid()
    try:
        process = _fork()
    except OSError as error:
        os.close(reading)
        os.close(writing)
        raise CannotFork(str(error)) from error
    if process == 0:
        _serve(work, parent, writing)
    os.close(writing)

    def pass_on(*_):
        with contextlib.suppress(OSError):  # it has just ended
            os.kill(process, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, pass_on)
    _, status = os.waitpid(process, 0)
    signal.signal(signal.SIGUSR1, before)
    ended = processes.end_children()
    os.set_blocking(reading, False)
    try:
        released = os.read(reading, len(_RELEASED)) == _RELEASED
    except BlockingIOError:  # a process that could not be ended has the other end
        released = False
    os.close(reading)
    if not released:
        _end_as(status)
    return ended
