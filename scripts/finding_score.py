#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/profile_gpu.sh --part findings prints: which planted defects (tests/tools/planted_defects.py) `ridgeline profile` finds, and
how near its predicted savings are to what the fixes save.

    finding_score.py PROGRAMS FOLDER
PROGRAMS: the output of planted_defects.py --list. FOLDER has, of each program, NAME.json (`ridgeline show latest:profile --json`), and of
those with a defect NAME.defect and NAME.fixed: times of a step in ms, one per line.

A defect is found if one of the first three findings is of its rule and in its module. A false alarm is a finding of at least 5 % in a
healthy program, or one of another rule ahead of all others in a program with a defect: one per program at most. Savings are compared as
shares of the step, because recording makes steps longer."""
import json
import pathlib
import statistics
import sys

FIRST = 3  # findings in which the defect has to be
ALARM = 0.05  # of the time
NEAR = 0.3  # of the measured saving


class Finding:
    def __init__(self, record):
        self.rule = record["title"]["code"].partition(".")[2].replace("_", "-")
        self.module = record.get("module", "")
        self.share = record["saving_share"]


class Program:
    """A program with a defect; a healthy one has no rules."""

    def __init__(self, name, rules, module, findings, defect_ms=(), fixed_ms=()):
        self.name, self.module, self.findings = name, module, findings
        self.rules = [rule for rule in rules.split(",") if rule]
        self.measured = 1 - statistics.median(fixed_ms) / statistics.median(defect_ms) if defect_ms and fixed_ms else None

    def is_expected(self, finding):
        return finding.rule in self.rules

    @property
    def found(self):
        return any(self.is_expected(one) and self.module in one.module for one in (self.findings or [])[:FIRST])

    @property
    def alarm(self):
        """The finding that is wrong; None: none is."""
        for one in (self.findings or [])[:1 if self.rules else None]:
            if one.share >= ALARM and not self.is_expected(one):
                return one
        return None

    @property
    def predicted(self):
        return sum(one.share for one in self.findings or [] if self.is_expected(one))

    @property
    def near(self):
        return self.measured is not None and abs(self.predicted - self.measured) <= NEAR * self.measured

    def row(self):
        if self.findings is None:
            return "| %s | nothing was recorded | | | |" % self.name
        first = "%s %.0f %%, %s" % (self.findings[0].rule, 100 * self.findings[0].share, self.findings[0].module or "no module") if self.findings else "none"
        if not self.rules:
            return "| %s | %s | %s | | |" % (self.name, first, "false alarm: " + self.alarm.rule if self.alarm else "healthy")
        found = ("found" if self.found else "missed") + (", false alarm" if self.alarm else "")
        measured = "-" if self.measured is None else "%.1f %%" % (100 * self.measured)
        return "| %s | %s | %s | %.1f %% | %s%s |" % (self.name, first, found, 100 * self.predicted, measured, ", near" if self.near else "")


def summary(programs):
    defects = [one for one in programs if one.rules]
    found = sum(one.found for one in defects)
    alarms = sum(one.alarm is not None for one in programs)
    return {"recall": found / len(defects) if defects else 0.0,
            "precision": found / (found + alarms) if found + alarms else 0.0,
            "near": sum(one.near for one in defects),
            "measured": sum(one.measured is not None for one in defects)}


def read_findings(path):
    try:
        return [Finding(one) for one in json.loads(path.read_text())["findings"]]
    except (OSError, ValueError, KeyError):
        return None


def read_times(path):
    return [float(line) for line in path.read_text().split()] if path.exists() else []


def read_programs(listed, folder):
    for line in listed.read_text().splitlines():
        name, rules, module = line.split("\t")
        yield Program(name, rules, module, read_findings(folder / (name + ".json")),
                      read_times(folder / (name + ".defect")), read_times(folder / (name + ".fixed")))


def main():
    listed, folder = map(pathlib.Path, sys.argv[1:3])
    programs = list(read_programs(listed, folder))
    print("| program | first finding | | predicted saving | measured saving |")
    print("|---|---|---|---|---|")
    for program in programs:
        print(program.row())
    score = summary(programs)
    print("\nRecall %.2f, precision %.2f; %d of %d predicted savings within %.0f %% of the measured ones."
          % (score["recall"], score["precision"], score["near"], score["measured"], 100 * NEAR))


if __name__ == "__main__":
    main()
