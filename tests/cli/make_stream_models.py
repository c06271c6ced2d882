#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models for pictures that find the same whatever they see, in the layouts of well-known detectors, as NAME.onnx
into a folder. The box is 270,295 to 370,345 of a 640x640 input, keypoint k is at 300+k,300+2k. Needs no package.
  make_stream_models.py FOLDER"""
import math
import struct
import sys
from pathlib import Path

FLOAT, INT32, INT64 = 1, 6, 7


def varint(number):
    out = bytearray()
    while True:
        out.append((number & 127) | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(out)


def field(number, value):
    """An integer, text, bytes or a message of fields."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, kind, dims, values):
    code = {FLOAT: "f", INT32: "i", INT64: "q"}[kind]
    data = struct.pack(f"<{len(values)}{code}", *values)
    return b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name) + field(9, data)


def node(kind, inputs, outputs, attributes=b""):
    return b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(4, kind) + attributes


def value(name, kind, dims):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def model(path, outputs, height=640, width=640, metadata=None):
    """outputs: {name: (dims with the batch, {first flat place: values}, fill, type)}; "h" and "w" as sides: any size."""
    nodes, constants, declared = [], [], []
    # Nothing of the picture, so that the result depends on the input.
    keep = field(5, field(1, "keepdims") + field(20, 2) + field(3, 0))
    nodes += [node("ReduceMean", ["images"], ["mean"], keep), node("Mul", ["mean", "zero"], ["nothing"])]
    constants.append(tensor("zero", FLOAT, [1], [0]))
    for name, (dims, places, fill, kind) in outputs.items():
        total = math.prod(dims)
        # Scattered into one value repeated, which keeps the file small.
        at = [place + i for place, values in places.items() for i in range(len(values))]
        updates = [v for values in places.values() for v in values]
        constants += [tensor(name + "_size", INT64, [1], [total]), tensor(name + "_dims", INT64, [len(dims)], dims)]
        filled = field(5, field(1, "value") + field(20, 4) + field(5, tensor("", FLOAT, [1], [fill])))
        nodes.append(node("ConstantOfShape", [name + "_size"], [name + "_all"], filled))
        constants += [
            tensor(name + "_at", INT64, [len(at), 1], at),
            tensor(name + "_updates", FLOAT, [len(at)], updates),
        ]
        nodes.append(node("ScatterND", [name + "_all", name + "_at", name + "_updates"], [name + "_flat"]))
        nodes.append(node("Reshape", [name + "_flat", name + "_dims"], [name + "_shaped"]))
        nodes.append(node("Add", [name + "_shaped", "nothing"], [name + "_float" if kind != FLOAT else name]))
        if kind != FLOAT:
            to = field(5, field(1, "to") + field(20, 2) + field(3, kind))
            nodes.append(node("Cast", [name + "_float"], [name], to))
        declared.append(value(name, kind, dims))
    graph = b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, c) for c in constants)
    graph += field(11, value("images", FLOAT, [1, 3, height, width])) + b"".join(field(12, o) for o in declared)
    out = field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))
    for key, text in (metadata or {}).items():
        out += field(14, field(1, key) + field(2, str(text)))
    Path(path).write_bytes(out)


def floats(dims, places, fill=0.0):
    return dims, places, fill, FLOAT


def integers(dims, places, kind=INT64):
    return dims, places, 0.0, kind


def column(channels, count, at, values):
    """A box of channels x count."""
    return floats([1, channels, count], {i * count + at: [v] for i, v in enumerate(values) if v})


def row(count, channels, at, values):
    return floats([1, count, channels], {at * channels: values})


def scores(classes, label, score):
    return [score if i == label else 0.0 for i in range(classes)]


def ultralytics(task, classes, **more):
    names = {i: f"name{i}" for i in range(classes)}
    return {"task": task, "names": names, "imgsz": [640, 640], "stride": 32, **more}


def write_all(folder):
    box = [320, 320, 100, 50]
    corners = [270, 295, 370, 345]
    shares = [0.5, 0.5, 100 / 640, 50 / 640]
    points = [v for k in range(17) for v in (300 + k, 300 + 2 * k, 0.5 + 0.02 * k)]

    def write(name, outputs, **more):
        model(folder / f"{name}.onnx", outputs, **more)

    detect = column(84, 8400, 0, box + scores(80, 2, 0.9))
    for place, values in ((7, [322, 321, 100, 50] + scores(80, 2, 0.8)), (14, [322, 321, 100, 50] + scores(80, 7, 0.7))):
        detect[1].update({i * 8400 + place: [v] for i, v in enumerate(values) if v})
    write("v8", {"output0": detect}, metadata=ultralytics("detect", 80))
    write("v8_plain", {"output0": detect})
    write("v5", {"output": row(25200, 85, 3, box + [0.95] + scores(80, 2, 0.9))})
    write("v10", {"output0": row(300, 6, 0, corners + [0.9, 2])})
    masks = floats([1, 32, 160, 160], {0: [0.5]})
    write("v8_seg", {"output0": column(116, 8400, 0, box + scores(80, 2, 0.9)), "output1": masks})
    write("v26_seg", {"output0": row(300, 38, 0, corners + [0.9, 2] + [0.1] * 32), "output1": masks})
    pose = ultralytics("pose", 1, kpt_shape=[17, 3])
    write("v8_pose", {"output0": column(56, 8400, 0, [320, 320, 100, 50, 0.9] + points)}, metadata=pose)
    write("v8_pose_plain", {"output0": column(56, 8400, 0, [320, 320, 100, 50, 0.9] + points)})
    write("v26_pose", {"output0": row(300, 57, 0, corners + [0.9, 0] + points)}, metadata=pose)
    obb = column(20, 8400, 0, box + scores(15, 2, 0.9) + [math.pi / 6])
    write("v8_obb", {"output0": obb}, metadata=ultralytics("obb", 15))
    turned = column(20, 8400, 0, box + scores(15, 2, 0.9) + [math.pi / 2])
    write("v8_obb_plain", {"output0": turned})
    write("v26_obb", {"output0": row(300, 7, 0, box + [0.9, 2, math.pi / 6])}, metadata=ultralytics("obb", 15))
    joined = row(300, 84, 0, shares + scores(80, 2, 0.9))
    write("ultralytics_rtdetr", {"output0": joined}, metadata=ultralytics("detect", 80))
    logits = floats([1, 100, 92], {91 + 92 * q: [4] for q in range(1, 100)}, -6.0)
    logits[1][2] = [6]
    write("hf_detr", {"logits": logits, "pred_boxes": row(100, 4, 0, shares)})
    write("hf_rtdetr", {"logits": floats([1, 300, 80], {2: [2]}, -6.0), "pred_boxes": row(300, 4, 0, shares)})
    write("rtdetr", {"labels": integers([1, 300], {0: [2]}), "boxes": row(300, 4, 0, corners), "scores": floats([1, 300], {0: [0.9]})})
    write("torchvision", {"boxes": floats([1, 4], {0: corners}), "labels": integers([1], {0: [2]}), "scores": floats([1], {0: [0.9]})})
    write("yolo_nas", {"boxes": row(8400, 4, 0, corners), "scores": row(8400, 80, 0, scores(80, 2, 0.9))})
    write("yolo_nas_swapped", {"a": row(8400, 80, 0, scores(80, 2, 0.9)), "b": row(8400, 4, 0, corners)})
    write("v7_nms", {"output": floats([1, 7], {0: [0] + corners + [2, 0.9]})})
    write("mmdet", {"dets": row(100, 5, 0, corners + [0.9]), "labels": integers([1, 100], {0: [2]})})
    write("paddle", {"nms": floats([1, 6], {0: [2, 0.9] + corners}), "count": integers([1], {0: [1]}, INT32)})
    efficient = {"num_dets": integers([1, 1], {0: [1]}, INT32), "det_boxes": row(100, 4, 0, corners)}
    efficient["det_scores"] = floats([1, 100], {0: [0.9]})
    efficient["det_classes"] = integers([1, 100], {0: [2]}, INT32)
    write("efficient_nms", efficient)
    cell = [0, 0, math.log(100 / 8), math.log(50 / 8), 0.95] + scores(80, 2, 0.9)
    write("yolox", {"output": row(8400, 85, 40 * 80 + 40, cell)})
    poses = floats([1, 100, 17, 3], {0: points})
    write("rtmo", {"dets": row(100, 5, 0, corners + [0.9]), "keypoints": poses})
    across = floats([1, 17, 384], {k * 384 + 100 + 4 * k: [0.8] for k in range(17)})
    down = floats([1, 17, 512], {k * 512 + 200 + 4 * k: [0.7] for k in range(17)})
    write("rtmpose", {"simcc_x": across, "simcc_y": down}, height=256, width=192)
    write("semantic", {"out": floats([1, 21, 80, 80], {3 * 6400: [1.0] * 6400})}, height=320, width=320)
    write("semantic_logits", {"out": floats([1, 21, 320, 320], {0: [3.0, -2.0]}, -1.5)}, height=320, width=320)
    write("semantic_classes", {"out": integers([1, 1, 320, 320], {700: [12] * 900})}, height=320, width=320)
    write("imagenet", {"logits": floats([1, 1000], {281: [9.0]})}, height=224, width=224)
    write("three_classes", {"output0": floats([1, 3], {0: [0.1, 0.8, 0.1]})}, height=224, width=224, metadata=ultralytics("classify", 3))
    trained = {**ultralytics("detect", 80), "imgsz": [320, 320], "args": {"nms": True}}
    write("any_size", {"output0": row(300, 6, 0, [135, 147.5, 185, 172.5, 0.9, 2])}, height="h", width="w", metadata=trained)
    write("any_size_plain", {"output0": row(300, 6, 0, corners + [0.9, 2])}, height="h", width="w")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    write_all(target)
