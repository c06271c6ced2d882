# SPDX-License-Identifier: Apache-2.0
"""The optimizer, in whatever form it was returned."""

import collections.abc
import functools
import inspect

from ridgeline_worker.failures import UserError

from .messages import message
from .result import first_of, shown


def _is_optimizer(value):
    return not isinstance(value, type) and hasattr(value, "step") and hasattr(value, "zero_grad")


def _flat(value):
    """Optimizers and what comes with them, of Lightning's forms: a dict, a list, lists of optimizers and schedulers."""
    if isinstance(value, collections.abc.Mapping):
        return [one for key, inner in value.items() if key in ("optimizer", "lr_scheduler") for one in _flat(inner)]
    if isinstance(value, (list, tuple)):
        return [one for inner in value for one in _flat(inner)]
    return [] if value is None else [value]


def _made_over(kind, model, name, target):
    try:
        return kind(model.parameters())
    except (TypeError, ValueError) as error:
        raise UserError("%s returned optimizer = the class %s, which cannot be made of the parameters alone (%s); return %s(model.parameters(), ...)"
                        % (target, name, error, name)) from None


def _called(make, model):
    """Functions of the model, and those of its parameters."""
    try:
        return make(model)
    except TypeError as error:
        try:
            made = make(model.parameters())
        except Exception:
            made = None
        if not _is_optimizer(made):
            raise error
        return made


def optimizer_of(value, model, target, notes):
    if isinstance(value, functools.partial) and isinstance(value.func, type):
        return _made_over(value, model, value.func.__name__, target)
    if isinstance(value, type):
        return _made_over(value, model, value.__name__, target)
    if isinstance(value, (collections.abc.Mapping, list, tuple)):
        found = _flat(value)
        optimizers = [one for one in found if _is_optimizer(one)]
        if len(optimizers) != 1:
            raise UserError("%s returned %d optimizers (optimizer = %s); expected one, or an object whose step() and zero_grad() are those of all"
                            % (target, len(optimizers), shown(value)))
        others = [type(one).__name__ for one in found if one is not optimizers[0]]
        if others:
            notes["scheduler"] = message("scheduler", target=target, others=first_of(others))
        return optimizers[0]
    if not _is_optimizer(value) and callable(value):
        value = _called(value, model)
    if not _is_optimizer(value):
        raise UserError("%s returned optimizer = %s; expected a torch.optim.Optimizer, or a function of the model that makes one"
                        % (target, shown(value)))
    return value


def check_step(optimizer, target):
    """Some need the loss computed again and again."""
    try:
        closure = inspect.signature(optimizer.step).parameters.get("closure")
    except (TypeError, ValueError):
        return
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise UserError("%s returned the optimizer %s, whose step needs a closure; bench calls step() as it is" % (target, type(optimizer).__name__))


def zeroing(optimizer):
    """Sets the gradients to none where it can."""
    try:
        takes = "set_to_none" in inspect.signature(optimizer.zero_grad).parameters
    except (TypeError, ValueError):
        takes = False
    return functools.partial(optimizer.zero_grad, set_to_none=True) if takes else optimizer.zero_grad
