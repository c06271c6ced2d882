# SPDX-License-Identifier: Apache-2.0
"""Serves one inference trial to `ridgeline tune`: JSON lines on the file descriptor that RIDGELINE_CHANNEL_FD names. Standard
output stays the user's own."""

import os
import sys
import traceback

from ridgeline_worker import channel
from ridgeline_worker.failures import UserError, facts_of

from ridgeline_worker.user_frames import user_frames

USAGE = "ridgeline_infer is started by `ridgeline tune --python FILE.py:FUNCTION`"


def load_function(target):
    """The user's function and its file."""
    from ridgeline_worker.target import load

    if ":" not in target:
        raise UserError("target %r names no function; expected FILE.py:FUNCTION or MODULE:FUNCTION" % target)
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise UserError("%s has no torch (%s); name another interpreter with --python-exe" % (sys.executable, error))
    return load(target)


class Server:
    """Answers requests; torch is imported by the first of them, so that its absence is an answer too. `functions`: those
    that are loaded already, by their targets. `together`: so many processes make their models at the same time."""

    def __init__(self, functions, together=1):
        self.functions = dict(functions)
        self.together = together
        self.trial = None
        self.prepared = False

    def _load(self, target):
        if target not in self.functions:
            self.functions[target] = load_function(target)
        return self.functions[target]

    def describe(self, request):
        function, path = self._load(request["target"])
        from .description import describe

        return describe(function, request["target"], path)

    def prepare(self, request):
        if self.prepared:
            raise ValueError("this process has prepared a trial already; expected a process a trial")
        from . import settings

        chosen = settings.checked(request.get("settings", {}))
        self.prepared = True  # also a trial that fails below leaves its switches behind
        settings.before_make(chosen)
        function, _ = self._load(request["target"])
        from .trial import Trial

        trial = Trial(function, request["target"], chosen, int(request.get("seed", 1)), request.get("io") == "host")
        answer = trial.prepare(self.together)
        answer["pid"] = os.getpid()  # a forked process is another than the one that the parent started
        self.trial = trial
        return answer

    def export(self, request):
        function, _ = self._load(request["target"])
        from . import cpu_share
        from .onnx_export import export

        cpu_share.take(int(request.get("together", 1)))
        return export(function, request["target"], request["exporter"], int(request.get("seed", 1)), request["folder"],
                      request.get("precision", ""))

    def answer(self, request):
        op = request.get("op")
        if op == "runtime":
            from .runtime import runtime

            return runtime()
        if op == "describe":
            return self.describe(request)
        if op == "prepare":
            return self.prepare(request)
        if op == "export":
            return self.export(request)
        if op not in ("call", "outputs", "proof"):
            raise ValueError("unknown request %r" % op)
        if self.trial is None:
            raise ValueError("%r before prepare" % op)
        if op == "call":
            calls = self.trial.block if request.get("one_wait") else self.trial.call
            return {"ns": calls(int(request["count"]))}
        if op == "outputs":
            return self.trial.outputs(request["path"])
        return self.trial.proof()


def num_ooms():
    """Failed allocations on the GPUs so far; None where there are none or a broken CUDA context cannot be asked."""
    torch = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
            return None
        return sum(torch.cuda.memory_stats(index).get("num_ooms", 0) for index in range(torch.cuda.device_count()))
    except Exception:
        return None


def failure(error, ooms_before):
    if isinstance(error, SystemExit):  # of a script that parses arguments or is its own program
        ended = UserError("the script ended the process (exit code %r); expected it to return from its function" % (error.code,))
        ended.__cause__ = error
        error = ended
    after = num_ooms()
    facts = facts_of(error, None if after is None else after - (ooms_before or 0))
    frames = user_frames(error)
    if frames:
        facts["traceback"] = frames
    return facts


def replied(server, request):
    ooms = num_ooms()
    try:
        return {"ok": server.answer(request)}
    except (Exception, SystemExit) as error:  # every failure is the trial's outcome
        traceback.print_exc()
        sys.stderr.flush()
        return {"error": failure(error, ooms)}


def prepared(functions, request, together):
    """(server, reply, request) of a trial that nobody waits for yet, one of `together` that share the CPUs while they make their
    models."""
    server = Server(functions, together)
    reply = replied(server, request)
    if "ok" in reply:
        reply["ok"]["beside"] = together > 1
    return server, reply, request


def serve(connection, functions=(), ahead=None):
    """Answers until the connection ends; True if the client asked to close. `ahead`: what prepared() returned, the answer to the first
    request."""
    server, reply, known = ahead or (Server(functions), None, None)
    while True:
        request = connection.receive()
        if request is None:
            return False
        if request.get("op") == "close":
            connection.send({"ok": {}})
            return True
        if reply is not None and request != known:
            reply = {"error": failure(ValueError("this process was prepared for another trial"), None)}
        connection.send(reply if reply is not None else replied(server, request))
        reply = None


if __name__ == "__main__":
    sys.exit(channel.run(serve, USAGE))
