# SPDX-License-Identifier: Apache-2.0
"""A data set kept in memory, sample by sample, as it comes out of its transforms. Only for samples that are the same each time and fit."""

import random
import sys
import time

from ridgeline_worker import phase
from ridgeline_worker.failures import BadSettings

from . import loader_cost
from .messages import message

TRIED = 8              # samples that are fetched twice
MOST_OF_MEMORY = 0.5   # of what is available
MOST_SECONDS = 60.0    # for filling it
LIMIT_SHARE = 0.5      # of the trial's time for preparing


def _random_states():
    import torch

    found = [torch.random.get_rng_state().tolist(), random.getstate()]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found.append(repr(numpy.random.get_state()[1:]))
        found.append(numpy.random.get_state()[1].tolist())
    return found


class _KeptRandom:
    """Random numbers go on as if nothing had been drawn meanwhile."""

    def __enter__(self):
        import torch

        self._torch = torch.random.get_rng_state()
        self._random = random.getstate()
        numpy = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if numpy is not None else None

    def __exit__(self, *_):
        import torch

        torch.random.set_rng_state(self._torch)
        random.setstate(self._random)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)


def _members(value):
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else None


def size_of(value):
    """Bytes of a sample: tensors, arrays and containers of them; images by their pixels."""
    members = _members(value)
    if members is not None:
        return sys.getsizeof(value) + sum(size_of(one) for one in members)
    if hasattr(value, "element_size") and hasattr(value, "numel"):
        return value.element_size() * value.numel() + 100
    if hasattr(value, "nbytes"):
        return int(value.nbytes) + 100
    if hasattr(value, "getbands") and hasattr(value, "size"):
        return value.size[0] * value.size[1] * len(value.getbands())
    return sys.getsizeof(value)


def same(one, other):
    """Whether two samples have the same values; None if that cannot be seen."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and one.keys() != other.keys():
        return False
    members, others = _members(one), _members(other)
    if members is not None:
        if len(members) != len(others):
            return False
        seen = [same(*pair) for pair in zip(members, others)]
        return False if False in seen else None if None in seen else True
    if hasattr(one, "tobytes") and not hasattr(one, "element_size"):  # an array or an image
        return one.tobytes() == other.tobytes()
    try:
        found = one == other
        if hasattr(found, "all"):
            if getattr(one, "shape", None) != getattr(other, "shape", None):
                return False
            return bool((found | ((one != one) & (other != other))).all())
        return bool(found) or (one != one and other != other)
    except Exception:
        return None


class CachedData:
    """Stands in for the data set: its attributes are the data set's own."""

    def __init__(self, dataset, samples):
        self.__dict__.update(_ridgeline_inner=dataset, _ridgeline_samples=samples)

    def __len__(self):
        return len(self._ridgeline_samples)

    def __getitem__(self, index):
        return self._ridgeline_samples[index]

    def __getitems__(self, indices):  # else the data set's own is called for a batch
        return [self._ridgeline_samples[index] for index in indices]

    def __getattr__(self, name):
        if name.startswith("_ridgeline") or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return getattr(self._ridgeline_inner, name)


def _check_repeatable(dataset, count):
    """Random samples are not kept: training would see the same ones again and again."""
    before = _random_states()
    indices = [(turn * 7919) % count for turn in range(min(TRIED, count))]
    first = [dataset[index] for index in indices]
    if _random_states() != before:
        raise BadSettings("cache_dataset: the data set's samples are random (it draws random numbers), and a cache would repeat the first ones")
    for index, sample in zip(indices, first):
        found = same(sample, dataset[index])
        if found is None:
            raise BadSettings("cache_dataset: whether two fetches of a sample (%s) are equal cannot be seen" % type(sample).__name__)
        if not found:
            raise BadSettings("cache_dataset: sample %d is another one each time, and a cache would repeat the first one" % index)
    return first


def filled(dataset, workers, limit_s, notes, copies=None, check=None):
    """The data set in memory. `limit_s`: that a trial has for preparing; `copies`: that there will be, None: as many as the workers need;
    `check(gigabytes)`: refuses a size. Errors: BadSettings with the reason why it is not kept."""
    from torch.utils.data import IterableDataset

    if isinstance(dataset, IterableDataset):
        raise BadSettings("cache_dataset: an IterableDataset has no samples by number")
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__"):
        raise BadSettings("cache_dataset: the data set has no samples by number")
    phase.enter("caching the data set")
    count = len(dataset)
    with _KeptRandom():
        begin = time.perf_counter()
        tried = _check_repeatable(dataset, count)
        seconds = (time.perf_counter() - begin) / (2 * len(tried)) * count
        most_s = min(MOST_SECONDS, LIMIT_SHARE * limit_s)
        if seconds > most_s:
            raise BadSettings("cache_dataset: making %d samples takes about %.0f s; a trial has %.0f s for it" % (count, seconds, most_s))
        gigabytes = sum(size_of(sample) for sample in tried) / len(tried) * count / 1e9
        if check is not None:
            check(gigabytes)
        if copies is None:
            copies = 1 if _forks() else 1 + workers
        free = loader_cost.available_gb()
        if free is not None and gigabytes * copies > MOST_OF_MEMORY * free:
            raise BadSettings("cache_dataset: %d samples take about %.3g GB; expected at most half of the %.3g GB that are available"
                              % (count, gigabytes * copies, free))
        begin = time.perf_counter()
        samples = [dataset[index] for index in range(count)]
    notes["lever_cache"] = message("lever_cache", samples=count, gb=gigabytes, seconds=time.perf_counter() - begin)
    return CachedData(dataset, samples)


def _forks():
    import multiprocessing

    return multiprocessing.get_start_method(allow_none=True) in (None, "fork") and sys.platform.startswith("linux")
