# SPDX-License-Identifier: Apache-2.0
"""Reads what tests/fakes/trace_recorder.c wrote."""
import collections
import glob

MODULE = "nn.Module: "
Event = collections.namedtuple("Event", "thread what text open")  # open: ranges around it, as (kind, name)


class Log:
    """The log of one process."""

    def __init__(self, path):
        self.events = []
        self.balanced = True
        open_ranges = collections.defaultdict(list)
        with open(path) as file:
            for line in file:
                thread, what, text = (line.rstrip("\n").split(" ", 2) + [""])[:3]
                ranges = open_ranges[thread]
                if what == "pop":
                    self.balanced = self.balanced and bool(ranges)
                    if ranges:
                        ranges.pop()
                    continue
                self.events.append(Event(thread, what, text, tuple(ranges)))
                if what.startswith("push"):
                    ranges.append((int(what[4:]), text))
        self.balanced = self.balanced and not any(open_ranges.values())

    def names(self, kind=None):
        """Those of modules without the lines that call them."""
        return [without_line(event.text) for event in self.events if event.what.startswith("push") and kind in (None, int(event.what[4:]))]

    def lines(self):
        """The line of each module, by its name."""
        names = [event.text for event in self.events if event.what.startswith("push") and event.text.startswith(MODULE)]
        return dict(name[len(MODULE):].split(" @ ") for name in names if " @ " in name)

    def count(self, what):
        return sum(event.what == what for event in self.events)

    def marks(self):
        """(expected, seen, whether within a backward pass) of each mark, modules as attribute paths. A mark is "PASS:PATH"."""
        out = []
        for event in self.events:
            if event.what == "mark":
                which, _, path = event.text.partition(":")
                out.append((which, path, path_of(event.open), (1, "(backward)") in event.open))
        return out


def without_line(name):
    return name.split(" @ ")[0] if name.startswith(MODULE) else name


def path_of(ranges):
    """"layer1.0.conv1" of the open ranges; "-" outside of all modules."""
    modules = [name[len(MODULE):] for kind, name in ranges if kind == 2 and name.startswith(MODULE)]
    if not modules:
        return "-"
    return ".".join(name.split(" (")[0] for name in modules[1:])


def read(prefix):
    """The logs of all processes."""
    return [Log(path) for path in sorted(glob.glob(prefix + ".*"))]
