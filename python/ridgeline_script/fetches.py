# SPDX-License-Identifier: Apache-2.0
"""Batches that the script fetches from its DataLoaders. The training loader is the one whose batch the first backward pass follows; its
fetches are where steps begin. Its epochs go on without an end until the trial has its steps."""
import contextlib
import functools
import time
from _thread import get_ident

import torch
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _BaseDataLoaderIter

from ridgeline_infer import tensors
from ridgeline_script.loader_settings import batch_of
from ridgeline_script.step_recorder import H2D, IO, REST
from ridgeline_train.batches import Batches
from ridgeline_train.placing import pinned, to_device
from ridgeline_worker.failures import BadSettings, WrongLoader

KEPT_BATCHES = 2  # for data in memory and on the device
MOST_LEFT_OUT = 8


class SampleCount(Batches):
    """Counts the samples of the script's batches."""

    def __init__(self, loader, wanted):
        self.wanted = wanted
        self.samples_of = None
        self.declared = batch_of(loader)
        self.certain = self.declared is not None and getattr(loader, "drop_last", False) is True

    def samples(self, batch):
        first = batch[0] if type(batch) in (list, tuple) and batch else batch
        # At once, because most batches are like this.
        if type(first) is torch.Tensor and first.dim() and first.shape[0] == self.wanted:
            return self.wanted
        return super().samples(batch)


class Fetches:
    def __init__(self, session):
        self._session = session
        self.count = 0
        self.loader = None     # the training loader
        self.iterator = None   # its
        self._last = None      # (loader, iterator, batch) of the last fetch
        self._passes = 0       # backward passes before this step
        self._trial = None
        self._inside = False
        self._in_row = 0
        self._kept = []

    def install(self):
        make, fetch, session = DataLoader.__iter__, _BaseDataLoaderIter.__next__, self._session

        @functools.wraps(make)
        def iter_(loader):
            iterator = make(loader)
            if session.is_here() and not self._inside:
                self._begun(loader, iterator)
            return iterator

        @functools.wraps(fetch)
        def next_(iterator):
            if session.ending.is_finished:
                session.ending.check()
            if self._inside or get_ident() != session.thread:
                return fetch(iterator)
            self._inside = True
            try:
                return self._next(iterator, fetch)
            finally:
                self._inside = False

        self._fetch = fetch
        DataLoader.__iter__ = iter_
        _BaseDataLoaderIter.__next__ = next_

    @contextlib.contextmanager
    def left_alone(self):
        """Loaders that are not the script's."""
        before, self._inside = self._inside, True
        try:
            yield
        finally:
            self._inside = before

    def _begun(self, loader, iterator):
        iterator._ridgeline = [loader, self._session.passes, None]  # backward passes before, the next epoch's iterator
        # An epoch, or a validation, begins within this step.
        if self._session.recorder is not None:
            self._session.recorder.leave_out()

    def _next(self, iterator, fetch):
        facts = getattr(iterator, "_ridgeline", None)
        loader = facts[0] if facts else None
        session = self._session
        if loader is None:  # begun before torch was hooked, or in another thread
            return fetch(iterator)
        if self.loader is None and session.passes and self._last is not None:
            self.loader = self._last[0]
        if not self._trains(loader):
            return self._other(loader, iterator, fetch)
        if session.trial is None:
            self.iterator = iterator
        # A batch without a backward pass was no step.
        if session.recorder is not None and session.passes == self._passes:
            session.recorder.leave_out()
        self._passes = session.passes
        session.step_begins()
        if session.recorder is None:
            return self._other(loader, iterator, fetch)
        return self._step(iterator)

    def _trains(self, loader):
        """Some scripts make a new loader for each epoch."""
        return loader is self.loader or (self.loader is not None and loader.dataset is self.loader.dataset)

    def _other(self, loader, iterator, fetch):
        session = self._session
        before = session.now()
        session.enter(IO)
        batch = fetch(iterator)
        self.count += 1
        self._last = (loader, iterator, batch)
        session.enter(H2D if before in (REST, IO) else before)
        return batch

    def _step(self, iterator):
        recorder = self._session.recorder
        recorder.begin_step()
        reads = self._trial.reads
        reads.step_done()
        if self._kept:
            batch = tensors.mapped(self._kept[self.count % len(self._kept)], lambda tensor: tensor)
            self.count += 1
        else:
            reads.paused = True
            batch = self._whole(iterator)
            reads.paused = False
        recorder.enter(H2D)
        return batch

    def _whole(self, iterator):
        """The next batch, of the next epoch if need be. A smaller one is trained with and not counted."""
        trial = self._trial
        if trial.settings.workers:  # whose times are read from /proc
            batch = self._endless(iterator)
        else:
            begin, cpu = time.perf_counter(), time.thread_time()
            batch = self._endless(iterator)
            trial.loader_cpu += time.thread_time() - cpu
            trial.loader_seconds += time.perf_counter() - begin
        self.count += 1
        samples = self._samples.samples(batch)
        if samples is None:
            trial.unseen = True
        elif samples != trial.settings.batch:
            self._session.recorder.leave_out()
            self._in_row += 1
            if self._in_row > max(MOST_LEFT_OUT, 2 * trial.settings.workers):
                self._session.ending.fail(WrongLoader("the script's loader gives batches of %d samples, expected %d"
                                                      % (samples, trial.settings.batch)))
            return batch
        self._in_row = 0
        return batch

    def _endless(self, iterator):
        facts = iterator._ridgeline
        current = facts[2] if facts[2] is not None else iterator
        try:
            return self._fetch(current)
        except StopIteration:
            if current._ridgeline[1] == self._session.passes:
                raise  # nothing was trained with it
        again = iter(self.loader)
        again._ridgeline = [facts[0], self._session.passes, None]
        if again is not iterator:  # persistent workers have one iterator for all epochs
            facts[2] = again
        self.iterator = again
        return self._fetch(again)

    def load_one(self):
        """One batch that is dropped."""
        recorder = self._session.recorder
        recorder.begin_step()
        self._session.passes += 1  # its epoch is one of training
        self._whole(self._origin)
        recorder.enter(REST)

    def begin(self, trial):
        """The trial's first step has been made."""
        self._trial = trial
        self._origin = self.iterator
        self._samples = SampleCount(self.loader, trial.settings.batch)
        trial.source = self
        if trial.data in ("host", "device"):
            self._keep(trial)

    def _keep(self, trial):
        kept = []
        for _ in range(KEPT_BATCHES + MOST_LEFT_OUT):
            batch = self._endless(self._origin)
            if self._samples.samples(batch) in (None, trial.settings.batch):
                kept.append(batch)
            if len(kept) == KEPT_BATCHES:
                break
        if not kept:
            raise BadSettings("the script's loader gives no batch of %d samples" % trial.settings.batch)
        if trial.data == "device":
            kept = [to_device(batch, trial.device, False) for batch in kept]
        elif trial.settings.pin_memory and trial.cuda:
            kept = [pinned(batch) for batch in kept]
        self._kept = kept

    def last_samples(self):
        return SampleCount(self.loader, -1).samples(self._last[2]) if self._last else None

    def problem(self, settings):
        """Why the loader does not have what was set; None if it has."""
        wanted, loader = settings.wanted, self.loader
        found = {"batch_size": batch_of(loader), "num_workers": len(getattr(self.iterator, "_workers", ())),
                 "pin_memory": bool(loader.pin_memory), "prefetch_factor": loader.prefetch_factor,
                 "persistent_workers": loader.persistent_workers}
        for name, value in wanted.items():
            if name in ("prefetch_factor", "persistent_workers") and not wanted.get("num_workers"):
                continue
            if found[name] != value:
                return "%s %s did not take effect: the script's loader has %s" % (name, value, found[name])
        return None
