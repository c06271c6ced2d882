# SPDX-License-Identifier: Apache-2.0
"""torch.compile: how the model is compiled, and what Dynamo and Inductor counted meanwhile. Torch 2.0 and later; every
reader of private counters bears that they are absent."""

import collections
import os
import sys

import torch

from ridgeline_worker.failures import BadSettings

REASONS = 3
LETTERS = 300


def is_compiled(model):
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        return True
    frame = sys.modules.get("torch._dynamo.eval_frame")
    kind = getattr(frame, "OptimizedModule", None)
    return isinstance(kind, type) and isinstance(model, kind)


def _mode(chosen):
    mode = chosen["torch_compile"]
    if mode != "max-autotune" or not chosen.get("cuda_graph"):
        return mode
    import torch._inductor

    plain = "max-autotune-no-cudagraphs"  # 2.1 and later
    if plain not in torch._inductor.list_mode_options():
        raise BadSettings("torch %s has no %s; expected that for cuda_graph around max-autotune" % (torch.__version__, plain))
    return plain


def compiled(model, chosen):
    import torch._dynamo
    import torch._inductor.config as config

    torch._dynamo.config.suppress_errors = False  # else a failure runs eager and is measured as compiled
    if "compile_freezing" in chosen:
        if hasattr(config, "freezing"):
            config.freezing = chosen["compile_freezing"]
        elif chosen["compile_freezing"]:
            raise BadSettings("torch %s has no freezing" % torch.__version__)
    arguments = {"mode": _mode(chosen)}
    if chosen.get("compile_fullgraph"):
        arguments["fullgraph"] = True
    if "compile_dynamic" in chosen:
        arguments["dynamic"] = chosen["compile_dynamic"]
    try:
        return torch.compile(model, **arguments)
    except RuntimeError as error:  # this Python is newer than this torch knows
        raise BadSettings("torch.compile: %s" % str(error).splitlines()[0]) from error


def graph_break_kind():
    """What a graph break raises under fullgraph."""
    module = sys.modules.get("torch._dynamo.exc")
    kind = getattr(module, "Unsupported", None)
    return kind if isinstance(kind, type) else ()


def forget():
    """Counts from here on."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is None:
        return
    dynamo.reset()
    for name in ("counters", "guard_failures"):
        holder = getattr(dynamo.utils, name, None)
        if hasattr(holder, "clear"):
            holder.clear()
    if hasattr(dynamo.utils, "clear_compilation_metrics"):
        dynamo.utils.clear_compilation_metrics()


def cache_is_empty():
    """Whether nothing was compiled into the folder that TORCHINDUCTOR_CACHE_DIR names. Kernels count that no counter tells
    of: with those of another setting compiling takes a fraction of the time."""
    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if not folder:
        return False
    return not any(files for _, _, files in os.walk(folder))


def cache_hits():
    """Graphs that came from a cache since forget()."""
    counters = getattr(getattr(sys.modules.get("torch._dynamo"), "utils", None), "counters", {})
    return max(int(counters.get(place, {}).get(name, 0))
               for place, name in (("inductor", "fxgraph_cache_hit"), ("aot_autograd", "autograd_cache_hit")))


def _recompiled():
    """Recompilations of each frame, by its number."""
    utils = sys.modules["torch._dynamo"].utils
    found = collections.Counter()
    if hasattr(utils, "get_compilation_metrics"):  # 2.4 and later, the last 64
        for one in utils.get_compilation_metrics():
            frame, _, attempt = str(getattr(one, "compile_id", "") or "").strip("[]").rpartition("/")
            attempt = attempt.partition("_")[0]
            if frame and attempt.isdigit() and int(attempt) and getattr(one, "fail_type", None) is None:
                found[frame] += 1
    else:
        for code, reasons in dict(getattr(utils, "guard_failures", {})).items():
            found[code] = len(reasons)
    return found


def _limit():
    config = sys.modules["torch._dynamo"].config
    for name in ("recompile_limit", "cache_size_limit"):  # 2.7 and later; before
        value = getattr(config, name, None)
        if isinstance(value, int):
            return value
    return 8


def _printable(text):
    first = " ".join(str(text).split())
    return "".join(letter if letter.isprintable() else " " for letter in first)[:LETTERS]


class Counts:
    """What was compiled since forget()."""

    def __init__(self):
        self.frames = self.breaks = self.recompiles = self.skipped_graphs = 0
        self.reasons = []
        self.gave_up = 0  # recompilations after which a frame runs eager
        dynamo = sys.modules.get("torch._dynamo")
        counters = getattr(getattr(dynamo, "utils", None), "counters", None)
        if counters is None:
            return
        frames = dict(counters.get("frames", {}))
        if counters.get("stats", {}).get("unique_graphs", 0):
            self.frames = int(frames.get("ok", 0))
        breaks = dict(counters.get("graph_break", {}))
        self.breaks = int(sum(breaks.values()))
        self.reasons = [_printable(reason) for reason in list(breaks)[:REASONS]]
        self.skipped_graphs = int(counters.get("inductor", {}).get("cudagraph_skips", 0))
        recompiled = _recompiled()
        self.recompiles = sum(recompiled.values())
        most = max(recompiled.values(), default=0)
        if most + 1 >= _limit() and frames.get("total", 0) > frames.get("ok", 0):
            self.gave_up = most


def graphs_recorded(device):
    """Whether Inductor's CUDA graphs were recorded; None where this torch does not say."""
    trees = sys.modules.get("torch._inductor.cudagraph_trees")
    try:
        manager = trees.get_manager(device.index or 0, create_if_none_exists=False)
        return manager is not None and any(manager.roots.values())
    except Exception:  # private, and not in 2.0
        return None
