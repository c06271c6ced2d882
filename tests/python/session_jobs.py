# SPDX-License-Identifier: Apache-2.0
"""Programs that run ONNX models, for test_onnx_sessions.py: session_jobs.py NAME MODEL.onnx."""
import gc
import os
import sys
import threading
import time

import numpy as np


def options():
    import onnxruntime

    made = onnxruntime.SessionOptions()
    made.intra_op_num_threads = 1
    return made


def session(model, made=None):
    import onnxruntime

    return onnxruntime.InferenceSession(model, made or options(), providers=["CPUExecutionProvider"])


FEED = {"x": np.ones((8, 8), np.float32), "w": np.eye(8, dtype=np.float32)}


def run(one, times=3):
    for _ in range(times):
        print(one.run(None, FEED)[0].sum())


def simple(model):
    run(session(model))


def clock(model):
    """Prints when each run began and ended."""
    one = session(model)
    for _ in range(30):
        begin = time.monotonic_ns()
        one.run(None, FEED)
        print(begin, time.monotonic_ns())


def cannot_load(model):
    for what in ("gone.onnx", b"no model"):
        try:
            session(what)
        except Exception as error:
            print(type(error).__name__)


def two(model):
    first = session(model)
    with open(model, "rb") as file:
        second = session(file.read())
    run(first, 2)
    run(second, 1)
    run(first, 1)


def thread(model):
    one = session(model)
    worker = threading.Thread(target=run, args=(one, 2))
    worker.start()
    worker.join()
    run(one, 1)


def shared_options(model):
    made = options()
    sessions = [session(model, made), session(model, made)]
    print(made.enable_profiling, made.profile_file_prefix)
    for one in sessions:
        run(one, 1)
    print(repr(sessions[0].end_profiling()))


def users(model):
    """Profiles a session of its own."""
    made = options()
    made.enable_profiling = True
    made.profile_file_prefix = os.path.join(os.getcwd(), "mine")
    one = session(model, made)
    run(one, 1)
    path = one.end_profiling()
    print(os.path.basename(path).startswith("mine"), os.path.getsize(path) > 0)


def dropped(model):
    one = session(model)
    run(one, 1)
    del one
    gc.collect()
    run(session(model), 1)


def other_providers(model):
    one = session(model)
    run(one, 1)
    one.set_providers(["CPUExecutionProvider"])
    run(one, 2)


def binding(model):
    one = session(model)
    bound = one.io_binding()
    for name, value in FEED.items():
        bound.bind_cpu_input(name, value)
    bound.bind_output("z")
    one.run_with_iobinding(bound)
    print(bound.copy_outputs_to_cpu()[0].sum())


def failing(model):
    one = session(model)
    try:
        one.run(None, {"x": FEED["x"]})
    except ValueError as error:
        print(type(error).__name__)
    import traceback

    try:
        one.run(None, dict(FEED, x=np.ones((3, 3), np.float32)))
    except Exception:
        print([frame.name for frame in traceback.extract_tb(sys.exc_info()[2])])
    try:
        session(model + ".missing")
    except Exception:
        print([frame.name for frame in traceback.extract_tb(sys.exc_info()[2])])


def forked(model):
    one = session(model)
    run(one, 1)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        run(session(model), 2)
        sys.stdout.flush()
        os._exit(0)  # exit handlers of ONNX Runtime wait for threads that the child does not have
    os.waitpid(child, 0)
    run(one, 1)


def hard_exit(model):
    one = session(model)
    run(one)
    sys.stdout.flush()
    os._exit(3)


def with_torch(model):
    import torch

    net = torch.nn.Linear(2, 2)
    one = session(model)
    for _ in range(3):
        with torch.no_grad():
            net(torch.ones(1, 2))
        run(one, 1)


def looked_for_first(model):
    import importlib.util

    print(importlib.util.find_spec("onnxruntime") is not None)
    simple(model)


def many(model):
    """More runs than a profile is kept for."""
    import onnxruntime  # noqa: F401

    profiles = sys.modules.get("ridgeline_profile.session_profile")
    if profiles is not None:
        profiles.MOST_EVENTS = 24
    one = session(model)
    for _ in range(12):
        one.run(None, FEED)


def early(model):
    """A session from before the hooks are there."""
    import importlib

    import onnxruntime  # noqa: F401

    one = session(model)
    sys.path.insert(0, os.environ["PACKAGES"])
    importlib.import_module("ridgeline_profile.on_import").watch()
    run(one, 2)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
