# SPDX-License-Identifier: Apache-2.0
"""Installs all hooks; torch has been imported. Those that are installed for one recording are removed by patches.undo()."""
import os

import torch
import torch.utils.data.dataloader

from ridgeline_profile import (annotated, backward, endings, hidden, launch_lines, library, lines, modules, names, optimizers, profiler_api,
                               threads, waits)


def _forked():
    """A child has a record of its own."""
    for part in (library, names, lines, threads, backward):
        part.forked()


def _install_lines(options):
    try:
        launch_lines.install(options)
    except Exception:
        pass  # the program runs without them


def install_for_recording(options):
    """In a program that has been running: what it has made before is found."""
    _install(options, optimizers.install_in_running)


_is_first = True


def install():
    _install(os.environ.get("RIDGELINE_TRACE_OPTIONS", ""), optimizers.install)


def _install(options, install_optimizers):
    global _is_first
    hidden.hide()
    endings.install()
    _install_lines(options)  # before what begins a step
    modules.install()
    backward.install()
    install_optimizers()
    profiler_api.install()
    waits.install()
    annotated.around(torch.utils.data.dataloader._BaseDataLoaderIter, "__next__", "DataLoader next")
    graph = getattr(torch.cuda, "graph", None)
    if graph is not None:
        annotated.captures(graph, "CUDA graph capture")
    if _is_first and hasattr(os, "register_at_fork"):
        _is_first = False
        os.register_at_fork(after_in_child=_forked)
