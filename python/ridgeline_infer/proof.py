# SPDX-License-Identifier: Apache-2.0
"""What was seen to be in effect: a setting that was asked for and not taken over must not stand in a result."""

import sys

import torch

from . import attention as sdpa
from . import compiling, modes, settings


def four_dimensional(made):
    every = made.parameters() + [tensor for one in made.inputs() for _, tensor in one]
    return [tensor for tensor in every if tensor.dim() == 4]


def _precision(trial):
    if trial.autocast_precision() is None:
        floats = [one.dtype for one in trial.made.parameters() if one.is_floating_point()]
        names = {torch.float16: "fp16", torch.bfloat16: "bf16"}
        seen = {names.get(dtype, str(dtype).replace("torch.", "")) for dtype in floats}
        return seen.pop() if len(seen) == 1 else "mixed"
    with modes.autocast(trial.autocast_precision(), trial.device, True):
        return trial.autocast_precision() if modes.autocast_enabled(trial.device) else "off"


def _grad_mode(trial):
    with trial.modes():
        return modes.current_grad_mode()


def _tf32(_):
    state = settings.tf32(torch)
    return None if state is None or state[0] != state[1] else state[0]


def _any_tf32(trial):
    """Whether FP32 kernels of the model may use TF32; None off the GPU and where it cannot be told."""
    state = settings.tf32(torch) if trial.device.type == "cuda" else None
    return None if state is None else state[0] or state[1]


def _reference(trial):
    return settings.tf32(torch) == (False, False) and not torch.backends.cudnn.benchmark


def _channels_last(trial):
    tensors = four_dimensional(trial.made)
    return bool(tensors) and all(tensor.is_contiguous(memory_format=torch.channels_last) for tensor in tensors)


def _freezing(trial):
    config = sys.modules.get("torch._inductor.config")
    return bool(getattr(config, "freezing", False))


def _torchscript(trial):
    return trial.chosen["torchscript"] if compiling.is_compiled(trial.model) else "eager"


# Those that cannot be read are what torch.compile was given.
READERS = {
    "reference": _reference,
    "grad_mode": _grad_mode,
    "allow_tf32": _tf32,
    "cudnn_benchmark": lambda _: bool(torch.backends.cudnn.benchmark),
    "channels_last": _channels_last,
    "compile_freezing": _freezing,
    "cuda_graph": lambda trial: bool(trial.graphs),
    "torch_threads": lambda _: torch.get_num_threads(),
    "batch_size": lambda trial: trial.made.rows(),
    "torch_precision": _precision,
    "torchscript": _torchscript,
}


def _attention(trial):
    """The one attention kernel of an eager call, "" where there is none, several or it cannot be told."""
    try:
        if trial.attention is None:
            trial.attention = sdpa.kernels(trial.eager_call)
    except Exception:  # the trial stands without this
        pass
    return trial.attention[0] if trial.attention and len(trial.attention) == 1 else ""


def _compile_problems(trial, counts, recorded):
    problems = []
    if "torch_compile" in trial.chosen:
        if not counts.frames:
            problems.append("ran eager: no frame was compiled")
        if counts.gave_up:
            problems.append("fell back to eager after %d recompilations" % counts.gave_up)
        if counts.frames > trial.frames_ready:
            problems.append("compiled again after the warm-up, %d times: some calls contain a compilation"
                            % (counts.frames - trial.frames_ready))
        if _wants_trees(trial):
            if counts.skipped_graphs:
                problems.append("ran without CUDA graphs: torch.compile skipped them %d times" % counts.skipped_graphs)
            elif not recorded:
                problems.append("ran without CUDA graphs: torch.compile recorded none")
    return problems


def _wants_trees(trial):
    return (trial.chosen.get("torch_compile") in ("reduce-overhead", "max-autotune") and trial.device.type == "cuda"
            and not trial.chosen.get("cuda_graph"))


def _tree_recorded(trial, counts):
    if not _wants_trees(trial):
        return False
    recorded = compiling.graphs_recorded(trial.device)
    return counts.frames > 0 and not counts.skipped_graphs if recorded is None else recorded


def of(trial):
    counts = compiling.Counts()
    peak = torch.cuda.max_memory_reserved(trial.device) if trial.device.type == "cuda" else None
    recorded = _tree_recorded(trial, counts)
    problems = _compile_problems(trial, counts, recorded)
    seen = {}
    for key, value in trial.chosen.items():
        seen[key] = READERS[key](trial) if key in READERS else value
    if "torch_compile" in seen and not counts.frames:
        seen["torch_compile"] = "eager"
    attention = _attention(trial)
    if "sdpa_backend" in seen and trial.attention is not None:
        seen["sdpa_backend"] = attention
    for key, value in seen.items():
        if value != trial.chosen[key] and key != "torch_compile":
            problems.append("%s was set to %s and is %s" % (key, trial.chosen[key], value if value not in (None, "") else "unknown"))
    return {"settings": seen, "compiled_frames": counts.frames, "graph_breaks": counts.breaks, "break_reasons": counts.reasons,
            "recompiles": counts.recompiles, "graph_captured": bool(trial.graphs) or recorded, "sdpa": attention,
            "tf32": _any_tf32(trial), "peak_gpu_bytes": peak, "problems": problems}
