# SPDX-License-Identifier: Apache-2.0
"""Smaller images: what the model is called with is resized on the device. It trains something else, so that it is an offer."""

import torch

from ridgeline_profile.verify.changes import Change
from ridgeline_worker.failures import BadSettings

from .messages import message

STEP = 32        # that sides of images are multiples of, where they were before
SMALLEST = 32
LARGEST_SHARE = 1.0


def share_of(name, value):
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if not 0 < share < LARGEST_SHARE:
        raise BadSettings("%s=%s: expected a share of the sides of images between 0 and 1, such as 0.75" % (name, value))
    return share


def smaller(side, share):
    """Pixels of a side that was `side` long."""
    if side % STEP == 0:
        return max(STEP, round(side * share / STEP) * STEP)
    return max(SMALLEST, round(side * share))


class InputResolution(Change):
    name = "input_resolution"

    def __init__(self, share):
        super().__init__()
        self._share = share
        self._sizes = None  # before and after

    def before_call(self, module, call):
        def run(*args, **kwargs):
            return call(*[self._resized(one) for one in args], **{name: self._resized(one) for name, one in kwargs.items()})

        self.skip("no_images")
        return run

    def _resized(self, value):
        if not isinstance(value, torch.Tensor) or value.dim() != 4 or not value.is_floating_point() or min(value.shape[2:]) < SMALLEST:
            return value
        size = [smaller(side, self._share) for side in value.shape[2:]]
        if size == list(value.shape[2:]):
            return value
        if self._sizes is None:
            self._sizes = ["%dx%d" % tuple(sides) for sides in (value.shape[2:], size)]
            self.made("input")
        return torch.nn.functional.interpolate(value, size=size, mode="bilinear", align_corners=False)

    def notes(self):
        if self._sizes is None:
            return {}
        return {"lever_resolution": message("lever_resolution", before=self._sizes[0], after=self._sizes[1])}
