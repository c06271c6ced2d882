# SPDX-License-Identifier: Apache-2.0
"""Ends of a process that run no exit handlers of C: os._exit, as children of multiprocessing end; exec; and the signal by which Python
answers a KeyboardInterrupt."""
import atexit
import functools
import os

from ridgeline_profile import library

ENDINGS = ("_exit", "execv", "execve")  # the other forms of exec call these


def _flushing(function):
    @functools.wraps(function)
    def run(*args, **kwargs):
        library.flush()
        return function(*args, **kwargs)

    return run


def install():
    atexit.register(library.flush)
    for name in ENDINGS:
        if hasattr(os, name):
            setattr(os, name, _flushing(getattr(os, name)))
