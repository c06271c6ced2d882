# SPDX-License-Identifier: Apache-2.0
"""Memory for batches that loader workers share with this process: they write into it and send a number. torch sends each tensor as a
file descriptor, which costs an answer of the worker while training waits, and needs room in /dev/shm."""

import itertools
import mmap
import weakref

import numpy
import torch

ALIGNMENT = 64
IN_USE = 2  # the batch that is trained on and the one that is handed over

_living = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Filled:
    """A slot that holds a batch; the same in the process that made the slots."""

    def __init__(self, slots, slot):
        self.slots = slots
        self.slot = slot

    def __reduce__(self):
        return _filled, (self.slots.number, self.slot)

    def tensors(self):
        return tuple(torch.from_numpy(values) for values in self.slots.arrays(self.slot))

    def pin_memory(self, *_):
        """Called by the DataLoader's pinning thread."""
        return tuple(values.pin_memory() for values in self.tensors())


def _filled(number, slot):
    return Filled(_living[number], slot)


class BatchSlots:
    """`parts`: shape of a sample and type, for the arrays of a batch."""

    def __init__(self, parts, batch, count):
        self.count = count
        self.number = next(_numbers)
        self.parts = []
        self.bytes = 0
        for shape, dtype in parts:
            shape = (batch,) + tuple(shape)
            self.parts.append((shape, dtype, self.bytes))
            size = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
            self.bytes += -(-size // ALIGNMENT) * ALIGNMENT
        self.memory = mmap.mmap(-1, max(1, self.bytes * count))
        _living[self.number] = self

    def arrays(self, slot):
        return [numpy.ndarray(shape, dtype, self.memory, slot * self.bytes + offset) for shape, dtype, offset in self.parts]


class SlotOrder:
    """Which slot the next batch of `order` goes to. As many as there are come before one is used again."""

    def __init__(self, order, slots):
        self.order = order
        self.slots = slots

    def __iter__(self):
        return zip(itertools.cycle(range(self.slots.count)), self.order)


class SlotIterator:
    """What an iterator of a DataLoader is, with tensors."""

    def __init__(self, inner):
        self.inner = inner
        self._workers = getattr(inner, "_workers", [])

    def __next__(self):
        batch = next(self.inner)
        return batch.tensors() if isinstance(batch, Filled) else batch


class SlotLoader:
    def __init__(self, loader):
        self.loader = loader
        self.num_workers = loader.num_workers
        self.pin_memory = loader.pin_memory

    def __iter__(self):
        return SlotIterator(iter(self.loader))
