// SPDX-License-Identifier: Apache-2.0
#include "schema/message_renderer.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>

#include "schema/message_maker.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {
namespace {

constexpr std::array kRendererWorkerArguments{MessageArgument{"workers", ArgumentKind::count},
                                              MessageArgument{"more", ArgumentKind::text},
                                              MessageArgument{"busy", ArgumentKind::share}};
constexpr std::array kRendererWhyArguments{MessageArgument{"why", ArgumentKind::message},
                                           MessageArgument{"trials", ArgumentKind::trials}};
constexpr std::array kRendererEndArguments{MessageArgument{"end", ArgumentKind::choice},
                                           MessageArgument{"whole", ArgumentKind::flag}};
constexpr std::array kRendererListArguments{MessageArgument{"notes", ArgumentKind::messages},
                                            MessageArgument{"names", ArgumentKind::texts}};
constexpr std::array kRendererSumArguments{MessageArgument{"notes", ArgumentKind::messages},
                                           MessageArgument{"values", ArgumentKind::numbers}};
constexpr std::array kRendererNumberArguments{MessageArgument{"value", ArgumentKind::number},
                                              MessageArgument{"time", ArgumentKind::duration}};
constexpr std::array kRendererStyleArguments{
    MessageArgument{"best", ArgumentKind::quantity}, MessageArgument{"change", ArgumentKind::share},
    MessageArgument{"calls", ArgumentKind::count}, MessageArgument{"rate", ArgumentKind::number}};
constexpr std::array kRendererPathArguments{MessageArgument{"module", ArgumentKind::text}};
constexpr std::array kRendererRows{
    MessageTemplate{"t.path", "{module:path}", "", kRendererPathArguments},
    MessageTemplate{"t.styles", "{best}, {best:plain}, {change:signed}, {calls:grouped}, {rate:short}", "",
                    kRendererStyleArguments},
    MessageTemplate{"t.number", "{value:.4g} in {time}, {time:ms.3f}, {time:ms}", "", kRendererNumberArguments},
    MessageTemplate{"t.workers",
                    "{workers} worker{workers#|s} {workers#is|are} busy {busy} of the time{more? ({more})}",
                    "num_workers: {workers}", kRendererWorkerArguments},
    MessageTemplate{"t.braces", "a {{set}} || of }}", "", {}},
    MessageTemplate{"t.why", "not decided: {why}; {trials}, {trials:plain}, {trials:numbered}", "",
                    kRendererWhyArguments},
    MessageTemplate{"t.end", "{whole?all|some} {end=crashed:crashed|memory:ran out of memory}", "",
                    kRendererEndArguments},
    MessageTemplate{"t.list", "{notes}: {names}, {names:join: / }", "", kRendererListArguments},
    MessageTemplate{"t.sums", "{notes:join: + }: {values:.2g}; {values:join:, }", "", kRendererSumArguments}};

const MessageRenderer& renderer() {
  static const std::array<MessageTable, 2> tables{MessageTable(kRendererRows), messages::table()};
  static const MessageRenderer one(tables);
  return one;
}

Message workers(int count, std::string more = {}) {
  return MessageMaker("t.workers", Severity::warning)
      .with("workers", count)
      .with("more", more)
      .with("busy", 0.124)
      .take();
}

TEST(MessageRenderer, WritesValuesPluralsAndWhatIsThere) {
  EXPECT_EQ(renderer().text(workers(1)), "1 worker is busy 12 % of the time");
  EXPECT_EQ(renderer().text(workers(4, "of 8")), "4 workers are busy 12 % of the time (of 8)");
  EXPECT_EQ(renderer().hint(workers(4)), "num_workers: 4");
  EXPECT_EQ(renderer().line(workers(1)), "1 worker is busy 12 % of the time; num_workers: 1");
}

TEST(MessageRenderer, WritesDoubledMarksOnce) {
  EXPECT_EQ(renderer().text(MessageMaker("t.braces", Severity::note).take()), "a {set} | of }");
}

TEST(MessageRenderer, WritesMessagesWithinMessages) {
  const auto why =
      MessageMaker("t.why", Severity::note).with("why", workers(2)).with("trials", std::vector<int>{3, 7}).take();
  EXPECT_EQ(renderer().text(why), "not decided: 2 workers are busy 12 % of the time; trials 3 and 7, 3 and 7, #3, #7");
  const auto list = MessageMaker("t.list", Severity::note)
                        .with("notes", std::vector<Message>{workers(1), workers(2)})
                        .with("names", std::vector<std::string>{"a", "b", "c"})
                        .take();
  EXPECT_EQ(renderer().text(list),
            "1 worker is busy 12 % of the time; 2 workers are busy 12 % of the time: a, b and c, a / b / c");
}

TEST(MessageRenderer, WritesListsAsTheTemplateSays) {
  const auto sums = MessageMaker("t.sums", Severity::note)
                        .with("notes", std::vector<Message>{workers(1), workers(1)})
                        .with("values", std::vector<double>{22, 4.44, 0.3})
                        .take();
  EXPECT_EQ(renderer().text(sums),
            "1 worker is busy 12 % of the time + 1 worker is busy 12 % of the time: 22, 4.4 and 0.3; 22, 4.44, 0.3");
}

TEST(MessageRenderer, ShowsWhatIsNoMessageAsItIs) {
  for (const auto* notes : {R"(3)", R"([{"code":1}])"}) {
    const auto json = fmt::format(R"({{"code": "t.sums", "arguments": {{"notes": {}, "values": "x"}}}})", notes);
    EXPECT_EQ(renderer().text(base::parse_json(json, "").value().get<Message>()),
              fmt::format("{}: \"x\"; \"x\"", notes));
  }
}

TEST(MessageRenderer, WritesValuesInEachStyle) {
  const auto text = [](double best, double change, int calls, double rate) {
    return renderer().text(MessageMaker("t.styles", Severity::note)
                               .with("best", Quantity{best, "ms", 2})
                               .with("change", change)
                               .with("calls", calls)
                               .with("rate", rate)
                               .take());
  };
  EXPECT_EQ(text(8.2, 0.114, 15300, 2031.4), "8.20 ms, 8.20, +11.4 %, 15,300, 2031");
  EXPECT_EQ(text(8.2, -0.0321, 300, 2), "8.20 ms, 8.20, −3.2 %, 300, 2");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN(), 0.0004, 1234567, 0.25), "–, –, 0.0 %, 1,234,567, 0.25");
}

TEST(MessageRenderer, LeavesClassesOutOfPathsOfModules) {
  const auto text = [](const char* path) {
    return renderer().text(MessageMaker("t.path", Severity::note).with("module", std::string(path)).take());
  };
  EXPECT_EQ(text("Detector/model (Net)/stages.# (Stage)/norm (BatchNorm2d)"),
            "Detector/model/stages.#/norm (BatchNorm2d)");
  EXPECT_EQ(text("norm (BatchNorm2d)"), "norm (BatchNorm2d)");
  EXPECT_EQ(text("package/file.py(41): forward"), "package/file.py(41): forward");
  EXPECT_EQ(text("(backward)/layer (Linear)/aten::mm"), "(backward)/layer/aten::mm");
  EXPECT_EQ(text(""), "");
}

TEST(MessageRenderer, WritesMillisecondsOfAnyDuration) {
  const auto short_one = MessageMaker("t.number", Severity::note).with("value", 1.5).with("time", 60e3).take();
  EXPECT_EQ(renderer().text(short_one), "1.5 in 60.0 µs, 0.060 ms, 0.06 ms");
  const auto long_one = MessageMaker("t.number", Severity::note).with("value", 1.5).with("time", 2.5e9).take();
  EXPECT_EQ(renderer().text(long_one), "1.5 in 2.50 s, 2500.000 ms, 2500 ms");
}

// JSON has no form for them: a score of an overflow in half precision was "null" behind the pipe.
TEST(MessageRenderer, WritesInfiniteNumbersThatCameThroughJson) {
  const auto message = MessageMaker("t.number", Severity::note)
                           .with("value", -std::numeric_limits<double>::infinity())
                           .with("time", 1e6)
                           .take();
  const auto read = base::parse_json(base::dump_json(base::Json(message)), "").value().get<Message>();
  EXPECT_EQ(renderer().text(read), "-inf in 1.00 ms, 1.000 ms, 1 ms");
  EXPECT_EQ(read, message);
}

TEST(MessageRenderer, WritesTheBranchOfAChoice) {
  const auto end = MessageMaker("t.end", Severity::note).with("end", "memory").with("whole", false).take();
  EXPECT_EQ(renderer().text(end), "some ran out of memory");
}

TEST(MessageRenderer, ShowsTheCodeOfANewerVersion) {
  EXPECT_EQ(renderer().text(MessageMaker("t.newer", Severity::note).with("n", 2).take()), "t.newer {\"n\":2}");
  EXPECT_EQ(renderer().text({}), "");
}

TEST(MessageRenderer, ShowsWhereAnArgumentIsMissing) {
  const auto damaged = MessageMaker("t.number", Severity::note).with("value", 2).take();
  EXPECT_EQ(renderer().text(damaged), "2 in ?, ?, ?");
}

TEST(MessageRenderer, DecoratesEachSentenceButNotWhatOlderVersionsWrote) {
  const std::array<MessageTable, 2> tables{MessageTable(kRendererRows), messages::table()};
  const MessageRenderer pseudo(tables, [](std::string text) { return "⟦" + text + "⟧"; });
  const auto why = MessageMaker("t.why", Severity::note).with("why", workers(1)).with("trials", std::vector{1}).take();
  EXPECT_EQ(pseudo.text(why), "⟦not decided: ⟦1 worker is busy 12 % of the time⟧; trial 1, 1, #1⟧");
  EXPECT_EQ(pseudo.text(base::Json("as it was").get<Message>()), "as it was");
}

TEST(Message, IsTheSameAfterJson) {
  const auto message = workers(3, "x");
  EXPECT_EQ(base::Json(message).get<Message>(), message);
  EXPECT_EQ(base::Json(message), base::parse_json(R"({"code":"t.workers","severity":"warning",
      "arguments":{"workers":3,"more":"x","busy":0.124}})",
                                                  "")
                                     .value());
  EXPECT_TRUE(base::Json(Message()).is_null());
  EXPECT_TRUE(base::Json(nullptr).get<Message>().empty());
}

TEST(Message, OfAnOlderRecordIsItsText) {
  const auto old = base::Json("one usable core").get<Message>();
  EXPECT_TRUE(old.is(kLegacy));
  EXPECT_EQ(renderer().text(old), "one usable core");
  EXPECT_TRUE(base::Json("").get<Message>().empty());
}

TEST(Message, StandsInJsonWithItsText) {
  const auto json = message_json(renderer(), workers(1));
  EXPECT_EQ(json["text"], "1 worker is busy 12 % of the time");
  EXPECT_EQ(json["hint"], "num_workers: 1");
  EXPECT_EQ(json["code"], "t.workers");
  EXPECT_EQ(base::Json(json).get<Message>(), workers(1));
  const base::Json record{{"notes", std::vector<Message>{workers(1)}}, {"n", 3}};
  EXPECT_EQ(with_words(renderer(), record), (base::Json{{"notes", base::Json::array({json})}, {"n", 3}}));
}

}  // namespace
}  // namespace ridgeline::schema
