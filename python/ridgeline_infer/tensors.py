# SPDX-License-Identifier: Apache-2.0
"""Tensors inside what models take and return: found, changed, compared and written."""

import copy
import ctypes
import dataclasses
from collections.abc import Mapping

import torch

DEPTH = 32  # of nested containers; they may be circular
PIECE = 1 << 24  # bytes of one write

# The names of ONNX; another dtype keeps torch's name.
NAMES = {torch.float32: "float", torch.float64: "double"}


def element_type(dtype):
    return NAMES.get(dtype) or str(dtype).replace("torch.", "")


def _children(value):
    """The parts of a container as (name, value); None for a leaf."""
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value))
    if isinstance(value, (list, tuple)):
        return [(str(index), item) for index, item in enumerate(value)]
    return None


def _walk(value, name, depth, found):
    if isinstance(value, torch.Tensor):
        found.append((name or "0", value))
        return
    children = _children(value) if depth else None
    for key, item in children or ():
        _walk(item, name + "." + key if name else key, depth - 1, found)


def leaves(value):
    """All tensors as (name, tensor): "0" for one alone, else the path to it, "1.k". Other leaves are left out."""
    found = []
    _walk(value, "", DEPTH, found)
    return found


def mapped(value, change, depth=DEPTH):
    """The same structure with change(tensor) in place of each tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if not depth or _children(value) is None:
        return value
    if isinstance(value, Mapping):
        items = {key: mapped(item, change, depth - 1) for key, item in value.items()}
        try:
            out = copy.copy(value)
            for key, item in items.items():
                out[key] = item
            return out
        except TypeError:  # one that cannot be written to
            return items
    if isinstance(value, (list, tuple)):
        items = [mapped(item, change, depth - 1) for item in value]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        try:
            return type(value)(items)
        except TypeError:
            return tuple(items)
    out = copy.copy(value)  # a dataclass
    for field in dataclasses.fields(value):
        if hasattr(value, field.name):
            object.__setattr__(out, field.name, mapped(getattr(value, field.name), change, depth - 1))
    return out


def kept(value):
    """A copy that no later call overwrites, without its history."""
    return mapped(value, lambda tensor: tensor.detach().clone())


def difference(first, second):
    """None where all tensors are equal; else their largest difference, infinity where they cannot be subtracted."""
    one, other = leaves(first), leaves(second)
    if [name for name, _ in one] != [name for name, _ in other]:
        return float("inf")
    largest = None
    for (_, a), (_, b) in zip(one, other):
        a, b = plain(a), plain(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
        unequal = (a != b) & ~((a != a) & (b != b))
        if not bool(unequal.any()):
            continue
        gap = float((a[unequal].double() - b[unequal].double()).abs().max()) if not a.is_complex() else float("inf")
        largest = max(largest or 0.0, gap)
    return largest


def plain(tensor):
    """A dense tensor in the CPU's memory, of a dtype that others can read."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    tensor = tensor.resolve_conj().resolve_neg().cpu()
    if tensor.dtype == torch.bfloat16 or "float8" in str(tensor.dtype):
        tensor = tensor.float()
    return tensor.contiguous()


def write(file, tensor):
    """Appends the bytes of a plain tensor; returns their number."""
    size = tensor.numel() * tensor.element_size()
    if size:
        data = memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B")
        for begin in range(0, size, PIECE):
            file.write(data[begin:begin + PIECE])
    return size


def facts(named):
    """One input or output set, as it is told to the parent."""
    return [{"name": name, "element_type": element_type(tensor.dtype), "dims": list(tensor.shape)} for name, tensor in named]
