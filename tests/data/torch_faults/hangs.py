# SPDX-License-Identifier: Apache-2.0
"""Compiling waits for what never comes."""
import time

import sabotage


def make():
    sabotage.instead(lambda: time.sleep(600))
    return sabotage.model()
