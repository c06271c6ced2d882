# SPDX-License-Identifier: Apache-2.0
"""Batches, of whatever form, on a device or in page-locked memory."""

import collections.abc
import copy
import dataclasses


def _moved(value, device, non_blocking):
    try:
        return value.to(device, non_blocking=non_blocking)
    except TypeError:  # a batch of the user's own, whose to() knows the device only
        return value.to(device)


def _each(value, change):
    """A container with its members changed; itself where it is none."""
    if isinstance(value, collections.abc.Mapping):
        return {key: change(member) for key, member in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(change(member) for member in value))
    if isinstance(value, (list, tuple)):
        return type(value)(change(member) for member in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = copy.copy(value)
        for name, member in vars(value).items():
            object.__setattr__(changed, name, change(member))
        return changed
    return value


def to_device(batch, device, non_blocking):
    if hasattr(batch, "to"):
        return _moved(batch, device, non_blocking)
    return _each(batch, lambda member: to_device(member, device, non_blocking))


def pinned(batch):
    if hasattr(batch, "pin_memory"):
        return batch.pin_memory()
    return _each(batch, pinned)


def is_on(model, device):
    """Whether the whole model is there already: some that are cannot be moved (quantized, spread over devices)."""
    try:
        places = [one.device for one in model.parameters()] + [one.device for one in model.buffers()]
        wanted = device if device.index is not None or device.type == "cpu" else None
        return bool(places) and all(place == wanted if wanted is not None else place.type == device.type for place in places)
    except Exception:
        return False
