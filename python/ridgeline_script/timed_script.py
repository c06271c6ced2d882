# SPDX-License-Identifier: Apache-2.0
"""A trial whose steps the script makes."""
import types

import torch

from ridgeline_train import host_reads, levers, loader_cost
from ridgeline_train.loss_curve import FiniteLosses, LossCurve
from ridgeline_train.settings import Settings
from ridgeline_train.trial import Trial


class TimedScript(Trial):
    """What a trial reports, of steps that are not made here."""

    def __init__(self, spec, device, fetches):
        self.torch = torch
        self.settings = Settings(spec)
        self.data = spec.get("data", "loader")
        self.loads_only = self.data == "loader_only"
        self.device = device
        self.cuda = device.type == "cuda"
        self.source = None
        self.kept = None
        self.unseen = False
        self.notes = {}
        self.loaders = types.SimpleNamespace(notes={})
        self.levers = levers.NoLevers()  # the session's
        self.losses = LossCurve()
        self.finite_losses = FiniteLosses()  # the session's replaces it
        self.learning = None
        self.reads = host_reads.NoReads()  # the session's replaces it
        self._has_counted = False  # in the first window
        self._counts = False       # in this one
        self.scaler = self.scale_before = None
        self.loss_value = None
        self.memory_limit_gb = None
        self._work = None
        self.reset()

    def reads_are_due(self):
        """Whether the window that begins is the trial's first, which warms up: its steps are counted."""
        if self._has_counted or self.data != "loader":
            return False
        self._has_counted = self._counts = True
        return True

    def begin_window(self):
        self.kept = self.source._kept or None
        self._work = loader_cost.StepWork() if self.kept else None

    def window(self, recorder):
        if self._counts:
            self.reads.end()
            self._counts = False
        rows, wall = recorder.end()
        self.finite_losses.look()
        if self._work is not None:
            thread, others, in_line = self._work.since()
            self.step_cpu += thread
            self.others_cpu += others
            self.step_wall += wall / 1e3 - in_line
        self.timed_wall += wall / 1e3
        self.timed_steps += len(rows)
        out = {"steps": rows, "wall_ms": wall}
        if not self.unseen:
            out["samples"] = len(rows) * self.settings.batch
        return out

    def gpu_busy(self):
        return None  # a step cannot be launched ahead: the script makes it

    def risen_ooms(self):
        now = self.num_ooms()
        return None if now is None else now - self.ooms_before
