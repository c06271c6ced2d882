# SPDX-License-Identifier: Apache-2.0
"""Serves one training trial to `ridgeline bench`: JSON lines on the file descriptor that RIDGELINE_TRAIN_FD names. Standard
output stays the user's own. See execute/training_child.hpp for the messages."""

import json
import os
import sys
import traceback


class Channel:
    def __init__(self, fd):
        self.fd = fd
        self.buffer = b""

    def receive(self):
        """The next request; None when the parent has gone."""
        while b"\n" not in self.buffer:
            piece = os.read(self.fd, 65536)
            if not piece:
                return None
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line.decode("utf-8"))

    def send(self, message):
        data = (json.dumps(message, allow_nan=False) + "\n").encode("utf-8")
        while data:
            data = data[os.write(self.fd, data):]


def serve(channel):
    from . import target, transforms
    from .failures import facts_of
    from .trial import Trial

    trial = None
    while True:
        request = channel.receive()
        if request is None:
            return
        before = None
        try:
            op = request.get("op")
            if trial is not None:
                before = trial.num_ooms()
            if op == "describe":
                answer = target.describe(request["target"])
            elif op == "prepare":
                function, _ = target.load(request["spec"]["job"]["target"])
                trial = Trial(function, request["spec"])
                answer = {}
            elif op == "transforms":
                answer = transforms.costs(trial.sample_source())
            elif op == "run":
                answer = trial.run(int(request["steps"]))
            elif op == "reset":
                answer = trial.reset()
            elif op == "resources":
                answer = trial.resources()
            elif op == "close":
                channel.send({"ok": {}})
                return
            else:
                raise ValueError("unknown request %r" % op)
            channel.send({"ok": answer})
        except Exception as error:  # every failure is the trial's outcome
            traceback.print_exc()
            sys.stderr.flush()
            risen = None
            try:
                if trial is not None and before is not None:
                    risen = trial.num_ooms() - before
            except Exception:  # a broken CUDA context cannot be asked
                pass
            channel.send({"error": facts_of(error, risen)})


def main():
    fd = os.environ.get("RIDGELINE_TRAIN_FD", "")
    if not fd.isdigit():
        sys.stderr.write("ridgeline_train is started by `ridgeline bench --python module:function`\n")
        return 2
    # Loader workers and programs that the user starts must not hold the channel open.
    os.set_inheritable(int(fd), False)
    del os.environ["RIDGELINE_TRAIN_FD"]
    serve(Channel(int(fd)))
    sys.stdout.flush()
    sys.stderr.flush()
    # Without waiting for threads and workers of the user's code: the parent ends what is left of the process group.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
