# SPDX-License-Identifier: Apache-2.0
"""The trainings of examples/ as functions for `bench --python`: what scripts/test_training.py compares the scripts with."""
import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples"))


def plain(settings):
    import train_pytorch

    return train_pytorch.bench(settings)


def lightning(settings):
    import train_lightning

    return dict(model=train_lightning.Classifier(), dataset=train_lightning.Images())


def transformers(settings):
    import train_transformers

    model = train_transformers.make_model()

    def forward(model, batch):
        return model(**batch).loss

    def optimizer(model):
        return torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.0, fused=True)

    return dict(model=model, optimizer=optimizer, forward=forward, dataset=train_transformers.Sentences())


def timm(settings):
    import timm
    import timm.data
    import timm.optim
    import train_timm

    model = timm.create_model("resnet10t", num_classes=10)
    size = (3, train_timm.SIZE, train_timm.SIZE)

    def loader(settings):
        return timm.data.create_loader(train_timm.Images(), input_size=size, batch_size=settings.batch, is_training=True,
                                       num_workers=settings.workers, use_prefetcher=False, device=torch.device("cpu"))

    return dict(model=model, optimizer=timm.optim.create_optimizer_v2(model, opt="sgd", lr=0.01, momentum=0.9), loss=nn.CrossEntropyLoss(),
                loader=loader)
