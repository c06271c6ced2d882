// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/strategy.hpp"

namespace ridgeline::search {

/// Works off a list that is fixed before the first measurement: grid (everything) and random (a drawn part).
class ListSearcher : public Strategy {
 public:
  /// The whole space in its stable order. Spaces above kLargestGrid configurations are refused by make_searcher.
  static constexpr std::size_t kLargestGrid = 1'000'000;
  [[nodiscard]] static std::unique_ptr<Searcher> grid(const SearchSpace& space, const SearcherOptions& options);
  /// options.random_budget distinct configurations, the opening ones included; the whole space when it is smaller.
  [[nodiscard]] static std::unique_ptr<Searcher> random(const SearchSpace& space, const SearcherOptions& options);

  ListSearcher(const SearchSpace& space, const SearcherOptions& options, std::vector<schema::Configuration> list,
               schema::Message reason);

 private:
  std::optional<Proposal> next() override;
  std::optional<Proposal> next_beside() override { return next(); }
  [[nodiscard]] std::size_t upcoming() const override;

  std::vector<schema::Configuration> list_;  ///< without the opening configurations
  schema::Message reason_;
  std::size_t at_ = 0;
};

}  // namespace ridgeline::search
