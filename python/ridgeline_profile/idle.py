# SPDX-License-Identifier: Apache-2.0
"""A recorder that waits to be woken (`ridgeline profile --idle`): the library calls back to have the hooks installed before a recording and
removed after it. In between nothing of the program is changed."""
import atexit
import ctypes
import importlib
import os
import sys

PACKAGES = {"torch": "ridgeline_profile.install", "onnxruntime": "ridgeline_profile.sessions"}

# CDLL: Python's lock is given up while the library waits for hooks that run, which need it.
_library = ctypes.CDLL(os.environ["RIDGELINE_TRACE_LIBRARY"])
_hooked = set()  # packages with hooks, while the process is recorded
_options = None  # of the recording that goes on


# IdleRecorder::HookStage.
REMOVED, INSTALLED, PREPARED = range(3)


def _is_imported(name):
    module = sys.modules.get(name)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def _hooks():
    """The modules of the packages that have been imported, by name."""
    out = {}
    for name, hooks in PACKAGES.items():
        try:
            if _is_imported(name):
                out[name] = importlib.import_module(hooks)
        except Exception:
            pass  # the recording goes without its names
    return out


def _install():
    for name, hooks in _hooks().items():
        if name not in _hooked:
            _hooked.add(name)
            try:
                hooks.install_for_recording(_options)
            except Exception:
                pass


def _begin(options):
    global _options
    from ridgeline_profile import library

    library.restart()
    _options = options
    _install()


def _end():
    global _options
    from ridgeline_profile import patches

    _options = None
    patches.undo()
    if "torch" in _hooked:
        from ridgeline_profile import launch_lines

        launch_lines.stop()
    _hooked.clear()


def _called(stage, options):
    try:
        if stage == PREPARED:
            _hooks()
        elif stage == INSTALLED:
            _begin(options.decode("utf-8", "replace"))
        else:
            _end()
    except Exception:
        pass


# Kept: the library calls it as long as the program runs.
_callback = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_char_p)(_called)


def _forked():
    """Recording ends with the fork; the child has a recorder of its own once it starts CUDA."""
    if _options is not None:
        _end()


_installed = False


def install():
    """Once one of the packages has been imported."""
    global _installed
    if _options is not None:
        _install()  # imported while the program is recorded
    if _installed:
        return
    _installed = True
    _library.ridgeline_trace_idle(_callback)
    atexit.register(_library.ridgeline_trace_idle, None)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
