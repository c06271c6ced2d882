# SPDX-License-Identifier: Apache-2.0
"""The recorder's clock, CLOCK_MONOTONIC, and the system's. What shifts one against the other is setting the system's clock."""
import time

READINGS = 5


def system_ahead_ns():
    """The system's clock minus the recorder's, from the pair of readings that lie closest together."""
    best = None
    for _ in range(READINGS):
        begin = time.monotonic_ns()
        system = time.time_ns()
        end = time.monotonic_ns()
        if best is None or end - begin < best[0]:
            best = end - begin, system - (begin + end) // 2
    return best[1]


def on_recorder(time_ns, ahead_ns):
    """A time of std::chrono::high_resolution_clock, which is the system's clock with libstdc++ and CLOCK_MONOTONIC with libc++."""
    now = time.monotonic_ns()
    return time_ns - ahead_ns if abs(time_ns - ahead_ns - now) < abs(time_ns - now) else time_ns
