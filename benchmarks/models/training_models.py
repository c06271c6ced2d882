# SPDX-License-Identifier: Apache-2.0
"""Trainings of known models on synthetic data for `ridgeline bench --python training_models.py:resnet50` and benchmarks/training_levers.py, as
scripts usually have them: FP32, no levers. RIDGELINE_SMALL=1 makes them small enough for a CPU."""
import os

import torch
from torch import nn
from torch.utils.data import Dataset

SMALL = os.environ.get("RIDGELINE_SMALL") == "1"
SIDE = 64 if SMALL else 224
TOKENS, LENGTH, WIDTH, LAYERS = (256, 32, 64, 2) if SMALL else (8192, 256, 512, 6)
KEPT = 64      # different samples
COUNT = 50000  # samples of an epoch


class Images(Dataset):
    """Images of bytes, as decoders give them, ready in memory."""

    def __init__(self):
        generator = torch.Generator().manual_seed(1)
        self.images = torch.randint(0, 256, (KEPT, 3, SIDE, SIDE), dtype=torch.uint8, generator=generator)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return self.images[index % KEPT], index % 10


class Text(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(1)
        self.text = torch.randint(0, TOKENS, (KEPT, LENGTH + 1), generator=generator)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return self.text[index % KEPT]


class Decoder(nn.Module):
    """A small language model with causal attention."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(TOKENS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, TOKENS)

    def forward(self, text):
        x = self.words(text) + self.places(torch.arange(text.shape[1], device=text.device))
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = WIDTH // 64
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.inner = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.inner(self.second(x))


def classify(model, batch):
    images, labels = batch
    return nn.functional.cross_entropy(model(images.float().div(255)), labels)


def predict(model, text):
    words = model(text[:, :-1])
    return nn.functional.cross_entropy(words.reshape(-1, TOKENS), text[:, 1:].reshape(-1))


def resnet50(settings):
    from torchvision.models import resnet50 as make

    model = make(num_classes=10)
    return dict(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), dataset=Images(), forward=classify)


def vit_b_16(settings):
    from torchvision.models import VisionTransformer, vit_b_16 as make

    model = VisionTransformer(SIDE, 16, 2, 4, 64, 128, num_classes=10) if SMALL else make(num_classes=10)
    return dict(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-4), dataset=Images(), forward=classify)


def transformer(settings):
    model = Decoder()
    return dict(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-4), dataset=Text(), forward=predict)
