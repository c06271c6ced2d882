# SPDX-License-Identifier: Apache-2.0
"""Marks in the log what really runs, found without the hooks: the forward pass by hooks of the model, the backward pass by the numbers of
autograd's nodes, which grow while a module is called."""
import ctypes
import os

import torch

_library = ctypes.CDLL(os.environ["RIDGELINE_TRACE_LIBRARY"])


def mark(text):
    _library.recorder_mark(text.encode())


class Leaf(torch.autograd.Function):
    """Doubles, and marks where it does."""

    @staticmethod
    def forward(ctx, x, path):
        ctx.path = path
        ctx.save_for_backward(x)  # so that a checkpoint needs it again
        mark("forward:" + path)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        ctx.saved_tensors
        mark("backward:" + ctx.path)
        return gradient * 2, None


class MarkedLeaf(torch.nn.Module):
    def __init__(self, path):
        super().__init__()
        self.path = path
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return Leaf.apply(x * self.weight, self.path)


class Calls:
    """Which module each node of the graph is of."""

    def __init__(self, model):
        self._number = torch._C._autograd._get_sequence_nr
        self._open = []
        self._closed = []  # (first number, number after the last, path)
        for path, module in model.named_modules():
            module.register_forward_pre_hook(lambda module, _, path=path: self._enter(path))
            module.register_forward_hook(lambda module, _, result: self._leave())

    def _enter(self, path):
        mark("forward:" + path)
        self._open.append((self._number(), path))

    def _leave(self):
        first, path = self._open.pop()
        self._closed.append((first, self._number(), path))

    def path(self, number):
        # Inner calls are closed before those around them.
        return next((path for first, after, path in self._closed if first <= number < after), "-")

    def mark_graph(self, root):
        seen, left = set(), [root.grad_fn]
        while left:
            node = left.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            left += [following for following, _ in node.next_functions]
            if "AccumulateGrad" not in node.name():
                node.register_prehook(lambda _, text="backward:" + self.path(node._sequence_nr()): mark(text))
        self._closed.clear()
