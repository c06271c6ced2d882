# SPDX-License-Identifier: Apache-2.0
"""Python imports this file at its start, because `ridgeline profile` and `ridgeline bench -- COMMAND` put its folder first on PYTHONPATH.
It waits for the program to import torch, and runs the sitecustomize that the program would have had. It imports little, because many
programs never import torch."""
import os
import sys

PACKAGE = "ridgeline_profile"
FOLDER = os.path.dirname(os.path.abspath(__file__))


def watch():
    if PACKAGE in sys.modules:
        return
    # By its place: the folder of the package is not on the program's path.
    package = type(sys)(PACKAGE)
    package.__path__ = [os.path.dirname(FOLDER)]
    sys.modules[PACKAGE] = package
    from ridgeline_profile import on_import

    on_import.watch()


if any(os.environ.get(name) for name in ("RIDGELINE_TRACE_LIBRARY", "RIDGELINE_PROFILE_STEPS", "RIDGELINE_SCRIPT")):
    try:
        watch()
    except Exception:
        pass  # the program runs without names

# The next one replaces this module. Without one the import fails, as it would have.
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != FOLDER]
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa: E402, F401
