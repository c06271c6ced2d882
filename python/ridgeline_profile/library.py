# SPDX-License-Identifier: Apache-2.0
"""The C functions of the recording library."""
import ctypes
import os

OPERATION, ANNOTATION, PYTHON = 0, 1, 2  # kinds of ranges

# PyDLL: the calls take less time than giving up Python's lock and taking it again.
_library = ctypes.PyDLL(os.environ["RIDGELINE_TRACE_LIBRARY"])
_start = _library.ridgeline_trace_start
_start.restype = ctypes.c_int32
_name = _library.ridgeline_trace_name
_name.argtypes = [ctypes.c_char_p]
_name.restype = ctypes.c_uint32

# Without argtypes: small integers are passed as int, which has the registers of uint32_t and int32_t, in half the time.
push = _library.ridgeline_trace_push
push.restype = None
pop = _library.ridgeline_trace_pop
pop.restype = None
step = _library.ridgeline_trace_step
step.restype = None
_flush = _library.ridgeline_trace_flush
_flush.restype = None
profiler = _library.ridgeline_trace_profiler
profiler.restype = None
capture = _library.ridgeline_trace_capture
capture.restype = None

_names = {}
_begun = False


def name(text):
    """The number of a text."""
    number = _names.get(text)
    if number is None:
        number = _names[text] = _name(text.encode("utf-8", "replace"))
    return number


def begin():
    """Before the first range of a process. Processes without one, as workers of data loaders, are not recorded."""
    global _begun
    if not _begun:
        _begun = True
        _start()


def restart():
    """Before another recording of the same process."""
    global _begun
    _begun = False


def flush():
    """Before the process ends without its exit handlers."""
    if _begun:
        _flush()


def lines_functions():
    """What says where Python has its frames, and what gives the text of the line that the thread runs."""
    start, of_thread = _library.ridgeline_trace_lines, _library.ridgeline_trace_line
    start.argtypes = [ctypes.POINTER(ctypes.c_int64), ctypes.c_uint32, ctypes.c_char_p]
    start.restype = None
    of_thread.argtypes = [ctypes.c_char_p, ctypes.c_uint32]
    of_thread.restype = ctypes.c_int32
    return start, of_thread


def forked():
    restart()
    _names.clear()
