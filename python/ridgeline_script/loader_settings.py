# SPDX-License-Identifier: Apache-2.0
"""Arguments of the script's DataLoaders: which can be changed, and changing those of the training loader. A trial's script is the same
program as that of the first run, so its loaders are known by the order in which they are made; another loader over the same data
set is changed too, because trainers make theirs from the script's."""
import functools
import inspect

from torch.utils.data import DataLoader, IterableDataset

from ridgeline_train import cached_data, device_data
from ridgeline_worker.failures import BadSettings


def _divides_work(dataset):
    """Whether each worker delivers a part of an IterableDataset: its code asks for the worker that it runs in."""
    code = getattr(getattr(type(dataset), "__iter__", None), "__code__", None)
    return code is not None and any("worker" in name for name in code.co_names)


class Made:
    """A DataLoader as the script asked for it."""

    def __init__(self, number, given):
        self.number = number
        self.dataset = given.get("dataset")
        batch = given.get("batch_size", 1)
        self.has_batch = given.get("batch_sampler") is None and isinstance(batch, int) and not isinstance(batch, bool)
        own = given.get("batch_sampler") is not None
        self.why_no_batch = "its loader has a batch_sampler of its own" if own else "its data set makes the batches"
        self.workers = given.get("num_workers", 0)


class LoaderSettings:
    """`numbers`: of the loaders to change; `wanted`: the arguments that they get; `cache_limit_s`: that filling a cache of their data set may
    take, None: no cache; `cache_device`: where to keep it, None: in memory; `limit_gb`: that training may take of that device."""

    def __init__(self, numbers=(), wanted=None, cache_limit_s=None, cache_device=None, limit_gb=None):
        self._numbers = frozenset(numbers)
        self.wanted = dict(wanted or {})
        self._cache_limit_s = cache_limit_s
        self._cache_device = cache_device
        self._limit_gb = limit_gb
        self._cached = []   # pairs: a data set, what stands in for it
        self._problem = None
        self._changed = []  # data sets of changed loaders
        self.made = []
        self.notes = {}

    def install(self):
        original = DataLoader.__init__
        signature = inspect.signature(original)

        @functools.wraps(original)
        def make(loader, *args, **kwargs):
            try:
                bound = signature.bind(loader, *args, **kwargs)
            except TypeError:
                return original(loader, *args, **kwargs)  # its own complaint
            self._see(bound.arguments)
            return original(*bound.args, **bound.kwargs)

        DataLoader.__init__ = make

    def _see(self, given):
        made = Made(len(self.made), given)
        self.made.append(made)
        if made.number not in self._numbers and not any(one is made.dataset for one in self._changed):
            return
        self._changed.append(made.dataset)
        if self._cache_limit_s is not None:
            made.dataset = given["dataset"] = self._cached_of(made.dataset, given.get("collate_fn"))
            self._changed.append(made.dataset)
        for name, value in self.wanted.items():
            if name == "batch_size" and not made.has_batch:
                continue
            given[name] = value
        if isinstance(made.dataset, device_data.DeviceData):
            given["collate_fn"] = made.dataset.batch
        if not given.get("num_workers", 0):
            for name in ("prefetch_factor", "persistent_workers"):
                given.pop(name, None)

    def _cached_of(self, dataset, collate):
        for known, cached in self._cached:
            if dataset is known or dataset is cached:
                return cached
        try:
            if self._cache_device is None:
                cached = cached_data.filled(dataset, self.wanted.get("num_workers", 0), self._cache_limit_s, self.notes)
            else:
                cached = device_data.filled(dataset, self._cache_device, collate, self._cache_limit_s, self._limit_gb, self.notes)
                self.wanted.update(num_workers=0, pin_memory=False)  # batches are made on the device
        except BadSettings as error:  # reported with the trial's first step
            self._problem = str(error)
            return dataset
        self._cached.append((dataset, cached))
        return cached

    def problem(self):
        """Why the data set is not cached although it was to be; None if it is."""
        if self._problem is None and self._cache_limit_s is not None and not self._cached:
            return "cache_dataset did not take effect: the training loader was not made anew"
        return self._problem

    def of_dataset(self, dataset):
        return [one for one in self.made if one.dataset is dataset]

    def facts(self, loader):
        """{"numbers": .., "fixed": {setting: reason}} of the training loader."""
        same = self.of_dataset(loader.dataset)
        fixed = {}
        if not any(one.has_batch for one in same):
            fixed["batch"] = same[0].why_no_batch if same else "its loader was made before torch's own"
        dataset = loader.dataset
        if isinstance(dataset, IterableDataset) and loader.num_workers < 2 and not _divides_work(dataset):
            fixed["workers"] = "each worker would repeat all samples of its IterableDataset"
        return {"numbers": [one.number for one in same], "fixed": fixed}


def batch_of(loader):
    """Samples per batch by the loader's own word; None if the data set decides."""
    for owner in (loader, getattr(loader, "batch_sampler", None)):
        batch = getattr(owner, "batch_size", None)
        if isinstance(batch, int) and not isinstance(batch, bool):
            return batch
    return None
