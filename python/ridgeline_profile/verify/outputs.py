# SPDX-License-Identifier: Apache-2.0
"""What a call returned, and the loss, so that both sides can be compared."""
import functools
import math

import torch

from ridgeline_profile.verify import importable  # noqa: F401
from ridgeline_profile.verify.step_clock import is_capturing
from ridgeline_infer import tensors

VALUES = 4096  # of all tensors of a call, evenly spread


def _number(value):
    """JSON has no form for a number that is not finite."""
    return value if math.isfinite(value) else None


def sample(returned):
    """{"tensors": their types and sizes, "values": some of theirs}; None without tensors."""
    named = [(name, tensors.plain(tensor)) for name, tensor in tensors.leaves(returned)]
    named = [(name, tensor) for name, tensor in named if tensor.numel() and not tensor.is_complex()]
    if not named:
        return None
    each = max(1, VALUES // len(named))
    values = []
    for _, tensor in named:
        flat = tensor.reshape(-1)
        values += [_number(float(one)) for one in flat[::max(1, flat.numel() // each)][:each].double().tolist()]
    kinds = ["%s %s %s" % (name, tensors.element_type(tensor.dtype), list(tensor.shape)) for name, tensor in named]
    return {"tensors": kinds, "values": values}


class Losses:
    """The losses of backward passes 1, 2, 4, 8 ...: both sides have made some of the same. They are read at the end only, as reading one
    waits for the GPU."""

    def __init__(self):
        self._kept = {}
        self._passes = 0

    def _see(self, tensor):
        self._passes += 1
        if is_capturing():
            return
        if self._passes & (self._passes - 1) == 0 and tensor.numel() == 1:
            self._kept[self._passes] = tensor.detach().clone()

    def install(self):
        original = torch.Tensor.backward

        @functools.wraps(original)
        def backward(tensor, *args, **kwargs):
            try:
                self._see(tensor)
            except Exception:
                pass  # a loss that cannot be copied
            return original(tensor, *args, **kwargs)

        torch.Tensor.backward = backward

    def values(self):
        found = {}
        for number, loss in self._kept.items():
            value = float(loss)
            if math.isfinite(value):
                found[str(number)] = value
        return found
