# SPDX-License-Identifier: Apache-2.0
"""Times the steps of a PyTorch program for `ridgeline profile --verify`, with the change that a finding proposes or without one. The
program's files are not changed."""
