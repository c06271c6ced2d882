# SPDX-License-Identifier: Apache-2.0
"""Batches of an HDF5 file for a DataLoader. Each of its workers opens the file itself."""

import itertools
import os

import torch

from ridgeline_worker.failures import BadSettings, UserError

from .batch_slots import IN_USE, BatchSlots, Filled, SlotLoader, SlotOrder
from .data_form import DataForm, read_as
from .sample_order import SampleOrder

CACHE_MB = 1074  # of decoded chunks
CACHE_SLOTS = 100003  # prime, and many times the chunks that a cache usually holds
LEAST_CACHE = 1 << 20
PREFETCHED = 2  # batches of each worker


def library():
    try:
        import h5py
    except ImportError as error:
        import sys

        raise UserError("reading HDF5 files needs h5py, which %s does not have (%s)" % (sys.executable, error),
                        "install it: pip install h5py, or apt install python3-h5py")
    return h5py


class Hdf5Data:
    """Samples, and labels if the job names their dataset."""

    def __init__(self, path, options):
        self.path = path
        self.names = [name for name in (options.text("input_dataset", ""), options.text("label_dataset", "")) if name]
        self.order = options.text("order", "shuffled")
        self.cache_bytes = options.whole("cache_mb", CACHE_MB, 0, 1 << 30) * 1_000_000
        self.process = None
        self.file = None
        self.opened = []
        with library().File(path, "r") as file:
            found = [file[name] for name in self.names]
            for dataset in found:
                self._check(dataset)
            self.rows = found[0].shape[0]
            self.chunk_rows = found[0].chunks[0] if found[0].chunks else 1
            label = found[1] if len(found) > 1 else None
            self.label_shape = label.shape[1:] if label is not None else ()
            self.form = DataForm(found[0].shape[1:], read_as(found[0].dtype), None if label is None else label.shape[1:],
                                 "int64" if label is None else read_as(label.dtype))

    def _check(self, dataset):
        try:
            dtype = dataset.dtype
        except TypeError as error:  # NumPy has no such type
            raise BadSettings('%s: dataset "%s": %s; store it as float32, uint8 or int64' % (self.path, dataset.name, error)) from None
        if read_as(dtype) is None:
            raise BadSettings('%s: dataset "%s" has elements of %s, which cannot be trained on; store them as float32, uint8 or int64'
                              % (self.path, dataset.name, dtype))

    def _open(self):
        from .hdf5_rows import Hdf5Rows

        worker = torch.utils.data.get_worker_info()
        cache = max(LEAST_CACHE, self.cache_bytes // (worker.num_workers if worker else 1))
        self.file = library().File(self.path, "r", rdcc_nbytes=cache, rdcc_nslots=CACHE_SLOTS)
        self.opened = [Hdf5Rows(self.file[name]) for name in self.names]
        self.process = os.getpid()

    def take(self, rows, out=()):
        """The arrays of these samples; `out`: those to write to."""
        if self.process != os.getpid():
            self._open()
        return [dataset.take(rows, to) for dataset, to in itertools.zip_longest(self.opened, out)]

    def loader(self, settings, on_gpu):
        if settings.batch > self.rows:
            raise BadSettings("%s: %d samples are less than a batch of %d; give a smaller batch" % (self.path, self.rows, settings.batch))
        order = SampleOrder(self.order, self.rows, settings.batch, settings.seed, self.chunk_rows)
        pinned = settings.pin_memory and on_gpu
        if settings.workers == 0:
            return torch.utils.data.DataLoader(_Batches(self), batch_size=None, sampler=order, pin_memory=pinned)
        parts = [(self.form.sample, self.form.sample_type)]
        if self.form.label is not None:
            parts.append((self.label_shape, self.form.label_type))
        slots = BatchSlots(parts, settings.batch, PREFETCHED * settings.workers + IN_USE)
        # Forked, so that workers have the slots; Python's own choice may be another.
        loader = torch.utils.data.DataLoader(_SlotBatches(self, slots), batch_size=None, sampler=SlotOrder(order, slots),
                                             num_workers=settings.workers, prefetch_factor=PREFETCHED, pin_memory=pinned,
                                             multiprocessing_context="fork")
        return SlotLoader(loader)


class _Batches:
    """By arrays of indices."""

    def __init__(self, data):
        self.data = data

    def __getitem__(self, rows):
        return tuple(torch.from_numpy(values) for values in self.data.take(rows))


class _SlotBatches:
    """By a slot and an array of indices, in a worker."""

    def __init__(self, data, slots):
        self.data = data
        self.slots = slots

    def __getitem__(self, wanted):
        slot, rows = wanted
        self.data.take(rows, self.slots.arrays(slot))
        return Filled(self.slots, slot)
