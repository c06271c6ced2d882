// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/trial_interference.hpp"

#include <algorithm>

#include "analysis/summary.hpp"
#include "campaign/messages.hpp"
#include "schema/error_message.hpp"
#include "schema/messages.hpp"

namespace ridgeline::campaign {
namespace {

constexpr double kTimedS = 1;  // of windows that begin at about the same time most is shared then

/// Why a slot's figures could not stand beside those of slot 0: another runtime; empty: they can.
std::vector<schema::Message> unlike_first(execute::Executor& executor, const std::vector<schema::TrialSpec>& specs,
                                          const std::function<execute::TimeLeft()>& time_left) {
  std::vector<schema::Message> reasons;
  std::optional<schema::RuntimeIdentity> first;
  for (std::size_t slot = 0; slot < specs.size(); ++slot) {
    const auto& spec = specs[slot];
    const auto found =
        execute::probe(executor, spec.workload.kind, spec.runtime.library_path, slot, {.time_left = time_left()});
    auto& reason = reasons.emplace_back();
    if (slot == 0 && found) first = *found;
    if (!first) return {};  // the trials will say what is wrong
    if (!found)
      reason = schema::message_of(found.error());
    else if (found->version != first->version || found->library_sha256 != first->library_sha256)
      reason = messages::other_version({.runtime = found->name,
                                        .version = found->version,
                                        .sha256 = found->library_sha256.substr(0, 8),
                                        .first = first->version,
                                        .first_sha256 = first->library_sha256.substr(0, 8)});
  }
  return reasons;
}

}  // namespace

base::Result<Interference> check_trial_interference(execute::Executor& executor,
                                                    const std::vector<schema::TrialSpec>& specs,
                                                    schema::Objective objective,
                                                    const std::function<execute::TimeLeft()>& time_left) {
  InterferenceProbe probe;
  for (const auto& spec : specs) probe.devices.push_back(spec.device);
  probe.unlike = unlike_first(executor, specs, time_left);
  probe.left_s = [&] { return time_left().seconds; };
  probe.clock = &executor.clock();
  probe.time = [&](const std::vector<std::size_t>& slots,
                   bool keep) -> base::Result<std::vector<std::optional<double>>> {
    std::vector<execute::TrialJob> jobs;
    for (const auto slot : slots) {
      auto& job = jobs.emplace_back();
      job.slot = slot;
      job.spec = specs[slot];
      auto& plan = job.spec.plan;
      plan.runs.reset();
      plan.min_time_s = std::max(plan.min_time_s, kTimedS);
      plan.max_time_s = std::max(plan.max_time_s, plan.min_time_s);
      job.options.throughput = objective == schema::Objective::throughput;
      job.options.keep_session = keep;
      job.options.time_left = time_left();
    }
    std::vector<std::optional<double>> costs;
    for (const auto& outcome : execute::run_trials(executor, jobs)) {
      if (!outcome) return tl::unexpected<base::Error>(outcome.error());
      const auto& measurement = outcome->measurement;
      const bool timed = outcome->status == schema::TrialStatus::ok && measurement && !measurement->latency_ns.empty();
      costs.push_back(timed ? std::optional(analysis::cost_of(*measurement, objective).value) : std::nullopt);
    }
    return costs;
  };
  return check_interference(probe);
}

}  // namespace ridgeline::campaign
