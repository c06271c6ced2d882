# SPDX-License-Identifier: Apache-2.0
"""torch.jit.trace and freeze."""

import warnings

import torch

from ridgeline_worker.failures import BadSettings

from . import tensors
from .attempt import attempt
from .messages import message


class TensorsOnly(torch.nn.Module):
    """The model as a function of its tensors; its other arguments are constants, which a trace cannot take."""

    def __init__(self, model, one_set):
        super().__init__()
        self.model = model
        self.one_set = one_set
        self.training = getattr(model, "training", False)

    def forward(self, *values):
        left = iter(values)
        args, kwargs = tensors.mapped(self.one_set, lambda _: next(left))
        return self.model(*args, **kwargs)


def _flat(one_set):
    args, kwargs = one_set
    return tuple(tensor for _, tensor in tensors.leaves(args) + tensors.leaves(kwargs))


def _form(one_set):
    return tensors.mapped(one_set, lambda _: None)


def traced(made, freeze, notes):
    """The traced model and its sets."""
    if freeze and made.module is None:
        raise BadSettings("torchscript freeze needs a torch.nn.Module; the model is another callable")
    if freeze and made.model.training:
        raise BadSettings("torchscript freeze needs a model in evaluation mode; call model.eval() in the function")
    if any(_form(one) != _form(made.sets[0]) for one in made.sets):
        raise BadSettings("torchscript needs input sets that differ in their tensors only")
    plain = all(not kwargs and all(isinstance(one, torch.Tensor) for one in args) for args, kwargs in made.sets)
    model = made.model if plain else TensorsOnly(made.model, made.sets[0])
    sets = [(_flat(one), {}) for one in made.sets]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with attempt("torchscript trace"):
            out = torch.jit.trace(model, sets[0][0], strict=False, check_trace=False)
    frozen = sum(issubclass(one.category, torch.jit.TracerWarning) for one in seen)
    if frozen:
        notes.append(message("tracing_fixed", decisions=frozen))
    if freeze:
        with attempt("torchscript freeze"):
            out = torch.jit.freeze(out)
    return out, sets
