# SPDX-License-Identifier: Apache-2.0
"""Lets Ridgeline tune the inference of the user's own PyTorch model, which a function without arguments makes:

    def make():
        model = Net().eval().cuda()
        return model, torch.randn(1, 3, 224, 224, device="cuda")

It returns (model, inputs), (model, inputs, metric) or a dict with these keys:
    model      any callable; usually a torch.nn.Module, in the mode, on the device and in the dtype that it is used with
    inputs     a tensor, a tuple (positional arguments), a dict (keyword arguments), or a list of these: several input
               sets, which are called in turn
    metric     optional: metric(outputs) -> float, the quality of the outputs. With a list of input sets it gets the list
               of their outputs

Another key is a mistake and ends the run. Device and dtype are the user's; nothing is moved or converted unless a setting says so.
Needs no package but torch (1.13 or later), and Python 3.8 or later.
"""
