// SPDX-License-Identifier: Apache-2.0
#include "step_cost.hpp"

#include <algorithm>
#include <cstdlib>

namespace ridgeline::inject {
namespace {

bool is_recorded(std::size_t block) { return block % 2 == 1; }

std::int64_t median(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

bool StepCost::step_begins(std::int64_t now_ns) {
  if (begun_ > kBlocks * kSteps) return false;
  if (begun_ > 0 && (begun_ - 1) % kSteps != 0) durations_[(begun_ - 1) / kSteps].push_back(now_ns - last_ns_);
  last_ns_ = now_ns;
  const auto block = begun_++ / kSteps;
  return block < kBlocks && is_recorded(block);
}

std::optional<StepCost::Result> StepCost::result() const {
  if (begun_ <= kBlocks * kSteps) return std::nullopt;
  std::array<std::vector<std::int64_t>, 2> all;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    auto& kind = all[is_recorded(block) ? 1 : 0];
    kind.insert(kind.end(), durations_[block].begin(), durations_[block].end());
  }
  Result out{median(all[0]), median(all[1]), 0};
  for (std::size_t block = 0; block < kBlocks; ++block)
    out.spread_ns = std::max<std::int64_t>(
        out.spread_ns, std::abs(median(durations_[block]) - (is_recorded(block) ? out.with_ns : out.without_ns)));
  return out;
}

}  // namespace ridgeline::inject
