#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every #include below src/ and apps/ and fails on an edge that src/LAYERS.txt does not list, and on one that it
lists and nobody uses.

Also: only `store` and the importer of `trace` may use SQLite, only `workload` may name ONNX Runtime, the pure modules may not include clocks,
files, threads or the environment, and only `host` may name files of /proc and of control groups (`base` its own
program). Usage: check_layers.py [REPOSITORY]
"""
import re

import repository_check

PURE_MODULES = {"schema", "search", "analysis", "report"}
PURE_FORBIDDEN = {
    "base/clock.hpp", "base/file.hpp", "base/subprocess.hpp", "base/cancel.hpp", "base/dynamic_library.hpp",
    "filesystem", "fstream", "thread", "mutex", "atomic", "chrono_io", "unistd.h", "stdlib.h",
}
OWNED = {
    "sqlite3.h": {"store", "trace"},
    "onnxruntime_c_api.h": {"workload"},
    "CLI/CLI.hpp": {"apps"},
    "onnx/onnx_pb.h": {"workload"},
    "hdf5.h": {"loader"},
    "libdeflate.h": {"loader"},
    "utf8proc.h": {"base"},
    "dtl/dtl.hpp": {"config"},
    "simdjson.h": {"trace"},
    "zlib.h": {"trace", "tracefile"},
    "protozero/pbf_writer.hpp": {"trace"},
}
KERNEL_FILES = {"host", "base"}
KERNEL_FILE = re.compile(r'"/?(proc|sys/fs/cgroup)[/"]')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def load_layers(path):
    layers = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            module, _, allowed = line.partition(":")
            layers[module.strip()] = set(allowed.split())
    return layers


def folder_of(layers, path, module):
    """The listed folder of a module that a file is in ("campaign/tune"), or the module itself."""
    folder = "/".join(path.split("/")[:2])
    return folder if folder in layers else module


def check(root):
    layers = load_layers(root / "src" / "LAYERS.txt")
    problems = []
    used = set()
    files = sorted(root.glob("src/*/**/*.[hc]pp")) + sorted(root.glob("apps/**/*.[hc]pp"))
    for path in files:
        relative = path.relative_to(root)
        module = "apps" if relative.parts[0] == "apps" else relative.parts[1]
        if module not in layers:
            problems.append(f"{relative}: module \"{module}\" is not in src/LAYERS.txt")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if module not in KERNEL_FILES and KERNEL_FILE.search(line.split("//")[0]):
                problems.append(f"{relative}:{number}: only host may read /proc and control groups")
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(2)
            other = target.split("/")[0]
            used.add((module, other))
            where = f"{relative}:{number}"
            if "/" in target and other in layers and other != module and other not in layers[module]:
                problems.append(f"{where}: {module} may not include {other} ({target})")
            part, other_part = folder_of(layers, f"{module}/{relative.parts[2]}", module), folder_of(layers, target, module)
            if other == module and part != other_part and other_part not in layers[part]:
                problems.append(f"{where}: {part} may not include {other_part} ({target})")
            used.add((part, other_part))
            if module in PURE_MODULES and target in PURE_FORBIDDEN:
                problems.append(f"{where}: {module} is pure and may not include {target}")
            if target in OWNED and module not in OWNED[target]:
                problems.append(f"{where}: only {', '.join(sorted(OWNED[target]))} may include {target}")
    for module, allowed in layers.items():
        problems += [f"src/LAYERS.txt: no file of {module} includes {other}" for other in sorted(allowed) if (module, other) not in used]
    if not files:
        problems.append("no source files")
    return f"{len(files)} files", problems


if __name__ == "__main__":
    repository_check.main(check)
