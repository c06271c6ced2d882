# SPDX-License-Identifier: Apache-2.0
"""Room for the frames of hooks: a program may recurse as deep as without them, and sees the limit that it has set."""
import sys

_limit = 0  # of the program


OWN = 50  # frames below the innermost hook


def _with_room(limit):
    """A call of a module takes three levels of the program and of torch, and one of a hook."""
    return limit + limit // 3 + OWN


_installed = False


def install():
    """Once: a program that has seen its limit keeps it."""
    global _limit, _installed
    if _installed:
        return
    _installed = True
    get, set_real = sys.getrecursionlimit, sys.setrecursionlimit
    _limit = get()
    set_real(_with_room(_limit))

    def getrecursionlimit():
        return _limit

    def setrecursionlimit(limit, /):
        global _limit
        set_real(_with_room(limit) if isinstance(limit, int) and 0 < limit < 2**30 else limit)
        _limit = limit

    for function, like in ((getrecursionlimit, get), (setrecursionlimit, set_real)):
        function.__doc__ = like.__doc__
        setattr(sys, function.__name__, function)
