# SPDX-License-Identifier: Apache-2.0
"""Which transform of a data set takes its time: each one's share of making a sample, where samples are made: in the loader's workers, or in
this process if there are none."""

import time

from ridgeline_worker import user_frames
from ridgeline_worker.failures import BadSettings

SAMPLES = 64
LIMIT_S = 20.0


class _Timed:
    """Stands in for a transform and adds up its time."""

    def __init__(self, inner):
        self.inner = inner
        self.seconds = 0.0

    def __call__(self, *arguments, **named):
        begin = time.perf_counter()
        try:
            return self.inner(*arguments, **named)
        finally:
            self.seconds += time.perf_counter() - begin

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def name(self):
        """"Crop at train.py:12" for code of the user's own."""
        name = getattr(self.inner, "__name__", None) or type(self.inner).__name__
        place = user_frames.place_of_callable(self.inner)
        return "%s at %s" % (name, place) if place else name


def _bottom(dataset):
    """Below wrappers such as Subset."""
    for _ in range(8):
        inner = getattr(dataset, "dataset", None)
        if inner is None:
            return dataset
        dataset = inner
    return dataset


def _wrap(owner):
    """The timed stand-ins put into the data set: members of a composed transform, else the transform itself."""
    timed = []
    for attribute in ("transform", "transforms", "target_transform"):
        found = getattr(owner, attribute, None)
        members = getattr(found, "transforms", None)
        if isinstance(members, list):
            stand_ins = [_Timed(member) for member in members]
            found.transforms = stand_ins
            timed.extend(stand_ins)
        elif callable(found):
            stand_in = _Timed(found)
            setattr(owner, attribute, stand_in)
            timed.append(stand_in)
        if timed and attribute == "transform":
            break  # torchvision's `transforms` calls the same ones again
    return timed


def _samples(dataset):
    """Some, from all over the data set where it has items."""
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        yield from dataset
        return
    count = len(dataset)
    for turn in range(min(SAMPLES, count)):
        yield dataset[(turn * 7919) % count]


class _TimedItems:
    """A data set whose samples are the seconds that making one took: in all, and of each transform."""

    def __init__(self, dataset, timed):
        self.dataset = dataset
        self.timed = timed

    def __len__(self):
        return min(SAMPLES, len(self.dataset))

    def __getitem__(self, turn):
        before = [one.seconds for one in self.timed]
        begin = time.perf_counter()
        self.dataset[(turn * 7919) % len(self.dataset)]
        return [time.perf_counter() - begin] + [one.seconds - then for one, then in zip(self.timed, before)]


def _same(samples):
    return samples


def _in_workers(dataset, timed, workers, limit_s):
    """Seconds of samples that workers make, all at the same time."""
    from torch.utils.data import DataLoader

    found = []
    begin = time.perf_counter()
    for samples in DataLoader(_TimedItems(dataset, timed), batch_size=1, num_workers=workers, collate_fn=_same):
        found.extend(samples)
        if time.perf_counter() - begin >= limit_s:
            break
    return found


def costs(dataset, limit_s=LIMIT_S, workers=0):
    """{"sample_ms": mean time of a sample, "transforms": [[name, mean ms], ...], "workers": of the loader, in which it was timed}, dearest
    first."""
    timed = _wrap(_bottom(dataset))
    limit_s = min(limit_s, LIMIT_S)
    if workers and hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"):
        rows = _in_workers(dataset, timed, workers, limit_s)
        if not rows:
            raise BadSettings("the data set gave no sample")
        means = [sum(column) * 1e3 / len(rows) for column in zip(*rows)]
        return _found(means[0], [[one.name(), ms] for one, ms in zip(timed, means[1:])], workers)
    done = 0
    begin = time.perf_counter()
    for _ in _samples(dataset):
        done += 1
        if done >= SAMPLES or time.perf_counter() - begin >= limit_s:
            break
    if done == 0:
        raise BadSettings("the data set gave no sample")
    sample_ms = (time.perf_counter() - begin) * 1e3 / done
    return _found(sample_ms, [[one.name(), one.seconds * 1e3 / done] for one in timed], 0)


def _found(sample_ms, rows, workers):
    return {"sample_ms": sample_ms, "transforms": sorted(rows, key=lambda row: -row[1]), "workers": workers}
