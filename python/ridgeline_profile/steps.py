# SPDX-License-Identifier: Apache-2.0
"""What counts as a step: the steps of the first optimizer, or, in programs that train nothing, the calls of a model."""
import weakref

import torch

_begin_step = None  # what is called as a step begins
_trains = False  # an optimizer has made a step
_has_optimizer = False
_joins = False  # the program ran before: it may have optimizers
_counted = None  # the optimizer whose steps count
_calls = 0  # of a program that ran before, in training mode and with gradients, without a step of an optimizer
# Of more than that a training accumulates gradients; a program that has no optimizer is not found out otherwise.
MOST_CALLS_OF_A_STEP = 16


def install(begin_step):
    global _begin_step
    _begin_step = begin_step


def joins_a_program():
    global _joins
    _joins = True


def optimizer_made():
    global _has_optimizer
    _has_optimizer = True


def optimizer_stepped(optimizer):
    """After a step: the next one begins. Several optimizers in turn make one step of the program."""
    global _trains, _counted
    _trains = True
    first = None if _counted is None else _counted()
    if first is None:
        _counted = weakref.ref(optimizer)
    elif first is not optimizer:
        return
    _begin_step()


def model_called(module):
    """Before an outermost call of a module with parameters."""
    global _calls
    if _trains:
        return
    if torch.is_grad_enabled():
        if _has_optimizer:
            return
        if _joins and module.training:
            _calls += 1
            if _calls <= MOST_CALLS_OF_A_STEP:
                return
    _begin_step()
