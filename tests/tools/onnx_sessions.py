# SPDX-License-Identifier: Apache-2.0
"""Models that scripts/profile_gpu.sh records in ONNX Runtime, with random weights.

    onnx_sessions.py --export MODEL.onnx MODEL      MODEL: rtdetr, vit_b16, resnet50, gpt_block, of marked_models.py
    onnx_sessions.py --can-run                      exit code 0: ONNX Runtime has CUDA
    onnx_sessions.py --library                      the path of its shared library
    onnx_sessions.py MODEL.onnx [--graph] [--steps 20] [--provider cuda|cpu]
The last prints the median time of a run in ms. --graph: replayed as a CUDA graph."""
import argparse
import os
import statistics
import sys
import time

import numpy as np

WARM_UP = 5


def export(path, name):
    import torch

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import marked_models

    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)  # which has no ONNX operator
    model, inputs = marked_models.made(name)
    with torch.no_grad():
        torch.onnx.export(model.eval(), (inputs,), path, input_names=["inputs"], opset_version=17, dynamo=False)


def onnxruntime():
    import onnxruntime

    if hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()  # of CUDA and cuDNN, from pip's packages
    return onnxruntime


def can_run():
    try:
        return "CUDAExecutionProvider" in onnxruntime().get_available_providers()
    except ImportError:
        return False


def library():
    import glob

    path, = glob.glob(os.path.join(os.path.dirname(onnxruntime().__file__), "capi", "libonnxruntime.so.*"))
    return path


def call_of(session, graph):
    source, = session.get_inputs()
    inputs = np.random.default_rng(0).standard_normal(source.shape).astype(np.float32)
    if not graph:
        return lambda: session.run(None, {source.name: inputs})
    ort = onnxruntime()
    on_gpu = ort.OrtValue.ortvalue_from_numpy(inputs, "cuda", 0)
    shapes = [value.shape for value in session.run(None, {source.name: inputs}, no_graph(ort))]
    binding = session.io_binding()
    binding.bind_ortvalue_input(source.name, on_gpu)
    for output, shape in zip(session.get_outputs(), shapes):
        binding.bind_ortvalue_output(output.name, ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float32, "cuda", 0))
    return lambda: session.run_with_iobinding(binding)


def no_graph(ort):
    options = ort.RunOptions()
    options.add_run_config_entry("gpu_graph_id", "-1")  # runs without capturing
    return options


def run(options):
    provider = "CPUExecutionProvider"
    if options.provider == "cuda":
        provider = ("CUDAExecutionProvider", {"enable_cuda_graph": "1"} if options.graph else {})
    session = onnxruntime().InferenceSession(options.model, providers=[provider])
    call = call_of(session, options.graph)
    times = []
    for number in range(WARM_UP + options.steps):
        begin = time.perf_counter()
        call()
        if number >= WARM_UP:
            times.append((time.perf_counter() - begin) * 1e3)
    print("%.4f" % statistics.median(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--export", metavar="MODEL.onnx")
    parser.add_argument("--can-run", action="store_true")
    parser.add_argument("--library", action="store_true")
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--provider", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    if options.can_run:
        sys.exit(0 if can_run() else 1)
    if options.library:
        print(library())
    elif options.export:
        export(options.export, options.model)
    else:
        run(options)


if __name__ == "__main__":
    main()
