# SPDX-License-Identifier: Apache-2.0
"""The settings of one trial: their values, what excludes what, and torch's global switches. An absent setting leaves torch's
or the user's own behaviour."""

import os

from ridgeline_worker.failures import BadSettings

from .messages import message

FLAG = (True, False)
VALUES = {
    "reference": FLAG,
    "grad_mode": ("no_grad", "inference_mode"),
    "allow_tf32": FLAG,
    "cudnn_benchmark": FLAG,
    "channels_last": FLAG,
    "torch_compile": ("default", "reduce-overhead", "max-autotune"),
    "compile_fullgraph": FLAG,
    "compile_dynamic": FLAG,
    "compile_freezing": FLAG,
    "cuda_graph": FLAG,
    "sdpa_backend": ("flash", "efficient", "math", "cudnn"),
    "torch_threads": int,
    "batch_size": int,
    "torch_precision": ("autocast_fp16", "autocast_bf16", "fp16", "bf16"),
    "torchscript": ("trace", "freeze"),
}
# The reference is eager and at full precision; what else it may have changes no number.
BESIDE_REFERENCE = ("reference", "grad_mode", "torch_threads")


def _check_value(key, value):
    allowed = VALUES.get(key)
    if allowed is None:
        raise BadSettings("unknown setting %r" % key)
    if allowed is int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BadSettings("%s is %r; expected a positive number" % (key, value))
    elif not any(value is one if isinstance(one, bool) else value == one for one in allowed):
        words = ", ".join(str(one).lower() if isinstance(one, bool) else one for one in allowed)
        raise BadSettings("%s is %r; expected one of %s" % (key, value, words))


def checked(given):
    """The settings, if they can stand beside each other on some machine."""
    for key, value in given.items():
        _check_value(key, value)
    compiled = "torch_compile" in given
    if given.get("reference"):
        for key, value in given.items():
            if key not in BESIDE_REFERENCE and value is not False:
                raise BadSettings("%s changes the reference; expected none beside it but grad_mode and torch_threads" % key)
    if not compiled:
        for key in ("compile_fullgraph", "compile_dynamic", "compile_freezing"):
            if given.get(key):
                raise BadSettings("%s is set without torch_compile" % key)
    if compiled and "torchscript" in given:
        raise BadSettings("torch_compile and torchscript exclude each other")
    if given.get("compile_freezing") and "grad_mode" not in given:
        raise BadSettings("compile_freezing needs grad_mode no_grad or inference_mode")
    if given.get("cuda_graph") and given.get("torch_compile") == "reduce-overhead":
        raise BadSettings("cuda_graph and torch_compile reduce-overhead exclude each other: both capture CUDA graphs")
    return dict(given)


def before_make(chosen):
    """What CUDA's libraries read when they start."""
    if chosen.get("reference"):
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def check_device(chosen, torch, device, devices):
    """Refuses what this torch or the model's device cannot do."""
    cuda = device.type == "cuda"
    for key in ("allow_tf32", "cudnn_benchmark", "cuda_graph"):
        if chosen.get(key) and not cuda:
            raise BadSettings("%s needs a CUDA device; the model is on %s" % (key, device))
    if chosen.get("allow_tf32") and torch.cuda.get_device_capability(device)[0] < 8:
        raise BadSettings("allow_tf32: %s has no TF32" % torch.cuda.get_device_name(device))
    if chosen.get("cuda_graph") and len(devices) > 1:
        raise BadSettings("cuda_graph needs the model and its inputs on one device; they are on %s"
                          % " and ".join(sorted(str(one) for one in devices)))
    compiling = chosen.get("torch_compile")
    if compiling and not hasattr(torch, "compile"):
        raise BadSettings("torch %s has no torch.compile; expected 2.0 or later" % torch.__version__)
    if compiling == "reduce-overhead" and not cuda:
        raise BadSettings("torch_compile reduce-overhead needs a CUDA device; the model is on %s" % device)
    if chosen.get("torch_precision", "").startswith("autocast") and device.type not in ("cuda", "cpu"):
        raise BadSettings("torch_precision %s is not known on %s" % (chosen["torch_precision"], device))


def tf32(torch):
    """Whether matrix products and convolutions use TF32, as (bool, bool); None where both of torch's interfaces are mixed."""
    try:
        return torch.get_float32_matmul_precision() != "highest", bool(torch.backends.cudnn.allow_tf32)
    except RuntimeError:  # torch 2.9 and later, after a use of fp32_precision
        return None


def set_tf32(torch, allowed):
    # The first call also mends a mixed state.
    torch.set_float32_matmul_precision("highest")
    if allowed:
        torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = allowed


def apply_global(chosen, torch, notes):
    """Torch's switches of the whole process. After make(), whose own choices they replace."""
    reference = bool(chosen.get("reference"))
    if tf32(torch) is None:
        notes.append(message("script_sets_precision"))
    if reference or "allow_tf32" in chosen:
        set_tf32(torch, bool(chosen.get("allow_tf32")))
    if reference:
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        torch.use_deterministic_algorithms(True, warn_only=True)
    elif "cudnn_benchmark" in chosen:
        torch.backends.cudnn.benchmark = chosen["cudnn_benchmark"]
    if "torch_threads" in chosen:
        torch.set_num_threads(chosen["torch_threads"])
