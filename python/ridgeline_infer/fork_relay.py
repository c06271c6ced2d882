# SPDX-License-Identifier: Apache-2.0
"""Stands for a process that a fork_server makes: hands it its output and its channel, ends as it ends, and ends it by ending.

    RIDGELINE_FORK_SERVER=PATH RIDGELINE_CHANNEL_FD=N python -S fork_relay.py COMMAND...

PATH is the socket where the server listens. Where there is none, the relay becomes COMMAND; so it does without a channel, for a
program, unless the server has prepared it (program_ahead.py). Imports next to nothing, so that it starts at once."""

import array
import json
import os
import signal
import socket
import sys

LONGEST = 1 << 20  # bytes of an environment


def receive(connection, most):
    """One line and the file descriptors, `most` at most, that came with it; b"" at the end."""
    data, ancillary, _, _ = connection.recvmsg(LONGEST, socket.CMSG_SPACE(most * 4))
    numbers = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(content[:len(content) - len(content) % numbers.itemsize])
    while data and not data.endswith(b"\n"):
        more = connection.recv(LONGEST)
        if not more:
            return b"", []
        data += more
    return data, list(numbers)


def handed_over(connection, path, numbers):
    request = {"folder": os.getcwd(), "environment": dict(os.environ)}
    numbers = array.array("i", numbers)
    data = (json.dumps(request) + "\n").encode()
    try:
        connection.connect(path)
        sent = connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
        connection.sendall(data[sent:])
        return connection.recv(7, socket.MSG_WAITALL) == b"forked\n"
    except OSError:
        return False


def main(command):
    channel = [int(os.environ["RIDGELINE_CHANNEL_FD"])] if "RIDGELINE_CHANNEL_FD" in os.environ else []
    connection = socket.socket(socket.AF_UNIX)
    if not handed_over(connection, os.environ.pop("RIDGELINE_FORK_SERVER"), [1, 2] + channel):
        connection.close()
        for number in channel:
            os.set_inheritable(number, True)
        os.execvp(command[0], command)
    for number in channel:  # it ends with the process that uses it
        os.close(number)
    answer = connection.recv(100)
    if not answer:  # the server was killed, and with it what it had made
        os.kill(os.getpid(), signal.SIGKILL)
    status = int(answer)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.WEXITSTATUS(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
