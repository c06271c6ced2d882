# SPDX-License-Identifier: Apache-2.0
"""The optimizers of --option optimizer=NAME."""

import inspect

import torch

from .options import refuse

NAMES = ("sgd", "adam", "adamw")
OPTIONS = ("optimizer", "learning_rate", "momentum", "weight_decay", "fused")


def _accepts(kind, name):
    return name in inspect.signature(kind).parameters


def make(options, model, on_gpu):
    name = options.choice("optimizer", NAMES, "sgd", "optimizer")
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
    chosen = {"lr": options.number("learning_rate", 0.01 if name == "sgd" else 0.001, 0, 1e6),
              "weight_decay": options.number("weight_decay", 0.01 if name == "adamw" else 0, 0, 1e6)}
    if name == "sgd":
        chosen["momentum"] = options.number("momentum", 0.9, 0, 1)
    elif options.has("momentum"):
        refuse("option momentum: %s has none; it belongs to sgd" % name)
    # Fused SGD came last, with torch 2.4: whether one optimizer is fused must not depend on its name.
    if options.flag("fused", on_gpu) and on_gpu and _accepts(torch.optim.SGD, "fused"):
        chosen["fused"] = True
    elif _accepts(kind, "foreach"):
        chosen["foreach"] = True
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return kind(parameters, **chosen)
