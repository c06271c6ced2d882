# SPDX-License-Identifier: Apache-2.0
"""What is known about an exception, told to the parent process, which judges it."""


class UserError(Exception):
    """No other settings would mend it: a missing module, function, package or device."""


class BadSettings(Exception):
    """These settings are not possible here; others may be."""


def type_name(kind):
    module = getattr(kind, "__module__", "")
    name = getattr(kind, "__qualname__", kind.__name__)
    return name if module in ("", "builtins") else module + "." + name


def facts_of(error, ooms_risen=None):
    """See workload::FailureFacts."""
    code = getattr(error, "error_code", None)
    text = str(error)
    return {
        "type": type_name(type(error)),
        "bases": [type_name(base) for base in type(error).__mro__[1:] if base is not object],
        "message": text[:4000],
        "cuda_error": code if isinstance(code, int) and not isinstance(code, bool) else None,
        "ooms_risen": ooms_risen,
        "bad_settings": isinstance(error, BadSettings),
        "user_error": isinstance(error, UserError),
    }
