# SPDX-License-Identifier: Apache-2.0
"""Batches of random numbers: two that alternate, which nothing loads."""

import itertools

import torch

KEPT = 2
DIFFERENT = 256  # samples, repeated: making a large batch of random numbers takes longer than training on it
TOKENS = 1 << 15


def _repeated(few, batch):
    return few if len(few) == batch else few.repeat((-(-batch // len(few)),) + (1,) * (few.dim() - 1))[:batch].contiguous()


class RandomData:
    """`classes`: random labels below it, for labels that are class numbers."""

    def __init__(self, form, classes):
        self.form = form
        self.classes = classes

    def batch(self, batch):
        count = min(DIFFERENT, batch)
        shape = [count] + self.form.sample
        samples = torch.randint(0, TOKENS, shape) if self.form.integer_samples() else torch.randn(shape)
        if self.form.integer_labels():
            labels = torch.randint(0, self.classes, [count] + self.form.label)
        else:
            labels = torch.rand([count] + self.form.label)
        return _repeated(samples, batch), _repeated(labels, batch)

    def loader(self, settings, on_gpu):
        return RandomLoader([self.batch(settings.batch) for _ in range(KEPT)], settings, settings.pin_memory and on_gpu)


class RandomLoader:
    def __init__(self, kept, settings, pinned):
        self.num_workers = settings.workers  # they have nothing to do
        self.kept = [tuple(values.pin_memory() for values in batch) for batch in kept] if pinned else kept

    def __iter__(self):
        return itertools.cycle(self.kept)
