# SPDX-License-Identifier: Apache-2.0
"""Moments of a window of steps. On a GPU they are events on the stream, read when the window is over, so that nothing waits
for the device meanwhile; on a CPU they are readings of the clock."""

import time


class ClockMarks:
    def __init__(self, count):
        self._times = []

    def mark(self):
        self._times.append(time.perf_counter())

    def marking(self, add):
        """A function that appends a mark, and its argument by add()."""
        append, now = self._times.append, time.perf_counter

        def mark(argument):
            append(now())
            add(argument)

        return mark

    def between(self, first, second):
        return (self._times[second] - self._times[first]) * 1e3

    def wait(self):
        pass


class EventMarks:
    def __init__(self, torch, device, count):
        self._torch = torch
        self._device = device
        # Made beforehand: creating an event costs a driver call.
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
        self._used = 0

    def mark(self):
        self._events[self._used].record()
        self._used += 1

    def marking(self, add):
        """As ClockMarks.marking."""

        def mark(argument):
            self.mark()
            add(argument)

        return mark

    def passed(self, mark):
        """Whether the device has come that far."""
        return self._events[mark].query()

    def between(self, first, second):
        return self._events[first].elapsed_time(self._events[second])

    def wait(self):
        self._torch.cuda.synchronize(self._device)
