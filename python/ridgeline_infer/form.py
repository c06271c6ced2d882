# SPDX-License-Identifier: Apache-2.0
"""In which of the allowed forms a function returned its model and inputs: code that calls it has to take them apart."""

from collections.abc import Mapping

import torch


def _of_set(value):
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, Mapping):
        return "dict"
    return "tensors" if all(isinstance(one, torch.Tensor) for one in value) else "tuple"


def of(returned, inputs):
    """returned: "pair", "triple" or "dict"; inputs: what each input set is, "tensor", "tensors" (a tuple of nothing else),
    "tuple", "dict", or "mixed" where the sets differ; several: whether they are a list."""
    several = isinstance(inputs, list)
    forms = {_of_set(one) for one in (inputs if several else [inputs])}
    return {"returned": "dict" if isinstance(returned, Mapping) else {2: "pair", 3: "triple"}[len(returned)],
            "inputs": forms.pop() if len(forms) == 1 else "mixed", "several": several}
