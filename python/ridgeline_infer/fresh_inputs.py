# SPDX-License-Identifier: Apache-2.0
"""Other inputs that the model takes as well, so that outputs which do not follow their inputs are seen: the same values, moved
on by one element, as ONNX models get them (src/workload/onnx/fresh_inputs.hpp)."""

import contextlib

import torch

from . import batch, tensors

LONG_ENOUGH = 16  # elements: a short integer tensor may be a shape or an axis, whose order means something


def _moves(tensor):
    return tensor.layout == torch.strided and tensor.numel() >= (2 if tensor.is_floating_point() else LONG_ENOUGH)


def _moved(values):
    return torch.roll(values.reshape(-1), -1).reshape(values.shape)


@contextlib.contextmanager
def instead(one_set, rows=None):
    """In the tensors of the set themselves, as captured graphs read at their addresses. `rows`: of a batch that repeats its
    first ones, which then repeats them as they are moved alone."""

    def own(tensor):
        return tensor if rows is None or not tensor.dim() else tensor[:rows]

    found = {id(tensor): tensor for _, tensor in tensors.leaves(one_set) if _moves(own(tensor))}.values()
    with torch.no_grad():
        before = [(tensor, tensor.clone()) for tensor in found]
        for tensor, values in before:
            moved = _moved(own(values))
            tensor.copy_(moved if rows is None else batch.repeated(moved, len(tensor)) if tensor.dim() else moved)
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, values in before:
                tensor.copy_(values)
