# SPDX-License-Identifier: Apache-2.0
"""Prints how many parameters each built-in model has, asked of a worker: `model_parameters.py COMMAND...`."""

import json
import os
import socket
import subprocess
import sys

JOBS = [
    ("mlp", {}), ("mlp", {"depth": "5", "hidden": "7", "input": "11"}),
    ("resnet18", {}), ("resnet50", {"classes": "7"}),
    ("wideresnet", {"depth": "16", "width": "4"}), ("wideresnet", {"input": "16x16x3"}),
    ("vit-tiny", {}), ("vit-small", {"patch": "32"}), ("vit-tiny", {"loss": "mse", "outputs": "3", "depth": "2"}),
    ("transformer", {}), ("transformer", {"input": "9", "vocabulary": "50"}), ("transformer", {"input": "5x3x2", "depth": "1"}),
    ("gnn", {}), ("gnn", {"input": "7x3", "neighbours": "2"}), ("gnn", {"depth": "6", "hidden": "64", "neighbours": "8"}),
]

ours, theirs = socket.socketpair()
process = subprocess.Popen(sys.argv[1:], pass_fds=[theirs.fileno()], env=dict(os.environ, RIDGELINE_CHANNEL_FD=str(theirs.fileno())))
theirs.close()
file = ours.makefile("rw")
for model, options in JOBS:
    file.write(json.dumps({"op": "describe", "job": {"kind": "native", "target": model, "options": options}}) + "\n")
    file.flush()
    answer = {"doing": ""}
    while "doing" in answer:
        answer = json.loads(file.readline())
    print(model, json.dumps(options), answer["ok"]["parameters"])
file.write('{"op": "close"}\n')
file.flush()
sys.exit(process.wait())
