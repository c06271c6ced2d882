#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For scripts/test_stream_sources.sh: compares what rl_stream_source told of a clip with what OpenCV reads from it.

Usage: test_stream_sources.py CLIP LINES    (LINES: the program's output, with means)
"""
import json
import sys

import cv2


def main(clip, lines):
    told = [json.loads(line) for line in open(lines)]
    frames = [line for line in told if "pts_ns" in line]
    capture = cv2.VideoCapture(clip, cv2.CAP_FFMPEG)
    count = 0
    worst = 0.0
    while True:
        ok, image = capture.read()
        if not ok:
            break
        if count < len(frames):
            means = image.reshape(-1, 3).mean(axis=0)
            worst = max(worst, *(abs(a - b) for a, b in zip(means, frames[count]["mean"])))
        count += 1
    print(f"{clip}: {len(frames)} frames, OpenCV {count}; mean colours differ by at most {worst:.3f}")
    # Of 0..255; decoders are exact, only the conversion to BGR rounds.
    return 0 if count == len(frames) and worst < 0.5 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
