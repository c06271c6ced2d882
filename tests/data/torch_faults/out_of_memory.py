# SPDX-License-Identifier: Apache-2.0
"""max-autotune takes more memory than there is."""
import sabotage
import torch


def fail():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 8.00 GiB")


def make():
    sabotage.instead(fail, ("max-autotune", "max-autotune-no-cudagraphs"))
    return sabotage.model()
