# SPDX-License-Identifier: Apache-2.0
"""The changes that findings propose, by the name that RIDGELINE_PROFILE_CHANGE has. Each notices whether it took effect."""
import functools
import inspect
import os

import torch

from ridgeline_profile.verify import importable  # noqa: F401
from ridgeline_profile.verify.graphed import Graphed
from ridgeline_infer import compiling, settings, tensors
from ridgeline_infer.attempt import first_line
from ridgeline_worker.failures import BadSettings

MOST_WORKERS = 4


class Change:
    """`count`: how often it was made; `place`: on what; `reason`: a word (src/campaign/messages.json has the sentences) why it took no
    effect; `detail`: what a library said of that."""

    name = ""
    without = "no_model"  # the reason if nothing was ever changed

    def __init__(self):
        self.count = 0
        self.place = ""
        self.reason = ""
        self.detail = ""
        self._skipped = ("", "")
        self._targets = {}

    def install(self):
        """As torch is imported."""

    def before_call(self, module, call):
        """Before the first call of an outermost module: what is called in its place, or None."""

    def before_step(self, optimizer):
        """Before each step of an optimizer."""

    def effect(self):
        """At the end: refuses what took no effect."""

    def run(self, call, module, args, kwargs):
        key = id(module)
        if key not in self._targets:
            # The module itself is kept, so that no other takes its id.
            self._targets[key] = (module, self._first(call, module))
        target = self._targets[key][1]
        return call(*args, **kwargs) if target is None else target(*args, **kwargs)

    def _first(self, call, module):
        try:
            return self.before_call(module, call)
        except BadSettings as error:
            return self.skip("refused", error)

    def made(self, place):
        self.count += 1
        self.place = self.place or place

    def skip(self, reason, error=None):
        """One of several places where it could have been made: that counts if it was made nowhere."""
        if not self._skipped[0]:
            self._skipped = (reason, "" if error is None else first_line(error))

    def refuse(self, reason, error=None):
        """It was made, and took no effect."""
        if not self.reason:
            self.reason, self.detail = reason, "" if error is None else first_line(error)

    def tried(self):
        return bool(self.count or self._skipped[0])

    def facts(self):
        self.effect()
        if not self.count and not self.reason:
            self.reason, self.detail = self._skipped if self._skipped[0] else (self.without, "")
        return {"name": self.name, "count": self.count, "place": self.place, "reason": self.reason, "detail": self.detail}


def _device(module):
    return next(module.parameters()).device


class Tf32(Change):
    name = "tf32"

    def install(self):
        settings.set_tf32(torch, True)

    def before_call(self, module, call):
        if _device(module).type != "cuda":
            return self.skip("no_gpu")
        settings.check_device({"allow_tf32": True}, torch, _device(module), [_device(module)])
        if not any(one.dtype == torch.float32 for one in module.parameters()):
            return self.skip("no_fp32")
        settings.set_tf32(torch, True)  # the program may have set its own
        self.made(type(module).__name__)

    def effect(self):
        if self.count and settings.tf32(torch) != (True, True):
            self.refuse("set_back")


class Autocast(Change):
    name = "autocast"

    def before_call(self, module, call):
        kind = _device(module).type
        if not any(one.dtype == torch.float32 for one in module.parameters()):
            return self.skip("no_fp32")
        if torch.is_autocast_cpu_enabled() if kind == "cpu" else torch.is_autocast_enabled():
            return self.skip("already")
        self.made(type(module).__name__)

        def run(*args, **kwargs):
            with torch.autocast(kind, dtype=torch.bfloat16):
                return call(*args, **kwargs)

        return run


class Compile(Change):
    name = "compile"
    mode = "default"
    is_dynamic = False  # shapes are symbols from the first call on

    def before_call(self, module, call):
        if not hasattr(torch, "compile"):
            return self.skip("no_compile")
        if compiling.is_compiled(module) or getattr(module, "_compiled_call_impl", None) is not None:
            return self.skip("already")
        settings.check_device({"torch_compile": self.mode}, torch, _device(module), [_device(module)])
        chosen = {"torch_compile": self.mode}
        if self.is_dynamic:
            chosen["compile_dynamic"] = True
        target = compiling.compiled(module, chosen)
        self.made(type(module).__name__)
        return target

    def effect(self):
        if self.count and not compiling.Counts().frames:
            self.refuse("no_frames")


class CompileWithGraphs(Compile):
    mode = "reduce-overhead"

    def before_call(self, module, call):
        target = super().before_call(module, call)
        if target is None:
            return None
        self._gpu = _device(module)
        # Outputs of the step before may be overwritten from here on.
        begin = getattr(torch.compiler, "cudagraph_mark_step_begin", lambda: None)

        def run(*args, **kwargs):
            begin()
            return target(*args, **kwargs)

        return run

    def effect(self):
        super().effect()
        if self.count and not self.reason and compiling.graphs_recorded(self._gpu) is False:
            self.refuse("no_graphs")


class Graph(Change):
    """Inference: a graph around the call, or, if that cannot be captured, those of torch.compile, which leaves out what cannot be. Training:
    torch.compile records the graphs of both passes."""

    name = "cuda_graph"

    def __init__(self):
        super().__init__()
        self._compiled = CompileWithGraphs()
        self._graphed = []

    def before_call(self, module, call):
        if _device(module).type != "cuda":
            return self.skip("no_gpu")
        if module.training or compiling.is_compiled(module):
            return self._compiled.before_call(module, call)
        graphed = Graphed(call, module)
        self._graphed.append(graphed)
        self.made(type(module).__name__)
        otherwise = None  # what is called if it cannot be captured

        def run(*args, **kwargs):
            nonlocal otherwise
            if otherwise is None:
                try:
                    return graphed(*args, **kwargs)
                except BadSettings as error:
                    otherwise = call if graphed.replays else self._compiled_instead(module, call)
                    if otherwise is call:
                        self.refuse("refused", error)
            return otherwise(*args, **kwargs)

        return run

    def _compiled_instead(self, module, call):
        try:
            return self._compiled.before_call(module, call) or call
        except BadSettings:
            return call

    def facts(self):
        if not self._compiled.tried() or any(one.replays for one in self._graphed):
            return super().facts()
        return dict(self._compiled.facts(), name=self.name)

    def effect(self):
        if self.count and not any(one.replays for one in self._graphed):
            self.refuse("no_graphs")


class Attention(Compile):
    """transformers has a switch for its models; Inductor replaces the pattern in others."""

    name = "sdpa"

    def __init__(self):
        super().__init__()
        self._switched = False

    def before_call(self, module, call):
        now = getattr(getattr(module, "config", None), "_attn_implementation", None)
        if now in (None, "sdpa"):
            return super().before_call(module, call)
        if hasattr(module, "set_attn_implementation"):
            module.set_attn_implementation("sdpa")
        else:
            for one in module.modules():
                if hasattr(getattr(one, "config", None), "_attn_implementation"):
                    one.config._attn_implementation = "sdpa"
        self._switched = True
        self.made(type(module).__name__)

    def effect(self):
        if not self._switched:
            super().effect()


class ChannelsLast(Change):
    name = "channels_last"

    def before_call(self, module, call):
        if not any(one.dim() == 4 for one in module.parameters()):
            return self.skip("no_convolution")
        module.to(memory_format=torch.channels_last)
        self.made(type(module).__name__)

        def last(tensor):
            return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor

        return lambda *args, **kwargs: call(*tensors.mapped(args, last), **tensors.mapped(kwargs, last))


class Loader(Change):
    """Arguments of DataLoader that the program leaves out."""

    without = "no_loader"

    def install(self):
        from torch.utils.data import DataLoader

        original = DataLoader.__init__
        signature = inspect.signature(original)

        @functools.wraps(original)
        def make(loader, *args, **kwargs):
            chosen = {}
            try:
                chosen = self._chosen(signature.bind(loader, *args, **kwargs).arguments)
            except TypeError:
                pass  # its own complaint follows
            if chosen:
                self.made("DataLoader")
            original(loader, *args, **dict(kwargs, **chosen))

        DataLoader.__init__ = make

    def _chosen(self, given):
        """What is given in addition."""
        raise NotImplementedError


class PinMemory(Loader):
    name = "pin_memory"

    def _chosen(self, given):
        if not torch.cuda.is_available():
            self.skip("no_gpu")
        elif "pin_memory" in given:
            self.skip("given")
        else:
            return {"pin_memory": True}
        return {}


class Workers(Loader):
    name = "loader_workers"

    def _chosen(self, given):
        from torch.utils.data import IterableDataset

        if "num_workers" in given:
            self.skip("given")
            return {}
        if isinstance(given.get("dataset"), IterableDataset):  # each worker would give all of it
            self.skip("iterable")
            return {}
        chosen = {"num_workers": max(1, min(MOST_WORKERS, len(os.sched_getaffinity(0)) - 1))}
        if "persistent_workers" not in given:
            chosen["persistent_workers"] = True
        if "pin_memory" not in given and torch.cuda.is_available():
            chosen["pin_memory"] = True
        return chosen


class FusedOptimizer(Change):
    """`form`: "fused" or "foreach"; "" takes the fused one where there is one."""

    name = "fused_optimizer"
    without = "no_optimizer"

    def __init__(self, form=""):
        super().__init__()
        self._form = form
        self._seen = []

    def before_step(self, optimizer):
        if any(one is optimizer for one in self._seen):
            return
        self._seen.append(optimizer)
        for group in optimizer.param_groups:
            self._change(optimizer, group)

    def _change(self, optimizer, group):
        if group.get("fused") or (group.get("foreach") and self._form != "fused"):
            self.skip("already")
        elif self._form != "foreach" and "fused" in group and self._can_fuse(group["params"]):
            if group.get("foreach"):
                group["foreach"] = False
            group["fused"] = True
            for one in group["params"]:  # of an optimizer that has stepped before
                step = optimizer.state[one].get("step") if one in optimizer.state else None
                if isinstance(step, torch.Tensor):
                    optimizer.state[one]["step"] = step.to(device=one.device, dtype=torch.float32)
            self.made(type(optimizer).__name__)
        elif self._form != "fused" and "foreach" in group:
            if group["foreach"] is None and self._is_foreach_by_default(group["params"]):
                return self.skip("already")
            group["foreach"] = True
            self.made(type(optimizer).__name__)
        else:
            self.skip({"": "no_fused", "fused": "no_fused_here", "foreach": "no_foreach"}[self._form])

    @staticmethod
    def _is_foreach_by_default(parameters):
        """torch 2.0 and later, on a GPU."""
        try:
            from torch.optim.optimizer import _default_to_fused_or_foreach as default
        except ImportError:
            return False
        try:
            return bool(default(parameters, False)[1])
        except Exception:  # private: another torch may have other arguments
            return False

    @staticmethod
    def _can_fuse(parameters):
        try:
            from torch.utils._foreach_utils import _get_fused_kernels_supported_devices as supported

            kinds = supported()
        except ImportError:
            kinds = ("cuda",)
        return all(one.device.type in kinds and one.is_floating_point() for one in parameters)


CHANGES = {kind.name: kind for kind in (Tf32, Autocast, Compile, Graph, Attention, ChannelsLast, PinMemory, Workers, FusedOptimizer)}
