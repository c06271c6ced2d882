# SPDX-License-Identifier: Apache-2.0
"""Dropout is left on."""
import torch


def make():
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Dropout(0.5)), torch.ones(4, 64)
