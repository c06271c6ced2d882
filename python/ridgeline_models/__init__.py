# SPDX-License-Identifier: Apache-2.0
"""The built-in models of `ridgeline bench --model NAME` in Python: the architectures, options, losses, optimizers and data of the
LibTorch plug-in (plugins/torch), for machines that have torch and not the plug-in. Trials are those of ridgeline_train.
Needs torch 1.10 or later, h5py for data files, and Python 3.8 or later."""
