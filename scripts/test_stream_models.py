# SPDX-License-Identifier: Apache-2.0
"""Part of scripts/test_stream_models.sh: pictures, what the packages' own Python makes of them, and whether that is what
`ridgeline stream` found.
  test_stream_models.py draw FOLDER                            letters and a figure, as FOLDER/0.png, FOLDER/1.png, ...
  test_stream_models.py compare ddddocr|nudenet SITE FOLDER LINES    SITE: site-packages with the package"""
import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

import cv2
import numpy as np

CONFIDENT = 0.5
LEAST_IOU = 0.95


def letters(seed):
    """Characters at any angle on a noisy ground, as click captchas have them."""
    random = np.random.default_rng(seed)
    height, width = (300, 500) if seed % 2 else (416, 416)
    ground = cv2.resize(random.integers(60, 200, (12, 20, 3), dtype=np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
    for number, text in enumerate("RK7BQ"[: 3 + seed % 3]):
        tile = np.zeros((110, 110, 3), np.uint8)
        mask = np.zeros((110, 110), np.uint8)
        colour = tuple(int(v) for v in random.integers(0, 255, 3))
        cv2.putText(mask, text, (22, 85), cv2.FONT_HERSHEY_DUPLEX, 3, 255, 10, cv2.LINE_AA)
        turn = cv2.getRotationMatrix2D((55, 55), float(random.uniform(-35, 35)), 0.8)
        mask = cv2.warpAffine(mask, turn, (110, 110))
        tile[:] = colour
        x = 10 + number * (width - 120) // 4
        y = int(random.integers(5, height - 120))
        area = ground[y : y + 110, x : x + 110]
        share = mask[..., None] / 255.0
        area[:] = (area * (1 - share) + tile * share).astype(np.uint8)
    return ground


def figure(seed):
    """A head with a face, and a body."""
    height, width = (360, 640) if seed % 2 else (640, 480)
    picture = np.full((height, width, 3), (200, 190, 170), np.uint8)
    x, y, size = width // 2, height // 3, height // 5 + 4 * seed
    skin, hair = (150, 180, 230), (30, 40, 60)
    cv2.ellipse(picture, (x, y - size // 4), (size, int(1.2 * size)), 0, 0, 360, hair, -1, cv2.LINE_AA)
    cv2.ellipse(picture, (x, y), (int(0.8 * size), size), 0, 0, 360, skin, -1, cv2.LINE_AA)
    for side in (-1, 1):
        cv2.ellipse(picture, (x + side * size // 3, y - size // 6), (size // 7, size // 12), 0, 0, 360, (255, 255, 255), -1, cv2.LINE_AA)
        cv2.circle(picture, (x + side * size // 3, y - size // 6), size // 14, (60, 40, 20), -1, cv2.LINE_AA)
    cv2.line(picture, (x, y - size // 8), (x - size // 12, y + size // 4), (120, 150, 200), 3, cv2.LINE_AA)
    cv2.ellipse(picture, (x, y + size // 2), (size // 4, size // 10), 0, 0, 180, (80, 80, 190), -1, cv2.LINE_AA)
    cv2.rectangle(picture, (x - size, y + int(1.15 * size)), (x + size, height), (140, 60, 40), -1)
    return cv2.GaussianBlur(picture, (5, 5), 0)


def draw(folder):
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [letters(seed) for seed in range(6)] + [figure(seed) for seed in range(4)]
    for number, picture in enumerate(pictures):
        cv2.imwrite(str(folder / f"{number}.png"), picture)


def session(path):
    import onnxruntime

    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def ddddocr_reference(site):
    """The package's own steps before and behind the model; it is loaded without Pillow, which they do not use."""
    sys.modules["PIL"] = MagicMock(Image=MagicMock(Image=type("Image", (), {})))
    sys.modules["PIL.Image"] = sys.modules["PIL"].Image
    sys.path.insert(0, str(site))
    from ddddocr.core.detection_engine import DetectionEngine

    engine = DetectionEngine.__new__(DetectionEngine)
    engine.session = None
    model = session(site / "ddddocr/common_det.onnx")

    def boxes(picture, threshold):
        tensor, ratio = engine.preproc(picture, (416, 416))
        output = model.run(None, {"images": tensor[None]})[0]
        rows = engine.demo_postprocess(output, (416, 416))[0]
        corners = np.concatenate([rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2], 1) / ratio
        found = engine.multiclass_nms(corners, rows[:, 4:5] * rows[:, 5:], nms_thr=0.45, score_thr=threshold)
        return [] if found is None else [(list(row[:4]), row[4], "") for row in found]

    return boxes


def nudenet_reference(site):
    sys.path.insert(0, str(site))
    from nudenet import nudenet

    model = session(site / "nudenet/320n.onnx")
    names = nudenet.__dict__["__labels"]

    def boxes(picture, threshold):
        tensor, *_ = nudenet._read_image(picture)
        rows = model.run(None, {"images": tensor})[0][0].T
        scale = max(picture.shape[:2]) / 320
        best = rows[:, 4:].argmax(1)
        scores = rows[:, 4:].max(1)
        corners = np.concatenate([rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2], 1) * scale
        out = []
        for label in sorted(set(best[scores >= threshold])):
            chosen = np.flatnonzero((best == label) & (scores >= threshold))
            sides = [[float(a), float(b), float(c - a), float(d - b)] for a, b, c, d in corners[chosen]]
            for i in np.array(cv2.dnn.NMSBoxes(sides, scores[chosen].tolist(), threshold, 0.45)).reshape(-1):
                out.append((list(corners[chosen[i]]), scores[chosen[i]], names[label]))
        return out

    return boxes


def overlap(a, b):
    across = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    down = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    both = across * down
    return both / max(1e-9, (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def compare(package, site, folder, lines, threshold):
    reference = {"ddddocr": ddddocr_reference, "nudenet": nudenet_reference}[package](site)
    results = [json.loads(line)["result"] for line in lines.read_text().splitlines()]
    pictures = sorted(folder.glob("*.png"))
    if len(results) != len(pictures):
        sys.exit(f"{len(results)} results for {len(pictures)} pictures")
    compared, worst, most = 0, 1.0, 0.0
    for path, result in zip(pictures, results):
        picture = cv2.imread(str(path))
        height, width = picture.shape[:2]
        expected = reference(picture, threshold)
        for box, score, label in expected:
            if score < max(threshold, CONFIDENT if package == "ddddocr" else 1.2 * threshold):
                continue
            box = [min(max(v, 0), limit) for v, limit in zip(box, (width, height, width, height))]
            near = max(result["boxes"], key=lambda one: overlap(one["box"], box), default=None)
            found = overlap(near["box"], box) if near else 0.0
            if found < LEAST_IOU or (label and near.get("label") != label):
                sys.exit(f"{path.name}: {label} {[round(float(v), 1) for v in box]} of score {score:.3f}: the nearest is {near} (IoU {found:.3f})")
            compared += 1
            worst = min(worst, found)
            most = max(most, abs(near["score"] - float(score)))
    if compared == 0:
        sys.exit("no box to compare")
    print(f"{package}: {compared} boxes of {len(pictures)} pictures as its own Python has them: IoU {worst:.3f} at least, scores within {most:.3f}")


if sys.argv[1] == "draw":
    draw(Path(sys.argv[2]))
else:
    compare(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5]), float(sys.argv[6]))
