// SPDX-License-Identifier: Apache-2.0
#include "execute/training_server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <thread>

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Json;
using workload::StepError;
using workload::StepResult;

/// Answers as it is told.
class ScriptedRunner final : public workload::StepRunner {
 public:
  StepResult<void> prepare(const schema::TrainingTrialSpec& spec) override {
    prepared = spec;
    if (error) return tl::unexpected(*error);
    return {};
  }
  StepResult<workload::StepWindow> run(std::int64_t steps) override {
    if (error) return tl::unexpected(*error);
    workload::StepWindow window;
    window.steps.assign(static_cast<std::size_t>(steps), {1, 2, 3, 4, 5, 6, 21});
    window.wall_ms = 21.5 * static_cast<double>(steps);
    return window;
  }
  StepResult<void> reset_peaks() override {
    ++resets;
    return {};
  }
  StepResult<schema::TrainingResources> resources() override { return known; }
  void close() noexcept override { closed = true; }
  bool renew() noexcept override { return renewable; }

  std::optional<schema::TrainingTrialSpec> prepared;
  std::optional<StepError> error;
  schema::TrainingResources known;
  int resets = 0;
  bool closed = false;
  bool renewable = true;
};

class TrainingServerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> sockets{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
    ours_ = sockets[0];
    thread_ = std::thread([this, theirs = sockets[1]] {
      TrainingServer server(runner_, [](const Json& request) -> StepResult<Json> {
        return Json{{"runtime", "torch of " + request.value("target", "")}};
      });
      result_ = server.serve(theirs);
      ::close(theirs);
    });
  }
  void TearDown() override { finish(); }
  /// What serve gave when the other end had gone.
  base::Result<void> finish() {
    if (ours_ >= 0) ::close(ours_);
    ours_ = -1;
    if (thread_.joinable()) thread_.join();
    return result_;
  }
  void send(const std::string& line) const {
    ASSERT_EQ(::write(ours_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  Json receive() const {
    std::string line;
    for (char character = 0; ::read(ours_, &character, 1) == 1 && character != '\n';) line += character;
    return Json::parse(line, nullptr, false);
  }
  Json ask(const Json& request) const {
    send(base::dump_json(request) + "\n");
    return receive();
  }
  Json prepare(const std::string& device) const {
    schema::TrainingTrialSpec spec;
    spec.device = device;
    spec.settings.batch = 48;
    return ask({{"op", "prepare"}, {"spec", spec}});
  }

  ScriptedRunner runner_;
  int ours_ = -1;
  std::thread thread_;
  base::Result<void> result_;
};

TEST_F(TrainingServerTest, serves_a_trial_from_describe_to_close) {
  EXPECT_EQ(ask({{"op", "describe"}, {"target", "mlp"}}), (Json{{"ok", {{"runtime", "torch of mlp"}}}}));
  EXPECT_EQ(prepare("cuda:0"), (Json{{"ok", Json::object()}}));
  EXPECT_EQ(runner_.prepared->settings.batch, 48);
  const auto window = ask({{"op", "run"}, {"steps", 2}});
  EXPECT_EQ(window.at("ok").at("steps"),
            (Json{{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 21.0}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 21.0}}));
  EXPECT_EQ(window.at("ok").at("wall_ms"), 43.0);
  EXPECT_EQ(ask({{"op", "reset"}}), (Json{{"ok", Json::object()}}));
  EXPECT_EQ(runner_.resets, 1);
  EXPECT_EQ(ask({{"op", "close"}}), (Json{{"ok", Json::object()}}));
  EXPECT_TRUE(runner_.closed);
  EXPECT_TRUE(finish());
}

TEST_F(TrainingServerTest, serves_another_trial_after_a_release) {
  prepare("cuda:0");
  EXPECT_TRUE(prepare("cuda:0").contains("error")) << "one at a time";
  EXPECT_EQ(ask({{"op", "release"}}), (Json{{"ok", {{"kept", true}}}}));
  EXPECT_TRUE(runner_.closed);
  EXPECT_TRUE(ask({{"op", "run"}, {"steps", 1}}).contains("error")) << "nothing is prepared";
  EXPECT_EQ(prepare("cuda:0"), (Json{{"ok", Json::object()}}));
  EXPECT_TRUE(ask({{"op", "run"}, {"steps", 1}}).contains("ok"));
  runner_.renewable = false;
  EXPECT_EQ(ask({{"op", "release"}}), (Json{{"ok", {{"kept", false}}}}));
}

TEST_F(TrainingServerTest, tells_the_allocator_s_memory_on_a_gpu) {
  runner_.known.peak_reserved_gb = 7.5;
  prepare("cuda:0");
  EXPECT_EQ(ask({{"op", "resources"}}).at("ok").at("peak_reserved_gb"), 7.5);
}

TEST_F(TrainingServerTest, tells_the_process_s_memory_on_a_cpu) {
  prepare("cpu");
  const auto known = ask({{"op", "resources"}}).at("ok");
  EXPECT_GT(known.at("peak_reserved_gb").get<double>(), 0.001);
  EXPECT_GT(known.at("device_capacity_gb").get<double>(), known.at("peak_reserved_gb").get<double>());
}

TEST_F(TrainingServerTest, says_that_a_loss_is_not_finite_without_writing_nan) {
  runner_.known.last_loss = std::numeric_limits<double>::quiet_NaN();
  prepare("cuda:0");
  const auto known = ask({{"op", "resources"}}).at("ok");
  EXPECT_TRUE(known.at("loss_not_finite").get<bool>());
  EXPECT_TRUE(known.at("last_loss").is_null());
}

TEST_F(TrainingServerTest, goes_on_after_an_error) {
  prepare("cuda:0");
  runner_.error = StepError{{ErrorCode::out_of_memory, "it is full"}, schema::OomEvidence::type, {}, {}, {}};
  EXPECT_EQ(ask({{"op", "run"}, {"steps", 1}}).at("error").at("type"), "c10::OutOfMemoryError");
  runner_.error.reset();
  EXPECT_TRUE(ask({{"op", "run"}, {"steps", 1}}).contains("ok"));
}

TEST_F(TrainingServerTest, refuses_requests_out_of_order) {
  for (const auto* op : {"run", "reset", "resources", "nonsense"})
    EXPECT_NE(ask({{"op", op}}).at("error").at("message").get<std::string>().find("before prepare"), std::string::npos);
  prepare("cpu");
  EXPECT_EQ(prepare("cpu").at("error").at("message"), "prepared twice");
  EXPECT_TRUE(ask({{"op", "nonsense"}}).contains("error"));
  EXPECT_TRUE(ask({{"op", "run"}, {"steps", 0}}).contains("error"));
}

TEST_F(TrainingServerTest, ends_when_its_parent_has_gone) { EXPECT_TRUE(finish()); }

TEST_F(TrainingServerTest, ends_with_an_error_at_what_is_no_request) {
  send("not JSON\n");
  EXPECT_TRUE(receive().is_discarded()) << "no answer, the socket is closed";
  const auto result = finish();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::corrupt);
}

TEST(TrainingServerFacts, are_judged_as_the_error_that_they_stand_for) {
  const struct {
    ErrorCode code;
    schema::OomEvidence oom;
    ErrorCode judged;
    const char* message;
  } cases[] = {
      {ErrorCode::out_of_memory, schema::OomEvidence::type, ErrorCode::out_of_memory, "full"},
      {ErrorCode::out_of_memory, schema::OomEvidence::error_code, ErrorCode::out_of_memory, "full"},
      {ErrorCode::out_of_memory, schema::OomEvidence::allocator_counter, ErrorCode::out_of_memory, "full"},
      {ErrorCode::out_of_memory, schema::OomEvidence::text, ErrorCode::out_of_memory,
       "DefaultCPUAllocator: can't allocate memory: you tried"},
      {ErrorCode::unavailable, schema::OomEvidence::none, ErrorCode::not_found, "no such device"},
      {ErrorCode::not_found, schema::OomEvidence::none, ErrorCode::not_found, "no file"},
      {ErrorCode::invalid_argument, schema::OomEvidence::none, ErrorCode::invalid_argument, "batch too large"},
      {ErrorCode::unsupported, schema::OomEvidence::none, ErrorCode::invalid_argument, "not here"},
      {ErrorCode::internal, schema::OomEvidence::none, ErrorCode::internal, "shapes differ"},
  };
  for (const auto& one : cases) {
    const auto judged = workload::judge_failure(facts_of(StepError{{one.code, one.message}, one.oom, {}, {}, {}}));
    EXPECT_EQ(judged.oom, one.oom) << one.message;
    EXPECT_EQ(judged.error.code, one.judged) << one.message;
    EXPECT_NE(judged.error.message.find(one.message), std::string::npos);
  }
}

}  // namespace
}  // namespace ridgeline::execute
