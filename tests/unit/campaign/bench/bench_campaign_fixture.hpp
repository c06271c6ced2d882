// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "campaign/bench/bench_campaign.hpp"
#include "execute/training_jobs.hpp"
#include "fakes/typed_executor.hpp"
#include "fakes/words.hpp"
#include "unit/workload/temp_folder.hpp"
#include "workload/training/synthetic_step_runner.hpp"

namespace ridgeline::campaign {

/// Counts the trials that are really run.
class CountingExecutor final : public fakes::TypedExecutor {
 public:
  explicit CountingExecutor(std::shared_ptr<const workload::VirtualClock> clock) : clock_(clock) {
    execute::TrainingOptions options;
    options.factory = workload::make_synthetic_steps(clock);
    options.clock = std::move(clock);
    execute::add_training_jobs(inner_, std::move(options));
  }
  base::Result<schema::TrainingOutcome> run_training(const schema::TrainingTrialSpec& spec) override {
    auto own = spec;
    own.job.kind = "synthetic";
    std::erase_if(own.job.options, [&](const auto& option) { return option.first.rfind("lever:", 0) == 0; });
    own.job.options.erase("ridgeline_losses");
    RL_TRY_ASSIGN(const auto answer, inner_.run(execute::training_job(own)));
    RL_TRY_ASSIGN(auto outcome, base::json_as<schema::TrainingOutcome>(answer.value, "outcome"));
    if (outcome.measurement && spec.job.options.contains("ridgeline_losses"))
      outcome.measurement->resources.losses = std::vector<double>(20, 2.0);
    for (const auto& [option, value] : spec.job.options) {
      const auto name = option.substr(option.find(':') + 1);
      if (const auto lever = losses.find(name); lever != losses.end() && outcome.measurement) {
        outcome.measurement->resources.losses = lever->second;
        if (lever->second.size() < 20) outcome.measurement->resources.lost_at_step = 1 + lever->second.size();
      }
      auto found = speeds.find(name + "=" + value);
      if (found == speeds.end()) found = speeds.find(name);
      if (found == speeds.end() || !outcome.measurement) continue;
      auto& rate = outcome.measurement->samples_per_s;
      const double times = found->second.front();
      rate = {rate.value * times, rate.low * times, rate.high * times};
      if (found->second.size() > 1) found->second.erase(found->second.begin());
    }
    if (speed_together && outcome.measurement) {
      auto& rate = outcome.measurement->samples_per_s;
      const double times = speed_together(spec.job.options);
      rate = {rate.value * times, rate.low * times, rate.high * times};
    }
    if (outcome.measurement && loses_loss && loses_loss(spec.settings)) {
      outcome.measurement->resources.lost_at_step = 3;
      outcome.measurement->flags.push_back(
          {schema::FlagLevel::notice, std::string(schema::kLossNotFinite), schema::Message()});
    }
    if (count++ == disturbed && outcome.measurement) {
      auto& rate = outcome.measurement->samples_per_s;
      rate = {rate.value / 2, rate.low / 2, rate.high / 2};
    }
    return outcome;
  }
  const base::Clock& clock() const noexcept override { return *clock_; }
  int count = 0;
  /// How many times as fast trials with a lever ("name" or "name=value") are, one by one.
  std::map<std::string, std::vector<double>> speeds;
  std::map<std::string, std::vector<double>> losses;  ///< of trials with a lever; fewer than 20: then it is NaN
  std::function<bool(const schema::TrainingSettings&)> loses_loss;  ///< whose loss is NaN from step 3 on
  std::function<double(const std::map<std::string, std::string>&)> speed_together;  ///< times, by all options
  int disturbed = -1;  ///< number of the trial during which something else ran

 private:
  std::shared_ptr<const workload::VirtualClock> clock_;
  execute::LocalTransport inner_;
};

class BenchCampaignTest : public ::testing::Test {
 protected:
  static BenchRequest request(const std::string& target, const std::string& search = "adaptive") {
    BenchRequest out;
    out.job.kind = "synthetic";
    out.job.target = target;
    out.device = "cuda:0";
    out.device_id = "synthetic";
    out.search = search;
    out.cores = 16;
    out.space = {{32, 64, 128, 256, 512},
                 {0, 2, 4, 8, 16},
                 {schema::AmpMode::off, schema::AmpMode::bf16, schema::AmpMode::fp16},
                 {false, true}};
    return out;
  }
  base::Result<schema::BenchRun> run(
      const BenchRequest& request, std::function<bool()> cancelled = [] { return false; }) {
    auto store = store::Store::open(folder_ / "r.db");
    BenchObserver observer;
    return BenchCampaign(executor_, *store, observer, std::move(cancelled)).run(request);
  }
  double elapsed_s() const { return base::to_seconds(clock_->now()); }

  workload::TempFolder folder_;
  std::shared_ptr<const workload::VirtualClock> clock_ = std::make_shared<const workload::VirtualClock>();
  CountingExecutor executor_{clock_};
};

inline bool noted(const schema::BenchRun& run, std::string_view part) {
  return std::any_of(run.notes.begin(), run.notes.end(),
                     [&](const auto& note) { return fakes::text_of(note).find(part) != std::string::npos; });
}
inline std::string listed(const schema::BenchRun& run) {
  return fmt::format("{}", fmt::join(fakes::texts_of(run.notes), "\n"));
}

}  // namespace ridgeline::campaign
