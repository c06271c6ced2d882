# SPDX-License-Identifier: Apache-2.0
"""What the user's function returned, in one form."""

import inspect
from collections.abc import Mapping

import torch

from ridgeline_worker.failures import UserError, type_name

from . import form, tensors

KEYS = ("model", "inputs", "metric")
EXPECTED = "expected (model, inputs), (model, inputs, metric) or a dict with these keys"
FORMS = "expected a tensor, a tuple (positional), a dict (keyword) or a list of these"


def _a(value):
    return "None" if value is None else "a " + type_name(type(value))


class Made:
    """model, sets as [(args, kwargs)], metric; `several` where the inputs are a list; how they were returned (form.of)."""

    def __init__(self, model, sets, several, metric, returned_as):
        self.model = model
        self.sets = sets
        self.several = several
        self.metric = metric
        self.returned_as = returned_as

    @property
    def module(self):
        """The model where it is a torch.nn.Module."""
        return self.model if isinstance(self.model, torch.nn.Module) else None

    def parameters(self):
        return list(self.module.parameters()) if self.module is not None else []

    def inputs(self):
        """All input tensors as (name, tensor), a list a set."""
        return [tensors.leaves(args) + tensors.leaves(kwargs) for args, kwargs in self.sets]

    def first(self):
        """The tensor that tells the device: the first parameter, else the first input."""
        parameters = self.parameters()
        return parameters[0] if parameters else self.inputs()[0][0][1]

    def device(self):
        return self.first().device

    def devices(self):
        every = self.parameters() + [tensor for one in self.inputs() for _, tensor in one]
        return {tensor.device for tensor in every}

    def rows(self):
        """The first dimension of all input tensors in all sets, scalars aside; None where they differ."""
        sizes = {tensor.shape[0] for one in self.inputs() for _, tensor in one if tensor.dim()}
        return sizes.pop() if len(sizes) == 1 and 0 not in sizes else None

    def map_inputs(self, change):
        self.sets = [tensors.mapped(one, change) for one in self.sets]


def _set_of(value, where):
    if isinstance(value, torch.Tensor):
        out = ((value,), {})
    elif isinstance(value, tuple):
        out = (tuple(value), {})
    elif isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise UserError("%s has the key %r; expected names of the model's arguments" % (where, wrong[0]))
        out = ((), dict(value))
    else:
        raise UserError("%s is %s; %s" % (where, _a(value), FORMS))
    if not tensors.leaves(out[0]) + tensors.leaves(out[1]):
        raise UserError("%s holds no tensor; %s" % (where, FORMS))
    return out


def _parts(returned, target):
    if isinstance(returned, Mapping):
        unknown = [str(key) for key in returned if key not in KEYS]
        if unknown:
            raise UserError("%s returned a dict with the key %r; expected only %s" % (target, unknown[0], ", ".join(KEYS)))
        for key in ("model", "inputs"):
            if key not in returned:
                raise UserError("%s returned a dict without %r; expected model, inputs and optionally metric" % (target, key))
        return returned["model"], returned["inputs"], returned.get("metric")
    if isinstance(returned, (tuple, list)):
        if len(returned) not in (2, 3):
            raise UserError("%s returned %d values; %s" % (target, len(returned), EXPECTED))
        return tuple(returned) + (None,) * (3 - len(returned))
    raise UserError("%s returned %s; %s" % (target, _a(returned), EXPECTED))


def make(function, target):
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise UserError("%s takes arguments (%s); expected a function without any" % (target, error))
    except ValueError:  # of a callable that has no signature
        pass
    returned = function()
    model, inputs, metric = _parts(returned, target)
    if not callable(model):
        raise UserError("the model of %s is %s; expected a torch.nn.Module or another callable" % (target, _a(model)))
    if metric is not None and not callable(metric):
        raise UserError("the metric of %s is %s; expected a function of the outputs" % (target, _a(metric)))
    several = isinstance(inputs, list)
    if several and not inputs:
        raise UserError("the inputs of %s are an empty list; expected at least one input set" % target)
    if several:
        sets = [_set_of(one, "input set %d of %s" % (index, target)) for index, one in enumerate(inputs)]
    else:
        sets = [_set_of(inputs, "inputs of %s" % target)]
    return Made(model, sets, several, metric, form.of(returned, inputs))
