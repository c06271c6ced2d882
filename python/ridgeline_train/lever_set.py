# SPDX-License-Identifier: Apache-2.0
"""The levers of a step that a trial sets, made by hooks around the calls of the model and the steps of the optimizer. Each notices
whether it took effect."""

import torch

from ridgeline_profile.verify import model_calls
from ridgeline_profile.verify.changes import Change, ChannelsLast, Compile, FusedOptimizer, Tf32
from ridgeline_worker.failures import BadSettings

from .accumulation import Accumulation
from .attention_backend import AttentionBackend
from .checkpointing import Checkpointing
from .copies import NonBlocking
from .graphed_step import GraphedStep
from .input_resolution import InputResolution, share_of
from .levers import STEP, flag, positive

COMPILE_MODES = ("default", "reduce-overhead", "max-autotune")
REASONS = {
    "no_gpu": "the model is not on a GPU", "no_fp32": "the model has no FP32 parameters", "set_back": "the script sets it back",
    "no_compile": "this torch has no torch.compile", "already": "the training has it already", "no_frames": "torch.compile compiled nothing",
    "no_graphs": "no CUDA graph was recorded", "no_convolution": "no parameter of the model has four dimensions",
    "no_optimizer": "no optimizer made a step", "no_fused": "the optimizer has neither a fused nor a foreach form",
    "no_foreach": "the optimizer has no foreach form", "no_fused_here": "the optimizer has no fused form for these parameters in this torch",
    "no_model": "no module with parameters was called",
    "no_blocks": "no class of modules with parameters occurs twice in the model",
    "not_recomputed": "no backward pass computed a block again",
    "no_sdpa": "this torch has no scaled_dot_product_attention", "no_attention": "the model does not call scaled_dot_product_attention",
    "no_copy": "no batch was copied from pinned memory to the GPU by a call that waits for it",
    "accumulates": "the training makes several backward passes per step of the optimizer already",
    "scaler": "a GradScaler unscales the gradients in each step; use bf16",
    "closure": "the optimizer's step gets a closure, which computes the loss", "no_passes": "no backward pass of one loss was seen",
    "no_step_skipped": "no step of a torch optimizer was skipped",
    "own_loader": "the built-in models' loader makes whole batches ahead by itself",
    "no_images": "the model is not called with images of 32 x 32 or more that could be smaller",
    "inputs": "the model's inputs are not tensors alone", "not_replayed": "no CUDA graph was replayed",
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


def _compile(name, value):
    mode, _, dynamic = value.partition("-dynamic")
    mode = "default" if value == "dynamic" else mode
    if mode not in COMPILE_MODES:
        return Compile() if flag(name, value) else None
    change = Compile()
    change.mode = mode
    change.is_dynamic = value == "dynamic" or value.endswith("-dynamic")
    return change


def _optimizer(name, value):
    if value in ("fused", "foreach"):
        return FusedOptimizer(value)
    return FusedOptimizer() if flag(name, value) else None


def _flagged(kind):
    return lambda name, value: kind() if flag(name, value) else None


def _checkpointing(name, value):
    if value.lower() in ("false", "0", "off", "no"):
        return None
    return Checkpointing("" if value.lower() in ("true", "1", "on", "yes", "auto") else value)


def _accumulation(name, value):
    return Accumulation(positive(name, value)) if value != "1" else None


def _backend(name, value):
    return AttentionBackend(value)


MADE = {"gradient_checkpointing": _checkpointing, "torch_compile": _compile, "channels_last": _flagged(ChannelsLast),
        "fused_optimizer": _optimizer, "allow_tf32": _flagged(Tf32), "cudnn_benchmark": _flagged(CudnnBenchmark),
        "sdpa_backend": _backend, "gradient_accumulation": _accumulation, "non_blocking": _flagged(NonBlocking),
        "cuda_graph": _flagged(GraphedStep),
        "input_resolution": lambda name, value: InputResolution(share_of(name, value))}


def without_effect(module, on_gpu=None):
    """{name: reason} of the levers that would change nothing on this model, as far as that is seen beforehand. `on_gpu`: whether it will be
    trained on one; None: where it is now."""
    if module is None:
        return {}
    parameters = list(module.parameters())
    found = {}
    if not parameters:
        return {}
    if not (parameters[0].device.type == "cuda" if on_gpu is None else on_gpu):
        found.update((name, "no_gpu") for name in ("allow_tf32", "cudnn_benchmark", "non_blocking", "cuda_graph"))
    if not any(one.dim() == 4 for one in parameters):
        found["channels_last"] = "no_convolution"
    if not hasattr(torch, "compile"):
        found["torch_compile"] = "no_compile"
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        found["sdpa_backend"] = "no_sdpa"
    return {name: REASONS[reason] for name, reason in found.items()}


class LeverSet:
    """In the order of STEP: what changes the model's modules comes before compiling, and what wraps the model's call wraps the compiled
    one."""

    def __init__(self, found, amp="off"):
        self._changes = {}
        for name in STEP:
            change = MADE[name](name, found[name]) if name in found else None
            if change is not None:
                self._changes[name] = change
        self._targets = {}
        accumulation = self._changes.get("gradient_accumulation")
        if accumulation is not None and amp == "fp16":
            raise BadSettings("gradient_accumulation did not take effect: " + REASONS["scaler"])
        self._accumulation = accumulation

    def __bool__(self):
        return bool(self._changes)

    def accumulates(self):
        return self._accumulation is not None

    def install(self, hooks_calls=True):
        """`hooks_calls`: whether calls of the model reach target() by a hook of their own."""
        for change in self._changes.values():
            change.install()
        if hooks_calls and self._changes:
            model_calls.install(lambda call, module, args, kwargs: self.target(call, module)(*args, **kwargs))

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
        for change in self._changes.values():
            try:
                target = change.before_call(module, call if found is None else found)
            except BadSettings as error:
                target = change.skip("refused", error)
            # A compiled module has a length, which may be an error: it is not to be asked whether it is true.
            found = found if target is None else target
        return found

    def before_step(self, optimizer):
        for change in self._changes.values():
            change.before_step(optimizer)

    def skips_step(self, optimizer, has_closure=False):
        """Whether the optimizer's step is not to be made; asked once for each step."""
        return self._accumulation is not None and self._accumulation.skips_step(optimizer, has_closure)

    def problem(self):
        """Why one of them is not in effect; None if all are."""
        for name, change in self._changes.items():
            facts = change.facts()
            if facts["reason"]:
                return "%s did not take effect: %s" % (name, facts["detail"] or REASONS.get(facts["reason"], facts["reason"]))
        return None

    def notes(self):
        """What a lever chose itself: {code: message}."""
        found = {}
        for change in self._changes.values():
            found.update(getattr(change, "notes", dict)())
        return found
