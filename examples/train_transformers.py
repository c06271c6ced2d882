# SPDX-License-Identifier: Apache-2.0
"""A training with transformers' Trainer as people have them; nothing in it is for Ridgeline:

    ridgeline bench --batch-sizes 8,16,32 --num-workers 0,1,2 -- python examples/train_transformers.py --epochs 1
"""
import argparse

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

LENGTH, WORDS = 64, 2000


class Sentences(Dataset):
    """Random sentences of two classes."""

    def __len__(self):
        return 2048

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        words = torch.randint(WORDS, (LENGTH,), generator=generator)
        return {"input_ids": words, "attention_mask": torch.ones_like(words), "labels": index % 2}


def make_model():
    return BertForSequenceClassification(BertConfig(vocab_size=WORDS, hidden_size=128, num_hidden_layers=2, num_attention_heads=4,
                                                    intermediate_size=512))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--output", default="transformers-output")
    arguments = parser.parse_args()
    settings = TrainingArguments(output_dir=arguments.output, num_train_epochs=arguments.epochs, per_device_train_batch_size=16,
                                 report_to=[], save_strategy="no", logging_steps=1000)
    Trainer(model=make_model(), args=settings, train_dataset=Sentences()).train()


if __name__ == "__main__":
    main()
