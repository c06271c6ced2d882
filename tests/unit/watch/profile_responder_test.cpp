// SPDX-License-Identifier: Apache-2.0
#include "watch/profile_responder.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/words.hpp"

namespace ridgeline::watch {
namespace {

using namespace std::chrono_literals;
using fakes::text_of;

class ProfileResponderTest : public ::testing::Test {
 protected:
  Response respond(WatchEventKind kind) {
    ProfileResponder responder(
        1h, [this] { return record(); }, clock_);
    WatchEvent event;
    event.kind = kind;
    auto response = responder.respond(event, state_);
    EXPECT_TRUE(response);
    return *std::move(response);
  }
  base::Result<ServiceProfile> record() {
    ++recordings_;
    if (!fault_.empty()) return base::fail(base::ErrorCode::not_found, "{}", fault_).hint("start it");
    return ServiceProfile{"20261129-1", 123, "python serve.py"};
  }

  fakes::FakeClock clock_;
  WatchState state_;
  std::string fault_;
  int recordings_ = 0;
};

TEST_F(ProfileResponderTest, a_degradation_is_profiled_and_the_event_names_the_run) {
  const auto response = respond(WatchEventKind::degraded);
  ASSERT_EQ(response.events.size(), 1U);
  const auto& event = response.events[0];
  EXPECT_EQ(event.kind, WatchEventKind::profiled);
  EXPECT_NE(text_of(event.message).find("profiled process 123 (python serve.py): ridgeline show 20261129-1"),
            std::string::npos)
      << text_of(event.message);
  EXPECT_EQ(event.details["run"], "20261129-1");
  EXPECT_EQ(event.details["process"], 123);
  for (const auto kind : {WatchEventKind::recovered, WatchEventKind::failed, WatchEventKind::restored})
    EXPECT_TRUE(respond(kind).events.empty());
  EXPECT_EQ(recordings_, 1);
}

TEST_F(ProfileResponderTest, the_next_one_waits_also_after_a_restart) {
  respond(WatchEventKind::degraded);
  clock_.advance(59min);
  // Each call has a responder of its own; what is known is in the state.
  const auto response = respond(WatchEventKind::degraded);
  ASSERT_EQ(response.events.size(), 1U);
  EXPECT_EQ(response.events[0].kind, WatchEventKind::profile_put_off);
  EXPECT_EQ(recordings_, 1);
  base::Json json = state_;
  EXPECT_EQ(json.get<WatchState>().no_profile_before, state_.no_profile_before);
  clock_.advance(2min);
  EXPECT_EQ(respond(WatchEventKind::degraded).events.at(0).kind, WatchEventKind::profiled);
  EXPECT_EQ(recordings_, 2);
}

TEST_F(ProfileResponderTest, a_failure_is_an_event_and_is_not_tried_at_every_alarm) {
  fault_ = "no process of this user has a recorder";
  const auto response = respond(WatchEventKind::degraded);
  ASSERT_EQ(response.events.size(), 1U);
  EXPECT_EQ(response.events[0].kind, WatchEventKind::action_failed);
  EXPECT_NE(text_of(response.events[0].message).find("profile: no process of this user has a recorder; start it"),
            std::string::npos);
  EXPECT_EQ(respond(WatchEventKind::degraded).events.at(0).kind, WatchEventKind::profile_put_off);
  EXPECT_EQ(recordings_, 1);
}

}  // namespace
}  // namespace ridgeline::watch
