# SPDX-License-Identifier: Apache-2.0
"""What the user's function returned, checked before anything is trained with it."""

import collections.abc
import difflib

from .failures import UserError

KEYS = ("model", "optimizer", "dataset", "loader", "loss", "forward", "samples")
EXPECTED = "expected a dict with model, optimizer, loss (or forward) and dataset (or loader)"


def _shown(value):
    if value is None:
        return "None"
    if isinstance(value, collections.abc.Mapping):
        return "a dict"
    name = type(value).__name__
    text = repr(value) if isinstance(value, (bool, int, float, str)) else ""
    return "%s (%s)" % (text, name) if 0 < len(text) <= 40 else "a value of type %s" % name


def _nearest(name, known):
    near = difflib.get_close_matches(str(name), known, 1, 0.6)
    return near[0] if near else None


def _of_dict(made, target):
    for key in made:
        if key not in KEYS:
            near = _nearest(key, KEYS)
            raise UserError("%s returned a dict with the unknown key %r%s; known are %s"
                            % (target, key, ", did you mean %r?" % near if near else "", ", ".join(KEYS)))
    return {key: value for key, value in made.items() if value is not None}


def _of_object(made, target):
    found = {key: getattr(made, key) for key in KEYS if getattr(made, key, None) is not None}
    # Objects may have more than that; a name that is nearly one is a typo where the very one is missing.
    for name in getattr(made, "__dict__", {}):
        near = _nearest(name, KEYS)
        if found and near and near not in found and name not in KEYS and not name.startswith("_"):
            missing = near in ("loader", "dataset") and "loader" not in found and "dataset" not in found
            if missing or near in ("model", "optimizer"):
                raise UserError("%s returned %s with %r, did you mean %r?" % (target, _shown(made), name, near))
    return found


def made_by(function, settings, target, needs_model=True):
    """What there is of KEYS, without None."""
    made = function(settings)
    if hasattr(made, "__next__"):  # a generator: its first value
        made = next(made, None)
    found = _of_dict(made, target) if isinstance(made, collections.abc.Mapping) else _of_object(made, target)
    if not found and not isinstance(made, collections.abc.Mapping):
        raise UserError("%s returned %s; %s" % (target, _shown(made), EXPECTED))

    def refuse(lacking):
        raise UserError("%s returned %s with %s; %s" % (target, _shown(made), lacking, EXPECTED))

    if "loader" not in found and "dataset" not in found:
        refuse("neither a loader nor a dataset")
    if "samples" in found and not callable(found["samples"]):
        raise UserError("%s returned samples = %s; expected a function samples(batch)" % (target, _shown(found["samples"])))
    if needs_model:
        for key in ("model", "optimizer"):
            if key not in found:
                refuse("no %s" % key)
        if "loss" not in found and "forward" not in found:
            refuse("neither a loss nor a forward")
    return found
