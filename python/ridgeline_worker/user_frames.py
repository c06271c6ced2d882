# SPDX-License-Identifier: Apache-2.0
"""The part of a traceback, or of a stack, that the user wrote."""

import linecache
import os
import sys
import sysconfig
import traceback

SHOWN = 6
LINE = 200  # characters
CAUSES = 8  # deep enough; chains may be circular


def _folder(path):
    return os.path.realpath(path) + os.sep


def _excluded():
    """Folders of torch, of our packages and of Python itself."""
    own = os.path.dirname(os.path.abspath(__file__))
    folders = [_folder(own)]
    # Packages that are imported by their place have no file.
    folders += [_folder(os.path.join(os.path.dirname(own), name)) for name in ("ridgeline_profile", "ridgeline_script", "ridgeline_train", "ridgeline_models")]
    for name in ("ridgeline_train", "ridgeline_models", "ridgeline_infer", "torch"):
        module = sys.modules.get(name)
        path = getattr(module, "__file__", None)
        if path:
            folders.append(_folder(os.path.dirname(path)))
    return folders


def _installed(path):
    parts = path.split(os.sep)
    standard = [_folder(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    return "site-packages" in parts or "dist-packages" in parts or any(path.startswith(folder) for folder in standard)


def _is_ours(path):
    return any(path.startswith(folder) for folder in _excluded())


def _is_users(path):
    return not path.startswith("<") and not _is_ours(os.path.realpath(path)) and not _installed(os.path.realpath(path))


def _printable(text):
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()[:LINE]


def _place(path, number):
    short = os.path.relpath(path)
    if short.startswith(os.pardir):
        short = path
    return "%s:%d" % (short, number)


def _shown(path, number, name, line):
    place = _place(path, number)
    return _printable("%s in %s: %s" % (place, name, line.strip()) if name else "%s: %s" % (place, line.strip()))


def _frames_of(error):
    found = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        # What torch generates has a name in place of a file: <eval_with_key>.
        if not code.co_filename.startswith("<"):
            path = os.path.realpath(code.co_filename)
            line = linecache.getline(path, trace.tb_lineno, trace.tb_frame.f_globals)
            found.append((path, trace.tb_lineno, code.co_name, line))
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        found.append((os.path.realpath(error.filename), error.lineno, "", error.text or ""))
    found = [frame for frame in found if not _is_ours(frame[0])]
    # A model's library is told only where no file of the user's took part.
    own = [frame for frame in found if not _installed(frame[0])]
    standard = _folder(sysconfig.get_path("stdlib"))
    return own or [frame for frame in found if not frame[0].startswith(standard) or "site-packages" in frame[0]]


def user_frames(error):
    """At most SHOWN lines "file:line in name: source", outermost first; of the nearest cause that has any."""
    for _ in range(CAUSES):
        if error is None:
            break
        frames = _frames_of(error)
        if frames:
            return [_shown(*frame) for frame in frames[-SHOWN:]]
        error = error.__cause__ if error.__cause__ is not None or error.__suppress_context__ else error.__context__
    return []


def place_of_callable(value):
    """"file:line" of the function, or of the class's __call__ or forward; "" if the user did not write it."""
    kind = type(value)
    for one in (value, kind.__dict__.get("forward"), kind.__dict__.get("__call__")):
        code = getattr(one, "__code__", None)
        if code is not None and _is_users(code.co_filename):
            return _place(os.path.realpath(code.co_filename), code.co_firstlineno)
    return ""


def place_of(lines):
    """"file:line in name" of the last of (file, line, name) that is the user's own; "" where none is."""
    for path, number, name in reversed(lines):
        if _is_users(path):
            return _printable("%s in %s" % (_place(os.path.realpath(path), number), name))
    return ""


def place_of_error(error):
    lines = [(entry.filename, entry.lineno, entry.name) for entry in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        lines.append((error.filename, error.lineno, "its text"))
    return place_of(lines)


def place_of_stack(frame):
    """Where a thread is that is running."""
    lines = []
    while frame is not None:
        lines.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return place_of(lines[::-1])
