#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where code compares with the name of an execution provider, lists several, or spells ONNX Runtime's name of one.

What a provider is and can do are questions to its row (src/schema/execution_provider.hpp). The names are read from the
rows themselves. Usage: check_providers.py [REPOSITORY]
"""
import re

import repository_check

CATALOG = "src/schema/catalog/execution_providers.cpp"
# Words that only look like a provider's name.
OTHER_WORDS = {
    "plugins/torch/device.cpp": "the plugin's own devices, as LibTorch names them",
}


def patterns(ids):
    name = '"(?:' + "|".join(ids) + ')"'
    return [
        (re.compile(r"[=!]=\s*" + name + "|" + name + r"\s*[=!]="), "compares with a provider's name"),
        (re.compile(r"(?:find|count|contains|at|rfind|compare)\(" + name + r"\)"), "looks a provider up by its name"),
        (re.compile(name + r"\s*(?:,\s*" + name + r"\s*)+\}"), "lists providers"),
        (re.compile(r'"\w*ExecutionProvider"'), "spells the library's name of a provider"),
    ]


def check(root):
    ids = re.findall(r'\.id = "([\w-]+)"', (root / CATALOG).read_text())
    faults = patterns(ids)
    files = sorted(path for folder in ("src", "apps", "plugins") for path in (root / folder).rglob("*.[hc]pp"))
    problems = []
    for path in files:
        relative = path.relative_to(root).as_posix()
        if relative == CATALOG or relative in OTHER_WORDS:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            problems += [f"{relative}:{number}: {what}; ask its row" for pattern, what in faults if pattern.search(code)]
    problems += [f"{name}: is gone; take it off OTHER_WORDS" for name in OTHER_WORDS if not (root / name).exists()]
    if not ids:
        problems.append(f"{CATALOG}: no rows found")
    return f"{len(files)} files, {len(ids)} providers ({', '.join(ids)})", problems


if __name__ == "__main__":
    repository_check.main(check)
