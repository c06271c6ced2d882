# SPDX-License-Identifier: Apache-2.0
"""What a trial says besides its numbers, as data; messages.json has the sentences."""


def message(name, **arguments):
    return {"code": "ridgeline_train." + name, "arguments": arguments, "severity": "note"}
