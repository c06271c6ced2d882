# SPDX-License-Identifier: Apache-2.0
"""The loader of a trial, made of what the user's function returned."""

import inspect

from ridgeline_worker.failures import BadSettings, UserError

from . import cached_data
from .messages import message
from .result import LOADING, shown


def _is_plain(sampler):
    """One that a DataLoader makes by itself."""
    return type(sampler).__name__ in ("RandomSampler", "SequentialSampler", "_InfiniteConstantSampler")


def _taken_apart(loader, target, notes):
    """The data set of a DataLoader and how it loads."""
    batches = loader.batch_sampler
    if type(batches).__name__ not in ("BatchSampler", "NoneType"):
        raise UserError("%s returned a DataLoader with a batch_sampler (%s), which makes batches of its own; return loader, a function of the settings"
                        % (target, type(batches).__name__))
    if loader.batch_size is None and batches is None:
        raise UserError("%s returned a DataLoader with batch_size None, whose data set makes the batches; return loader, a function of the settings"
                        % target)
    found = {"collate_fn": loader.collate_fn, "worker_init_fn": loader.worker_init_fn}
    sampler = loader.sampler if batches is None else batches.sampler
    if not _is_plain(sampler):
        found["sampler"] = sampler
    elif type(sampler).__name__ == "SequentialSampler":
        found["shuffle"] = False
    if getattr(loader, "prefetch_factor", None) not in (None, 2):
        found["prefetch_factor"] = loader.prefetch_factor
    notes["taken_apart"] = message("taken_apart", target=target, dataset=type(loader.dataset).__name__)
    return loader.dataset, {key: value for key, value in found.items() if value is not None}


def _check(dataset, target):
    from torch.utils.data import IterableDataset

    if isinstance(dataset, type):
        raise UserError("%s returned dataset = %s; expected an instance: %s(...)" % (target, shown(dataset), dataset.__name__))
    if isinstance(dataset, str) or isinstance(dataset, dict):
        raise UserError("%s returned dataset = %s; expected a torch.utils.data.Dataset" % (target, shown(dataset)))
    if isinstance(dataset, IterableDataset):
        return
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        raise UserError("%s returned dataset = %s; expected items and a length (__getitem__ and __len__), or a torch.utils.data.IterableDataset"
                        % (target, shown(dataset)))
    if isinstance(dataset, (tuple, list)) and len(dataset) == 2 and all(len(getattr(one, "shape", ())) > 0 for one in dataset):
        raise UserError("%s returned dataset = %s of whole tensors; expected samples: torch.utils.data.TensorDataset(...)" % (target, shown(dataset)))
    if len(dataset) == 0:
        raise UserError("%s returned a data set without samples (%s); expected at least one batch" % (target, type(dataset).__name__))


def _difference(first, other):
    """Why two samples do not stack; "" where nothing is seen."""
    shapes = [getattr(one, "shape", None) for one in (first, other)]
    if None not in shapes:
        return "shapes %s and %s" % (list(shapes[0]), list(shapes[1])) if tuple(shapes[0]) != tuple(shapes[1]) else ""
    if isinstance(first, dict) and isinstance(other, dict):
        pairs = [(first[key], other[key]) for key in first if key in other]
    elif isinstance(first, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(first) != len(other):
            return "%d and %d members" % (len(first), len(other))
        pairs = list(zip(first, other))
    else:
        return ""
    return next((found for found in (_difference(*pair) for pair in pairs) if found), "")


class _Collate:
    """torch's own, with a word on what to do where it refuses the samples."""

    def __call__(self, samples):
        from torch.utils.data.dataloader import default_collate

        try:
            return default_collate(samples)
        except (TypeError, RuntimeError) as error:
            text = str(error).strip().partition("\n")[0]
            if "alloc" in text or "memory" in text:
                raise
            # In a worker torch tells of its shared memory only.
            text = next((found for found in (_difference(samples[0], other) for other in samples[1:]) if found), text)
        raise UserError("the data set's samples do not make one batch of %d (%s); return collate_fn, or a loader of your own" % (len(samples), text))


class Loaders:
    """`set_by_levers`: arguments of the DataLoader that replace the function's."""

    def __init__(self, made, target, cuda, set_by_levers=None):
        self.cuda = cuda
        self.set_by_levers = dict(set_by_levers or {})
        self.target = target
        self.notes = {}
        self.is_on_device = False  # the data set
        self.loader_of = made.get("loader")
        self.dataset = None
        self.loading = {}
        if self.loader_of is None:
            self._take(made["dataset"], {key: made[key] for key in LOADING if key in made})
        elif self._is_dataset(self.loader_of):
            self.notes["loader_is_dataset"] = message("loader_is_dataset", target=target, dataset=type(self.loader_of).__name__)
            self._take(self.loader_of, {})
            self.loader_of = None
        if self.set_by_levers and self.loader_of is not None:
            raise BadSettings("%s did not take effect: %s returned a loader of its own, which decides that" % (" and ".join(self.set_by_levers), target))

    @staticmethod
    def _is_dataset(value):
        if hasattr(value, "__iter__") or not hasattr(value, "__getitem__"):
            return False
        from torch.utils.data import Dataset

        return isinstance(value, Dataset)

    def _take(self, dataset, loading):
        if callable(dataset) and not isinstance(dataset, type) and not hasattr(dataset, "__getitem__") and not hasattr(dataset, "__iter__"):
            raise UserError("%s returned dataset = %s; expected a data set, not a function" % (self.target, shown(dataset)))
        if hasattr(dataset, "num_workers") and hasattr(dataset, "batch_sampler"):
            dataset, found = _taken_apart(dataset, self.target, self.notes)
            loading = dict(found, **loading)
        _check(dataset, self.target)
        self.dataset = dataset
        self.loading = loading

    def keep_in_memory(self, settings, limit_s):
        """The data set, from now on. Errors: BadSettings with the reason why it is not kept."""
        if self.dataset is None:
            raise BadSettings("cache_dataset did not take effect: %s returned a loader of its own, which decides that" % self.target)
        self.dataset = cached_data.filled(self.dataset, settings.workers, limit_s, self.notes)

    def keep_on_device(self, device, limit_s, limit_gb):
        """The data set, from now on: batches are made there, without workers. Errors: BadSettings with the reason why it is not kept."""
        if self.dataset is None:
            raise BadSettings("cache_dataset did not take effect: %s returned a loader of its own, which decides that" % self.target)
        from . import device_data

        self.dataset = device_data.filled(self.dataset, device, self.loading.get("collate_fn"), limit_s, limit_gb, self.notes)
        self.loading["collate_fn"] = self.dataset.batch
        self.is_on_device = True

    def make(self, settings):
        if self.loader_of is not None:
            return self._own(settings)
        from torch.utils.data import DataLoader, IterableDataset

        workers = 0 if self.is_on_device else settings.workers
        pins = settings.pin_memory and self.cuda and not self.is_on_device
        chosen = dict(self.loading)
        chosen.setdefault("collate_fn", _Collate())
        if isinstance(self.dataset, IterableDataset):
            unused = [key for key in ("sampler", "shuffle") if chosen.pop(key, None)]
            if unused:
                self.notes["iterable"] = message("iterable", options=unused)
        elif "sampler" in chosen:
            chosen.pop("shuffle", None)
        else:
            chosen.setdefault("shuffle", True)
        chosen.setdefault("persistent_workers", True)
        self._set_by_levers(chosen, workers)
        if workers == 0:
            chosen.pop("persistent_workers")
            chosen.pop("prefetch_factor", None)
        return DataLoader(self.dataset, batch_size=settings.batch, num_workers=workers, pin_memory=pins, drop_last=True, **chosen)

    def _set_by_levers(self, chosen, workers):
        for name, value in self.set_by_levers.items():
            if not workers:
                raise BadSettings("%s did not take effect: without workers nothing is fetched ahead" % name)
            if chosen.get(name, 2 if name == "prefetch_factor" else None) == value:
                raise BadSettings("%s did not take effect: the training has it already" % name)
            chosen[name] = value

    def _own(self, settings):
        # A loader that is handed over as an object was made by the function, with the settings it got.
        if not callable(self.loader_of) or hasattr(self.loader_of, "__iter__"):
            return self.loader_of
        try:
            inspect.signature(self.loader_of).bind(settings)
        except TypeError:
            return self.loader_of()  # made of the settings that the function got
        except ValueError:  # of a callable that has no signature
            pass
        return self.loader_of(settings)

    def items(self, settings):
        """The data set behind the loader, for taking samples one by one."""
        source = self.dataset if self.dataset is not None else getattr(self.make(settings), "dataset", None)
        if source is None or not (hasattr(source, "__iter__") or (hasattr(source, "__getitem__") and hasattr(source, "__len__"))):
            raise BadSettings("the loader shows no data set with items")
        return source
