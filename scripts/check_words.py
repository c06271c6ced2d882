#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts turns of phrase that read as translated, in what users read: the messages of the catalogues, and the texts of the command line
(string literals of apps/, src/report/ and src/schema/catalog/ with three words or more).

    scripts/check_words.py [REPOSITORY] [--show PATTERN] [--only PATH_PART]

One line per fault: FILE:LINE: PATTERN: text. Ends with 1 if there is any. scripts/words_allowed.txt lists passages that are right all the
same, each with its reason."""
import argparse
import json
import pathlib
import re
import sys

THINGS = ("trial|second|minute|hour|step|source|sample|inference|item|image|frame|GPU|device|model|call|process|run|session|worker|epoch|rank|"
          "round|block|launch|kernel|stream|slot|camera|batch|core|thread|CPU|layer|replay|iteration|row|line|setting|file|node")
UNITS = r"(?:[A-Za-z]*(?:[^s\W]s)|GB|MB|GiB|MiB|KiB|B|J|W|Wh|FLOP|ms|s|µs|\})"
VERBS = ("is|was|has|does|takes|gives|makes|needs|gets|sets|runs|adds|starts|ends|reads|writes|finds|opens|calls|uses|keeps|shows|"
         "means|wants|asks|sees|puts|lets|begins|stops|changes|names|loads|becomes|lists|measures|returns|prints|expects|passes|"
         "picks|tries|times|creates|saves|allows|skips|drops|affects|contains|describes|covers|matches|counts|selects|leaves|"
         "answers|misses|forms|builds|costs|compares|includes|requires|supports|as|this|its|always|less|was|us|thus|unless|across|"
         "plus|versus|towards|besides|perhaps|whereas|afterwards|sometimes|tunes|resumes|repeats|hangs|crashes|reports|draws|moves|holds")
PATTERNS = {
    "rate": rf"(?<![\w-])(?!(?:{VERBS})\s){UNITS} an? (?:{THINGS})\b(?! (?:file|folder|name|of|that|with|to))",
    "where": r"(?<!is )(?<!are )(?<!was )(?<!shows )(?<!show )(?<!know )(?<!of )(?<!from )(?<!see )(?<!say )\b[Ww]here\b(?! (?:it|they|the time|time|to|is|are|does|do)\b)",
    "so that": r"\b[Ss]o that\b",
    "beside": r"\b[Bb]eside\b",
    "of": r"^(?:Of |So many )",
    "least": r"(?<!at )(?<!At )\b[Ll]east\b",
    "most": r"(?<!at )(?<!At )(?<!the )(?<!utt)\b[Mm]ost\b(?! (?:likely|of|often|recent|models|cards|expensive|common))",
    "tell": r"\b(?:[Tt]ells?|[Tt]old|[Ss]ays?|[Ss]aid|[Ss]aying|[Tt]elling)\b",
    "hold": r"\b(?:[Hh]olds?|[Hh]eld|[Hh]olding|[Bb]orne?|[Bb]ears?|[Ss]tands?|[Ss]tood)\b(?!-alone)",
    "slower times": r"(?:times|×|x) (?:slower|faster)\b",
    "speaking of": r"worth (?:speaking|the while)",
    "further left": r"further (?:left|right)",
    "whoever": r"\b(?:[Ww]hoever|[Ww]ho asks|[Ww]ho wants)\b",
    "mend": r"\b(?:mend|mended|mends|slip|slips|foretold|by itself|ours?)\b",
    "a neighbour": r"\b[Nn]eighbours?\b",
    "worth": r"\bis worth\b",
    "while": r"\bfor all that\b",
}
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ALLOWED = "scripts/words_allowed.txt"


def sentences(catalogue):
    """(line, text) of each text and hint of a messages.json."""
    text = catalogue.read_text()
    rows = json.loads(text)
    lines = text.split("\n")
    for name, row in rows.items():
        at = next((number for number, line in enumerate(lines, 1) if line.strip().startswith(json.dumps(name) + ":")), 0)
        for part in ([row] if isinstance(row, str) else [row["text"], row.get("hint", "")]):
            yield at, part


def literals(path):
    """(line, text) of the string literals of a C++ file, adjacent ones joined, without includes."""
    joined, begun, last_end = "", 0, -1
    text = re.sub(r"^\s*(?:#.*|//.*)$", "", path.read_text(), flags=re.M)
    for match in LITERAL.finditer(text):
        if last_end >= 0 and not text[last_end:match.start()].strip():
            joined += match.group(1)
        else:
            if joined:
                yield begun, joined
            joined, begun = match.group(1), text.count("\n", 0, match.start()) + 1
        last_end = match.end()
    if joined:
        yield begun, joined


def read(root):
    """(path, line, text) of all that is checked."""
    for path in [*sorted(root.glob("src/*/messages.json")), *sorted(root.glob("python/*/messages.json"))]:
        yield from ((path, line, text) for line, text in sentences(path))
    for folder in ("apps", "src/report", "src/schema/catalog"):
        for path in sorted(root.glob(f"{folder}/**/*.cpp")):
            yield from ((path, line, text) for line, text in literals(path) if len(text.split()) >= 3)


def allowed(root):
    """The passages of ALLOWED: "text  # reason" a line."""
    path = root / ALLOWED
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.split("  # ")[0] for line in lines if line.strip() and not line.startswith("#")]


def plain(text):
    """Without what a template asks for (names of arguments and of choices), so that only words are left."""
    text = re.sub(r"\{\w+(?::[^{}|]*)?\}", "{}", text)  # what is filled in
    text = re.sub(r"\{\w+[?#=]", "{", text)
    return re.sub(r"(?<=[{|])\w+:(?=\S)", "", text)


def faults(root):
    rights = allowed(root)
    for path, line, text in read(root):
        checked = plain(text)
        for right in rights:
            checked = checked.replace(right, "")
        for name, pattern in PATTERNS.items():
            if re.search(pattern, checked):
                yield path.relative_to(root), line, name, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent, type=pathlib.Path)
    parser.add_argument("--show", help="faults of this pattern only")
    parser.add_argument("--only", default="", help="of files whose path has this in it")
    arguments = parser.parse_args()
    found = [fault for fault in faults(arguments.repository)
             if arguments.show in (None, fault[2]) and arguments.only in str(fault[0])]
    for path, line, name, text in found:
        print(f"{path}:{line}: {name}: {text[:220]}")
    counts = {name: sum(fault[2] == name for fault in found) for name in PATTERNS}
    print(f"{len(found)} faults" + "".join(f", {name} {count}" for name, count in counts.items() if count))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
