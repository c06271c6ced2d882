# SPDX-License-Identifier: Apache-2.0
"""Installs all hooks; torch has been imported. The script's process serves the channel that RIDGELINE_CHANNEL_FD names, at the begin
of its training steps."""
import os
import sys

from ridgeline_profile.verify import importable  # noqa: F401
from ridgeline_worker import phase
from ridgeline_worker.channel import Channel
from ridgeline_worker.failures import facts_of


def _connection():
    fd = os.environ.pop("RIDGELINE_CHANNEL_FD", "")
    if not fd.isdigit():
        return None
    # Programs that the script starts must not hold the channel open, and have no steps to report.
    os.set_inheritable(int(fd), False)
    return Channel(int(fd))


def install():
    connection = _connection()
    if connection is None:
        return
    request = connection.receive()
    if request is None:
        return
    try:
        from ridgeline_profile import hidden
        from ridgeline_script.session import Session

        phase.tell_to(connection)
        phase.enter("running %s until its first training step" % (os.path.basename(sys.argv[0]) or "the script"))
        Session(connection, request).install()
        hidden.hide()
    except Exception as error:  # a torch without these functions: the parent learns of it at once
        connection.send({"error": facts_of(error)})
