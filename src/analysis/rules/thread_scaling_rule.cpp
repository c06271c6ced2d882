// SPDX-License-Identifier: Apache-2.0
// Trials equal but for the number of intra-op threads: do more threads pay?
#include <algorithm>
#include <map>

#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

constexpr auto kThreads = "intra_op_num_threads";
constexpr double kPoorEfficiency = 0.6;  ///< below this share of ideal scaling a thread costs more than it brings

using Series = std::map<std::int64_t, const RankedTrial*>;

/// The series with the most thread counts; of equal ones the fastest.
Series longest_series(const Evidence& evidence) {
  std::map<schema::Configuration, Series> series;
  for (const auto& ranked : evidence.ranking) {
    const auto threads = ranked.trial->configuration.get_or(kThreads, 0).as_integer();
    if (threads >= 1) series[ranked.trial->configuration.without(kThreads)].emplace(threads, &ranked);
  }
  const auto least_cost = [](const Series& one) {
    return std::min_element(one.begin(), one.end(),
                            [](const auto& a, const auto& b) { return a.second->cost.value < b.second->cost.value; })
        ->second->cost.value;
  };
  const Series* longest = nullptr;
  for (const auto& [configuration, one] : series)
    if (longest == nullptr || one.size() > longest->size() ||
        (one.size() == longest->size() && least_cost(one) < least_cost(*longest)))
      longest = &one;
  return longest != nullptr ? *longest : Series{};
}

}  // namespace

std::vector<Finding> thread_scaling_rule(const Evidence& evidence) {
  if (evidence.uneven) return {};
  const auto series = longest_series(evidence);
  if (series.size() < 2) return {};
  const auto& [few, slowest] = *series.begin();
  const auto& [many, widest] = *series.rbegin();
  const double speedup = slowest->cost.value / widest->cost.value;
  const double efficiency = speedup * static_cast<double>(few) / static_cast<double>(many);
  if (efficiency >= kPoorEfficiency) return {};
  const auto best = std::min_element(series.begin(), series.end(), [](const auto& a, const auto& b) {
    return a.second->cost.value < b.second->cost.value;
  });
  std::vector<schema::Message> times;
  for (const auto& [threads, ranked] : series)
    times.push_back(
        messages::time_of_threads({.threads = threads, .time = ranked->measured.value, .trial = ranked->trial->id}));
  Finding finding;
  finding.kind = FindingKind::limit;
  finding.title = messages::threads_do_not_scale({.many = many, .speedup = speedup, .few = few});
  finding.evidence = messages::times_of_threads(times);
  finding.advice = evidence.run.request.objective == schema::Objective::throughput ? messages::use_more_sessions()
                   : best->first < many ? messages::threads_are_enough(best->first)
                                        : messages::cores_bring_little();
  return {finding};
}

}  // namespace ridgeline::analysis
