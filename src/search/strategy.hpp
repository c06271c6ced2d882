// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "search/search_history.hpp"
#include "search/searcher.hpp"

namespace ridgeline::search {

/// What every strategy shares: the default first (or SearcherOptions::opening), the user's current configuration
/// second, then what these speak for, then next() until it has no more; the history; nothing twice.
class Strategy : public Searcher {
 public:
  Strategy(const SearchSpace& space, const SearcherOptions& options);
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  [[nodiscard]] std::optional<Proposal> propose() final;
  [[nodiscard]] std::optional<Proposal> propose_beside() final;
  void observe(const Proposal& proposal, const Observation& observation) final;
  void revise(const schema::Configuration& configuration, const Observation& observation) final;
  [[nodiscard]] std::size_t remaining() const final;
  [[nodiscard]] std::vector<schema::PrunedParam> left_out() const final { return history_.starved(); }

 protected:
  /// The next proposal after the opening ones, made with history().offer().
  virtual std::optional<Proposal> next() = 0;
  /// As next(), of what was planned before the latest proposals.
  virtual std::optional<Proposal> next_beside() { return std::nullopt; }
  /// Upper estimate of next() calls to come that yield one.
  [[nodiscard]] virtual std::size_t upcoming() const = 0;

  /// What others are tried on before anything else is known: the defaults, with what the opening spoke for if that
  /// gains.
  [[nodiscard]] schema::Configuration start() const;
  [[nodiscard]] const SearchSpace& space() const noexcept { return space_; }
  [[nodiscard]] const SearcherOptions& options() const noexcept { return options_; }
  [[nodiscard]] SearchHistory& history() noexcept { return history_; }
  [[nodiscard]] const SearchHistory& history() const noexcept { return history_; }

 private:
  std::optional<Proposal> opening();
  /// SearcherOptions::opening was measured: neither the default nor the current configuration is needed.
  [[nodiscard]] bool has_opening() const;
  std::optional<Proposal> spoken_for();

  SearchSpace space_;
  SearcherOptions options_;
  SearchHistory history_;
  int opened_ = 0;
  bool has_asked_ = false;
  std::optional<schema::Configuration> spoken_for_;
};

}  // namespace ridgeline::search
