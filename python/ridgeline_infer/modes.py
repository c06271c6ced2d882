# SPDX-License-Identifier: Apache-2.0
"""What is entered around calls: the grad mode, the attention kernels and autocast."""

import contextlib

import torch

from ridgeline_worker.failures import BadSettings

DTYPES = {"autocast_fp16": torch.float16, "autocast_bf16": torch.bfloat16, "fp16": torch.float16, "bf16": torch.bfloat16}
BACKENDS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH", "cudnn": "CUDNN_ATTENTION"}


def grad(mode):
    if mode == "no_grad":
        return torch.no_grad()
    if mode == "inference_mode":
        return torch.inference_mode()
    return contextlib.nullcontext()


def current_grad_mode():
    if torch.is_inference_mode_enabled():
        return "inference_mode"
    return "grad" if torch.is_grad_enabled() else "no_grad"


def sdpa(backend):
    """Only this backend of scaled_dot_product_attention."""
    if backend is None:
        return contextlib.nullcontext()
    attention = None
    try:
        import torch.nn.attention as attention  # 2.3 and later
    except ImportError:
        pass
    if hasattr(attention, "sdpa_kernel"):
        kind = getattr(attention.SDPBackend, BACKENDS[backend], None)
        if kind is not None:
            return attention.sdpa_kernel([kind])
    elif backend != "cudnn" and hasattr(torch.nn.functional, "scaled_dot_product_attention"):  # 2.0 and later
        return torch.backends.cuda.sdp_kernel(enable_flash=backend == "flash", enable_math=backend == "math",
                                              enable_mem_efficient=backend == "efficient")
    raise BadSettings("torch %s cannot choose the sdpa backend %s" % (torch.__version__, backend))


def autocast(precision, device, cache):
    return torch.autocast(device_type=device.type, dtype=DTYPES[precision], cache_enabled=cache)


def autocast_enabled(device):
    try:
        return torch.is_autocast_enabled(device.type)  # 2.4 and later
    except TypeError:
        return torch.is_autocast_cpu_enabled() if device.type == "cpu" else torch.is_autocast_enabled()
