# SPDX-License-Identifier: Apache-2.0
"""What /proc shows of processes, and how long they live."""

import contextlib
import ctypes
import os
import signal
import time

_PDEATHSIG, _CHILD_SUBREAPER = 1, 36  # of prctl
_END_S = 2.0


def parents():
    """{process: its parent}."""
    out = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as file:
                    out[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):  # it has ended
                pass
    return out


def status_kb(process, key):
    """A number of /proc/PID/status; 0 if there is none."""
    try:
        with open("/proc/%s/status" % process) as file:
            for line in file:
                if line.startswith(key):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def die_with_parent():
    """Ends this process with SIGKILL as soon as its parent's thread ends."""
    ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)


def adopt_orphans():
    """Processes whose parents end become children of this one."""
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1)


def has_children():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except ChildProcessError:
        return False


def end_children():
    """Kills the children of this process, and those it adopts meanwhile. Whether none is left."""
    end = time.monotonic() + _END_S
    while has_children():
        if time.monotonic() > end:
            return False
        for process, parent in parents().items():
            if parent == os.getpid():
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.001)
    return True
