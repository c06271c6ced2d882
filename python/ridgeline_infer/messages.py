# SPDX-License-Identifier: Apache-2.0
"""What is said of a model besides its numbers, as data; messages.json has the sentences."""

import math


def _plain(value):
    """JSON has no form for a number that is not finite."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def message(name, **arguments):
    return {"code": "ridgeline_infer." + name, "arguments": {key: _plain(value) for key, value in arguments.items()}, "severity": "note"}
