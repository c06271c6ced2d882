// SPDX-License-Identifier: Apache-2.0
#include "analysis/candidate_table.hpp"

#include <algorithm>

#include "analysis/comparison.hpp"
#include "analysis/summary.hpp"

namespace ridgeline::analysis {
namespace {

bool is_timed(const CandidateRow& row) {
  return row.outcome != nullptr && row.outcome->status == schema::TrialStatus::ok && row.outcome->measurement &&
         !row.outcome->measurement->latency_ns.empty();
}

CandidateRow row_of(const schema::TuneRun& run, const OutcomesByKey& outcomes, schema::Candidate candidate) {
  CandidateRow row;
  for (const auto& trial : run.trials) {
    if (schema::candidate_of(trial.configuration) != candidate.id) continue;
    ++row.trials;
    // Every search begins with the defaults, or with what is usually faster; the next is the defaults if that fails.
    if (is_timed(row) || row.trials > 2) continue;
    const auto found = outcomes.find(trial.key);
    const auto* outcome = found != outcomes.end() ? &found->second : nullptr;
    const bool is_first = row.trial == nullptr;
    if (!is_first && (trial.stage != schema::TrialStage::baseline || outcome == nullptr)) continue;
    row.trial = &trial;
    row.outcome = outcome;
  }
  for (const auto& left : run.pruned)
    if (left.key == schema::kCandidateKey && left.values == std::vector<schema::Value>{candidate.id})
      row.left = left.reason;
  row.candidate = std::move(candidate);
  return row;
}

std::optional<schema::Comparison> compared(const schema::TuneRun& run, const CandidateRow& current,
                                           const CandidateRow& row) {
  std::optional<schema::Comparison> surest;
  for (const auto& pair : run.pairs) {
    if (!pair.comparison || pair.comparison->abba_rounds == 0) continue;
    if (pair.a != current.trial->configuration || pair.b != row.trial->configuration) continue;
    if (!surest || pair.comparison->abba_rounds > surest->abba_rounds) surest = pair.comparison;
  }
  if (surest) return surest;
  if (!is_timed(current) || !is_timed(row)) return std::nullopt;
  return compare_separate(*current.outcome->measurement, *row.outcome->measurement, run.request.objective,
                          run.request.min_effect);
}

}  // namespace

schema::Candidate candidate_in(const schema::TuneRun& run, const schema::Configuration& configuration) {
  const auto id = schema::candidate_of(configuration);
  if (const auto* found = schema::find_candidate(run.candidates, id)) return *found;
  schema::Candidate current;
  current.engine = run.runtime.name;
  current.runtime = run.runtime;
  current.provider = run.provider;
  current.plugin = run.plugin;
  current.device = run.device;
  return current;
}

std::string config_section(const schema::TuneRun& run, const schema::Configuration& configuration) {
  return schema::provider_of(candidate_in(run, configuration).provider).engine;
}

std::vector<CandidateRow> candidate_table(const schema::TuneRun& run, const OutcomesByKey& outcomes) {
  std::vector<CandidateRow> rows;
  if (run.candidates.empty()) return rows;
  const auto current = row_of(run, outcomes, candidate_in(run, {}));
  for (const auto& candidate : run.candidates) rows.push_back(row_of(run, outcomes, candidate));
  if (current.trial != nullptr)
    for (auto& row : rows)
      if (row.trial != nullptr) row.against_current = compared(run, current, row);
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    if (is_timed(a) != is_timed(b)) return is_timed(a);
    return is_timed(a) && cost_of(*a.outcome->measurement, run.request.objective).value <
                              cost_of(*b.outcome->measurement, run.request.objective).value;
  });
  rows.insert(rows.begin(), current);
  return rows;
}

}  // namespace ridgeline::analysis
