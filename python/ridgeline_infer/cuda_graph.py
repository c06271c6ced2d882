# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs captured by hand around a call, one for each input set. The inputs are the user's own tensors, at whose
addresses the graph reads."""

import torch

from .attempt import attempt

WARM_UPS = 3


def captured(calls, device):
    """[(graph, its outputs)] of the functions without arguments."""
    out = []
    with torch.cuda.device(device):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                for call in calls:
                    call()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        # They never run side by side, so they share their memory; outputs are kept and so not shared.
        pool = torch.cuda.graph_pool_handle()
        for call in calls:
            graph = torch.cuda.CUDAGraph()
            with attempt("cuda_graph", also_accelerator=True):
                with torch.cuda.graph(graph, pool=pool):
                    outputs = call()
            out.append((graph, outputs))
        torch.cuda.synchronize()
    return out
