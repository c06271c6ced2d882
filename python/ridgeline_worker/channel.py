# SPDX-License-Identifier: Apache-2.0
"""JSON lines between a trial's process and its parent, on one file descriptor."""

import json
import os
import sys


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


def run(serve, usage):
    """Serves the channel that RIDGELINE_CHANNEL_FD names, then ends the process."""
    fd = os.environ.get("RIDGELINE_CHANNEL_FD", "")
    if not fd.isdigit():
        sys.stderr.write(usage + "\n")
        return 2
    # Loader workers and programs that the user starts must not hold the channel open.
    os.set_inheritable(int(fd), False)
    del os.environ["RIDGELINE_CHANNEL_FD"]
    serve(Channel(int(fd)))
    sys.stdout.flush()
    sys.stderr.flush()
    # Without waiting for threads and workers of the user's code: the parent ends what is left of the process group.
    os._exit(0)
