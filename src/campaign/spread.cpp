// SPDX-License-Identifier: Apache-2.0
#include "campaign/spread.hpp"

namespace ridgeline::campaign {

base::Result<std::vector<std::size_t>> Spread::slots(std::size_t open, std::size_t ahead) {
  if (found_) return found_->slots;
  const auto available = executor_.slots().size();
  const std::size_t check = available + 1;  // trials, at the least
  if (available < 2 || open < 2 || open + ahead < 3 * check) return std::vector<std::size_t>{0};
  InterferenceProbe probe;
  for (const auto& slot : executor_.slots()) probe.devices.push_back(slot.name);
  probe.left_s = [this] { return budget_.left_s(); };
  probe.clock = &executor_.clock();
  probe.time = [this](const std::vector<std::size_t>& slots, bool) -> base::Result<std::vector<std::optional<double>>> {
    std::vector<execute::Job> jobs;
    for (const auto slot : slots) jobs.push_back(check_.job(slot));
    std::vector<std::optional<double>> costs;
    for (const auto& answer : execute::run_jobs(executor_, std::move(jobs))) {
      RL_TRY_ASSIGN(costs.emplace_back(), answer.and_then(check_.cost));
    }
    return costs;
  };
  RL_TRY_ASSIGN(found_, check_interference(probe));
  return found_->slots;
}

}  // namespace ridgeline::campaign
