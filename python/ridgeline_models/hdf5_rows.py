# SPDX-License-Identifier: Apache-2.0
"""Rows of one HDF5 dataset. Open in one process only: a handle that crosses a fork reads what another process asked for."""

import os

import numpy

from ridgeline_worker.failures import BadSettings

from .data_form import read_as


class _Direct:
    """An unfiltered dataset in one piece: its rows by their place in the file."""

    def __init__(self, dataset, offset):
        self.file = os.open(dataset.file.filename, os.O_RDONLY | os.O_CLOEXEC)
        self.offset = offset
        self.row_bytes = int(numpy.prod(dataset.shape[1:], dtype=numpy.int64)) * dataset.dtype.itemsize

    def read(self, first, count, out):
        wanted = memoryview(out.reshape(-1).view(numpy.uint8))
        at = self.offset + first * self.row_bytes
        while wanted:
            got = os.preadv(self.file, [wanted], at)
            if got == 0:
                raise BadSettings("the data file ends before row %d" % (first + count))
            at += got
            wanted = wanted[got:]


class _Library:
    """Any other dataset, by h5py's low-level calls: its slices of single rows cost several times as much."""

    def __init__(self, dataset):
        from h5py import h5s

        self.h5s = h5s
        self.id = dataset.id
        self.space = dataset.id.get_space()
        self.rest = dataset.shape[1:]

    def read(self, first, count, out):
        self.space.select_hyperslab((first,) + (0,) * len(self.rest), (count,) + self.rest)
        self.id.read(self.h5s.create_simple((count,) + self.rest), self.space, out)


def _offset(dataset):
    """Where its rows begin in the file; None where they are not plainly there."""
    from h5py import h5t

    if dataset.chunks is not None or dataset.external is not None or dataset.is_virtual or dataset.file.driver != "sec2":
        return None
    # Integers of 12 of 16 bits, for example, are converted by the library.
    return dataset.id.get_offset() if h5t.py_create(dataset.dtype) == dataset.id.get_type() else None


class Hdf5Rows:
    def __init__(self, dataset):
        self.name = dataset.name
        self.stored = dataset.dtype
        self.dtype = read_as(dataset.dtype)
        self.rest = dataset.shape[1:]
        offset = _offset(dataset)
        self.reader = _Library(dataset) if offset is None else _Direct(dataset, offset)

    def take(self, rows, out=None):
        """An array of these rows in their order, `out` if there is one; runs of neighbours are read at once."""
        if out is None:
            out = numpy.empty((len(rows),) + self.rest, dtype=self.dtype)
        stored = out if self.stored == self.dtype else numpy.empty(out.shape, dtype=self.stored)
        ends = numpy.flatnonzero(numpy.diff(rows) != 1) + 1
        begin = 0
        for end in [*ends.tolist(), len(rows)]:
            self.reader.read(int(rows[begin]), end - begin, stored[begin:end])
            begin = end
        if stored is not out:
            self._check_range(stored, rows)
            out[...] = stored
        return out

    def _check_range(self, values, rows):
        if self.stored.kind != "u" or self.stored.itemsize < 8:
            return
        beyond = numpy.flatnonzero((values.reshape(len(rows), -1) > numpy.iinfo(numpy.int64).max).any(axis=1))
        if len(beyond):
            raise BadSettings('dataset "%s": sample %d has a value of 2^63 or more' % (self.name, rows[beyond[0]]))
