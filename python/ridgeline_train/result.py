# SPDX-License-Identifier: Apache-2.0
"""What the user's function returned, checked before anything is trained with it."""

import collections.abc
import difflib
import inspect

from ridgeline_worker import phase
from ridgeline_worker.failures import UserError

from . import lightning
from .messages import message

LOADING = ("collate_fn", "sampler", "worker_init_fn", "prefetch_factor", "persistent_workers", "shuffle")
KEYS = ("model", "optimizer", "dataset", "loader", "loss", "forward", "samples") + LOADING
ORDER = ("model", "optimizer", "loss", "dataset")  # of a tuple
EXPECTED = "expected a dict with model, optimizer, loss (or forward) and dataset (or loader)"
OWN_LOSS = ("a model that computes its loss itself: forward=lambda model, batch: model(**batch).loss")

DECIDED = ("batch_size", "batch", "num_workers", "workers", "pin_memory", "drop_last", "amp", "use_amp", "precision", "device")
NOT_TAKEN = ("scheduler", "schedulers", "lr_scheduler", "lr_schedulers", "warmup", "scaler", "grad_scaler", "accumulation",
             "accumulation_steps", "accumulate", "accumulate_grad_batches", "grad_accumulation", "gradient_accumulation",
             "gradient_accumulation_steps", "clip_grad_norm", "max_grad_norm", "grad_clip", "gradient_clip", "gradient_clip_val",
             "epochs", "num_epochs", "max_epochs", "max_steps", "devices", "gpus", "num_gpus", "num_nodes", "strategy", "callbacks",
             "logger", "metrics", "metric", "ema", "generator", "timeout", "multiprocessing_context", "batch_sampler", "seed", "lr",
             "learning_rate", "weight_decay", "config", "name", "compile", "val_dataset", "val_loader", "valid_dataset", "valid_loader",
             "validation_dataset", "eval_dataset", "eval_loader", "test_dataset", "test_loader")
MEANT = {"criterion": "loss", "loss_fn": "loss", "loss_function": "loss", "train_loader": "loader", "train_dataloader": "loader",
         "dataloader": "loader", "data_loader": "loader", "train_dataset": "dataset", "train_set": "dataset", "data": "dataset",
         "net": "model", "network": "model", "optim": "optimizer", "opt": "optimizer", "training_step": "forward", "step": "forward",
         "collate": "collate_fn"}


class Made(dict):
    """What there is of KEYS, without None; `notes`: what of it is not taken as it is, by codes."""

    def __init__(self, found, notes):
        super().__init__(found)
        self.notes = notes


def shown(value):
    """A value in a message."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return "the class %s" % value.__name__
    if isinstance(value, collections.abc.Mapping):
        return "a dict with %s" % listed(value) if value else "an empty dict"
    if type(value) in (list, tuple):
        return "a %s of %s" % (type(value).__name__, listed(type(one).__name__ for one in value))
    name = type(value).__name__
    text = repr(value) if isinstance(value, (bool, int, float, str)) else ""
    return "%s (%s)" % (text, name) if 0 < len(text) <= 40 else "a value of type %s" % name


def first_of(names, most=8):
    names = [str(name) for name in names]
    return names[:most] + (["..."] if len(names) > most else [])


def listed(names):
    return ", ".join(first_of(names)) or "nothing"


def _nearest(name, known):
    near = difflib.get_close_matches(str(name), known, 1, 0.6)
    return near[0] if near else None


def _of_dict(made, target, notes):
    decided, unused, found = [], [], {}
    for key, value in made.items():
        if key in KEYS:
            if value is not None:
                found[key] = value
        elif key in DECIDED:
            decided.append(key)
        elif key in NOT_TAKEN:
            unused.append(key)
        else:
            near = MEANT.get(key) or _nearest(key, KEYS)
            raise UserError("%s returned a dict with the unknown key %r%s; known are %s"
                            % (target, key, ", did you mean %r?" % near if near else "", ", ".join(KEYS)))
    if unused:
        notes["not_taken"] = message("not_taken", target=target, options=first_of(unused))
    if decided:
        notes["decided"] = message("decided", target=target, options=first_of(decided))
    return found


def _of_object(made, target):
    found = {key: getattr(made, key) for key in KEYS if getattr(made, key, None) is not None}
    # Objects may have more than that; a name that is nearly one is a typo where the very one is missing.
    for name in getattr(made, "__dict__", {}):
        near = MEANT.get(name) or _nearest(name, KEYS)
        if found and near and near not in found and name not in KEYS and not name.startswith("_"):
            missing = near in ("loader", "dataset") and "loader" not in found and "dataset" not in found
            if missing or near in ("model", "optimizer"):
                raise UserError("%s returned %s with %r, did you mean %r?" % (target, shown(made), name, near))
    return found


def _of_tuple(made, target):
    if len(made) == len(ORDER) and hasattr(made[0], "parameters") and callable(made[2]):
        found = dict(zip(ORDER, made))
        if hasattr(made[3], "num_workers"):  # a DataLoader
            found["loader"] = found.pop("dataset")
        return found
    if len(made) == 2 and lightning.is_module(made[0]):
        return {"model": made[0], "dataset": made[1]}
    raise UserError("%s returned %s; expected (%s) in this order, or a dict with these keys" % (target, shown(made), ", ".join(ORDER)))


def _called(function, settings, target):
    phase.enter(target)
    try:
        inspect.signature(function).bind(settings)
    except TypeError as error:
        try:
            inspect.signature(function).bind()
        except TypeError:
            raise UserError("%s cannot be called with the settings alone (%s); expected %s(settings)"
                            % (target, error, target.rpartition(":")[2])) from None
        return function()
    except ValueError:  # of a callable that has no signature
        pass
    return function(settings)


def _checked_types(found, target):
    for key in ("loss", "forward", "samples", "collate_fn"):
        value = found.get(key)
        if value is None or (callable(value) and not isinstance(value, type)):
            continue
        if isinstance(value, type):
            raise UserError("%s returned %s = %s; expected an instance: %s()" % (target, key, shown(value), value.__name__))
        expected = {"loss": "a function loss(output, target)", "forward": "a function forward(model, batch)",
                    "samples": "a function samples(batch)", "collate_fn": "a function of a list of samples"}[key]
        raise UserError("%s returned %s = %s; expected %s" % (target, key, shown(value), expected))
    model = found.get("model")
    if isinstance(model, type):
        raise UserError("%s returned model = %s; expected an instance: %s()" % (target, shown(model), model.__name__))
    if model is not None and not (callable(model) and hasattr(model, "to") and hasattr(model, "train")):
        raise UserError("%s returned model = %s; expected one torch.nn.Module" % (target, shown(model)))


def made_by(function, settings, target, needs_model=True):
    notes = {}
    made = _called(function, settings, target)
    if hasattr(made, "__next__"):  # a generator: its first value
        made = next(made, None)
    if isinstance(made, collections.abc.Mapping):
        found = _of_dict(made, target, notes)
    elif lightning.is_module(made):
        found = {"model": made}
    elif isinstance(made, (tuple, list)) and not hasattr(made, "_fields"):
        found = _of_tuple(made, target)
    else:
        found = _of_object(made, target)
        if not found:
            raise UserError("%s returned %s; %s" % (target, shown(made), EXPECTED))
    lightning.complete(found, target, notes)

    def refuse(lacking):
        raise UserError("%s returned %s with %s; %s" % (target, "a dict" if isinstance(made, collections.abc.Mapping) else shown(made), lacking, EXPECTED))

    if "loader" not in found and "dataset" not in found:
        refuse("neither a loader nor a dataset")
    _checked_types(found, target)
    if needs_model:
        for key in ("model", "optimizer"):
            if key not in found:
                refuse("no %s" % key)
        if "loss" not in found and "forward" not in found:
            refuse("neither a loss nor a forward (%s)" % OWN_LOSS)
    if "loader" in found:
        unused = [key for key in ("dataset",) + LOADING if key in found]
        if unused:
            notes["beside_loader"] = message("beside_loader", target=target, options=first_of(unused))
    return Made(found, notes)
