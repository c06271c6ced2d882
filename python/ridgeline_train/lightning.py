# SPDX-License-Identifier: Apache-2.0
"""Modules of (PyTorch) Lightning, which bring their step, optimizer and data along. Lightning itself is not needed."""

from ridgeline_worker.failures import UserError

from .messages import message


def is_module(made):
    return hasattr(made, "training_step") and hasattr(made, "configure_optimizers") and hasattr(made, "parameters")


def _step(model, batch):
    return model.training_step(batch, 0)


def complete(found, target, notes):
    """What the function did not return and the module has: forward, optimizer, data."""
    model = found.get("model")
    if not is_module(model):
        return
    if getattr(model, "automatic_optimization", True) is False:
        raise UserError("%s returned %s with automatic_optimization = False: its steps cannot be taken apart; return forward(model, batch) and an "
                        "optimizer of your own" % (target, type(model).__name__))
    taken = []
    if "loss" not in found and "forward" not in found:
        found["forward"] = _step
        taken.append("training_step")
    if "optimizer" not in found:
        made = model.configure_optimizers()
        if made is None:
            raise UserError("%s: configure_optimizers of %s returned None; expected an optimizer" % (target, type(model).__name__))
        found["optimizer"] = made
        taken.append("configure_optimizers")
    if "dataset" not in found and "loader" not in found:
        make = getattr(model, "train_dataloader", None)
        if make is None:
            raise UserError("%s returned %s without train_dataloader; return dict(model=..., dataset=...)" % (target, type(model).__name__))
        found["dataset"] = make()
        taken.append("train_dataloader")
    if taken:
        notes["lightning"] = message("lightning", model=type(model).__name__, methods=taken)
