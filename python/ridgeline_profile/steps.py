# SPDX-License-Identifier: Apache-2.0
"""What counts as a step: the steps of the first optimizer, or, in programs that train nothing, the calls of a model."""
import weakref

import torch

from ridgeline_profile import library, run_steps

_trains = False  # an optimizer has made a step
_has_optimizer = False
_counted = None  # the optimizer whose steps count


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
    _step()


def model_called():
    """Before an outermost call of a module with parameters."""
    if not _trains and not (_has_optimizer and torch.is_grad_enabled()):
        _step()


def _step():
    run_steps.by_torch = True
    library.step()
