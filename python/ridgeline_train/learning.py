# SPDX-License-Identifier: Apache-2.0
"""Whether what is timed trains the model at all: speed is right without that, and it is said."""

import math

from .messages import message

MOST_PARAMETERS = 200
MOST_VALUES = 64  # of a parameter that are looked at


def _all(optimizer):
    """None where the optimizer does not tell."""
    groups = getattr(optimizer, "param_groups", None)
    if groups is None:
        return None
    return [one for group in groups for one in group["params"]]


def _looked_at(parameters):
    found = []
    for one in parameters[:MOST_PARAMETERS]:
        values = one.detach()
        if values.is_contiguous():
            values = values.view(-1)[:MOST_VALUES]
        elif values.dim():
            values = values[tuple(0 for _ in range(values.dim() - 1))][:MOST_VALUES]
        found.append(values.to("cpu", copy=True))
    return found


class Learning:
    """Begun before the first step; `after_backward` once; `notes` at the end."""

    def __init__(self, model, optimizer):
        self.trainable = self.before = self.gradients = None
        self.held = None
        try:
            self.trainable = [one for one in model.parameters() if one.requires_grad]
            held = _all(optimizer)
            if held is not None:
                held = {id(one) for one in held}
                self.held = sum(id(one) in held for one in self.trainable)
            self.before = _looked_at(self.trainable)
        except Exception:  # lazy, sharded or quantized parameters, or a model without any: not known
            self.before = None

    def after_backward(self):
        if self.trainable is not None:
            self.gradients = sum(getattr(one, "grad", None) is not None for one in self.trainable)

    def _unchanged(self):
        if not self.before:
            return False
        try:
            after = _looked_at(self.trainable)
            return all(bool((one == other).all()) for one, other in zip(self.before, after))
        except Exception:
            return False

    def notes(self):
        count = len(self.trainable) if self.trainable is not None else None
        if count == 0:
            return {"nothing_to_train": message("nothing_to_train")}
        if count is None:
            return {}
        if self.held == 0:
            return {"optimizer_elsewhere": message("optimizer_elsewhere", parameters=count)}
        found = {}
        unchanged = self._unchanged()
        if unchanged and self.gradients == 0:
            found["loss_without_model"] = message("loss_without_model")
        elif unchanged:
            found["nothing_changed"] = message("nothing_changed")
        if self.held is not None and self.held < count:
            found["optimizer_partial"] = message("optimizer_partial", held=self.held, parameters=count)
        return found


def loss_numbers(loss):
    """{"last_loss": ..}, or what JSON has no number for."""
    value = float(loss.float().mean())
    return {"last_loss": value} if math.isfinite(value) else {"loss_not_finite": True}
