// SPDX-License-Identifier: Apache-2.0
#include "report/busy_share.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/messages.hpp"

namespace ridgeline::report {

schema::Message busy_of(const schema::BenchRun& run) {
  std::int64_t by_gpm = 0;
  std::int64_t by_nvml = 0;
  double higher = 0;
  schema::Message reason;
  for (const auto& trial : run.trials) {
    const auto& measured = trial.outcome.measurement;
    if (!measured) continue;
    for (const auto& flag : measured->flags) {
      if (flag.code == "gpu_busy_gpm") {
        ++by_gpm;
        higher += measured->resources.gpu_util.value_or(*measured->resources.gpu_busy) - *measured->resources.gpu_busy;
      } else if (flag.code == "gpu_busy_nvml") {
        ++by_nvml;
        reason = flag.message;
      }
    }
  }
  if (by_gpm == 0 && by_nvml == 0) return {};
  messages::BenchBusy found{.why = reason};
  if (by_gpm > 0) {
    found.gpm = by_gpm;
    found.higher = higher / static_cast<double>(by_gpm) * 100;
  }
  if (by_nvml > 0) found.nvml = by_nvml;
  return messages::bench_busy(found);
}

bool shows_nvml_beside(const schema::BenchRun& run) {
  return std::any_of(run.trials.begin(), run.trials.end(), [](const auto& trial) {
    const auto& measured = trial.outcome.measurement;
    return measured && measured->resources.gpu_busy && measured->resources.gpu_util;
  });
}

std::string nvml_cell(const schema::BenchTrial& trial) {
  const auto& measured = trial.outcome.measurement;
  if (!measured || !measured->resources.gpu_util) return std::string(kAbsent);
  return fmt::format("{:.0f}", *measured->resources.gpu_util * 100);
}

}  // namespace ridgeline::report
