# SPDX-License-Identifier: Apache-2.0
"""Answers a parent's requests with one trial after another. See execute/training_child.hpp for the messages."""

import sys
import traceback

from ridgeline_worker import forking, phase
from ridgeline_worker.failures import UserError, facts_of
from ridgeline_worker.user_frames import place_of_error

from . import transforms, worker_waits


def _ended(error, doing):
    """A script that parses arguments, or is its own program."""
    place = place_of_error(error)
    return UserError("the script ended the process (exit code %s) in phase \"%s\"%s" % (error.code, doing, ", at " + place if place else ""),
                     "put what it runs, and the reading of its arguments, under if __name__ == \"__main__\":, or give its options after --")


def _failed_allocations(trial):
    try:
        return trial.num_ooms() if trial is not None else None
    except Exception:  # a broken CUDA context cannot be asked
        return None


class Serving:
    """One trial. `questions`: what answers other requests, by their names; `make_trial(spec)` is the trial of a request to prepare one."""

    def __init__(self, connection, questions, make_trial):
        self.connection = connection
        self.questions = questions
        self.make_trial = make_trial
        self.trial = None

    def serve(self, request):
        """From `request` until the trial is to be released (True: not answered yet) or the process is to end (False)."""
        while True:
            if request is None or request.get("op") == "close":
                if request:
                    phase.enter("ending")
                    self.connection.send({"ok": {}})
                return False
            if request.get("op") == "release":
                return True
            self.connection.send(self._reply(request))
            request = self.connection.receive()

    def _reply(self, request):
        before = _failed_allocations(self.trial)
        try:
            answer = self._answer(request.get("op"), request)
            phase.now = ""
            return {"ok": answer}
        except (Exception, SystemExit) as error:  # every failure is the trial's outcome
            traceback.print_exc()
            sys.stderr.flush()
            if isinstance(error, SystemExit):
                error = _ended(error, phase.now)
            after = _failed_allocations(self.trial)
            return {"error": facts_of(error, None if before is None or after is None else after - before)}

    def _answer(self, op, request):
        if op in self.questions:
            return self.questions[op](request)
        if op == "prepare":
            self.trial = self.make_trial(request["spec"])
            return {}
        if op == "transforms":
            phase.enter("taking samples of the data set")
            return transforms.costs(self.trial.sample_source(), float(request.get("limit_s", transforms.LIMIT_S)), int(request.get("workers", 0)))
        if op == "worker_waits":
            phase.enter("making samples in loader workers")
            return worker_waits.compared(self.trial.sample_source(), int(request["workers"]), float(request.get("limit_s", worker_waits.LIMIT_S)))
        if op == "run":
            return self.trial.run(int(request["steps"]))
        if op == "reset":
            return self.trial.reset()
        if op == "resources":
            return self.trial.resources()
        raise ValueError("unknown request %r" % op)


def _kept(serving, request, forks, stays):
    """Serves a trial; None if the parent wants no more, else whether this process may serve another."""
    if request.get("op") == "prepare" and forks(request["spec"]):
        try:
            return forking.in_fork(lambda: serving.serve(request))
        except forking.CannotFork:
            return False if serving.serve(request) else None
    return stays(serving) if serving.serve(request) else None


def serve_trials(connection, questions, make_trial, forks, stays):
    """Serves trials until the parent ends them. `forks(spec)`: whether that trial is served in a fork of this process;
    `stays(serving)`: whether this process may serve another trial after that one, which it has served itself."""
    phase.tell_to(connection)
    while True:
        request = connection.receive()
        if request is None:
            return
        kept = _kept(Serving(connection, questions, make_trial), request, forks, stays)
        if kept is None:
            return
        connection.send({"ok": {"kept": kept}})
