# SPDX-License-Identifier: Apache-2.0
"""From which block on times have settled, and whether enough blocks follow. One rule for both sides of a comparison: compiling and first
calls are in neither."""
import statistics

WINDOW = 5  # blocks
FALLING = 1.05  # times the median of the next blocks: the times still fall
OUTLIER = 2.0
LEAST_BLOCKS, LEAST_S = 10, 2.0  # behind the warm-up
SLOW_BLOCKS, SLOW_S = 5, 15.0  # enough of slow steps
LIMIT_S = 60.0  # behind the first block, settled or not


def _step_times(blocks):
    return [time / steps for steps, time in blocks]


def settled_from(blocks):
    """The first block behind the warm-up; None while the times still fall. The first block is always part of the warm-up."""
    times = _step_times(blocks)
    for first in range(1, len(times) - 2 * WINDOW + 1):
        now, later = times[first:first + WINDOW], times[first + WINDOW:first + 2 * WINDOW]
        level = statistics.median(later)
        if statistics.median(now) <= FALLING * level and max(now) <= OUTLIER * level:
            return first
    return None


def warm_up(blocks):
    """How many blocks are left out. If the times never settle, the first half."""
    settled = settled_from(blocks)
    return settled if settled is not None else (len(blocks) + 1) // 2


def is_enough(blocks):
    if len(blocks) < 2 * WINDOW:
        return len(blocks) > SLOW_BLOCKS and _seconds(blocks[1:]) >= LIMIT_S
    if _seconds(blocks[1:]) >= LIMIT_S:
        return True
    settled = settled_from(blocks)
    if settled is None:
        return False
    counted = blocks[settled:]
    seconds = _seconds(counted)
    return (len(counted) >= LEAST_BLOCKS and seconds >= LEAST_S) or (len(counted) >= SLOW_BLOCKS and seconds >= SLOW_S)


def _seconds(blocks):
    return sum(time for _, time in blocks) / 1e9
