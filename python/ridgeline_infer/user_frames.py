# SPDX-License-Identifier: Apache-2.0
"""The part of a traceback that the user wrote."""

import linecache
import os
import sys
import sysconfig

SHOWN = 6
LINE = 200  # characters
CAUSES = 8  # deep enough; chains may be circular


def _folder(path):
    return os.path.realpath(path) + os.sep


def _excluded():
    """Folders of torch, of this package and of Python itself."""
    folders = [_folder(os.path.dirname(os.path.abspath(__file__)))]
    for name in ("ridgeline_train", "torch"):
        module = sys.modules.get(name)
        path = getattr(module, "__file__", None)
        if path:
            folders.append(_folder(os.path.dirname(path)))
    return folders


def _installed(path):
    parts = path.split(os.sep)
    standard = [_folder(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    return "site-packages" in parts or "dist-packages" in parts or any(path.startswith(folder) for folder in standard)


def _printable(text):
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()[:LINE]


def _shown(path, number, name, line):
    short = os.path.relpath(path)
    if short.startswith(os.pardir):
        short = path
    place = "%s:%d" % (short, number)
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
    excluded = _excluded()
    found = [frame for frame in found if not any(frame[0].startswith(folder) for folder in excluded)]
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
