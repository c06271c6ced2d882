# SPDX-License-Identifier: Apache-2.0
"""The losses of --option loss=NAME. Computed in float32 under autocast as well."""

from torch import nn

from .options import refuse

NAMES = ("cross_entropy", "mse", "l1", "bce")

_BY_NUMBERS = {"mse": nn.functional.mse_loss, "l1": nn.functional.l1_loss, "bce": nn.functional.binary_cross_entropy_with_logits}


def of(name, output, label):
    values = output.float()
    if name == "cross_entropy":
        if label.is_floating_point():
            return nn.functional.cross_entropy(values, label.float())
        target = label.long()
        return nn.functional.cross_entropy(values, target.flatten() if values.dim() == 2 else target)
    target = label.float()
    if values.numel() != target.numel():
        refuse("the model gives %d numbers for %d labels of a batch; expected equally many for this loss" % (values.numel(), target.numel()))
    return _BY_NUMBERS[name](values.reshape(target.shape), target)
