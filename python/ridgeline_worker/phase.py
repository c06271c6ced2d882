# SPDX-License-Identifier: Apache-2.0
"""What this process is doing, so that the parent can say it: told when something begins that may take long, and with the
user's own line when the parent asks by SIGUSR1, as it does before it ends what hangs."""

import signal

from .user_frames import place_of_stack

now = ""  # set directly where telling would cost time
_connection = None


def tell_to(connection):
    global _connection
    _connection = connection
    signal.signal(signal.SIGUSR1, _asked)


def enter(what):
    global now
    now = what
    if _connection is not None:
        _connection.send({"doing": what})


def _asked(_number, frame):
    _connection.send({"doing": now, "at": place_of_stack(frame)})
