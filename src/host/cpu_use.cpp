// SPDX-License-Identifier: Apache-2.0
#include "host/cpu_use.hpp"

namespace ridgeline::host {

std::optional<double> CpuUse::busy_percent() {
  constexpr std::uint64_t kLeastTicks = 10;  // of a hundred a second and CPU
  const auto times = read_cpu_times(files_);
  if (!times) return std::nullopt;
  cpus_ = static_cast<int>(times->cpus.size());
  const auto before = before_;
  const auto& now = times->all;
  if (before && now.total() < before->total() + kLeastTicks) return std::nullopt;
  before_ = now;
  if (!before) return std::nullopt;
  const auto busy = now.busy > before->busy ? now.busy - before->busy : 0;
  return 100.0 * static_cast<double>(busy) / static_cast<double>(now.total() - before->total());
}

}  // namespace ridgeline::host
