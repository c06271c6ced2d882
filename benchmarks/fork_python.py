#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Python interpreter whose torch is imported already, for runs of many short trials (`--python-exe`).

    fork_python.py --serve SOCKET     imports torch, then waits; ends with its standard input
    RIDGELINE_FORK_SOCKET=SOCKET fork_python.py -m ridgeline_train

The second form hands its file descriptors, folder and environment to the first, which makes a process of its own for it
by fork, before anything has touched a GPU: a second or more of importing is saved each time. What ends the second form
ends that process, and the other way round."""
import array
import fcntl
import json
import os
import select
import signal
import socket
import sys

PASSED = 3  # standard output, standard error and the channel to ridgeline


def receive(connection):
    data, ancillary, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(PASSED * 4))
    numbers = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(content[:len(content) - len(content) % numbers.itemsize])
    while data and not data.endswith(b"\n"):
        more = connection.recv(1 << 20)
        if not more:
            break
        data += more
    return json.loads(data.decode()), list(numbers)


def become(request, numbers):
    """In the new process: the interpreter as it would have been started."""
    import ctypes
    import runpy

    os.setsid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: dies with the server
    channel = int(request["environment"]["RIDGELINE_CHANNEL_FD"])
    held = [fcntl.fcntl(number, fcntl.F_DUPFD, 100) for number in numbers]  # above the numbers that they are to have
    for number, target in zip(held, (1, 2, channel)):
        os.dup2(number, target)
    for number in held + [number for number in numbers if number not in (1, 2, channel)]:
        os.close(number)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[:0] = [""] + [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    module = request["arguments"][1]
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def serve(path):
    import torch  # noqa: F401  what all this is for

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; the end of standard input is ours
    print("ready", flush=True)
    living = {}  # process: its connection
    while True:
        ready, _, _ = select.select([0, listener] + list(living.values()), [], [], 0.02)
        if 0 in ready and not os.read(0, 100):
            break
        if listener in ready:
            connection, _ = listener.accept()
            request, numbers = receive(connection)
            process = os.fork()
            if process == 0:
                code = 1
                try:
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                    for other in [listener, connection] + list(living.values()):
                        other.close()
                    become(request, numbers)
                    code = 0
                except SystemExit as end:
                    code = end.code if isinstance(end.code, int) else 1
                finally:
                    os._exit(code)
            for number in numbers:
                os.close(number)
            living[process] = connection
        for process, connection in list(living.items()):
            if connection in ready:  # it says nothing: it has gone
                try:
                    os.killpg(process, signal.SIGKILL)
                except OSError:
                    pass
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                try:
                    os.killpg(process, signal.SIGKILL)  # what it left behind
                except OSError:
                    pass
                try:
                    connection.sendall(b"%d\n" % status)
                except OSError:
                    pass
                connection.close()
                del living[process]
    for process in living:
        try:
            os.killpg(process, signal.SIGKILL)
        except OSError:
            pass


def ask():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ["RIDGELINE_FORK_SOCKET"])
    request = {"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}
    numbers = array.array("i", [1, 2, int(os.environ["RIDGELINE_CHANNEL_FD"])])
    data = (json.dumps(request) + "\n").encode()
    sent = connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    connection.sendall(data[sent:])
    os.close(int(os.environ["RIDGELINE_CHANNEL_FD"]))  # the channel ends with the process that uses it
    answer = connection.recv(100)
    if not answer:
        return 1
    status = int(answer)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.WEXITSTATUS(status)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        sys.exit(ask())
