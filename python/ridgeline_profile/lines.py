# SPDX-License-Identifier: Apache-2.0
"""The line of the program that called a module: "train.py(41): main", as PyTorch's profiler has it."""
import os
import sys
import sysconfig

import torch

from ridgeline_profile import library

_DEPTH = 40  # frames
TORCH = os.path.dirname(torch.__file__) + os.sep
OWN = os.path.dirname(__file__) + os.sep
LIBRARIES = tuple({os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")})
_USER, _LIBRARY, _NONE = 0, 1, 2
_kinds = {}  # of code
_names = {}  # number of the text by code and line


def _kind(code):
    kind = _kinds.get(code)
    if kind is None:
        path = code.co_filename
        if path.startswith((TORCH, OWN, "<frozen")):
            kind = _NONE
        elif os.sep + "site-packages" + os.sep in path or os.sep + "dist-packages" + os.sep in path or path.startswith(LIBRARIES):
            kind = _LIBRARY
        else:
            kind = _USER
        _kinds[code] = kind
    return kind


def _short(path):
    """Without the folder that Python found the file in."""
    best = max((len(entry) for entry in sys.path if entry and path.startswith(os.path.join(entry, ""))), default=-1)
    return path[best:].lstrip(os.sep) if best >= 0 else path


def of_caller(frame):
    """The innermost line of the program, else of a library; None in torch itself. `frame` called the module."""
    found = _frame(frame)
    return None if found is None else _text(found)


def number_of_caller(frame):
    """Number of the text of of_caller()."""
    found = _frame(frame)
    if found is None:
        return None
    key = (found.f_code, found.f_lineno)
    number = _names.get(key)
    if number is None:
        number = _names[key] = library.name(_text(found))
    return number


def _frame(frame):
    in_library = None
    for _ in range(_DEPTH):
        if frame is None:
            break
        kind = _kind(frame.f_code)
        if kind == _USER:
            return frame
        if kind == _LIBRARY and in_library is None:
            in_library = frame
        frame = frame.f_back
    return in_library


def _text(frame):
    return "%s(%d): %s" % (_short(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_name)


def forked():
    _names.clear()
