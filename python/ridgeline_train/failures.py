# SPDX-License-Identifier: Apache-2.0
"""What is known about an exception, reported to the parent process, which judges it."""


class UserError(Exception):
    """No other settings would fix it: a missing module, function, package or device. hint: what to do next, one line."""

    def __init__(self, message="", hint=""):
        super().__init__(message)
        self.hint = hint


class BadSettings(Exception):
    """These settings are not possible here; others may be."""


class WrongLoader(Exception):
    """The user's loader does not do what the settings say: what it gives must not stand under their name."""


OWN = (UserError, BadSettings, WrongLoader)  # their messages are whole sentences


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


def _causes(error):
    """Those that it was raised from or while handling, nearest first."""
    found = []
    while len(found) < CAUSES:
        error = error.__cause__ if error.__cause__ is not None or error.__suppress_context__ else error.__context__
        if error is None:
            break
        found.append(_own_facts(error))
    return found


def facts_of(error, ooms_risen=None):
    """See workload::FailureFacts."""
    facts = _own_facts(error)
    facts.update({
        "ooms_risen": ooms_risen,
        "bad_settings": isinstance(error, BadSettings),
        "user_error": isinstance(error, UserError),
        "hint": error.hint if isinstance(error, UserError) else "",
        "causes": _causes(error),
    })
    return facts
