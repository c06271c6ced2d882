# SPDX-License-Identifier: Apache-2.0
"""Which torch an interpreter has, without importing it, which takes seconds."""

import glob
import importlib.util
import os
import sys

from ridgeline_worker.failures import UserError


def _versions():
    """torch.version of the package that `import torch` would find."""
    found = importlib.util.find_spec("torch")
    if found is None or not found.origin:
        raise UserError("%s has no torch; name another interpreter with --python-exe" % sys.executable)
    path = os.path.join(os.path.dirname(found.origin), "version.py")
    names = {}
    try:
        with open(path) as file:
            exec(compile(file.read(), path, "exec"), names)
    except Exception:  # of a build that has it elsewhere
        import torch

        return torch.__version__, torch.version.cuda
    return names.get("__version__", ""), names.get("cuda")


def gpu_count():
    """NVIDIA's, by their devices. Asking torch would start CUDA, which forks of the process then cannot."""
    there = len(glob.glob("/dev/nvidia[0-9]*"))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return there if visible is None else min(there, len([name for name in visible.split(",") if name.strip()]))


def runtime():
    """What trials would run on, whatever the model."""
    version, cuda = _versions()
    return {
        "torch": str(version),
        "python": "%d.%d.%d" % tuple(sys.version_info[:3]),
        "cuda": bool(cuda) and gpu_count() > 0,
    }
