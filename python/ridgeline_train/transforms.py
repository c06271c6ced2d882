# SPDX-License-Identifier: Apache-2.0
"""Which transform of a data set takes its time: each one's share of making a sample, in this process."""

import time

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
        return getattr(self.inner, "__name__", None) or type(self.inner).__name__


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


def costs(dataset, limit_s=LIMIT_S):
    """{"sample_ms": mean time of a sample, "transforms": [[name, mean ms], ...]}, dearest first."""
    timed = _wrap(_bottom(dataset))
    done = 0
    begin = time.perf_counter()
    for _ in _samples(dataset):
        done += 1
        if done >= SAMPLES or time.perf_counter() - begin >= min(limit_s, LIMIT_S):
            break
    if done == 0:
        raise BadSettings("the data set gave no sample")
    sample_ms = (time.perf_counter() - begin) * 1e3 / done
    rows = [[one.name(), one.seconds * 1e3 / done] for one in timed]
    rows.sort(key=lambda row: -row[1])
    return {"sample_ms": sample_ms, "transforms": rows}
