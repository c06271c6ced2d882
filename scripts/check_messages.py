#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where code looks for words in a message or hint: ours are for people, code branches on codes and data.

READERS may, because what they read is not ours. Usage: check_messages.py [REPOSITORY]
"""
import re

import repository_check

READERS = {
    "src/doctor/load_error.cpp": "the loader's words",
    "src/loader/dataset_inspector.cpp": "the path of the file",
    "src/workload/onnx/ort_environment.cpp": "ONNX Runtime's log",
    "src/workload/onnx/ort_error.cpp": "ONNX Runtime's words",
    "src/workload/onnx/ort_workload.cpp": "ONNX Runtime's words",
    "src/workload/failure_facts.cpp": "PyTorch's words",
}
LOOK = re.compile(r"\b(message|hint)(\(\))?\.(find|rfind|starts_with|ends_with|contains|compare|substr)\w*\(")


def check(root):
    problems = []
    used = set()
    for folder in ("src", "apps", "plugins"):
        for path in sorted((root / folder).rglob("*.[hc]pp")):
            name = str(path.relative_to(root))
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if not LOOK.search(line):
                    continue
                used.add(name)
                if name not in READERS:
                    problems.append(f"{name}:{number}: looks for words in a message; compare a code or data instead")
    problems += [f"{name}: reads no messages any more; take it off READERS" for name in READERS if name not in used]
    return f"{len(READERS)} files read messages of others", problems


if __name__ == "__main__":
    repository_check.main(check)
