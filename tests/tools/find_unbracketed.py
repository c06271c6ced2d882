# SPDX-License-Identifier: Apache-2.0
"""Which sentences of reports are in no catalogue.

    find_unbracketed.py PLAIN PSEUDO KNOWN [--write]

PLAIN and PSEUDO are folders with RUN.md of the same runs, the latter made with RIDGELINE_LANGUAGE=pseudo. Without its brackets each is
the same but for capitals. KNOWN lists what may be without brackets, a line each, with `#` for every number and name; --write writes it. Prints how many
sentences have brackets and how many have none. Exit code 1: a report differs, a sentence is not known, or a known one is not there.
"""
import pathlib
import re
import sys

WORDS = 5  # of lower case: less is a label


def outside(line):
    """What is left of a line outside of brackets."""
    out, depth = [], 0
    for char in line:
        if char == "⟦":
            depth += 1
            out.append("⟦⟧" if depth == 1 else "")
        elif char == "⟧":
            depth -= 1
        elif depth == 0:
            out.append(char)
    return "".join(out)


def sentences(line):
    """Texts of a line that are sentences by their number of words, without what varies."""
    text = re.sub(r"`[^`]*`", "#", outside(line))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"(?<![\w.])(?:/[\w.@-]+){2,}", "#", text)  # paths of the machine that recorded it
    for part in re.split(r"⟦⟧|\|", text):
        if len(re.findall(r"(?<![\w#])[a-z]{2,}(?![\w#])", part)) >= WORDS:
            yield re.sub(r"#+", "#", re.sub(r"[\d.,–-]*\d[\d.,–-]*(?:e[+-]?\d+)?", "#", part)).strip(" *->:;.[]")


def main():
    plain, pseudo, known_path = (pathlib.Path(argument) for argument in sys.argv[1:4])
    faults, found, bracketed = [], set(), 0
    fenced = False
    for path in sorted(plain.glob("*.md")):
        text = (pseudo / path.name).read_text()
        bracketed += text.count("⟦")
        # Behind a bracket a full stop is set that a text which ends in dots does not get, and a space before it stays.
        bare = re.sub(r" +\|", " |", text.replace("⟦", "").replace("⟧", "").replace("....", "..."))
        if "⟦" not in text or bare.lower() != re.sub(r" +\|", " |", path.read_text().lower()):
            faults.append(f"{path.name} is not the same, or has no brackets")
        for line in text.splitlines():
            fenced ^= line.startswith("```")
            if not fenced and not line.startswith("<"):
                found.update(sentences(line))
    if "--write" in sys.argv:
        known_path.write_text("".join(f"{line}\n" for line in sorted(found)))
    known = set(known_path.read_text().splitlines())
    faults += [f"no brackets: {line}" for line in sorted(found - known)]
    faults += [f"known, and not there any more: {line}" for line in sorted(known - found)]
    print(f"{bracketed} sentences with brackets, {len(found)} without")
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
