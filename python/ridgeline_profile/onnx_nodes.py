# SPDX-License-Identifier: Apache-2.0
"""Counts the nodes of an ONNX file without the package onnx."""
import io

GRAPH, NODE = 7, 1  # fields of ModelProto, of GraphProto
OWN_FORMAT = b"ORTM"  # behind the first four bytes


def _varint(file):
    value = shift = 0
    while True:
        byte = file.read(1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value


def _fields(file, end):
    """(number, position, length) of each field that has a length; the others are skipped."""
    while file.tell() < end:
        key = _varint(file)
        kind = key & 7
        if kind == 2:
            length = _varint(file)
            yield key >> 3, file.tell(), length
            file.seek(length, io.SEEK_CUR)
        elif kind == 0:
            _varint(file)
        elif kind in (1, 5):
            file.seek(8 if kind == 1 else 4, io.SEEK_CUR)
        else:
            raise ValueError("not a protobuf message")


def _count(file):
    end = file.seek(0, io.SEEK_END)
    file.seek(0)
    for number, position, length in _fields(file, end):
        if number == GRAPH:
            return sum(field == NODE for field, _, _ in _fields(file, position + length))
    return 0


def is_model(model):
    """Whether ONNX Runtime may be able to load it, given its path or bytes: an ONNX model with nodes, or one of its own format."""
    if count_nodes(model) > 0:
        return True
    try:
        if isinstance(model, (bytes, bytearray)):
            return bytes(model[4:8]) == OWN_FORMAT
        with open(model, "rb") as file:
            return file.read(8)[4:] == OWN_FORMAT
    except OSError:
        return False


def count_nodes(model):
    """How many nodes a model has, given its path or bytes; 0 if unknown, as for ONNX Runtime's own format. A subgraph counts as one node."""
    try:
        if isinstance(model, (bytes, bytearray)):
            return _count(io.BytesIO(model))
        with open(model, "rb") as file:
            return _count(file)
    except (OSError, ValueError, IndexError):
        return 0
