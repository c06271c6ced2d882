# SPDX-License-Identifier: Apache-2.0
"""What counts as a step of a program that runs ONNX models: the runs of the first session, unless modules of torch make steps."""
import weakref

from ridgeline_profile import library

_by_torch = False  # steps.py counts
_counted = None  # the session whose runs count


def torch_steps():
    """A step that steps.py counts begins."""
    global _by_torch
    _by_torch = True
    library.step()


def session_runs(session):
    """Before a run."""
    global _counted
    if _by_torch:
        return
    first = None if _counted is None else _counted()
    if first is None:
        _counted = weakref.ref(session)
    elif first is not session:
        return
    library.step()


def forked():
    global _by_torch, _counted
    _by_torch = False
    _counted = None
