#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ridgeline stream` is compared with on a GPU: the model alone, the upload alone, and loops as people write them.

  stream_loops.py alone  --model M.onnx --batch 1,16,64        the model under a CUDA graph, inputs on the GPU: frames/s
  stream_loops.py upload --frame-bytes N                       page-locked memory to the GPU: frames/s
  stream_loops.py loop   --model M.onnx --frames F.nv12 --size 1920x1080 --threads 1,3,8 --batch 1,8 [--engine onnxruntime|torch]
  stream_loops.py same   A.jsonl B.jsonl                       boxes of two outputs: share that agrees (IoU of 0.99, classes)

Loops read NV12 frames from memory, convert and resize with OpenCV, normalize with numpy and run the model. One JSON line each.
Needs numpy; opencv and onnxruntime-gpu, or torch with the model as TorchScript (--engine torch).
"""
import argparse
import json
import sys
import threading
import time


def print_row(**row):
    print(json.dumps(row), flush=True)


def numbers(text):
    return [int(part) for part in text.split(",")]


def ort_session(model, **options):
    import onnxruntime

    if hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()
    session = onnxruntime.InferenceSession(model, providers=[("CUDAExecutionProvider", options)])
    if "CUDAExecutionProvider" not in session.get_providers():
        sys.exit("onnxruntime has no CUDA provider here")
    return session


def input_of(session, batch):
    port = session.get_inputs()[0]
    dims = [batch if at == 0 else side if isinstance(side, int) else 640 if at > 1 else 3 for at, side in enumerate(port.shape)]
    return port.name, dims


def alone(given):
    import numpy
    import onnxruntime

    for batch in numbers(given.batch):
        session = ort_session(given.model, enable_cuda_graph="1", cudnn_conv_algo_search="HEURISTIC")
        binding = session.io_binding()
        name, dims = input_of(session, batch)
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(numpy.random.rand(*dims).astype("float32"), "cuda", 0))
        for port in session.get_inputs()[1:]:
            sizes = numpy.full((batch, 2), 640, "int64")
            binding.bind_ortvalue_input(port.name, onnxruntime.OrtValue.ortvalue_from_numpy(sizes, "cuda", 0))
        plain = ort_session(given.model)
        feeds = {name: numpy.zeros(dims, "float32"), **{port.name: numpy.full((batch, 2), 640, "int64") for port in session.get_inputs()[1:]}}
        for port, value in zip(session.get_outputs(), plain.run(None, feeds)):
            binding.bind_ortvalue_output(port.name, onnxruntime.OrtValue.ortvalue_from_numpy(numpy.zeros_like(value), "cuda", 0))
        for _ in range(5):
            session.run_with_iobinding(binding)
        begun, runs = time.perf_counter(), 0
        while time.perf_counter() - begun < given.seconds:
            session.run_with_iobinding(binding)
            runs += 1
        print_row(what="alone", model=given.model, batch=batch, frames_per_s=runs * batch / (time.perf_counter() - begun))


def upload(given):
    import torch

    frames = 16
    host = torch.empty(frames * given.frame_bytes, dtype=torch.uint8).pin_memory()
    device = torch.empty_like(host, device="cuda")
    device.copy_(host)
    torch.cuda.synchronize()
    begun, runs = time.perf_counter(), 0
    while time.perf_counter() - begun < given.seconds:
        device.copy_(host, non_blocking=True)
        torch.cuda.synchronize()
        runs += 1
    print_row(what="upload", frame_bytes=given.frame_bytes, frames_per_s=runs * frames / (time.perf_counter() - begun))


def engine_of(given, batch):
    """A function from a batch of float32 NCHW to outputs, and the input's width and height."""
    if given.engine == "torch":
        import torch

        model = torch.jit.load(given.model, map_location="cuda").eval()
        width, height = (int(side) for side in given.input.split("x"))

        def run(values):
            with torch.inference_mode():
                out = model(torch.from_numpy(values).cuda(non_blocking=True))
                torch.cuda.synchronize()
                return out

        return run, width, height
    session = ort_session(given.model, cudnn_conv_algo_search="HEURISTIC")
    name, dims = input_of(session, batch)
    import numpy

    more = {port.name: numpy.tile(numpy.array([dims[3], dims[2]], "int64"), (batch, 1)) for port in session.get_inputs()[1:]}
    return lambda values: session.run(None, {name: values, **more}), dims[3], dims[2]


def loop(given):
    import cv2
    import numpy

    cv2.setNumThreads(1)
    width, height = (int(side) for side in given.size.split("x"))
    frames = numpy.fromfile(given.frames, "uint8").reshape(-1, height * 3 // 2, width)
    for batch in numbers(given.batch):
        run, input_width, input_height = engine_of(given, batch)
        for threads in numbers(given.threads):
            done, stop = [0] * threads, threading.Event()

            def work(number):
                at = number
                values = numpy.empty((batch, 3, input_height, input_width), "float32")
                while not stop.is_set():
                    for row in range(batch):
                        picture = cv2.cvtColor(frames[at % len(frames)], cv2.COLOR_YUV2RGB_NV12)
                        picture = cv2.resize(picture, (input_width, input_height), interpolation=cv2.INTER_LINEAR)
                        values[row] = picture.transpose(2, 0, 1) / numpy.float32(255)
                        at += threads
                    run(values)
                    done[number] += batch

            workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
            for worker in workers:
                worker.start()
            time.sleep(2)  # warm-up
            before, begun = sum(done), time.perf_counter()
            time.sleep(given.seconds)
            rate = (sum(done) - before) / (time.perf_counter() - begun)
            stop.set()
            for worker in workers:
                worker.join()
            print_row(what="loop", engine=given.engine, model=given.model, threads=threads, batch=batch, frames_per_s=rate)


def iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    common = max(0, width) * max(0, height)
    both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common
    return common / both if both > 0 else 1


def items_of(line):
    result = json.loads(line).get("result") or {}
    for box in result.get("boxes", []):
        if "box" in box:
            yield box.get("class"), box["box"]
        else:
            columns, rows = zip(*box["points"])
            yield box.get("class"), [min(columns), min(rows), max(columns), max(rows)]
    if result.get("classes"):
        yield result["classes"][0]["class"], [0, 0, 1, 1]


def same(given):
    agree = total = 0
    with open(given.a) as a, open(given.b) as b:
        for first, second in zip(a, b):
            left, right = list(items_of(first)), list(items_of(second))
            total += max(len(left), len(right))
            for label, box in left:
                match = next((other for other in right if other[0] == label and iou(box, other[1]) >= 0.99), None)
                if match is not None:
                    right.remove(match)
                    agree += 1
    print_row(what="same", items=total, agree=agree, share=agree / total if total else None)
    sys.exit(0 if total and agree == total else 1)


def main():
    parser = argparse.ArgumentParser()
    parts = parser.add_subparsers(dest="part", required=True)
    for name in ("alone", "upload", "loop"):
        part = parts.add_parser(name)
        part.add_argument("--seconds", type=float, default=5)
        part.add_argument("--model")
        part.add_argument("--batch", default="1")
        part.add_argument("--frame-bytes", type=int, default=1920 * 1080 * 3 // 2)
        part.add_argument("--frames")
        part.add_argument("--size", default="1920x1080")
        part.add_argument("--threads", default="1")
        part.add_argument("--engine", default="onnxruntime", choices=("onnxruntime", "torch"))
        part.add_argument("--input", default="224x224", help="of a TorchScript model")
    part = parts.add_parser("same")
    part.add_argument("a")
    part.add_argument("b")
    given = parser.parse_args()
    {"alone": alone, "upload": upload, "loop": loop, "same": same}[given.part](given)


if __name__ == "__main__":
    main()
