# SPDX-License-Identifier: Apache-2.0
"""Other inputs that the model takes as well, so that outputs which do not follow their inputs are seen: the same values, moved
on by one element, as ONNX models get them (src/workload/onnx/fresh_inputs.hpp)."""

import contextlib

import torch

from . import tensors

LONG_ENOUGH = 16  # elements: a short integer tensor may be a shape or an axis, whose order means something


def _moves(tensor):
    return tensor.layout == torch.strided and tensor.numel() >= (2 if tensor.is_floating_point() else LONG_ENOUGH)


@contextlib.contextmanager
def instead(one_set):
    """In the tensors of the set themselves, as captured graphs read at their addresses."""
    found = {id(tensor): tensor for _, tensor in tensors.leaves(one_set) if _moves(tensor)}.values()
    with torch.no_grad():
        before = [(tensor, tensor.clone()) for tensor in found]
        for tensor, values in before:
            tensor.copy_(torch.roll(values.reshape(-1), -1).reshape(tensor.shape))
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, values in before:
                tensor.copy_(values)
