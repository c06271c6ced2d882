# SPDX-License-Identifier: Apache-2.0
"""Installs the hooks once torch is imported. Nothing else is imported for it before."""
import sys

from ridgeline_profile.frames import leave_out_own

TORCH = "torch"


class _Finder:
    """First on sys.meta_path until torch is found; it finds nothing itself."""

    def find_spec(self, name, path=None, target=None):
        if name != TORCH:
            return None
        try:
            sys.meta_path.remove(self)
        except ValueError:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                _install_after(spec)
                return spec
        return None


def _install_after(spec):
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
        _install()

    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # a loader without attributes of its own


def _install():
    try:
        from ridgeline_profile import install

        install.install()
    except Exception:
        pass  # the program runs without names


def watch():
    if TORCH in sys.modules:
        _install()
    else:
        sys.meta_path.insert(0, _Finder())
