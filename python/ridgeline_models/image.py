# SPDX-License-Identifier: Apache-2.0
"""Samples that are images."""

from .options import refuse, shape_text

MOST_CHANNELS = 4


class Image:
    """Channels, height and width; a last axis of at most four after longer ones holds the channels."""

    def __init__(self, model, sample):
        if len(sample) != 3:
            refuse("model %s: samples of %s are no images; expected channels, height and width, for example 3x224x224"
                   % (model, shape_text(sample)))
        self.channels_last = sample[2] <= MOST_CHANNELS < sample[0]
        self.height, self.width, self.channels = sample if self.channels_last else (sample[1], sample[2], sample[0])

    def arrange(self, batch):
        return batch.permute(0, 3, 1, 2).contiguous() if self.channels_last else batch
