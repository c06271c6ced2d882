// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/trials_ahead.hpp"

#include <map>

#include "execute/job.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/tune_campaign_fixture.hpp"
#include "schema/execution_provider.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

/// A machine that makes each model in so many seconds, all of them at a time.
class MakingExecutor final : public fakes::TypedExecutor {
 public:
  explicit MakingExecutor(const base::Clock& clock) : clock_(clock) {}

  std::vector<workload::AheadRequest> asked;
  std::map<Configuration, double> takes_s;

  [[nodiscard]] std::vector<std::string> capabilities(std::size_t) const override {
    return {std::string(execute::job_kind::kAhead)};
  }
  workload::AheadStates prepare_ahead(const workload::AheadRequest& request) override {
    asked.push_back(request);
    workload::AheadStates out;
    for (const auto& spec : request.specs) {
      const double begun_s = begun_.try_emplace(spec.configuration, now_s()).first->second;
      const auto takes = takes_s.find(spec.configuration);
      out.states.emplace_back(takes == takes_s.end()                     ? ""
                              : now_s() - begun_s < takes->second - 1e-9 ? "preparing"
                                                                         : "ready");
    }
    return out;
  }

 private:
  [[nodiscard]] double now_s() const { return base::to_seconds(clock_.now()); }

  const base::Clock& clock_;
  std::map<Configuration, double> begun_;
};

class TrialsAheadTest : public fakes::TuneCampaignFixture {
 protected:
  void SetUp() override {
    TuneCampaignFixture::SetUp();
    request_.max_time = std::chrono::seconds(60);
    request_.finalists = 1;
    request_.fresh_finals = false;
    machine_.takes_s = {{{}, 1}, {eager_, 2}, {compiled_, 30}, {frozen_, 200}};
  }

  RunContext& context() {
    auto& made = context_.emplace(
        machine_, *store_, clock_, observer_, [this] { return cancelled_; }, request_);
    auto& run = made.result.run;
    run.workload.kind = workload::kPythonKind;
    run.provider = schema::torch_providers().back().id;
    run.model.provider = run.provider;
    run.environment = *request_.environment;
    run.environment.usable_cpus = 16;
    run.environment.memory_available_bytes = 100'000'000'000;
    run.environment.gpus.emplace_back().memory_free_bytes = 80'000'000'000;
    return made;
  }

  fakes::FakeClock clock_;
  MakingExecutor machine_{clock_};
  CampaignObserver observer_;
  std::optional<RunContext> context_;
  const Configuration eager_{{"cuda_graph", true}};
  const Configuration compiled_{{"torch_compile", "default"}};
  const Configuration frozen_{{"compile_freezing", true}, {"torch_compile", "default"}};
};

TEST_F(TrialsAheadTest, the_first_that_is_made_is_not_kept_waiting_by_others) {
  TrialsAhead ahead(context());
  ahead.want({frozen_, compiled_, eager_});
  EXPECT_EQ(ahead.await_any({frozen_, compiled_, eager_}).value(), std::vector{eager_});
  EXPECT_NEAR(context_->budget.elapsed_s(), 2, 0.2);
  EXPECT_EQ(ahead.await_any({frozen_, compiled_}).value(), std::vector{compiled_});
  EXPECT_NEAR(context_->budget.elapsed_s(), 30, 0.2);
  EXPECT_NEAR(context_->budget.prepared_for_s(frozen_), 30, 0.2);
}

TEST_F(TrialsAheadTest, the_time_that_is_left_ends_the_wait) {
  TrialsAhead ahead(context());
  ahead.want({frozen_});
  EXPECT_TRUE(ahead.await_any({frozen_}).value().empty());
  EXPECT_LT(context_->budget.elapsed_s(), 60);
  EXPECT_GT(context_->budget.elapsed_s(), 50);
}

TEST_F(TrialsAheadTest, an_interrupt_ends_it_too) {
  TrialsAhead ahead(context());
  ahead.want({frozen_});
  cancelled_ = true;
  EXPECT_EQ(ahead.await_any({frozen_}).error().code, base::ErrorCode::cancelled);
}

TEST_F(TrialsAheadTest, nothing_waits_for_what_has_died_or_is_not_made_here) {
  TrialsAhead ahead(context());
  const Configuration dies{{"torch_compile", "reduce-overhead"}};
  ahead.want({dies, compiled_});
  EXPECT_EQ(ahead.await_any({compiled_, dies}).value(), std::vector{dies});
  context().result.run.environment.gpus.clear();
  TrialsAhead elsewhere(*context_);
  elsewhere.want({frozen_});
  EXPECT_EQ(elsewhere.await_any({frozen_}).value(), std::vector{frozen_});
}

// With --also onnx: those candidates have processes of their own.
TEST_F(TrialsAheadTest, nothing_waits_for_a_candidate_that_python_does_not_run) {
  TrialsAhead ahead(context());
  ahead.want({frozen_});
  const Configuration onnx{{std::string(schema::kCandidateKey), "onnx:cuda"}};
  EXPECT_EQ(ahead.await_any({onnx}).value(), std::vector{onnx});
  EXPECT_LT(context_->budget.elapsed_s(), 1);
}

TEST_F(TrialsAheadTest, references_come_first_and_their_processes_are_used_up) {
  TrialsAhead ahead(context());
  schema::TrialSpec reference;
  reference.configuration = {{"allow_tf32", false}};
  ahead.want_from_start(reference, {{}, eager_});
  const auto& asked = machine_.asked.back();
  ASSERT_EQ(asked.specs.size(), 4U);
  EXPECT_EQ(asked.specs[0].configuration, reference.configuration);
  EXPECT_EQ(asked.specs[1].configuration, reference.configuration);
  EXPECT_EQ(asked.specs[3].configuration, eager_);
  ASSERT_EQ(asked.kept.size(), 3U) << "the two trials and the current configuration";
  EXPECT_EQ(asked.kept[1].configuration, eager_);
  ahead.want({eager_});
  EXPECT_EQ(machine_.asked.back().specs.size(), 1U);
}

TEST_F(TrialsAheadTest, with_more_time_every_process_is_used_once) {
  request_.max_time = std::chrono::seconds(240);
  TrialsAhead ahead(context());
  ahead.want({eager_});
  EXPECT_TRUE(machine_.asked.back().kept.empty());
}

}  // namespace
}  // namespace ridgeline::campaign
