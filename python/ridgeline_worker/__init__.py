# SPDX-License-Identifier: Apache-2.0
"""Shared by the processes of training and of inference: the channel to the parent, loading the user's function, failure reports.
Needs no package, and Python 3.8 or later."""
