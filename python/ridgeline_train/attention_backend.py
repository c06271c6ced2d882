# SPDX-License-Identifier: Apache-2.0
"""One backend of scaled_dot_product_attention for the whole training."""

import torch

from ridgeline_profile.verify.changes import Change
from ridgeline_worker.failures import BadSettings

SWITCHES = {"flash": "enable_flash_sdp", "mem_efficient": "enable_mem_efficient_sdp", "math": "enable_math_sdp", "cudnn": "enable_cudnn_sdp"}
LOOKED_AT = 3  # calls of the model


def _counting():
    from torch.overrides import TorchFunctionMode

    class Counting(TorchFunctionMode):
        calls = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            if getattr(function, "__name__", "") == "scaled_dot_product_attention":
                self.calls += 1
            return function(*args, **(kwargs or {}))

    return Counting()


class AttentionBackend(Change):
    name = "sdpa_backend"

    def __init__(self, backend):
        super().__init__()
        if backend not in SWITCHES:
            raise BadSettings("sdpa_backend=%s: expected %s" % (backend, ", ".join(SWITCHES)))
        self._backend = backend
        self._seen = 0
        self._calls = 0

    def before_call(self, module, call):
        if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            return self.skip("no_sdpa")
        backends = torch.backends.cuda
        if not hasattr(backends, SWITCHES[self._backend]):
            raise BadSettings("torch %s has no backend %s of scaled_dot_product_attention" % (torch.__version__, self._backend))
        for name, switch in SWITCHES.items():
            if hasattr(backends, switch):
                getattr(backends, switch)(name == self._backend)
        self.made(type(module).__name__)

        def run(*args, **kwargs):
            if self._seen >= LOOKED_AT:
                return call(*args, **kwargs)
            self._seen += 1
            with _counting() as counting:
                returned = call(*args, **kwargs)
            self._calls += counting.calls
            return returned

        return run

    def effect(self):
        if not self.count:
            return
        if not self._calls:
            self.refuse("no_attention")
        else:
            is_on = {"flash": "flash_sdp_enabled", "mem_efficient": "mem_efficient_sdp_enabled", "math": "math_sdp_enabled", "cudnn": "cudnn_sdp_enabled"}
            others = [name for name in SWITCHES if name != self._backend and getattr(torch.backends.cuda, is_on[name], lambda: False)()]
            if others:
                self.refuse("set_back")
