// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/busy_cpus.hpp"

#include <algorithm>

#include "search/cpu_budget.hpp"

namespace ridgeline::campaign {

double busy_cpus(const schema::TuneRun& run, const schema::Configuration& configuration) {
  const auto budget = search::cpu_budget(run.environment);
  const auto number = [&](const char* key, int fallback) {
    return std::max(0.0, configuration.get_or(key, fallback).as_number(fallback));
  };
  const double asked = std::max(number("intra_op_num_threads", 0), number("torch_threads", 0));
  const double sessions = std::max(1.0, number("parallel_sessions", 1)) * std::max(1.0, number("concurrent_runs", 1));
  return std::min<double>(budget.usable, sessions * (asked > 0 ? asked : budget.physical));
}

}  // namespace ridgeline::campaign
