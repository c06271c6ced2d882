# SPDX-License-Identifier: Apache-2.0
"""Calls of a training step that read a tensor on the host: loss.item(), bool(tensor), print(tensor). On a GPU each waits until the GPU has
computed it. Counted and timed with the line of the program, in steps that are not timed. What a batch's loading reads is left out."""

import contextlib
import functools
import os
import sys
import threading
import time
import warnings

from ridgeline_worker import user_frames

# By name of the method: the words for it. A print() makes a tensor's text.
METHODS = {"item": "item()", "tolist": "tolist()", "cpu": "cpu()", "nonzero": "nonzero()", "__bool__": "bool()", "__float__": "float()",
           "__int__": "int()", "__index__": "int()", "__repr__": "print()", "__format__": "format()"}
WARNING = "called a synchronizing CUDA operation"
OTHER = "an operation that waits"
MOST = 8  # rows that are reported
_DEPTH = 60  # frames
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep + "ridgeline_"


class NoReads:
    """What a trial has that counts nothing."""

    paused = False

    @contextlib.contextmanager
    def counted(self):
        yield

    def begin(self):
        pass

    def end(self):
        pass

    def step_done(self):
        pass

    def facts(self):
        return {}


class HostReads:
    """Counts within counted(); `paused` while a batch is fetched."""

    def __init__(self, torch, device):
        self._torch = torch
        self._on_gpu = device.type == "cuda"
        self._torch_folder = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self._is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
        self._places = {}  # of code and line
        self._found = {}   # (call, place): [calls, seconds]
        self._steps = 0
        self._replaced = []
        self._depth = 0
        self._thread = None
        self._warnings = None
        self.paused = False

    def step_done(self):
        self._steps += self._thread is not None

    @contextlib.contextmanager
    def counted(self):
        """Steps, each followed by step_done()."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self):
        self._thread = threading.get_ident()
        for name, words in METHODS.items():
            self._replace(self._torch.Tensor, name, self._of_tensor, words)
        if self._on_gpu:
            self._replace(self._torch.cuda, "synchronize", self._of_device, "torch.cuda.synchronize()")
            self._watch_warnings()

    def end(self):
        self._thread = None
        for owner, name, own, had in reversed(self._replaced):
            if had:
                setattr(owner, name, own)
            else:
                delattr(owner, name)
        self._replaced = []
        if self._warnings is not None:
            self._torch.cuda.set_sync_debug_mode(self._mode)
            self._warnings.__exit__(None, None, None)
            self._warnings = None

    def _replace(self, owner, name, around, words):
        function = getattr(owner, name, None)
        if function is None:
            return
        self._replaced.append((owner, name, vars(owner).get(name), name in vars(owner)))
        setattr(owner, name, functools.wraps(function)(around(function, words)))

    def _of_tensor(self, function, words):
        def run(tensor, *args, **kwargs):
            if self._is_compiling() or self._depth or not self._is_counted(tensor):
                return function(tensor, *args, **kwargs)
            return self._timed(words, sys._getframe(1), function, (tensor, *args), kwargs)

        return run

    def _of_device(self, function, words):
        def run(*args, **kwargs):
            if self._is_compiling() or self._depth or not self._is_here():
                return function(*args, **kwargs)
            return self._timed(words, sys._getframe(1), function, args, kwargs)

        return run

    def _is_here(self):
        return not self.paused and threading.get_ident() == self._thread

    def _is_counted(self, tensor):
        if not self._is_here():
            return False
        if self._on_gpu:
            return tensor.is_cuda
        # On a CPU torch's own reads, such as an optimizer's of its step counts, are of tensors that are on the host everywhere.
        return not sys._getframe(2).f_code.co_filename.startswith(self._torch_folder)

    def _timed(self, words, frame, function, args, kwargs):
        self._depth += 1
        begin = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            self._add(words, frame, time.perf_counter() - begin)
            self._depth -= 1

    def _add(self, words, frame, seconds):
        place = self._place(frame)
        if place:
            row = self._found.setdefault((words, place), [0, 0.0])
            row[0] += 1
            row[1] += seconds

    def _place(self, frame):
        """The innermost line of the user's; else of a library that is neither torch nor ours."""
        in_library = ""
        for _ in range(_DEPTH):
            if frame is None:
                break
            key = (frame.f_code, frame.f_lineno)
            if key not in self._places:
                path = frame.f_code.co_filename
                own = user_frames.place_of([(path, frame.f_lineno, frame.f_code.co_name)])
                is_library = not own and not path.startswith((self._torch_folder, _OWN, "<"))
                self._places[key] = own, "%s:%d" % (os.path.basename(path), frame.f_lineno) if is_library else ""
            own, library = self._places[key]
            if own:
                return own
            in_library = in_library or library
            frame = frame.f_back
        return in_library

    def _watch_warnings(self):
        """Torch itself warns of operations that wait for the GPU: of those that are no calls by name, such as indexing by a mask."""
        cuda = self._torch.cuda
        if not hasattr(cuda, "set_sync_debug_mode"):
            return
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        shown = warnings.showwarning

        def show(text, category, filename, lineno, file=None, line=None):
            if not str(text).startswith(WARNING):
                return shown(text, category, filename, lineno, file, line)
            if not self._depth and self._is_here():
                self._add(OTHER, sys._getframe(1), 0.0)

        warnings.filterwarnings("always", message=WARNING)
        warnings.filterwarnings("ignore", message="Synchronization debug mode")
        warnings.showwarning = show
        self._mode = cuda.get_sync_debug_mode()
        cuda.set_sync_debug_mode("warn")

    def facts(self):
        """{"host_reads": [{"call", "place", "per_step", "ms_per_step"}]}, those that take longest first; ms_per_step 0: not timed."""
        if not self._steps:
            return {}
        rows = sorted(self._found.items(), key=lambda item: (-item[1][1], -item[1][0]))[:MOST]
        return {"host_reads": [{"call": call, "place": place, "per_step": count / self._steps, "ms_per_step": seconds * 1e3 / self._steps}
                               for (call, place), (count, seconds) in rows]}


def of_trial(torch, device, compiles):
    """`compiles`: the model is compiled or captured, which hooks of tensors would disturb."""
    return NoReads() if compiles else HostReads(torch, device)
