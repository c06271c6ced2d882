#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on a text in a record that scripts/stored_text.tsv does not know, or that is not there any more.

A record is a struct with a JSON form (RL_DECLARE_JSON, RL_DEFINE_JSON). Each of its members of std::string (also within vector,
optional, map, pair) has a line: FILE STRUCT.MEMBER KIND. What Ridgeline says is no text but a schema::Message. Kinds:
  name      of something: a setting, a device, a version, an id, a code
  path      of a file, or an address
  enum      one of few words
  command   a command line, or code
  time      a point in time
  foreign   the words of another program, or of the user
  prose     our own words, still to become a message
Usage: check_stored_text.py [REPOSITORY] [--write]: adds what is missing as kind "?".
"""
import pathlib
import re
import sys

import repository_check

KINDS = ("name", "path", "enum", "command", "time", "foreign", "prose")
TEXT = re.compile(r"\bstd::string\b")
MEMBER = re.compile(r"^\s+([^()=;]*[\w>]) (\w+)(?:\{[^;]*\}| = [^;]*)?;")


def json_types(root):
    types = set()
    for path in root.glob("src/**/*.[hc]pp"):
        for name in re.findall(r"RL_(?:DECLARE|DEFINE)_JSON(?:_REQUIRED)?\(\s*((?:\w+::)*\w+)", path.read_text()):
            types.add(name.split("::")[-1])
        for name in re.findall(r"void to_json\([^,]*,\s*const (?:\w+::)*(\w+)&", path.read_text()):
            types.add(name)
    # What records of several kinds have in common has no JSON of its own.
    for path in root.glob("src/**/*.hpp"):
        for name, base in re.findall(r"^struct (\w+) : (\w+) \{", path.read_text(), re.MULTILINE):
            if name in types:
                types.add(base)
    return types


def texts(root):
    """(file, "Struct.member") of each text in a record."""
    types = json_types(root)
    for path in sorted(root.glob("src/**/*.hpp")):
        struct, depth = None, 0
        text = re.sub(r"[ ]*//.*", "", path.read_text())
        for line in re.sub(r"\n\s+(\w+(?:\{\})?;)", r" \1", text).splitlines():  # a name on a line of its own
            if found := re.match(r"\s*(?:struct|class) (\w+)(?: final)?(?: :[^{]*)? \{", line):
                struct, depth = found[1], 0
            if struct is None:
                continue
            depth += line.count("{") - line.count("}")
            if depth <= 0:
                struct = None
                continue
            member = MEMBER.match(line)
            if member and depth == 1 and struct in types and TEXT.search(member[1]) and "static" not in member[1] and "using" not in member[1]:
                yield str(path.relative_to(root)), f"{struct}.{member[2]}"


def check(root):
    listed = root / "scripts/stored_text.tsv"
    known = {}
    for line in listed.read_text().splitlines() if listed.exists() else []:
        file, member, kind = line.split("\t")
        known[file, member] = kind
    found = list(texts(root))
    if "--write" in sys.argv:
        listed.write_text("".join(f"{file}\t{member}\t{known.get((file, member), '?')}\n" for file, member in found))
        return f"{len(found)} texts written", []
    problems = [f"{file}: {member}: a text that {listed.name} does not know; our words are a schema::Message" for file, member in found if (file, member) not in known]
    problems += [f"{listed.name}: {file} has no {member}" for file, member in known if (file, member) not in set(found)]
    problems += [f"{listed.name}: {member}: unknown kind {kind!r}" for (_, member), kind in known.items() if kind not in KINDS]
    return f"{len(found)} texts in records, {list(known.values()).count('prose')} of them our own words", problems


if __name__ == "__main__":
    repository_check.main(check)
