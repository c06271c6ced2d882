# SPDX-License-Identifier: Apache-2.0


def leave_out_own(error):
    """Removes the frame that caught an exception from its traceback: the user sees the program's own frames. The caller raises it again
    with a bare `raise`, which keeps the traceback (since Python 3.11)."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
