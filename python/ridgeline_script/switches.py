# SPDX-License-Identifier: Apache-2.0
"""Settings that are on or off for a whole run: --option NAME=VALUE. Each notices whether it took effect."""
import torch

from ridgeline_profile.verify.changes import Change, ChannelsLast, Compile, FusedOptimizer, Tf32
from ridgeline_worker.failures import BadSettings

LOADER = {"prefetch_factor": int, "persistent_workers": bool}  # arguments of DataLoader
ON = ("true", "1", "on", "yes")
OFF = ("false", "0", "off", "no")
REASONS = {
    "no_gpu": "the model is not on a GPU", "no_fp32": "the model has no FP32 parameters", "set_back": "the script sets it back",
    "no_compile": "this torch has no torch.compile", "already": "the script has it already", "no_frames": "torch.compile compiled nothing",
    "no_graphs": "no CUDA graph was recorded", "no_convolution": "no parameter of the model has four dimensions",
    "no_optimizer": "no optimizer made a step", "no_fused": "the optimizer has neither a fused nor a foreach form",
    "no_model": "no module with parameters was called",
}


class CudnnBenchmark(Change):
    name = "cudnn_benchmark"

    def install(self):
        torch.backends.cudnn.benchmark = True

    def before_call(self, module, call):
        if next(module.parameters()).device.type != "cuda":
            return self.skip("no_gpu")
        torch.backends.cudnn.benchmark = True  # the script may have set its own
        self.made(type(module).__name__)

    def effect(self):
        if self.count and not torch.backends.cudnn.benchmark:
            self.refuse("set_back")


SWITCHES = {"allow_tf32": Tf32, "cudnn_benchmark": CudnnBenchmark, "torch_compile": Compile, "channels_last": ChannelsLast,
            "fused_optimizer": FusedOptimizer}


def flag(name, value):
    if value.lower() in ON:
        return True
    if value.lower() in OFF:
        return False
    raise BadSettings("--option %s=%s: expected true or false" % (name, value))


def loader_arguments(options):
    """What of the options DataLoader takes."""
    found = {}
    for name, kind in LOADER.items():
        if name not in options:
            continue
        if kind is bool:
            found[name] = flag(name, options[name])
        elif options[name].isdigit() and int(options[name]) > 0:
            found[name] = int(options[name])
        else:
            raise BadSettings("--option %s=%s: expected a positive number" % (name, options[name]))
    return found


def without_effect(module):
    """{name: reason} of the switches that would change nothing on this model, as far as that is seen beforehand."""
    if module is None:
        return {}
    parameters = list(module.parameters())
    found = {}
    if parameters[0].device.type != "cuda":
        found.update(allow_tf32="no_gpu", cudnn_benchmark="no_gpu")
    if not any(one.dim() == 4 for one in parameters):
        found["channels_last"] = "no_convolution"
    if not hasattr(torch, "compile"):
        found["torch_compile"] = "no_compile"
    return {name: REASONS[reason] for name, reason in found.items()}


def _made(name, value):
    if name == "torch_compile" and value in ("default", "reduce-overhead", "max-autotune"):
        change = Compile()
        change.mode = value
        return change
    return SWITCHES[name]() if flag(name, value) else None


class Switches:
    """Those that the options name. Compiling comes first: what wraps the model's call wraps the compiled one."""

    def __init__(self, options):
        self._changes = {}
        for name in sorted(SWITCHES, key=lambda one: one != "torch_compile"):
            change = _made(name, options[name]) if name in options else None
            if change is not None:
                self._changes[name] = change
        self._targets = {}

    def install(self):
        for change in self._changes.values():
            change.install()

    def target(self, call, module):
        """What to call in place of an outermost module."""
        if not self._changes:
            return call
        known = self._targets.get(id(module))
        # The module itself is kept, so that no other takes its id.
        if known is None:
            known = self._targets[id(module)] = (module, self._first(call, module))
        return call if known[1] is None else known[1]

    def _first(self, call, module):
        found = None
        for name, change in self._changes.items():
            try:
                target = change.before_call(module, found or call)
            except BadSettings as error:
                target = change.skip("refused", error)
            found = target or found
        return found

    def before_step(self, optimizer):
        for change in self._changes.values():
            change.before_step(optimizer)

    def problem(self):
        """Why one of them is not in effect; None if all are."""
        for name, change in self._changes.items():
            facts = change.facts()
            if facts["reason"]:
                return "%s did not take effect: %s" % (name, facts["detail"] or REASONS.get(facts["reason"], facts["reason"]))
        return None
