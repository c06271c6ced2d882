# SPDX-License-Identifier: Apache-2.0
"""What the user's model is, before any setting."""

import gc
import hashlib
import platform

import torch

from ridgeline_worker.failures import type_name

from . import proof, tensors
from .attempt import OUT_OF_MEMORY
from .made import make
from .messages import message
from .trial import output_tensors, synchronizer

SEED = 1
MOST_NAMED = 5  # parts of the model in a note
CHANCES = ("p", "dropout", "drop_prob")  # of dropout, recurrent and attention layers, stochastic depth
TREND_CALLS = 8  # of which chance puts hardly ever each above the one before


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _device_name(device):
    return torch.cuda.get_device_name(device) if device.type == "cuda" else _processor() if device.type == "cpu" else device.type


def _asks_for_its_mode(part):
    """Whether it computes something else while it is trained: its forward asks, and its probability, if it has one, is not 0."""
    forward = getattr(type(part).forward, "__code__", None)
    chances = [getattr(part, name) for name in CHANCES if isinstance(getattr(part, name, None), (int, float))]
    return forward is not None and "training" in forward.co_names and (not chances or any(chances))


def _mode_notes(made):
    if made.module is None:
        return []
    asking = [(name, part) for name, part in made.module.named_modules() if _asks_for_its_mode(part)]
    training = ["%s (%s)" % (name or "itself", type(part).__name__) for name, part in asking if part.training]
    if not training:
        return []
    if made.module.training and len(training) == len(asking):
        return [message("training_mode")]
    named = training[:MOST_NAMED] + (["..."] if len(training) > MOST_NAMED else [])
    return [message("parts_in_training_mode", parts=len(training), names=named)]


def _device_notes(made, device):
    others = sorted(str(one) for one in made.devices() if one != device)
    if not others:
        return []
    return [message("several_devices", device=str(device), others=others)]


def _needs_gradients(made):
    """Whether calls fail without gradients only; a failure with them is the model's own."""
    args, kwargs = made.sets[0]
    try:
        with torch.no_grad():
            made.model(*args, **kwargs)
        return False
    except OUT_OF_MEMORY:
        raise
    except Exception:
        made.model(*args, **kwargs)
        return True


def _called(made, wait, seed, gradients):
    args, kwargs = made.sets[0]
    torch.manual_seed(seed)
    with torch.set_grad_enabled(gradients):
        returned = made.model(*args, **kwargs)
    if wait is not None:
        wait()
    output_tensors(returned)
    return tensors.kept(returned)


def _size_and_mean(named):
    values = [tensors.plain(one) for _, one in named]
    values = [(one.real if one.is_complex() else one).double() for one in values]
    return sum(one.numel() for one in values), sum(float(one.mean()) for one in values if one.numel())


def _trend(seen):
    """How the outputs of calls with one seed change in one direction, as state does; None where they do not."""
    for name, values in zip(("size", "mean"), zip(*seen)):
        steps = [after - before for before, after in zip(values, values[1:])]
        if all(step > 0 for step in steps) or all(step < 0 for step in steps):
            return message("keeps_state", size=name == "size", first=float(values[0]), last=float(values[-1]), calls=len(values))
    return None


def _differing_note(call, first):
    """Describes outputs that differ under two seeds; call: outputs under the first seed again."""
    again = tensors.difference(first, call())
    if again is None:
        return message("random_by_seed")
    trend = _trend([_size_and_mean(tensors.leaves(call())) for _ in range(TREND_CALLS)])
    return trend or message("random", gap=float(again))


def _call_notes(made, device):
    """Of a first call, which may be unlike all others, and two under different seeds; another where these differ. With
    the outputs of one."""
    wait = synchronizer(device)
    before = tensors.kept(made.sets[0])
    gradients = _needs_gradients(made)
    notes = [message("computes_gradients")] if gradients else []
    first = _called(made, wait, SEED, gradients)
    changes = tensors.difference(before, made.sets[0]) is not None
    if changes:
        notes.append(message("changes_inputs"))
    second = _called(made, wait, SEED + 1, gradients)
    gap = tensors.difference(first, second)
    if gap is not None and not changes:
        notes.append(_differing_note(lambda: _called(made, wait, SEED, gradients), first))
    return notes, tensors.facts(output_tensors(first))


def _parameter_types(parameters):
    counts = {}
    for one in parameters:
        name = tensors.element_type(one.dtype)
        counts[name] = counts.get(name, 0) + one.numel()
    return counts


def _first_dtype(made):
    for tensor in made.parameters() + [tensor for one in made.inputs() for _, tensor in one]:
        if tensor.is_floating_point():
            return tensor.dtype
    return made.first().dtype


def describe(function, target, path):
    torch.manual_seed(SEED)
    made = make(function, target)
    device = made.device()
    digest = ""
    if path:
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
    parameters = made.parameters()
    answer = {
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "cuda": getattr(torch.version, "cuda", None) or "",
        "device": str(device),
        "device_name": _device_name(device),
        "dtype": str(_first_dtype(made)).replace("torch.", ""),
        "source_sha256": digest,
        "model_class": type_name(type(made.model)),
        "training": bool(made.module is not None and made.module.training),
        "parameters": sum(one.numel() for one in parameters),
        "parameter_bytes": sum(one.numel() * one.element_size() for one in parameters),
        "parameter_types": _parameter_types(parameters),
        "sets": [tensors.facts(one) for one in made.inputs()],
        "four_dimensional": bool(proof.four_dimensional(made)),
        "has_metric": made.metric is not None,
        "form": made.returned_as,
        "notes": _mode_notes(made) + _device_notes(made, device),
    }
    notes, answer["outputs"] = _call_notes(made, device)
    answer["notes"] += notes
    del made
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return answer
