# SPDX-License-Identifier: Apache-2.0
"""The list of built-in models."""

import os

from .message_passing import MessagePassing
from .mlp import Mlp
from .options import did_you_mean, refuse
from .residual_network import ResidualNetwork
from .transformer import Transformer
from .vision_transformer import VisionTransformer
from .wide_residual_network import WideResidualNetwork


class Request:
    """What a model is built for: the axes of one sample, whether it holds integers, and the number of outputs."""

    def __init__(self, sample, integers, outputs):
        self.sample = sample
        self.integers = integers
        self.outputs = outputs


class ModelInfo:
    """`sample`: default shape of a random one; `options`: its own, with defaults."""

    def __init__(self, name, kind, sample, classes, **options):
        self.name = name
        self.kind = kind
        self.sample = sample
        self.classes = classes
        self.options = options

    def option(self, options, name, low, high):
        return options.whole(name, self.options[name], low, high)

    def make(self, options, request):
        return self.kind(self, options, request)


MODELS = {info.name: info for info in (
    ModelInfo("mlp", Mlp, "3x32x32", 10, depth=2, hidden=512),
    ModelInfo("resnet18", ResidualNetwork, "3x224x224", 1000),
    ModelInfo("resnet50", ResidualNetwork, "3x224x224", 1000),
    ModelInfo("wideresnet", WideResidualNetwork, "3x32x32", 10, depth=28, width=10),
    ModelInfo("vit-tiny", VisionTransformer, "3x224x224", 1000, patch=16, width=192, depth=12, heads=3),
    ModelInfo("vit-small", VisionTransformer, "3x224x224", 1000, patch=16, width=384, depth=12, heads=6),
    ModelInfo("transformer", Transformer, "128x64", 10, depth=4, hidden=256, heads=4, vocabulary=32000),
    ModelInfo("gnn", MessagePassing, "4x16x16", 10, depth=3, hidden=16, neighbours=4),
)}


def find(name):
    """None for a TorchScript file."""
    if name in MODELS:
        return MODELS[name]
    if os.sep in name or "." in name:
        return None
    refuse('no model "%s"%s; there are %s, or give a TorchScript file' % (name, did_you_mean(name, MODELS), ", ".join(MODELS)))
