# SPDX-License-Identifier: Apache-2.0
"""Replaces what compiles in this torch: torch.compile, before torch 2 torch.jit.trace."""
import torch


def instead(act, modes=None):
    """`act()` takes the place of the compilation, which happens in the first call; with `modes` only where one of these is asked for."""
    if not hasattr(torch, "compile"):
        original = torch.jit.trace

        def trace(*args, **kwargs):
            act()
            return original(*args, **kwargs)

        torch.jit.trace = trace
        return
    compile_ = torch.compile

    def compile(model, *args, mode=None, **kwargs):
        compiled = compile_(model, *args, mode=mode, **kwargs)
        if modes is not None and mode not in modes:
            return compiled

        def first(*inputs, **named):
            act()
            return compiled(*inputs, **named)

        return first

    torch.compile = compile


def model():
    torch.manual_seed(1)
    layers = [torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers).eval(), torch.randn(1, 3, 16, 16)
