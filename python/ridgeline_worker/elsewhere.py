# SPDX-License-Identifier: Apache-2.0
"""Exceptions of a loader's worker, a pinning thread or a replica: torch raises them again with the whole traceback as text."""

import re

from .user_frames import place_of

_CAUGHT = re.compile(r"\ACaught \S+ (in|with) .*\nOriginal Traceback \(most recent call last\):\n")
_BEGIN = re.compile(r"^(?:Original )?Traceback \(most recent call last\):\n", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.+)", line (\d+), in (.+)$')
_RAISED = re.compile(r"\A([A-Za-z_][\w.]*)(?:: ?|\Z|\n)(.*)\Z", re.DOTALL)
# Between the tracebacks of a chain.
_BETWEEN = ("\nDuring handling of the above exception", "\nThe above exception was the direct cause")


class Traceback:
    """One exception of a chain: its type's name, its text, and its frames (file, line, function)."""

    def __init__(self, text):
        self.frames = []
        raised = []
        for line in text.splitlines():
            frame = _FRAME.match(line)
            if raised:
                raised.append(line)
            elif frame:
                self.frames.append((frame.group(1), int(frame.group(2)), frame.group(3)))
            elif line and not line.startswith(" "):
                raised.append(line)
        said = "\n".join(raised).strip()
        for between in _BETWEEN:
            said = said.partition(between)[0].strip()
        found = _RAISED.match(said)
        self.kind, self.message = (found.group(1), found.group(2).strip()) if found else ("", said)

    def place(self):
        return place_of(self.frames)


def tracebacks(message):
    """Those in the text of an exception that was caught elsewhere, the outermost cause first; empty for any other text."""
    if not _CAUGHT.match(message):
        return []
    found = map(Traceback, _BEGIN.split(message)[1:])
    # One that was wrapped twice tells of the wrapping as well.
    return [block for block in found if block.kind and not block.message.startswith("Caught ")]
