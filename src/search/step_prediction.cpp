// SPDX-License-Identifier: Apache-2.0
#include "search/step_prediction.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::search {
namespace {

using schema::DataMode;

/// How alike two settings are, in steps of a doubling of batch or workers.
double distance(const schema::TrainingSettings& a, const schema::TrainingSettings& b) {
  const double batches = std::abs(std::log2(static_cast<double>(a.batch) / static_cast<double>(b.batch)));
  const double workers = std::abs(std::log2((a.workers + 1.0) / (b.workers + 1.0)));
  return batches + 2 * workers + (a.amp != b.amp ? 1 : 0) + (a.pin_memory != b.pin_memory ? 1 : 0);
}

}  // namespace

void StepPrediction::observe(const BenchProposal& proposal, const BenchObservation& observation) {
  if (!observation.ok() || observation.samples_per_s <= 0) return;
  const auto& settings = proposal.settings;
  const auto batch = static_cast<double>(settings.batch);
  const double wall_ms = batch / observation.samples_per_s * 1000;
  switch (proposal.data) {
    case DataMode::device: compute_[{settings.amp, settings.batch}] = {wall_ms, observation.memory_gb}; break;
    case DataMode::loader_only: load_us_[settings.workers] = wall_ms * 1000 / batch; break;
    case DataMode::host: copy_us_[settings.pin_memory] = observation.phases.h2d_ms * 1000 / batch; break;
    case DataMode::loader:
      if (const auto plain = plain_ms(settings)) ratios_.emplace_back(settings, wall_ms / *plain);
      break;
  }
}

double StepPrediction::copy_ms(const schema::TrainingSettings& settings) const {
  const auto known = copy_us_.find(settings.pin_memory);
  const double us = known != copy_us_.end() ? known->second : copy_us_.empty() ? 0 : copy_us_.begin()->second;
  return us * static_cast<double>(settings.batch) / 1000;
}

double StepPrediction::load_ms(const schema::TrainingSettings& settings) const {
  if (load_us_.empty()) return 0;
  // Workers that were not measured do no worse than fewer did.
  auto known = load_us_.upper_bound(settings.workers);
  if (known != load_us_.begin()) --known;
  return known->second * static_cast<double>(settings.batch) / 1000;
}

std::optional<double> StepPrediction::plain_ms(const schema::TrainingSettings& settings) const {
  const auto compute = compute_.find({settings.amp, settings.batch});
  if (compute == compute_.end()) return std::nullopt;
  const double busy = compute->second.wall_ms + copy_ms(settings);
  const double load = load_ms(settings);
  return settings.workers == 0 ? busy + load : std::max(busy, load);
}

double StepPrediction::correction(const schema::TrainingSettings& settings) const {
  double weights = 0;
  double logs = 0;
  for (const auto& [known, ratio] : ratios_) {
    const double weight = std::exp(-2 * distance(settings, known));
    weights += weight;
    logs += weight * std::log(ratio);
  }
  // Far from every joint trial there is nothing to correct by: the plain time counts as one trial at distance 2.
  constexpr double kPrior = 0.018;
  return weights > 0 ? std::exp(logs / (weights + kPrior)) : 1;
}

std::optional<double> StepPrediction::samples_per_s(const schema::TrainingSettings& settings) const {
  const auto plain = plain_ms(settings);
  if (!plain) return std::nullopt;
  return static_cast<double>(settings.batch) / (*plain * correction(settings)) * 1000;
}

std::optional<double> StepPrediction::memory_gb(const schema::TrainingSettings& settings) const {
  const auto compute = compute_.find({settings.amp, settings.batch});
  return compute == compute_.end() ? std::nullopt : compute->second.memory_gb;
}

std::optional<double> StepPrediction::mean_error() const {
  if (ratios_.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [settings, ratio] : ratios_) sum += std::abs(ratio - 1);
  return sum / static_cast<double>(ratios_.size());
}

}  // namespace ridgeline::search
