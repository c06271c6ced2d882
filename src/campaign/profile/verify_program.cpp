// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/verify_program.hpp"

#include <utility>

#include <fmt/format.h>

#include "analysis/profile_comparison.hpp"
#include "campaign/messages.hpp"
#include "campaign/profile/record_environment.hpp"
#include "execute/calls.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;
using schema::ProfileVerification;

constexpr std::size_t kProcesses = 5;  // of each side
constexpr double kConfidence = 0.95;

/// Present, changed, changed, present, present ...: a linear drift of the machine cancels.
bool is_changed(std::size_t number) { return number % 4 == 1 || number % 4 == 2; }

}  // namespace

ProgramVerifier::ProgramVerifier(const Setting& setting, execute::Executor& executor, const Budget& budget)
    : setting_(setting), executor_(executor), budget_(budget) {}

Result<ProfileVerification> ProgramVerifier::verify(const ProgramChange& change) {
  ProfileVerification out;
  out.change = change.change;
  out.what = change.what();
  out.measured_utc = executor_.clock().utc_now();
  for (std::size_t number = 0; number < 2 * kProcesses && out.reason.empty(); ++number) {
    if (budget_.is_used_up()) break;
    const bool changed = is_changed(number);
    setting_.stage(
        fmt::format("process {} of {}, {} the change", number + 1, 2 * kProcesses, changed ? "with" : "without"));
    const auto ran = run(changed, out);
    if (ran) continue;
    const auto code = ran.error().code;
    interrupted_ = code == ErrorCode::cancelled;
    if (!interrupted_ && code != ErrorCode::timeout) return tl::unexpected<base::Error>(ran.error());
    if (interrupted_ && out.present_ns.size() < analysis::kLeastProfileSteps)
      return tl::unexpected<base::Error>(ran.error());
    break;
  }
  judge(out);
  return out;
}

Result<void> ProgramVerifier::run(bool changed, ProfileVerification& verification) {
  auto& reports = changed ? changed_ : present_;
  const auto folder = setting_.folder / fmt::format("{}-{}", changed ? "changed" : "present", reports.size() + 1);
  schema::SweepTrialSpec spec;
  spec.job.command = setting_.command;
  spec.job.environment = {{"PYTHONPATH", hooked_python_path(setting_.python_folder)},
                          {"RIDGELINE_PROFILE_STEPS", folder.string()},
                          {"RIDGELINE_PROFILE_CHANGE", changed ? verification.change : std::string()}};
  const auto left = budget_.is_limited() ? std::optional(budget_.left_s()) : std::nullopt;
  RL_TRY_ASSIGN(auto outcome, execute::run_command_trial(executor_, spec, folder, left));
  auto report = read_step_report(folder);
  // Other processes of a program may take it badly that the one with the model has ended.
  const bool ended_by_us = report && report->is_cut;
  if (outcome.failure && !ended_by_us)
    verification.reason = messages::verify_failed(
        {.of = messages::VerifyFailedOf::program, .changed = changed, .failure = std::move(outcome.failure->message)});
  else if (!report)
    verification.reason = messages::verify_no_steps();
  else if (auto why = changed ? report->ineffective() : schema::Message(); !why.empty())
    verification.reason = std::move(why);
  else if (!report->median_ns())
    verification.reason = messages::verify_too_short(report->steps);
  if (!verification.reason.empty()) return {};
  (changed ? verification.changed_ns : verification.present_ns).push_back(*report->median_ns());
  reports.push_back(*std::move(report));
  return {};
}

void ProgramVerifier::judge(ProfileVerification& verification) const {
  if (!verification.reason.empty()) return;
  const auto present = static_cast<std::int64_t>(present_.size());
  const auto changed = static_cast<std::int64_t>(changed_.size());
  verification.comparison =
      analysis::compare_times(verification.present_ns, verification.changed_ns, kConfidence, analysis::kProfileEffect);
  if (!verification.comparison) {
    verification.reason = messages::verify_no_time(
        {.present = present, .changed = changed, .least = static_cast<std::int64_t>(analysis::kLeastProfileSteps)});
    return;
  }
  if (present_.size() + changed_.size() < 2 * kProcesses)
    verification.remarks.push_back(messages::verify_fewer({.present = present, .changed = changed}));
  for (auto& remark : compare_results(present_[0], present_[1], changed_[0]))
    verification.remarks.push_back(std::move(remark));
}

}  // namespace ridgeline::campaign
