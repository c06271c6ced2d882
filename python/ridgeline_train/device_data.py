# SPDX-License-Identifier: Apache-2.0
"""A data set kept on the training device, one tensor for each member of its samples: a batch is a selection of rows, and neither workers nor
copies are needed. Only for samples that are the same each time, of one shape, and fit."""

import sys

from ridgeline_infer import tensors
from ridgeline_worker.failures import BadSettings

from . import cached_data
from .messages import message

CHECKED = 4            # samples whose batch is compared with that of the loader
MOST_OF_DEVICE = 0.5   # of its free memory
LEVER = "cache_dataset=device"


class DeviceData:
    """Stands in for the data set of a DataLoader, which fetches the numbers of samples from it; `batch` is the loader's collate_fn. To
    others its items are samples, and its attributes are the data set's own."""

    def __init__(self, dataset, whole, count, device):
        self.__dict__.update(_ridgeline_inner=dataset, _ridgeline_whole=whole, _ridgeline_count=count, _ridgeline_device=device)

    def __len__(self):
        return self._ridgeline_count

    def __getitem__(self, index):
        if sys._getframe(1).f_globals.get("__name__", "").startswith("torch.utils.data._utils"):
            return index
        return tensors.mapped(self._ridgeline_whole, lambda tensor: tensor[index])

    def __getitems__(self, indices):
        return list(indices)

    def batch(self, numbers):
        import torch

        rows = torch.as_tensor(numbers, dtype=torch.int64).to(self._ridgeline_device)
        return tensors.mapped(self._ridgeline_whole, lambda tensor: tensor.index_select(0, rows))

    def __getattr__(self, name):
        if name.startswith("_ridgeline") or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return getattr(self._ridgeline_inner, name)


def _free_gb(device):
    """None: the host's, which is checked as the samples are cached."""
    if device.type != "cuda":
        return None
    import torch

    return torch.cuda.mem_get_info(device)[0] / 1e9


def _stacked(samples):
    from torch.utils.data.dataloader import default_collate

    try:
        whole = default_collate(samples)
    except Exception:  # of other shapes or kinds, each with an error of its own
        raise BadSettings("%s: the samples do not stack: they differ in shape, or are no tensors and numbers" % LEVER) from None
    if not _all_tensors(whole):
        raise BadSettings("%s: samples have members that are no tensors and no numbers" % LEVER)
    return whole


def _all_tensors(value):
    if isinstance(value, dict):
        return all(_all_tensors(one) for one in value.values())
    if isinstance(value, (list, tuple)):
        return all(_all_tensors(one) for one in value)
    return hasattr(value, "element_size")


def filled(dataset, device, collate, limit_s, limit_gb, notes):
    """The data set on the device. `collate`: the loader's collate_fn, None: torch's own; `limit_s`: that a trial has for preparing;
    `limit_gb`: that training may take of the device, None: no limit. Errors: BadSettings with the reason why it is not kept."""
    free = _free_gb(device)
    if free is not None and limit_gb is not None:
        free = min(free, limit_gb)

    def check(gigabytes):
        if free is not None and gigabytes > MOST_OF_DEVICE * free:
            raise BadSettings("%s: the samples take about %.3g GB; expected at most half of the %.3g GB that are free on the device"
                              % (LEVER, gigabytes, free))

    own = {}
    cached = cached_data.filled(dataset, 0, limit_s, own, copies=2, check=check)
    samples = cached._ridgeline_samples
    whole = _stacked(samples)
    kept = DeviceData(dataset, tensors.mapped(whole, lambda tensor: tensor.to(device)), len(samples), device)
    if collate is not None:
        few = samples[:CHECKED]
        made = tensors.mapped(kept.batch(list(range(len(few)))), lambda tensor: tensor.cpu())
        if not cached_data.same(collate(few), made):
            raise BadSettings("%s: the loader's collate_fn makes something else of samples than stacking them" % LEVER)
    facts = own["lever_cache"]["arguments"]
    notes["lever_device_cache"] = message("lever_device_cache", samples=facts["samples"], gb=_gigabytes(whole), seconds=facts["seconds"])
    return kept


def _gigabytes(whole):
    sizes = []
    tensors.mapped(whole, lambda tensor: sizes.append(tensor.element_size() * tensor.numel()))
    return sum(sizes) / 1e9
