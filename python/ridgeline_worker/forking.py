# SPDX-License-Identifier: Apache-2.0
"""Processes that are forked after the imports that take seconds."""

import builtins
import contextlib
import os
import resource
import signal
import sys
import traceback

# Whose threads survive forks: OpenBLAS and Arrow make them anew in the child.
BEAR_FORKS = ("numpy", "scipy", "sklearn", "pandas", "pyarrow")
RELEASED = 64  # exit code of a fork whose work is done, and whose process may fork again


def threads():
    return len(os.listdir("/proc/self/task"))


@contextlib.contextmanager
def threads_that_bear_forks():
    """A list with the number of threads that imports of BEAR_FORKS start meanwhile."""
    started, original, inside = [0], builtins.__import__, []

    def counting(name, *arguments, **named):
        if inside or name.partition(".")[0] not in BEAR_FORKS:
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


def _end_as(status):
    """Ends this process as its fork ended, so that whoever waits for it learns the cause."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the fork has left one
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def in_fork(work):
    """Calls `work` in a fork, which passes for this process meanwhile: questions by SIGUSR1 go to it. Returns when work returned
    True; otherwise this process ends as the fork did."""
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            code = RELEASED if work() else 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    before = signal.signal(signal.SIGUSR1, lambda *_: os.kill(process, signal.SIGUSR1))
    _, status = os.waitpid(process, 0)
    signal.signal(signal.SIGUSR1, before)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) != RELEASED:
        _end_as(status)
