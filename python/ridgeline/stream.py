# SPDX-License-Identifier: Apache-2.0
"""Frames from a Python program through `ridgeline stream`, which runs beside it.

    from ridgeline.stream import Pipeline

    with Pipeline("det.onnx", width=1280, height=720, slo=0.060) as pipeline:
        for picture in camera:              # uint8, 720x1280x3
            pipeline.submit(picture)
            for result in pipeline.ready():  # what has come out by now
                show(result)

The program is a process of its own: a crash there is a PipelineError here.
"""

import json
import queue
import shutil
import subprocess
import threading
from typing import Iterator, List, NamedTuple, Optional

_BYTES_OF_PIXEL = {"bgr24": 3, "rgb24": 3, "gray": 1, "nv12": 1.5}


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
    """One model, fed with frames of one size.

    model:     ONNX file.
    width, height, format: of the frames; format is bgr24 (as OpenCV has them), rgb24, gray or nv12.
    slo:       seconds from submit to the result; frames that can no longer make it are dropped. None: without a limit,
               and nothing is dropped: submit waits while the queue is full.
    settings:  of the section `stream`, for example {"batch_size": 4}.
    arguments: more for `ridgeline stream run`, for example ["--provider", "cuda"].
    executable: the program; None: `ridgeline` of PATH.
    """

    def __init__(self, model, width, height, format="bgr24", slo=None, settings=None, arguments=(), executable=None):
        if format not in _BYTES_OF_PIXEL:
            raise ValueError("format %r: expected one of %s" % (format, ", ".join(_BYTES_OF_PIXEL)))
        self._bytes = int(width * height * _BYTES_OF_PIXEL[format])
        program = executable or shutil.which("ridgeline")
        if program is None:
            raise PipelineError("there is no `ridgeline` in PATH; name it with executable=")
        command = [str(program), "stream", "run", "--source", "-", "--raw", "%dx%d:%s" % (width, height, format),
                   "--model", str(model), "--output", "-", "--quiet"]
        if slo is not None:
            command += ["--live", "--slo", "%gms" % (slo * 1e3)]
        for key, value in (settings or {}).items():
            command += ["--stream", "%s=%s" % (key, _text(value))]
        self._process = subprocess.Popen(command + list(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE)
        self._lock = threading.Lock()
        self._submitted = 0
        self._results = queue.SimpleQueue()
        self._words = []
        self._is_over = False
        # What is not read would hold the pipeline back, and with it submit.
        self._threads = [threading.Thread(target=self._read, daemon=True),
                         threading.Thread(target=self._listen, daemon=True)]
        for thread in self._threads:
            thread.start()

    def submit(self, frame) -> int:
        """Passes a frame on: anything whose memory is its pixels in rows without gaps (bytes, a NumPy array). Its number.
        From any thread."""
        pixels = memoryview(frame)
        if not pixels.c_contiguous:
            raise ValueError("the frame's rows have gaps; pass a contiguous copy (numpy.ascontiguousarray)")
        if pixels.nbytes != self._bytes:
            raise ValueError("a frame of %d bytes; expected %d" % (pixels.nbytes, self._bytes))
        with self._lock:
            if self._process.stdin.closed:
                raise PipelineError("the pipeline is closed")
            try:
                self._process.stdin.write(pixels.cast("B"))
                self._process.stdin.flush()
            except BrokenPipeError:
                raise self._fault() from None
            self._submitted += 1
            return self._submitted - 1

    def ready(self) -> List[Result]:
        """The results that have come since the last call, in the order of the frames; does not wait."""
        results = []
        while not self._is_over:
            try:
                one = self._results.get_nowait()
            except queue.Empty:
                break
            if one is None:
                self._is_over = True
                break
            results.append(one)
        return results

    def finish(self) -> Iterator[Result]:
        """No more frames come: all results that are still to come, waiting for each."""
        self._close_input()
        while not self._is_over:
            one = self._results.get()
            if one is None:
                self._is_over = True
                break
            yield one
        if self._process.wait() != 0:
            raise self._fault()

    def close(self):
        """Ends it, if need be without the results that are still to come."""
        self._close_input()
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        self._process.stdout.close()
        self._process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _close_input(self):
        with self._lock:
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                pass

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


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return str(value)
