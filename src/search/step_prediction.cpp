// SPDX-License-Identifier: Apache-2.0
#include "search/step_prediction.hpp"
#include "stats/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace ridgeline::search {
namespace {

using schema::AmpMode;
using schema::DataMode;

constexpr double kWaits = 0.05;  ///< share of a step from which on its wait for data says how fast the loader is

/// How alike two settings are, in steps of a doubling of batch or workers.
double distance(const schema::TrainingSettings& a, const schema::TrainingSettings& b) {
  const double batches = std::abs(std::log2(static_cast<double>(a.batch) / static_cast<double>(b.batch)));
  const double workers = std::abs(std::log2((a.workers + 1.0) / (b.workers + 1.0)));
  return batches + 2 * workers + (a.amp != b.amp ? 1 : 0) + (a.pin_memory != b.pin_memory ? 1 : 0);
}

/// The value at `batch` on the line through two points.
double on_line(std::int64_t batch, std::pair<std::int64_t, double> a, std::pair<std::int64_t, double> b) {
  const double slope = (b.second - a.second) / static_cast<double>(b.first - a.first);
  return a.second + slope * static_cast<double>(batch - a.first);
}

double ratio_of(std::int64_t batch, std::int64_t to) { return static_cast<double>(batch) / static_cast<double>(to); }

/// A step's time at a batch, through the points of its curve: straight between them and onward by the last two; below
/// the first shorter by the root of the ratio at most, as small batches leave a device idle. One point alone promises
/// nothing beyond itself.
double time_at(std::int64_t batch, const std::map<std::int64_t, double>& curve) {
  const auto above = curve.lower_bound(batch);
  if (above != curve.end() && above->first == batch) return above->second;
  if (above == curve.begin()) {
    if (curve.size() == 1) return above->second;
    return std::clamp(on_line(batch, *above, *std::next(above)),
                      above->second * std::sqrt(ratio_of(batch, above->first)), above->second);
  }
  const auto below = std::prev(above);
  if (above != curve.end()) return on_line(batch, *below, *above);
  if (curve.size() == 1) return below->second * ratio_of(batch, below->first);
  return std::clamp(on_line(batch, *std::prev(below), *below), below->second,
                    below->second * ratio_of(batch, below->first));
}

}  // namespace

void StepPrediction::observe(const BenchProposal& proposal, const BenchObservation& observation) {
  if (!observation.ok() || observation.samples_per_s <= 0) return;
  const auto& settings = proposal.settings;
  const auto batch = static_cast<double>(settings.batch);
  const double wall_ms = batch / observation.samples_per_s * 1000;
  switch (proposal.data) {
    case DataMode::device: compute_[settings.amp][settings.batch] = {wall_ms, observation.memory_gb}; break;
    case DataMode::loader_only: load_us_[settings.workers] = wall_ms * 1000 / batch; break;
    case DataMode::host: copy_us_[settings.pin_memory] = observation.phases.h2d_ms * 1000 / batch; break;
    case DataMode::loader:
      learn_from_joint(settings, observation, wall_ms);
      joint_.push_back({settings, wall_ms});
      break;
  }
}

void StepPrediction::learn_from_joint(const schema::TrainingSettings& settings, const BenchObservation& observation,
                                      double wall_ms) {
  const auto batch = static_cast<double>(settings.batch);
  const auto& phases = observation.phases;
  const double own_ms = phases.forward_ms + phases.backward_ms + phases.optimizer_ms + phases.rest_ms;
  if (const auto alone = compute_ms(settings); alone && *alone > 0 && own_ms > 0)
    crowding_[settings.workers].push_back(own_ms / *alone);
  // In a step that hardly waits the loader keeps up, whatever it did by itself.
  const bool waits = phases.io_wait_ms >= kWaits * wall_ms;
  if (const auto known = load_us_.find(settings.workers); known != load_us_.end() && settings.workers > 0 && !waits)
    known->second = std::min(known->second, wall_ms * 1000 / batch);
  if (!gaps_) return;
  copy_us_.emplace(settings.pin_memory, phases.h2d_ms * 1000 / batch);
  if (!waits) return;
  const double load_ms = settings.workers == 0 ? phases.io_wait_ms : wall_ms;
  load_us_.emplace(settings.workers, load_ms * 1000 / batch);
}

/// The precision's own points, and those of another one in the ratio of the two where both are known.
std::map<std::int64_t, double> StepPrediction::whole_curve(AmpMode amp) const {
  std::map<std::int64_t, double> out;
  const auto own = compute_.find(amp);
  if (own != compute_.end())
    for (const auto& [batch, point] : own->second) out.emplace(batch, point.wall_ms);
  for (const auto& [other, curve] : compute_) {
    if (other == amp) continue;
    double ratio = 1;
    if (own != compute_.end())
      for (const auto& [batch, point] : curve)  // the largest batch in common: the device is busiest there
        if (const auto same = own->second.find(batch); same != own->second.end())
          ratio = same->second.wall_ms / point.wall_ms;
    for (const auto& [batch, point] : curve) out.emplace(batch, point.wall_ms * ratio);
  }
  return out;
}

std::optional<double> StepPrediction::compute_ms(const schema::TrainingSettings& settings) const {
  const auto curve = compute_.find(settings.amp);
  if (curve != compute_.end())
    if (const auto point = curve->second.find(settings.batch); point != curve->second.end())
      return point->second.wall_ms;
  if (!gaps_ || compute_.empty()) return std::nullopt;
  return time_at(settings.batch, whole_curve(settings.amp));
}

double StepPrediction::copy_ms(const schema::TrainingSettings& settings) const {
  const auto known = copy_us_.find(settings.pin_memory);
  const double us = known != copy_us_.end() ? known->second : copy_us_.empty() ? 0 : copy_us_.begin()->second;
  return us * static_cast<double>(settings.batch) / 1000;
}

double StepPrediction::load_ms(const schema::TrainingSettings& settings) const {
  if (load_us_.empty()) return 0;
  const auto batch = static_cast<double>(settings.batch) / 1000;
  const auto known = load_us_.find(settings.workers);
  if (known != load_us_.end()) return known->second * batch;
  // Workers that were not measured: fewer than any load in proportion; more do no worse than fewer did, and in a search
  // across gaps are thought to do better in proportion, so that they are tried.
  const auto more = load_us_.upper_bound(settings.workers);
  if (more == load_us_.begin()) return more->second * more->first / std::max(1, settings.workers) * batch;
  const auto fewer = std::prev(more);
  if (!gaps_) return fewer->second * batch;
  const double scaled = fewer->second * std::max(1, fewer->first) / settings.workers;
  return (more == load_us_.end() ? scaled : std::max(scaled, more->second)) * batch;
}

/// Workers take cores from the training thread: hardly at first, then ever more.
double StepPrediction::crowding(int workers) const {
  const auto known = crowding_.find(workers);
  if (known != crowding_.end()) return stats::median(known->second);
  const auto more = crowding_.upper_bound(workers);
  const double fewer = more == crowding_.begin() ? 1 : stats::median(std::prev(more)->second);
  if (more == crowding_.end()) return fewer;
  const double share = static_cast<double>(workers) / more->first;
  return std::max(fewer, 1 + (stats::median(more->second) - 1) * share * share);
}

std::optional<double> StepPrediction::plain_ms(const schema::TrainingSettings& settings) const {
  const auto compute = compute_ms(settings);
  if (!compute) return std::nullopt;
  const double busy = *compute * crowding(settings.workers) + copy_ms(settings);
  const double load = load_ms(settings);
  return settings.workers == 0 ? busy + load : std::max(busy, load);
}

double StepPrediction::correction(const schema::TrainingSettings& settings) const {
  double weights = 0;
  double logs = 0;
  for (const auto& joint : joint_) {
    const auto plain = plain_ms(joint.settings);
    if (!plain) continue;
    const double weight = std::exp(-2 * distance(settings, joint.settings));
    weights += weight;
    logs += weight * std::log(joint.wall_ms / *plain);
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
  const auto curve = compute_.find(settings.amp);
  if (curve == compute_.end()) return std::nullopt;
  const auto& points = curve->second;
  if (const auto point = points.find(settings.batch); point != points.end()) return point->second.memory_gb;
  if (!gaps_) return std::nullopt;
  std::map<std::int64_t, double> known;
  for (const auto& [batch, point] : points)
    if (point.memory_gb) known.emplace(batch, *point.memory_gb);
  if (known.empty()) return std::nullopt;
  return time_at(settings.batch, known);
}

}  // namespace ridgeline::search
