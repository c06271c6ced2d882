# SPDX-License-Identifier: Apache-2.0
"""CUDA, once started in a process, does not work in its forks."""

import contextlib
import glob
import os
import sys

_BY_NVML = "PYTORCH_NVML_BASED_CUDA_CHECK"  # from torch 2.0 on


def gpu_count():
    """NVIDIA's, by their devices. Asking torch would start CUDA, which forks of the process then cannot."""
    there = len(glob.glob("/dev/nvidia[0-9]*"))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return there if visible is None else min(there, len([name for name in visible.split(",") if name.strip()]))


def started(process="self"):
    """Whether the process has started CUDA. NVML leaves this file alone."""
    try:
        return any(os.readlink("/proc/%s/fd/%s" % (process, name)).startswith("/dev/nvidia-uvm")
                   for name in os.listdir("/proc/%s/fd" % process))
    except OSError:
        return False


@contextlib.contextmanager
def not_started():
    """What is imported meanwhile may ask torch whether there is a GPU, and is answered by the devices: the question itself starts CUDA,
    unless NVML can be asked. torch that is imported meanwhile asks NVML."""
    torch = sys.modules.get("torch")
    asked = getattr(torch._C, "_cuda_getDeviceCount", None) if torch else None
    by_nvml = torch is None and gpu_count() > 0 and _BY_NVML not in os.environ
    if asked is not None:
        torch._C._cuda_getDeviceCount = gpu_count
    if by_nvml:
        os.environ[_BY_NVML] = "1"
    try:
        yield
    finally:
        if asked is not None:
            torch._C._cuda_getDeviceCount = asked
        if by_nvml:
            os.environ.pop(_BY_NVML, None)


def is_broken():
    """Whether forks of this process cannot use CUDA: it has been started, or torch believes so since it was asked for GPUs."""
    if gpu_count() == 0:
        return False
    if started():
        return True
    import torch

    process = os.fork()
    if process == 0:
        os._exit(1 if getattr(torch.cuda, "_is_in_bad_fork", bool)() else 0)
    return os.waitpid(process, 0)[1] != 0
