# SPDX-License-Identifier: Apache-2.0
"""Tells a setting that is impossible here from every other failure."""

import contextlib

import torch

from ridgeline_worker.failures import OWN, BadSettings


HEADING = "The following operation failed in the TorchScript interpreter."  # above a traceback; the reason comes last


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and lines[0] == HEADING:
        lines = lines[-1:]
    return (lines[0] if lines else type(error).__name__)[:300]


def _kinds(*names):
    found = [getattr(place, name, None) for place, name in names]
    return tuple(kind for kind in found if isinstance(kind, type))


OUT_OF_MEMORY = _kinds((torch, "OutOfMemoryError"), (torch.cuda, "OutOfMemoryError")) + (MemoryError,)
ACCELERATOR = _kinds((torch, "AcceleratorError"))


@contextlib.contextmanager
def attempt(what, also_accelerator=False):
    """A failure inside is BadSettings about `what`, but for memory that runs out and errors of the accelerator, which say
    nothing about the setting. During a capture the latter do."""
    try:
        yield
    except OWN + OUT_OF_MEMORY:
        raise
    except Exception as error:
        if isinstance(error, ACCELERATOR) and not also_accelerator:
            raise
        raise BadSettings("%s is not possible here: %s" % (what, first_line(error))) from error
