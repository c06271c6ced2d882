# SPDX-License-Identifier: Apache-2.0
"""Calls around each step of an optimizer, of torch's own and of later subclasses."""
import functools
import sys

import torch

from ridgeline_profile import patches
from ridgeline_profile.frames import leave_out_own

_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_OURS = "_ridgeline_annotated"
_calls = None  # before, after, skips
_open = []  # optimizers within their steps: a subclass calls the step of its base, a wrapper that of the optimizer in it


def _around(step, before, after, skips):
    @functools.wraps(step)
    def annotated(self, *args, **kwargs):
        if _is_compiling() or (_open and any(one is self for one in _open)):
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
            patches.replace(owner, "step", _around(step, before, after, skips))
        return


def install_hooks(before, after):
    """By torch's own hooks, which also reach optimizers whose step a scheduler has wrapped before. Whether this torch has them; they end with
    patches.undo()."""
    module = sys.modules["torch.optim.optimizer"]  # torch.optim deletes the attribute
    if not hasattr(module, "register_optimizer_step_pre_hook"):
        return False
    entered = []

    def leave(optimizer):
        entered.pop()
        after(optimizer, not entered)

    def pre(optimizer, _args, _kwargs):
        if _is_compiling():
            return
        while any(one is optimizer for one in entered):  # its last step failed
            leave(entered[-1])
        before(optimizer)
        entered.append(optimizer)

    def post(optimizer, _args, _kwargs):
        if entered and entered[-1] is optimizer:
            leave(optimizer)

    for handle in (module.register_optimizer_step_pre_hook(pre), module.register_optimizer_step_post_hook(post)):
        patches.on_undo(handle.remove)
    return True


def patch_known():
    """Those of the classes whose optimizers the program may have made before install(); for torch before 2.0, which has no hooks. The step of an
    optimizer that a scheduler has wrapped is not reached."""
    kinds = [torch.optim.Optimizer]
    while kinds:
        kind = kinds.pop()
        kinds.extend(kind.__subclasses__())
        try:
            _patch(kind, *_calls)
        except Exception:
            pass  # a class that cannot be changed


def install(made, before, after, skips=None):
    """made(): an optimizer was made. before(optimizer) and after(optimizer, is_outermost): a step of it. skips(optimizer, has_closure):
    whether the step is not to be made."""
    global _calls
    kind = torch.optim.Optimizer
    _calls = before, after, skips
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

    patches.replace(kind, name, patched)
