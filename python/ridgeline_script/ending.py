# SPDX-License-Identifier: Apache-2.0
"""The two ends of a script: it has trained enough steps, or it ends before that."""
import atexit
import os
import sys

from ridgeline_worker.failures import BadSettings, facts_of

MOST_CAUGHT = 3


class Finished(SystemExit):
    """Ends the script as sys.exit() does: its `finally` blocks and exit handlers run, and nothing is printed."""

    def __init__(self):
        super().__init__(0)


class Ending:
    def __init__(self, connection, explain, finished):
        """explain(): the message for a script that ended by itself and without an error. finished(): called before the script ends."""
        self._connection = connection
        self._explain = explain
        self._finished = finished
        self._pid = os.getpid()
        self._code = None
        self._caught = 0
        self.is_finished = False
        self.is_waited_for = True  # the parent waits for an answer

    def install(self):
        atexit.register(self._at_exit)
        original = sys.exit

        def exit_(status=None):
            self._code = status
            original(status)

        sys.exit = exit_

    def check(self):
        """A script that caught the end and trains on is ended again."""
        if self.is_finished and os.getpid() == self._pid:
            self.finish()

    def finish(self):
        """Enough steps."""
        self.is_finished = True
        self._finished()
        self.is_waited_for = False
        self._caught += 1
        if self._caught > MOST_CAUGHT:
            atexit._run_exitfuncs()
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except Exception:
                    pass
            os._exit(0)
        raise Finished()

    def fail(self, error, risen=None):
        """The trial failed, which the parent learns; the script ends."""
        self._connection.send({"error": facts_of(error, risen)})
        self.finish()

    def _at_exit(self):
        if os.getpid() != self._pid or not self.is_waited_for:
            return
        try:
            error = getattr(sys, "last_value", None)
            if error is None and self._code in (None, 0):
                error = BadSettings(self._explain())
            # Without an answer the parent reports the exit code, with the last line that the script printed.
            if error is not None:
                self._connection.send({"error": facts_of(error)})
        except Exception:
            pass
