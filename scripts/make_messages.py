#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the constructors and the table of a module's messages from its messages.json (syntax: docs/messages.md): of src/MODULE, or of
the Python package python/MODULE, which sends its messages by their names.

Usage: make_messages.py MODULE CATALOGUE OUTPUT.hpp OUTPUT.cpp
       make_messages.py --former FORMER.json OUTPUT.cpp    the words that messages had in records of text ("module.name": row)
       make_messages.py --unused REPOSITORY
Fails on a template that does not parse and on an argument that no template uses or that is not declared; with --unused, on a
message that no source makes.
"""
import json
import pathlib
import re
import sys

# kind: (type in C++, passed by value)
KINDS = {
    "text": ("std::string", False),
    "texts": ("std::vector<std::string>", False),
    "count": ("std::int64_t", True),
    "number": ("double", True),
    "numbers": ("std::vector<double>", False),
    "duration": ("double", True),
    "bytes": ("double", True),
    "share": ("double", True),
    "ratio": ("double", True),
    "quantity": ("schema::Quantity", False),
    "trial": ("int", True),
    "trials": ("std::vector<int>", False),
    "flag": ("bool", True),
    "choice": (None, True),
    "message": ("schema::Message", False),
    "messages": ("std::vector<schema::Message>", False),
}
DEFAULTS = {"std::int64_t": " = 0", "double": " = 0", "int": " = 0", "bool": " = false"}
EMPTIES = ("text", "texts", "numbers", "trials", "message", "messages")  # what is empty counts as absent
NAME = re.compile(r"[a-z][a-z0-9_]*")
STYLE = re.compile(r"[^{}|]+")


class Fault(Exception):
    """A fault of the catalogue; its text names the message."""


class Template:
    """A parsed template: what it says of its arguments."""

    def __init__(self, text):
        self.text = text
        self.used = {}  # name -> ways: "value", "asked", "plural", or the words of a choice
        end = self.parts(0, inside=False)
        if end != len(text):
            raise Fault(f"stray '{text[end]}' at {end}")

    def use(self, name, way):
        self.used.setdefault(name, []).append(way)

    def parts(self, at, inside):
        """Parses until the end, or inside of braces until '|' or '}'; returns where it stopped."""
        text = self.text
        while at < len(text):
            two = text[at : at + 2]
            if two in ("{{", "}}", "||") and not (inside and two == "}}"):
                at += 2
            elif text[at] == "{":
                at = self.braces(at + 1)
            elif text[at] == "}" or (inside and text[at] == "|"):
                return at
            else:
                at += 1
        return at

    def braces(self, at):
        match = NAME.match(self.text, at)
        if not match:
            raise Fault(f"no argument's name at {at}: {self.text[at:at + 12]!r}")
        name, at = match[0], match.end()
        mark = self.text[at : at + 1]
        if mark == "}":
            self.use(name, "value")
            return at + 1
        if mark == ":":
            style = STYLE.match(self.text, at + 1)
            if not style:
                raise Fault(f"{{{name}: no style")
            self.use(name, "value")
            return self.expect("}", style.end())
        if mark in ("?", "#"):
            self.use(name, "asked" if mark == "?" else "plural")
            at = self.parts(at + 1, inside=True)
            if self.text[at : at + 1] == "|":
                at = self.parts(at + 1, inside=True)
            elif mark == "#":
                raise Fault(f"{{{name}#: needs two forms, one|other")
            return self.expect("}", at)
        if mark == "=":
            words = []
            while True:
                word = NAME.match(self.text, at + 1)
                if not word:
                    raise Fault(f"{{{name}=: no word at {at + 1}")
                words.append(word[0])
                at = self.parts(self.expect(":", word.end()), inside=True)
                if self.text[at : at + 1] != "|":
                    break
            self.use(name, tuple(words))
            return self.expect("}", at)
        raise Fault(f"{{{name}{mark}: expected one of }} : ? # =")

    def expect(self, mark, at):
        if self.text[at : at + 1] != mark:
            raise Fault(f"expected '{mark}' at {at}, found {self.text[at:at + 8]!r}")
        return at + 1


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


class Message:
    """A row of the catalogue."""

    def __init__(self, name, row):
        if not NAME.fullmatch(name):
            raise Fault("names are lower case with _")
        row = {"text": row} if isinstance(row, str) else row
        if unknown := set(row) - {"text", "hint", "arguments", "severity"}:
            raise Fault(f"unknown key {sorted(unknown)}")
        self.name, self.text, self.hint = name, row["text"], row.get("hint", "")
        self.severity = row.get("severity", "note")
        if self.severity not in ("note", "warning", "error"):
            raise Fault(f"severity {self.severity!r}")
        uses = [Template(self.text).used, Template(self.hint).used]
        self.arguments = []
        for argument, kind in row.get("arguments", {}).items():
            optional = kind.endswith("?")
            kind = kind.rstrip("?")
            if kind not in KINDS:
                raise Fault(f"argument {argument}: unknown kind {kind!r}; known: {', '.join(KINDS)}")
            ways = [way for used in uses for way in used.get(argument, [])]
            if not ways:
                raise Fault(f"argument {argument} is in no template")
            self.check_ways(argument, kind, optional, ways)
            words = sorted({word for way in ways if isinstance(way, tuple) for word in way})
            self.arguments.append((argument, kind, optional, words))
        declared = {argument[0] for argument in self.arguments}
        for used in uses:
            if unknown := set(used) - declared:
                raise Fault(f"not declared: {sorted(unknown)}")

    @staticmethod
    def check_ways(argument, kind, optional, ways):
        if optional and "asked" not in ways:
            raise Fault(f"argument {argument} may be absent, and no {{{argument}?...}} asks")
        for way in ways:
            allowed = {
                "value": kind not in ("flag", "choice"),
                "asked": optional or kind in ("flag", "message", "messages", "numbers", "texts", "trials", "text"),
                "plural": kind in ("count", "texts", "trials"),
            }.get(way, kind == "choice")
            if not allowed:
                raise Fault(f"argument {argument} of kind {kind} used as {way}")

    def type_of(self, argument):
        name, kind, optional, _ = argument
        cpp = KINDS[kind][0] or f"{camel(self.name)}{camel(name)}"
        return f"std::optional<{cpp}>" if optional and kind not in EMPTIES else cpp

    def declaration(self):
        lines = []
        for argument in self.arguments:
            if argument[1] == "choice":
                lines.append(f"enum class {camel(self.name)}{camel(argument[0])} {{ {', '.join(argument[3])} }};")
        if len(self.arguments) > 1:
            members = []
            for argument in self.arguments:
                kind = self.type_of(argument)
                first = f" = {kind}::{argument[3][0]}" if argument[1] == "choice" and not argument[2] else DEFAULTS.get(kind, "{}")
                members.append(f"  {kind} {argument[0]}{first};")
            lines += [f"struct {camel(self.name)} {{", *members, "};"]
        lines += [f"/// {json.dumps(self.text, ensure_ascii=False)}", f"[[nodiscard]] schema::Message {self.signature()};"]
        return "\n".join(lines)

    def signature(self):
        if not self.arguments:
            return f"{self.name}()"
        if len(self.arguments) > 1:
            return f"{self.name}(const {camel(self.name)}& arguments)"
        argument = self.arguments[0]
        kind = self.type_of(argument)
        by_value = KINDS[argument[1]][1]
        return f"{self.name}({kind} {argument[0]})" if by_value else f"{self.name}(const {kind}& {argument[0]})"

    def definition(self, module):
        lines = []
        many = len(self.arguments) > 1
        withs = ""
        for argument in self.arguments:
            value = f"arguments.{argument[0]}" if many else argument[0]
            if argument[1] == "choice":
                cpp = f"{camel(self.name)}{camel(argument[0])}"
                cases = " ".join(f'case {cpp}::{word}: return "{word}";' for word in argument[3])
                lines.append(f"static std::string word_of({cpp} word) {{ switch (word) {{ {cases} }} return {{}}; }}")
                value = f"{value} ? std::optional(word_of(*{value})) : std::nullopt" if argument[2] else f"word_of({value})"
            if argument[1] in EMPTIES and argument[2]:
                value = f"{value}.empty() ? std::nullopt : std::optional({value})"
            withs += f'.with("{argument[0]}", {value})'
        lines.append(
            f"schema::Message {self.signature()} {{\n"
            f'  return schema::MessageMaker("{module}.{self.name}", schema::Severity::{self.severity}){withs}.take();\n}}'
        )
        return "\n".join(lines)

    def row(self, module):
        rows = f"{{kArguments_{self.name}}}" if self.arguments else "{}"
        arguments = ", ".join(f'{{"{name}", schema::ArgumentKind::{kind}}}' for name, kind, _, _ in self.arguments)
        array = f"constexpr schema::MessageArgument kArguments_{self.name}[] = {{{arguments}}};\n" if self.arguments else ""
        return array, f'    {{"{module}.{self.name}", {cpp_text(self.text)}, {cpp_text(self.hint)}, {rows}, schema::Severity::{self.severity}}},'


def cpp_text(text):
    return json.dumps(text, ensure_ascii=False)


def unused(root):
    """The messages that no source makes, each "module.name"."""
    paths = [*sorted(root.glob("src/*/messages.json")), *sorted(root.glob("python/*/messages.json"))]
    catalogues = {path.parent.name: json.loads(path.read_text()) for path in paths}
    made = set()
    for path in root.glob("python/*/*.py"):
        made |= {f"{path.parent.name}.{name}" for name in re.findall(r"\bmessage\(\"(\w+)\"", path.read_text())}
    for path in [*root.glob("src/**/*.[ch]pp"), *root.glob("apps/**/*.[ch]pp")]:
        module = path.relative_to(root).parts[1]
        for qualifier, name in re.findall(r"(?:\b(\w+)::)?messages::(\w+)\b", path.read_text()):
            made.add(f"{qualifier or module}.{name}")
    return [f"{module}.{name}" for module, rows in catalogues.items() for name in rows if f"{module}.{name}" not in made]


def generate(module, catalogue):
    messages = []
    for name, row in catalogue.items():
        try:
            messages.append(Message(name, row))
        except (Fault, KeyError) as fault:
            raise Fault(f"{name}: {fault}") from None
    header = f"""// Made of {module}'s messages.json by scripts/make_messages.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/message_template.hpp"

namespace ridgeline::{module}::messages {{

[[nodiscard]] schema::MessageTable table() noexcept;

{chr(10).join(message.declaration() for message in messages)}

}}  // namespace ridgeline::{module}::messages
"""
    rows = [message.row(module) for message in messages]
    source = f"""// Made of {module}'s messages.json by scripts/make_messages.py.
#include "{module}/messages.hpp"

#include "schema/message_maker.hpp"

namespace ridgeline::{module}::messages {{
namespace {{

{"".join(array for array, _ in rows)}constexpr schema::MessageTemplate kTable[] = {{
{chr(10).join(row for _, row in rows)}
}};

}}  // namespace

schema::MessageTable table() noexcept {{ return kTable; }}

{chr(10).join(message.definition(module) for message in messages)}

}}  // namespace ridgeline::{module}::messages
"""
    return header, source


def former(rows):
    """The table of report::former_messages()."""
    table = []
    for code, row in rows.items():
        module, name = code.split(".")
        try:
            table.append(Message(name, row).row(module))
        except (Fault, KeyError) as fault:
            raise Fault(f"{code}: {fault}") from None
    arrays = "".join(array.replace("kArguments_", f"kArguments{number}_") for number, (array, _) in enumerate(table))
    lines = "\n".join(line.replace("{kArguments_", f"{{kArguments{number}_") for number, (_, line) in enumerate(table))
    return f"""// Made of former.json by scripts/make_messages.py.
#include "report/messages/message_tables.hpp"

namespace ridgeline::report {{
namespace {{

{arrays}constexpr schema::MessageTemplate kTable[] = {{
{lines}
}};

}}  // namespace

schema::MessageTable former_messages() {{ return kTable; }}

}}  // namespace ridgeline::report
"""


def write(path, text):
    """Only a file that changes is written, so that nothing is compiled anew for one that did not."""
    file = pathlib.Path(path)
    if not file.exists() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def main():
    if sys.argv[1] == "--unused":
        if left := unused(pathlib.Path(sys.argv[2])):
            sys.exit(f"no source makes: {', '.join(left)}")
        return
    if sys.argv[1] == "--former":
        catalogue, source = sys.argv[2:]
        try:
            return write(source, former(json.loads(pathlib.Path(catalogue).read_text(encoding="utf-8"))))
        except (Fault, ValueError) as fault:
            sys.exit(f"{catalogue}: {fault}")
    module, catalogue, header, source = sys.argv[1:]
    try:
        texts = generate(module, json.loads(pathlib.Path(catalogue).read_text(encoding="utf-8")))
    except (Fault, ValueError) as fault:
        sys.exit(f"{catalogue}: {fault}")
    write(header, texts[0])
    write(source, texts[1])


if __name__ == "__main__":
    main()
