# SPDX-License-Identifier: Apache-2.0
"""Stands for a process that a fork_server makes: hands it its output and its channel, ends as it ends, and ends it by ending.

    RIDGELINE_FORK_SERVER=PATH RIDGELINE_CHANNEL_FD=N python -S fork_relay.py COMMAND...

PATH is the socket where the server listens. Where there is none, the relay becomes COMMAND. Imports next to nothing, so that it
starts at once."""

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


def handed_over(connection, path, train):
    request = {"folder": os.getcwd(), "environment": dict(os.environ)}
    numbers = array.array("i", [1, 2, train])
    data = (json.dumps(request) + "\n").encode()
    try:
        connection.connect(path)
        sent = connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
        connection.sendall(data[sent:])
        return connection.recv(7, socket.MSG_WAITALL) == b"forked\n"
    except OSError:
        return False


def main(command):
    train = int(os.environ["RIDGELINE_CHANNEL_FD"])
    connection = socket.socket(socket.AF_UNIX)
    if not handed_over(connection, os.environ.pop("RIDGELINE_FORK_SERVER"), train):
        connection.close()
        os.set_inheritable(train, True)
        os.execvp(command[0], command)
    os.close(train)  # the channel ends with the process that uses it
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
