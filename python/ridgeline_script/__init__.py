# SPDX-License-Identifier: Apache-2.0
"""Times the training steps of an unmodified script for `ridgeline bench -- python train.py`, under settings that are changed from
outside. The hooks are installed by the sitecustomize of ridgeline_profile; needs no package but torch, and Python 3.8 or later."""
