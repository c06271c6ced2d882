// SPDX-License-Identifier: Apache-2.0
#include "search/lever_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace ridgeline::search {
namespace {

constexpr double kSame = 0.01;         ///< share of the rate, by which a simpler combination may be slower
constexpr double kHelps = 0.015;       ///< logarithm of a gain, from which a lever helps
constexpr double kNoHarm = -0.02;      ///< likewise, from which it does no harm
constexpr double kWorthATrial = 0.01;  ///< likewise, promised by a combination
constexpr double kMovedLimit = 0.25;   ///< of the best's gain: what a lever may bring once others are on
constexpr double kHarms = -0.04;       ///< logarithm of a loss, from which a lever is not tried again
constexpr double kBroken = 0.02;       ///< a combination's lack of what its levers promise, from which one harms it

}  // namespace

LeverSearch::LeverSearch(std::size_t levers, std::function<bool(std::size_t, std::size_t)> exclude, std::size_t most)
    : levers_(levers), exclude_(std::move(exclude)), most_(most > 0 ? most : 1 + 2 * levers) {}

void LeverSearch::observe(const Combination& combination, std::optional<double> rate) {
  observed_[combination] = rate && *rate > 0 ? rate : std::nullopt;
}

double LeverSearch::log_rate(const Combination& combination) const { return std::log(*observed_.at(combination)); }

LeverSearch::Combination LeverSearch::best() const {
  double fastest = 0;
  for (const auto& [combination, observed] : observed_) fastest = std::max(fastest, observed.value_or(0));
  const std::pair<const Combination, std::optional<double>>* best = nullptr;
  for (const auto& entry : observed_) {
    if (entry.second.value_or(0) < (1 - kSame) * fastest || fastest <= 0) continue;
    const bool fewer = best != nullptr && entry.first.size() < best->first.size();
    const bool faster = best != nullptr && entry.first.size() == best->first.size() && *entry.second > *best->second;
    if (best == nullptr || fewer || faster) best = &entry;
  }
  return best != nullptr ? best->first : Combination();
}

double LeverSearch::effect(std::size_t lever) const {
  std::optional<double> found;
  for (const auto& [with, rate] : observed_) {
    if (!rate || with.count(lever) == 0) continue;
    auto without = with;
    without.erase(lever);
    const auto other = observed_.find(without);
    if (other == observed_.end() || !other->second) continue;
    const double gain = log_rate(with) - log_rate(without);
    found = std::max(found.value_or(gain), gain);
  }
  return found.value_or(0);
}

bool LeverSearch::is_usable(const Combination& combination) const {
  if (observed_.count(combination) != 0) return false;
  for (const auto one : combination) {
    // What cannot be used alone cannot be used with others.
    if (const auto alone = observed_.find({one}); alone != observed_.end() && !alone->second) return false;
    for (const auto other : combination)
      if (one < other && exclude_(one, other)) return false;
  }
  return true;
}

bool LeverSearch::brings_nothing(const Combination& combination) const {
  const double fastest = log_rate(best());
  return std::any_of(observed_.begin(), observed_.end(), [&](const auto& entry) {
    return entry.second && std::abs(std::log(*entry.second) - fastest) < kWorthATrial &&
           std::includes(entry.first.begin(), entry.first.end(), combination.begin(), combination.end());
  });
}

std::optional<LeverSearch::Combination> LeverSearch::first_ones() const {
  if (observed_.count({}) == 0) return Combination{};
  for (std::size_t lever = 0; lever < levers_; ++lever)
    if (observed_.count({lever}) == 0) return Combination{lever};
  return std::nullopt;
}

LeverSearch::Combination LeverSearch::all_from(double least) const {
  std::vector<std::pair<double, std::size_t>> helping;
  for (std::size_t lever = 0; lever < levers_; ++lever)
    if (observed_.at({lever}))
      if (const double gain = log_rate({lever}) - log_rate({}); gain >= least) helping.emplace_back(gain, lever);
  std::stable_sort(helping.begin(), helping.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Combination out;
  for (const auto& [gain, lever] : helping)
    if (std::none_of(out.begin(), out.end(), [&, lever = lever](std::size_t other) { return exclude_(lever, other); }))
      out.insert(lever);
  return out;
}

LeverSearch::Candidate LeverSearch::with_one_more() const {
  const auto from = best();
  const double gained = log_rate(from) - log_rate({});
  Candidate out;
  for (std::size_t lever = 0; lever < levers_; ++lever) {
    if (from.count(lever) != 0) continue;
    auto combination = from;
    // In place of what it excludes, whose gain is lost.
    double lost = 0;
    for (const auto other : from)
      if (exclude_(lever, other)) {
        combination.erase(other);
        lost += std::max(0.0, effect(other));
      }
    combination.insert(lever);
    const double known = effect(lever);
    if (!is_usable(combination) || known < kHarms || brings_nothing(combination)) continue;
    const double promise = known + kMovedLimit * gained - lost;
    if (promise > out.promise) out = {combination, promise};
  }
  return out;
}

LeverSearch::Candidate LeverSearch::without_one() const {
  const auto from = best();
  if (from.size() < 2) return {};
  double promised = log_rate({});
  for (const auto lever : from) promised += effect(lever);
  const double lacks = promised - log_rate(from);
  if (lacks < kBroken) return {};
  Candidate out;
  for (const auto lever : from) {
    auto combination = from;
    combination.erase(lever);
    if (!is_usable(combination)) continue;
    const double promise = lacks / 2 - std::max(0.0, effect(lever)) / 2;
    if (promise > out.promise) out = {combination, promise};
  }
  return out;
}

std::optional<LeverSearch::Combination> LeverSearch::simpler() const {
  const auto from = best();
  if (from.size() < 2) return std::nullopt;
  std::optional<Combination> out;
  double least = kHelps;
  for (const auto lever : from) {
    auto combination = from;
    combination.erase(lever);
    if (const double brings = effect(lever); brings < least && is_usable(combination)) {
      least = brings;
      out = std::move(combination);
    }
  }
  return out;
}

std::optional<LeverSearch::Combination> LeverSearch::propose() {
  if (observed_.size() >= most_) return std::nullopt;
  if (auto first = first_ones()) return first;
  if (!observed_.at({})) return std::nullopt;
  const auto helping = all_from(kHelps);
  if (helping.size() > 1 && is_usable(helping)) return helping;
  if (auto all = all_from(kNoHarm); !helping.empty() && all.size() > 1 && is_usable(all)) return all;
  auto more = with_one_more();
  auto fewer = without_one();
  auto& better = more.promise >= fewer.promise ? more : fewer;
  if (better.promise < kWorthATrial) return simpler();
  return std::move(better.combination);
}

}  // namespace ridgeline::search
