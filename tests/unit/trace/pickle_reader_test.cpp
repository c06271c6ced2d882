// SPDX-License-Identifier: Apache-2.0
#include "trace/import/pickle_reader.hpp"

#include <fmt/format.h>

#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

using namespace std::string_literals;

class PickleReaderTest : public TraceFilesTest {
 protected:
  base::Result<PickleValue> read(const std::string& pickle) {
    return reader_.read(write(pickle, "a.pickle"), [](PickleValue, PickleValue) { return false; });
  }

  /// As Python prints it, near enough.
  [[nodiscard]] std::string text(PickleValue value) const {
    switch (value.kind) {
      case PickleKind::none: return "None";
      case PickleKind::boolean: return value.bits != 0 ? "True" : "False";
      case PickleKind::integer: return fmt::format("{}", value.bits);
      case PickleKind::number: return fmt::format("{:g}", value.real());
      case PickleKind::text: return fmt::format("'{}'", reader_.strings.text(static_cast<NameId>(value.bits)));
      default: break;
    }
    const auto* items = reader_.nodes.find(value);
    if (items == nullptr) return "gone";
    std::string out;
    for (std::size_t i = 0; i < items->size(); ++i)
      out += (i == 0 ? "" : value.kind == PickleKind::dictionary && i % 2 == 1 ? ": " : ", ") + text((*items)[i]);
    return value.kind == PickleKind::list ? "[" + out + "]" : "{" + out + "}";
  }

  void expect_error(const std::string& pickle, std::string_view words, base::ErrorCode code) {
    const auto read_value = read(pickle);
    ASSERT_FALSE(read_value) << words;
    EXPECT_NE(read_value.error().message.find(words), std::string::npos) << read_value.error().message;
    EXPECT_EQ(read_value.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(read_value.error().code, code) << read_value.error().message;
  }

  PickleReader reader_;
};

TEST_F(PickleReaderTest, reads_what_python_writes_in_every_protocol) {
  // pickle.dumps({'n': None, 't': True, 'f': False, 'i': [0, 255, 65535, -1, 2**31 - 1, 2**40, -2**63, 2**64],
  // 'r': 1.5,
  //               'u': 'é', 'tu': (1, 2, 3, 4), 'e': [{}, [], ()], 's': ['same'] * 2}, protocol)
  const std::string two =
      "\x80\x02}q\x00(X\x01\x00\x00\x00nq\x01NX\x01\x00\x00\x00tq\x02\x88X\x01\x00\x00\x00"
      "fq\x03\x89X\x01\x00\x00\x00iq\x04]q\x05(K\x00K\xffM\xff\xffJ\xff\xff\xff\xffJ\xff\xff\xff\x7f"
      "\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80\x8a\t\x00\x00\x00\x00\x00\x00\x00\x00"
      "\x01"
      "eX\x01\x00\x00\x00rq\x06G?\xf8\x00\x00\x00\x00\x00\x00X\x01\x00\x00\x00uq\x07X\x02\x00\x00\x00\xc3\xa9q\x08X"
      "\x02\x00\x00\x00tuq\t(K\x01K\x02K\x03K\x04tq\nX\x01\x00\x00\x00"
      "eq\x0b]q\x0c(}q\r]q\x0e)eX\x01\x00\x00\x00sq\x0f]q\x10(X\x04\x00\x00\x00sameq\x11h\x11"
      "eu."s;
  const std::string four =
      "\x80\x04\x95k\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01n\x94N\x8c\x01t\x94\x88\x8c\x01"
      "f\x94\x89\x8c\x01i\x94]\x94("
      "K\x00K\xffM\xff\xffJ\xff\xff\xff\xffJ\xff\xff\xff\x7f\x8a\x06\x00\x00\x00\x00\x00\x01"
      "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80\x8a\t\x00\x00\x00\x00\x00\x00\x00\x00\x01"
      "e\x8c\x01r\x94G?\xf8\x00\x00\x00\x00\x00\x00\x8c\x01u\x94\x8c\x02\xc3\xa9\x94\x8c\x02tu\x94("
      "K\x01K\x02K\x03K\x04t"
      "\x94\x8c\x01"
      "e\x94]\x94(}\x94]\x94)e\x8c\x01s\x94]\x94(\x8c\x04same\x94h\x11"
      "eu."s;
  const std::string expected =
      "{'n': None, 't': True, 'f': False, 'i': [0, 255, 65535, -1, 2147483647, 1099511627776, -9223372036854775808, "
      "1.84467e+19], 'r': 1.5, 'u': 'é', 'tu': [1, 2, 3, 4], 'e': [{}, [], []], 's': ['same', 'same']}";
  for (const auto& [base, protocol] :
       std::vector<std::pair<std::string, char>>{{two, 2}, {two, 3}, {four, 4}, {four, 5}}) {
    auto bytes = base;
    bytes[1] = protocol;
    reader_ = PickleReader();
    const auto value = read(bytes);
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(text(*value), expected) << int{protocol};
  }
}

TEST_F(PickleReaderTest, reads_bytes_sets_and_short_tuples) {
  const auto value = read(
      "\x80\x05](C\x02"
      "ab\x96\x02\x00\x00\x00\x00\x00\x00\x00"
      "cd\x8f(K\x01\x90(K\x02\x91K\x03\x85K\x04K\x05\x86K\x06K\x07K\x08\x87)U\x01xT\x01\x00\x00\x00y\x8a\x00"
      "e."s);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(text(*value), "['ab', 'cd', [1], [2], [3], [4, 5], [6, 7, 8], [], 'x', 'y', 0]");
}

TEST_F(PickleReaderTest, what_would_run_code_is_refused_by_name) {
  using enum base::ErrorCode;
  // pickle.dumps of an object whose __reduce__ is (os.system, ("true",)), in protocols 2 and 4.
  expect_error(
      "\x80\x02"
      "cposix\nsystem\nq\x00X\x04\x00\x00\x00trueq\x01\x85q\x02Rq\x03."s,
      "byte 3: GLOBAL would", unsupported);
  expect_error("\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94."s,
               "STACK_GLOBAL would", unsupported);
  for (const auto& [code, name] : std::vector<std::pair<char, const char*>>{{'R', "REDUCE"},
                                                                            {'b', "BUILD"},
                                                                            {'i', "INST"},
                                                                            {'o', "OBJ"},
                                                                            {'\x81', "NEWOBJ"},
                                                                            {'\x92', "NEWOBJ_EX"},
                                                                            {'\x82', "EXT1"},
                                                                            {'\x83', "EXT2"},
                                                                            {'\x84', "EXT4"},
                                                                            {'P', "PERSID"},
                                                                            {'Q', "BINPERSID"},
                                                                            {'\x97', "NEXT_BUFFER"},
                                                                            {'\x98', "READONLY_BUFFER"}})
    expect_error("\x80\x04NN"s + code, name + " would run code"s, unsupported);
  expect_error("\x80\x04N!"s, "0x21 is not known", corrupt);
}

TEST_F(PickleReaderTest, every_cut_is_an_error) {
  const auto whole =
      "\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01n\x94]\x94(K\x01M\x02\x00\x8a\x01\x03G?"
      "\xf8\x00\x00\x00\x00\x00\x00h\x01"
      "eu."s;
  ASSERT_TRUE(read(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    reader_ = PickleReader();
    const auto value = read(whole.substr(0, length));
    ASSERT_FALSE(value) << length;
    EXPECT_EQ(value.error().code, base::ErrorCode::corrupt) << value.error().message;
  }
}

TEST_F(PickleReaderTest, lengths_and_numbers_that_lie_are_errors) {
  using enum base::ErrorCode;
  expect_error(
      "\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"
      "a"s,
      "a text of 9223372036854775807 bytes", unsupported);
  expect_error("\x80\x04X\xff\xff\xff\x03short"s, "cut off", corrupt);
  expect_error("\x80\x04\x8b\xff\xff\xff\xff"s, "a number of 4294967295 bytes", unsupported);
  expect_error("\x80\x04Nr\xff\xff\xff\xff."s, "memo out of order", corrupt);
  expect_error("\x80\x04j\x07\x00\x00\x00."s, "was not there before", corrupt);
  expect_error("\x80\x06N."s, "protocol 6; expected 2 to 5", unsupported);
  for (const auto* lost :
       {"\x94.", "e.", "u.", "t.", "a.", "s.", "\x87.", ".", "(.", "N(.", "NN.", "](K\x01K\x02s.", "}(K\x01u.",
        "N(K\x01"
        "e.",
        "N](\x86."})
    expect_error("\x80\x04"s + lost, "no pickle", corrupt);
}

TEST_F(PickleReaderTest, deep_and_large_values_end_in_an_error_or_go_through) {
  using enum base::ErrorCode;
  expect_error("\x80\x04"s + std::string(5000, '('), "nested deeper than 1000", unsupported);
  // Lists in lists without a mark: nothing recurs.
  const std::size_t deep = 100'000;
  reader_ = PickleReader();
  ASSERT_TRUE(read("\x80\x04"s + std::string(deep, ']') + std::string(deep - 1, 'a') + "."));
  // A list that has itself.
  reader_ = PickleReader();
  ASSERT_TRUE(
      read("\x80\x04]\x94h\x00"
           "a."s));
  // A byte of the file is a value of 16 and more.
  reader_ = PickleReader();
  expect_error("\x80\x04"s + std::string(8'000'000, ']'), "more memory than twice the file", unsupported);
  reader_ = PickleReader();
  expect_error("\x80\x04N"s + std::string(8'000'000, '\x94'), "more memory than twice the file", unsupported);
}

TEST_F(PickleReaderTest, what_is_taken_is_not_kept) {
  std::string pickle = "\x80\x04](";
  for (int i = 0; i < 3; ++i) pickle += "}\x94K\x01K\x02s";
  pickle +=
      "h\x00h\x00"
      "e."s;
  int taken = 0;
  const auto value = reader_.read(write(pickle, "b.pickle"), [&](PickleValue, PickleValue item) {
    taken += reader_.nodes.find(item) != nullptr ? 1 : 0;
    reader_.nodes.release(item);
    return true;
  });
  ASSERT_TRUE(value) << value.error().message;
  // The first one is in the list thrice and was released the first time.
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(text(*value), "[]");
}

}  // namespace
}  // namespace ridgeline::trace
