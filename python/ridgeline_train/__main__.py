# SPDX-License-Identifier: Apache-2.0
"""Serves one training trial to `ridgeline bench`: JSON lines on the file descriptor that RIDGELINE_CHANNEL_FD names. Standard
output stays the user's own. See execute/training_child.hpp for the messages."""

import sys
import traceback

from ridgeline_worker import channel


def ended(error, phase):
    """A script that parses arguments, or is its own program."""
    from ridgeline_worker.failures import UserError
    from ridgeline_worker.user_frames import place_of_error

    place = place_of_error(error)
    return UserError("the script ended the process (exit code %s) in phase \"%s\"%s" % (error.code, phase, ", at " + place if place else ""),
                     "put what it runs, and the reading of its arguments, under if __name__ == \"__main__\":, or give its options after --")


def serve(connection):
    from ridgeline_worker import phase, target
    from ridgeline_worker.failures import facts_of
    from . import transforms
    from .trial import Trial

    phase.tell_to(connection)
    trial = None
    while True:
        request = connection.receive()
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
                phase.enter("taking samples of the data set")
                answer = transforms.costs(trial.sample_source(), float(request.get("limit_s", transforms.LIMIT_S)))
            elif op == "run":
                answer = trial.run(int(request["steps"]))
            elif op == "reset":
                answer = trial.reset()
            elif op == "resources":
                answer = trial.resources()
            elif op == "close":
                phase.enter("ending")
                connection.send({"ok": {}})
                return
            else:
                raise ValueError("unknown request %r" % op)
            phase.now = ""
            connection.send({"ok": answer})
        except (Exception, SystemExit) as error:  # every failure is the trial's outcome
            traceback.print_exc()
            sys.stderr.flush()
            if isinstance(error, SystemExit):
                error = ended(error, phase.now)
            risen = None
            try:
                if trial is not None and before is not None:
                    risen = trial.num_ooms() - before
            except Exception:  # a broken CUDA context cannot be asked
                pass
            connection.send({"error": facts_of(error, risen)})


def main():
    return channel.run(serve, "ridgeline_train is started by `ridgeline bench --python module:function`")


if __name__ == "__main__":
    sys.exit(main())
