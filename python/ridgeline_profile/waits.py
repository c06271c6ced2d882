# SPDX-License-Identifier: Apache-2.0
"""The line of the program around calls that wait for a GPU, so that the time it idles then has a place: loss.item(), if mask.any(),
torch.cuda.synchronize(). On tensors of the host nothing is recorded."""
import functools
import sys
import warnings

import torch

from ridgeline_profile import library, lines, patches
from ridgeline_profile.frames import leave_out_own
from ridgeline_profile.library import PYTHON, pop, push

_METHODS = ("item", "tolist", "cpu", "nonzero", "__bool__", "__float__", "__int__")
_sync_debug_mode = getattr(torch._C, "_cuda_get_sync_debug_mode", lambda: 0)  # of a torch with CUDA
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


def _line(frame):
    """Number of the text; None where no line is known."""
    try:
        library.begin()
        return lines.number_of_caller(frame)
    except Exception:
        return None


def _may_warn(tensor):
    """Whether torch may warn of the call itself: at the line of the program, not at ours."""
    return tensor.requires_grad or (tensor.is_cuda and _sync_debug_mode() != 0)


def _warning_at(frame, function, args, kwargs):
    """Calls the function; its warnings are those of the frame."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            returned = function(*args, **kwargs)
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        for one in caught:
            warnings.warn_explicit(one.message, one.category, frame.f_code.co_filename, frame.f_lineno,
                                   frame.f_globals.get("__name__", "<unknown>"), registry)
        return returned
    except BaseException as error:
        leave_out_own(error)
        raise


def _of_tensor(function):
    @functools.wraps(function)
    def run(self, *args, **kwargs):
        if _is_compiling():
            return function(self, *args, **kwargs)
        if _may_warn(self):
            return _warning_at(sys._getframe(1), function, (self, *args), kwargs)
        if not self.is_cuda:
            return function(self, *args, **kwargs)
        line = _line(sys._getframe(1))
        if line is not None:
            push(line, PYTHON)
        try:
            return function(self, *args, **kwargs)
        except BaseException as error:
            leave_out_own(error)
            raise
        finally:
            if line is not None:
                pop()

    return run


def _of_device(function):
    """Around a function that waits for a device, a stream or an event."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        if _is_compiling():
            return function(*args, **kwargs)
        line = _line(sys._getframe(1))
        if line is not None:
            push(line, PYTHON)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leave_out_own(error)
            raise
        finally:
            if line is not None:
                pop()

    return run


def _replace(owner, name, around):
    function = getattr(owner, name, None)
    if function is None:
        return
    made = around(function)
    # By this name it is pickled.
    made.__module__ = owner.__module__ if isinstance(owner, type) else owner.__name__
    made.__qualname__ = "%s.%s" % (owner.__qualname__, name) if isinstance(owner, type) else name
    patches.replace(owner, name, made)


def install():
    for name in _METHODS:
        _replace(torch.Tensor, name, _of_tensor)
    _replace(torch.cuda, "synchronize", _of_device)
    for kind in ("Stream", "Event"):
        _replace(getattr(torch.cuda, kind, None), "synchronize", _of_device)
