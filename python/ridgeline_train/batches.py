# SPDX-License-Identifier: Apache-2.0
"""Whole batches of the size that was set, epoch after epoch, from whatever loader the user has. A batch's size is the first
dimension of its tensors. An epoch's last, smaller batch is left out, as the native way does; any other size ends the trial:
its rate would stand beside a batch that nobody trained with."""

import collections.abc
import dataclasses

from ridgeline_worker.failures import BadSettings, UserError, WrongLoader

from .messages import message

MOST_MEMBERS = 8     # of a list that are looked at
MOST_DEPTH = 4
LONG_LIST = 4        # no (input, target, ...) any more: samples that were not collated

END = object()

SAMPLES_HINT = "where a batch's first dimension is not its samples, return samples(batch) beside it"


class _Look:
    """What the tensors and lists of a batch tell."""

    def __init__(self, batch):
        self.firsts = []   # dimensions of tensors
        self.seconds = []
        self.lengths = []  # of lists of samples
        self._see(batch, 0)

    def _see(self, value, depth):
        try:
            shape = getattr(value, "shape", None)
        except Exception:  # nested tensors have none and say so
            return
        if isinstance(shape, collections.abc.Sequence) and not isinstance(shape, str):
            self.firsts.extend(shape[:1])
            self.seconds.extend(shape[1:2])
        elif depth >= MOST_DEPTH:
            return
        elif isinstance(value, collections.abc.Mapping):
            for member in value.values():
                self._see(member, depth + 1)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            for member in vars(value).values():
                self._see(member, depth + 1)
        elif isinstance(value, (list, tuple)):
            if depth > 0 or len(value) > LONG_LIST:
                self.lengths.append(len(value))
            for member in value[:MOST_MEMBERS]:
                self._see(member, depth + 1)


def _whole_number(value):
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def check_workers(loader, workers):
    """A DataLoader tells how many it has; other loaders are not known."""
    has = _whole_number(getattr(loader, "num_workers", None))
    if has is not None and has != workers:
        raise WrongLoader("the loader has num_workers %d where settings.workers is %d: pass settings.workers to the DataLoader as "
                          "num_workers" % (has, workers))


def workers_unseen(loader, workers):
    """A note where nothing tells that the loader has them."""
    if workers == 0 or _whole_number(getattr(loader, "num_workers", None)) is not None:
        return None
    return message("workers_unseen")


def _pinned(value, depth=0):
    """Whether the first tensor of a batch lies in page-locked memory; None where there is none that tells."""
    ask = getattr(value, "is_pinned", None)
    if callable(ask):
        try:
            return bool(ask())
        except Exception:  # sparse and nested tensors cannot tell
            return None
    if isinstance(value, collections.abc.Mapping):
        value = list(value.values())
    if not isinstance(value, (list, tuple)) or depth >= MOST_DEPTH:
        return None
    for member in value[:MOST_MEMBERS]:
        known = _pinned(member, depth + 1)
        if known is not None:
            return known
    return None


def pin_ignored(loader, batch, wanted):
    """A note where the batches of a GPU's training are pinned and should not be, or the other way round."""
    has = _pinned(batch)
    if has is None:
        account = getattr(loader, "pin_memory", None)
        has = account if isinstance(account, bool) else None
    if has is None or has == wanted:
        return None
    return message("pin_ignored", pinned=has, wanted=bool(wanted))


class Batches:
    def __init__(self, loader, wanted, workers=0, samples_of=None):
        self.loader = loader
        self.wanted = wanted
        self.samples_of = samples_of
        self.unseen = False  # some batch went through unchecked
        # Each worker of an iterable data set ends with a smaller batch of its own.
        self.most_small = max(1, workers)
        self.declared = _whole_number(getattr(loader, "batch_size", None)) if samples_of is None else None
        if self.declared is not None and self.declared != wanted:
            raise self._wrong("the loader makes batches of %d samples" % self.declared)
        if not hasattr(loader, "__iter__") and not hasattr(loader, "__getitem__"):
            raise UserError("the loader is %s; expected a DataLoader or another iterable of batches"
                            % ("None" if loader is None else "of type %s" % type(loader).__name__))
        # Torch's own word for every batch; a collate_fn may shape it in any way.
        self.certain = self.declared is not None and getattr(loader, "drop_last", False) is True
        self.iterator = iter(loader)
        self.epochs = 0
        self.whole = 0   # of this epoch
        self.small = 0
        self.small_size = None

    def _wrong(self, what):
        return WrongLoader("%s where settings.batch is %d: pass settings.batch to the DataLoader as batch_size; %s"
                           % (what, self.wanted, SAMPLES_HINT))

    def samples(self, batch):
        """Its number of samples; None where that cannot be seen."""
        if self.samples_of is not None:
            return int(self.samples_of(batch))
        if self.certain:
            return self.wanted
        look = _Look(batch)
        if self.wanted in look.firsts or self.wanted in look.lengths:
            return self.wanted
        seen = int(look.firsts[0]) if look.firsts else None
        if self.declared is None or seen is None:
            return seen
        # A DataLoader with the right batch_size: sequences may lie along the first dimension, and no batch is larger.
        if self.wanted in look.seconds:
            return self.wanted
        return seen if seen < self.wanted else None

    def next(self):
        while True:
            batch = next(self.iterator, END)
            if batch is END:
                self._begin_again()
                continue
            samples = self.samples(batch)
            if samples is None:
                self.unseen = True
            elif samples != self.wanted:
                self._leave_out(samples)
                continue
            self.whole += 1
            return batch

    def _leave_out(self, samples):
        self.small += 1
        self.small_size = samples
        if samples > self.wanted or self.small > self.most_small:
            raise self._wrong("the loader gave a batch of %d samples" % samples)

    def _begin_again(self):
        if self.whole == 0:
            if self.epochs > 0:
                raise WrongLoader("the loader gave one epoch and then nothing more: return one that can be iterated over again")
            if self.small > 0:
                raise BadSettings("the loader gave a batch of %d samples and no full one of %d: %s"
                                  % (self.small_size, self.wanted, self._smaller()))
            raise BadSettings("the loader gives no batch of %d: %s" % (self.wanted, self._smaller()))
        self.epochs += 1
        self.whole = self.small = 0
        self.iterator = iter(self.loader)

    def _smaller(self):
        try:
            count = len(self.loader.dataset)
        except (AttributeError, TypeError, NotImplementedError):
            return "the data set is smaller than that, or the loader was not given settings.batch"
        if count >= self.wanted:
            return "the data set has %d samples, so the loader was not given settings.batch" % count
        return "the data set is smaller than that (%d samples)" % count
