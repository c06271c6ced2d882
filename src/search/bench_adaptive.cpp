// SPDX-License-Identifier: Apache-2.0
#include "search/bench_adaptive.hpp"

#include <algorithm>
#include <deque>

#include "search/bench_grid.hpp"
#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

using schema::AmpMode;
using schema::BenchStage;
using schema::DataMode;
using schema::TrainingSettings;

constexpr double kTolerance = 0.03;     ///< of the recommendation
constexpr double kWorthTrying = 0.985;  ///< of the best measured: predicted below it, a combination is no candidate
constexpr double kCurvesShare = 0.6;
constexpr std::size_t kMostConfirmations = 14;
constexpr std::size_t kMostFrugal = 4;  ///< trials for the frugal answers

/// The middle, then the middles of the upper and the lower half, and so on: wherever it is cut, what came lies all over
/// the range, the larger (the faster, until memory ends) first.
std::vector<std::int64_t> halving_order(const std::vector<std::int64_t>& ascending) {
  std::vector<std::int64_t> order;
  std::deque<std::pair<std::size_t, std::size_t>> parts{{0, ascending.size()}};
  while (!parts.empty()) {
    const auto [from, to] = parts.front();
    parts.pop_front();
    if (from >= to) continue;
    const auto middle = from + (to - from) / 2;
    order.push_back(ascending[middle]);
    parts.emplace_back(middle + 1, to);
    parts.emplace_back(from, middle);
  }
  return order;
}

}  // namespace

BenchAdaptive::BenchAdaptive(schema::TrainingSpace space, BenchSearchOptions options)
    : space_(std::move(space)),
      options_(std::move(options)),
      memory_limit_(options_.headroom, options_.on_cpu),
      prediction_(options_.time_s > 0),
      in_budgeted_search_(options_.time_s > 0) {
  if (in_budgeted_search_) budgeted_search_.emplace(space_, options_);
  for (const auto amp : space_.amps) batches_[amp] = {space_.batches.begin(), space_.batches.end()};
}

std::optional<BenchProposal> BenchAdaptive::fresh(BenchProposal proposal) {
  if (!proposed_.insert({proposal.data, proposal.settings}).second) return std::nullopt;
  return proposal;
}

void BenchAdaptive::spent(double share) {
  spent_ = share;
  if (budgeted_search_) budgeted_search_->spent(share);
  if (share >= 1) skip_untried();
}

bool BenchAdaptive::affordable(const TrainingSettings& settings, DataMode data) const {
  return !budgeted_search_ || budgeted_search_->cost_s(settings, data) <= budgeted_search_->left_s();
}

std::int64_t BenchAdaptive::middle_batch() const {
  std::vector<std::int64_t> fitting;
  for (const auto& [amp, batches] : batches_)
    for (const auto batch : batches)
      if (prediction_.memory_gb({batch, 0, amp, false}) || prediction_.samples_per_s({batch, 0, amp, false}))
        fitting.push_back(batch);
  if (fitting.empty()) return space_.batches.front();
  std::sort(fitting.begin(), fitting.end());
  return fitting[fitting.size() / 2];
}

std::optional<BenchProposal> BenchAdaptive::compute_point(double until) {
  if (computed_ && spent_ > until) return std::nullopt;
  // Precisions in turn, so that all have been seen when time is short.
  std::set<std::int64_t> sizes;
  for (const auto& [amp, batches] : batches_) sizes.insert(batches.begin(), batches.end());
  for (const auto batch : budgeted_search_ ? halving_order({sizes.begin(), sizes.end()})
                                           : std::vector<std::int64_t>(sizes.begin(), sizes.end()))
    for (auto& [amp, batches] : batches_) {
      const TrainingSettings settings{batch, 0, amp, false};
      if (batches.count(batch) == 0 || proposed_.count({DataMode::device, settings}) != 0) continue;
      if (!affordable(settings, DataMode::device)) continue;
      if (const auto reason = memory_limit_.too_large(settings)) {
        if (over_limit_.insert({amp, batch}).second) skipped_.push_back({settings, *reason});
        continue;
      }
      return fresh({settings, DataMode::device, BenchStage::compute, messages::bench_compute_curve()});
    }
  for (auto& [amp, batches] : batches_)
    if (const auto batch = memory_limit_.next_batch(amp)) {
      batches.insert(*batch);
      return fresh({{*batch, 0, amp, false}, DataMode::device, BenchStage::bisect, messages::bench_between_batches()});
    }
  return std::nullopt;
}

void BenchAdaptive::skip_untried() {
  for (const auto& [amp, batches] : batches_)
    for (const auto batch : batches) {
      const TrainingSettings settings{batch, 0, amp, false};
      if (proposed_.count({DataMode::device, settings}) != 0 || memory_limit_.too_large(settings)) continue;
      if (over_limit_.insert({amp, batch}).second) skipped_.push_back({settings, messages::bench_no_time()});
    }
}

std::optional<BenchProposal> BenchAdaptive::loader_point(double until) {
  if (!options_.loads) return std::nullopt;
  const auto known = [&](int workers) {
    return std::any_of(proposed_.begin(), proposed_.end(), [&](const Key& key) {
      return key.first == DataMode::loader_only && key.second.workers == workers;
    });
  };
  // The most first: it takes least, and says whether loading matters at all.
  const std::vector<int> order(space_.workers.rbegin(), space_.workers.rend());
  const bool any = std::any_of(order.begin(), order.end(), known);
  if ((any || !measured_.empty()) && spent_ > until) return std::nullopt;
  for (const int workers : order)
    if (!known(workers))
      return fresh({{middle_batch(), workers, space_.amps.front(), space_.pins.front()},
                    DataMode::loader_only,
                    BenchStage::loading,
                    messages::bench_loader_curve()});
  return std::nullopt;
}

std::optional<BenchProposal> BenchAdaptive::copy_point(double until) {
  if (options_.on_cpu || spent_ > until) return std::nullopt;
  for (const bool pin : space_.pins) {
    const bool known = std::any_of(proposed_.begin(), proposed_.end(), [&](const Key& key) {
      return key.first == DataMode::host && key.second.pin_memory == pin;
    });
    if (!known)
      return fresh({{middle_batch(), 0, space_.amps.front(), pin},
                    DataMode::host,
                    BenchStage::loading,
                    messages::bench_copies()});
  }
  return std::nullopt;
}

std::vector<TrainingSettings> BenchAdaptive::candidates() const {
  std::vector<TrainingSettings> out;
  for (const auto& [amp, batches] : batches_)
    for (const auto batch : batches)
      for (const int workers : space_.workers)
        for (const bool pin : space_.pins) {
          const TrainingSettings settings{batch, workers, amp, pin};
          if (memory_limit_.too_large(settings) || !prediction_.samples_per_s(settings)) continue;
          if (measured_.count(settings) != 0 || affordable(settings, DataMode::loader)) out.push_back(settings);
        }
  return out;
}

double BenchAdaptive::measured_best() const {
  double best = 0;
  for (const auto& [settings, rate] : measured_) best = std::max(best, rate);
  return best;
}

std::optional<BenchProposal> BenchAdaptive::fastest_point() {
  if (confirmed_ >= kMostConfirmations) return std::nullopt;
  const TrainingSettings* best = nullptr;
  double best_rate = 0;
  const auto all = candidates();
  for (const auto& settings : all) {
    if (measured_.count(settings) != 0) continue;
    const double rate = *prediction_.samples_per_s(settings);
    if (best == nullptr || rate > best_rate * 1.001) {
      best = &settings;
      best_rate = rate;
    }
  }
  if (best == nullptr) return std::nullopt;
  // The first few are measured whatever is predicted: they correct what the curves cannot know.
  constexpr std::size_t kLeast = 3;
  if (confirmed_ >= kLeast && best_rate < measured_best() * kWorthMeasuring) return std::nullopt;
  return BenchProposal{*best, DataMode::loader, BenchStage::confirm,
                       messages::bench_predicted_fastest({.limited = false, .rate = best_rate})};
}

std::optional<BenchProposal> BenchAdaptive::frugal_point() {
  if (confirmed_ >= kMostConfirmations + kMostFrugal) return std::nullopt;
  const double floor = (1 - kTolerance) * measured_best() / kWorthTrying;
  const TrainingSettings* frugal = nullptr;
  const TrainingSettings* efficient = nullptr;
  double best_yield = 0;
  const auto all = candidates();
  const auto less = [&](const TrainingSettings& a, const TrainingSettings& b) {
    const double memory_a = prediction_.memory_gb(a).value_or(0);
    const double memory_b = prediction_.memory_gb(b).value_or(0);
    if (memory_a < memory_b * 0.99 || memory_b < memory_a * 0.99) return memory_a < memory_b;
    return a.workers < b.workers;
  };
  for (const auto& settings : all) {
    const auto known = measured_.find(settings);
    const double rate = known != measured_.end() ? known->second : *prediction_.samples_per_s(settings);
    const double least = known != measured_.end() ? floor * kWorthTrying : floor;
    if (rate >= least && (frugal == nullptr || less(settings, *frugal))) frugal = &settings;
    const auto memory = prediction_.memory_gb(settings);
    if (memory && *memory > 0 && rate / *memory > best_yield) {
      best_yield = rate / *memory;
      efficient = &settings;
    }
  }
  if (frugal != nullptr && measured_.count(*frugal) == 0)
    return BenchProposal{*frugal, DataMode::loader, BenchStage::confirm, messages::bench_predicted_frugal()};
  if (efficient != nullptr && measured_.count(*efficient) == 0)
    return BenchProposal{*efficient, DataMode::loader, BenchStage::confirm, messages::bench_predicted_efficient()};
  return std::nullopt;
}

std::optional<BenchProposal> BenchAdaptive::joint_point() {
  if (auto fastest = fastest_point()) return fresh(std::move(*fastest));
  if (auto frugal = frugal_point()) return fresh(std::move(*frugal));
  return std::nullopt;
}

std::optional<BenchProposal> BenchAdaptive::propose() {
  if (grid_) return grid_->propose();
  if (options_.current && proposed_.count({DataMode::loader, *options_.current}) == 0)
    return fresh({*options_.current, DataMode::loader, BenchStage::sweep, messages::bench_current()});
  if (in_budgeted_search_) {
    auto next = budgeted_search_->propose();
    if (next && proposed_.count({next->data, next->settings}) == 0) return fresh(std::move(*next));
    in_budgeted_search_ = false;
  }
  if (auto point = compute_point(kComputeShare)) return point;
  if (!computed_) {
    auto options = options_;
    options.current.reset();
    grid_ = std::make_unique<BenchGrid>(space_, options);
    return grid_->propose();
  }
  if (auto point = loader_point(kCurvesShare)) return point;
  if (auto point = copy_point(kCurvesShare)) return point;
  if (auto point = joint_point()) return point;
  // What the curves did without for the sake of the joint trials, with the time that those left.
  if (auto point = compute_point(1)) return point;
  if (auto point = loader_point(1)) return point;
  if (auto point = copy_point(1)) return point;
  skip_untried();
  return std::nullopt;
}

void BenchAdaptive::observe(const BenchProposal& proposal, const BenchObservation& observation) {
  if (grid_) return grid_->observe(proposal, observation);
  memory_limit_.observe(proposal, observation);
  prediction_.observe(proposal, observation);
  if (budgeted_search_) budgeted_search_->observe(proposal, observation);
  if (proposal.data == DataMode::device && observation.ok()) computed_ = true;
  if (proposal.data != DataMode::loader) return;
  measured_[proposal.settings] = observation.ok() ? observation.samples_per_s : 0;
  if (proposal.stage == BenchStage::confirm) ++confirmed_;
}

std::size_t BenchAdaptive::remaining() const {
  if (grid_) return grid_->remaining();
  std::size_t left = 0;
  for (const auto& [amp, batches] : batches_)
    for (const auto batch : batches) {
      const TrainingSettings settings{batch, 0, amp, false};
      if (proposed_.count({DataMode::device, settings}) == 0 && !memory_limit_.too_large(settings)) ++left;
    }
  const auto count = [&](DataMode data) {
    return static_cast<std::size_t>(
        std::count_if(proposed_.begin(), proposed_.end(), [&](const Key& key) { return key.first == data; }));
  };
  if (options_.loads) left += space_.workers.size() - std::min(space_.workers.size(), count(DataMode::loader_only));
  if (!options_.on_cpu) left += space_.pins.size() - std::min(space_.pins.size(), count(DataMode::host));
  constexpr std::size_t kUsual = 6;
  return left + (confirmed_ < kUsual ? kUsual - confirmed_ : 1);
}

const std::vector<schema::SkippedSettings>& BenchAdaptive::skipped() const {
  return grid_ ? grid_->skipped() : skipped_;
}

}  // namespace ridgeline::search
