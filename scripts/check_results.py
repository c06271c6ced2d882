#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when benchmarks/results is heavy, holds generated reports, or is cited where no such file is.

The folder keeps a page of findings per subject and small records; reports are made anew by the commands of
benchmarks/README.md. Usage: check_results.py [REPOSITORY]
"""
import re

import repository_check

MOST_BYTES = 2_000_000
ENDINGS = {".md", ".tsv", ".txt", ".json"}
CITED = re.compile(r"benchmarks/results/[A-Za-z0-9_./-]+")
LINKED = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def check(root):
    results = root / "benchmarks" / "results"
    files = sorted(path for path in results.rglob("*") if path.is_file())
    total = sum(path.stat().st_size for path in files)
    problems = []
    if total > MOST_BYTES:
        problems.append(f"benchmarks/results: {total} bytes, at most {MOST_BYTES}; keep findings, not reports")
    problems += [f"{path.relative_to(root)}: only {', '.join(sorted(ENDINGS))} belong there" for path in files if path.suffix not in ENDINGS]
    for path in sorted(results.rglob("*.md")) + [root / "benchmarks" / "README.md"]:
        for target in LINKED.findall(path.read_text()):
            if not (path.parent / target).exists():
                problems.append(f"{path.relative_to(root)}: no file {target}")
    places = [root / "README.md", root / "CHANGELOG.md", root / "ARCHITECTURE.md", root / "CONTRIBUTING.md"]
    for folder in ("src", "apps", "plugins", "docs", "tests", "benchmarks", "scripts"):
        places += [path for path in sorted((root / folder).rglob("*")) if path.suffix in {".md", ".cpp", ".hpp", ".py", ".sh"}]
    for path in places:
        # A citation may go on in the next line of a comment.
        text = re.sub(r"/\n\s*(?:///?|#) ?", "/", path.read_text())
        for cited in CITED.findall(text):
            if not (root / cited.rstrip("./")).exists():
                problems.append(f"{path.relative_to(root)}: no file {cited.rstrip('.')}")
    return f"benchmarks/results: {total / 1e6:.2f} MB", problems


if __name__ == "__main__":
    repository_check.main(check)
