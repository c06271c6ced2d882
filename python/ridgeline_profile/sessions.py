# SPDX-License-Identifier: Apache-2.0
"""Ranges around the runs of ONNX Runtime's sessions, and a profile of each session, by which the recorder's kernels find their nodes."""
import ctypes
import functools
import os
import sys
import weakref

from onnxruntime.capi import onnxruntime_inference_collection as collection

from ridgeline_profile import endings, library, patches, run_steps, session_profile
from ridgeline_profile.frames import leave_out_own
from ridgeline_profile.library import ANNOTATION, PYTHON, pop, push
from ridgeline_profile.needed import needed_libraries
from ridgeline_profile.onnx_nodes import is_model
from ridgeline_profile.session_profile import Options, SessionProfile, is_users, write_reason

CUDA = "CUDAExecutionProvider"
RUNS = ("run", "run_with_ort_values", "run_with_iobinding")
CAPTURES = 6  # runs of a session in which its CUDA graphs are captured

_sessions = weakref.WeakKeyDictionary()  # a _Session of each
_paths = {}  # of models, by name


class _Session:
    def __init__(self, name):
        self.name = name
        self.number = library.name("run of " + name)
        self.profile = None
        self.captures = 0  # runs that may still capture a graph


def _name_of(session):
    try:
        return _find_name(session)
    except Exception:
        return "an ONNX model"


def _find_name(session):
    path = getattr(session, "_model_path", None)
    if not path:
        graph = getattr(getattr(session, "_model_meta", None), "graph_name", "")
        if graph:
            return graph
    path = os.path.abspath(os.fspath(path))
    parts = path.split(os.sep)
    for count in range(1, len(parts)):
        name = "/".join(parts[-count:])
        if _paths.setdefault(name, path) == path:
            return name
    return path


@functools.lru_cache(None)
def _has_own_cupti():
    """Whether ONNX Runtime is built to record kernels itself, which takes CUPTI from the recorder once a session is profiled."""
    provider = os.path.join(os.path.dirname(collection.__file__), "libonnxruntime_providers_cuda.so")
    return any(name.startswith("libcupti.so") for name in needed_libraries(provider))


def _model_of(session):
    """Its path or bytes."""
    return getattr(session, "_model_path", None) or getattr(session, "_model_bytes", None)


def _provider_options(session):
    return (session.get_provider_options() or {}).get(CUDA)


def _known(session):
    try:
        known = _sessions.get(session)
        if known is None:
            known = _sessions[session] = _Session(_name_of(session))
        return known
    except TypeError:  # a class of the user's whose objects have no hash
        return _Session(_name_of(session))


def _around(method):
    function = getattr(collection.Session, method)

    @functools.wraps(function)
    def run(self, *args, **kwargs):
        library.begin()
        known = _known(self)
        profile = known.profile
        run_steps.session_runs(self)
        push(known.number, PYTHON)
        captures = known.captures > 0
        if captures:
            known.captures -= 1
            library.capture(1)
        if profile is not None:
            profile.run_begins()
        try:
            return function(self, *args, **kwargs)
        except BaseException as error:
            leave_out_own(error)
            raise
        finally:
            if captures:
                library.capture(0)
            pop()
            if profile is not None:
                profile.run_ends()

    patches.replace(collection.Session, method, run)


def _options_for_profile(session):
    """What the session is to be made with; None: it has no profile of ours."""
    try:
        options = session._sess_options or collection.C.get_default_session_options()
        # A session that cannot load its model prints that it writes no profile.
        if is_users(options) or not is_model(_model_of(session)):
            return None
        if _has_own_cupti():
            write_reason(_name_of(session), "cupti")
            return None
        made = Options(options)
    except Exception:
        return None
    session._sess_options = options
    return made


def _around_making():
    function = collection.InferenceSession._create_inference_session

    @functools.wraps(function)
    def make(self, *args, **kwargs):
        library.begin()
        _forget(self)
        push(library.name("load " + _name_of(self)), ANNOTATION)
        try:
            options = _options_for_profile(self)
            if options is None:
                function(self, *args, **kwargs)
                _made(self, None)
            else:
                with options:
                    function(self, *args, **kwargs)
                _made(self, options.stem)
        except BaseException as error:
            leave_out_own(error)
            raise
        finally:
            pop()

    patches.replace(collection.InferenceSession, "_create_inference_session", make)


def _forget(session):
    """Ends the profile of a session that is made again, with other providers."""
    try:
        known = _sessions.pop(session, None)
        if known is not None and known.profile is not None:
            known.profile.end()
    except Exception:
        pass


def _made(session, stem):
    try:
        known = _sessions[session] = _Session(_name_of(session))
        cuda = _provider_options(session)
        is_graph = cuda is not None and str(cuda.get("enable_cuda_graph", "0")).lower() in ("1", "true")
        known.captures = CAPTURES if is_graph else 0
        if stem is not None:
            known.profile = SessionProfile(session._sess, stem, _model_of(session), known.name, is_graph)
    except Exception:
        pass  # runs without nodes


def _around_end():
    """What the user did not ask for is not theirs to end."""
    function = collection.Session.end_profiling

    @functools.wraps(function)
    def end_profiling(self):
        return "" if _known(self).profile is not None else function(self)

    patches.replace(collection.Session, "end_profiling", end_profiling)


def _end_all():
    for known in list(_sessions.values()):
        if known.profile is not None:
            known.profile.end()


def _forked():
    """Sessions of the parent are the parent's to end, and the child must not write their files when it ends."""
    for known in list(_sessions.values()):
        if known.profile is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(known.profile.native))
            known.profile = None
    session_profile.forked()
    library.forked()
    _sessions.clear()
    run_steps.forked()


_is_first = True


def install_for_recording(_options):
    """In a program that has been running: its sessions were made without a profile, so their runs have no nodes."""
    global _is_first
    _around_runs()
    if _is_first and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
    _is_first = False
    _hide()


def _around_runs():
    for method in RUNS:
        if hasattr(collection.Session, method):
            _around(method)


def _hide():
    hidden = sys.modules.get("ridgeline_profile.hidden")
    if hidden is not None:
        hidden.hide()  # torch came first


def install():
    _around_runs()
    if hasattr(collection.InferenceSession, "_create_inference_session"):
        _around_making()
        _around_end()
    endings.before.append(_end_all)
    endings.install()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
    _hide()
