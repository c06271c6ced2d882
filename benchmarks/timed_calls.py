# SPDX-License-Identifier: Apache-2.0
"""How the loops of benchmarks/ time one call after the other."""
import statistics
import time


def warm_up(run, seconds, most_s):
    """Until a window's median is within 2 % of the last one's, at most for most_s."""
    last, begun = None, time.perf_counter()
    while time.perf_counter() - begun < most_s:
        median = statistics.median(timed(run, seconds))
        if last and abs(median / last - 1) < 0.02:
            return
        last = median


def timed(run, seconds, first_s=0.02):
    """Single calls in ms. The first ones find the caches and clocks of another process and do not count."""
    begun, clock = time.perf_counter(), time.perf_counter
    while True:
        run()
        if clock() - begun > first_s:
            break
    times, begun = [], clock()
    while len(times) < 3 or clock() - begun < seconds:
        start = clock()
        run()
        times.append((clock() - start) * 1e3)
    return times
