# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation from outside: each loss is divided by the number of passes, and the optimizer, its zero_grad() and the schedule
act in every so many steps only. With a batch of the same part, the effective batch stays what it was."""

import functools

import torch

from ridgeline_profile.verify.changes import Change


class Accumulation(Change):
    """`passes`: backward passes per step of the optimizer, 2 or more."""

    name = "gradient_accumulation"
    without = "no_passes"

    def __init__(self, passes):
        super().__init__()
        self._passes = passes
        self._steps = 0      # of the optimizer, asked for
        self._skipped = 0
        self._since_step = 0
        self._skips = False  # the last step that was asked for
        self._depth = 0

    def install(self):
        self._around_backward()
        self._around_zero_grad(torch.optim.Optimizer)
        self._around_zero_grad(torch.nn.Module)
        self._around_schedule()
        for owner in (torch.cuda.amp, getattr(torch, "amp", None)):
            kind = getattr(owner, "GradScaler", None)
            if kind is not None:
                self._around_scaler(kind)

    def _around_backward(self):
        original = torch.autograd.backward

        @functools.wraps(original)
        def backward(tensors, grad_tensors=None, *args, **kwargs):
            loss = tensors[0] if isinstance(tensors, (tuple, list)) and len(tensors) == 1 else tensors
            if self._depth or grad_tensors is not None or not isinstance(loss, torch.Tensor) or loss.numel() != 1:
                return original(tensors, grad_tensors, *args, **kwargs)
            self.made("backward")
            self._since_step += 1
            if self._since_step > 1:
                self.refuse("accumulates")
            self._depth += 1
            try:
                return original(loss, torch.full_like(loss, 1.0 / self._passes), *args, **kwargs)
            finally:
                self._depth -= 1

        torch.autograd.backward = backward

    def _around_zero_grad(self, kind):
        original = kind.zero_grad

        @functools.wraps(original)
        def zero_grad(owner, *args, **kwargs):
            if self._steps % self._passes == 0:
                original(owner, *args, **kwargs)

        kind.zero_grad = zero_grad

    def _around_schedule(self):
        schedules = torch.optim.lr_scheduler
        kind = getattr(schedules, "LRScheduler", None) or schedules._LRScheduler
        original = kind.step

        @functools.wraps(original)
        def step(schedule, *args, **kwargs):
            if not self._skips:
                original(schedule, *args, **kwargs)

        kind.step = step

    def _around_scaler(self, kind):
        original = kind.unscale_

        @functools.wraps(original)
        def unscale_(scaler, *args, **kwargs):
            if scaler.is_enabled():
                self.refuse("scaler")
            return original(scaler, *args, **kwargs)

        kind.unscale_ = unscale_

    def skips_step(self, optimizer, has_closure):
        if has_closure:
            self.refuse("closure")
            return False
        self._since_step = 0
        self._steps += 1
        self._skips = self._steps % self._passes != 0
        if self._skips and isinstance(optimizer, torch.optim.Optimizer):
            self._skipped += 1
        return self._skips

    def effect(self):
        if self.count and self._steps >= self._passes and not self._skipped:
            self.refuse("no_step_skipped")
