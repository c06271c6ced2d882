# SPDX-License-Identifier: Apache-2.0
"""The torch of this interpreter."""

import sys

from . import phase
from .failures import UserError


def imported():
    phase.enter("importing torch")
    try:
        import torch
    except ImportError as error:
        raise UserError("%s has no torch (%s); name another interpreter with --python-exe" % (sys.executable, error)) from None
    return torch


def import_compiler():
    """What torch imports as the first optimizer is made, which takes as long again; it reads variables of the environment."""
    torch = imported()
    if not hasattr(torch, "compile"):
        return
    try:
        import torch._dynamo  # noqa: F401
    except Exception:  # an optimizer that needs it reports it
        pass


def cuda(torch):
    """The version of CUDA that it was built for; None in a CPU build."""
    return getattr(torch.version, "cuda", None)


def text(torch):
    """"torch 2.11.0+cu130 (cuda 13.0), Python 3.11.2\""""
    built_for = " (cuda %s)" % cuda(torch) if cuda(torch) else ""
    return "torch %s%s, Python %d.%d.%d" % ((torch.__version__, built_for) + tuple(sys.version_info[:3]))
