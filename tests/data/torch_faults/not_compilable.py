# SPDX-License-Identifier: Apache-2.0
"""The compiler's own compiler is missing."""
import os

import sabotage

os.environ["CXX"] = "/nonexistent/c++"


def make():
    return sabotage.model()
