#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For scripts/test_stream_sources.sh: compares what rl_stream_source reads with what OpenCV reads.

Usage: test_stream_sources.py means CLIP LINES             (LINES: the program's output, with means)
       test_stream_sources.py pictures FOLDER              writes pictures that are stored in every way
       test_stream_sources.py turn CLIP TURNED DEGREES     an MP4 whose track says that it is to be seen turned
       test_stream_sources.py pixels SOURCE LINES BYTES    (BYTES: what --dump wrote; SOURCE: a clip or the folder)
"""
import json
import os
import struct
import sys
import zlib

import cv2
import numpy

PICTURE = (40, 64)  # rows, columns


def compare_means(clip, lines):
    parsed = [json.loads(line) for line in open(lines)]
    frames = [line for line in parsed if "pts_ns" in line]
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


def tiff(orientation, order):
    """EXIF data with one entry."""
    return ((b"MM\0*" if order == ">" else b"II*\0") + struct.pack(order + "IH", 8, 1) +
            struct.pack(order + "HHIHHI", 0x112, 3, 1, orientation, 0, 0))


def oriented_jpeg(jpeg, orientation):
    segment = b"Exif\0\0" + tiff(orientation, "><"[orientation % 2])
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + jpeg[2:]


def oriented_png(png, orientation):
    chunk = b"eXIf" + tiff(orientation, ">")
    behind_header = 33
    return (png[:behind_header] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) +
            png[behind_header:])


def oriented_tiff(picture, orientation):
    at, = struct.unpack_from("<I", picture, 4)
    count, = struct.unpack_from("<H", picture, at)
    entries = [picture[at + 2 + 12 * i:at + 14 + 12 * i] for i in range(count)]
    entries = [entry for entry in entries if entry[:2] != struct.pack("<H", 0x112)]
    entries.append(struct.pack("<HHIHH", 0x112, 3, 1, orientation, 0))
    entries.sort(key=lambda entry: struct.unpack_from("<H", entry))
    return (picture[:4] + struct.pack("<I", len(picture)) + picture[8:] + struct.pack("<H", len(entries)) +
            b"".join(entries) + bytes(4))


def write_pictures(folder):
    rows, columns = PICTURE
    picture = numpy.zeros((rows, columns, 3), numpy.uint8)
    picture[..., 0] = numpy.linspace(0, 250, columns)
    picture[..., 1] = numpy.linspace(250, 0, rows)[:, None]
    picture[: rows // 2, : columns // 2, 2] = 200
    encoded = {ending: cv2.imencode("." + ending, picture, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()
               for ending in ("jpg", "png", "tif")}
    for orientation in range(1, 9):
        for ending, change in ("jpg", oriented_jpeg), ("png", oriented_png), ("tif", oriented_tiff):
            name = os.path.join(folder, "%s%d.%s" % (ending, orientation, ending))
            open(name, "wb").write(change(encoded[ending], orientation))
    cv2.imwrite(os.path.join(folder, "grey.png"), picture[..., 1])
    cv2.imwrite(os.path.join(folder, "grey16.png"), picture[..., 1].astype(numpy.uint16) * 257)
    cv2.imwrite(os.path.join(folder, "alpha.png"), numpy.dstack([picture, picture[..., 1]]))
    cv2.imwrite(os.path.join(folder, "small.bmp"), picture[:7, :5])
    open(os.path.join(folder, "cut.png"), "wb").write(encoded["png"][:-30])
    open(os.path.join(folder, "wrong.png"), "wb").write(encoded["png"][:60] + bytes([encoded["png"][60] ^ 255]) +
                                                        encoded["png"][61:])


def turn(clip, turned, degrees):
    one = 1 << 16
    a, b = {"90": (0, one), "180": (-one, 0), "270": (0, -one)}[degrees]
    data = open(clip, "rb").read()
    # Every track's, as sound has no picture to turn.
    at = data.find(b"tkhd")
    while at >= 0:
        matrix = at + 4 + (52 if data[at + 4] == 1 else 40)
        data = data[:matrix] + struct.pack(">9i", a, b, 0, -b, a, 0, 0, 0, 1 << 30) + data[matrix + 36:]
        at = data.find(b"tkhd", matrix)
    open(turned, "wb").write(data)


def expected_pictures(source, frames):
    if os.path.isdir(source):
        for frame in frames:
            yield cv2.imread(os.path.join(source, frame["file"]))
        return
    capture = cv2.VideoCapture(source, cv2.CAP_FFMPEG)
    for _ in frames:
        yield capture.read()[1]


def compare_pixels(source, lines, dump):
    parsed = [json.loads(line) for line in open(lines)]
    frames = [line for line in parsed if "pts_ns" in line]
    data = open(dump, "rb").read()
    at = 0
    worst = 0.0
    wrong = []
    for frame, expected in zip(frames, expected_pictures(source, frames)):
        shape = (frame["height"], frame["width"], 3)
        size = shape[0] * shape[1] * 3
        image = numpy.frombuffer(data, numpy.uint8, size, at).reshape(shape)
        at += size
        name = frame.get("file", frame["frame"])
        if expected is None or expected.shape != shape:
            wrong.append("%s: %s, OpenCV %s" % (name, shape, expected is not None and expected.shape))
            continue
        apart = float(numpy.abs(image.astype(int) - expected).mean())
        worst = max(worst, apart)
        if apart > 3:
            wrong.append("%s: pixels differ by %.1f on average" % (name, apart))
    print(f"{source}: {len(frames)} pictures, pixels differ by at most {worst:.2f} on average; damaged: "
          f"{[line['file'] for line in parsed if 'damage' in line]}")
    for line in wrong:
        print("  " + line)
    return 0 if frames and at == len(data) and not wrong else 1


if __name__ == "__main__":
    sys.exit({"means": compare_means, "pictures": write_pictures, "turn": turn, "pixels": compare_pixels}[sys.argv[1]](*sys.argv[2:]))
