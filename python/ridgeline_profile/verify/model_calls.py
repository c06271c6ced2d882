# SPDX-License-Identifier: Apache-2.0
"""Calls of outermost modules with parameters. Calls of the modules within them take one look at a flag."""
import functools
import threading
import weakref

import torch

_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)
_task = getattr(torch._C, "_current_graph_task_id", lambda: -1)  # of autograd: a checkpoint calls modules again
_models = {}  # by id: whether it has parameters


class _Local(threading.local):
    inside = False


_local = _Local()


def _is_model(module):
    known = _models.get(id(module))
    if known is None or known[0]() is not module:
        key = id(module)
        known = _models[key] = (weakref.ref(module, lambda gone: _models.pop(key, None)), next(module.parameters(), None) is not None)
    return known[1]


def _outermost(called, original, module, args, kwargs):
    if _task() != -1 or not _is_model(module):
        return original(module, *args, **kwargs)
    _local.inside = True
    try:
        return called(functools.partial(original, module), module, args, kwargs)
    finally:
        _local.inside = False


class Hook:
    """What install() has made of torch.nn.Module.__call__."""

    def __init__(self, original, call):
        self._original = original
        self._call = call

    def narrow(self, kinds):
        """From now on sees calls of modules of these classes alone, so that the modules within them cost nothing. Does nothing if another package
        has replaced the call since, or if one of the classes has a call of its own."""
        if not kinds or torch.nn.Module.__call__ is not self._call or any(kind.__call__ is not self._call for kind in kinds):
            return
        torch.nn.Module.__call__ = self._original
        for kind in kinds:
            kind.__call__ = self._call


def install(called):
    """called(call, module, args, kwargs) in place of call(*args, **kwargs)."""
    original = torch.nn.Module.__call__
    compiling = _is_compiling if _is_compiling is not None else (lambda: False)

    def call(self, *args, **kwargs):
        if compiling() or _local.inside:
            return original(self, *args, **kwargs)
        return _outermost(called, original, self, args, kwargs)

    torch.nn.Module.__call__ = call
    return Hook(original, call)
