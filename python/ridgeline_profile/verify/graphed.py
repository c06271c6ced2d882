# SPDX-License-Identifier: Apache-2.0
"""A module whose calls replay a CUDA graph, one for each shape of its inputs."""
import torch

from ridgeline_profile.verify import importable  # noqa: F401
from ridgeline_infer import cuda_graph, tensors
from ridgeline_worker.failures import BadSettings

MOST_GRAPHS = 8
PLAIN = (bool, int, float, str, type(None), torch.dtype, torch.device)


def _key(value, depth=tensors.DEPTH):
    """What a graph depends on. Objects whose state it would not see are refused."""
    if isinstance(value, torch.Tensor):
        if not value.is_cuda:
            raise BadSettings("an input is on the %s" % value.device.type)
        return tuple(value.shape), value.dtype, value.device, tuple(value.stride())
    if isinstance(value, PLAIN):
        return type(value), value
    if isinstance(value, (list, tuple)) and depth:
        return tuple(_key(one, depth - 1) for one in value)
    if isinstance(value, dict) and depth:
        return tuple((name, _key(one, depth - 1)) for name, one in value.items())
    raise BadSettings("an argument is a %s, whose state a graph does not see" % type(value).__name__)


def _copy(into, value):
    for (_, target), (_, source) in zip(tensors.leaves(into), tensors.leaves(value)):
        target.copy_(source)


class Graphed:
    def __init__(self, call, module):
        self._call = call
        self._device = next(module.parameters()).device
        self._graphs = {}
        self.replays = 0

    def __call__(self, *args, **kwargs):
        key = _key((args, kwargs))
        graph = self._graphs.get(key)
        if graph is None:
            if len(self._graphs) == MOST_GRAPHS:
                raise BadSettings("its inputs have more than %d shapes" % MOST_GRAPHS)
            graph = self._graphs[key] = self._captured(args, kwargs)
        inputs, captured, outputs = graph
        with torch.no_grad():
            _copy(inputs, (args, kwargs))
            captured.replay()
            self.replays += 1
            return tensors.kept(outputs)  # the program may keep what a later call would overwrite

    def _captured(self, args, kwargs):
        with torch.no_grad():
            inputs = tensors.kept((args, kwargs))
            (captured, outputs), = cuda_graph.captured([lambda: self._call(*inputs[0], **inputs[1])], self._device)
        return inputs, captured, outputs
