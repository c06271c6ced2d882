# SPDX-License-Identifier: Apache-2.0
"""Makes the packages of `tune --python` importable, whose folder is not on the program's path: their switches are ours."""
import os
import sys
import types

PACKAGES = ("ridgeline_infer", "ridgeline_worker")
FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def make():
    for name in PACKAGES:
        if name not in sys.modules:
            package = types.ModuleType(name)
            package.__path__ = [os.path.join(FOLDER, name)]
            sys.modules[name] = package


make()
