# SPDX-License-Identifier: Apache-2.0
"""What a job of a built-in model is, before anything is measured."""

import hashlib
import os

from ridgeline_worker import phase, torch_runtime

from .built_in import OF_LOADERS, BuiltIn


def _digest(target):
    if not os.path.isfile(target):
        return hashlib.sha256(target.encode("utf-8")).hexdigest()
    with open(target, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def refused_levers(model):
    """{name: reason} of levers that would change nothing, or cannot be set from outside."""
    from ridgeline_train import lever_set

    found = {name: lever_set.REASONS["own_loader"] for name in OF_LOADERS}
    found.update(lever_set.without_effect(model, on_gpu=True))  # the device is not chosen yet
    return found


def describe(job):
    """Makes the model once, so that every mistake of the request is found."""
    torch = torch_runtime.imported()
    phase.enter("making %s" % job["target"])
    built = BuiltIn(job)
    model = built.model()
    built.optimizer(model, False)
    return {
        "runtime": torch_runtime.text(torch),
        "torch": str(torch.__version__),
        "cuda": bool(torch_runtime.cuda(torch)) and torch.cuda.is_available(),
        "source_sha256": _digest(job["target"]),
        "refused": refused_levers(model),
        "parameters": sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad),
    }
