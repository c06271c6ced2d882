# SPDX-License-Identifier: Apache-2.0
"""Serves training trials to `ridgeline bench`, one after another: JSON lines on the file descriptor that RIDGELINE_CHANNEL_FD names.
Standard output stays the user's own. See execute/training_child.hpp for the messages. Each trial runs in a fork of this process, which
has imported torch and the user's file. If forks would not be as good as new processes, this process serves one trial and ends."""

import sys

from ridgeline_worker import channel


def serve(connection):
    from ridgeline_worker import target
    from .serving import serve_trials
    from .user_function import UserFunction

    function = UserFunction()

    def make_trial(spec):
        loaded = function.load(spec["job"]["target"])
        from .trial import Trial

        return Trial(loaded, spec)

    serve_trials(connection, {"describe": lambda request: target.describe(request["target"])}, make_trial,
                 lambda spec: function.is_fork_safe(spec["job"]["target"]), lambda _: False)


def main():
    return channel.run(serve, "ridgeline_train is started by `ridgeline bench --python module:function`")


if __name__ == "__main__":
    sys.exit(main())
