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
from torch_models import _made, _normalized, _torchvision  # noqa: E402


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


def deeplabv3_resnet50():
    return _made(lambda: _normalized(torchvision.models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None)), 1, 3, 520, 520)


def regnet_y_1_6gf():
    return _torchvision("regnet_y_1_6gf", 224)
