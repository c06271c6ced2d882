# SPDX-License-Identifier: Apache-2.0
"""The compiler's own compiler is missing."""
import os

import sabotage


def make():
    os.environ["CXX"] = "/nonexistent/c++"
    return sabotage.model()
