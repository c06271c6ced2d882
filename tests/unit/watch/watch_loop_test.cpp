// SPDX-License-Identifier: Apache-2.0
#include "watch/watch_loop.hpp"

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/messages.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_service.hpp"
#include "fakes/words.hpp"
#include "watch/messages.hpp"

namespace ridgeline::watch {
namespace {

using analysis::CauseKind;
using fakes::text_of;

constexpr int kDay = 1440;  // probes a minute apart

/// Answers with what it is told to, and keeps what it heard.
class FakeResponder final : public Responder {
 public:
  base::Result<Response> respond(const WatchEvent& event, WatchState&) override {
    heard.push_back(event.kind);
    return std::exchange(answer, Response{});
  }
  base::Result<Response> still_degraded(const WatchEvent&, WatchState&) override {
    ++still;
    return Response{};
  }
  std::vector<WatchEventKind> heard;
  int still = 0;
  Response answer;
};

class WatchLoopTest : public ::testing::Test {
 protected:
  WatchLoopTest() { service_.state = fakes::fake_baseline().state; }

  WatchLoop& loop() {
    if (!loop_) start({});
    return *loop_;
  }
  void start(WatchState state) {
    if (state.question.empty()) state.question = WatchLoop::question(options_, baseline_);
    loop_ = std::make_unique<WatchLoop>(options_, baseline_, service_, std::vector<Responder*>{&responder_}, clock_,
                                        heard_, std::move(state));
  }
  /// As after a restart of the program.
  void restart() { start(base::Json::parse(base::dump_json(loop().state())).get<WatchState>()); }
  void probes(int count) {
    for (int i = 0; i < count; ++i) {
      clock_.advance(std::chrono::seconds(60));
      const auto stepped = loop().step();
      ASSERT_TRUE(stepped) << stepped.error().message;
    }
  }
  /// A service whose probes differ by 2.8 %, with three looks at what is doubtful.
  void start_noisy() {
    options_.opinions = 3;
    service_.noise = 0;
    for (int i = 0; i < 40; ++i) {
      service_.median_ms = i % 2 == 0 ? 3.943 : 4.057;
      probes(1);
      ASSERT_FALSE(loop().undecided());
    }
  }
  void look(double median_ms) {
    service_.median_ms = median_ms;
    probes(1);
  }

  /// Probes until an alarm, at most ten; how many that took.
  int probes_to_alarm() {
    const auto before = heard_.count(WatchEventKind::degraded);
    for (int i = 1; i <= 10; ++i) {
      probes(1);
      if (heard_.count(WatchEventKind::degraded) > before) return i;
    }
    return -1;
  }

  fakes::FakeClock clock_;
  fakes::FakeService service_;
  fakes::HeardEvents heard_;
  FakeResponder responder_;
  Baseline baseline_ = fakes::fake_baseline();
  WatchLoop::Options options_;
  std::unique_ptr<WatchLoop> loop_;
};

TEST_F(WatchLoopTest, a_healthy_day_tells_nothing) {
  probes(kDay);
  EXPECT_TRUE(heard_.events.empty());
  EXPECT_FALSE(loop().bad());
}

TEST_F(WatchLoopTest, a_tenth_more_is_told_within_five_minutes_and_its_end_too) {
  probes(200);
  service_.median_ms = 4.4;
  const int taken = probes_to_alarm();
  EXPECT_GE(taken, 2);
  EXPECT_LE(taken, 5);
  EXPECT_TRUE(loop().bad());
  const auto* event = heard_.last(WatchEventKind::degraded);
  ASSERT_NE(event, nullptr);
  EXPECT_NEAR(*event->slow_down, 1.1, 0.03);
  EXPECT_EQ(event->causes.front().kind, CauseKind::unknown);
  EXPECT_DOUBLE_EQ(*event->baseline_ms, 4);
  probes(30);
  EXPECT_EQ(heard_.count(WatchEventKind::degraded), 1) << "told once";
  EXPECT_EQ(responder_.still, 30);
  service_.median_ms = 4;
  probes(6);
  EXPECT_EQ(heard_.count(WatchEventKind::recovered), 1);
  EXPECT_FALSE(loop().bad());
  EXPECT_EQ(responder_.heard, (std::vector{WatchEventKind::degraded, WatchEventKind::recovered}));
}

TEST_F(WatchLoopTest, goes_on_after_a_restart_with_what_it_had_seen) {
  probes(200);
  service_.median_ms = 4.4;
  probes(2);
  ASSERT_EQ(heard_.count(WatchEventKind::degraded), 0);
  restart();
  EXPECT_LE(probes_to_alarm(), 3);
  restart();
  probes(5);
  EXPECT_EQ(heard_.count(WatchEventKind::degraded), 1) << "still the same one";
  EXPECT_EQ(loop().state().probes, 200 + heard_.last(WatchEventKind::degraded)->probes - 200 + 5);
}

struct Injected {
  const char* name;
  CauseKind expected;
  void (*change)(analysis::ServiceState&);
};

class CauseTest : public WatchLoopTest, public ::testing::WithParamInterface<Injected> {};

TEST_P(CauseTest, is_named_in_the_event) {
  probes(100);
  service_.median_ms = 4.6;
  GetParam().change(service_.state);
  EXPECT_LE(probes_to_alarm(), 5);
  const auto* event = heard_.last(WatchEventKind::degraded);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->causes.front().kind, GetParam().expected) << text_of(event->message);
  EXPECT_FALSE(event->causes.front().evidence.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Injected, CauseTest,
    ::testing::Values(
        Injected{"heat", CauseKind::thermal_throttling,
                 [](auto& state) { state.gpu->throttle_ns["thermal"] = 1.2e9, state.gpu->sm_clock_mhz = 1600; }},
        Injected{"power", CauseKind::power_throttling,
                 [](auto& state) { state.gpu->throttle_ns["power"] = 0.8e9, state.gpu->sm_clock_mhz = 1700; }},
        Injected{"clock_cap", CauseKind::clock_cap, [](auto& state) { state.gpu->sm_clock_mhz = 1500; }},
        Injected{"process", CauseKind::other_process,
                 [](auto& state) {
                   state.gpu->neighbours_before = {{4711, 3LL << 30}};
                   state.gpu_busy_percent = 97;
                   state.gpu->throttle_ns["power"] = 0.5e9;  // two loads draw more
                   state.gpu->sm_clock_mhz = 1850;
                 }},
        Injected{"memory", CauseKind::memory_pressure,
                 [](auto& state) { state.gpu->memory_free_before_bytes = 1LL << 30; }},
        Injected{"driver", CauseKind::library_changed,
                 [](auto& state) { state.environment.gpus[0].driver_version = "590.10"; }},
        Injected{"runtime", CauseKind::library_changed, [](auto& state) { state.runtime.version = "1.30.0"; }},
        Injected{"model", CauseKind::model_changed, [](auto& state) { state.model_sha256 = std::string(64, 'b'); }},
        Injected{"shapes", CauseKind::shapes_changed, [](auto& state) { state.shapes[0][0].dims[0] = 8; }},
        Injected{"setting", CauseKind::setting_changed,
                 [](auto& state) {
                   state.configuration = schema::Configuration{{"intra_op_num_threads", 1}};
                 }},
        Injected{"cpu", CauseKind::busy_cpu, [](auto& state) { state.environment.load_average = 20; }},
        Injected{"nothing", CauseKind::unknown, [](auto&) {}}),
    [](const auto& one) { return one.param.name; });

TEST_F(WatchLoopTest, a_process_that_ends_before_the_proof_is_named_nevertheless) {
  options_.drift.threshold = 0.2;  // takes a few probes more
  probes(100);
  service_.median_ms = 5;
  service_.state.gpu->neighbours_before = {{4711, std::nullopt}};
  probes(2);
  service_.state.gpu->neighbours_before.clear();
  ASSERT_EQ(heard_.count(WatchEventKind::degraded), 0);
  ASSERT_GT(probes_to_alarm(), 0);
  EXPECT_EQ(heard_.last(WatchEventKind::degraded)->causes.front().kind, CauseKind::other_process);
}

TEST_F(WatchLoopTest, a_second_cause_on_top_is_an_event_of_its_own) {
  probes(100);
  service_.median_ms = 4.8;
  service_.state.gpu->neighbours_before = {{4711, std::nullopt}};
  ASSERT_GT(probes_to_alarm(), 0);
  probes(20);
  service_.median_ms = 7;
  service_.state.configuration = schema::Configuration{{"intra_op_num_threads", 1}};
  ASSERT_GT(probes_to_alarm(), 0);
  EXPECT_EQ(heard_.count(WatchEventKind::degraded), 2);
  const auto* event = heard_.last(WatchEventKind::degraded);
  ASSERT_EQ(event->causes.size(), 1U) << "the process was there before";
  EXPECT_EQ(event->causes[0].kind, CauseKind::setting_changed);
  EXPECT_NEAR(*event->slow_down, 1.75, 0.05);
}

TEST_F(WatchLoopTest, who_was_there_while_all_was_well_is_not_to_blame) {
  service_.state.gpu->neighbours_before = {{100, std::nullopt}};  // the service itself
  service_.state.gpu_busy_percent = 40;
  probes(50);
  service_.median_ms = 4.6;
  service_.state.gpu->throttle_ns["thermal"] = 1.2e9;
  ASSERT_GT(probes_to_alarm(), 0);
  const auto& causes = heard_.last(WatchEventKind::degraded)->causes;
  ASSERT_EQ(causes.size(), 1U) << text_of(causes.back().evidence);
  EXPECT_EQ(causes[0].kind, CauseKind::thermal_throttling);
}

TEST_F(WatchLoopTest, what_is_on_disk_is_looked_at_when_it_matters) {
  probes(50);
  service_.median_ms = 4.6;
  service_.closer = [](auto& state) { state.runtime.version = "1.31.0"; };
  ASSERT_GT(probes_to_alarm(), 0);
  EXPECT_EQ(heard_.last(WatchEventKind::degraded)->causes.front().kind, CauseKind::library_changed);
}

TEST_F(WatchLoopTest, an_exchange_is_told_once_though_nothing_became_slower) {
  probes(20);
  service_.state.configuration = schema::Configuration{{"intra_op_num_threads", 8}};
  probes(20);
  ASSERT_EQ(heard_.count(WatchEventKind::changed), 1);
  EXPECT_EQ(heard_.events[0].causes.front().kind, CauseKind::setting_changed);
  restart();
  probes(5);
  EXPECT_EQ(heard_.count(WatchEventKind::changed), 1);
  service_.state.configuration = baseline_.state.configuration;
  probes(5);
  EXPECT_EQ(heard_.count(WatchEventKind::changed), 2);
  EXPECT_EQ(heard_.count(WatchEventKind::degraded), 0);
}

TEST_F(WatchLoopTest, an_exchange_that_an_older_version_told_is_not_told_again) {
  service_.state.configuration = schema::Configuration{{"intra_op_num_threads", 8}};
  service_.state.runtime.version = "1.30.0";
  probes(1);
  ASSERT_EQ(heard_.count(WatchEventKind::changed), 1);
  const auto text = text_of(loop().state().change_told);
  EXPECT_NE(text.find(" | "), std::string::npos) << text;
  EXPECT_EQ(text_of(heard_.events[0].message), "different from when the baseline was measured: " + text);
  base::Json old = loop().state();
  old["change_told"] = text;
  start(old.get<WatchState>());
  probes(1);
  EXPECT_EQ(heard_.count(WatchEventKind::changed), 1);
  EXPECT_TRUE(loop().state().change_told.is("watch.changes"));
  old["change_told"] = "intra_op_num_threads 4 -> 2";
  start(old.get<WatchState>());
  probes(1);
  EXPECT_EQ(heard_.count(WatchEventKind::changed), 2);
}

TEST_F(WatchLoopTest, a_doubtful_probe_is_judged_together_with_two_more) {
  start_noisy();
  look(4.32);
  EXPECT_TRUE(loop().undecided());
  look(4.0);
  EXPECT_TRUE(loop().undecided());
  EXPECT_EQ(loop().state().drift.rising, 0) << "nothing is judged yet";
  look(4.0);
  EXPECT_FALSE(loop().undecided());
  EXPECT_EQ(loop().state().drift.rising, 0) << "the median is not slow";
  look(4.32);
  look(4.34);
  look(3.9);
  EXPECT_FALSE(loop().undecided());
  EXPECT_GT(loop().state().drift.rising, 0);
  EXPECT_EQ(loop().state().probes, 46);
}

TEST_F(WatchLoopTest, three_looks_a_figure_find_a_tenth_in_noise_within_as_many_figures_as_one_probe_may_take) {
  start_noisy();
  int figures = 0;
  for (; figures < 10 && heard_.count(WatchEventKind::degraded) == 0; ++figures) {
    look(4.32);
    look(4.48);
    if (loop().undecided()) look(4.4);
  }
  EXPECT_EQ(figures, 3);
}

TEST_F(WatchLoopTest, what_is_clear_or_has_one_opinion_is_judged_at_once) {
  start_noisy();
  look(8);
  EXPECT_FALSE(loop().undecided());
  EXPECT_GT(loop().state().drift.rising, 0);
  options_.opinions = 1;
  restart();
  look(4.32);
  EXPECT_FALSE(loop().undecided());
}

TEST_F(WatchLoopTest, a_failed_probe_and_another_baseline_leave_nothing_undecided) {
  start_noisy();
  look(4.32);
  ASSERT_TRUE(loop().undecided());
  service_.problem = "crashed";
  probes(1);
  EXPECT_FALSE(loop().undecided());
  service_.problem.clear();
  look(4.32);
  ASSERT_TRUE(loop().undecided());
  loop().rebase(fakes::fake_baseline("other/3"));
  EXPECT_FALSE(loop().undecided());
}

TEST_F(WatchLoopTest, one_failed_probe_is_no_event_and_two_are) {
  probes(10);
  service_.problem = "crashed in measure: the worker died by SIGSEGV";
  probes(1);
  EXPECT_TRUE(loop().bad());
  EXPECT_TRUE(heard_.events.empty());
  probes(3);
  ASSERT_EQ(heard_.count(WatchEventKind::failed), 1);
  EXPECT_NE(text_of(heard_.events[0].message).find("SIGSEGV"), std::string::npos);
  service_.problem.clear();
  probes(1);
  EXPECT_EQ(heard_.count(WatchEventKind::restored), 1);
  EXPECT_FALSE(loop().bad());
  EXPECT_EQ(responder_.heard, (std::vector{WatchEventKind::failed, WatchEventKind::restored}));
}

TEST_F(WatchLoopTest, without_traffic_nothing_is_judged) {
  probes(50);
  service_.idle = true;
  service_.median_ms = 8;
  probes(50);
  EXPECT_TRUE(heard_.events.empty());
}

TEST_F(WatchLoopTest, learns_its_baseline_from_the_first_probes) {
  options_.learn = true;
  service_.median_ms = 9;  // whatever the run said
  service_.state.gpu->neighbours_before = {{100, std::nullopt}};
  probes(static_cast<int>(WatchLoop::kLearned) + 40);
  EXPECT_TRUE(heard_.events.empty());
  service_.median_ms = 10;
  restart();
  EXPECT_LE(probes_to_alarm(), 5);
  const auto* event = heard_.last(WatchEventKind::degraded);
  EXPECT_EQ(event->baseline, "learned");
  EXPECT_NEAR(*event->baseline_ms, 9, 0.1);
  EXPECT_EQ(event->causes.front().kind, CauseKind::unknown);
}

TEST_F(WatchLoopTest, a_responders_new_baseline_is_held_against_from_then_on) {
  probes(100);
  service_.median_ms = 5;
  auto better = fakes::fake_baseline("later/3");
  better.figure.median_ns = 5e6;
  WatchEvent said;
  said.kind = WatchEventKind::retuned;
  said.message = messages::recovered();
  responder_.answer = {{said}, better};
  ASSERT_GT(probes_to_alarm(), 0);
  EXPECT_EQ(heard_.last(WatchEventKind::retuned)->baseline, "later/3");
  EXPECT_EQ(service_.baselines, std::vector<std::string>{"later/3"});
  EXPECT_EQ(service_.resets, 1);
  EXPECT_FALSE(loop().bad());
  probes(100);
  EXPECT_EQ(heard_.count(WatchEventKind::degraded), 1);
  EXPECT_EQ(loop().state().question, WatchLoop::question(options_, better));
}

TEST_F(WatchLoopTest, the_same_baseline_again_forgets_nothing) {
  probes(100);
  const auto before = base::Json(loop().state());
  loop().rebase(baseline_);
  EXPECT_EQ(base::Json(loop().state()), before);
  loop().rebase(fakes::fake_baseline("other/1"));
  EXPECT_TRUE(loop().state().drift.steps.empty());
}

TEST_F(WatchLoopTest, the_status_says_where_things_stand) {
  probes(1);
  loop().announce_status();
  EXPECT_EQ(heard_.last(WatchEventKind::status)->details.at("state"), "fine");
  service_.median_ms = 6;
  ASSERT_GT(probes_to_alarm(), 0);
  loop().announce_status();
  EXPECT_EQ(heard_.last(WatchEventKind::status)->details.at("state"), "degraded");
  EXPECT_NEAR(*heard_.last(WatchEventKind::status)->slow_down, 1.5, 0.1);
}

TEST_F(WatchLoopTest, a_status_beyond_the_threshold_that_is_not_proven_does_not_read_fine) {
  const auto status_at = [&](double median_ms) {
    service_.noise = 0;
    look(median_ms);
    loop().announce_status();
    const auto* status = heard_.last(WatchEventKind::status);
    EXPECT_EQ(status->details.at("state"), "fine");
    return text_of(status->message);
  };
  EXPECT_EQ(status_at(4.36), "fine: 4.36 ms, 1.09 times the baseline's 4 ms");
  EXPECT_EQ(status_at(6), "not proven slower yet: 6 ms, 1.50 times the baseline's 4 ms");
  EXPECT_FALSE(loop().bad());
}

TEST_F(WatchLoopTest, an_event_as_json_has_what_the_page_promises) {
  probes(100);
  service_.median_ms = 5;
  service_.state.gpu->throttle_ns["power"] = 1e9;
  ASSERT_GT(probes_to_alarm(), 0);
  const auto json = json_of(fakes::words(), heard_.events.back());
  for (const auto* key :
       {"schema", "version", "event", "time_utc", "text", "code", "arguments", "baseline", "model", "device", "probes",
        "slow_down_ratio", "slow_down_low", "slow_down_high", "confidence", "baseline_ms", "now_ms", "cause", "causes"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json.at("event"), "degraded");
  EXPECT_EQ(json.at("code"), "watch.degraded");
  EXPECT_EQ(json.at("text"), text_of(heard_.events.back().message));
  EXPECT_EQ(json.at("cause"), "power_throttling");
  EXPECT_EQ(json.at("causes").at(0).at("evidence").at("code"), "analysis.throttled");
  EXPECT_EQ(json.at("causes").at(0).at("advice").at("text"), text_of(analysis::messages::fix_power()));
  EXPECT_FALSE(json.contains("details"));
}

}  // namespace
}  // namespace ridgeline::watch
