# SPDX-License-Identifier: Apache-2.0
"""The user's model as an ONNX file, with the inputs that it was made with."""

import inspect
import os
import struct
import warnings

import torch

from ridgeline_worker.failures import BadSettings

from . import modes, tensors
from .attempt import first_line
from .made import make
from .torchscript import TensorsOnly
from .trial import output_tensors

EXPORTERS = ("dynamo", "torchscript")
SCRIPT_OPSET = 17  # the newest of torch 1.13
IN_ONE_FILE = 1500 << 20  # bytes of weights: protocol buffers end at 2 GiB


class TensorsInAndOut(TensorsOnly):
    """Returns the tensors of what the model returns, in the order of output_tensors()."""

    def forward(self, *values):
        return tuple(tensor for _, tensor in output_tensors(super().forward(*values)))


class HalfInside(TensorsInAndOut):
    """Computes in half precision; inputs and outputs stay what they were, so that whoever calls it need not know."""

    def __init__(self, model, one_set, precision, outputs):
        super().__init__(model, one_set)
        self.dtype = modes.DTYPES[precision]
        self.own = [tensor.dtype for _, tensor in outputs]
        model.to(self.dtype)

    def forward(self, *values):
        returned = super().forward(*(one.to(self.dtype) if one.is_floating_point() else one for one in values))
        return tuple(one.to(dtype) for one, dtype in zip(returned, self.own))


def _check_half(made, precision):
    if made.module is None:
        raise BadSettings("%s needs a torch.nn.Module, whose weights are converted" % precision)
    device = made.device()
    if precision == "bf16" and device.type == "cuda" and torch.cuda.get_device_capability(device)[0] < 8:
        raise BadSettings("%s has no bf16" % torch.cuda.get_device_name(device))


def _parameter_names(model):
    try:
        return list(inspect.signature(model.forward if isinstance(model, torch.nn.Module) else model).parameters)
    except (TypeError, ValueError):
        return []


def _input_names(model, one_set, taken):
    """Of the tensors of a set: the model's own names, apart from those of outputs."""
    args, kwargs = one_set
    parameters = _parameter_names(model)
    found = []
    for index, value in enumerate(args):
        base = parameters[index] if index < len(parameters) and not parameters[index].startswith("_") else "input_%d" % index
        found += [base if name == "0" and isinstance(value, torch.Tensor) else "%s.%s" % (base, name)
                  for name, _ in tensors.leaves(value)]
    found += [name for name, _ in tensors.leaves(kwargs)]
    names = []
    for name in found:
        while name in taken or name in names:
            name = "input_" + name
        names.append(name)
    return names


def _write_npy(path, tensor):
    """numpy.save without numpy, which torch does not need."""
    tensor = tensor.detach().cpu().contiguous()
    codes = {torch.float32: "<f4", torch.float64: "<f8", torch.float16: "<f2", torch.int64: "<i8", torch.int32: "<i4",
             torch.int16: "<i2", torch.int8: "|i1", torch.uint8: "|u1", torch.bool: "|b1"}
    if tensor.dtype not in codes:
        raise BadSettings("inputs of %s cannot be given to ONNX Runtime" % str(tensor.dtype).replace("torch.", ""))
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        codes[tensor.dtype], "".join("%d, " % size for size in tensor.shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        tensors.write(file, tensor)


def _export(exporter, model, values, path, input_names, output_names, weight_bytes):
    arguments = {"input_names": input_names, "output_names": output_names}
    known = inspect.signature(torch.onnx.export).parameters
    if exporter == "dynamo":
        if "dynamo" not in known or "external_data" not in known:
            raise BadSettings("torch %s has no such exporter" % torch.__version__)
        arguments.update(dynamo=True, external_data=weight_bytes > IN_ONE_FILE)
    else:
        if "dynamo" in known:
            arguments["dynamo"] = False
        arguments["opset_version"] = SCRIPT_OPSET
    torch.onnx.export(model, values, path, **arguments)


def export(function, target, exporter, seed, folder, precision=""):
    """{"model": its path, "inputs": [{"name", "path"}]}; `precision`: "fp16", "bf16" or "" for the model as it is.
    BadSettings where this exporter cannot."""
    torch.manual_seed(seed)
    made = make(function, target)
    if len(made.sets) > 1:
        raise BadSettings("%d input sets; an exported model is tuned with one" % len(made.sets))
    if precision:
        _check_half(made, precision)
    args, kwargs = made.sets[0]
    with torch.no_grad():
        outputs = output_tensors(made.model(*args, **kwargs))
    output_names = [name for name, _ in outputs]
    input_names = _input_names(made.model, made.sets[0], output_names)
    values = tuple(tensor for _, tensor in tensors.leaves(args) + tensors.leaves(kwargs))
    path = os.path.join(folder, "%s%s.onnx" % (exporter, precision and "-" + precision))
    weight_bytes = sum(one.numel() * one.element_size() for one in made.parameters())
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if precision:
                whole = HalfInside(made.model, made.sets[0], precision, outputs)
            else:
                whole = TensorsInAndOut(made.model, made.sets[0])
            _export(exporter, whole, values, path, input_names, output_names, weight_bytes)
    except BadSettings:
        raise
    except Exception as error:
        raise BadSettings(first_line(error)) from error
    inputs = []
    for index, (name, tensor) in enumerate(zip(input_names, values)):
        file = os.path.join(folder, "input_%d.npy" % index)
        _write_npy(file, tensor)
        inputs.append({"name": name, "path": file})
    return {"model": path, "inputs": inputs}
