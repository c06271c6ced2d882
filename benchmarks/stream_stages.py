#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stages around a model in `stream`, beside the Python that people write for them.

  stream_stages.py --program build/bench/bin/rl_stream_stage --model DET.onnx --clips bikes.mp4 bigbuckbunny.mp4

Needs opencv-python-headless, numpy, onnxruntime and pyclipper (scripts/stream_python.sh); DET.onnx is a detector of PP-OCR.
preprocess: 1280x720 to 1280x704x3 floats in NCHW, against cv2.resize and numpy, and cv2.dnn.blobFromImage, in turns.
ppocr: boxes of real probability maps (frames of the clips, as they are and with text written on them) against PaddleOCR's
DBPostProcess in Python (cv2.findContours, cv2.minAreaRect, pyclipper), matched by IoU of at least 0.9.
Exit code 3 when a goal was missed.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np
import onnxruntime

from stream_demo import boxes_of

MEAN = DEVIATION = 0.5
FRAMES_A_CLIP = 60
ROUNDS = 5
REPEATS = 20
WORDS = ["EXIT 24", "Ridgeline", "speed limit 60", "No parking", "Platform 9", "sale -30%", "p99 < 60 ms", "bikes only"]


def by_numpy(frame, width, height):
    values = cv2.resize(frame, (width, height)).astype(np.float32)
    values *= 1 / 255
    values -= MEAN
    values /= DEVIATION
    return np.ascontiguousarray(values.transpose(2, 0, 1)[::-1])


def by_blob(frame, width, height):
    return cv2.dnn.blobFromImage(frame, 1 / 255 / DEVIATION, (width, height), (255 * MEAN,) * 3, swapRB=True)[0]


def times_of(call):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def run(program, *args):
    return json.loads(subprocess.run([program, *map(str, args)], check=True, capture_output=True, text=True).stdout)


def iou(a, b):
    a, b = np.float32(a), np.float32(b)
    both = cv2.intersectConvexConvex(a, b)[0]
    return both / (cv2.contourArea(a) + cv2.contourArea(b) - both) if both > 0 else 0


def matched(boxes, others):
    return sum(any(iou(box, other) >= 0.9 for other in others) for box in boxes)


def frames_of(clip, random):
    video = cv2.VideoCapture(str(clip))
    frames = []
    while True:
        is_there, frame = video.read()
        if not is_there:
            break
        frames.append(frame)
    chosen = frames[:: max(1, len(frames) // FRAMES_A_CLIP)][:FRAMES_A_CLIP]
    for frame in list(chosen):
        frame = cv2.resize(frame, (1280, 720))
        chosen.append(frame)
        for word in random.permutation(WORDS)[: random.integers(3, 8)]:
            layer = np.zeros_like(frame)
            scale = random.uniform(0.5, 2.5)
            cv2.putText(layer, str(word), (int(random.uniform(0, 1000)), int(random.uniform(40, 700))), random.integers(0, 8), scale,
                        (255, 255, 255), max(1, round(1.5 * scale)), cv2.LINE_AA)
            turned = cv2.warpAffine(layer, cv2.getRotationMatrix2D((640, 360), random.choice([0, 0, random.uniform(-30, 30)]), 1), (1280, 720))
            colour = random.integers(0, 256, 3)
            frame[:] = (frame * (1 - turned / 255.0) + colour * (turned / 255.0)).astype(np.uint8)
    return chosen


def side(pixels):
    return max(1, round(pixels / 32)) * 32


def race_preprocess(program, folder):
    frame = np.random.default_rng(1).integers(0, 256, (720, 1280, 3), np.uint8)
    frame = cv2.GaussianBlur(frame, (5, 5), 0)
    width, height = side(1280), side(720)
    (folder / "frame.bgr").write_bytes(frame.tobytes())
    times = {"ridgeline": [], "cv2 + numpy": [], "blobFromImage": []}
    for _ in range(ROUNDS):
        answer = run(program, "preprocess", folder / "frame.bgr", "1280x720", MEAN, DEVIATION, REPEATS, folder / "out.f32")
        times["ridgeline"] += answer["ms"]
        times["cv2 + numpy"] += times_of(lambda: by_numpy(frame, width, height))
        times["blobFromImage"] += times_of(lambda: by_blob(frame, width, height))
    ours = np.fromfile(folder / "out.f32", np.float32).reshape(3, height, width)
    levels = np.abs(ours - by_numpy(frame, width, height)).max() * DEVIATION * 255
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"preprocess 1280x720 to {width}x{height}, milliseconds a frame (median; least of {ROUNDS * REPEATS}):")
    for name, values in times.items():
        print(f"  {name:<14} {medians[name]:7.2f} {min(values):7.2f}   {medians[name] / medians['ridgeline']:5.1f}x")
    print(f"  largest difference: {levels:.2f} of 255 levels (cv2 rounds to whole ones)")
    return medians["ridgeline"] < min(medians["cv2 + numpy"], medians["blobFromImage"]) and levels < 1


def compare_boxes(program, folder, model, clips):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(7)
    counts = {"ridgeline": [0, 0], "python": [0, 0]}
    scores = []
    python_ms, our_ms = [], []
    for clip in clips:
        for frame in frames_of(clip, random):
            frame_height, frame_width = frame.shape[:2]
            width, height = side(frame_width), side(frame_height)
            values = session.run(None, {session.get_inputs()[0].name: by_numpy(frame, width, height)[::-1][None].copy()})[0][0, 0]
            (folder / "map.f32").write_bytes(values.tobytes())
            answer = run(program, "decode", "ppocr", f"{frame_width}x{frame_height}", f"{width}x{height}", REPEATS,
                         f"map:1x{height}x{width}:{folder / 'map.f32'}")
            ours = [(box["points"], box["score"]) for box in answer["result"]["boxes"]]
            theirs = [(box["points"], box["score"]) for box in boxes_of(values, frame_width, frame_height)]
            for name, boxes, others in (("ridgeline", ours, theirs), ("python", theirs, ours)):
                counts[name][0] += matched([b for b, _ in boxes], [b for b, _ in others])
                counts[name][1] += len(boxes)
            scores += [min(abs(score - other) for box, score in ours if iou(box, corners) >= 0.9) for corners, other in theirs
                       if any(iou(box, corners) >= 0.9 for box, _ in ours)]
            if (width, height) == (1280, 704):
                our_ms += answer["ms"]
                python_ms += times_of(lambda: boxes_of(values, frame_width, frame_height))
    print(f"ppocr: boxes with a partner of IoU 0.9 or more")
    for name, (found, of) in counts.items():
        print(f"  {name:<10} {found} of {of} ({found / max(1, of):.1%})")
    print(f"  scores of partners differ by at most {max(scores):.4f}")
    print(f"  a map of 1280x704: ridgeline {statistics.median(our_ms):.2f} ms, Python {statistics.median(python_ms):.2f} ms (medians)")
    return all(of > 0 and found >= 0.95 * of for found, of in counts.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--clips", nargs="+", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        goals = [race_preprocess(args.program, folder), compare_boxes(args.program, folder, args.model, args.clips)]
    return 0 if all(goals) else 3


if __name__ == "__main__":
    sys.exit(main())
