# SPDX-License-Identifier: Apache-2.0
"""What tests of ridgeline_train share: the pretended torch (tests/fakes/faketorch) and a job's specification."""

import json
import os
import socket
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FAKE = os.path.join(ROOT, "tests", "fakes", "faketorch")
sys.path[:0] = [FAKE, os.path.join(ROOT, "python")]

import torch  # noqa: E402  the pretended one
from torch.utils.data import Dataset  # noqa: E402


def made(settings, **changes):
    out = dict(model=torch.Module(), optimizer=torch.Optimizer(), loss=lambda output, target: torch.Tensor(),
               loader=lambda now: [(torch.Tensor(), torch.Tensor())] * 3)
    out.update(changes)
    return out


def spec(data="loader", device="cuda:0", **settings):
    chosen = dict(batch=8, workers=0, amp="off", pin_memory=False)
    chosen.update(settings)
    return {"job": {"target": "x:y", "seed": 3, "options": {"depth": "3"}}, "settings": chosen, "device": device, "data": data}


def pair(samples, *rest):
    return torch.Tensor(shape=(samples,) + rest), torch.Tensor(shape=(samples,))


class Samples(Dataset):
    def __init__(self, make=lambda index: (torch.Tensor(shape=(4,)), index % 2)):
        self.make = make

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return self.make(index)


def started(code, folder):
    """`python -m ridgeline_train` as the tool starts it, next to job.py with that code; and the channel to it."""
    with open(os.path.join(folder, "job.py"), "w") as file:
        file.write(code)
    ours, theirs = socket.socketpair()
    env = dict(os.environ, RIDGELINE_CHANNEL_FD=str(theirs.fileno()), PYTHONPATH=os.pathsep.join([os.path.join(ROOT, "python"), FAKE]))
    child = subprocess.Popen([sys.executable, "-m", "ridgeline_train"], env=env, cwd=folder, pass_fds=[theirs.fileno()],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    theirs.close()
    stream = ours.makefile("rw")
    ours.close()  # the stream keeps it open
    return child, stream


def asked(stream, request, phases=None):
    """The answer, without the phases before it; None if the process has ended."""
    stream.write(json.dumps(request) + "\n")
    stream.flush()
    while True:
        line = stream.readline()
        answer = json.loads(line) if line else None
        if answer is None or "doing" not in answer:
            return answer
        if phases is not None:
            phases.append(answer["doing"])
