# SPDX-License-Identifier: Apache-2.0
"""Serves trials of built-in models to `ridgeline bench`, one after another: JSON lines on the file descriptor that
RIDGELINE_CHANNEL_FD names. See execute/training_child.hpp for the messages. On a CPU each trial runs in a fork of this process, which
has imported torch: its memory is the process's. On a GPU they share this process, because starting CUDA takes seconds."""

import gc
import importlib.util
import sys

from ridgeline_worker import channel, forking


def imported(reads_file, for_forks=False):
    """Whether this process may fork once it has imported what trials need."""
    from ridgeline_worker import torch_runtime

    with forking.Imports() as imports:
        torch_runtime.imported()
        if for_forks:
            torch_runtime.import_compiler()
        from ridgeline_train import trial  # noqa: F401
        from . import built_in, hdf5_data

        if reads_file:
            hdf5_data.library()
    return imports.are_fork_safe()


def make_trial(spec):
    imported(bool(spec["job"].get("data_path")))
    from ridgeline_train.trial import Trial
    from .built_in import BuiltIn

    def built(settings):
        trains = spec.get("data", "loader") != "loader_only"
        return BuiltIn(spec["job"], trains).made(settings, trains)

    return Trial(built, spec)


def packages(_request):
    """Which are installed, without importing them."""
    return {name: importlib.util.find_spec(name) is not None for name in ("torch", "h5py")}


def describe(request):
    imported(bool(request["job"].get("data_path")))
    from . import description

    return description.describe(request["job"])


def _gives_memory_back(serving):
    serving.trial = None
    torch = sys.modules["torch"]
    gc.collect()
    if not torch.cuda.is_initialized():
        return False
    torch.cuda.empty_cache()
    return True


def _forks(spec):
    if spec.get("device", "cpu") != "cpu":
        return False
    try:
        return imported(bool(spec["job"].get("data_path")), for_forks=True)
    except Exception:  # reported by the trial, which fails with it too
        return False


def serve(connection):
    from ridgeline_train.serving import serve_trials

    serve_trials(connection, {"packages": packages, "describe": describe}, make_trial, _forks, _gives_memory_back)


if __name__ == "__main__":
    sys.exit(channel.run(serve, "ridgeline_models is started by `ridgeline bench --model NAME`"))
