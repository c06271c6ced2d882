// SPDX-License-Identifier: Apache-2.0
#include "search/search_history.hpp"

#include <algorithm>
#include <cmath>

#include "search/memory_need.hpp"
#include "search/messages.hpp"

namespace ridgeline::search {
namespace {

/// Saving less than this on each later trial is not worth leaving the best, in s.
constexpr double kWorthwhileSetup = 0.3;

Observation with_sound_cost(Observation observation) {
  if (observation.cost && !(std::isfinite(*observation.cost) && *observation.cost > 0)) observation.cost.reset();
  return observation;
}

}  // namespace

std::optional<Proposal> SearchHistory::offer(const schema::Configuration& configuration, schema::TrialStage stage,
                                             schema::Message reason) {
  auto form = space_->canonical(configuration);
  if (!space_->allows(form) || refuse_as_hungrier(form)) return std::nullopt;
  return offer_as_is(form, stage, std::move(reason));
}

std::optional<Proposal> SearchHistory::offer_as_is(const schema::Configuration& configuration, schema::TrialStage stage,
                                                   schema::Message reason) {
  if (!proposed_.insert(configuration).second) return std::nullopt;
  return Proposal{configuration, stage, std::move(reason), std::nullopt};
}

bool SearchHistory::refuse_as_hungrier(const schema::Configuration& configuration) {
  if (skipped_for_memory_.count(configuration) != 0) return true;
  if (proposed_.count(configuration) != 0) return false;
  for (const auto& ran_out : out_of_memory_) {
    if (!needs_no_less_memory(configuration, ran_out)) continue;
    skipped_for_memory_.emplace(configuration, ran_out);
    return true;
  }
  return false;
}

std::vector<schema::PrunedParam> SearchHistory::starved() const {
  std::vector<schema::PrunedParam> pruned;
  for (const auto& [configuration, ran_out] : skipped_for_memory_) {
    const auto key = hungrier_setting(configuration, ran_out);
    const auto* value = configuration.find(key);
    if (value == nullptr) continue;
    auto reason = messages::ran_out_of_memory(ran_out.to_text());
    const auto known = std::find_if(pruned.begin(), pruned.end(), [&, &why = reason](const auto& entry) {
      return entry.key == key && entry.reason == why;
    });
    if (known == pruned.end())
      pruned.push_back({key, {*value}, std::move(reason)});
    else if (std::find(known->values.begin(), known->values.end(), *value) == known->values.end())
      known->values.push_back(*value);
  }
  return pruned;
}

void SearchHistory::record(const Proposal& proposal, const Observation& observation) {
  index_[proposal.configuration] = observed_.size();
  observed_.push_back({proposal.configuration, with_sound_cost(observation), space_->covers(proposal.configuration)});
  if (observation.out_of_memory) out_of_memory_.push_back(proposal.configuration);
  find_best();
}

void SearchHistory::revise(const schema::Configuration& configuration, const Observation& observation) {
  const auto at = index_.find(configuration);
  if (at == index_.end()) return;
  observed_[at->second].observation = with_sound_cost(observation);
  find_best();
}

void SearchHistory::find_best() {
  best_.reset();
  for (std::size_t at = 0; at < observed_.size(); ++at) {
    const auto& [configuration, seen, in_space] = observed_[at];
    if (!seen.cost || seen.stopped_early || !in_space) continue;
    if (!best_ || *seen.cost < *observed_[*best_].observation.cost) best_ = at;
  }
}

const Observed* SearchHistory::find(const schema::Configuration& configuration) const {
  const auto at = index_.find(configuration);
  return at == index_.end() ? nullptr : &observed_[at->second];
}

const Observed* SearchHistory::best() const noexcept { return best_ ? &observed_[*best_] : nullptr; }

const Observed* SearchHistory::incumbent(double margin) const noexcept {
  const auto* chosen = best();
  if (chosen == nullptr) return nullptr;
  const double limit = *chosen->observation.cost * (1 + margin);
  const double setup = chosen->observation.setup_s - kWorthwhileSetup;
  for (const auto& seen : observed_) {
    const auto& observation = seen.observation;
    if (!observation.cost || observation.stopped_early || !seen.in_space || *observation.cost > limit) continue;
    if (observation.setup_s < std::min(setup, chosen->observation.setup_s)) chosen = &seen;
  }
  return chosen;
}

bool SearchHistory::is_slow_tie(const schema::Configuration& configuration, double margin) const noexcept {
  const auto* seen = find(configuration);
  const auto* base = incumbent(margin);
  return seen != nullptr && base != nullptr && seen->observation.cost &&
         *seen->observation.cost * (1 + margin) >= *base->observation.cost &&
         seen->observation.setup_s > base->observation.setup_s + kWorthwhileSetup;
}

std::optional<double> SearchHistory::hopeless_above(double margin) const noexcept {
  const auto* leader = best();
  if (leader == nullptr) return std::nullopt;
  return std::max(*leader->observation.cost, leader->observation.cost_high) * (1 + margin);
}

bool SearchHistory::knows_batch(const schema::Configuration& configuration) const {
  constexpr const char* kBatch = "batch_size";
  const auto& dimensions = space_->dimensions();
  if (std::none_of(dimensions.begin(), dimensions.end(),
                   [](const auto& dimension) { return dimension.key == kBatch && dimension.values.size() > 1; }))
    return true;
  const auto batch = configuration.get_or(kBatch, 0);
  return std::any_of(observed_.begin(), observed_.end(), [&](const auto& seen) {
    return seen.observation.cost && !seen.observation.stopped_early && seen.configuration.get_or(kBatch, 0) == batch;
  });
}

}  // namespace ridgeline::search
