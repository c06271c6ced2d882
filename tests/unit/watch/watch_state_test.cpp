// SPDX-License-Identifier: Apache-2.0
#include "watch/watch_state.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "analysis/messages.hpp"
#include "base/file.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"
#include "schema/messages.hpp"
#include "watch/command_responder.hpp"
#include "watch/messages.hpp"
#include "watch/utc_seconds.hpp"

namespace ridgeline::watch {
namespace {

using fakes::text_of;

class WatchStateFileTest : public ::testing::Test {
 protected:
  WatchStateFile open() {
    auto file = WatchStateFile::open(path_);
    EXPECT_TRUE(file) << file.error().message;
    return std::move(*file);
  }
  fakes::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "watch" / "state.json";
};

TEST_F(WatchStateFileTest, gives_back_what_was_saved) {
  const auto file = open();
  auto state = file.load("against run/7").state;
  EXPECT_EQ(state.question, "against run/7");
  state.probes = 42;
  state.drift.since = {0.1, 0.2};
  state.drift.last = 0.2;
  state.healthy.emplace().model_sha256 = "abc";
  state.learned.push_back({10, 1, 2, 3, 4, 5});
  state.suspects.push_back({analysis::CauseKind::clock_cap, schema::messages::foreign("evidence"), schema::Message()});
  state.change_told = messages::unchanged();
  state.pause.after_retune(1000);
  state.source = {{"offset", 7}};
  ASSERT_TRUE(file.save(state));
  const auto loaded = file.load("against run/7");
  EXPECT_TRUE(loaded.known);
  EXPECT_EQ(base::Json(loaded.state), base::Json(state));
}

// As versions before 0.3 wrote it, with texts where messages are now.
TEST_F(WatchStateFileTest, reads_the_texts_of_an_older_version) {
  const auto file = open();
  std::ofstream(path_, std::ios::trunc) << R"({
    "question": "against run/7", "probes": 42, "failing": true,
    "change_told": "intra_op_num_threads 4 -> 1",
    "suspects": [{"kind": "clock_cap", "evidence": "SM clock 1200 MHz, 1980 MHz before", "advice": "look"}],
    "healthy": {"disturbance": "others ran", "model_sha256": "abc"},
    "steady": {"disturbance": "", "model_sha256": "abc"}})";
  const auto loaded = file.load("against run/7");
  ASSERT_TRUE(loaded.known) << loaded.note;
  const auto& state = loaded.state;
  EXPECT_EQ(state.probes, 42);
  EXPECT_TRUE(state.change_told.is(schema::kLegacy));
  EXPECT_EQ(text_of(state.change_told), "intra_op_num_threads 4 -> 1");
  ASSERT_EQ(state.suspects.size(), 1U);
  EXPECT_EQ(state.suspects[0].kind, analysis::CauseKind::clock_cap);
  EXPECT_EQ(text_of(state.suspects[0].evidence), "SM clock 1200 MHz, 1980 MHz before");
  EXPECT_EQ(text_of(state.suspects[0].advice), "look");
  EXPECT_EQ(text_of(state.healthy->disturbance), "others ran");
  EXPECT_TRUE(state.steady->disturbance.empty());
  ASSERT_TRUE(file.save(state));
  EXPECT_EQ(base::Json(file.load("against run/7").state), base::Json(state));
}

TEST_F(WatchStateFileTest, another_question_starts_afresh_but_keeps_the_pause) {
  const auto file = open();
  auto state = file.load("against run/7").state;
  state.probes = 42;
  state.pause.after_retune(1000);
  ASSERT_TRUE(file.save(state));
  const auto loaded = file.load("against run/8");
  EXPECT_FALSE(loaded.known);
  EXPECT_NE(loaded.note.find("another baseline"), std::string::npos);
  EXPECT_EQ(loaded.state.probes, 0);
  EXPECT_EQ(loaded.state.pause.retunes, 1);
}

TEST_F(WatchStateFileTest, a_damaged_file_is_a_note_and_a_fresh_start) {
  const auto file = open();
  for (const auto* text : {"", "{", "[]", "{\"drift\": 3}", "{\"question\": [1]}", "\xff\xfe"}) {
    std::ofstream(path_, std::ios::trunc) << text;
    const auto loaded = file.load("q");
    EXPECT_FALSE(loaded.known) << text;
    EXPECT_FALSE(loaded.note.empty()) << text;
    EXPECT_EQ(loaded.state.question, "q");
  }
}

TEST_F(WatchStateFileTest, is_held_by_one_watch) {
  {
    const auto file = open();
    const auto second = WatchStateFile::open(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, base::ErrorCode::unavailable);
  }
  EXPECT_TRUE(WatchStateFile::open(path_));
}

TEST_F(WatchStateFileTest, a_place_that_cannot_be_written_is_one_clear_error) {
  std::filesystem::create_directories(path_);
  EXPECT_NE(WatchStateFile::open(path_).error().message.find("is a folder"), std::string::npos);
  std::ofstream(folder_ / "file") << "x";
  const auto below = WatchStateFile::open(folder_ / "file" / "state.json");
  ASSERT_FALSE(below);
  EXPECT_EQ(below.error().code, base::ErrorCode::io);
}

TEST(RetunePause, doubles_up_to_a_day_and_is_forgotten_after_a_good_one) {
  RetunePause pause;
  std::int64_t now = 1'000'000;
  std::vector<std::int64_t> pauses;
  for (int i = 0; i < 9; ++i) {
    EXPECT_TRUE(pause.allows(now));
    pause.see(true, now);
    pause.after_retune(now);
    EXPECT_FALSE(pause.allows(now + 1));
    pauses.push_back((pause.not_before - now) / 60);
    now = pause.not_before;
  }
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{15, 30, 60, 120, 240, 480, 960, 1440, 1440}));
  pause.see(false, pause.last_bad + RetunePause::kLongestS - 1);
  EXPECT_EQ(pause.retunes, 9);
  pause.see(false, pause.last_bad + RetunePause::kLongestS);
  EXPECT_EQ(pause.retunes, 0);
}

TEST(RetunePause, a_flapping_machine_gets_few_retunes_a_week) {
  RetunePause pause;
  int retunes = 0;
  for (std::int64_t minute = 0; minute < 7 * 1440; ++minute) {
    const bool degraded = minute % 20 < 10;
    pause.see(degraded, minute * 60);
    if (degraded && pause.allows(minute * 60)) {
      pause.after_retune(minute * 60);
      ++retunes;
    }
  }
  EXPECT_GE(retunes, 5);
  EXPECT_LE(retunes, 14);
}

TEST(UtcSeconds, reads_what_the_clock_writes) {
  EXPECT_EQ(utc_seconds("1970-01-02T00:00:01Z"), 86401);
  EXPECT_EQ(utc_seconds(base::format_utc(1763712000)), 1763712000);
  EXPECT_EQ(utc_seconds("soon"), 0);
}

class CommandResponderTest : public ::testing::Test {
 protected:
  Response run(const std::string& command, base::Nanoseconds limit = std::chrono::seconds(20)) {
    CommandResponder responder(fakes::words(), command, limit, [] { return false; });
    WatchEvent event;
    event.kind = WatchEventKind::degraded;
    event.message = messages::still_degraded(0.12);
    event.slow_down = 1.12;
    event.causes = {{analysis::CauseKind::other_process, analysis::messages::process({.pid = 7}), schema::Message()}};
    auto response = responder.respond(event, state_);
    EXPECT_TRUE(response);
    return response ? std::move(*response) : Response{};
  }
  fakes::TemporaryFolder folder_;
  WatchState state_;
};

TEST_F(CommandResponderTest, gives_the_event_to_the_command) {
  const auto file = folder_ / "out";
  const auto response =
      run(fmt::format("printf '%s|%s|%s|%s|%s' \"$RIDGELINE_EVENT\" \"$RIDGELINE_EVENT_TEXT\" "
                      "\"$RIDGELINE_EVENT_CAUSE\" \"$RIDGELINE_EVENT_EVIDENCE\" "
                      "\"$RIDGELINE_EVENT_SLOW_DOWN\" >{}",
                      file.string()));
  EXPECT_TRUE(response.events.empty());
  EXPECT_EQ(base::read_file(file).value(), "degraded|still 12 % slower|other_process|process 7|1.1200");
}

TEST_F(CommandResponderTest, a_command_that_fails_or_hangs_is_an_event) {
  const auto failed = run("exit 3");
  ASSERT_EQ(failed.events.size(), 1U);
  EXPECT_EQ(failed.events[0].kind, WatchEventKind::action_failed);
  EXPECT_NE(text_of(failed.events[0].message).find("exit code 3"), std::string::npos);
  const auto hung = run("sleep 60", std::chrono::milliseconds(200));
  ASSERT_EQ(hung.events.size(), 1U);
  EXPECT_NE(text_of(hung.events[0].message).find("stopped after"), std::string::npos);
  EXPECT_NE(text_of(run("kill -9 $$").events[0].message).find("signal 9"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::watch
