// SPDX-License-Identifier: Apache-2.0
#include "search/budgeted_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

using schema::AmpMode;
using schema::BenchStage;
using schema::DataMode;
using schema::TrainingSettings;

constexpr double kTrialShare = 0.4;      ///< of the time that is left: the most for a trial while others have to follow
constexpr double kMemoryShare = 0.92;    ///< of the device's: what is predicted above it is not tried
constexpr double kNearlyAsGood = 0.985;  ///< of the best predicted: the one that takes least time is measured
constexpr double kStillGrows = 1.02;     ///< of a batch over the one before: larger ones may be faster yet
constexpr std::int64_t kFar = 16;        ///< times the batch, from one point of the curve to the next
constexpr double kAsFast = 0.9;
constexpr double kIdleAtFirst = 1.5;  ///< times the samples/s of the first batch: it did not fill the device
constexpr std::int64_t kBackOff = 4;  ///< times smaller, where a batch failed
constexpr std::int64_t kLoaderBatch = 16;
constexpr double kSecondLookShare = 0.05;  ///< of the time: at most, for a loader that was seen before
constexpr double kShortBatchS =
    0.002;  ///< a batch that is there sooner says more of handing it over than of its samples
constexpr double kCrowded = 1.15;
constexpr double kLittle =
    0.03;  ///< of the time: trials that take no more than that beside the shortest are all as cheap
constexpr double kForProbe = 8;     ///< trials that there has to be time for, to make one that is no candidate
constexpr double kAtAnyCost = 1.5;  ///< times the cheapest trial, where nothing was measured and no time is left
constexpr int kPrefetched = 2;      ///< batches that a worker has ready
constexpr int kLeastJoint = 3;
constexpr int kMostJoint = 14;

}  // namespace

BudgetedSearch::BudgetedSearch(const schema::TrainingSpace& space, const BenchSearchOptions& options)
    : space_(space), options_(options), memory_limit_(options.headroom, options.on_cpu) {}

void BudgetedSearch::observe(const BenchProposal& proposal, const BenchObservation& observation) {
  const auto& settings = proposal.settings;
  seen_.insert({proposal.data, settings});
  memory_limit_.observe(proposal, observation);
  prediction_.observe(proposal, observation);
  if (!observation.ok() && proposal.data == DataMode::device) failed_[settings.amp] = settings.batch;
  if (!observation.ok() || observation.samples_per_s <= 0) return;
  if (observation.capacity_gb) capacity_gb_ = observation.capacity_gb;
  if (proposal.data == DataMode::device) rates_[settings.amp][settings.batch] = observation.samples_per_s;
  if (proposal.data == DataMode::loader_only) loading_[settings.workers] = {settings.batch, observation.samples_per_s};
  if (proposal.data == DataMode::loader) {
    ++joint_;
    best_ = std::max(best_, observation.samples_per_s);
  }
  const double step_s = static_cast<double>(settings.batch) / observation.samples_per_s;
  const double steps_s = step_s * static_cast<double>(observation.steps);
  overheads_s_.push_back(std::max(0.0, observation.duration_s - steps_s));
}

double BudgetedSearch::warm_up_s(const TrainingSettings& settings, DataMode data) const {
  const auto rate = prediction_.samples_per_s(settings).value_or(0);
  if (rate <= 0) return 0;
  // As measure_training has it: until what the workers had ready is used up.
  const int workers = data == DataMode::loader || data == DataMode::loader_only ? settings.workers : 0;
  const auto steps = std::max<std::int64_t>(options_.plan.warmup_steps, std::int64_t{3} * workers);
  return static_cast<double>(steps) * static_cast<double>(settings.batch) / rate;
}

double BudgetedSearch::cost_s(const TrainingSettings& settings, DataMode data) const {
  const double overhead_s =
      overheads_s_.empty() ? 0
                           : *std::max_element(overheads_s_.begin(), overheads_s_.end()) / 2 + overheads_s_.back() / 2;
  const auto rate = prediction_.samples_per_s(settings).value_or(0);
  if (rate <= 0) return overhead_s;
  const double step_s = static_cast<double>(settings.batch) / rate;
  const auto& plan = options_.plan;
  const auto least = static_cast<double>(plan.warmup_steps) * step_s;
  const double warm_up = std::max(least, std::min(warm_up_s(settings, data), plan.max_warmup_s));
  const double timed = std::max(3 * step_s, std::min(static_cast<double>(plan.steps) * step_s, plan.max_time_s));
  return overhead_s + warm_up + timed;
}

bool BudgetedSearch::fits(const TrainingSettings& settings) const {
  if (memory_limit_.too_large(settings)) return false;
  const auto memory = prediction_.memory_gb(settings);
  return !memory || !capacity_gb_ || *memory <= kMemoryShare * *capacity_gb_;
}

/// Whether warm-up would be cut short before the batches are used up that the workers had ready.
bool BudgetedSearch::times_what_was_ready(const TrainingSettings& settings) const {
  const auto rate = prediction_.samples_per_s(settings).value_or(0);
  if (rate <= 0) return false;
  const double step_s = static_cast<double>(settings.batch) / rate;
  const double steps = std::max(static_cast<double>(options_.plan.warmup_steps), options_.plan.max_warmup_s / step_s);
  return steps < kPrefetched * settings.workers + 1;
}

std::optional<BenchProposal> BudgetedSearch::device_trial(std::int64_t batch, AmpMode amp) const {
  const TrainingSettings settings{batch, 0, amp, false};
  if (known(settings, DataMode::device) || memory_limit_.too_large(settings)) return std::nullopt;
  return BenchProposal{settings, DataMode::device, BenchStage::compute, messages::bench_compute_curve()};
}

AmpMode BudgetedSearch::fastest_amp() const {
  auto best = space_.amps.front();
  double rate = 0;
  for (const auto& [amp, curve] : rates_)
    for (const auto& [batch, known] : curve)
      if (known > rate) {
        rate = known;
        best = amp;
      }
  return best;
}

/// The next batch of the curve: far above the largest while that still got faster, as far as memory and time go.
std::optional<std::int64_t> BudgetedSearch::larger_batch(AmpMode amp) const {
  const auto found = rates_.find(amp);
  if (found == rates_.end()) return std::nullopt;
  const auto& curve = found->second;
  const auto largest = std::prev(curve.end());
  if (curve.size() > 1 && largest->second < std::prev(largest)->second * kStillGrows) return std::nullopt;
  std::optional<std::int64_t> out;
  for (const auto batch : space_.batches) {
    const TrainingSettings settings{batch, 0, amp, false};
    if (batch <= largest->first || batch > kFar * largest->first) continue;
    // One point says only how much memory it takes at most: twice that batch is worth the try.
    if (!fits(settings) && (curve.size() > 1 || batch > 2 * largest->first || memory_limit_.too_large(settings)))
      continue;
    if (cost_s(settings, DataMode::device) > kTrialShare * left_s()) continue;
    out = batch;
  }
  return out;
}

std::optional<BenchProposal> BudgetedSearch::compute_point() const {
  // Every precision at one batch in the middle, or far below it where that failed.
  const auto& batches = space_.batches;
  for (const auto amp : space_.amps) {
    if (rates_.count(amp) != 0) continue;
    if (!rates_.empty() && spent_ > kComputeShare) return std::nullopt;
    const auto failed = failed_.find(amp);
    for (auto place = batches.size() / 2 + 1; place-- > 0;) {
      if (failed != failed_.end() && place > 0 && batches[place] * kBackOff > failed->second) continue;
      if (auto trial = device_trial(batches[place], amp)) return trial;
    }
  }
  if (rates_.empty() || spent_ > kComputeShare) return std::nullopt;
  const auto fastest = fastest_amp();
  const auto& curve = rates_.at(fastest);
  const auto largest = std::prev(curve.end());
  // Where the device waited for launches at the first batch, precisions could not be distinguished there.
  if (largest->second > kIdleAtFirst * curve.begin()->second)
    for (const auto amp : space_.amps)
      if (rates_.count(amp) != 0 && rates_.at(amp).count(largest->first) == 0 &&
          cost_s({largest->first, 0, amp, false}, DataMode::device) <= kTrialShare * left_s())
        if (auto trial = device_trial(largest->first, amp)) return trial;
  if (const auto batch = larger_batch(fastest)) return device_trial(*batch, fastest);
  // Another precision, no slower where both were launch-bound, may hold more in memory.
  for (const auto& [amp, rates] : rates_)
    if (amp != fastest && rates.rbegin()->second > kAsFast * largest->second)
      if (const auto batch = larger_batch(amp)) return device_trial(*batch, amp);
  return std::nullopt;
}

/// The loader by itself, in small batches, which take little time however slow it is; of a fast one in larger ones
/// then.
std::optional<BenchProposal> BudgetedSearch::loader_point() const {
  if (!options_.loads) return std::nullopt;
  const auto& workers = space_.workers;
  auto place = workers.size() * 3 / 4;
  while (place > 0 && crowds_cores(workers[place])) --place;
  // Where workers crowd the step out, half of them may load nearly as fast.
  if (prediction_.crowding(workers[place]) > kCrowded && place > 0) --place;
  auto least = static_cast<double>(kLoaderBatch);
  if (const auto seen = loading_.find(workers[place]); seen != loading_.end())
    if (const auto [size, rate] = seen->second; static_cast<double>(size) < kShortBatchS * rate)
      least = kShortBatchS * rate;
  const auto batch = std::find_if(space_.batches.begin(), space_.batches.end(),
                                  [&](std::int64_t one) { return static_cast<double>(one) >= least; });
  const TrainingSettings settings{batch == space_.batches.end() ? space_.batches.back() : *batch, workers[place],
                                  space_.amps.front(), space_.pins.front()};
  if (known(settings, DataMode::loader_only)) return std::nullopt;
  if (loading_.count(workers[place]) != 0 &&
      cost_s(settings, DataMode::loader_only) > kSecondLookShare * options_.time_s)
    return std::nullopt;
  return BenchProposal{settings, DataMode::loader_only, BenchStage::loading, messages::bench_loader_curve()};
}

std::vector<BudgetedSearch::Candidate> BudgetedSearch::candidates() const {
  std::vector<Candidate> out;
  // Copies from pinned memory are hardly ever slower: the others are left to a longer search.
  const bool pin = space_.pins.back();
  for (const auto amp : space_.amps)
    for (const auto batch : space_.batches)
      for (const int workers : space_.workers) {
        const TrainingSettings settings{batch, workers, amp, pin};
        if (crowds_cores(workers) && workers > space_.workers.front()) continue;
        if (known(settings, DataMode::loader) || !fits(settings) || times_what_was_ready(settings)) continue;
        const auto rate = prediction_.samples_per_s(settings);
        if (rate) out.push_back({settings, *rate, cost_s(settings, DataMode::loader)});
      }
  return out;
}

std::optional<BenchProposal> BudgetedSearch::joint_point() const {
  if (joint_ >= kMostJoint) return std::nullopt;
  auto all = candidates();
  if (all.empty()) return std::nullopt;
  const auto cheapest = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
                          return a.cost_s < b.cost_s;
                        })->cost_s;
  // An answer late is better than none.
  const double limit_s = joint_ == 0 ? std::max(left_s(), kAtAnyCost * cheapest) : left_s();
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& one) { return one.cost_s > limit_s; }), all.end());
  double best = 0;
  // How workers crowd the step is not known before the first: in large batches that can take all the time.
  if (joint_ == 0 && left_s() > kForProbe * cheapest) {
    const auto small = rates_.at(fastest_amp()).begin()->first;
    const auto large = [&](const Candidate& one) { return one.settings.batch > small; };
    if (!std::all_of(all.begin(), all.end(), large))
      all.erase(std::remove_if(all.begin(), all.end(), large), all.end());
  }
  for (const auto& one : all) best = std::max(best, one.rate);
  if (all.empty() || (joint_ >= kLeastJoint && best < best_ * kWorthMeasuring)) return std::nullopt;
  const double little_s = cheapest + kLittle * options_.time_s;
  const auto order = [&](const Candidate& one) { return std::pair(std::max(one.cost_s, little_s), -one.rate); };
  const Candidate* chosen = nullptr;
  for (const auto& one : all)
    if (one.rate >= kNearlyAsGood * best && (chosen == nullptr || order(one) < order(*chosen))) chosen = &one;
  return BenchProposal{chosen->settings, DataMode::loader, BenchStage::confirm,
                       messages::bench_predicted_fastest({.limited = true, .rate = chosen->rate})};
}

std::optional<BenchProposal> BudgetedSearch::propose() {
  if (auto point = compute_point()) return point;
  if (rates_.empty()) return std::nullopt;
  if (auto point = loader_point()) return point;
  return joint_point();
}

}  // namespace ridgeline::search
