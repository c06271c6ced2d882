# SPDX-License-Identifier: Apache-2.0
"""Compiling ends the process."""
import os

import sabotage


def make():
    sabotage.instead(os.abort)
    return sabotage.model()
