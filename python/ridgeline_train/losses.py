# SPDX-License-Identifier: Apache-2.0
"""The loss, in whatever form a step returned it."""

import collections.abc

from ridgeline_worker.failures import NoGradient, UserError

from .messages import message
from .result import shown


def _in(value):
    """What a tuple, a dict or a model's output holds; the value itself where it is none of them."""
    if isinstance(value, collections.abc.Mapping):
        return value["loss"] if "loss" in value else value
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return value[0] if value else value
    inner = getattr(value, "loss", None)
    return value if inner is None or hasattr(value, "backward") else inner


def loss_of(value, by, notes):
    """The tensor to call backward of. `by`: what returned it."""
    found = _in(value)
    if not hasattr(found, "backward"):
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            raise UserError("%s returned %r; expected the loss as a tensor: without .item() or float()" % (by, found))
        raise UserError("%s returned %s; expected the loss, a tensor of one number" % (by, shown(value)))
    if found is not value:
        notes["loss_within"] = message("loss_within", target=by, value=shown(value), first=isinstance(value, (tuple, list)))
    count = getattr(found, "numel", None)
    if callable(count) and count() != 1:
        raise UserError("%s returned a loss of shape %s; expected one number: its mean() or sum()" % (by, list(found.shape)))
    return found


def check_gradient(loss):
    if getattr(loss, "requires_grad", True):
        return
    raise NoGradient("the loss does not require a gradient (element 0 of tensors does not require grad): no parameter that requires one took "
                     "part in it, or it was detached")


def check_pair(batch):
    """Refuses batches that cannot be used with `loss` without a `forward`."""
    if not isinstance(batch, (list, tuple)) or len(batch) != 2:
        raise UserError("batches are not (input, target) pairs but %s; return forward(model, batch) in place of loss" % shown(batch))
