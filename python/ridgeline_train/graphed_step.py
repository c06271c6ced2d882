# SPDX-License-Identifier: Apache-2.0
"""A CUDA graph of the model's forward pass and one of its backward pass, for inputs of one shape. The loss and the optimizer's step stay
outside: they are the script's own code."""

import torch

from ridgeline_infer.attempt import first_line
from ridgeline_profile.verify.changes import Change
from ridgeline_worker.failures import BadSettings


def _shapes(args):
    return [(one.shape, one.dtype, one.device) for one in args]


class GraphedStep(Change):
    name = "cuda_graph"

    def __init__(self):
        super().__init__()
        self._replays = 0

    def before_call(self, module, call):
        if next(module.parameters()).device.type != "cuda":
            return self.skip("no_gpu")
        if not hasattr(torch.cuda, "make_graphed_callables"):
            raise BadSettings("torch %s has no make_graphed_callables" % torch.__version__)
        eager = module.forward
        captured = None

        def run(*args, **kwargs):
            nonlocal captured
            if not (module.training and torch.is_grad_enabled()):
                return self._eager(module, eager, call, args, kwargs)
            if kwargs or not args or not all(isinstance(one, torch.Tensor) and one.is_cuda for one in args):
                self.skip("inputs")
                return self._eager(module, eager, call, args, kwargs)
            if captured is None:
                captured = self._capture(module, args)
            if _shapes(args) != captured[0]:
                return self._eager(module, eager, call, args, kwargs)
            module.forward = captured[1]
            self._replays += 1
            return call(*args)

        return run

    @staticmethod
    def _eager(module, eager, call, args, kwargs):
        module.forward = eager
        return call(*args, **kwargs)

    def _capture(self, module, args):
        samples = tuple(one.detach().clone().requires_grad_(one.requires_grad) for one in args)
        try:
            graphed = torch.cuda.make_graphed_callables(module, samples)
        except (RuntimeError, AssertionError) as error:
            raise BadSettings("cuda_graph did not take effect: " + first_line(error)) from error
        self.made(type(module).__name__)
        return _shapes(args), graphed.forward

    def effect(self):
        if self.count and not self._replays:
            self.refuse("not_replayed")
