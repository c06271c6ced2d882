# SPDX-License-Identifier: Apache-2.0
"""Ridgeline from Python programs: see ridgeline.stream."""
