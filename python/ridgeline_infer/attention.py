# SPDX-License-Identifier: Apache-2.0
"""Which implementations of scaled_dot_product_attention a call runs."""

import torch

CHOICES = ("math", "flash", "efficient", "cudnn")  # torch.nn.attention.SDPBackend, by its numbers
# Kernels as the profiler names them.
KERNELS = (("_flash_attention", "flash"), ("_efficient_attention", "efficient"), ("_cudnn_attention", "cudnn"),
           ("_attention_math", "math"))
ATTENTION = "aten::_scaled_dot_product"
# These choose for themselves, out of sight.
NATIVE = ("_native_multi_head_attention", "_transformer_encoder_layer_fwd")


def kernels(call):
    """Their names, while one call is made; None where this torch does not tell."""
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):  # 2.0 and later
        call()
        return None
    chosen = getattr(torch, "_fused_sdp_choice", None)  # what scaled_dot_product_attention itself asks
    if chosen is None:
        return _seen_by_profiler(call)
    from torch.overrides import TorchFunctionMode

    found, native = set(), []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            name = getattr(function, "__name__", "")
            if name == "scaled_dot_product_attention":
                number = chosen(*args, **(kwargs or {}))
                found.add(CHOICES[number] if 0 <= number < len(CHOICES) else "other")
            elif name in NATIVE:
                native.append(name)
            return function(*args, **(kwargs or {}))

    with Watch():
        call()
    return _seen_by_profiler(call) if native else [name for name in (*CHOICES, "other") if name in found]


def _seen_by_profiler(call):
    """Starting the profiler takes seconds where there is a GPU. None where it does not work."""
    from torch.profiler import ProfilerActivity, profile

    try:
        profiler = profile(activities=[ProfilerActivity.CPU])
        profiler.__enter__()
    except Exception:  # built without it
        call()
        return None
    try:
        call()
    finally:
        profiler.__exit__(None, None, None)
    names = {event.key for event in profiler.key_averages() if event.key.startswith(ATTENTION)}
    return [backend for part, backend in KERNELS if any(part in name for name in names)]
