// SPDX-License-Identifier: Apache-2.0
#include "search/list_searcher.hpp"

#include <algorithm>
#include <set>

#include "search/messages.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {

using schema::Configuration;

ListSearcher::ListSearcher(const SearchSpace& space, const SearcherOptions& options, std::vector<Configuration> list,
                           schema::Message reason)
    : Strategy(space, options), list_(std::move(list)), reason_(std::move(reason)) {
  const auto current = simplify(options.current);
  const auto defaults = space.defaults();
  std::erase_if(list_, [&](const Configuration& item) { return item == current || item == defaults; });
}

std::unique_ptr<Searcher> ListSearcher::grid(const SearchSpace& space, const SearcherOptions& options) {
  return std::make_unique<ListSearcher>(space, options, space.enumerate(kLargestGrid), messages::every_combination());
}

std::unique_ptr<Searcher> ListSearcher::random(const SearchSpace& space, const SearcherOptions& options) {
  constexpr std::size_t kListable = 20'000;
  constexpr int kDrawsEach = 50;
  base::Random random(options.seed);
  const auto budget = options.random_budget;
  const std::size_t opening = simplify(options.current) == space.defaults() ? 1 : 2;
  const std::size_t wanted = budget > opening ? budget - opening : 0;
  std::vector<Configuration> drawn;
  // Small spaces are shuffled, so that every configuration can come and none needs luck; large ones are sampled.
  if (space.raw_size() <= kListable) {
    drawn = space.enumerate(kListable);
    for (std::size_t i = drawn.size(); i > 1; --i) std::swap(drawn[i - 1], drawn[random.below(i)]);
  } else {
    std::set<Configuration> seen{space.defaults(), simplify(options.current)};
    for (std::size_t draw = 0; drawn.size() < wanted && draw < wanted * kDrawsEach; ++draw) {
      auto sample = space.sample(random);
      if (seen.insert(sample).second) drawn.push_back(std::move(sample));
    }
  }
  auto searcher = std::make_unique<ListSearcher>(space, options, std::move(drawn), messages::drawn_at_random());
  if (searcher->list_.size() > wanted) searcher->list_.resize(wanted);
  return searcher;
}

std::optional<Proposal> ListSearcher::next() {
  while (at_ < list_.size())
    if (auto proposal = history().offer(list_[at_++], schema::TrialStage::search, reason_)) return proposal;
  return std::nullopt;
}

std::size_t ListSearcher::upcoming() const { return list_.size() - at_; }

}  // namespace ridgeline::search
