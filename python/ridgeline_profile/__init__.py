# SPDX-License-Identifier: Apache-2.0
"""Names what a PyTorch program does while `ridgeline profile -- COMMAND` records it: calls of modules with their backward passes, steps of
optimizers, and batches of data loaders. The program itself is not changed."""
