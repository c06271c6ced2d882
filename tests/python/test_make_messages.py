# SPDX-License-Identifier: Apache-2.0
"""What scripts/make_messages.py accepts, refuses and makes."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import make_messages  # noqa: E402


def make(row):
    return make_messages.generate("toy", {"one": row})


class MakeMessages(unittest.TestCase):
    def refuses(self, row, words):
        with self.assertRaises(make_messages.Fault) as caught:
            make(row)
        self.assertIn(words, str(caught.exception))
        self.assertTrue(str(caught.exception).startswith("one: "))

    def test_a_sentence_without_values_is_a_function_without_arguments(self):
        header, source = make("nothing to share")
        self.assertIn("schema::Message one();", header)
        self.assertIn('MessageMaker("toy.one", schema::Severity::note).take()', source)

    def test_one_argument_is_passed_alone_and_several_as_a_struct(self):
        header, _ = make({"text": "{a}", "arguments": {"a": "count"}})
        self.assertIn("one(std::int64_t a);", header)
        header, source = make({"text": "{a}{b?, {b}}", "severity": "warning", "arguments": {"a": "text", "b": "share?"}})
        self.assertIn("struct One {\n  std::string a{};\n  std::optional<double> b{};\n};", header)
        self.assertIn('Severity::warning).with("a", arguments.a).with("b", arguments.b)', source)

    def test_a_choice_is_an_enum_of_its_words(self):
        header, source = make({"text": "{end=crashed:it crashed|memory:no {n} left}", "arguments": {"end": "choice", "n": "bytes"}})
        self.assertIn("enum class OneEnd { crashed, memory };", header)
        self.assertIn('case OneEnd::memory: return "memory";', source)

    def test_wrong_templates_are_refused(self):
        self.refuses({"text": "{a", "arguments": {"a": "text"}}, "expected one of")
        self.refuses({"text": "{a?x", "arguments": {"a": "text?"}}, "expected '}'")
        self.refuses("a } b", "stray '}'")
        self.refuses({"text": "{Big}"}, "no argument's name")
        self.refuses({"text": "{n#one}", "arguments": {"n": "count"}}, "needs two forms")

    def test_arguments_are_declared_used_and_asked_as_their_kind_allows(self):
        self.refuses("{a}", "not declared: ['a']")
        self.refuses({"text": "x", "arguments": {"a": "text"}}, "is in no template")
        self.refuses({"text": "{a}", "arguments": {"a": "words"}}, "unknown kind 'words'")
        self.refuses({"text": "{a}", "arguments": {"a": "share?"}}, "may be absent")
        self.refuses({"text": "{a}", "arguments": {"a": "flag"}}, "used as value")
        self.refuses({"text": "{a#one|more}", "arguments": {"a": "text"}}, "used as plural")
        self.refuses({"text": "x", "severity": "bad"}, "severity 'bad'")

    def test_a_message_that_nothing_makes_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src/toy").mkdir(parents=True)
            (root / "src/other").mkdir()
            (root / "src/toy/messages.json").write_text('{"one": "1", "two": "2", "three": "3"}')
            (root / "src/toy/a.cpp").write_text("return messages::one();")
            (root / "src/other/b.cpp").write_text("return toy::messages::two(); messages::three();")
            self.assertEqual(make_messages.unused(root), ["toy.three"])

    def test_a_message_that_no_python_source_sends_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "python/worker").mkdir(parents=True)
            (root / "python/worker/messages.json").write_text('{"one": "first", "two": "second"}')
            (root / "python/worker/a.py").write_text('note = message("one", count=3)')
            self.assertEqual(make_messages.unused(root), ["worker.two"])


if __name__ == "__main__":
    unittest.main()
