# SPDX-License-Identifier: Apache-2.0
"""Copies from pinned memory to a GPU that do not wait for it."""

import functools

import torch

from ridgeline_profile.verify.changes import Change


def _to_gpu(args, kwargs):
    """Whether the arguments of Tensor.to name a GPU and leave non_blocking to its default."""
    if "non_blocking" in kwargs or any(isinstance(one, bool) for one in args):
        return False
    target = args[0] if args else kwargs.get("device", kwargs.get("other"))
    if isinstance(target, torch.Tensor):
        return target.is_cuda
    if isinstance(target, int) and not isinstance(target, bool):
        return True
    return str(target).partition(":")[0] == "cuda"


class NonBlocking(Change):
    name = "non_blocking"
    without = "no_copy"

    def install(self):
        self._around("to", _to_gpu)
        self._around("cuda", lambda args, kwargs: "non_blocking" not in kwargs and len(args) < 2)

    def _around(self, name, applies):
        original = getattr(torch.Tensor, name)

        @functools.wraps(original)
        def copy(tensor, *args, **kwargs):
            if tensor.device.type == "cpu" and applies(args, kwargs) and tensor.is_pinned():
                self.made("Tensor." + name)
                kwargs["non_blocking"] = True
            return original(tensor, *args, **kwargs)

        setattr(torch.Tensor, name, copy)
