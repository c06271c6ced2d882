# SPDX-License-Identifier: Apache-2.0
"""What the processes of training and of inference share: the channel to their parent, the user's function, and how failures are told.
Needs no package, and Python 3.8 or later."""
