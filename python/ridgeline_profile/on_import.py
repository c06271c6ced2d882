# SPDX-License-Identifier: Apache-2.0
"""Installs the hooks of a package once the program has imported it. Little else is imported for it before."""
import importlib
import os
import sys

from ridgeline_profile.frames import leave_out_own



def _hooks():
    """By package, the module that has install()."""
    if os.environ.get("RIDGELINE_SCRIPT"):
        return {"torch": "ridgeline_script.install"}
    if os.environ.get("RIDGELINE_PROFILE_STEPS"):
        return {"torch": "ridgeline_profile.verify.install"}
    if os.environ.get("RIDGELINE_TRACE_IDLE") and not os.environ.get("RIDGELINE_TRACE_FOLDER"):
        return {"torch": "ridgeline_profile.idle", "onnxruntime": "ridgeline_profile.idle"}
    return {"torch": "ridgeline_profile.install", "onnxruntime": "ridgeline_profile.sessions"}


HOOKS = _hooks()


class _Finder:
    """First on sys.meta_path until the package has been imported; it finds nothing itself. Programs may look for a package first."""

    def __init__(self, name):
        self.name = name

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                _install_after(spec, self)
                return spec
        return None


def _install_after(spec, finder):
    loader = spec.loader
    execute = getattr(loader, "exec_module", None)
    if execute is None:
        return

    def exec_module(module):
        # What the program sees later is the loader as it was.
        del loader.exec_module
        try:
            execute(module)
        except BaseException as error:
            leave_out_own(error)
            raise
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
            _install(spec.name)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # a loader without attributes of its own


def _install(name):
    try:
        if not HOOKS[name].startswith("ridgeline_profile."):
            importlib.import_module("ridgeline_profile.verify.importable")
        importlib.import_module(HOOKS[name]).install()
    except Exception:
        pass  # the program runs without names


def watch():
    for name in HOOKS:
        if name in sys.modules:
            _install(name)
        else:
            sys.meta_path.insert(0, _Finder(name))
