# SPDX-License-Identifier: Apache-2.0
"""A range around each call of a module. torch.nn.Module.__call__ is replaced by a function with the same frame, so that tracebacks, levels
of warnings and torch.compile see what they see without it."""
import ast
import opcode
import sys
import types
from _thread import get_ident

import torch

from ridgeline_profile import backward, library, lines, names, patches, recursion, steps
from ridgeline_profile.frames import leave_out_own  # noqa: F401 (used by the source below)
from ridgeline_profile.library import PYTHON, pop, push  # noqa: F401
from ridgeline_profile.threads import local  # noqa: F401

is_grad_enabled = torch.is_grad_enabled
enter, leave = backward.enter, backward.leave
_CALL = opcode.opmap["CALL_FUNCTION_EX"]

# What `torch.nn.Module.__call__` does since torch 2.1; else the function that was there is called, and its caller leaves no trace.
_KNOWN = "self._call_impl(*args, **kwargs) if self._compiled_call_impl is None else self._compiled_call_impl(*args, **kwargs)"
_OTHER = "original(self, *args, **kwargs)"
_SOURCE = """
def call(self, *args, **kwargs):
    {guard}
    thread = local.thread
    above = thread.call
    if above is None:
        call = open_outermost(thread, self)
    else:
        call = above.below.get(id(self))
        if call is None or call.module() is not self:
            call = find(above, self)
    name = call.name
    if name is not None:
        push(name, 2)
    thread.call = call
    try:
        if is_grad_enabled():
            enter(thread, above, args, kwargs)
            result = {call}
            leave(thread, call, result)
            return result
        return {call}
    {without_own_frame}
    finally:
        thread.call = above
        if name is not None:
            pop()
        if above is None:
            close_outermost(thread)
"""
# Constant for torch.compile, which then has the original function alone.
_GUARD = "if is_compiling(): return original(self, *args, **kwargs)"
_WITHOUT_OWN_FRAME = "except BaseException as error: leave_out_own(error); raise"


class _Unknown:
    """The call of a module whose name could not be found."""

    name = None
    is_model = False
    path = ()
    above = None
    hook = None

    def __init__(self):
        self.below = {}

    def module(self):
        return None

    def find(self, module, frame):
        return names.outermost(module)


class _Within(_Unknown):
    """A call within one that began before the hooks were installed: of a step that is recorded in part, and no model of its own."""

    def find(self, module, frame):
        return self


_within = _Within()
_running = set()  # threads that were within a call of a module as the hooks were installed


def _has_caller(frame, code):
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _threads_within(code):
    return [thread for thread, frame in sys._current_frames().items() if _has_caller(frame, code)]


def _is_within():
    """Whether this thread is still within such a call."""
    if get_ident() not in _running:
        return False
    if _has_caller(sys._getframe(3), original.__code__):
        return True
    _running.discard(get_ident())
    return False


def find(above, module):
    try:
        return above.find(module, sys._getframe(2))
    except Exception:
        return _Unknown()


def open_outermost(thread, module):
    """Opens what is around the outermost module. In a backward pass the call is one of a checkpoint, at its own place in the model."""
    if thread.backward:
        call = names.again(thread.at, module)
        thread.resumed.append(thread.path)
        if call is None:
            return _outermost(module)
        backward.switch(thread, call.path if call.name is None else call.path[:-1])
        return call
    if _running and _is_within():
        thread.resumed.append(False)
        return _within
    library.begin()
    call = _outermost(module)
    line = None
    if call.name is not None:
        if call.is_model:
            steps.model_called(module)
        try:
            line = lines.number_of_caller(sys._getframe(2))
        except Exception:
            pass  # a frame without a line
    if line is not None:
        push(line, PYTHON)
    thread.resumed.append(line is not None)
    thread.limit_marks()
    return call


def _outermost(module):
    try:
        return names.outermost(module)
    except Exception:
        return _Unknown()


def close_outermost(thread):
    resumed = thread.resumed.pop()
    if resumed is True:
        pop()
    elif resumed is not False:
        backward.switch(thread, resumed)


def _is_known(code):
    return code.co_name == "_wrapped_call_impl" and code.co_names == ("_compiled_call_impl", "_call_impl") and len(code.co_consts) <= 2


def _place(code):
    """Where the function calls what it wraps: line, column, last line, last column."""
    calls = []
    if hasattr(code, "co_positions"):
        places = zip(code.co_code[::2], code.co_positions())
        calls = [place for operation, place in places if operation == _CALL and None not in place]
    return calls[-1] if calls else (code.co_firstlineno, code.co_firstlineno, 0, 0)


def _compiled(source, like):
    """A function of that source which has the name, the file and the line of another."""
    tree = ast.parse(source)
    line, last_line, column, last_column = _place(like.__code__)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = line, last_line, column, last_column
    function = tree.body[0]
    function.name = like.__name__
    function.lineno = like.__code__.co_firstlineno
    made = {}
    # In the names of this module: torch.compile looks them up by it.
    exec(compile(tree, like.__code__.co_filename, "exec"), globals(), made)
    made = made[like.__name__]
    if hasattr(made.__code__, "co_qualname"):
        made.__code__ = made.__code__.replace(co_qualname=like.__qualname__)
    made.__qualname__, made.__module__, made.__doc__ = like.__qualname__, like.__module__, like.__doc__
    made.__annotations__ = dict(like.__annotations__)
    return made


def install():
    global original, is_compiling
    module = torch.nn.Module
    original = module.__call__
    if not isinstance(original, types.FunctionType):
        return
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)
    known = _is_known(original.__code__)
    source = _SOURCE.format(guard="pass" if is_compiling is None else _GUARD, call=_KNOWN if known else _OTHER,
                            without_own_frame="" if known else _WITHOUT_OWN_FRAME)
    hooked = _compiled(source, original)
    _running.update(_threads_within(original.__code__))
    patches.replace(module, "__call__", hooked)
    if not known:
        recursion.install()
    # The name under which bound calls are pickled.
    if known and module.__dict__.get("_wrapped_call_impl") is original:
        patches.replace(module, "_wrapped_call_impl", hooked)
