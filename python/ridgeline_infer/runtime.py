# SPDX-License-Identifier: Apache-2.0
"""Which torch an interpreter has, without importing it, which takes seconds."""

import importlib.util
import os
import sys

from ridgeline_worker.cuda_in_forks import gpu_count
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


def runtime():
    """What trials would run on, whatever the model."""
    version, cuda = _versions()
    return {
        "torch": str(version),
        "python": "%d.%d.%d" % tuple(sys.version_info[:3]),
        "cuda": bool(cuda) and gpu_count() > 0,
    }
