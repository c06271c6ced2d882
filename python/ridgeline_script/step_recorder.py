# SPDX-License-Identifier: Apache-2.0
"""Phases of the steps in a window. A hook reports the phase that begins; a step begins with fetching its batch."""
from ridgeline_train.marks import ClockMarks, EventMarks

IO, H2D, FORWARD, BACKWARD, OPTIMIZER, REST = range(6)
PHASES = 6
EVENTS_AHEAD = 16  # per step


class GrowingEventMarks(EventMarks):
    """A script decides itself how many marks a step has."""

    def mark(self):
        if self._used == len(self._events):
            self._events.append(self._torch.cuda.Event(enable_timing=True))
        super().mark()


class StepRecorder:
    """Between two begins of steps. A step that something else interrupted (a validation, the last batch of an epoch) is not counted."""

    def __init__(self, torch, device, steps):
        """enter(phase): the phase begins. Called eight times in a step, it looks up no attributes."""
        self.wanted = steps
        self.left_out = 0
        self._marks = GrowingEventMarks(torch, device, steps * EVENTS_AHEAD) if device.type == "cuda" else ClockMarks(0)
        self.phases = []     # of all marks; the last one is the phase now
        self._begins = []    # numbers of marks
        self._is_left_out = []
        self._marks.wait()
        self.enter = self._marks.marking(self.phases.append)

    def begin_step(self):
        self._begins.append(len(self.phases))
        self._is_left_out.append(False)
        self.enter(IO)

    def leave_out(self):
        if self._is_left_out and not self._is_left_out[-1]:
            self._is_left_out[-1] = True
            self.left_out += 1

    def is_complete(self):
        """At the begin of the next step."""
        return len(self._begins) - self.left_out >= self.wanted

    def end(self):
        """(rows, wall time in ms) of the counted steps."""
        self.enter(REST)
        self._marks.wait()
        rows = []
        for number, begin in enumerate(self._begins):
            if self._is_left_out[number]:
                continue
            last = number + 1 == len(self._begins)
            end = len(self.phases) - 1 if last else self._begins[number + 1]
            row = [0.0] * PHASES
            for mark in range(begin, end):
                row[self.phases[mark]] += self._marks.between(mark, mark + 1)
            rows.append(row + [self._marks.between(begin, end)])
        return rows, sum(row[-1] for row in rows)
