// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/current_replacement.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/comparison.hpp"
#include "analysis/proof.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/recommendation.hpp"

namespace ridgeline::campaign {

using base::Result;
using schema::Decision;

namespace {

/// "crashed: signal 11", of the current configuration's trial; empty: it was not measured, for no fault of its own.
schema::Message fault_of_current(const TuneResult& result) {
  for (const auto& trial : result.run.trials) {
    const auto found = result.outcomes.find(trial.key);
    if (trial.configuration != result.run.current || found == result.outcomes.end()) continue;
    const auto& outcome = found->second;
    if (outcome.status == schema::TrialStatus::ok) return {};
    return messages::status_of({.status = std::string(base::enum_name(outcome.status)),
                                .failure = outcome.failure ? outcome.failure->message : schema::Message()});
  }
  return {};
}

}  // namespace

const analysis::RankedTrial* CurrentReplacement::nearest(const std::vector<analysis::RankedTrial>& ranking) const {
  const auto& run = result_.run;
  const auto effort = [&](const analysis::RankedTrial& ranked) {
    const auto& configuration = ranked.trial->configuration;
    return std::tuple(analysis::changes_runtime(run, configuration),
                      schema::differing_keys(configuration, run.current).size(), configuration.size());
  };
  const analysis::RankedTrial* best = nullptr;
  for (const auto& ranked : ranking)
    if (ranked.meets_constraints && !analysis::is_stopped_early(ranked) &&
        (best == nullptr || effort(ranked) < effort(*best)))
      best = &ranked;
  return best;
}

Result<std::optional<schema::Comparison>> CurrentReplacement::compare(const analysis::RankedTrial& near,
                                                                      const analysis::RankedTrial& fast) {
  const auto& a = near.trial->configuration;
  const auto& b = fast.trial->configuration;
  const bool has_tail =
      result_.run.request.objective != schema::Objective::p99 || (near.summary.p99_ns && fast.summary.p99_ns);
  const auto plan = pairs_.plan_for(a, b, 1);
  if (a == b || !has_tail || pairs_.expected_s(a, b, plan, false) > budget_.plannable_s())
    return std::optional<schema::Comparison>();
  observer_.stage(fmt::format("trial {} against trial {}, the nearest to the current configuration that runs",
                              fast.trial->id, near.trial->id));
  const auto measured = pairs_.measure(schema::PairPurpose::head_to_head, a, b, "", plan);
  if (!measured && pairs_.was_cut(measured.error())) return std::optional<schema::Comparison>();
  RL_TRY_ASSIGN(const auto pair, measured);
  return pair.comparison;
}

Result<void> CurrentReplacement::decide(const std::vector<analysis::RankedTrial>& ranking) {
  auto& run = result_.run;
  const auto* near = nearest(ranking);
  const auto& fast = ranking.front();
  if (near == nullptr) near = &fast;
  auto& verdict = run.verdict.emplace();
  verdict.configuration = run.current;
  const auto fault = fault_of_current(result_);
  if (fault.empty()) {
    verdict.trial_id = fast.trial->id;
    verdict.reason =
        messages::current_not_measured({.trial = fast.trial->id, .configuration = fast.trial->configuration.to_text()});
    return {};
  }
  RL_TRY_ASSIGN(const auto gain, compare(*near, fast));
  const bool same_runtime = analysis::changes_runtime(run, near->trial->configuration) ==
                            analysis::changes_runtime(run, fast.trial->configuration);
  const bool is_faster =
      gain && gain->verdict == schema::Verdict::faster && (same_runtime || gain->low >= 1 + run.request.min_effect);
  const auto& chosen = is_faster ? fast : *near;
  verdict.configuration = chosen.trial->configuration;
  verdict.trial_id = chosen.trial->id;
  verdict.decision = Decision::change;
  if (changes_to(run, run.in_file.merged(run.current)).empty() &&
      schema::candidate_of(verdict.configuration) == schema::candidate_of(run.current)) {
    verdict.decision = Decision::none;
    verdict.reason = messages::no_setting_to_blame(fault);
    return {};
  }
  verdict.reason = messages::current_replaced({.fault = fault,
                                               .trial = chosen.trial->id,
                                               .faster = is_faster,
                                               .ratio = gain ? gain->ratio : 1,
                                               .low = gain ? gain->low : 1,
                                               .high = gain ? gain->high : 1,
                                               .near = near->trial->id});
  return {};
}

}  // namespace ridgeline::campaign
