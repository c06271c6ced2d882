# SPDX-License-Identifier: Apache-2.0
"""A program that is run in two parts: up to a line that is MARK before its turn, the rest when it is its turn. Run by itself it does
the same in one go."""

import os
import sys
import traceback
import types

MARK = "# timed from here on\n"


class ProgramAhead:
    def __init__(self, path):
        self.path = path
        self.module = types.ModuleType("__main__")
        self.module.__file__ = path
        self.failed = None  # by which exception

    def begin(self):
        """Whether the first part ran to its end."""
        sys.argv = [self.path]
        sys.path[0] = os.path.dirname(self.path)
        sys.modules["__main__"] = self.module
        try:
            with open(self.path) as file:
                self.first, mark, self.rest = file.read().partition(MARK)
            self.rest = "\n" * (self.first + mark).count("\n") + self.rest  # lines have their numbers
            self._run(self.first)
        except BaseException as error:
            self.failed = error
        return self.failed is None

    def end(self):
        """The exit code of the whole; what failed in the first part fails now."""
        try:
            if self.failed is not None:
                raise self.failed
            self._run(self.rest)
        except SystemExit as error:
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)
            return error.code if isinstance(error.code, int) else int(error.code is not None)
        except BaseException as error:
            own = error.__traceback__
            while own and own.tb_frame.f_code.co_filename == __file__:
                own = own.tb_next
            traceback.print_exception(type(error), error, own)
            return 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        return 0

    def _run(self, text):
        exec(compile(text, self.path, "exec"), self.module.__dict__)
