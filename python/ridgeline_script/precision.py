# SPDX-License-Identifier: Apache-2.0
"""Mixed precision from outside: the script's own autocast and GradScaler get other arguments; a script without autocast gets one from
its model's call to its backward pass."""
import functools
import inspect

import torch

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
SHORT = {torch.bfloat16: "bf16", torch.float16: "fp16"}


def active(kind):
    """"off", "bf16" or "fp16" on this kind of device now."""
    if hasattr(torch, "get_autocast_dtype"):  # torch 2.4 and later
        return SHORT.get(torch.get_autocast_dtype(kind), "off") if torch.is_autocast_enabled(kind) else "off"
    if kind == "cpu":
        return SHORT.get(torch.get_autocast_cpu_dtype(), "off") if torch.is_autocast_cpu_enabled() else "off"
    return SHORT.get(torch.get_autocast_gpu_dtype(), "off") if torch.is_autocast_enabled() else "off"


class Precision:
    """`mode`: None leaves the script as it is."""

    def __init__(self, mode):
        self.mode = mode
        self.seen = None       # in the model's last training call
        self.has_scaler = False
        self.own = None        # an autocast that is entered

    def install(self):
        self._around_autocast()
        for owner in (torch.cuda.amp, getattr(torch, "amp", None)):
            kind = getattr(owner, "GradScaler", None)
            if kind is not None:
                self._around_scaler(kind)

    def _around_autocast(self):
        original = torch.autocast.__init__

        @functools.wraps(original)
        def make(context, device_type, dtype=None, enabled=True, cache_enabled=None):
            # Within an autocast the script switches it off for a part of its model.
            if self.mode is not None and self.own is None and active(device_type) == "off":
                enabled = self.mode != "off"
                dtype = DTYPES.get(self.mode)
            original(context, device_type, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

        torch.autocast.__init__ = make

    def _around_scaler(self, kind):
        if "__init__" not in vars(kind):
            return
        original = kind.__init__
        signature = inspect.signature(original)

        @functools.wraps(original)
        def make(scaler, *args, **kwargs):
            bound = signature.bind(scaler, *args, **kwargs)
            if self.mode is not None and "enabled" in signature.parameters:
                bound.arguments["enabled"] = self.mode == "fp16"
            self.has_scaler = True
            original(*bound.args, **bound.kwargs)

        kind.__init__ = make

    def before_call(self, kind):
        """Before a training call of an outermost module on this kind of device."""
        now = active(kind)
        if self.mode in DTYPES and now == "off" and self.own is None:
            own = torch.autocast(kind, dtype=DTYPES[self.mode])
            own.__enter__()
            self.own = own
            now = active(kind)
        self.seen = now

    def leave(self):
        """At the backward pass, and wherever a step may end without one."""
        own, self.own = self.own, None
        if own is not None:
            own.__exit__(None, None, None)

    def problem(self):
        """Why the mode is not in effect; None if it is."""
        if self.mode is None or self.seen is None:
            return None
        if self.mode == "fp16" and not self.has_scaler:
            return "fp16 needs a GradScaler, and the script has none; use bf16"
        if self.seen != self.mode:
            return "AMP %s did not take effect: the script's model runs with AMP %s" % (self.mode, self.seen)
        return None
