// SPDX-License-Identifier: Apache-2.0
#include "report/messages/message_reader.hpp"

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/messages/message_tables.hpp"
#include "schema/messages.hpp"

namespace ridgeline::report {
namespace {

using schema::ArgumentKind;
using schema::Message;
using schema::MessageArgument;
using schema::MessageTemplate;

constexpr std::array kReaderWorkerArguments{MessageArgument{"workers", ArgumentKind::count},
                                            MessageArgument{"more", ArgumentKind::text},
                                            MessageArgument{"busy", ArgumentKind::share}};
constexpr std::array kReaderWhyArguments{MessageArgument{"why", ArgumentKind::message},
                                         MessageArgument{"trials", ArgumentKind::trials}};
constexpr std::array kReaderEndArguments{
    MessageArgument{"end", ArgumentKind::choice}, MessageArgument{"whole", ArgumentKind::flag},
    MessageArgument{"took", ArgumentKind::duration}, MessageArgument{"left", ArgumentKind::bytes}};
constexpr std::array kReaderNameArguments{MessageArgument{"name", ArgumentKind::text}};
constexpr std::array kReaderListArguments{MessageArgument{"list", ArgumentKind::messages},
                                          MessageArgument{"rest", ArgumentKind::count}};
constexpr std::array kReaderOfArguments{MessageArgument{"list", ArgumentKind::texts},
                                        MessageArgument{"why", ArgumentKind::message}};
constexpr std::array kReaderStyleArguments{
    MessageArgument{"best", ArgumentKind::quantity}, MessageArgument{"low", ArgumentKind::quantity},
    MessageArgument{"more", ArgumentKind::share},    MessageArgument{"less", ArgumentKind::share},
    MessageArgument{"calls", ArgumentKind::count},   MessageArgument{"trials", ArgumentKind::trials}};
constexpr std::array kReaderRows{
    MessageTemplate{
        "r.styles",
        "{best} of {low:plain} at least, {more:signed} or {less:signed}, {calls:grouped} calls of {trials:long}", "",
        kReaderStyleArguments},
    MessageTemplate{"r.workers",
                    "{workers} worker{workers#|s} {workers#is|are} busy {busy} of the time{more? ({more})}", "",
                    kReaderWorkerArguments},
    MessageTemplate{"r.why", "not decided: {why}; see {trials}", "", kReaderWhyArguments},
    MessageTemplate{"r.end",
                    "{whole?all|some} of them {end=crashed:crashed|memory:ran out of memory} after {took} with {left}",
                    "", kReaderEndArguments},
    MessageTemplate{"r.short", "no {name}", "", kReaderNameArguments},
    MessageTemplate{"r.list", "{list}{rest? and {rest} of all others}", "", kReaderListArguments},
    MessageTemplate{"r.of", "{list:join:, }: {why}", "", kReaderOfArguments},
    MessageTemplate{"r.other", "the cache of {name} is empty", "", kReaderNameArguments},
    MessageTemplate{"r.twin", "the cache of {name} is empty", "", kReaderNameArguments},
    MessageTemplate{"r.closer", "the model {name} has no nodes", "", kReaderNameArguments},
    MessageTemplate{"r.closest", "the model {name} has no nodes of a kind", "", kReaderNameArguments}};

Message read_back(const std::string& text) {
  static const std::array<schema::MessageTable, 2> tables{schema::MessageTable(kReaderRows), schema::messages::table()};
  static const schema::MessageRenderer renderer(tables);
  MessageReader reader(renderer);
  const auto message = reader.read(text);
  EXPECT_EQ(renderer.text(message), text);
  return message;
}

TEST(MessageReader, FindsCodeAndValues) {
  const auto one = read_back("1 worker is busy 12 % of the time");
  EXPECT_EQ(one.code(), "r.workers");
  EXPECT_EQ(one.arguments(), base::parse_json(R"({"workers":1,"busy":0.12})", "").value());
  const auto more = read_back("12 workers are busy 7 % of the time (of 8 (at most))");
  EXPECT_EQ(more.arguments()["more"], "of 8 (at most)");
  EXPECT_EQ(more.arguments()["workers"], 12);
}

TEST(MessageReader, FindsFlagsChoicesAndUnits) {
  const auto end = read_back("some of them ran out of memory after 1.25 ms with 4.50 MiB");
  EXPECT_EQ(end.arguments()["end"], "memory");
  EXPECT_EQ(end.arguments()["whole"], false);
  EXPECT_DOUBLE_EQ(end.arguments()["took"], 1.25e6);
  EXPECT_DOUBLE_EQ(end.arguments()["left"], 4.5 * 1048576);
  EXPECT_DOUBLE_EQ(read_back("all of them crashed after 2 m 05 s with 12 B").arguments()["took"], 125e9);
}

TEST(MessageReader, FindsValuesInEachStyle) {
  const auto found = read_back("8.210 ms of 7.5 at least, +3.2 % or −0.4 %, 15,300 calls of 1, 2, 3, 4, 5, 6, 7 and 8");
  EXPECT_EQ(found.arguments(), base::parse_json(R"({"best": {"value": 8.21, "unit": "ms", "decimals": 3},
      "low": {"value": 7.5, "unit": "", "decimals": 1}, "more": 0.032, "less": -0.004, "calls": 15300,
      "trials": [1, 2, 3, 4, 5, 6, 7, 8]})",
                                                "")
                                   .value());
}

TEST(MessageReader, FindsMessagesWithinMessages) {
  const auto why = read_back("not decided: 2 workers are busy 12 % of the time; see trials 3, 7 and 9");
  EXPECT_EQ(why.arguments()["why"]["code"], "r.workers");
  EXPECT_EQ(why.arguments()["trials"], (std::vector<int>{3, 7, 9}));
  EXPECT_EQ(read_back("not decided: what nobody knows; see trial 1").arguments()["why"]["code"], schema::kLegacy);
}

TEST(MessageReader, TakesListsOfMessagesApart) {
  const auto list = read_back("the model x has no nodes; 2 workers are busy 12 % of the time and 3 of all others");
  ASSERT_EQ(list.code(), "r.list");
  ASSERT_EQ(list.arguments()["list"].size(), 2U);
  EXPECT_EQ(list.arguments()["list"][1]["code"], "r.workers");
}

TEST(MessageReader, WhatAMessageWithinSaysCountsForTheWhole) {
  EXPECT_EQ(read_back("x: 2 workers are busy 12 % of the time").code(), "r.of");
  EXPECT_EQ(read_back("x: what nobody knows").code(), schema::kLegacy);
}

TEST(MessageReader, TakesTheSentenceThatExplainsMost) {
  EXPECT_EQ(read_back("the model x has no nodes of a kind").code(), "r.closest");
  EXPECT_EQ(read_back("the model x has no nodes").code(), "r.closer");
}

TEST(MessageReader, GuessesNothing) {
  for (const auto* text :
       {"1 workers are busy 12 % of the time", "2 workers are busy 12.0 % of the time",
        "some of them crashed after 1.250 ms with 4.50 MiB", "no GPU", "anything", "the cache of a is empty"})
    EXPECT_EQ(read_back(text).code(), schema::kLegacy) << text;
}

/// A value of each kind as it can be read back.
base::Json sample(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::text: return "Xy";
    case ArgumentKind::texts: return std::vector<std::string>{"Xy", "Zw"};
    case ArgumentKind::count: return 3;
    case ArgumentKind::numbers: return std::vector<double>{1.5, 2};
    case ArgumentKind::trial: return 7;
    case ArgumentKind::trials: return std::vector<int>{3, 7};
    case ArgumentKind::duration: return 2e6;
    case ArgumentKind::share: return 0.12;
    case ArgumentKind::quantity: return schema::Quantity{2.5, "ms", 1};
    case ArgumentKind::flag: return true;
    case ArgumentKind::message: return base::Json("some text").get<Message>();
    case ArgumentKind::messages: return std::vector{base::Json("some text").get<Message>()};
    default: return 2.0;
  }
}

TEST(MessageReader, LeavesWhatToDoOutOfTheLastValue) {
  const schema::MessageRenderer renderer(message_tables());
  MessageReader reader(renderer);
  const std::string missing = "provider cuda: /x/libp.so is missing: it was expected next to /x/libonnxruntime.so";
  const std::string fix = "run scripts/fetch_onnxruntime.sh --gpu, or give --ort-library a GPU release of ONNX Runtime";
  const auto found = reader.read(missing + "; " + fix);
  ASSERT_TRUE(found.is("schema.several")) << renderer.text(found);
  EXPECT_EQ(found.arguments().at("parts")[0].at("code"), "schema.provider_file_missing");
  EXPECT_EQ(found.arguments().at("parts")[0].at("arguments").at("library"), "/x/libonnxruntime.so");
  EXPECT_EQ(renderer.text(found), missing + "; " + fix);
}

TEST(MessageReader, BearsLongLists) {
  const schema::MessageRenderer renderer(message_tables());
  MessageReader reader(renderer);
  std::string text = "head: what it is";
  for (int i = 0; i < 40; ++i) text += fmt::format("; part {}: of {} (why {} x{} and more)", i, i, i, i);
  EXPECT_EQ(renderer.text(reader.read(text)), text);
}

/// The sentences of the program itself, in parts, as they take long: what they say is found again, or two say the same.
class CatalogueTest : public testing::TestWithParam<int> {
 protected:
  static constexpr int kParts = 12;
};

TEST_P(CatalogueTest, IsReadBack) {
  const schema::MessageRenderer renderer(message_tables());
  MessageReader reader(renderer);
  int at = 0;
  int tried = 0;
  int known = 0;
  for (const auto& [code, row] : renderer.rows()) {
    if (code.starts_with("report.") || code.starts_with("doctor.")) continue;  // no record has them
    if (at++ % kParts != GetParam()) continue;
    auto arguments = base::Json::object();
    for (const auto& argument : row->arguments)
      if (argument.kind != ArgumentKind::choice) arguments[std::string(argument.name)] = sample(argument.kind);
    const auto text = renderer.text(base::Json{{"code", code}, {"arguments", arguments}}.get<Message>());
    const auto found = reader.read(text);
    EXPECT_EQ(renderer.text(found), text) << code;
    ++tried;
    known += found.is(schema::kLegacy) ? 0 : 1;
  }
  EXPECT_GT(known, 0.8 * tried) << tried;
}
INSTANTIATE_TEST_SUITE_P(All, CatalogueTest, testing::Range(0, 12));

}  // namespace
}  // namespace ridgeline::report
