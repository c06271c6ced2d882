# SPDX-License-Identifier: Apache-2.0
"""What scripts/test_stream.sh needs of Python.

  test_stream.py make VIDEO FOLDER     bikes.avi and bikes.ts of the video, flash.bgr (64x48, 60 frames, every fifth white),
                                       and models: mean.onnx, flash.onnx (fails for bright pictures), dark.onnx (for dark ones)
  test_stream.py lines FILE            checks that each source's frames are all there, once and in order; prints
                                       {"lines", "dropped": {reason: n}, "sources": {source: lines}}
  test_stream.py memory SECONDS PID... samples the processes' resident memory; prints {"grew_kb": {pid: n}, "kb": {pid: [...]}}
"""
import collections
import json
import statistics
import sys
import time

WIDTH, HEIGHT, FRAMES = 64, 48, 60


def make(video, folder):
    import cv2
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    clip = cv2.VideoCapture(video)
    size = int(clip.get(cv2.CAP_PROP_FRAME_WIDTH)), int(clip.get(cv2.CAP_PROP_FRAME_HEIGHT))
    codecs = {"bikes.avi": "MJPG", "bikes.ts": "mp4v"}
    writers = [cv2.VideoWriter(f"{folder}/{name}", cv2.CAP_FFMPEG, cv2.VideoWriter_fourcc(*codec), 25, size) for name, codec in codecs.items()]
    while (read := clip.read())[0]:
        for writer in writers:
            writer.write(read[1])
    for writer in writers:
        writer.release()

    frames = np.full((FRAMES, HEIGHT, WIDTH, 3), 40, np.uint8)
    frames[4::5] = 255
    frames.tofile(f"{folder}/flash.bgr")

    def save(name, nodes, constants, output):
        values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, "h", "w"])]
        results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)]
        graph = helper.make_graph(nodes, name, values, results, [onnx.numpy_helper.from_array(value, key) for key, value in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, f"{folder}/{name}.onnx")

    mean = helper.make_node("ReduceMean", ["x"], ["mean"], axes=[1, 2, 3], keepdims=0)
    save("mean", [helper.make_node("ReduceMean", ["x"], ["y"], axes=[1, 2, 3], keepdims=0)], {}, ["n"])
    # An index outside of the table where the picture is bright, or dark.
    for name, comparison in (("flash", "Greater"), ("dark", "Less")):
        save(
            name,
            [
                mean,
                helper.make_node(comparison, ["mean", "limit"], ["bad"]),
                helper.make_node("Cast", ["bad"], ["one"], to=TensorProto.INT64),
                helper.make_node("Mul", ["one", "far"], ["index"]),
                helper.make_node("Gather", ["table", "index"], ["y"], axis=0),
            ],
            {"limit": np.array(0.5, np.float32), "far": np.array(100), "table": np.ones(4, np.float32)},
            ["n"],
        )


def lines(path):
    following = collections.Counter()
    dropped = collections.Counter()
    text = open(path, encoding="utf-8").read()
    if text and not text.endswith("\n"):
        sys.exit(f"the last line has no end: {text[-60:]!r}")
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            sys.exit(f"line {number}: {error}: {line[:80]!r}")
        if row["frame"] != following[row["source"]]:
            sys.exit(f"line {number}: frame {row['frame']} of source {row['source']}, expected {following[row['source']]}")
        if ("result" in row) == ("dropped" in row):
            sys.exit(f"line {number}: expected either a result or a reason: {line[:80]!r}")
        following[row["source"]] += 1
        if "dropped" in row:
            dropped[row["dropped"]] += 1
    print(json.dumps({"lines": following.total(), "dropped": dropped, "sources": following}))


def memory(seconds, pids):
    samples = {pid: [] for pid in pids}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for pid, values in samples.items():
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                values.append(next(int(line.split()[1]) for line in status if line.startswith("VmRSS")))
        time.sleep(seconds / 60)
    # What caches and allocators take at first, and give back at times, is no growth: the last quarter's median against the second's.
    grew = {}
    for pid, values in samples.items():
        quarter = len(values) // 4
        grew[pid] = statistics.median(values[-quarter:]) - statistics.median(values[quarter : 2 * quarter])
    print(json.dumps({"grew_kb": grew, "kb": {pid: values[:: max(1, len(values) // 6)] for pid, values in samples.items()}}))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:4])
    elif sys.argv[1] == "lines":
        lines(sys.argv[2])
    else:
        memory(float(sys.argv[2]), sys.argv[3:])
