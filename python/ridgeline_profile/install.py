# SPDX-License-Identifier: Apache-2.0
"""Installs all hooks; torch has been imported."""
import os

import torch
import torch.utils.data.dataloader

from ridgeline_profile import (annotated, backward, endings, hidden, launch_lines, library, lines, modules, names, optimizers, profiler_api,
                               threads, waits)


def _forked():
    """A child has a record of its own."""
    for part in (library, names, lines, threads, backward):
        part.forked()


def _install_lines():
    try:
        launch_lines.install()
    except Exception:
        pass  # the program runs without them


def install():
    hidden.hide()
    endings.install()
    modules.install()
    backward.install()
    optimizers.install()
    profiler_api.install()
    waits.install()
    annotated.around(torch.utils.data.dataloader._BaseDataLoaderIter, "__next__", "DataLoader next")
    _install_lines()
    graph = getattr(torch.cuda, "graph", None)
    if graph is not None:
        annotated.captures(graph, "CUDA graph capture")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
