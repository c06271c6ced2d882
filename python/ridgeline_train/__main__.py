# SPDX-License-Identifier: Apache-2.0
"""Serves one training trial to `ridgeline bench`: JSON lines on the file descriptor that RIDGELINE_CHANNEL_FD names. Standard
output stays the user's own. See execute/training_child.hpp for the messages."""

import sys

from ridgeline_worker import channel


def make_trial(spec):
    from ridgeline_worker import target
    from .trial import Trial

    function, _ = target.load(spec["job"]["target"])
    return Trial(function, spec)


def serve(connection):
    from ridgeline_worker import phase, target
    from .serving import Serving

    phase.tell_to(connection)
    Serving(connection, lambda request: target.describe(request["target"]), make_trial).serve()


def main():
    return channel.run(serve, "ridgeline_train is started by `ridgeline bench --python module:function`")


if __name__ == "__main__":
    sys.exit(main())
