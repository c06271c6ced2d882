// SPDX-License-Identifier: Apache-2.0
#include "execute/training_child.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using workload::StepResult;

constexpr double kLongestWindowS = 600;
constexpr double kQuestionLimitS = 60;
constexpr double kReleaseLimitS = 10;
constexpr std::size_t kPhases = 7;

/// `batch`: samples that each step is to have; a process that counts them says how many they were.
base::Result<workload::StepWindow> window_of(const base::Json& answer, std::int64_t batch) {
  RL_TRY_ASSIGN(const auto rows, base::json_as<std::vector<std::vector<double>>>(
                                     answer.value("steps", base::Json::array()), "steps of a trial"));
  workload::StepWindow out;
  out.wall_ms = answer.value("wall_ms", 0.0);
  for (const auto& row : rows) {
    const bool sound =
        row.size() == kPhases && std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
    if (!sound)
      return base::fail(ErrorCode::corrupt, "a step has {} times, expected {} finite ones", row.size(), kPhases);
    out.steps.push_back({row[0], row[1], row[2], row[3], row[4], row[5], row[6]});
  }
  if (answer.contains("samples")) {
    RL_TRY_ASSIGN(const auto samples, base::json_as<std::int64_t>(answer.at("samples"), "samples of a trial"));
    if (samples != batch * static_cast<std::int64_t>(rows.size()))
      return base::fail(ErrorCode::corrupt, "{} steps trained {} samples, expected {} each", rows.size(), samples,
                        batch);
  }
  return out;
}

}  // namespace

StepResult<void> TrainingChild::prepare(const schema::TrainingTrialSpec& spec) {
  plan_ = spec.plan;
  batch_ = spec.settings.batch;
  // What an earlier trial of this process left behind is not this one's.
  child_.forget_past();
  auto answer = child_.ask({{"op", "prepare"}, {"spec", spec}}, plan_.prepare_limit_s);
  if (!answer) return tl::unexpected(std::move(answer).error());
  return {};
}

StepResult<workload::StepWindow> TrainingChild::run(std::int64_t steps) {
  const double limit =
      std::max(plan_.step_limit_s, std::min(kLongestWindowS, plan_.step_limit_s * static_cast<double>(steps)));
  auto answer = child_.ask({{"op", "run"}, {"steps", steps}}, limit);
  if (!answer) return tl::unexpected(std::move(answer).error());
  auto window = window_of(*answer, batch_);
  if (!window) return tl::unexpected(child_.reject(std::move(window).error()));
  return std::move(*window);
}

StepResult<void> TrainingChild::reset_peaks() {
  auto answer = child_.ask({{"op", "reset"}}, kQuestionLimitS);
  if (!answer) return tl::unexpected(std::move(answer).error());
  return {};
}

StepResult<schema::TrainingResources> TrainingChild::resources() {
  auto answer = child_.ask({{"op", "resources"}}, kQuestionLimitS);
  if (!answer) return tl::unexpected(std::move(answer).error());
  auto resources = base::json_as<schema::TrainingResources>(*answer, "resources of a trial");
  if (!resources) return tl::unexpected(child_.reject(std::move(resources).error()));
  if (answer->is_object() && answer->contains("notes")) {
    auto notes = base::json_as<std::map<std::string, schema::Message>>(answer->at("notes"), "notes of a trial");
    if (!notes) return tl::unexpected(child_.reject(std::move(notes).error()));
    resources->notes = std::move(*notes);
  }
  if (answer->is_object() && answer->value("loss_not_finite", false))
    resources->last_loss = std::numeric_limits<double>::quiet_NaN();
  return std::move(*resources);
}

bool TrainingChild::renew() noexcept {
  if (!child_.is_running()) return false;
  const auto answer = child_.ask({{"op", "release"}}, kReleaseLimitS);
  if (answer && answer->is_object() && answer->value("kept", false)) return true;
  close();
  return false;
}

}  // namespace ridgeline::execute
