# SPDX-License-Identifier: Apache-2.0
"""Frames from a Python program through `ridgeline stream`, which runs beside it.

    from ridgeline.stream import Pipeline

    with Pipeline("det.onnx", width=1280, height=720, slo=0.060) as pipeline:
        for picture in camera:               # uint8, 720x1280x3
            pipeline.submit(picture)
            show(pipeline.get(timeout=1.0))  # the next result, in the order of the frames

The program is a process of its own: a crash there is a PipelineError here.
"""

import json
import os
import queue
import shutil
import subprocess
import threading
from typing import Iterator, List, NamedTuple, Optional

_BYTES_OF_PIXEL = {"bgr24": 3, "rgb24": 3, "gray": 1, "nv12": 1.5}
_DTYPES = {"?": "bool", "b": "int8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32", "l": "int64",
           "L": "uint64", "q": "int64", "Q": "uint64", "e": "float16", "f": "float32", "d": "float64",
           "Zf": "complex64", "Zd": "complex128"}


class PipelineError(RuntimeError):
    """The pipeline ended early, or never began; its own words."""


class Result(NamedTuple):
    """What came of one frame."""

    frame: int  # counted from 0 as they were submitted
    latency_ms: Optional[float]  # from submit to its result; None where its process died
    result: object  # boxes, keypoints ... as docs/stream.md has them; None of a frame that was dropped
    dropped: Optional[str]  # why it has none: "deadline", "queue_full", "failed" ...
    error: Optional[str]  # of a frame that failed


class Pipeline:
    """One model, fed with frames of one size. Returns when the model is loaded; raises PipelineError where it cannot be.

    model:     ONNX file.
    width, height, format: of the frames; format is bgr24 (as OpenCV has them), rgb24, gray or nv12.
    slo:       seconds from submit to the result, or text with a unit ("60ms"); frames that can no longer make it are
               dropped. None: without a limit, and nothing is dropped: submit waits while the queue is full.
    settings:  of the section `stream`, for example {"batch_size": 4}.
    arguments: more for `ridgeline stream run`, for example ["--provider", "cuda"].
    executable: the program; None: `ridgeline` of PATH.
    """

    def __init__(self, model, width, height, format="bgr24", slo=None, settings=None, arguments=(), executable=None):
        if format not in _BYTES_OF_PIXEL:
            raise ValueError("format %r: expected one of %s" % (format, ", ".join(_BYTES_OF_PIXEL)))
        self._bytes = int(width * height * _BYTES_OF_PIXEL[format])
        self._shape = {"gray": (height, width), "nv12": (height * 3 // 2, width)}.get(format, (height, width, 3))
        program = executable or shutil.which("ridgeline")
        if program is None:
            raise PipelineError("there is no `ridgeline` in PATH; name it with executable=")
        loaded, write_end = os.pipe()
        command = [str(program), "stream", "run", "--source", "-", "--raw", "%dx%d:%s" % (width, height, format),
                   "--model", str(model), "--output", "-", "--quiet", "--ready", "/dev/fd/%d" % write_end]
        if slo is not None:
            command += ["--live", "--slo", slo if isinstance(slo, str) else "%gms" % (slo * 1e3)]
        for key, value in (settings or {}).items():
            command += ["--stream", "%s=%s" % (key, _text(value))]
        try:
            self._process = subprocess.Popen(command + list(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE, pass_fds=(write_end,))
        except BaseException:
            os.close(loaded)
            raise
        finally:
            os.close(write_end)
        self._lock = threading.Lock()
        self._submitted = 0
        self._results = queue.SimpleQueue()
        self._words = []
        self._is_ended = False
        self._is_closed = False
        # What is not read would hold the pipeline back, and with it submit.
        self._threads = [threading.Thread(target=self._read, daemon=True),
                         threading.Thread(target=self._listen, daemon=True)]
        for thread in self._threads:
            thread.start()
        self._await_model(loaded)

    def submit(self, frame) -> int:
        """Passes a frame on: a NumPy array of uint8 in the frames' shape, or bytes; rows without gaps. Its number. From any
        thread. Anything else is a TypeError (what it is made of) or a ValueError (its shape)."""
        pixels = self._pixels_of(frame)
        with self._lock:
            if self._process.stdin.closed:
                raise PipelineError("the pipeline is closed")
            try:
                self._process.stdin.write(pixels)
                self._process.stdin.flush()
            except BrokenPipeError:
                raise self._fault() from None
            self._submitted += 1
            return self._submitted - 1

    def get(self, timeout=None) -> Optional[Result]:
        """The next result, in the order of the frames; waits for it, at most `timeout` seconds (None: as long as it takes),
        and then raises TimeoutError. None: all have come, after end() or close(). From any thread, also while another
        one submits. Raises PipelineError where the pipeline ended early."""
        try:
            one = self._results.get(timeout=timeout) if timeout is None or timeout > 0 else self._results.get_nowait()
        except queue.Empty:
            raise TimeoutError("no result within %g s" % timeout) from None
        if one is not None:
            return one
        self._results.put(None)  # for whoever else waits
        has_failed = self._process.wait() != 0 and not self._is_closed
        # The program takes input without a frame for a mistake.
        if has_failed and not (self._is_ended and self._submitted == 0):
            raise self._fault()
        return None

    def ready(self) -> List[Result]:
        """The results that have come since the last call, in the order of the frames; does not wait."""
        results = []
        while True:
            try:
                one = self._results.get_nowait()
            except queue.Empty:
                return results
            if one is None:
                self._results.put(None)
                return results
            results.append(one)

    def end(self):
        """No more frames come; get() gives the results that are still to come, and then None."""
        with self._lock:
            self._is_ended = True
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                pass

    def finish(self) -> Iterator[Result]:
        """No more frames come: all results that are still to come, waiting for each."""
        self.end()
        return iter(self.get, None)

    def close(self):
        """Ends it, if need be without the results that are still to come."""
        self._is_closed = True
        # First, as a submit under way may wait for it.
        if self._process.poll() is None:
            self._process.terminate()
        self.end()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        self._process.stdout.close()
        self._process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _await_model(self, loaded):
        try:
            with os.fdopen(loaded, "rb") as pipe:
                is_loaded = pipe.readline() != b""
            if not is_loaded:
                raise self._fault()
        except BaseException:
            self.close()
            raise

    def _pixels_of(self, frame):
        expected = "expected uint8 of shape %s, or %d bytes" % (_shape_text(self._shape), self._bytes)
        try:
            pixels = memoryview(frame)
        except (TypeError, ValueError, BufferError):
            raise TypeError("a frame of type %s; %s" % (type(frame).__name__, expected)) from None
        kind = pixels.format.lstrip("@=<>!")
        if kind not in ("B", "c"):
            raise TypeError("a frame of %s; %s" % (_DTYPES.get(kind, "format " + repr(kind)), expected))
        if pixels.ndim > 1 and tuple(pixels.shape) not in (self._shape, self._shape + (1,)):
            raise ValueError("a frame of shape %s; %s" % (_shape_text(pixels.shape), expected))
        if pixels.nbytes != self._bytes:
            raise ValueError("a frame of %d bytes; %s" % (pixels.nbytes, expected))
        if not pixels.c_contiguous:
            raise ValueError("the frame's rows have gaps; pass a contiguous copy (numpy.ascontiguousarray)")
        return pixels.cast("B")

    def _read(self):
        for line in self._process.stdout:
            one = json.loads(line)
            self._results.put(Result(one["frame"], one.get("latency_ms"), one.get("result"), one.get("dropped"),
                                     one.get("error")))
        self._results.put(None)

    def _listen(self):
        for line in self._process.stderr:
            self._words.append(line.decode(errors="replace").rstrip())

    def _fault(self):
        self._process.wait()
        self._threads[1].join()
        errors = [line[len("error: "):] for line in self._words if line.startswith("error: ")]
        hints = [line for line in self._words if line.startswith("hint: ")]
        said = errors[-1] if errors else "ended with exit code %d" % self._process.returncode
        return PipelineError("; ".join([said] + hints))


def _shape_text(shape):
    return "x".join(str(side) for side in shape)


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return str(value)
