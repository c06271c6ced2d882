# SPDX-License-Identifier: Apache-2.0
import torch


def default_collate(samples):
    first = samples[0]
    if isinstance(first, torch.Tensor):
        if any(one.shape != first.shape for one in samples):
            raise RuntimeError("stack expects each tensor to be equal size")
        return torch.Tensor(shape=(len(samples),) + tuple(first.shape))
    if isinstance(first, (int, float)):
        return torch.Tensor(shape=(len(samples),))
    if isinstance(first, dict):
        return {key: default_collate([one[key] for one in samples]) for key in first}
    if isinstance(first, (list, tuple)):
        return [default_collate(list(members)) for members in zip(*samples)]
    raise TypeError("default_collate: found %s" % type(first))
