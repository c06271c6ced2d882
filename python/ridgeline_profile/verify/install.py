# SPDX-License-Identifier: Apache-2.0
"""Installs what times the steps and makes the change; torch has been imported."""
import atexit
import os
import sys

import torch
import torch.utils.data.dataloader

from ridgeline_profile import hidden, optimizer_steps, steps
from ridgeline_profile.verify import model_calls, outputs, report
from ridgeline_profile.verify.changes import CHANGES
from ridgeline_profile.verify.step_clock import StepClock, is_capturing


class Verified:
    """One process of the program."""

    def __init__(self, folder, name):
        self._folder = folder
        self._change = CHANGES[name]() if name else None
        self._outputs = None
        self._has_outputs = False
        self._losses = outputs.Losses()
        self._trains = False
        self._begin()
        # Processes that exchange gradients would wait for one that ends early.
        self._ends_early = int(os.environ.get("WORLD_SIZE") or 1) <= 1

    def _begin(self):
        self._clock = StepClock(self._finish)
        self._pid = os.getpid()

    def install(self):
        hidden.hide()
        steps.install(lambda: self._clock.begin_step())
        optimizer_steps.install(steps.optimizer_made, self._before_step, self._after_step)
        if self._change is not None:
            self._change.install()
        self._losses.install()
        model_calls.install(self._called)
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _called(self, call, module, args, kwargs):
        steps.model_called(module)
        returned = call(*args, **kwargs) if self._change is None else self._change.run(call, module, args, kwargs)
        if not self._has_outputs and not is_capturing():
            self._has_outputs = True
            try:
                self._outputs = outputs.sample(returned)
            except Exception:
                pass  # outputs that cannot be read are not compared
        return returned

    def _before_step(self, optimizer):
        self._trains = True
        if self._change is not None:
            self._change.before_step(optimizer)

    @staticmethod
    def _after_step(optimizer, is_outermost):
        if is_outermost:
            steps.optimizer_stepped(optimizer)

    def _write(self, is_cut):
        change = None if self._change is None else self._change.facts()
        report.write(self._folder, self._clock, change, self._outputs, self._losses.values(), self._trains, is_cut)

    def _finish(self):
        """There are enough steps: the rest of the program would only take time."""
        if not self._ends_early:
            return
        self._write(True)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        os._exit(0)

    def _end(self):
        if self._pid != os.getpid() or not (self._clock.steps or self._has_outputs):
            return
        try:
            self._clock.end()
            self._write(False)
        except Exception:
            pass  # a device that failed


def install():
    Verified(os.environ["RIDGELINE_PROFILE_STEPS"], os.environ.get("RIDGELINE_PROFILE_CHANGE", "")).install()
