# SPDX-License-Identifier: Apache-2.0
"""Which samples a batch holds: endless, epoch after epoch in a new order. The last, smaller batch of an epoch is left out."""

import itertools

import numpy

from .options import refuse

NAMES = ("shuffled", "shuffled_chunks", "sequential")
WINDOW_CHUNKS = 64  # whose samples are mixed


def _shuffled_chunks(random, rows, chunk_rows):
    chunks = random.permutation(-(-rows // chunk_rows))
    within = numpy.arange(chunk_rows)
    for first in range(0, len(chunks), WINDOW_CHUNKS):
        window = (chunks[first:first + WINDOW_CHUNKS, None] * chunk_rows + within).ravel()
        yield random.permutation(window[window < rows])


class SampleOrder:
    """The indices of batch after batch, as arrays."""

    def __init__(self, name, rows, batch, seed, chunk_rows):
        if name not in NAMES:
            refuse("option order=%s: expected shuffled, shuffled_chunks or sequential" % name)
        self.name = name
        self.rows = rows
        self.batch = batch
        self.seed = seed
        self.chunk_rows = chunk_rows

    def _epoch(self, number):
        random = numpy.random.default_rng([self.seed, number])
        if self.name == "sequential":
            return numpy.arange(self.rows)
        if self.name == "shuffled":
            return random.permutation(self.rows)
        return numpy.concatenate(list(_shuffled_chunks(random, self.rows, self.chunk_rows)))

    def __iter__(self):
        for number in itertools.count():
            epoch = self._epoch(number)
            for first in range(0, self.rows - self.batch + 1, self.batch):
                yield epoch[first:first + self.batch]
