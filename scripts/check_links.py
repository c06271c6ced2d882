#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Relative links of the Markdown pages: each leads to a file of the repository and, with an anchor, to a heading of it.

    scripts/check_links.py [REPOSITORY]"""
import re
import subprocess

import repository_check


def anchors(page):
    """GitHub's anchors of the page's headings, and those that it sets itself."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    headings = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"^#+ +(.+)$", text, flags=re.M))
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


def check(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=root, check=True, capture_output=True, text=True)
    # Hostile input of the report tests is no documentation.
    pages = [root / name for name in listed.stdout.split() if not name.startswith("tests/golden/")]
    faults, links = [], 0
    for page in pages:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text):
            if "://" in link or link.startswith("mailto:"):
                continue
            links += 1
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                faults.append(f"{page.relative_to(root)}: {link}: no such file")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                faults.append(f"{page.relative_to(root)}: {link}: no such heading")
    return f"{len(pages)} pages, {links} links", faults


repository_check.main(check)
