# SPDX-License-Identifier: Apache-2.0
"""Models of TorchScript files."""

import os

import torch
from torch import nn

from .options import refuse


class TorchScript(nn.Module):
    takes_tokens = False

    def __init__(self, path):
        super().__init__()
        if not os.path.exists(path):
            refuse("no file " + path)
        try:
            self.inner = torch.jit.load(path, map_location="cpu")
        except RuntimeError as error:
            refuse("%s is no TorchScript file that torch %s can read (%s); save it with torch.jit.script(model).save(PATH)"
                   % (path, torch.__version__, str(error).strip().partition("\n")[0]))
        self.inner.train()
        if not any(parameter.requires_grad for parameter in self.inner.parameters()):
            refuse("TorchScript file %s has nothing to train; save the module with torch.jit.script and without torch.jit.freeze" % path)

    def forward(self, batch):
        output = self.inner(batch)
        if not isinstance(output, torch.Tensor):
            refuse("the TorchScript model returns %s; expected one tensor, which a loss can be made of" % type(output).__name__)
        return output
