#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of the code's size and shape, to compare two versions: scripts/code_figures.py [FOLDER]...

    git archive COMMIT --prefix=before/ | tar -x -C /tmp && scripts/code_figures.py /tmp/before .

Prints a Markdown table, a column a folder, and below it each folder's functions of more than 100 lines that are no tables.
"""
import pathlib
import re
import sys

LIMIT = 100
PROVIDERS = "cpu|cuda|tensorrt|openvino|dnnl|rocm|migraphx|webgpu|coreml|directml|qnn|xnnpack"
PROVIDER = re.compile(rf'[=!]= *"(?:{PROVIDERS})"|"(?:{PROVIDERS})" *[=!]=|[=!]= *"\w+ExecutionProvider"')
MACRO = re.compile(r"[A-Z][A-Z0-9_]+\([^{}]*\)")
NOISE = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*(?:.|\n)*?\*/|^[ \t]*#(?:\\\n|[^\n])*', re.M)


def bare(text):
    """The text without what stands in strings, comments and preprocessor lines; lines stay where they are."""
    return NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)


def functions(text):
    """(lines, name, whether it is a table) of each function: a brace after parentheses in a namespace or class."""
    text, scopes, head, line = bare(text), [], "", 1
    for at, one in enumerate(text):
        line += one == "\n"
        outside = not scopes or scopes[-1][0] == "scope"
        if one == "{":
            kind = "inner"
            if outside:
                words = re.sub(r"<[^<>;{}]*>", "", head)  # a template's parameters are no class
                plain = re.search(r"\b(?:namespace|class|struct|union|enum|extern)\b", words) and "(" not in words
                called = re.search(r"(operator\W{1,3}|~?\w+)\s*\(", words)
                kind = "scope" if plain else "function" if called and not re.search(r"(?<![=!<>])=(?!=)[^()]*$", words) else "inner"
                start = line - head.lstrip().count("\n")
                scopes.append((kind, start, at, called.group(1).strip() if called else ""))
            else:
                scopes.append((kind, line, at, ""))
            head = ""
        elif one == "}" and scopes:
            kind, start, opened, name = scopes.pop()
            if kind == "function":
                lines = line - start + 1
                # Hardly a statement for all these lines: rows of data, or flags and their descriptions.
                yield lines, name, text.count(";", opened, at) < lines / 8
            head = ""
        elif one == ";" and outside:
            head = ""
        elif outside:
            head += one
            if one == "\n" and MACRO.fullmatch(head.strip()) and head.count("(") == head.count(")"):
                head = ""


def figures(root):
    sources = [path for folder in ("src", "apps", "plugins") for path in sorted((root / folder).rglob("*"))
               if path.suffix in {".cpp", ".hpp", ".h", ".c", ".py", ".cu"}]
    texts = {path: path.read_text(errors="replace") for path in sources}
    code = {path: text for path, text in texts.items() if path.suffix != ".py"}
    found = sorted(((lines, f"{path.relative_to(root)} {name}", table) for path, text in code.items()
                    for lines, name, table in functions(text)), reverse=True)
    long = [(lines, name) for lines, name, table in found if lines > LIMIT and not table]
    store = "\n".join(text for path, text in code.items() if path.is_relative_to(root / "src" / "store"))
    tables = set(re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", store)) - set(re.findall(r"DROP TABLE (?:IF EXISTS )?(\w+)", store))
    compared = sum(len(PROVIDER.findall(text)) for path, text in code.items()
                   if not str(path.relative_to(root)).startswith("src/schema/catalog"))
    executors = {name for text in code.values() for name in re.findall(r"^ *class (\w*Executor)(?: final)?(?: *:[^;{]*)? *\{", text, re.M)}
    plain = [one for one in found if not one[2]]
    table = {"lines of src, apps, plugins": f"{sum(text.count(chr(10)) for text in texts.values()):,}",
             "files": f"{len(texts):,}", "lines of the largest file": max(text.count("\n") for text in texts.values()),
             "longest function, tables apart": f"{plain[0][0]} lines" if plain else "-",
             f"functions of more than {LIMIT} lines, tables apart": len(long),
             "comparisons with provider names outside the catalogue": compared,
             "tables of the results file": len(tables), "executor classes": len(executors)}
    return table, long, sorted(executors), sorted(tables)


def main():
    roots = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or [pathlib.Path(__file__).resolve().parent.parent]
    columns = [figures(root) for root in roots]
    print("| | " + " | ".join(root.name for root in roots) + " |\n|---|" + "---:|" * len(roots))
    for key in columns[0][0]:
        print(f"| {key} | " + " | ".join(str(column[0][key]) for column in columns) + " |")
    for root, (_, long, executors, tables) in zip(roots, columns):
        print(f"\n{root.name}: executors {', '.join(executors)}; tables {', '.join(tables)}")
        for lines, name in long:
            print(f"  {lines} lines: {name}")


if __name__ == "__main__":
    main()
