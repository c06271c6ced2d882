# SPDX-License-Identifier: Apache-2.0
"""Makes the other packages importable, whose folder is not on the program's path: verifying a finding uses the switches of
`tune --python`, timing a script the trial of `bench --python`."""
import os
import sys
import types

PACKAGES = ("ridgeline_infer", "ridgeline_script", "ridgeline_train", "ridgeline_worker")
FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def make():
    for name in PACKAGES:
        if name not in sys.modules:
            package = types.ModuleType(name)
            package.__path__ = [os.path.join(FOLDER, name)]
            sys.modules[name] = package


make()
