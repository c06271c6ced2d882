# SPDX-License-Identifier: Apache-2.0
"""A Python process that has imported torch and the user's file, and forks a process for each trial: importing takes seconds.

    RIDGELINE_FORK_FD=N python -m ridgeline_infer.fork_server TARGET [LEVEL]

N is a listening socket; a fork_relay connects for each process, and its connection is that process's life. Others send one line of
JSON instead:
    {"op": "ahead", "jobs": [{"key", "folder", "environment", "request"}..], "most": N}   what to prepare before its turn (ahead.py);
                                                                     "program": PATH in place of "request": a program (program_ahead.py);
                                                                     "kept": [KEY..]: whose processes may be taken over again and again
    {"op": "states"}                                                             -> {KEY: "waiting"|"preparing"|"ready"|"failed"}
    {"op": "lease"}                            -> {"on_gpu": N, "was_busy": ..}: until the connection ends what is prepared stands still
A relay whose environment has RIDGELINE_AHEAD_KEY gets the process that was prepared under that key, if there is one. The server ends
with its parent. What the user's file leaves behind must not reach a fork: with CUDA started or more threads than torch itself has, the
server begins anew at the next lower level, and where importing torch alone is too much it ends."""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback

from ridgeline_worker import channel, cuda_in_forks, forking, processes

from . import __main__ as program
from . import ahead
from .fork_relay import receive
from .program_ahead import ProgramAhead

KEY = "RIDGELINE_AHEAD_KEY"
BEGUN = b"b"  # sent by a process that prepares, once it ends with its server and has closed the sockets of others
LEVELS = ("file", "compiler", "torch")  # what is imported: torch, from the right on torch.compile and the user's file too
COMPILER = ("torch._dynamo", "torch._inductor.compile_fx", "torch._functorch.aot_autograd")  # what torch.compile imports


def _imported(names):
    import importlib

    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # not in this torch; a trial that needs it says so
            return


def preload(target, level):
    """The user's function as Server.functions has it, or nothing, and what its file changed of the environment; None where a
    fork would not be as good as a new process."""
    try:
        import torch
    except ImportError:
        return {}, {}
    loaded, changes = {}, {}
    with cuda_in_forks.not_started():
        if level == "file":  # before the compiler, which reads variables that the file may set
            environment = dict(os.environ)
            with forking.Imports() as imports:
                try:
                    loaded = {target: program.load_function(target)}
                except (Exception, SystemExit):  # a trial fails with it by itself
                    pass
            changes = changes_since(environment)
            if not imports.are_fork_safe():
                return None
        if level != "torch" and hasattr(torch, "compile"):
            _imported(COMPILER)
    return None if cuda_in_forks.is_broken() else (loaded, changes)


def changes_since(environment):
    """Of this process's variables; None for one that is gone."""
    names = set(environment) | set(os.environ)
    return {name: os.environ.get(name) for name in names if os.environ.get(name) != environment.get(name)}


def become(request, numbers, functions, changes):
    """In the new process: what `python -m ridgeline_infer` would be. `changes`: of the environment, by the user's file."""
    _begin(request, changes)
    wanted = int(os.environ["RIDGELINE_CHANNEL_FD"])
    high = [os.dup(number) for number in numbers]
    while min(high) <= max(2, wanted):  # above the numbers that they are to have
        high = [os.dup(number) for number in high]
    for number, target in zip(high, (1, 2, wanted)):
        os.dup2(number, target, inheritable=True)
    _close_sockets(wanted)
    return channel.run(lambda connection: program.serve(connection, functions), program.USAGE)


def become_ahead(job, control, functions, changes, together, nice):
    """The same of a process that prepares its trial at once, one of `together`, and waits for who takes it over. `nice`: it may be."""
    _begin(job.wish, changes)
    patience = ahead.Nice() if nice else None
    _close_sockets(control.fileno())
    control.sendall(BEGUN)
    output = ahead.Output()
    prepared = program.prepared(functions, job.wish["request"], together)
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError):  # somebody has it already
        control.sendall(b"r" if "ok" in prepared[1] else b"f")
    while True:
        taken = taken_over(control, output, patience)
        if taken is None:
            return 0
        number = taken[0][2]
        os.set_inheritable(number, False)
        if "ok" in prepared[1]:
            prepared[1]["ok"]["kept"] = taken[1][ahead.IS_KEPT] == "True"
        closed = program.serve(channel.Channel(number), functions, prepared)
        sys.stdout.flush()
        sys.stderr.flush()
        output, patience = ahead.Output(), None
        os.close(number)
        if not closed or "ok" not in prepared[1] or not ahead.is_kept(control):
            return 0


def become_program(job, control, changes, nice):
    """The same of a program: what comes before its timed part runs at once, the rest once it is taken over."""
    _begin(job.wish, changes)
    patience = ahead.Nice() if nice else None
    _close_sockets(control.fileno())
    control.sendall(BEGUN)
    output = ahead.Output()
    program_ahead = ProgramAhead(job.wish["program"])
    worked = program_ahead.begin()
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.suppress(OSError):
        control.sendall(b"r" if worked else b"f")
    taken = taken_over(control, output, patience)
    if taken is None:
        return 0
    os.environ.update(taken[1])
    return program_ahead.end()


def taken_over(control, output, patience):
    """What wait_for_taker gives, once this process prints where the taker does and is as urgent."""
    taken = ahead.wait_for_taker(control)
    if taken is not None:
        if patience:
            patience.end()
        for number, target in zip(taken[0], (1, 2)):
            os.dup2(number, target, inheritable=True)
            os.close(number)
        output.give_to(2)
    return taken


def _begin(request, changes):
    os.setsid()
    processes.die_with_parent()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environment"])
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    os.chdir(request["folder"])
    sys.argv = ["ridgeline_infer"]


def _close_sockets(kept):
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in (0, 1, 2, kept) and _is_socket(int(name)):
            os.close(int(name))


def _is_socket(number):
    try:
        return os.readlink("/proc/self/fd/%d" % number).startswith("socket:")
    except OSError:
        return False


def _kill_group(process):
    try:
        os.killpg(process, signal.SIGKILL)
    except OSError:
        pass


class ForkServer:
    def __init__(self, listener, functions, changes):
        self.listener = listener
        self.changes = changes
        self.functions = functions
        self.living = {}  # process: its relay's socket
        self.ahead = ahead.Ahead(self._fork_ahead)
        self.nice = ahead.can_be_nice()

    def serve(self):
        while True:
            others = list(self.living.values()) + self.ahead.sockets()
            busy = self.living or self.ahead.processes()
            ready, _, _ = select.select([self.listener] + others, [], [], 0.01 if busy else None)
            self.ahead.look_after_leases(ready)
            self._let_go(self.ahead.come_back(ready))
            self.ahead.listen(ready)
            if self.listener in ready:
                self._accept()
            self._look_after(ready)
            self._look_after_ahead()

    def _accept(self):
        connection, _ = self.listener.accept()
        data, numbers = receive(connection, 3)
        if not data:
            connection.close()
            return
        request = json.loads(data)
        if "op" in request:
            self._answer(connection, request)
            return
        job = self.ahead.take(request["environment"].get(KEY))
        if job:
            self.ahead.hand_over(job, numbers, request["environment"])
            process = job.process
        elif len(numbers) < 3:  # a program runs by itself
            connection.close()
            for number in numbers:
                os.close(number)
            return
        else:
            process = self._fork(lambda: become(request, numbers, self.functions, self.changes))
        for number in numbers:
            os.close(number)
        self.living[process] = connection
        try:
            connection.sendall(b"forked\n")
        except OSError:  # it has gone; its process goes with the next look
            pass

    def _answer(self, connection, request):
        if request["op"] == "lease":
            self.ahead.lease(connection)
            return
        if request["op"] == "ahead":
            self.ahead.want(request["jobs"], request["most"], request.get("kept", ()))
        try:
            connection.sendall((json.dumps(self.ahead.states()) + "\n").encode())
        except OSError:
            pass
        connection.close()

    def _fork(self, body):
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            code = 1
            try:
                code = body()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        return process

    def _fork_ahead(self, job):
        ours, theirs = socket.socketpair()
        process = self._fork(lambda: become_program(job, theirs, self.changes, self.nice) if "program" in job.wish
                             else become_ahead(job, theirs, self.functions, self.changes, self.ahead.most, self.nice))
        theirs.close()
        ours.recv(len(BEGUN))  # stopped earlier, it would outlive its server and keep sockets of others open
        return process, ours

    def _let_go(self, processes):
        """Ends the relays of these processes, which go on without them."""
        for process in processes:
            relay = self.living.pop(process, None)
            if relay is None:
                continue
            with contextlib.suppress(OSError):
                relay.sendall(b"0\n")
            relay.close()

    def _look_after(self, ready):
        for process, relay in list(self.living.items()):
            if relay in ready:  # a relay says nothing more: it has gone
                _kill_group(process)
            done, status = os.waitpid(process, os.WNOHANG)
            if not done:
                continue
            self.ahead.forget(process)
            _kill_group(process)  # what it left behind
            try:
                relay.sendall(b"%d\n" % status)
            except OSError:
                pass
            relay.close()
            del self.living[process]

    def _look_after_ahead(self):
        for process in self.ahead.processes():
            if os.waitpid(process, os.WNOHANG)[0]:
                self.ahead.ended(process)


def main(target, level="file"):
    number = int(os.environ["RIDGELINE_FORK_FD"])
    os.set_inheritable(number, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal
    sys.argv = ["ridgeline_infer"]  # as in a process of a trial: the user's file may read it
    loaded = preload(target, level)
    if loaded is None and level != LEVELS[-1]:
        os.set_inheritable(number, True)
        lower = LEVELS[LEVELS.index(level) + 1]
        os.execv(sys.executable, [sys.executable, "-m", "ridgeline_infer.fork_server", target, lower])
    gc.collect()
    gc.freeze()  # else each fork's collector would look through, and so copy, all that was imported
    if loaded is not None:  # else the socket closes, and relays start processes of their own
        ForkServer(socket.socket(fileno=number), *loaded).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
