# SPDX-License-Identifier: Apache-2.0
"""Calls of cudaProfilerStart and cudaProfilerStop. torch.cuda.profiler and torch.cuda.cudart() share the two functions."""
import functools

import torch

from ridgeline_profile import library, patches


def _reporting(function, starts):
    """Recording begins behind the start and ends before the stop, as NVIDIA's tools have it."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        library.begin()
        if not starts:
            library.profiler(0)
        result = function(*args, **kwargs)
        if starts:
            library.profiler(1)
        return result

    return run


def install():
    runtime = getattr(torch._C, "_cudart", None)
    for name, starts in (("cudaProfilerStart", True), ("cudaProfilerStop", False)):
        function = getattr(runtime, name, None)
        if function is not None:
            patches.replace(runtime, name, _reporting(function, starts))
