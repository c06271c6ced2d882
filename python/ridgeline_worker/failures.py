# SPDX-License-Identifier: Apache-2.0
"""What is known about an exception, reported to the parent process, which judges it."""

from . import elsewhere, user_frames


class UserError(Exception):
    """No other settings would fix it: a missing module, function, package or device. hint: what to do next, one line."""

    def __init__(self, message="", hint=""):
        super().__init__(message)
        self.hint = hint


class BadSettings(Exception):
    """These settings are not possible here; others may be."""


class WrongLoader(Exception):
    """The user's loader does not do what the settings say: what it gives must not stand under their name."""


class NoGradient(Exception):
    """The loss cannot be trained with."""


OWN = (UserError, BadSettings, WrongLoader, NoGradient)  # their messages are whole sentences


def type_name(kind):
    module = getattr(kind, "__module__", "")
    name = getattr(kind, "__qualname__", kind.__name__)
    return name if module in ("", "builtins") else module + "." + name


CAUSES = 8  # deep enough; chains may be circular


def _own_facts(error):
    code = getattr(error, "error_code", None)
    number = getattr(error, "errno", None) if isinstance(error, OSError) else None
    return {
        "type": "" if isinstance(error, OWN) else type_name(type(error)),
        "bases": [type_name(base) for base in type(error).__mro__[1:] if base is not object],
        "message": str(error)[:4000],
        "cuda_error": code if isinstance(code, int) and not isinstance(code, bool) else None,
        "system_error": number if isinstance(number, int) else None,
    }


def _chain(error):
    """Those that it was raised from or while handling, nearest first."""
    found = []
    while len(found) < CAUSES:
        error = error.__cause__ if error.__cause__ is not None or error.__suppress_context__ else error.__context__
        if error is None:
            break
        found.append(error)
    return found


def _line(kind, message):
    first = message.strip().partition("\n")[0]
    return "%s: %s" % (kind, first) if first else kind


def _caught_elsewhere(error, facts):
    """In place of torch's wrapping, the exception of the loader's worker (or a replica) itself."""
    # The text of a KeyError is its argument's repr.
    blocks = elsewhere.tracebacks(str(error.args[0]) if len(error.args) == 1 else str(error))
    if not blocks:
        return False
    last = blocks[-1]
    own = isinstance(error, OWN)
    # Where torch could not make the type again it is a RuntimeError now.
    if not own and last.kind.rpartition(".")[2] != type(error).__name__:
        facts["type"] = last.kind
    facts["message"] = last.message[:4000]
    facts["place"] = "" if own else last.place()
    facts["causes"] = [{"type": block.kind, "bases": [], "message": block.message[:4000], "cuda_error": None, "system_error": None}
                       for block in reversed(blocks[:-1])][:CAUSES]
    from_users = [block for block in blocks[:-1] if block.place()]
    facts["came_from"] = _line(from_users[0].kind, from_users[0].message) if from_users and not own else ""
    return True


def facts_of(error, ooms_risen=None):
    """See workload::FailureFacts."""
    facts = _own_facts(error)
    facts.update({
        "ooms_risen": ooms_risen,
        "bad_settings": isinstance(error, BadSettings),
        "user_error": isinstance(error, UserError),
        "hint": error.hint if isinstance(error, UserError) else "",
    })
    if _caught_elsewhere(error, facts):
        return facts
    chain = _chain(error)
    facts["causes"] = [_own_facts(cause) for cause in chain]
    if not isinstance(error, OWN):
        facts["place"] = user_frames.place_of_error(error)
        # Of what only libraries raised and handled meanwhile, nothing is learnt.
        from_users = [cause for cause in chain if user_frames.place_of_error(cause)]
        facts["came_from"] = _line(type_name(type(from_users[-1])), str(from_users[-1])) if from_users else ""
    return facts
