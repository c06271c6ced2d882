# SPDX-License-Identifier: Apache-2.0
"""The options of --option NAME=VALUE. Whatever cannot be read is refused with its name, value and range."""

import math
import re

from ridgeline_worker.failures import BadSettings

MOST_ELEMENTS = 1 << 40
MOST_AXES = 7


def refuse(text):
    raise BadSettings(text)


def _distance(a, b):
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a):
        corner, row[0] = row[0], i + 1
        for j, other in enumerate(b):
            corner, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, corner + (letter != other))
    return row[-1]


def did_you_mean(word, names):
    """', did you mean "x"?' for a likely typo, else ""."""
    distance, nearest = min((_distance(word, name), name) for name in names)
    return ', did you mean "%s"?' % nearest if distance <= max(2, len(word) // 3) else ""


def shape_text(shape):
    return "x".join(map(str, shape)) or "1"


class Options:
    def __init__(self, values):
        self.values = values

    def has(self, name):
        return name in self.values

    def text(self, name, otherwise):
        return self.values.get(name, otherwise)

    def whole(self, name, otherwise, low, high):
        text = self.values.get(name)
        if text is None:
            return otherwise
        if not re.fullmatch(r"\s*[+-]?[0-9]+", text) or not low <= int(text) <= high:
            refuse("option %s=%s: expected a whole number from %d to %d" % (name, text, low, high))
        return int(text)

    def number(self, name, otherwise, low, high):
        text = self.values.get(name)
        if text is None:
            return otherwise
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            refuse("option %s=%s: expected a number from %.10g to %.10g" % (name, text, low, high))
        return value

    def flag(self, name, otherwise):
        text = self.values.get(name)
        if text is None:
            return otherwise
        if text not in ("on", "off"):
            refuse("option %s=%s: expected on or off" % (name, text))
        return text == "on"

    def shape(self, name, otherwise):
        """[3, 224, 224] of "3x224x224"."""
        text = self.values.get(name, otherwise)
        lengths = [int(length) if length.isdecimal() else 0 for length in text.split("x")]
        if min(lengths) < 1 or len(lengths) > MOST_AXES or math.prod(lengths) > MOST_ELEMENTS:
            refuse("option %s=%s: expected lengths of a sample's axes, for example 3x224x224" % (name, text))
        return lengths

    def choice(self, name, known, otherwise, what):
        text = self.values.get(name, otherwise)
        if text not in known:
            refuse("option %s=%s: no such %s%s; there are %s" % (name, text, what, did_you_mean(text, known), ", ".join(known)))
        return text

    def check_names(self, known, model):
        for name in self.values:
            if name not in known:
                refuse('no option "%s"%s; %s has %s' % (name, did_you_mean(name, known), model, ", ".join(known)))
