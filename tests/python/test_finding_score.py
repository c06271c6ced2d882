# SPDX-License-Identifier: Apache-2.0
"""What scripts/finding_score.py counts as found, as a false alarm and as near."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import finding_score  # noqa: E402
from finding_score import Finding, Program, summary  # noqa: E402


def record(rule, share, module=""):
    return {"title": {"code": "trace." + rule}, "module": module, "saving_share": share}


def findings(*records):
    return [Finding(record(*one)) for one in records]


class FindingScore(unittest.TestCase):
    def test_a_defect_is_found_among_the_first_three_in_its_module(self):
        others = [("layout", 0.02), ("sync", 0.02)]
        self.assertTrue(Program("a", "memory-bound", "norm", findings(*others, ("memory_bound", 0.01, "0 (Block)/norm1"))).found)
        self.assertFalse(Program("a", "memory-bound", "norm", findings(*others, ("memory_bound", 0.01, "0 (Block)/act"))).found)
        self.assertFalse(Program("a", "memory-bound", "", findings(*others, ("few_blocks", 0.1), ("memory_bound", 0.01))).found)
        self.assertFalse(Program("a", "memory-bound", "", None).found, "nothing was recorded")

    def test_false_alarms(self):
        self.assertIsNone(Program("healthy", "", "", findings(("sync", 0.04))).alarm)
        self.assertEqual(Program("healthy", "", "", findings(("sync", 0.04), ("layout", 0.06))).alarm.rule, "layout")
        self.assertIsNone(Program("a", "sync", "", findings(("sync", 0.5), ("layout", 0.3))).alarm, "only what comes first counts")
        self.assertEqual(Program("a", "sync", "", findings(("layout", 0.5), ("sync", 0.3))).alarm.rule, "layout")

    def test_savings_of_all_rules_of_a_defect_add_up(self):
        program = Program("a", "pageable-copy,pageable-wait", "", findings(("pageable_wait", 0.3), ("sync", 0.2), ("pageable_copy", 0.1)),
                          [10, 12, 11], [5, 5.5, 9])
        self.assertAlmostEqual(program.predicted, 0.4)
        self.assertAlmostEqual(program.measured, 0.5, msg="medians")
        self.assertTrue(program.near)
        self.assertFalse(Program("a", "sync", "", findings(("sync", 0.34)), [10], [5]).near)
        self.assertFalse(Program("a", "sync", "", findings(("sync", 0.34))).near, "not measured")

    def test_the_summary(self):
        found = Program("a", "sync", "", findings(("sync", 0.5)), [10], [5])
        missed = Program("b", "layout", "", findings(("sync", 0.5)), [10], [5])
        healthy = Program("c", "", "", findings())
        self.assertEqual(summary([found, missed, healthy]), {"recall": 0.5, "precision": 0.5, "near": 1, "measured": 2})
        self.assertEqual(summary([healthy])["recall"], 0)

    def test_files_become_a_table(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "list.tsv").write_text("a\tsync\tNet\nb\tlayout\t\nc\t\t\n")
            (folder / "a.json").write_text(json.dumps({"findings": [record("sync", 0.5, "Net")]}))
            (folder / "a.defect").write_text("10\n11\n10\n")
            (folder / "a.fixed").write_text("5\n")
            (folder / "c.json").write_text(json.dumps({"findings": []}))
            out = io.StringIO()
            with mock.patch.object(sys, "argv", ["finding_score.py", str(folder / "list.tsv"), name]), contextlib.redirect_stdout(out):
                finding_score.main()
        lines = out.getvalue().splitlines()
        self.assertEqual(lines[2], "| a | sync 50 %, Net | found | 50.0 % | 50.0 %, near |")
        self.assertEqual(lines[3], "| b | nothing was recorded | | | |")
        self.assertEqual(lines[4], "| c | none | healthy | | |")
        self.assertEqual(lines[-1], "Recall 0.50, precision 1.00; 1 of 1 predicted savings within 30 % of the measured ones.")


if __name__ == "__main__":
    unittest.main()
