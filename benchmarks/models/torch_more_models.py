# SPDX-License-Identifier: Apache-2.0
"""Five more models with random weights for `ridgeline tune --python` and benchmarks/torch_loop.py: two of text, a detector, a segmenter
and a CNN with squeeze-excitation. They were chosen before the search was written that they measure, and nothing was fitted to them.
Needs torchvision and transformers; fetches nothing. On the GPU where there is one."""
import pathlib
import sys

import torch
import torchvision
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, YolosConfig, YolosForObjectDetection

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from torch_models import _made, _normalized  # noqa: E402


def _text(build, vocabulary, length):
    model, _ = _made(build, 1)
    return model, torch.randint(0, vocabulary, (1, length), device=next(model.parameters()).device)


def bert_base():
    return _text(lambda: BertModel(BertConfig()), 30522, 128)


def gpt2_small():
    return _text(lambda: GPT2Model(GPT2Config(use_cache=False)), 50257, 64)


def yolos_tiny():
    sizes = dict(hidden_size=192, num_hidden_layers=12, num_attention_heads=3, intermediate_size=768)
    return _made(lambda: YolosForObjectDetection(YolosConfig(image_size=[512, 512], **sizes)), 1, 3, 512, 512)


def _damped(model):
    """With the last norm of each residual branch near zero, as they start in training and end small. At one, every block of random
    weights amplifies rounding: TF32 alone then changes DeepLabV3's outputs by 17 %, RegNet's by 4 %."""
    for name, part in model.named_modules():
        if isinstance(part, torch.nn.BatchNorm2d) and (name.endswith(".bn3") or name.endswith(".f.c.1")):
            torch.nn.init.constant_(part.weight, 0.1)
    return model


def deeplabv3_resnet50():
    models = torchvision.models.segmentation
    return _made(lambda: _normalized(_damped(models.deeplabv3_resnet50(weights=None, weights_backbone=None))), 1, 3, 520, 520)


def regnet_y_1_6gf():
    return _made(lambda: _normalized(_damped(torchvision.models.regnet_y_1_6gf(weights=None))), 1, 3, 224, 224)
