# SPDX-License-Identifier: Apache-2.0
"""An annotation around each step of an optimizer, of torch's own and of later subclasses."""
import functools

import torch

from ridgeline_profile import library, steps
from ridgeline_profile.frames import leave_out_own
from ridgeline_profile.library import ANNOTATION, pop, push

_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_OURS = "_ridgeline_annotated"
_open = []  # optimizers within their steps: a subclass calls the step of its base, a wrapper that of the optimizer in it


def _annotated(step):
    @functools.wraps(step)
    def annotated(self, *args, **kwargs):
        if _is_compiling() or any(one is self for one in _open):
            return step(self, *args, **kwargs)
        library.begin()
        push(library.name("Optimizer.step#%s.step" % type(self).__name__), ANNOTATION)  # as the PyTorch profiler has it
        _open.append(self)
        try:
            return step(self, *args, **kwargs)
        except BaseException as error:
            leave_out_own(error)
            raise
        finally:
            pop()
            _open.pop()
            if not _open:
                steps.optimizer_stepped(self)

    setattr(annotated, _OURS, True)
    return annotated


def _annotate(kind):
    """The class that has the step of `kind`."""
    for owner in kind.__mro__:
        step = vars(owner).get("step")
        if step is None:
            continue
        if callable(step) and not hasattr(step, _OURS) and owner is not torch.optim.Optimizer:
            owner.step = _annotated(step)
        return


def install():
    kind = torch.optim.Optimizer
    # torch wraps the step of each class in this method, which all optimizers call as they are made or unpickled.
    name = "_patch_step_function" if hasattr(kind, "_patch_step_function") else "_hook_for_profile"
    patch = getattr(kind, name)

    @functools.wraps(patch)
    def patched(self, *args, **kwargs):
        result = patch(self, *args, **kwargs)
        try:
            steps.optimizer_made()
            _annotate(type(self))
        except Exception:
            pass  # a class that cannot be changed
        return result

    setattr(kind, name, patched)
