// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/profiler_cost.hpp"

#include <algorithm>

#include "stats/mean.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

constexpr std::size_t kEnoughForSpread = 3;

bool tells_cost(std::size_t round) { return round % 2 == 0; }

double mean_of(const std::vector<double>& values) { return values.empty() ? 0 : stats::mean(values); }

}  // namespace

double own_cost_ns(const schema::ProfiledModel& model) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < model.rounds.size(); ++i)
    if (const auto& round = model.rounds[i]; tells_cost(i) && !round.plain_ns.empty() && !round.traced_ns.empty())
      differences.push_back(stats::median(round.traced_ns) - stats::median(round.plain_ns));
  const double mean = mean_of(differences);
  const bool by_chance = differences.size() >= kEnoughForSpread && mean < stats::mean_half_width(differences);
  return by_chance ? 0 : std::max(0.0, mean);
}

schema::ProfileCost profiler_cost(const std::vector<schema::ProfiledModel>& models,
                                  const std::vector<schema::ProfileTables>& tables, double nodes, bool own_is_off) {
  std::vector<double> plain;
  std::vector<double> traced;
  std::vector<double> work;
  std::vector<double> own;
  for (std::size_t at = 0; at < std::min(models.size(), tables.size()); ++at) {
    own.push_back(own_is_off ? own_cost_ns(models[at]) : 0);
    const auto& steps = tables[at].steps;
    std::size_t first = 0;
    for (std::size_t i = 0; i < models[at].rounds.size(); ++i) {
      const auto& round = models[at].rounds[i];
      const auto end = first + round.traced_ns.size();
      if (!tells_cost(i) && !round.plain_ns.empty() && first < end && end <= steps.size()) {
        plain.push_back(stats::median(round.plain_ns));
        traced.push_back(stats::median(round.traced_ns));
        std::vector<double> works;
        for (std::size_t step = first; step < end; ++step) works.push_back(static_cast<double>(steps[step].work_ns));
        work.push_back(stats::median(std::move(works)));
      }
      first = end;
    }
  }
  schema::ProfileCost cost;
  cost.plain_ns = mean_of(plain);
  cost.traced_ns = mean_of(traced);
  cost.events = nodes;
  if (nodes > 0) cost.event_ns = mean_of(own) / nodes;
  cost.nodes_ns = mean_of(work) + cost.own_ns();
  return cost;
}

}  // namespace ridgeline::campaign
