// SPDX-License-Identifier: Apache-2.0
#include "search/strategy.hpp"

#include <algorithm>

#include "search/messages.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {

using schema::TrialStage;

Strategy::Strategy(const SearchSpace& space, const SearcherOptions& options)
    : space_(space), options_(options), history_(space_) {
  options_.current = simplify(options_.current);
  options_.opening = space_.canonical(options_.opening);
}

bool Strategy::has_opening() const {
  const auto* seen = options_.opening.empty() ? nullptr : history_.find(options_.opening);
  return seen != nullptr && seen->observation.cost;
}

std::optional<Proposal> Strategy::opening() {
  if (opened_ == 0 && !options_.opening.empty() && !history_.proposed(options_.opening))
    if (auto proposal = history_.offer(options_.opening, TrialStage::baseline, messages::usually_fastest()))
      return proposal;
  while (opened_ < 2) {
    ++opened_;
    if (has_opening()) continue;
    auto proposal = opened_ == 1
                        ? history_.offer(space_.defaults(), TrialStage::baseline, messages::the_defaults())
                        : history_.offer_as_is(options_.current, TrialStage::current, messages::what_you_have());
    if (proposal) return proposal;
  }
  if (has_asked_) return std::nullopt;
  has_asked_ = true;
  return spoken_for();
}

/// Denormal numbers cost a hundred cycles each, so that nothing else counts beside them.
std::optional<Proposal> Strategy::spoken_for() {
  const auto& observed = history_.observed();
  if (space_.dimension("set_denormal_as_zero") == nullptr ||
      std::none_of(observed.begin(), observed.end(), [](const auto& one) { return one.observation.met_denormals; }))
    return std::nullopt;
  spoken_for_ = space_.canonical(space_.defaults().with("set_denormal_as_zero", true));
  return history_.offer(*spoken_for_, TrialStage::screening, messages::computes_with_denormals());
}

schema::Configuration Strategy::start() const {
  const auto* best = history_.incumbent(options_.min_effect / 2);
  return best != nullptr && best->configuration == spoken_for_ ? *spoken_for_ : space_.defaults();
}

std::optional<Proposal> Strategy::propose() {
  if (auto proposal = opening()) return proposal;
  return next();
}

std::optional<Proposal> Strategy::propose_beside() {
  // The opening two stand alone: all else is judged against them.
  return opened_ < 2 ? std::nullopt : next_beside();
}

void Strategy::observe(const Proposal& proposal, const Observation& observation) {
  history_.record(proposal, observation);
}

void Strategy::revise(const schema::Configuration& configuration, const Observation& observation) {
  history_.revise(configuration, observation);
}

std::size_t Strategy::remaining() const {
  std::size_t opening = 0;
  if (opened_ < 1 && space_.allows(space_.defaults())) ++opening;
  if (opened_ < 2 && options_.current != space_.defaults()) ++opening;
  return opening + upcoming();
}

}  // namespace ridgeline::search
