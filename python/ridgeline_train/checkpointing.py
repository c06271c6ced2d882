# SPDX-License-Identifier: Apache-2.0
"""Gradient checkpointing by class of module: the blocks of one class keep their inputs alone, and the backward pass computes them again."""

import functools

import torch

from ridgeline_profile.verify import model_calls
from ridgeline_profile.verify.changes import Change
from ridgeline_worker.failures import BadSettings

from .messages import message


def _parameters(module):
    return sum(one.numel() for one in module.parameters())


def _outermost(modules):
    """Without those inside another of them."""
    inner = {id(one) for module in modules for one in module.modules() if one is not module}
    return [module for module in modules if id(module) not in inner]


def repeated_blocks(model):
    """Modules of the class that occurs at least twice and holds the most parameters; the outermost of equals. [] if there is none. Only
    modules with modules in them: a single layer saves little."""
    kinds = {}
    for module in model.modules():
        if module is not model and next(module.children(), None) is not None and not isinstance(module, (torch.nn.ModuleList, torch.nn.ModuleDict)):
            kinds.setdefault(type(module), []).append(module)
    best = []
    held = 0
    for modules in kinds.values():
        modules = _outermost(modules)
        parameters = sum(_parameters(one) for one in modules)
        if len(modules) >= 2 and parameters > held:
            best, held = modules, parameters
    return best


def named_blocks(model, name):
    found = _outermost([module for module in model.modules() if type(module).__name__ == name and module is not model])
    if not found:
        raise BadSettings("no module of class %s in the model; expected one of %s"
                          % (name, ", ".join(sorted({type(module).__name__ for module in model.modules()})[:20])))
    return found


class Checkpointing(Change):
    """`kind`: name of the class; "" chooses one."""

    name = "gradient_checkpointing"

    def __init__(self, kind=""):
        super().__init__()
        self._kind = kind
        self._recomputed = 0
        self._blocks = 0

    def before_call(self, module, call):
        blocks = named_blocks(module, self._kind) if self._kind else repeated_blocks(module)
        if not blocks:
            return self.skip("no_blocks")
        for block in blocks:
            self._wrap(block)
        self._blocks += len(blocks)
        self.made(type(blocks[0]).__name__)

    def _wrap(self, block):
        from torch.utils.checkpoint import checkpoint

        forward = block.forward

        @functools.wraps(forward)
        def run(*args, **kwargs):
            if not (block.training and torch.is_grad_enabled()):
                return forward(*args, **kwargs)
            calls = []

            def counted(*inner, **named):
                calls.append(None)
                if len(calls) == 1:
                    return forward(*inner, **named)
                self._recomputed += 1
                # The modules in a block are no models of their own now either.
                before, model_calls._local.inside = model_calls._local.inside, True
                try:
                    return forward(*inner, **named)
                finally:
                    model_calls._local.inside = before

            return checkpoint(counted, *args, use_reentrant=False, **kwargs)

        block.forward = run

    def effect(self):
        if self.count and not self._recomputed:
            self.refuse("not_recomputed")

    def notes(self):
        return {"lever_blocks": message("lever_blocks", blocks=self._blocks, kind=self.place)} if self.count else {}
