# SPDX-License-Identifier: Apache-2.0
"""What the samples and labels of a job are like."""

import math

import numpy

# What torch computes with; longer unsigned integers are read as signed ones.
_READ_AS = {"bool": "int8", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
_TRAINED_ON = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64")


def read_as(dtype):
    """The NumPy type in which elements of this stored type arrive; None for what cannot be trained on."""
    name = numpy.dtype(dtype).newbyteorder("=").name
    name = _READ_AS.get(name, name)
    return numpy.dtype(name) if name in _TRAINED_ON else None


class DataForm:
    """`sample`, `label`: axes of one; label None: there are none, []: a number. Types are NumPy's."""

    def __init__(self, sample, sample_type="float32", label=(), label_type="int64"):
        self.sample = list(sample)
        self.sample_type = numpy.dtype(sample_type)
        self.label = None if label is None else [] if list(label) == [1] else list(label)
        self.label_type = numpy.dtype(label_type)

    def integer_samples(self):
        return self.sample_type.kind in "iu"

    def integer_labels(self):
        return self.label_type.kind in "iu"

    def class_labels(self):
        return self.label == [] and self.integer_labels()

    def label_elements(self):
        return math.prod(self.label)
