#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the GPU at its power limit until it is ended: products of two 8192 x 8192 bf16 matrices, without a pause."""
import torch

a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
b = torch.randn_like(a)
while True:
    for _ in range(50):
        c = a @ b
    torch.cuda.synchronize()
