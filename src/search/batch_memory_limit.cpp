// SPDX-License-Identifier: Apache-2.0
#include "search/batch_memory_limit.hpp"

#include <algorithm>
#include <cmath>

#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

constexpr std::int64_t kUnit = 8;  ///< batches that tensor cores like; single steps below kFine
constexpr std::int64_t kFine = 32;
constexpr std::int64_t kNearEnough = 16;  ///< the gap is closed at a sixteenth of the batch

std::int64_t rounded(std::int64_t batch, std::int64_t low, std::int64_t high) {
  if (high <= kFine) return batch;
  const auto down = batch / kUnit * kUnit;
  return down > low ? down : batch;
}

}  // namespace

bool BatchMemoryLimit::within_headroom(const Known& known, const std::optional<double>& memory_gb) const {
  return !memory_gb || !known.capacity_gb || *memory_gb <= (1 - headroom_) * *known.capacity_gb;
}

void BatchMemoryLimit::observe(const BenchProposal& proposal, const BenchObservation& observation) {
  auto& known = known_[proposal.settings.amp];
  const auto batch = proposal.settings.batch;
  if (observation.status == schema::TrialStatus::invalid)
    known.refused = std::min(known.refused.value_or(batch), batch);
  if (proposal.data == schema::DataMode::loader_only) return;
  if (observation.status == schema::TrialStatus::out_of_memory) {
    if (known.failed && *known.failed <= batch) return;
    known.failed = batch;
    known.failed_workers = proposal.data == schema::DataMode::loader ? proposal.settings.workers : 0;
  } else if (observation.ok()) {
    if (observation.capacity_gb) known.capacity_gb = observation.capacity_gb;
    auto& memory = known.fits[batch];
    if (observation.memory_gb) memory = std::max(memory.value_or(0), *observation.memory_gb);
  }
}

std::optional<schema::Message> BatchMemoryLimit::too_large(const schema::TrainingSettings& settings) const {
  const auto found = known_.find(settings.amp);
  if (found == known_.end()) return std::nullopt;
  if (const auto& refused = found->second.refused; refused && settings.batch >= *refused)
    return messages::bench_batch_unfit({.batch = *refused, .refused = true});
  if (!found->second.failed || settings.batch < *found->second.failed) return std::nullopt;
  if (on_cpu_ && settings.workers < found->second.failed_workers) return std::nullopt;
  return messages::bench_batch_unfit({.batch = *found->second.failed, .refused = false});
}

std::optional<std::int64_t> BatchMemoryLimit::next_batch(schema::AmpMode amp) const {
  const auto found = known_.find(amp);
  if (found == known_.end()) return std::nullopt;
  const auto& known = found->second;
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high = known.failed;
  for (const auto& [batch, memory] : known.fits) {
    if (high && batch >= *high) break;
    if (within_headroom(known, memory))
      low = batch;
    else
      high = batch;
  }
  if (!low || !high) return std::nullopt;
  const auto gap = *high - *low;
  if (gap <= 1 || gap <= *low / kNearEnough) return std::nullopt;
  if (*high > kFine && gap <= kUnit) return std::nullopt;
  // Memory grows by a fixed amount a sample: two batches predict where it ends. Halving is for when they do not.
  std::int64_t next = *low + gap / 2;
  const auto last = known.fits.find(*low);
  if (last != known.fits.begin() && last->second && known.capacity_gb) {
    const auto before = std::prev(last);
    if (before->second && *last->second > *before->second) {
      const double per_sample = (*last->second - *before->second) / static_cast<double>(last->first - before->first);
      const double room = (1 - headroom_) * *known.capacity_gb - *last->second;
      const auto predicted = *low + static_cast<std::int64_t>(std::floor(room / per_sample * 0.98));
      if (predicted > *low && predicted < *high) next = predicted;
    }
  }
  next = rounded(next, *low, *high);
  if (next <= *low || next >= *high || next >= known.refused.value_or(*high)) return std::nullopt;
  // A predicted batch too near to what is known would close the gap one sample at a time.
  if (next - *low <= *low / kNearEnough && *high - next > *low / kNearEnough) return std::nullopt;
  return next;
}

}  // namespace ridgeline::search
