#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ridgeline stream run` beside its own peak and beside a straightforward Python loop that does the same work.

  stream_demo.py --ridgeline BIN --ort-library DIR --model DET.onnx --clip VIDEO [--rounds 5] [--seconds 3.5]

Needs opencv-python-headless, numpy, onnxruntime and pyclipper (scripts/stream_python.sh); DET.onnx is a detector of PP-OCR. In turns,
each in a process of its own: `stream run` of the clip; `stream bench` without a rate (frames already decoded, the rest the same); the
loop, with as many threads as cores and with 1, of which the one with the better median counts. Every rate is frames a second from the first frame to the last result,
without start and warm-up. Exit code 3 when a goal was missed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
THRESHOLD, BOX_THRESHOLD, UNCLIP, MIN_SIDE, CANDIDATES = 0.3, 0.6, 1.5, 3, 1000
STRIDE = 32
RUN_FRAMES, LOOP_FRAMES = 70, 30  # the loop has no frames in flight, which the end of a short run shows
MOST_SECONDS = 75  # on a machine that others use too, fewer rounds fit
GOAL_OF_PEAK, GOAL_OF_LOOP = 0.90, 1.0


def mini_box(points):
    import cv2
    import numpy as np

    rectangle = cv2.minAreaRect(points)
    corners = sorted(cv2.boxPoints(rectangle).tolist(), key=lambda p: p[0])
    left, right = sorted(corners[:2], key=lambda p: p[1]), sorted(corners[2:], key=lambda p: p[1])
    return np.array([left[0], right[0], right[1], left[1]], np.float32), min(rectangle[1])


def box_score(values, corners):
    import cv2
    import numpy as np

    height, width = values.shape
    left, top = np.clip(np.floor(corners.min(0)), 0, (width - 1, height - 1)).astype(int)
    right, bottom = np.clip(np.ceil(corners.max(0)), 0, (width - 1, height - 1)).astype(int)
    mask = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(mask, (corners - [left, top]).reshape(1, -1, 2).astype(np.int32), 1)
    return cv2.mean(values[top : bottom + 1, left : right + 1], mask)[0]


def boxes_of(values, frame_width, frame_height):
    """DBPostProcess.boxes_from_bitmap of PaddleOCR, with cv2 in place of shapely."""
    import cv2
    import numpy as np
    import pyclipper

    height, width = values.shape
    contours, _ = cv2.findContours((values > THRESHOLD).astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for contour in contours[:CANDIDATES]:
        corners, side = mini_box(contour)
        if side < MIN_SIDE or (score := box_score(values, corners)) < BOX_THRESHOLD:
            continue
        offset = pyclipper.PyclipperOffset()
        offset.AddPath(corners, pyclipper.JT_ROUND, pyclipper.ET_CLOSEDPOLYGON)
        grown = offset.Execute(cv2.contourArea(corners) * UNCLIP / cv2.arcLength(corners, True))
        if len(grown) != 1:
            continue
        corners, side = mini_box(np.array(grown[0], np.int32).reshape(-1, 1, 2))
        if side < MIN_SIDE + 2:
            continue
        corners = np.clip(np.round(corners * (frame_width / width, frame_height / height)), 0, (frame_width, frame_height))
        found.append({"points": corners.tolist(), "score": round(score, 4)})
    return found


def loop(args):
    """The Python loop itself: prints {"fps", "frames", "boxes"}."""
    import cv2
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.loop
    session = onnxruntime.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    gain = (1 / 255 / np.array(STD)).astype(np.float32)
    shift = (np.array(MEAN) / np.array(STD)).astype(np.float32)

    def prepared(frame):
        height, width = (max(1, round(side / STRIDE)) * STRIDE for side in frame.shape[:2])
        values = cv2.cvtColor(cv2.resize(frame, (width, height)), cv2.COLOR_BGR2RGB) * gain - shift
        return np.ascontiguousarray(values.transpose(2, 0, 1))[None]

    video = cv2.VideoCapture(args.clip)
    is_there, frame = video.read()
    for _ in range(3):
        session.run(None, {name: prepared(frame)})
    video = cv2.VideoCapture(args.clip)
    frames = boxes = 0
    with open(args.output, "w", encoding="utf-8") as output:
        start = time.perf_counter()
        while frames < args.frames:
            is_there, frame = video.read()
            if not is_there:
                break
            values = session.run(None, {name: prepared(frame)})[0][0, 0]
            found = boxes_of(values, frame.shape[1], frame.shape[0])
            output.write(json.dumps({"source": 0, "frame": frames, "pts_ms": video.get(cv2.CAP_PROP_POS_MSEC), "result": {"boxes": found}}) + "\n")
            frames += 1
            boxes += len(found)
        seconds = time.perf_counter() - start
    print(json.dumps({"fps": frames / seconds, "frames": frames, "boxes": boxes}))


def run_loop(args, folder, threads, frames):
    output = folder / f"loop{threads}.jsonl"
    command = [sys.executable, __file__, "--model", args.model, "--clip", args.clip, "--loop", threads, "--frames", frames, "--output", output]
    return json.loads(subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout)


def run_ridgeline(args, folder, command, *more):
    fixed = ["--source", args.clip, "--model", args.model, "--ort-library", args.ort_library, "--config", folder / "pipeline.yaml",
             "--db", folder / "stream.db", "--json"]
    done = subprocess.run([*map(str, [args.ridgeline, "stream", command, *fixed, *more])], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def boxes_in(path, frames):
    return sum(len(json.loads(line)["result"]["boxes"]) for line in path.read_text(encoding="utf-8").splitlines()[:frames])


def spread(values):
    return f"{statistics.median(values):.3f} (median of {len(values)}; {min(values):.3f} to {max(values):.3f})"


def measure(args, folder):
    (folder / "pipeline.yaml").write_text(f"stream:\n  preprocess:\n    mean: {list(MEAN)}\n    std: {list(STD)}\n", encoding="utf-8")
    loops = {threads: [] for threads in {1, len(os.sched_getaffinity(0))}}
    rates = {"run": [], "peak": []}
    end = time.monotonic() + MOST_SECONDS
    while len(rates["run"]) < args.rounds and (len(rates["run"]) < 2 or time.monotonic() < end):
        rates["run"].append(run_ridgeline(args, folder, "run", "--frames", RUN_FRAMES, "--output", folder / "run.jsonl")["status"]["delivered_per_s"])
        rates["peak"].append(run_ridgeline(args, folder, "bench", "--time", f"{args.seconds}s")["status"]["delivered_per_s"])
        for threads, measured in loops.items():
            measured.append(run_loop(args, folder, threads, LOOP_FRAMES)["fps"])
    best = max(loops, key=lambda threads: statistics.median(loops[threads]))
    print(f"boxes in {LOOP_FRAMES} frames: {boxes_in(folder / 'run.jsonl', LOOP_FRAMES)}, the Python loop {boxes_in(folder / f'loop{best}.jsonl', LOOP_FRAMES)}")
    named = {"ridgeline stream run": rates["run"], "its peak (stream bench)": rates["peak"]}
    named.update({f"Python loop, threads: {threads}": loops[threads] for threads in sorted(loops)})
    for name, measured in named.items():
        print(f"{name:<24} {statistics.median(measured):6.1f} FPS  ({min(measured):.1f} to {max(measured):.1f})")
    of_peak = [run / peak for run, peak in zip(rates["run"], rates["peak"])]
    of_loop = [run / other for run, other in zip(rates["run"], loops[best])]
    print(f"run / peak: {spread(of_peak)}, goal {GOAL_OF_PEAK}")
    print(f"run / Python loop: {spread(of_loop)}, goal {GOAL_OF_LOOP:.1f}")
    return statistics.median(of_peak) >= GOAL_OF_PEAK and statistics.median(of_loop) >= GOAL_OF_LOOP


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridgeline")
    parser.add_argument("--ort-library")
    parser.add_argument("--model", required=True)
    parser.add_argument("--clip", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.5)
    parser.add_argument("--loop", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--frames", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--output", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.loop:
        loop(args)
        return 0
    with tempfile.TemporaryDirectory() as name:
        return 0 if measure(args, pathlib.Path(name)) else 3


if __name__ == "__main__":
    sys.exit(main())
