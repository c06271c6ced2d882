# SPDX-License-Identifier: Apache-2.0
"""What the hooks replace in torch and ONNX Runtime, so that it can be put back: a program may be recorded several times, and is as it was
in between."""
_endings = []  # functions to call
_made = []  # (owner, name, what the owner itself had, whether it had any, what is there now)


def replace(owner, name, value):
    """Sets an attribute of a class or a module."""
    own = vars(owner)
    _made.append((owner, name, own.get(name), name in own, value))
    setattr(owner, name, value)


def on_undo(function):
    _endings.append(function)


def undo():
    """Puts everything back. What another package has replaced since stays, and calls what was there before it."""
    while _endings:
        _endings.pop()()
    while _made:
        owner, name, before, had_own, value = _made.pop()
        if vars(owner).get(name) is not value:
            continue
        if had_own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)
