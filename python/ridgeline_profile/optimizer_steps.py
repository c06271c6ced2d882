# SPDX-License-Identifier: Apache-2.0
"""Calls around each step of an optimizer, of torch's own and of later subclasses."""
import functools

import torch

from ridgeline_profile.frames import leave_out_own

_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_OURS = "_ridgeline_annotated"
_open = []  # optimizers within their steps: a subclass calls the step of its base, a wrapper that of the optimizer in it


def _around(step, before, after, skips):
    @functools.wraps(step)
    def annotated(self, *args, **kwargs):
        if _is_compiling() or any(one is self for one in _open):
            return step(self, *args, **kwargs)
        before(self)
        _open.append(self)
        try:
            if skips is not None and skips(self, bool(args or kwargs.get("closure"))):
                return None
            return step(self, *args, **kwargs)
        except BaseException as error:
            leave_out_own(error)
            raise
        finally:
            _open.pop()
            after(self, not _open)

    setattr(annotated, _OURS, True)
    return annotated


def _patch(kind, before, after, skips):
    """The class that has the step of `kind`."""
    for owner in kind.__mro__:
        step = vars(owner).get("step")
        if step is None:
            continue
        if callable(step) and not hasattr(step, _OURS) and owner is not torch.optim.Optimizer:
            owner.step = _around(step, before, after, skips)
        return


def install(made, before, after, skips=None):
    """made(): an optimizer was made. before(optimizer) and after(optimizer, is_outermost): a step of it. skips(optimizer, has_closure):
    whether the step is not to be made."""
    kind = torch.optim.Optimizer
    # torch wraps the step of each class in this method, which all optimizers call as they are made or unpickled.
    name = "_patch_step_function" if hasattr(kind, "_patch_step_function") else "_hook_for_profile"
    patch = getattr(kind, name)

    @functools.wraps(patch)
    def patched(self, *args, **kwargs):
        result = patch(self, *args, **kwargs)
        try:
            made()
            _patch(type(self), before, after, skips)
        except Exception:
            pass  # a class that cannot be changed
        return result

    setattr(kind, name, patched)
