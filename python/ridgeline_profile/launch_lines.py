# SPDX-License-Identifier: Apache-2.0
"""The Python line of each call of CUDA (`profile --lines`): the recording library reads it from the frames of the calling thread, so that
the program runs as without it."""
import atexit
import ctypes
import os
import sys

from ridgeline_profile import library, lines, python_layout

_LONGEST = 4096
_PROBE = "/probe.py"
_stops = False  # at the end of Python


def _wanted(options):
    return "lines=1" in options.split(";")


def _probe(start, of_thread, text):
    return of_thread(text, _LONGEST)


def _is_right(start, of_thread, layout):
    """Whether the library finds a line that is known. No file is left out."""
    start(layout, len(layout), b"")
    text = ctypes.create_string_buffer(_LONGEST)
    code = _probe.__code__.replace(co_filename=_PROBE)
    return type(_probe)(code, globals())(start, of_thread, text) == 1 and text.value.decode() == "%s(%d): %s" % (
        _PROBE, code.co_firstlineno + 1, code.co_name)


def _files():
    """Beginnings of file names, each with a letter for what it means (plugins/inject/inject.cpp)."""
    return [("t", lines.TORCH), ("o", lines.OWN), *(("l", folder) for folder in lines.LIBRARIES),
            *(("s", os.path.join(entry, "")) for entry in sys.path if entry)]


def stop():
    """No lines are recorded any more; once Python ends, they must not be."""
    library.lines_functions()[0](None, 0, b"")


def install(options):
    """`options`: of the recording, as RIDGELINE_TRACE_OPTIONS. Whether lines are recorded."""
    global _stops
    layout = python_layout.find() if _wanted(options) else None
    if layout is None:
        return False
    start, of_thread = library.lines_functions()
    values = (ctypes.c_int64 * len(layout))(*layout)
    if not _is_right(start, of_thread, values):
        start(None, 0, b"")
        return False
    start(values, len(layout), "\n".join(letter + folder for letter, folder in _files()).encode("utf-8", "replace"))
    if not _stops:
        _stops = True
        atexit.register(stop)
    return True
