# SPDX-License-Identifier: Apache-2.0
"""Ranges of the backward pass, named like those of the forward pass. Autograd runs its nodes from the last to the first. A hook before the
last node of a module's call opens the module's range, and one before the last node ahead of the call returns to the module around it.
Hooks refer to names only: they keep no tensor and no module alive."""
import functools
from _thread import allocate_lock, get_ident

import torch

from ridgeline_profile import library, patches
from ridgeline_profile.frames import leave_out_own
from ridgeline_profile.library import ANNOTATION, PYTHON, pop, push
from ridgeline_profile.threads import local

NODES = 64  # per call of a module; more are left without hooks
PATIENCE = 0.02  # seconds

Tensor = torch.Tensor
_tracing = torch._C._get_tracing_state
_has_mode = getattr(torch._C, "_len_torch_function_stack", lambda: 0)
_no_overrides = torch._C.DisableTorchFunction
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_MARK = "ridgeline"

_passes = 0  # backward passes so far, in all threads
_closing = []  # locks, each held as long as autograd has the object that it is of
_engine_threads = {}  # by identifier: threads of autograd's own with open ranges. Python forgets some of them between two hooks


def switch(thread, path):
    """Leaves open the ranges of `path` alone."""
    now = thread.path
    if path is now:
        return
    same = 0
    for one, other in zip(now, path):
        if one != other:
            break
        same += 1
    for _ in range(len(now) - same):
        pop()
    for name in path[same:]:
        push(name, PYTHON)
    thread.path = path


class _Hook:
    """Before a node of a call's part of the graph; without a call, of a part outside of all modules."""

    __slots__ = ("call",)

    def __init__(self, call):
        self.call = call

    def __call__(self, gradients):
        if _is_compiling():
            return
        thread = local.thread
        if not thread.backward or (thread.engine is not None and thread.engine != _passes):
            thread = _of_engine(thread)
        call = self.call
        thread.at = call
        path = () if call is None else call.path
        if path is not thread.path:
            switch(thread, path)


_outside = _Hook(None)


def _hook_of(call):
    if call is None:
        return _outside
    if call.hook is None:
        call.hook = _Hook(call)
    return call.hook


def _of_engine(thread):
    """What is open in a thread of autograd's own, at the first node of a backward pass or where Python has forgotten the thread."""
    known = _engine_threads.get(get_ident())
    if known is not None:
        local.thread = thread = known
        if thread.engine == _passes:
            return thread
        _close(thread)  # of a pass that failed, or that ended in another thread
    library.begin()
    push(_annotation(), ANNOTATION)
    thread.backward = True
    thread.engine = _passes
    _engine_threads[get_ident()] = thread
    try:
        torch.autograd.Variable._execution_engine.queue_callback(_Closing())
    except RuntimeError:
        pass  # the next pass closes it
    return thread


class _Closing:
    """Closes what is open in a thread of autograd's own once the pass is over."""

    def __init__(self):
        self._alive = allocate_lock()
        self._alive.acquire()
        _closing.append((_passes, self._alive))

    def __call__(self):
        thread = _engine_threads.get(get_ident())
        if thread is not None:
            _close(thread)

    def __del__(self):
        self._alive.release()


def _wait_for_engine(first):
    """Until autograd's threads have let go of what they call in this pass and those within it: doing that while Python ends would abort
    the program."""
    for one in [one for one in _closing if one[0] >= first]:
        one[1].acquire(timeout=PATIENCE)
        try:
            _closing.remove(one)
        except ValueError:
            pass  # another thread has


def _close(thread):
    _engine_threads.pop(get_ident(), None)
    switch(thread, ())
    pop()
    thread.backward, thread.engine, thread.at = False, None, None


def _annotation():
    return library.name("(backward)")  # as src/tracefile/events.hpp has it


def _mark_of_number(thread, tensor, hook):
    node = tensor.grad_fn
    if node is None:
        return None
    number = node._sequence_nr()
    if number in thread.marks or number in thread.older_marks:
        return None
    thread.marks.add(number)
    return node.register_prehook(hook)


def _mark_of_metadata(thread, tensor, hook):
    """For torch before 2.0, whose nodes have no number."""
    node = tensor.grad_fn
    if node is None or _MARK in node.metadata:
        return None
    node.metadata[_MARK] = True
    return node.register_prehook(hook)


def _marker():
    # The hooks of a graph need both of its kinds of nodes to have what is used.
    node = (torch.ones(1, requires_grad=True) * 1).grad_fn
    if not hasattr(node, "register_prehook"):
        return None
    return _mark_of_number if hasattr(node, "_sequence_nr") else _mark_of_metadata


with torch.enable_grad():
    _mark = _marker()


def _tensors(values, depth=3):
    """The tensors in what a module takes or returns."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif depth and isinstance(value, (tuple, list)):
            yield from _tensors(value, depth - 1)
        elif depth and isinstance(value, dict):
            yield from _tensors(value.values(), depth - 1)
        elif depth and hasattr(value, "__dataclass_fields__"):
            yield from _tensors(vars(value).values(), depth - 1)


def _mark_all(thread, values, hook):
    left = NODES
    with _no_overrides():
        for tensor in _tensors(values):
            _mark(thread, tensor, hook)
            left -= 1
            if not left:
                return


def enter(thread, above, args, kwargs):
    """Before a module's call: what was computed since the last call is part of the module around it."""
    if _mark is None or _tracing() is not None:
        return
    try:
        if len(args) == 1 and not kwargs and type(args[0]) is Tensor and not _has_mode():
            node = args[0].grad_fn
            if node is not None:
                _mark(thread, args[0], _hook_of(above))
            return
        _mark_all(thread, (args, kwargs), _hook_of(above))
    except Exception:
        pass  # nodes of an unknown kind stay without names


def leave(thread, call, result):
    """After a module's call: what computed its result is part of it."""
    if _mark is None or _tracing() is not None:
        return
    try:
        if type(result) is Tensor and not _has_mode():
            _mark(thread, result, _hook_of(call))
        else:
            _mark_all(thread, (result,), _hook_of(call))
    except Exception:
        pass


def _begin(thread, outputs):
    """Before a backward pass. One within another, as of a checkpoint, is part of that."""
    global _passes
    _passes += 1
    before = _passes, thread.backward, thread.engine, thread.path, thread.at, thread.call
    if not thread.backward:
        library.begin()
        push(_annotation(), ANNOTATION)
        thread.path = ()
    thread.backward, thread.engine, thread.call = True, None, None
    return before, _mark_roots(thread, outputs)


def _end(thread, before, handles):
    for handle in handles:
        handle.remove()
    number, backward, engine, path, at, call = before
    switch(thread, path if backward else ())
    if not backward:
        pop()
        _wait_for_engine(number)
    # A pass within one of autograd's own threads goes on there.
    engine = None if engine is None else _passes
    thread.backward, thread.engine, thread.path, thread.at, thread.call = backward, engine, path, at, call


def _mark_roots(thread, outputs):
    """Hooks before the roots of the graph, to be removed once the pass is over."""
    if _mark is None:
        return []
    try:
        with _no_overrides():
            return [handle for tensor in _tensors(outputs) if (handle := _mark(thread, tensor, _outside)) is not None]
    except Exception:
        return []


def _annotated(function):
    @functools.wraps(function)
    def run(*args, **kwargs):
        if _is_compiling():
            return function(*args, **kwargs)
        thread = local.thread
        opened = _begin(thread, (args[:1], kwargs.get("tensors"), kwargs.get("outputs")))
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leave_out_own(error)
            raise
        finally:
            _end(thread, *opened)

    return run


def install():
    patches.replace(torch.autograd, "backward", _annotated(torch.autograd.backward))
    patches.replace(torch.autograd, "grad", _annotated(torch.autograd.grad))


def forked():
    _engine_threads.clear()
    _closing.clear()
