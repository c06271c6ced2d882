# SPDX-License-Identifier: Apache-2.0
"""Times steps in blocks: waiting for the GPU after each step would slow down programs whose host runs ahead."""
import time

import torch

from ridgeline_profile.verify import settling

GPU_BLOCK_NS = 50_000_000
CPU_BLOCK_NS = 10_000_000
MOST_BLOCKS = 4000


def uses_gpu():
    return torch.cuda.is_available() and torch.cuda.is_initialized()


def is_capturing():
    """Whether the program records a CUDA graph, which anything that waits for the GPU would end."""
    return uses_gpu() and torch.cuda.is_current_stream_capturing()


class StepClock:
    """begin_step() is called as a step begins, `finish` once there are enough."""

    def __init__(self, finish):
        self.blocks = []  # (steps, nanoseconds)
        self.steps = 0  # that ended
        self._finish = finish
        self._in_block = 0
        self._begun = None  # the block
        self._last = None  # the step

    def begin_step(self):
        now = time.perf_counter_ns()
        if self._begun is None:
            self._wait()
            self._begun = self._last = time.perf_counter_ns()
            return
        self._in_block += 1
        self.steps += 1
        self._last = now
        on_gpu = uses_gpu()
        if now - self._begun < (GPU_BLOCK_NS if on_gpu else CPU_BLOCK_NS):
            return
        if on_gpu:
            self._wait()
            now = time.perf_counter_ns()
        self.blocks.append((self._in_block, now - self._begun))
        self._in_block = 0
        self._begun = time.perf_counter_ns()
        if len(self.blocks) >= MOST_BLOCKS or settling.is_enough(self.blocks):
            self._finish()

    def end(self):
        """The program ends: on the CPU the block that it was in counts."""
        if self._in_block and not uses_gpu():
            self.blocks.append((self._in_block, self._last - self._begun))
            self._in_block = 0

    @staticmethod
    def _wait():
        if uses_gpu() and not is_capturing():
            torch.cuda.synchronize()
