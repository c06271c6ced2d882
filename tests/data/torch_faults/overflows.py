# SPDX-License-Identifier: Apache-2.0
"""Sums of more than 65504, the most that fp16 holds."""
import torch


def make():
    torch.manual_seed(1)
    layer = torch.nn.Linear(64, 8)
    torch.nn.init.constant_(layer.bias, 1e5)
    return torch.nn.Sequential(layer, torch.nn.LayerNorm(8)).eval(), torch.randn(4, 64)
