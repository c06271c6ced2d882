# SPDX-License-Identifier: Apache-2.0
"""Another batch: the rows of the user's inputs over and over, so that outputs can be compared with those of the rows."""

import torch

from ridgeline_worker.failures import BadSettings

from . import tensors
from .attempt import attempt


def repeated(tensor, rows):
    if not tensor.dim():
        return tensor
    chosen = torch.arange(rows, device=tensor.device) % tensor.shape[0]
    out = tensor.index_select(0, chosen)
    if tensor.dim() == 4 and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last):
        out = out.contiguous(memory_format=torch.channels_last)
    return out


def _shapes(made, named):
    return [[(name, list(tensor.shape)) for name, tensor in named(made.model(*args, **kwargs))] for args, kwargs in made.sets]


def apply(made, rows, named):
    """Gives the inputs so many rows. The model's outputs, of which `named` makes (name, tensor), have to follow."""
    own = made.rows()
    if own is None:
        raise BadSettings("batch_size needs inputs with one first dimension; theirs differ")
    if rows < own:
        raise BadSettings("batch_size %d is less than the %d rows of the inputs" % (rows, own))
    before = _shapes(made, named)
    with attempt("batch_size %d" % rows):
        made.map_inputs(lambda tensor: repeated(tensor, rows))
        after = _shapes(made, named)
    for old, new in zip(before, after):
        for (name, shape), (_, seen) in zip(old, new):
            if shape[:1] != [own] or seen != [rows] + shape[1:]:
                raise BadSettings("batch_size %d: %s does not follow: of %d rows its shape is %s, of %d rows %s"
                                  % (rows, name, own, shape, rows, seen))


def first_rows(returned, rows, own):
    """The outputs of the user's own rows."""
    return tensors.mapped(returned, lambda tensor: tensor[:own] if tensor.dim() and tensor.shape[0] == rows else tensor)
