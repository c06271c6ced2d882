# SPDX-License-Identifier: Apache-2.0
"""Annotations around methods of torch's classes."""
import functools

from ridgeline_profile import library, patches
from ridgeline_profile.frames import leave_out_own
from ridgeline_profile.library import ANNOTATION, pop, push


def around(kind, method, text):
    """Around each call of a method."""
    function = getattr(kind, method)

    @functools.wraps(function)
    def run(self, *args, **kwargs):
        library.begin()
        push(library.name(text), ANNOTATION)
        try:
            return function(self, *args, **kwargs)
        except BaseException as error:
            leave_out_own(error)
            raise
        finally:
            pop()

    patches.replace(kind, method, run)


def captures(kind, text):
    """Around what is within a context that captures a CUDA graph, whose nodes the library watches meanwhile."""
    enter, leave = kind.__enter__, kind.__exit__

    def close():
        library.capture(0)
        pop()

    @functools.wraps(enter)
    def begin(self):
        library.begin()
        push(library.name(text), ANNOTATION)
        library.capture(1)
        try:
            return enter(self)
        except BaseException as error:
            close()
            leave_out_own(error)
            raise

    @functools.wraps(leave)
    def end(self, *error):
        try:
            return leave(self, *error)
        finally:
            close()

    patches.replace(kind, "__enter__", begin)
    patches.replace(kind, "__exit__", end)
