# SPDX-License-Identifier: Apache-2.0
"""As much of torch 2's Dynamo as ridgeline_infer touches, for a torch that has none: install() puts it there. "Compiling"
runs the model as it is and counts."""

import collections
import sys
import types

import torch


class Unsupported(RuntimeError):
    pass


class OptimizedModule(torch.nn.Module):
    def __init__(self, model, arguments):
        super().__init__()
        self.model = model
        self.arguments = arguments
        self.shapes = set()

    def forward(self, *args, **kwargs):
        utils = sys.modules["torch._dynamo.utils"]
        shape = tuple(one.shape for one in args)
        if shape not in self.shapes and not getattr(self.model, "never_compiles", False):
            if getattr(self.model, "breaks", False):
                if self.arguments.get("fullgraph"):
                    raise Unsupported("call of print\n\nmore lines")
                utils.counters["graph_break"]["call of print"] += 1
            utils.counters["frames"]["total"] += 1
            if len(self.shapes) < sys.modules["torch._dynamo.config"].recompile_limit:
                utils.counters["frames"]["ok"] += 1
                utils.counters["stats"]["unique_graphs"] += 1
                utils.metrics.append(types.SimpleNamespace(compile_id="0/%d" % len(self.shapes), fail_type=None))
            self.shapes.add(shape)
        return self.model(*args, **kwargs)


def install():
    def module(name, **contents):
        made = types.ModuleType(name)
        made.__dict__.update(contents)
        sys.modules[name] = made
        parent, _, last = name.rpartition(".")
        setattr(sys.modules[parent], last, made)
        return made

    calls = []

    def compile(model, **arguments):
        calls.append(arguments)
        return OptimizedModule(model, arguments)

    module("torch._dynamo", reset=lambda: None)
    metrics = []
    module("torch._dynamo.utils", counters=collections.defaultdict(collections.Counter), metrics=metrics,
           get_compilation_metrics=lambda: list(metrics), clear_compilation_metrics=metrics.clear)
    module("torch._dynamo.config", suppress_errors=True, recompile_limit=3)
    module("torch._dynamo.exc", Unsupported=Unsupported)
    module("torch._dynamo.eval_frame", OptimizedModule=OptimizedModule)
    module("torch._inductor", list_mode_options=lambda: {"default": {}, "max-autotune-no-cudagraphs": {}})
    module("torch._inductor.config", freezing=False)
    torch.compile = compile
    return calls
