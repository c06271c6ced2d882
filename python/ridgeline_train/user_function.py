# SPDX-License-Identifier: Apache-2.0
"""The user's function, imported once for all trials of a process where their forks find everything as a new process would."""

from ridgeline_worker import cuda_in_forks, forking, torch_runtime

from . import loader_cost

# Of the memory that is left. A fork copies at most what the process has written, and so a trial fails at most this share earlier.
MOST_WRITTEN = 0.1


class UserFunction:
    def __init__(self):
        self._target = None
        self._function = None
        self._path = ""
        self._error = None  # of the import

    def load(self, target):
        """The function, or again the error that its first import ended with."""
        from ridgeline_worker.target import load

        if target != self._target:
            self._target, self._function, self._error = target, None, None
            try:
                self._function, self._path = load(target)
            except (Exception, SystemExit) as error:  # the trial that needs it reports it
                self._error = error
        if self._error is not None:
            raise self._error
        return self._function

    def is_fork_safe(self, target):
        """Imports it, and then torch and what trials need: the file may set what torch reads as it is imported."""
        if self._target is not None:
            return target == self._target  # asked again only by a process that may fork
        with cuda_in_forks.not_started(), forking.Imports() as imports:
            try:
                self.load(target)
                torch_runtime.imported()
                if not _sets_variables(self._path):
                    torch_runtime.import_compiler()
            except (Exception, SystemExit):
                return False
            from . import trial  # noqa: F401
        return imports.are_fork_safe() and not cuda_in_forks.is_broken() and _has_written_little()


def _sets_variables(path):
    """Whether the file's functions may set variables that torch reads later."""
    try:
        with open(path, "rb") as file:
            return b"environ" in file.read()
    except OSError:
        return True


def _has_written_little():
    written, free = loader_cost.written_gb(), loader_cost.available_gb()
    return written is None or free is None or written <= MOST_WRITTEN * free
