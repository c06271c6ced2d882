// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include "fakes/words.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/messages.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

/// The events of a file with damage in the second of five, by the names of those that were read.
class DamagedFileTest : public TraceFilesTest {
 protected:
  std::string names(const std::string& second, std::string* notes = nullptr) {
    const auto event = [](char name) {
      return fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "{}", "ts": 1, "dur": 2, "args": {{"grid": [1, 2, 3], "device": 0}}}})",
          name);
    };
    const auto list = event('a') + ",\n" + second + "\n" + event('c') + "," + event('d') + ",\n" + event('e');
    const auto array = read("[" + list + "]", notes);
    EXPECT_EQ(read(R"({"traceEvents": [)" + list + R"(], "deviceProperties": []})", notes), array);
    return array;
  }

 private:
  std::string read(const std::string& text, std::string* notes) {
    const auto trace = import_kineto(write(text));
    EXPECT_TRUE(trace) << trace.error().message;
    std::string names;
    if (!trace) return names;
    for (const auto name : trace->kernels.name) names += trace->strings.text(name);
    if (notes != nullptr) *notes = fmt::format("{}", fmt::join(fakes::texts_of(trace->notes), "; "));
    return names;
  }
};

TEST_F(DamagedFileTest, what_is_meant_is_read) {
  for (const auto* second :
       {R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"grid":[1,2,3,],"device":0}},)",
        R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"grid":[1,,2],"device":0,}},)",
        R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"grid":[1 2 3],"device":0}},)",
        R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2 "args":{"grid":[1,2,3] "device":0}},)",
        R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"grid":[1,2,3,"device":0}},)",
        R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"device":0}}},)",
        R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"device":0}}],)",
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"ts\":1,\"dur\":2,\"args\":{\"x\":\"\x01\xff\"}},",
        R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2},,,)",
        R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2})"}) {
    std::string notes;
    EXPECT_EQ(names(second, &notes), "abcde") << second;
    EXPECT_EQ(notes.find("left out"), std::string::npos) << second << ": " << notes;
  }
}

TEST_F(DamagedFileTest, an_event_that_cannot_be_read_takes_no_other_along_and_is_counted) {
  for (const auto* second : {R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"grid":[1,2,3],"device":0,)",
                             R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"grid":[1,2,)",
                             R"({"ph":"X","cat":"kernel","name":"b,"ts":1,"dur":2,"args":{"device":0}},)",
                             R"({"ph":"X","cat":"kernel","name":"b,)",
                             R"({"ph":"X","cat":"kernel","name":"b","ts":1,"dur":2,"args":{"x":"y}},)",
                             R"({"ph" "X","cat" "kernel","name":"b"},)"}) {
    std::string notes;
    EXPECT_EQ(names(second, &notes), "acde") << second;
    EXPECT_NE(notes.find("events that are not JSON, left out: 1"), std::string::npos) << second << ": " << notes;
  }
}

/// A file of events with names a, b, c ..., of which some are damaged.
class DamagedQuotesTest : public TraceFilesTest {
 protected:
  /// What is done to the text of an event.
  struct Damage {
    std::string_view what;
    std::string_view instead;
  };
  static constexpr std::array<Damage, 7> kDamages{{{R"("name": ")", R"("name": )"},
                                                   {R"(]",)", "],"},
                                                   {R"("name")", R"("name)"},
                                                   {R"("ph")", R"(ph")"},
                                                   {"lambda", R"(lam"bda)"},
                                                   {R"("float")", R"("float)"},
                                                   {R"(", "device")", R"(, "device")"}}};
  static constexpr int kEvents = 12;

  static std::string event(int number) {
    return fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "{}{{lambda(int)#1}}[with T = int]", "pid": 0, "ts": {}, "dur": 2, )"
        R"("args": {{"types": ["float", "int"], "say": "{{\"ph\": 1}},{{\"ph\"", "device": 0}}}})",
        static_cast<char>('a' + number), 10 * (number + 1));
  }
  static std::string damaged(std::string text, const Damage& damage) {
    return text.replace(text.find(damage.what), damage.what.size(), damage.instead);
  }
  /// Of another layout: 1, blanks behind brackets; 2, a line for each value.
  static std::string laid_out(const std::string& text, int layout) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      out += text[i];
      if (layout == 1 && text[i] == '{' && text[i + 1] == '"') out += ' ';
      if (layout == 2 && text.compare(i, 2, ", ") == 0) out += '\n';
    }
    return out;
  }
  /// Which of the events of such a list were read; each other one has to be in the note.
  void check(const std::vector<std::string>& events, const std::string& expected) {
    for (int layout = 0; layout < 3; ++layout) {
      const auto text = R"({"traceEvents": [)" + laid_out(fmt::format("{}", fmt::join(events, ", ")), layout) +
                        R"(], "deviceProperties": [{"id": 0, "name": "H100"}]})";
      const auto trace = import_kineto(write(text));
      ASSERT_TRUE(trace) << trace.error().message << text;
      std::string names;
      for (const auto name : trace->kernels.name) names += trace->strings.text(name).substr(0, 1);
      EXPECT_EQ(names, expected) << text;
      const auto lost = kEvents - expected.size();
      ASSERT_EQ(trace->notes.empty(), lost == 0) << text;
      if (lost > 0) {
        EXPECT_EQ(fakes::text_of(trace->notes.front()), fmt::format("events that are not JSON, left out: {}", lost))
            << text;
      }
      EXPECT_EQ(trace->devices.size(), 1U) << text;
    }
  }
};

TEST_F(DamagedQuotesTest, a_text_with_an_escaped_event_in_it_is_one) {
  std::vector<std::string> events;
  for (int i = 0; i < kEvents; ++i) events.push_back(event(i));
  check(events, "abcdefghijkl");
}

TEST_F(DamagedQuotesTest, only_the_events_with_damage_are_lost_and_counted) {
  for (std::size_t kind = 0; kind < kDamages.size(); ++kind)
    for (const auto& places : std::vector<std::vector<int>>{
             {0}, {3}, {11}, {3, 4}, {2, 8}, {3, 10}, {4, 5, 6}, {1, 5, 9}, {2, 3, 7, 8}, {0, 11}, {10, 11}}) {
      std::vector<std::string> events;
      std::string left;
      auto with = kind;
      for (int i = 0; i < kEvents; ++i) {
        const bool is_damaged = std::find(places.begin(), places.end(), i) != places.end();
        events.push_back(is_damaged ? damaged(event(i), kDamages[with]) : event(i));
        if (!is_damaged) left += static_cast<char>('a' + i);
        if (is_damaged && places.size() % 2 == 1) with = (with + 1) % kDamages.size();
      }
      SCOPED_TRACE(fmt::format("damage {} of {}", kind, fmt::join(places, " ")));
      check(events, left);
      if (HasFailure()) return;
    }
}

TEST_F(DamagedFileTest, commas_between_events_are_counted) {
  const auto notes = [&](const std::string& separators) {
    std::string list;
    int events = 0;
    for (const char c : separators)
      list += c != 'e' ? std::string(1, c)
                       : fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","ts":{},"dur":2}})", 10 * ++events);
    const auto trace = import_kineto(write(R"({"traceEvents":[)" + list + "]}"));
    EXPECT_TRUE(trace) << list;
    EXPECT_EQ(trace ? trace->kernels.size() : 0, 3U) << list;
    return trace ? fmt::format("{}", fmt::join(fakes::texts_of(trace->notes), "; ")) : "";
  };
  const std::string note = "commas between events, missing or too many, repaired: ";
  EXPECT_EQ(notes("e,e, e "), "");
  EXPECT_EQ(notes("e,,e , ,e"), note + "2");
  EXPECT_EQ(notes("e e,e"), note + "1");
  EXPECT_EQ(notes("e,e,e,"), "") << "writers of streams leave it";
  EXPECT_EQ(notes(",e,e,e"), note + "1");
}

TEST_F(DamagedFileTest, idle_time_of_a_file_with_lost_events_has_no_cause) {
  const std::string lost = R"({"ph" "X","cat":"kernel","name":"lost","ts":20,"dur":2})";
  const auto trace = import_kineto(write(R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2},)" + lost +
                                         R"(,{"ph":"X","cat":"kernel","name":"k","ts":40,"dur":2}])"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->kernels.size(), 2U);
  EXPECT_TRUE(trace->lacks_work);
  EXPECT_EQ(trace->notes.back(), messages::lacks_work());
}

}  // namespace
}  // namespace ridgeline::trace
