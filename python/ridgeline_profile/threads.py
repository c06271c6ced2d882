# SPDX-License-Identifier: Apache-2.0
"""What each thread has open."""
import threading

MARKS = 20000  # sequence numbers of autograd's nodes; more than one step has


class Thread:
    __slots__ = ("call", "backward", "engine", "path", "at", "resumed", "marks", "older_marks")

    def __init__(self):
        self.call = None  # the innermost call of a module in the forward pass
        self.backward = False  # whether the annotation of a backward pass is open here
        self.engine = None  # in a thread of autograd's own: the number of the backward pass
        self.path = ()  # names of the open ranges of the backward pass, outermost first
        self.at = None  # the call whose gradient is being computed
        self.resumed = []  # per open outermost call: the path to return to; None outside of backward passes
        self.marks = set()  # sequence numbers of the nodes that have a hook
        self.older_marks = set()

    def is_marked(self, number):
        return number in self.marks or number in self.older_marks

    def limit_marks(self):
        if len(self.marks) > MARKS:
            self.older_marks = self.marks
            self.marks = set()


class _Local(threading.local):
    def __init__(self):
        self.thread = Thread()


local = _Local()


def forked():
    local.thread = Thread()
