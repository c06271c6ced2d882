# SPDX-License-Identifier: Apache-2.0
"""Compiling works for ten minutes."""
import time

import sabotage


def work():
    end = time.monotonic() + 600
    while time.monotonic() < end:
        pass


def make():
    sabotage.instead(work)
    return sabotage.model()
