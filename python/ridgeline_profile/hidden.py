# SPDX-License-Identifier: Apache-2.0
"""Keeps torch.compile from compiling the functions of the hooks, which run amid those of compiled models."""
import sys
import types

import torch


def _skip():
    """Marks a code object; what it calls is still compiled. None in torch before 2.1."""
    functions = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    if hasattr(functions, "set_code_exec_strategy"):  # since torch 2.7
        action = functions._FrameAction
        strategy = functions._FrameExecStrategy(action.SKIP, action.DEFAULT)
        return lambda code: functions.set_code_exec_strategy(code, strategy)
    return getattr(functions, "skip_code", None)


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _functions(module):
    for value in vars(module).values():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        for one in vars(value).values() if isinstance(value, type) else (value,):
            if isinstance(one, types.FunctionType):
                yield one


def hide():
    skip = _skip()
    if skip is None:
        return
    for name, module in list(sys.modules.items()):
        if not name.startswith(("ridgeline_profile.", "ridgeline_script.")):
            continue
        for function in _functions(module):
            for code in _codes(function.__code__):
                skip(code)
