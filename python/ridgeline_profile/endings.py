# SPDX-License-Identifier: Apache-2.0
"""Ends of a process that run no exit handlers of C: os._exit, as children of multiprocessing end; exec; and the signal by which Python
answers a KeyboardInterrupt."""
import atexit
import functools
import os

from ridgeline_profile import library

ENDINGS = ("_exit", "execv", "execve")  # the other forms of exec call these

before = []  # functions to call first
_installed = False


def _end():
    for function in before:
        try:
            function()
        except Exception:
            pass  # the program ends as it would
    library.flush()


def _flushing(function):
    @functools.wraps(function)
    def run(*args, **kwargs):
        _end()
        return function(*args, **kwargs)

    return run


def install():
    """Once for all packages that have hooks."""
    global _installed
    if _installed:
        return
    _installed = True
    atexit.register(_end)
    for name in ENDINGS:
        if hasattr(os, name):
            setattr(os, name, _flushing(getattr(os, name)))
