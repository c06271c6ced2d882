#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX models of the GPU benchmark: well-known architectures with seeded random weights, nothing downloaded.

    benchmarks/models/export.py --out FOLDER [--only NAME]... [--check] [--force]
    benchmarks/models/export.py --list
Needs torch, torchvision, transformers and onnx; --check also onnxruntime. Speed does not depend on the weights' values
as long as they are ordinary numbers, so batch normalisation gets its statistics from random inputs: without them
activations of a deep random network grow by orders of magnitude. RT-DETR sorts its 300 best candidates by score, and
random weights score all of them alike: the last bits of a sum decide the order of its outputs, so outputs of two
settings cannot be compared element by element. Opset 17, FP32; NAME_opset23 by the newer exporter, with attention as one
operator.
"""
import argparse
import hashlib
import pathlib
import sys
import time
import warnings
from typing import Callable, NamedTuple

OPSET = 17
SEED = 1


class Model(NamedTuple):
    build: Callable             # () -> torch.nn.Module in eval mode
    inputs: dict                # name -> shape, an integer input has "int64" as its last member
    outputs: list
    dynamic_batch: bool         # first dimension is the symbol "N"
    about: str
    opset: int = OPSET


def resnet50():
    from torchvision.models import resnet50 as make
    return calibrated(make(weights=None), (8, 3, 224, 224))


def mobilenet_v3_large():
    from torchvision.models import mobilenet_v3_large as make
    return calibrated(make(weights=None), (8, 3, 224, 224))


def vit_b_16():
    import torch
    from torchvision.models import vit_b_16 as make
    torch.backends.mha.set_fastpath_enabled(False)  # the fused CPU operator has no ONNX form
    model = make(weights=None)
    torch.nn.init.normal_(model.heads.head.weight, std=0.02)  # zero until trained, and so would be every output
    return model


def rtdetr_r50():
    from transformers import RTDetrConfig, RTDetrForObjectDetection
    # A fixed size makes the anchors constants, as deployed models have them.
    config = RTDetrConfig(num_labels=80, anchor_image_size=[640, 640], freeze_backbone_batch_norms=False,
                          attn_implementation="eager")
    model = RTDetrForObjectDetection(config)
    return calibrated(Chosen(model, "pixel_values", ["logits", "pred_boxes"]), (2, 3, 640, 640))


def vitpose_b():
    from transformers import VitPoseBackboneConfig, VitPoseConfig, VitPoseForPoseEstimation
    backbone = VitPoseBackboneConfig(image_size=[256, 192], patch_size=[16, 16], hidden_size=768, num_hidden_layers=12,
                                     num_attention_heads=12, out_indices=[12], attn_implementation="eager")
    config = VitPoseConfig(backbone_config=backbone, num_labels=17, use_simple_decoder=False,
                           attn_implementation="eager")
    model = VitPoseForPoseEstimation(config)
    return calibrated(Chosen(model, "pixel_values", ["heatmaps"]), (4, 3, 256, 192))


def bert_base(attention="eager"):
    from transformers import BertConfig, BertModel
    return Chosen(BertModel(BertConfig(attn_implementation=attention)), "input_ids", STATES, "attention_mask")


IMAGE = {"images": (1, 3, 224, 224)}
SENTENCE = {"input_ids": (1, 128, "int64"), "attention_mask": (1, 128, "int64")}
STATES = ["last_hidden_state", "pooler_output"]
MODELS = {
    "resnet50": Model(resnet50, IMAGE, ["logits"], False, "torchvision ResNet-50"),
    "resnet50_n": Model(resnet50, IMAGE, ["logits"], True, "the same with a dynamic batch"),
    "rtdetr_r50": Model(rtdetr_r50, {"images": (1, 3, 640, 640)}, ["logits", "boxes"], False,
                        "transformers RT-DETR, ResNet-50 backbone"),
    "vitpose_b": Model(vitpose_b, {"images": (1, 3, 256, 192)}, ["heatmaps"], False,
                       "transformers ViTPose-B, classic decoder"),
    "mobilenetv3_large": Model(mobilenet_v3_large, IMAGE, ["logits"], False, "torchvision MobileNetV3-Large"),
    "mobilenetv3_large_n": Model(mobilenet_v3_large, IMAGE, ["logits"], True, "the same with a dynamic batch"),
    "bert_base_128": Model(bert_base, SENTENCE, STATES, False, "transformers BERT-base, sequence of 128"),
    "bert_base_128_opset23": Model(lambda: bert_base("sdpa"), SENTENCE, STATES, False, "the same with Attention operators", 23),
    "vit_b_16_n": Model(vit_b_16, IMAGE, ["logits"], True, "torchvision ViT-B/16, dynamic batch"),
    "vit_b_16_n_opset23": Model(vit_b_16, IMAGE, ["logits"], True, "the same with Attention operators", 23),
}


def Chosen(model, first, outputs, *more):  # noqa: N802, a class once torch is there
    """`model` with positional inputs and a plain tuple of its named outputs, as the exporter wants it."""
    import torch

    class Wrapper(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *tensors):
            result = self.model(**dict(zip((first, *more), tensors)), return_dict=True)
            return tuple(result[name] for name in outputs)

    return Wrapper()


def calibrated(model, shape):
    """`model` whose batch normalisations hold the statistics of random inputs."""
    import torch
    model.eval()
    norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.train()
        norm.momentum = None  # the plain mean over the batches below
        norm.reset_running_stats()
    with torch.no_grad():
        for _ in range(2):
            model(torch.randn(shape))
    for norm in norms:
        norm.eval()
        norm.momentum = 0.1
    return model


def example(model):
    """Inputs of the traced shape; the mask of a sentence that fills its length."""
    import torch
    tensors = []
    for name, shape in model.inputs.items():
        if shape[-1] != "int64":
            tensors.append(torch.randn(shape))
        elif name.endswith("mask"):
            tensors.append(torch.ones(shape[:-1], dtype=torch.int64))
        else:
            tensors.append(torch.randint(0, 1000, shape[:-1]))
    return tuple(tensors)


def export(model, file):
    import torch
    torch.manual_seed(SEED)
    module = model.build().eval()
    inputs = example(model)
    part = file.with_suffix(".part")
    names = {"input_names": list(model.inputs), "output_names": model.outputs, "opset_version": model.opset}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer remarks on every constant that it folds
        if model.opset == OPSET:
            axes = {name: {0: "N"} for name in [*model.inputs, *model.outputs]} if model.dynamic_batch else None
            torch.onnx.export(module, inputs, str(part), dynamic_axes=axes, dynamo=False, **names)
        else:
            several, shapes = inputs, None
            if model.dynamic_batch:  # it takes a dimension of 1 for a constant
                several = tuple(torch.cat([tensor, tensor]) for tensor in inputs)
                shapes = tuple({0: torch.export.Dim("N", min=1, max=4096)} for _ in inputs)
            torch.onnx.export(module, several, str(part), dynamic_shapes=shapes, dynamo=True, external_data=False,
                              verbose=False, **names)
        expected = module(*inputs)
    part.rename(file)
    return inputs, expected if isinstance(expected, tuple) else (expected,)


def check(model, file, inputs, expected):
    """The largest difference between the file run by onnxruntime on the CPU and torch, over the largest value."""
    import numpy
    import onnx
    import onnxruntime
    onnx.checker.check_model(str(file))
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    results = session.run(model.outputs, {name: tensor.numpy() for name, tensor in zip(model.inputs, inputs)})
    worst = 0.0
    for got, wanted in zip(results, expected):
        wanted = wanted.numpy()
        if not numpy.isfinite(wanted).all():
            raise SystemExit(f"{file}: torch's own output is not finite")
        worst = max(worst, float(numpy.abs(got - wanted).max() / max(float(numpy.abs(wanted).max()), 1e-30)))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, help="folder to write NAME.onnx into; an existing file is kept")
    parser.add_argument("--only", action="append", metavar="NAME", help="one model; repeatable")
    parser.add_argument("--list", action="store_true", help="print the models and exit")
    parser.add_argument("--check", action="store_true", help="run each file by onnxruntime and compare with torch")
    parser.add_argument("--force", action="store_true", help="write files that exist again")
    options = parser.parse_args()
    if options.list:
        for name, model in MODELS.items():
            shapes = " ".join(f"{key}:{'x'.join(str(size) for size in shape if size != 'int64')}"
                              for key, shape in model.inputs.items())
            print(f"{name:<21} {shapes:<45} {model.about}")
        return 0
    unknown = [name for name in options.only or [] if name not in MODELS]
    if unknown:
        parser.error(f"no model \"{unknown[0]}\"; expected one of {', '.join(MODELS)}")
    if options.out is None:
        parser.error("--out FOLDER is missing")
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in options.only or MODELS:
        file = options.out / f"{name}.onnx"
        if file.exists() and not options.force:
            print(f"{name:<20} kept: {file}", flush=True)
            continue
        begin = time.monotonic()
        try:
            inputs, expected = export(MODELS[name], file)
            drift = f", differs from torch by {check(MODELS[name], file, inputs, expected):.1e}" if options.check else ""
        except Exception as error:  # one architecture that a library's release cannot export must not cost the others
            print(f"{name:<20} failed: {type(error).__name__}: {str(error).strip()[:600]}", file=sys.stderr, flush=True)
            failed += 1
            continue
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        print(f"{name:<20} {file.stat().st_size / 1e6:8.1f} MB, sha256 {digest}, "
              f"{time.monotonic() - begin:.1f} s{drift}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
