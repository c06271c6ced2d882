# SPDX-License-Identifier: Apache-2.0
"""What `ridgeline show --json` says of runs that an older version recorded, against what that version printed.

    compare_shown.py OLD NEW PATHS

OLD and NEW are folders with RUN.json and RUN.md for each run. The JSON is equal but for texts that became messages, whose words may have
changed and whose numbers are the same, and for the paths in the table PATHS: tab-separated lines `kind<TAB>old<TAB>new`, `*` for every
kind of run, `[]` for every member of a list, `-` for a path that is new or gone. Every number of the Markdown is still there, but for the
line that names the version. Prints how many texts became messages, and how many of these are known by their words alone
(schema.legacy). Exit code 1: something else differs.
"""
import json
import pathlib
import re
import sys
from collections import Counter

LEGACY = "schema.legacy"


def numbers(text):
    """All numbers of a text, as they are written."""
    return re.findall(r"\d+(?:[.,]\d+)*", text)


def is_message(value):
    return isinstance(value, dict) and "code" in value and "text" in value


def steps(path):
    return [part for part in path.replace("[]", ".[]").split(".") if part]


def take(value, path):
    """Takes the values at the path out of a record: {indices: value}."""
    found = {}

    def walk(value, path, indices):
        head, rest = path[0], path[1:]
        if head == "[]":
            for index, one in enumerate(value if isinstance(value, list) else []):
                walk(one, rest, indices + (index,))
        elif isinstance(value, dict) and head in value:
            if rest:
                walk(value[head], rest, indices)
            else:
                found[indices] = value.pop(head)

    walk(value, path, ())
    return found


def put(value, path, indices, what):
    for at, step in enumerate(path[:-1]):
        if step == "[]":
            value, indices = value[indices[0]], indices[1:]
        else:
            value = value.setdefault(step, {})
    value[path[-1]] = what


def kind_of(run):
    if "tables" in run:
        return "profile"
    return "stream" if "ready" in run else run["schema"].split(".")[1]


class Comparison:
    def __init__(self):
        self.texts = 0
        self.legacy = 0
        self.faults = []

    def words(self, old, new, where):
        self.texts += 1
        self.legacy += new["code"] == LEGACY
        if Counter(numbers(old)) != Counter(numbers(new["text"])):
            self.faults.append(f"{where}: {old!r} is now {new['text']!r}")

    def equal(self, old, new, where):
        if is_message(new):
            if isinstance(old, str):
                return self.words(old, new, where)
            if isinstance(old, dict) and isinstance(old.get("text"), str):
                self.words(old["text"], new, where)
                if bool(old.get("hint", "")) != bool(new.get("hint", "")):
                    self.faults.append(f"{where}: hint {old.get('hint')!r} is now {new.get('hint')!r}")
                return None
        if old in (None, "") and new in (None, ""):
            return None  # nothing was said
        if isinstance(old, dict) and isinstance(new, dict):
            for key in sorted(old.keys() | new.keys()):
                if key not in new or key not in old:
                    self.faults.append(f"{where}.{key}: only in the {'old' if key in old else 'new'} one")
                else:
                    self.equal(old[key], new[key], f"{where}.{key}")
        elif isinstance(old, list) and isinstance(new, list):
            if len(old) != len(new):
                self.faults.append(f"{where}: {len(old)} members are now {len(new)}")
            for index, (one, other) in enumerate(zip(old, new)):
                self.equal(one, other, f"{where}[{index}]")
        elif isinstance(old, str) and isinstance(new, str) and " " in old and Counter(numbers(old)) == Counter(numbers(new)):
            return None  # a formula or a heading
        elif old != new or isinstance(old, bool) != isinstance(new, bool):
            self.faults.append(f"{where}: {old!r} is now {new!r}")
        return None


def main():
    old_folder, new_folder, table = (pathlib.Path(argument) for argument in sys.argv[1:4])
    moves = [line.split("\t") for line in table.read_text().splitlines() if line and not line.startswith("#")]
    comparison = Comparison()
    runs = sorted(old_folder.glob("*.json"))
    for path in runs:
        old = json.loads(path.read_text())
        new = json.loads((new_folder / path.name).read_text())
        for kind, source, target in moves:
            if kind not in ("*", kind_of(old)):
                continue
            values = take(old, steps(source)) if source != "-" else {}
            if target == "-":
                continue
            if source == "-":
                take(new, steps(target))
            for indices, value in values.items():
                put(old, steps(target), indices, value)
        comparison.equal(old, new, path.stem)
        was, now = (
            Counter(numbers("\n".join(line for line in (folder / f"{path.stem}.md").read_text().splitlines()
                                      if "idgeline 0." not in line)))
            for folder in (old_folder, new_folder)
        )
        if lost := was - now:
            comparison.faults.append(f"{path.stem}.md: {sum(lost.values())} numbers are gone: {sorted(lost)[:20]}")
    print(f"{len(runs)} runs, {comparison.texts} texts became messages, {comparison.legacy} of them {LEGACY}")
    for fault in comparison.faults[:100]:
        print(fault)
    if not runs or comparison.faults or comparison.legacy * 10 > comparison.texts:
        sys.exit(1)


main()
